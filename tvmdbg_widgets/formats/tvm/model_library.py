"""Exported libraries: the metadata of Model Library Format, and the parts in a shared library."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import msgspec

from tvmdbg_widgets.formats.family import Kind
from tvmdbg_widgets.formats.json_fields import Count, read_json
from tvmdbg_widgets.formats.tvm.foreign import LAST_VERSION
from tvmdbg_widgets.formats.tvm.params.file import read_params
from tvmdbg_widgets.formats.tvm.params.list import LIST_MAGIC
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError, IssueLog, Issues, cut, one_line
from tvmdbg_widgets.sources.byte_source import (
    ByteSource,
    BytesSource,
    DerivedSource,
    PartSource,
    ReadAhead,
)

_TARGET_SHOWN = 201
_SIZES = ("workspace_size_bytes", "constants_size_bytes", "io_size_bytes")
_MOST_FUNCTIONS = 1000


class _Sizes(msgspec.Struct):
    device: Count | None = None
    workspace_size_bytes: Count | None = None
    constants_size_bytes: Count | None = None
    io_size_bytes: Count | None = None


class _Operator(msgspec.Struct):
    function_name: str | None = None
    workspace: list[_Sizes] | None = None


class _Functions(msgspec.Struct):
    main: list[_Sizes] | None = None
    operator_functions: list[_Operator] | None = None


class _Memory(msgspec.Struct):
    functions: _Functions | None = None


class _Dependency(msgspec.Struct):
    short_name: str | None = None
    version_spec: str | None = None


class _LibraryModuleFields(msgspec.Struct, kw_only=True):
    executors: list[str] | None = None
    runtimes: list[str] | None = None
    style: str | None = None
    export_datetime: str | None = None
    target: dict[str, Any] | list[Any] | None = None
    memory: _Memory | list[Any] | None = None
    external_dependencies: list[_Dependency] | None = None


class _LibraryDocument(_LibraryModuleFields, kw_only=True):
    version: Count
    model_name: str | None = None
    modules: dict[str, _LibraryModuleFields] | None = None


@dataclass(frozen=True, slots=True)
class LibraryModule:
    """One module of a library."""

    name: str
    facts: tuple[str, ...]
    executors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelLibrary:
    """A ``metadata.json``."""

    version: int
    modules: Mapping[str, LibraryModule]
    file: str
    issues: Issues = field(default_factory=Issues)

    @property
    def facts(self) -> tuple[str, ...]:
        """Facts of the library and its modules."""
        facts = [f"Model Library Format {self.version}"]
        return (*facts, *(fact for module in self.modules.values() for fact in module.facts))


def sniff(head: bytes) -> bool:
    """Whether a file that starts with these bytes is the metadata of a model library."""
    words = (b'"executors"', b'"runtimes"', b'"memory"')
    return (
        head.lstrip()[:1] == b"{"
        and b'"export_datetime"' in head
        and any(word in head for word in words)
    )


def read_metadata(source: ByteSource) -> ModelLibrary:
    """Read ``metadata.json``."""
    top = read_json(source, _LibraryDocument)
    issues = IssueLog(source.name)
    if not 1 <= top.version <= LAST_VERSION:
        text = f"version {top.version} of Model Library Format; 1 to {LAST_VERSION} are known here"
        issues.warning("library-version", text)
    if top.modules is not None:
        modules = {name: _module(fields, name) for name, fields in top.modules.items()}
    elif top.model_name is not None:
        modules = {top.model_name: _module(top, top.model_name)}
    else:
        raise FormatError(
            "this field cannot be read",
            file=source.name,
            field="model_name",
            expected="this field, or modules",
            found="none",
        )
    for module in modules.values():
        if module.executors and "graph" not in module.executors:
            text = f"module {module.name!r} runs ahead of time (AOT): the library has no graph"
            issues.note("library-without-graph", text)
    return ModelLibrary(top.version, modules, source.name, Issues(issues))


def _module(read: _LibraryModuleFields, name: str) -> LibraryModule:
    executors = read.executors if read.executors is not None else read.runtimes or []
    parts = [f"module {one_line(name)!r}"]
    if read.style is not None:
        parts.append(f"style {one_line(read.style)}")
    if executors:
        parts.append(f"executor {one_line(', '.join(executors))}")
    if read.export_datetime is not None:
        parts.append(f"exported {one_line(read.export_datetime)}")
    facts = [", ".join(parts)]
    if read.target is not None:
        # Version 7 lists the targets; before, they are keyed by device type.
        targets = read.target.values() if isinstance(read.target, dict) else read.target
        text = cut(one_line(", ".join(map(str, targets))), _TARGET_SHOWN)
        facts.append(f"target of {one_line(name)!r}: {text}")
    if isinstance(read.memory, _Memory) and read.memory.functions is not None:
        facts += _memory(read.memory.functions, name)
    for item in read.external_dependencies or []:
        if item.version_spec is not None and item.short_name is not None:
            facts.append(f"depends on {one_line(item.short_name)} {one_line(item.version_spec)}")
    return LibraryModule(name, tuple(facts), tuple(executors))


def _memory(functions: _Functions, name: str) -> list[str]:
    facts = []
    for main in functions.main or []:
        sizes = [
            f"{key.removesuffix('_size_bytes')} {counted(getattr(main, key), 'byte')}"
            for key in _SIZES
            if getattr(main, key) is not None
        ]
        if sizes:
            facts.append(f"memory of {one_line(name)!r}{_device(main)}: {', '.join(sizes)}")
    operators = functions.operator_functions or []
    for each in operators[:_MOST_FUNCTIONS]:
        if each.function_name is not None and each.workspace is not None:
            sizes_text = ", ".join(
                f"{counted(size.workspace_size_bytes, 'byte')}{_device(size)}"
                for size in each.workspace
                if size.workspace_size_bytes is not None
            )
            facts.append(f"workspace of {one_line(each.function_name)!r}: {sizes_text}")
    if len(operators) > _MOST_FUNCTIONS:
        facts.append(f"and {counted(len(operators) - _MOST_FUNCTIONS, 'more function')}")
    return facts


def _device(read: _Sizes) -> str:
    return "" if read.device is None else f" on device type {read.device}"


def is_of_module(path: PurePath, module: str, others: Mapping[str, object]) -> bool:
    """Return whether a file of the library belongs to that module or to all."""
    if path.parts[0] not in ("executor-config", "runtime-config", "parameters", "src"):
        return True
    stem = path.name.rpartition(".")[0]
    return stem == module or stem not in others


def texts(
    files: Mapping[PurePath, ByteSource], module: str, others: Mapping[str, object]
) -> Iterator[tuple[PurePath, ByteSource]]:
    """Yield the texts of a module's intermediate representation, from ``src/``."""
    for path, source in files.items():
        text = path.parts[:-1] == ("src",) and path.suffix in (".relay", ".txt")
        if text and is_of_module(path, module, others):
            yield path, source


KIND = Kind("library", "model library", sniff, read_metadata, "graph")
#: Of the note beside nodes that were extracted from a run.
FIRST_LINE = "Some nodes of a run of TVM's debugger, as a dump of their own."
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
