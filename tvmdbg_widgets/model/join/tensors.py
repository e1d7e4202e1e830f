"""The tensors of a dump joined to the entries of its graph."""

from __future__ import annotations

from collections.abc import Sequence

from tvmdbg_widgets.model.base.issues import Issues
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.join.agreement import Declared, agreeing
from tvmdbg_widgets.model.join.buffer_reuse import later_writers, reuse_issue, reuse_note
from tvmdbg_widgets.model.join.placement import KeyedArray, place
from tvmdbg_widgets.model.tensors.tensors import Captured, Tensor, Tensors


def join_tensors(
    graph: Graph | None,
    arrays: Sequence[KeyedArray],
    *,
    file: str,
    reused: bool = False,
    captured: Captured = "unknown",
) -> tuple[Tensors, Issues]:
    """Join the arrays of ``output_tensors.params`` to the entries of the graph."""
    placed, issues = place(graph, arrays, file)
    later = later_writers(graph) if reused and graph is not None else {}
    later = {entry: later[entry] for entry in sorted({p.entry for p in placed} & later.keys())}
    declared = None if graph is None else Declared(graph)
    tensors = []
    for each in placed:
        record, notes = agreeing(declared, each, issues, file)
        writer = later.get(each.entry)
        if writer is not None and graph is not None:
            notes += (reuse_note(graph, each.entry, writer),)
        tensors.append(
            Tensor(
                record,
                each.node,
                each.output,
                name=each.array.name,
                trust=each.trust,
                notes=notes,
                captured=captured,
            )
        )
    if later:
        issues.append(reuse_issue(later, file))
    return Tensors(tensors), Issues(issues)
