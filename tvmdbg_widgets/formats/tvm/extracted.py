"""Files that hold or describe parts of a run: exported libraries, and notes beside a dump."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import Any

from tvmdbg_widgets.formats.tvm.params.file import read_params
from tvmdbg_widgets.formats.tvm.params.list import LIST_MAGIC
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.sources.byte_source import (
    ByteSource,
    BytesSource,
    DerivedSource,
    PartSource,
    ReadAhead,
)

FIRST_LINE = "Some nodes of a run of TVM's debugger, as a dump of their own."


def is_account(head: bytes) -> bool:
    """Return whether a file that starts with these bytes is such a note."""
    return head.startswith(FIRST_LINE.encode())


_U64 = struct.Struct("<Q")
_KEYS = tuple(
    _U64.pack(len(key)) + key for key in (b"GraphExecutorFactory", b"GraphRuntimeFactory")
)
#: ELF; Mach-O of 32 and 64 bits, either order, and universal; PE; COFF of x86 and ARM, 64 bits.
_MAGICS = (
    *(b"\x7fELF", b"\xce\xfa\xed\xfe", b"\xcf\xfa\xed\xfe", b"\xfe\xed\xfa\xce"),
    *(b"\xfe\xed\xfa\xcf", b"\xca\xfe\xba\xbe", b"MZ", b"\x64\x86", b"\x64\xaa"),
)
_IN_C = re.compile(rb"\b__tvm_(?:dev_mblob|ffi__library_bin)\[\d+\] = \{")
_CHUNK = 1 << 22
#: A C source takes five letters a byte.
_LONGEST_C = 1 << 30
_HEAD = 4096


def is_library(head: bytes) -> bool:
    """Return whether a file that starts with these bytes may be such a library."""
    return head.startswith(_MAGICS) or _IN_C.search(head[:_HEAD]) is not None


def inside_library(source: ByteSource, **options: Any) -> list[tuple[str, ByteSource]]:
    """Return the parts in a library by kind: ``graph`` and ``params``."""
    content = _embedded(source)
    ahead = ReadAhead(content)
    for at in _places(content):
        parts = _SerializedModule(content, ahead, at).parts(source.name, options)
        if parts:
            return parts
    return []


def _embedded(source: ByteSource) -> ByteSource:
    """Return the bytes to search: the file, or the bytes that a C source spells."""
    head = source.read(0, min(_HEAD, source.size))
    if head.startswith(_MAGICS) or source.size > _LONGEST_C:
        return source
    text = source.read(0, source.size)
    match = _IN_C.search(text)
    if match is None:
        return source
    numbers = text[match.end() :].partition(b"}")[0].replace(b"\n", b"").split(b",")
    try:
        return BytesSource(bytes(int(code, 16) for code in numbers if code.strip()), source.name)
    except ValueError:
        return source


def _places(source: ByteSource) -> Iterator[int]:
    """Yield possible starts of a graph's text: behind a type key with its length."""
    overlap = max(map(len, _KEYS)) - 1
    for start in range(0, source.size, _CHUNK):
        data = source.read(start, min(_CHUNK + overlap, source.size - start))
        for key in _KEYS:
            at = data.find(key)
            while at >= 0 and at < _CHUNK:
                yield start + at + len(key)
                at = data.find(key, at + 1)


class _SerializedModule:
    """One serialized module, read from its graph on."""

    def __init__(self, source: ByteSource, ahead: ReadAhead, at: int) -> None:
        self._source = source
        self._ahead = ahead
        self._at = at

    def parts(self, name: str, options: dict[str, Any]) -> list[tuple[str, ByteSource]]:
        start = self._at + 8
        if start >= self._source.size:
            return []
        length = self._number("graph: length")
        if self._ahead.bytes(start, 1) not in (b"{", b"[", b'"', b" ", b"\n"):
            return []
        graph_at = self._pass(length, "graph")
        graph = PartSource(self._source, graph_at, length, f"{name}:graph.json")
        arrays = self._number("number of parameters")
        if not arrays:
            return [("graph", graph)]
        names_at = self._at
        count = self._number("number of names")
        if count != arrays:
            self._fail("number of names", f"{arrays}, as many as arrays", count)
        for index in range(count):
            self._pass(self._number(f"name {index}: length"), f"name {index}")
        params = _Params(self._source, names_at, self._at, arrays, f"{name}:params")
        read = read_params(params, **options)
        if not read.truncated:
            last = read.records[-1]
            params.size = last.offset + last.nbytes
        return [("graph", graph), ("params", params)]

    def _number(self, field: str) -> int:
        if self._at + 8 > self._source.size:
            self._fail(field, "8 bytes", self._source.size - self._at)
        (value,) = _U64.unpack(self._ahead.bytes(self._at, 8))
        self._at += 8
        return int(value)

    def _pass(self, size: int, field: str) -> int:
        rest = self._source.size - self._at
        if size > rest:
            self._fail(f"{field}: length", f"at most {rest}", size)
        self._at += size
        return self._at - size

    def _fail(self, field: str, expected: object, found: object) -> None:
        raise FormatError(
            "the graph in the library is damaged",
            file=self._source.name,
            field=field,
            offset=self._at,
            expected=expected,
            found=found,
            hint="The library may be cut off: copy or export it again.",
        )


class _Params(DerivedSource):
    """Arrays of a library as a params file: its header before names and arrays, read in place."""

    def __init__(self, source: ByteSource, names: int, arrays: int, count: int, name: str) -> None:
        head = _U64.pack(LIST_MAGIC) + bytes(8)
        head += source.read(names, arrays - names) + _U64.pack(count)
        self._head = head
        self._shift = arrays - len(head)
        super().__init__(source, source.size - self._shift, name)

    def _fill(self, offset: int, view: memoryview) -> None:
        own = self._head[offset : offset + len(view)]
        view[: len(own)] = own
        if len(own) < len(view):
            self.stored.read_into(offset + len(own) + self._shift, view[len(own) :])
