"""Reference graph for runtime values, and its debug handles.

``_resolve_reference_graph`` of devtools/inspector/_inspector.py and ``propagate_back_debug_handle``
of devtools/inspector/_inspector_utils.py @ v1.4.1.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np

from tvmdbg_widgets.analysis.executorch.handle_index import (
    HandleIndex,
    Handles,
    ValuesByName,
    is_list,
)
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.executorch.etrecord import ETRecord, ExportedProgram, ProgramNode
from tvmdbg_widgets.sources.archives import read_numpy_archive
from tvmdbg_widgets.sources.file_source import FileSource

EXPORTED: Final = "exported_program"
EDGE: Final = "edge_dialect_exported_program"
FORWARD: Final = "forward"
_UNSET: Final = 0  # ``UNSET_DEBUG_HANDLE`` of exir/debug_handle_utils.py


@dataclass(frozen=True, slots=True)
class ReferenceNode:
    """One operator of the reference graph."""

    name: str
    handles: Handles
    stack_trace: str | None


@dataclass(frozen=True)
class ReferenceGraph:
    """Operators of one program with debug handles, in its order."""

    name: str
    nodes: tuple[ReferenceNode, ...]

    def operators(self, handles: Handles) -> list[str]:
        """Return the operators whose handles are all among these, by first handle."""
        return [name for key in self._index.within(handles) for name in self._names[key]]

    def stack_traces(self, operators: list[str]) -> dict[str, str | None]:
        """Return the source lines of operators, None where the file has none."""
        return {name: self._traces.get(name) for name in operators}

    @cached_property
    def _names(self) -> dict[Handles, list[str]]:
        names: dict[Handles, list[str]] = {}
        for node in self.nodes:
            names.setdefault(node.handles, []).append(node.name)
        return names

    @cached_property
    def _index(self) -> HandleIndex:
        return HandleIndex(self._names)

    @cached_property
    def _traces(self) -> dict[str, str | None]:
        return {node.name: node.stack_trace for node in self.nodes}


def edge_program(etrecord: ETRecord) -> ExportedProgram:
    """Return the edge program of ``forward``, or of the only method."""
    programs = etrecord.edge_programs
    if FORWARD not in programs and len(programs) != 1:
        named = ", ".join(programs) or "no program"
        raise ValueError(f"the ETRecord has {named}, not the edge program of {FORWARD!r}")
    return programs.get(FORWARD) or next(iter(programs.values()))


def record_of_method(etrecord: ETRecord, method: str) -> ETRecord:
    """Return an ETRecord of several methods as one whose ``forward`` is a given method."""
    if len(etrecord.edge_programs) < 2 or method not in etrecord.edge_programs:
        return etrecord
    outputs = (etrecord.reference_outputs or {}).get(method)
    return replace(
        etrecord,
        edge_programs={FORWARD: etrecord.edge_programs[method]},
        reference_outputs={FORWARD: outputs} if outputs is not None else None,
    )


def reference_graph(
    etrecord: ETRecord, name: str | None = None, *, validate: bool = True
) -> ReferenceGraph:
    """Return the Inspector's reference graph."""
    if name in (None, EXPORTED):
        handles = _exported_handles_by_node(etrecord, validate=validate)
        program = etrecord.exported_program
        if handles is not None and program is not None:
            return ReferenceGraph(EXPORTED, tuple(_nodes(program, handles)))
        if name is not None:
            raise ValueError(
                "Cannot use 'exported_program': Debug handle backpropagation failed or exported "
                "program is unavailable. Please check if the exported program is available in "
                "ETRecord, or try to disable debug handle validation."
            )
    if name in (None, EDGE):
        return ReferenceGraph(EDGE, tuple(_nodes(edge_program(etrecord))))
    full = name if "/" in name else f"{name}/{FORWARD}"
    stored = etrecord.graph_map.get(full)
    if stored is None:
        raise ValueError(
            f"Reference graph '{full}' not found. Available options: 'exported_program', "
            "'edge_dialect_exported_program', or one of the graphs in graph_map: "
            f"{list(etrecord.graph_map)}"
        )
    return ReferenceGraph(name, tuple(_nodes(stored)))


def _nodes(
    program: ExportedProgram, handles: Mapping[str, int] | None = None
) -> Iterator[ReferenceNode]:
    for node in program.nodes:
        handle = node.debug_handle if handles is None else handles.get(node.name)
        if node.op == "call_function" and handle is not None and "getitem" not in node.name:
            key = (handle,) if isinstance(handle, int) else tuple(handle)
            yield ReferenceNode(node.name, key, node.stack_trace)


def _exported_handles_by_node(etrecord: ETRecord, *, validate: bool) -> dict[str, int] | None:
    program, graph = etrecord.exported_program, etrecord.export_graph_id
    if program is None or not program.nodes:
        return None
    by_origin: dict[str, int] = {}
    edge = [node for node in edge_program(etrecord).nodes if node.op == "call_function"]
    for node in edge:
        for origin in _origins(node):
            if isinstance(node.debug_handle, int):
                by_origin.setdefault(origin, node.debug_handle)
    handles = {}
    for node in program.nodes:
        if node.op == "call_function":
            origins = [f"{node.name}.{graph}", *_origins(node)]
            known = (by_origin[origin] for origin in origins if origin in by_origin)
            handles[node.name] = next(known, _UNSET)
    matched = set(handles.values())
    if validate and any(node.debug_handle not in matched for node in edge):
        return None
    return handles


