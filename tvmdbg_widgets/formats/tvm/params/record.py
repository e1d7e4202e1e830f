"""Header of one array in a params file, and the names that the debugger gives arrays.

``SaveDLTensor`` and ``NDArray::Load``, include/tvm/runtime/ndarray.h @ v0.5 to v0.21,
include/tvm/runtime/tensor.h @ v0.22 to v0.26: little endian, nothing aligned::

     0 u64 magic   8 u64 reserved   16 i32 device type   20 i32 device id   24 i32 ndim
    28 dtype: u8 code, u8 bits, u16 lanes, or as its layout declares
    then ndim × i64 shape, i64 nbytes, nbytes of values in C order
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.dtype_layout import DTypeLayout
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.tensors.dtypes import STORABLE_BITS, DataType
from tvmdbg_widgets.sources.byte_source import ByteSource, ReadAhead

ARRAY_MAGIC = 0xDD5E40F096B4A13F
CPU = 1
#: numpy's limit; TVM itself sets none.
MAX_NDIM = 64
#: Larger 16-bit values mean a scalable vector, which no array has.
MAX_LANES = 0x7FFF
#: Of every release; a build with a wider field may have more.
MAX_CODE = 0xFF
DTYPE_AT = 28


class RecordHeader(NamedTuple):
    """Header values of one array."""

    dtype: DataType
    shape: tuple[int, ...]
    nbytes: int
    offset: int
    odd: tuple[str, ...]


class HeaderReader:
    """Reads and checks the headers of one file."""

    def __init__(self, ahead: ReadAhead, file: str, *, any_code: bool = False) -> None:
        self._ahead = ahead
        self._file = file
        self._any_code = any_code

    def peek(self, offset: int, length: int, field: str) -> bytes:
        """Return the bytes at ``offset``."""
        self._require(offset, length, field)
        return self._ahead.bytes(offset, length)

    def read(self, offset: int, layout: DTypeLayout, label: str) -> RecordHeader:
        """Read and check the header at ``offset``."""
        header = header_struct(layout)
        self._require(offset, header.size, f"{label}: header")
        position = self._ahead.locate(offset, header.size)
        fields = header.unpack_from(self._ahead.buffer, position)
        magic, reserved, device_type, device_id, ndim, *dtype_fields = fields
        code, bits, lanes = layout.in_order(dtype_fields)
        max_code, max_lanes = self._limits(layout)
        if not (
            magic == ARRAY_MAGIC
            and device_type == CPU
            and 0 <= ndim <= MAX_NDIM
            and 0 <= code <= max_code
            and bits in STORABLE_BITS
            and 1 <= lanes <= max_lanes
        ):
            raise self._wrong_field(fields, offset, layout, label)
        dtype = _data_type(code, bits, lanes)
        sizes = _sizes(ndim)
        self._require(offset + header.size, sizes.size, f"{label}: shape and nbytes")
        position = self._ahead.locate(offset + header.size, sizes.size)
        *dims, nbytes = sizes.unpack_from(self._ahead.buffer, position)
        shape = tuple(dims)
        start = offset + header.size + sizes.size
        self._check_size(dtype, shape, nbytes, start, label=label)
        self._require(start, nbytes, f"{label}: values")
        odd: tuple[str, ...] = ()
        if reserved or device_id:
            pairs = (("reserved", reserved), ("device_id", device_id))
            odd = tuple(f"{name} is {value}" for name, value in pairs if value)
        return RecordHeader(dtype, shape, nbytes, start, odd)

    def _limits(self, layout: DTypeLayout) -> tuple[int, int]:
        lanes = layout.field("lanes")
        code = layout.field("code").highest if self._any_code else MAX_CODE
        return code, MAX_LANES if lanes.size == 2 else lanes.highest

    def _wrong_field(
        self, fields: tuple[int, ...], offset: int, layout: DTypeLayout, label: str
    ) -> FormatError:
        magic, _, device_type, _, ndim, *dtype_fields = fields
        code, bits, lanes = layout.in_order(dtype_fields)
        max_code, max_lanes = self._limits(layout)
        at = {field.name: DTYPE_AT + field.offset for field in layout.fields}
        codes, widths = f"a type code up to {max_code}", f"one of {sorted(STORABLE_BITS)}"
        checks = (
            ("magic", 0, magic == ARRAY_MAGIC, f"{ARRAY_MAGIC:#018x}", f"{magic:#018x}"),
            ("device_type", 16, device_type == CPU, "1 (CPU)", device_type),
            ("ndim", 24, 0 <= ndim <= MAX_NDIM, f"0 to {MAX_NDIM}", ndim),
            ("dtype code", at["code"], 0 <= code <= max_code, codes, code),
            ("dtype bits", at["bits"], bits in STORABLE_BITS, widths, bits),
            ("dtype lanes", at["lanes"], 1 <= lanes <= max_lanes, f"1 to {max_lanes}", lanes),
        )
        name, where, _, expected, found = next(check for check in checks if not check[2])
        return FormatError(
            f"not a valid array header with {layout.name} dtypes",
            file=self._file,
            field=f"{label}: {name}",
            offset=offset + where,
            expected=expected,
            found=found,
            hint="The file is damaged here or before." if name == "magic" else None,
        )

    def _check_size(
        self, dtype: DataType, shape: tuple[int, ...], nbytes: int, start: int, *, label: str
    ) -> None:
        count = math.prod(shape)
        expected = count * dtype.itemsize
        # TVM 0.6 counts bits // 8 bytes an element, which is 0 for bool; a mended writer counts the
        # lanes that TVM's leaves out.
        plausible = nbytes in (expected, count * (dtype.bits // 8), expected * dtype.lanes)
        if plausible and expected > 0 and (not shape or min(shape) > 0):
            return
        where = start - 8 * (len(shape) + 1)
        axis = next((axis for axis, dim in enumerate(shape) if dim < 0), None)
        found: object = list(shape)
        if axis is not None:
            what, field, where = "negative dimension", f"shape[{axis}]", where + 8 * axis
            wanted, found = "0 or more", shape[axis]
        elif not plausible:
            what, field, where = (
                "the number of bytes does not fit shape and type",
                "nbytes",
                start - 8,
            )
            wanted, found = f"{expected} (shape {list(shape)}, {dtype})", nbytes
        elif math.prod(dim for dim in shape if dim) * dtype.itemsize >= 1 << 63:
            what, field = "the shape is beyond what any array can have", "shape"
            wanted = "less than 2**63 bytes over the dimensions that are not 0"
        else:
            return
        raise FormatError(
            what,
            file=self._file,
            field=f"{label}: {field}",
            offset=where,
            expected=wanted,
            found=found,
        )

    def _require(self, offset: int, length: int, field: str) -> None:
        if offset + length > self._ahead.size:
            raise FormatError(
                "the file ends too early",
                file=self._file,
                field=field,
                offset=offset,
                expected=counted(length, "byte"),
                found=counted(max(0, self._ahead.size - offset), "byte"),
                hint="The file is cut off: copy or write it again.",
            )


@lru_cache(maxsize=64)
def header_struct(layout: DTypeLayout) -> struct.Struct:
    """Return the fields before the shape, with the dtype in the layout's order."""
    return struct.Struct(f"<QQiii{layout.format}")


