"""The graph of an exported program: its nodes, and an edge for each value that one reads."""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType
from typing import Final

import numpy as np

from tvmdbg_widgets.formats.collector import collector_paused
from tvmdbg_widgets.model.base.issues import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.executorch.exported_program import (
    ExportedProgram,
    ProgramNode,
    ProgramValue,
    Size,
)
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind

_LARGEST_SIZE = 2**63 - 1
_NAMED: Final = 8


@collector_paused()
def graph_of(program: ExportedProgram, *, file: str) -> Graph:
    """Return the graph of a program; node ``i`` is ``program.nodes[i]``."""
    nodes = program.nodes
    outputs = [node.outputs or (ProgramValue(node.name),) for node in nodes]
    values = [value for each in outputs for value in each]
    shapes = [None if value.sizes is None else _shape(value.sizes) for value in values]
    dtypes = {each: "" if each is None else each.name for each in {v.dtype for v in values}}
    producers = program.producers
    reads = [(at, *read) for at, node in enumerate(nodes) for read in enumerate(node.inputs)]
    sources = [producers.get(name, (-1, 0)) for _, _, (_, name) in reads]
    source, output = np.array(sources, dtype=np.int32).reshape(-1, 2).T
    calls = np.array([node.op == "call_function" for node in nodes], dtype=np.bool_)
    given = np.array([node.kind == "user_input" for node in nodes], dtype=np.bool_)
    kinds = np.where(calls, NodeKind.OPERATOR, np.where(given, NodeKind.INPUT, NodeKind.PARAMETER))
    heads = [producers[name] for name in program.results if name in producers]
    lost = [at for (at, _, _), (producer, _) in zip(reads, sources, strict=True) if producer < 0]
    return Graph(
        names=StringColumn.from_strings(node.name for node in nodes),
        func_names=StringColumn.from_strings(node.op_type for node in nodes),
        kinds=kinds.astype(np.uint8),
        parameter_trust=np.where(
            kinds <= NodeKind.PARAMETER, np.uint8(Trust.EXACT), np.uint8(Trust.ABSENT)
        ),
        entry_offsets=np.cumsum([0, *map(len, outputs)], dtype=np.int64),
        edge_source=source,
        edge_output=output,
        edge_target=np.array([at for at, _, _ in reads], dtype=np.int32),
        edge_position=np.array([position for _, position, _ in reads], dtype=np.int32),
        edge_trust=np.where(source < 0, np.uint8(Trust.ABSENT), np.uint8(Trust.EXACT)),
        heads=np.array(heads, dtype=np.int32).reshape(-1, 2),
        arg_nodes=np.flatnonzero(~calls).astype(np.int32),
        shape_offsets=np.cumsum([0, *(len(shape or ()) for shape in shapes)], dtype=np.int64),
        shape_dims=np.array([size for shape in shapes for size in shape or ()], dtype=np.int64),
        shape_known=np.array([shape is not None for shape in shapes], dtype=np.bool_),
        dtypes=StringColumn.from_strings(dtypes[value.dtype] for value in values),
        attrs=tuple(MappingProxyType(_attrs(node)) for node in nodes),
        form="edge",
        issues=Issues(_unwritten_issues(program, lost, file)),
        file=file,
    )


@lru_cache(maxsize=16_384)
def _shape(sizes: tuple[Size, ...]) -> tuple[int, ...] | None:
    known = tuple(size for size in sizes if isinstance(size, int) and 0 <= size <= _LARGEST_SIZE)
    return known if len(known) == len(sizes) else None


def _attrs(node: ProgramNode) -> dict[str, str]:
    """Return a node's attributes: the arguments that are no values, and what else it tells."""
    module = node.module_stack[-1] if node.module_stack else None
    handles = node.debug_handle
    dynamic = [
        f"({', '.join(map(str, value.sizes))})"
        for value in node.outputs
        if value.sizes is not None and _shape(value.sizes) is None
    ]
    told = {
        "debug_handle": ", ".join(map(str, handles if isinstance(handles, tuple) else [handles])),
        "nn_module_stack": module.path if module else "",
        "module_type": module.type if module else "",
        "stack_trace": node.stack_trace or "",
        "qualified_name": node.qualified_name,
        "kind": node.kind,
        "shape": "; ".join(dynamic),
    }
    if handles is None:
        del told["debug_handle"]
    return {**node.constants, **{name: text for name, text in told.items() if text}}


def _unwritten_issues(program: ExportedProgram, lost: list[int], file: str) -> list[Issue]:
    if not lost:
        return []
    nodes = tuple(dict.fromkeys(lost))[:_NAMED]
    names = ", ".join(program.nodes[at].name for at in nodes)
    message = (
        f"{program.name}: {counted(len(lost), 'value')} {agree(len(lost), 'is')} read that no "
        f"node writes, by {names}{' and others' if len(set(lost)) > _NAMED else ''}"
    )
    return [Issue("edge-value-unknown", IssueSeverity.ERROR, message, nodes=nodes, file=file)]