def _origins(node: ProgramNode) -> list[str]:
    origins = []
    try:
        chain: Any = json.loads(node.metadata.get("from_node", "[]"))
    except (ValueError, RecursionError):
        return []
    while isinstance(chain, list) and chain and isinstance(chain[-1], Mapping):
        source = chain[-1]
        origins.append(f"{source.get('name')}.{source.get('graph_id')}")
        chain = source.get("from_node")
    return origins


#: A debug handle, several, or the name of a node, a value or a module.
Key: TypeAlias = int | tuple[int, ...] | str
#: Values by key, a ``.npz`` file of them, or the event blocks of another run.
Reference: TypeAlias = Mapping[Any, Any] | str | os.PathLike[str] | Iterable[Any]


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceValue:
    """A reference value with its name and operators."""

    key: Key
    handles: Handles
    names: tuple[str, ...]
    value: Any


def given_values(reference: Reference) -> dict[Key, Any]:
    """Return the values of a mapping or a ``.npz`` file as arrays, by handles or names."""
    if isinstance(reference, str | os.PathLike):
        reference = read_numpy_archive(FileSource(reference))
    if not isinstance(reference, Mapping):
        raise TypeError(f"a reference has values by handle or name, found {reference!r:.80}")
    return {_key(key): _plain(value) for key, value in reference.items()}


def reference_values(
    reference: Reference | None, etrecord: ETRecord, graph: ReferenceGraph, blocks: Iterable[Any]
) -> list[ReferenceValue]:
    """Return the reference values, in the order of the edge program."""
    program = edge_program(etrecord)
    if reference is None:
        reference = _outputs(etrecord, program, blocks)
    if isinstance(reference, Iterable) and not isinstance(reference, Mapping | str | os.PathLike):
        other = list(reference)
        if all(hasattr(block, "events") for block in other):
            logged = ValuesByName(other, program).values
            reference = {name: value.value for name, value in logged.items()}
    resolve = _Resolver(program, graph)
    values = [resolve(key, value) for key, value in given_values(reference).items()]
    return sorted(values, key=lambda each: program.producers.get("".join(each.names[:1]), (-1, 0)))


class _Resolver:
    def __init__(self, program: ExportedProgram, graph: ReferenceGraph) -> None:
        self.program = program
        self.nodes = {node.name: at for at, node in enumerate(program.nodes)}
        self.traced = {node.name: node.handles for node in graph.nodes}
        self.modules = {
            frame.path: at
            for at, node in enumerate(program.nodes)
            for frame in node.module_stack
            if node.op == "call_function"
        }

    def __call__(self, key: Key, value: Any) -> ReferenceValue:
        if isinstance(key, str) and key in self.program.producers and key not in self.nodes:
            at, _ = self.program.producers[key]
            return ReferenceValue(key, self.program.nodes[at].handles, (key,), value)
        at = self._node(key)
        if at < 0:
            return ReferenceValue(key, (), (), value)
        node = self.program.nodes[at]
        names = tuple(output.name for output in node.outputs)
        wanted = names if isinstance(value, list) else names[:1]
        handles = node.handles if isinstance(key, str) else key
        return ReferenceValue(
            key, handles if isinstance(handles, tuple) else (handles,), wanted, value
        )

    def _node(self, key: Key) -> int:
        if isinstance(key, str):
            if key in self.nodes:
                return self.nodes[key]
            if key not in self.traced:
                return self.modules.get(key, -1)
            key = self.traced[key]
        handles = (key,) if isinstance(key, int) else key
        nodes = [self.program.by_handle.get(handle, (-1,))[-1] for handle in handles]
        return max(nodes, default=-1)


def _outputs(etrecord: ETRecord, program: ExportedProgram, blocks: Iterable[Any]) -> dict[str, Any]:
    cases = (etrecord.reference_outputs or {}).get(FORWARD, ())
    index = next((block.bundled_input_index for block in blocks if block.run_output), None)
    place = -1 if index is None else int(index)
    if not cases or (place < 0 and len(cases) > 1) or place >= len(cases):
        missing = (
            f"outputs for {counted(len(cases), 'input')}, and which was run is not recorded"
            if cases and place < 0
            else "no outputs for the input that was run"
        )
        raise ValueError(
            f"the ETRecord holds {missing}: give reference=, values by debug handle or node name, "
            "a .npz file of them, or the event blocks of another run"
        )
    outputs = list(cases[place])
    results = program.results[max(0, len(program.results) - len(outputs)) :]
    return dict(zip(results, outputs, strict=False))


def _key(key: Any) -> Key:
    if isinstance(key, str):
        numbers = re.fullmatch(r"\(?\s*(\d{1,18}(?:\s*+,\s*+\d{1,18})*+)\s*+,?\s*+\)?", key)
        if numbers is None:
            return key
        handles = tuple(int(handle) for handle in numbers[1].split(","))
        return handles[0] if len(handles) == 1 else handles
    if isinstance(key, tuple | list):
        return tuple(int(handle) for handle in key)
    return int(key)


def _plain(value: Any) -> Any:
    if value is None:
        return None
    return [np.asarray(item) for item in value] if is_list(value) else np.asarray(value)