@lru_cache(maxsize=256)
def _data_type(code: int, bits: int, lanes: int) -> DataType:
    return DataType(code, bits, lanes)


@lru_cache(maxsize=MAX_NDIM + 1)
def _sizes(ndim: int) -> struct.Struct:
    return struct.Struct(f"<{ndim + 1}q")


_FIRST, _MOST = 32, 512
_MISSES = 8
_SPARE = 64


class PredictedAhead(ReadAhead):
    """A read-ahead that fetches headers at offsets predicted from the graph."""

    def __init__(self, source: ByteSource, graph: Graph) -> None:
        super().__init__(source)
        self._graph = graph
        self._far = source
        self._sizes: list[tuple[int, int]] = []
        self._pieces: dict[int, bytes] = {}
        self._batch = _FIRST
        self._misses = 0

    def expect(self, keys: Sequence[str], layout: DTypeLayout) -> None:
        """Predict the sizes of headers and records from the graph."""
        self._sizes = _sizes_predict(keys, self._graph, header_struct(layout).size)

    def arrive(self, index: int, offset: int) -> None:
        """Prepare for the header of array ``index`` at ``offset``."""
        piece = self._pieces.pop(offset, None)
        if piece is None:
            if self._pieces:
                self._misses += 1
                self._batch = 1 if self._misses >= _MISSES else max(1, self._batch // 4)
            self._fetch(index, offset)
            piece = self._pieces.pop(offset, None)
        if piece is not None:
            self.buffer, self._start = piece, offset

    def _fetch(self, index: int, offset: int) -> None:
        self._pieces.clear()
        count = self._batch
        self._batch = min(self._batch * 2, _MOST) if self._misses < _MISSES else 1
        ranges = []
        for header, record in self._sizes[index : index + count]:
            if offset >= self.size:
                break
            ranges.append((offset, min(header + _SPARE, self.size - offset)))
            offset += record
        if len(ranges) > 1:
            pieces = self._far.read_ranges(ranges)
            self._pieces = {at: piece for (at, _), piece in zip(ranges, pieces, strict=True)}


def _sizes_predict(keys: Sequence[str], graph: Graph, header: int) -> list[tuple[int, int]]:
    """Return bytes of headers, and of headers and values; (header, header) if unknown."""
    positions: dict[str, int] = {}
    for position, name in enumerate(graph.names):
        positions.setdefault(name, position)
    itemsizes = [_itemsize(text) for text in graph.dtypes.unique]
    codes = graph.dtypes.codes
    lengths = np.diff(graph.shape_offsets)
    sizes = []
    for key in keys:
        parsed = parse_key(key)
        node = positions.get(key)
        output = 0
        if parsed is not None and node is None:
            node = positions.get(parsed.name) if parsed.node is None else parsed.node
            output = parsed.output
        if node is None or node >= graph.num_nodes or output >= len(graph.entry_range(node)):
            sizes.append((header + 8, header + 8))
            continue
        entry = int(graph.entry_offsets[node]) + output
        first = int(graph.shape_offsets[entry])
        ndim = int(lengths[entry])
        count = math.prod(graph.shape_dims[first : first + ndim].tolist())
        full_header = header + 8 * (ndim + 1)
        sizes.append((full_header, full_header + count * itemsizes[codes[entry]]))
    return sizes


def _itemsize(text: str) -> int:
    dtype = DataType.known(text)
    return 0 if dtype is None else dtype.itemsize


#: Forms of names: python/tvm/contrib/debugger/debug_result.py @ v0.5 to v0.19.
Style: TypeAlias = Literal["v0.5", "v0.8", "v0.9"]

# Node ids are int32 here and in TVM: nine digits are enough, and more would overflow.
_V09 = re.compile(r"(.*)____topo-index:([0-9]{1,9})____output-num:([0-9]{1,9})", re.DOTALL)
_V08 = re.compile(r"(.*)____([0-9]{1,9})", re.DOTALL)
_V05 = re.compile(r"(.*)_([0-9]{1,9})__([0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?|inf|nan)", re.DOTALL)


class OutputKey(NamedTuple):
    """One parsed key."""

    name: str
    node: int | None
    output: int
    order: float | None
    style: Style


def parse_key(key: str) -> OutputKey | None:
    """Parse a key from its end; None if it is no key of the debugger."""
    if match := _V09.fullmatch(key):
        return OutputKey(match[1], int(match[2]), int(match[3]), None, "v0.9")
    if match := _V08.fullmatch(key):
        return OutputKey(match[1], None, int(match[2]), None, "v0.8")
    if match := _V05.fullmatch(key):
        return OutputKey(match[1], None, int(match[2]), float(match[3]), "v0.5")
    return None
