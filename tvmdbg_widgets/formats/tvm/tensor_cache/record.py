"""One array of a tensor cache: what the index says of it, held against its shard.

``ParamRecord`` of src/runtime/relax_vm/ndarray_cache_support.cc @ v0.16.0 to
src/runtime/vm/tensor_cache_support.cc @ v0.22.0: values in C order, little endian, no header.
"""

from __future__ import annotations

import math

import msgspec

from tvmdbg_widgets.formats.json_fields import Count
from tvmdbg_widgets.formats.tvm.params.record import MAX_LANES, MAX_NDIM
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.tensors.array_record import STORED_AS, ArrayRecord, storage_notes
from tvmdbg_widgets.model.tensors.dtypes import FLOAT, STORABLE_BITS, DataType
from tvmdbg_widgets.sources.byte_source import ByteSource
from tvmdbg_widgets.sources.strided import WidenedSource

RAW, HALVED = "raw", "f32-to-bf16"


class Array(msgspec.Struct, rename="camel"):
    """One item of a shard's ``records``."""

    name: str
    shape: list[int]
    dtype: str
    format: str
    nbytes: Count
    byte_offset: Count


def read_record(array: Array, file: str, path: str, shard: ByteSource) -> ArrayRecord:
    """Hold an array of the index, which stands at this path of its file, against its shard."""

    def wrong(field: str, expected: str, found: object) -> FormatError:
        return FormatError(
            "the index of the tensor cache is not consistent",
            file=file,
            field=f"{path}.{field}",
            expected=expected,
            found=found,
            hint="Write the cache again, with tvm.contrib.tvmjs.dump_tensor_cache.",
        )

    key, nbytes, offset, form = array.name, array.nbytes, array.byte_offset, array.format
    shape = tuple(array.shape)
    dtype = _dtype(array.dtype)
    if dtype is None:
        raise wrong("dtype", "a data type such as float32 or bfloat16", repr(array.dtype[:40]))
    if len(shape) > MAX_NDIM:
        raise wrong("shape", f"up to {MAX_NDIM} dimensions", len(shape))
    if min(shape, default=0) < 0:
        raise wrong("shape", "dimensions of 0 or more", list(shape))
    if math.prod(dim for dim in shape if dim) * dtype.lanes * dtype.itemsize >= 1 << 63:
        raise wrong("shape", "less than 2**63 bytes", list(shape))
    if form not in (RAW, HALVED):
        raise wrong("format", f"{RAW} or {HALVED}", repr(form))
    halved = form == HALVED and (dtype.code, dtype.bits, dtype.lanes) == (FLOAT, 32, 1)
    count = math.prod(shape)
    whole = count * dtype.lanes * dtype.itemsize
    sizes = {2 * count} if halved else {whole, -(-count * dtype.lanes * dtype.bits // 8)}
    if nbytes not in sizes:
        expected = f"{' or '.join(map(str, sorted(sizes)))} (shape {list(shape)}, {dtype}, {form})"
        raise wrong("nbytes", expected, nbytes)
    if offset + nbytes > shard.size:
        raise FormatError(
            "the shard ends before this array does",
            file=shard.name,
            field=f"{path} ({key!r})",
            offset=offset,
            expected=counted(nbytes, "byte"),
            found=counted(max(0, shard.size - offset), "byte"),
            hint="The shard is cut off: copy or download it again.",
        )
    if halved:
        note = (
            f"{STORED_AS}bfloat16 (f32-to-bf16): {counted(nbytes, 'byte')} at byte {offset} of "
            f"{shard.name}; each value is exact, its lower 16 bits were dropped when it was saved"
        )
        source = WidenedSource(shard, offset, count)
        return ArrayRecord(key, dtype, shape, 2 * nbytes, 0, source, (note,), (), dtype)
    complete = dtype.lanes > 1 and nbytes == whole
    notes = () if complete else storage_notes(dtype, shape, nbytes)
    return ArrayRecord(key, dtype, shape, nbytes, offset, shard, notes, (), dtype)


def _dtype(text: str) -> DataType | None:
    try:
        dtype = DataType.parse(text)
    except ValueError:
        return None
    return dtype if dtype.bits in STORABLE_BITS and 1 <= dtype.lanes <= MAX_LANES else None
