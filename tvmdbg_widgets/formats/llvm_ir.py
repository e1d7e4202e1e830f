"""Tensor types in LLVM IR, and the IR stages of a saved run.

Unoptimized modules have the struct type and address its members. From LLVM 19 on optimized ones
have only byte offsets (``getelementptr inbounds i8, ptr %A.handle, i64 20``), as in
``lib.mod.inspect_source("ll")`` of TVM 0.27.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from tvmdbg_widgets.formats.family import Kind
from tvmdbg_widgets.formats.json_fields import read_versioned
from tvmdbg_widgets.formats.llvm_ir_reads import (
    IrPlaces,
    IrRead,
    IrStruct,
    Reads,
    dtype_of,
    places_of,
    struct_type,
)
from tvmdbg_widgets.model.base.text import FormatError, paired
from tvmdbg_widgets.sources.byte_source import ByteSource, BytesSource

_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
_LONGEST_LINE = 20_000
_CHUNK = 1 << 20
#: Kept reads per struct; all are counted.
_MOST_READS = 1000


@dataclass(frozen=True)
class IrTensor:
    """A module's layout of ``DLTensor``."""

    name: str
    line: int
    text: str
    places: IrPlaces
    by_offset: bool
    reads: tuple[IrRead, ...]
    conflicts: tuple[IrRead, ...]
    read_count: int
    conflict_count: int


def read_tensor_types(
    text: str | bytes | ByteSource, name: str = "the module"
) -> tuple[IrTensor, ...]:
    """Return the distinct layouts of ``DLTensor`` in a module."""
    structs: dict[str, IrStruct] = {}
    reads = Reads()
    tensors: dict[tuple[str, IrPlaces], _TensorReads] = {}
    started = False
    for number, line in enumerate(_lines(text, name), 1):
        if line.startswith("define"):
            if not started:
                started = True
                _recognize(structs, reads, tensors)
            reads.begin()
        elif started:
            if line.startswith("}"):
                _take(reads, tensors)
            else:
                reads.line(line, number)
        elif "type" in line:
            struct = struct_type(line, number)
            if struct is not None:
                structs[struct.name] = struct
        elif line.startswith("target datalayout"):
            reads.layout(line)
    if not started:
        _recognize(structs, reads, tensors)
    _take(reads, tensors)
    return tuple(tensor.tensor() for tensor in tensors.values())


class _TensorReads:
    """A tensor while its reads are collected."""

    def __init__(
        self, name: str, line: int, text: str, places: IrPlaces, *, by_offset: bool
    ) -> None:
        self._identity = (name, line, text, places, by_offset)
        self._places = places
        self._reads: list[IrRead] = []
        self._conflicts: list[IrRead] = []
        self._counts = [0, 0]

    def add(self, reads: Iterable[IrRead]) -> None:
        for read in reads:
            kinds = [(0, self._reads)]
            if read.conflicts_with(self._places.widths):
                kinds.append((1, self._conflicts))
            for at, kept in kinds:
                self._counts[at] += 1
                if len(kept) < _MOST_READS:
                    kept.append(read)

    def tensor(self) -> IrTensor:
        return IrTensor(*self._identity, tuple(self._reads), tuple(self._conflicts), *self._counts)


def _recognize(
    structs: dict[str, IrStruct], reads: Reads, tensors: dict[tuple[str, IrPlaces], _TensorReads]
) -> None:
    for struct in structs.values():
        dtype = dtype_of(struct, structs)
        if dtype is not None:
            places = places_of(dtype)
            tensors[struct.name, places] = _TensorReads(
                struct.name, dtype.line, str(dtype), places, by_offset=False
            )
            reads.know(struct.name, dtype.name)
            reads.keys[struct.name] = (struct.name, places)


def _take(reads: Reads, tensors: dict[tuple[str, IrPlaces], _TensorReads]) -> None:
    """Hand the reads of a function to their tensors."""
    for name, some in reads.of_structs():
        tensors[reads.keys[name]].add(some)
    for handle in reads.of_handles():
        key = ("", handle.places)
        if key not in tensors:
            tensors[key] = _TensorReads(
                handle.name,
                min(read.line for read in handle.reads),
                handle.text,
                handle.places,
                by_offset=True,
            )
        tensors[key].add(handle.reads)
    reads.begin()


def _lines(text: str | bytes | ByteSource, name: str) -> Iterator[str]:
    """Yield the lines; too long ones are empty."""
    if isinstance(text, str):
        for line in text.split("\n"):
            yield line if len(line) <= _LONGEST_LINE else ""
        return
    rest = b""
    for piece in _pieces(text, name):
        *lines, rest = (rest + piece).split(b"\n")
        for text_line in lines:
            yield text_line.decode("utf-8", "replace") if len(text_line) <= _LONGEST_LINE else ""
        if len(rest) > _LONGEST_LINE:
            # A line that is too long is skipped to its end.
            rest = rest[: _LONGEST_LINE + 1]
    yield rest.decode("utf-8", "replace") if len(rest) <= _LONGEST_LINE else ""


def _pieces(text: bytes | ByteSource, name: str) -> Iterator[bytes]:
    size = len(text) if isinstance(text, bytes) else text.size
    for at in range(0, size, _CHUNK):
        length = min(_CHUNK, size - at)
        piece = text[at : at + length] if isinstance(text, bytes) else text.read(at, length)
        if at == 0 and piece[:4] in _BITCODE:
            raise FormatError(
                "this is LLVM bitcode, not its text",
                file=name,
                offset=0,
                expected="text such as `%0 = type { ptr, %1, i32, %2, ptr, ptr, i64 }`",
                found=piece[:4].hex(" "),
                hint="Turn it into text: llvm-dis module.bc -o module.ll",
            )
        yield piece


FORMAT, VERSION = "tvmdbg-ir", 1

_SNIFF = re.compile(rb'\s*\{\s*"format"\s*:\s*"tvmdbg-ir"')


class _IrStage(msgspec.Struct):
    name: str
    text: str


class _IrDocument(msgspec.Struct):
    stages: list[_IrStage]


def sniff(head: bytes) -> bool:
    """Return whether a file holds IR text: ``format`` is its first field."""
    return _SNIFF.match(head) is not None


def read_ir(source: ByteSource) -> dict[str, ByteSource]:
    """Read IR text: one source a stage, by name, in the compiler's order."""
    stages: dict[str, ByteSource] = {}
    for stage in read_versioned(source, _IrDocument, FORMAT, VERSION, halves=True).stages:
        name = paired(stage.name)
        try:
            text = stage.text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            text = paired(stage.text).encode()
        stages[name] = BytesSource(text, name)
    return stages


def ir_document(ir: Mapping[str, ByteSource]) -> dict[str, Any]:
    """Return IR text as the JSON value of a file."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "stages": [{"name": name, "text": ir_text(source)} for name, source in ir.items()],
    }


def ir_text(source: ByteSource) -> str:
    """Return the text of a stage; bytes that are not UTF-8 survive being saved."""
    return source.read(0, source.size).decode("utf-8", "surrogateescape")


KIND = Kind("ir", "IR text", sniff, read_ir, "recording")
