"""Model Library Format: what ``metadata.json`` says, and which files belong to which module.

``export_model_library_format``, python/tvm/micro/model_library_format.py @ v0.8.0 to v0.16.0.
Versions 1 to 6 describe one module at the top of ``metadata.json``; its graph is
``runtime-config/graph/graph.json`` (1, 2) or ``executor-config/graph/graph.json``, its text
``src/relay.txt``. Version 7 has ``modules: {name: …}``, ``executor-config/graph/<name>.graph`` and
``src/<name>.relay``. Parameters are ``parameters/<name>.params`` in all of them. Operators alone
(``style: "operator"``) have neither graph nor parameters, and ``src/tir-<device>.txt``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.formats.json_fields import Fields
from tvmdbg_widgets.model.base.issues import Issue, Issues, Severity
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import PurePath

    from tvmdbg_widgets.sources.byte_source import ByteSource

#: The last version whose writer was read for this.
LAST_VERSION = 7
_TARGET_SHOWN = 200
_SIZES = ("workspace_size_bytes", "constants_size_bytes", "io_size_bytes")
_MOST_FUNCTIONS = 1000
#: Folders of the library that hold no part of a run.
OTHER_FOLDERS = ("codegen", "crt_config", "runtime", "src", "templates")


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
        """What is known of the library and its modules."""
        told = [f"Model Library Format {self.version}"]
        return (*told, *(fact for module in self.modules.values() for fact in module.facts))


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
    top = Fields.of(source)
    version = top.integer("version")
    issues = []
    if not 1 <= version <= LAST_VERSION:
        text = f"version {version} of Model Library Format; 1 to {LAST_VERSION} are known here"
        issues.append(Issue("library-version", Severity.WARNING, text, file=source.name))
    if top.has("modules"):
        inner = top.inner("modules")
        modules = {name: _module(inner.inner(name), name) for name in top.plain("modules")}
    else:
        name = top.text("model_name")
        modules = {name: _module(top, name)}
    for module in modules.values():
        if module.executors and "graph" not in module.executors:
            text = f"module {module.name!r} runs ahead of time (AOT): the library has no graph"
            issues.append(Issue("library-without-graph", Severity.NOTE, text, file=source.name))
    return ModelLibrary(version, modules, source.name, Issues(issues))


def _module(fields: Fields, name: str) -> LibraryModule:
    executors = next(
        (fields.texts(key) for key in ("executors", "runtimes") if fields.has(key)), []
    )
    told = [f"module {one_line(name)!r}"]
    if fields.has("style"):
        told.append(f"style {one_line(fields.text('style'))}")
    if executors:
        told.append(f"executor {one_line(', '.join(executors))}")
    if fields.has("export_datetime"):
        told.append(f"exported {one_line(fields.text('export_datetime'))}")
    facts = [", ".join(told)]
    if fields.has("target"):
        facts.append(f"target of {one_line(name)!r}: {_target(fields)}")
    facts += _memory(fields, name)
    if fields.has("external_dependencies"):
        for each in fields.objects("external_dependencies"):
            if each.has("version_spec") and each.has("short_name"):
                what, spec = each.text("short_name"), each.text("version_spec")
                facts.append(f"depends on {one_line(what)} {one_line(spec)}")
    return LibraryModule(name, tuple(facts), tuple(executors))


def _target(fields: Fields) -> str:
    """Version 7 lists the targets; before, they are keyed by device type."""
    value: Any = fields.plain("target") if not _is_list(fields, "target") else None
    texts = fields.items("target") if value is None else list(value.values())
    text = one_line(", ".join(map(str, texts)))
    return text if len(text) <= _TARGET_SHOWN else text[:_TARGET_SHOWN] + "…"


def _memory(fields: Fields, name: str) -> list[str]:
    if not fields.has("memory") or _is_list(fields, "memory"):
        return []
    memory = fields.inner("memory")
    if not memory.has("functions"):
        return []
    functions = memory.inner("functions")
    facts = []
    if functions.has("main"):
        for main in functions.objects("main"):
            sizes = [
                f"{key.removesuffix('_size_bytes')} {counted(main.integer(key), 'byte')}"
                for key in _SIZES
                if main.has(key)
            ]
            if sizes:
                facts.append(f"memory of {one_line(name)!r}{_device(main)}: {', '.join(sizes)}")
    if functions.has("operator_functions"):
        operators = functions.objects("operator_functions")
        facts += [fact for each in operators[:_MOST_FUNCTIONS] if (fact := _workspace(each))]
        if len(operators) > _MOST_FUNCTIONS:
            facts.append(f"and {counted(len(operators) - _MOST_FUNCTIONS, 'more function')}")
    return facts


def _workspace(function: Fields) -> str:
    if not (function.has("function_name") and function.has("workspace")):
        return ""
    told = [
        f"{counted(each.integer('workspace_size_bytes'), 'byte')}{_device(each)}"
        for each in function.objects("workspace")
        if each.has("workspace_size_bytes")
    ]
    return f"workspace of {one_line(function.text('function_name'))!r}: {', '.join(told)}"


def _device(fields: Fields) -> str:
    return f" on device type {fields.integer('device')}" if fields.has("device") else ""


def _is_list(fields: Fields, name: str) -> bool:
    try:
        fields.items(name)
    except ValueError:
        return False
    return True


def is_of_module(path: PurePath, module: str, others: Mapping[str, object]) -> bool:
    """Whether a file of the library belongs to that module, or to none in particular."""
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
