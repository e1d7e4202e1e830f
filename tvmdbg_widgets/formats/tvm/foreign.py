"""Names of files that no reader knows, and the records of tensor caches."""

from __future__ import annotations

import math
import re

import msgspec

from tvmdbg_widgets.formats.json_fields import Count
from tvmdbg_widgets.formats.pasted.readings import nearly
from tvmdbg_widgets.formats.tvm.params.record import MAX_LANES, MAX_NDIM
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.tensors.array_record import STORED_AS, ArrayRecord, storage_notes
from tvmdbg_widgets.model.tensors.dtypes import FLOAT, STORABLE_BITS, DataType
from tvmdbg_widgets.sources.byte_source import ByteSource
from tvmdbg_widgets.sources.strided import WidenedSource

_EXPECTED = "b7 9c 04 05 4f 8d e5 f7 (a params list) or 3f a1 b4 96 f0 40 5e dd (one array)"
_LONGEST_PATH = 4096

# VM executable: src/runtime/vm/executable.cc @ v0.19.0, v0.23.0.
_KINDS: tuple[tuple[bytes, str, str], ...] = (
    (b"\x1d\x15\x14\x42\x2f\xde\x25\xd2", "a VM executable", "Save the parameters alone."),
    (b"\x1e\x15\x14\x42\x2f\xde\x25\xd2", "a VM executable", "Save the parameters alone."),
    (b"\xf7\xe5\x8d\x4f", "a params list in big-endian order", "TVM always writes little endian."),
    (b"\x93NUMPY", "a numpy array (.npy)", "Read it with numpy.load."),
    (
        b"PK",
        "a zip archive",
        "Numpy's .npz is read by numpy.load, one that holds a dump by tvmdbg_widgets.open.",
    ),
    (b"\x1f\x8b", "a gzip file", "tvmdbg_widgets.open reads what is in it."),
    (b"BZh", "a bzip2 file", "tvmdbg_widgets.open reads what is in it."),
    (b"\xfd7zXZ\0", "an xz file", "tvmdbg_widgets.open reads what is in it."),
    (
        b"\x7fELF",
        "a library without a graph",
        "Parameters are saved beside it, by save_param_dict; the graph by lib.get_graph_json().",
    ),
    # include/mxnet, src/ndarray/ndarray.cc @ 1.9: kMXAPINDArrayListMagic.
    (
        b"\x12\x01\0\0\0\0\0\0",
        "MXNet's parameters (.params)",
        "Open the -symbol.json beside it for its graph; tvm.relay.frontend.from_mxnet reads both.",
    ),
)
_POINTER = re.compile(
    rb"version https://(?:git-lfs\.github\.com|hawser\.github\.com)/spec/v\d+\r?\n(?:ext-[^\n]*\n)*"
    rb"oid (sha256:[0-9a-f]{64})\r?\nsize (\d{1,18})\s*"
)
_LONGEST_POINTER = 1024
_PULL = "The file itself was not downloaded: run `git lfs pull` in the repository it is from."


def lfs_pointer(head: bytes) -> str:
    """Name the file behind a Git LFS pointer, or ""."""
    match = _POINTER.fullmatch(head[:_LONGEST_POINTER])
    if match is None:
        return ""
    oid, size = match[1].decode(), int(match[2])
    return f"a Git LFS pointer to a file of {counted(size, 'byte')} ({oid}). {_PULL}"


def unknown_file(source: ByteSource, expected: str) -> FormatError:
    """Return the error for a file of no format that can be read."""
    head = source.read(0, min(source.size, _LONGEST_PATH))
    kind, hint = _known(head, source.size) or (
        "no file of a format read here",
        nearly(source) or "Is it a complete file of TVM's debugger?",
    )
    return FormatError(
        f"this is {kind}",
        file=source.name,
        expected=expected,
        found=f"{counted(source.size, 'byte')} that start with {head[:40]!r}"
        if head
        else "nothing",
        hint=hint,
    )


def has_kind(source: ByteSource) -> bool:
    """Return whether a file of no supported format is of another known kind, or text."""
    head = source.read(0, min(source.size, _LONGEST_PATH))
    text = head.decode("utf-8", "ignore")
    is_text = len(text.encode()) > len(head) - 4 and "\0" not in text and text[:1].isprintable()
    return bool(head) and (is_text or _known(head, source.size) is not None)


def foreign_file(source: ByteSource) -> FormatError:
    """Return the error for a file that does not start like a params file."""
    head = source.read(0, min(source.size, _LONGEST_PATH))
    kind, hint = _describe(head, source.size)
    return FormatError(
        f"this is {kind}",
        file=source.name,
        field="magic",
        offset=0,
        expected=_EXPECTED,
        found=head[:8].hex(" ") or "nothing",
        hint=hint,
    )


def _known(head: bytes, size: int) -> tuple[str, str] | None:
    if pointer := lfs_pointer(head) if size <= _LONGEST_POINTER else "":
        return pointer.removesuffix(f". {_PULL}"), _PULL
    for start, kind, hint in _KINDS:
        if head.startswith(start):
            return kind, hint
    if not head:
        return "an empty file", "Was it still being written?"
    if size < _LONGEST_PATH and head.rstrip().endswith((b".params", b".bin", b".json")):
        return "a path given as bytes", "Pass the path as str; bytes are taken for the content."
    return None


def _describe(head: bytes, size: int) -> tuple[str, str]:
    known = _known(head, size)
    if known is not None:
        return known
    if head.lstrip()[:1] in (b"{", b"[", b'"'):
        if b'"records"' in head:
            return "the index of a tensor cache", "load_params and open read it with its shards."
        if b'"nodes"' in head or b'\\"nodes\\"' in head:
            return "a graph (JSON)", "The parameters are in a file of their own."
        return "a JSON file", "The parameters are in a file of their own."
    if size < 8:
        return "too short for a params file", "It may be cut off: copy or write it again."
    return "no params file", "Parameters are saved by tvm.runtime.save_param_dict."


LAST_VERSION = 7
#: Folders of the library that hold no part of a run.
OTHER_FOLDERS = ("codegen", "crt_config", "runtime", "src", "templates")
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
    """Check an array of the index at a path of its file against its shard."""

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
    dtype = DataType.known(array.dtype)
    if dtype is None or dtype.bits not in STORABLE_BITS or not 1 <= dtype.lanes <= MAX_LANES:
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
    full_size = count * dtype.lanes * dtype.itemsize
    sizes = {2 * count} if halved else {full_size, -(-count * dtype.lanes * dtype.bits // 8)}
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
    complete = dtype.lanes > 1 and nbytes == full_size
    notes = () if complete else storage_notes(dtype, shape, nbytes)
    return ArrayRecord(key, dtype, shape, nbytes, offset, shard, notes, (), dtype)
