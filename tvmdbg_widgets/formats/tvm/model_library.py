"""The metadata of a Model Library Format archive: modules, functions, memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import msgspec

from tvmdbg_widgets.formats.family import Kind
from tvmdbg_widgets.formats.json_fields import Count, read_json
from tvmdbg_widgets.formats.tvm.foreign import LAST_VERSION
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import (
    FormatError,
    IssueLog,
    Issues,
    one_line,
)
from tvmdbg_widgets.sources.byte_source import ByteSource

_TARGET_SHOWN = 200


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
        text = one_line(", ".join(map(str, targets)))
        text = text if len(text) <= _TARGET_SHOWN else text[:_TARGET_SHOWN] + "…"
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
