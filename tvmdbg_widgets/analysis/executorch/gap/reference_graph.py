"""The graph whose operators runtime values are compared with, and its debug handles.

``_resolve_reference_graph`` of devtools/inspector/_inspector.py and ``propagate_back_debug_handle``
of devtools/inspector/_inspector_utils.py @ v1.4.1.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from tvmdbg_widgets.analysis.executorch.gap.handle_index import HandleIndex, Handles
from tvmdbg_widgets.model.executorch.etrecord import ETRecord
from tvmdbg_widgets.model.executorch.exported_program import ExportedProgram, ProgramNode

EXPORTED: Final = "exported_program"
EDGE: Final = "edge_dialect_exported_program"
FORWARD: Final = "forward"
#: ``UNSET_DEBUG_HANDLE`` of exir/debug_handle_utils.py.
_UNSET: Final = 0


@dataclass(frozen=True, slots=True)
class ReferenceNode:
    """One operator of the reference graph."""

    name: str
    handles: Handles
    stack_trace: str | None


@dataclass(frozen=True)
class ReferenceGraph:
    """The operators with debug handles of one program, in its order."""

    name: str
    nodes: tuple[ReferenceNode, ...]

    def operators(self, handles: Handles) -> list[str]:
        """Return the operators all of whose handles are among these, by their first handles."""
        return [name for key in self._index.within(handles) for name in self._names[key]]

    def stack_traces(self, operators: list[str]) -> dict[str, str | None]:
        """Return the source lines of operators, None where the file has none."""
        return {name: self._traces.get(name) for name in operators}

    @cached_property
    def _names(self) -> dict[Handles, list[str]]:
        found: dict[Handles, list[str]] = {}
        for node in self.nodes:
            found.setdefault(node.handles, []).append(node.name)
        return found

    @cached_property
    def _index(self) -> HandleIndex:
        return HandleIndex(self._names)

    @cached_property
    def _traces(self) -> dict[str, str | None]:
        return {node.name: node.stack_trace for node in self.nodes}


def edge_program(etrecord: ETRecord) -> ExportedProgram:
    """Return the edge program of ``forward``, or of the only method there is."""
    programs = etrecord.edge_programs
    if FORWARD not in programs and len(programs) != 1:
        named = ", ".join(programs) or "no program"
        raise ValueError(f"the ETRecord has {named}, not the edge program of {FORWARD!r}")
    return programs.get(FORWARD) or next(iter(programs.values()))


def record_of_method(etrecord: ETRecord, method: str) -> ETRecord:
    """Return an ETRecord of several methods as one of a method, which is its ``forward``."""
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
    """Return the graph that the Inspector would compare with."""
    if name in (None, EXPORTED):
        handles = _exported_handles(etrecord, validate=validate)
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
    found = etrecord.graph_map.get(full)
    if found is None:
        raise ValueError(
            f"Reference graph '{full}' not found. Available options: 'exported_program', "
            "'edge_dialect_exported_program', or one of the graphs in graph_map: "
            f"{list(etrecord.graph_map)}"
        )
    return ReferenceGraph(name, tuple(_nodes(found)))


def _nodes(
    program: ExportedProgram, handles: Mapping[str, int] | None = None
) -> Iterator[ReferenceNode]:
    for node in program.nodes:
        handle = node.debug_handle if handles is None else handles.get(node.name)
        if node.op == "call_function" and handle is not None and "getitem" not in node.name:
            key = (handle,) if isinstance(handle, int) else tuple(handle)
            yield ReferenceNode(node.name, key, node.stack_trace)


def _exported_handles(etrecord: ETRecord, *, validate: bool) -> dict[str, int] | None:
    """Return the handles of the exported program by node, None where they cannot be traced."""
    program, graph = etrecord.exported_program, etrecord.export_graph_id
    if program is None or not program.nodes:
        return None
    by_origin: dict[str, int] = {}
    edge = [node for node in edge_program(etrecord).nodes if node.op == "call_function"]
    for node in edge:
        for origin in _origins(node):
            if isinstance(node.debug_handle, int):
                by_origin.setdefault(origin, node.debug_handle)
    found = {}
    for node in program.nodes:
        if node.op == "call_function":
            origins = [f"{node.name}.{graph}", *_origins(node)]
            known = (by_origin[origin] for origin in origins if origin in by_origin)
            found[node.name] = next(known, _UNSET)
    matched = set(found.values())
    if validate and any(node.debug_handle not in matched for node in edge):
        return None
    return found


def _origins(node: ProgramNode) -> list[str]:
    """Return the nodes that a node comes from, nearest first, as ``name.graph``."""
    found = []
    try:
        chain: Any = json.loads(node.metadata.get("from_node", "[]"))
    except (ValueError, RecursionError):
        return []
    while isinstance(chain, list) and chain and isinstance(chain[-1], Mapping):
        source = chain[-1]
        found.append(f"{source.get('name')}.{source.get('graph_id')}")
        chain = source.get("from_node")
    return found
