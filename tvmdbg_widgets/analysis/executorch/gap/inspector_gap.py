"""The numeric gap as the Inspector computes it, with its mistakes.

``NumericalComparatorBase.compare`` of devtools/inspector/numerical_comparator @ v1.4.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tvmdbg_widgets.analysis.executorch.gap.handle_components import is_list, paired_outputs
from tvmdbg_widgets.analysis.executorch.gap.handle_index import HandleIndex, Handles
from tvmdbg_widgets.analysis.executorch.gap.intermediate_outputs import runtime_outputs
from tvmdbg_widgets.analysis.executorch.gap.metrics import GapMetric, broadcast_problem
from tvmdbg_widgets.analysis.executorch.gap.reference_graph import ReferenceGraph
from tvmdbg_widgets.analysis.executorch.gap.rows import GapRow


def inspector_pairs(
    blocks: Iterable[Any], graph: ReferenceGraph, values: Mapping[Any, Any]
) -> Iterator[GapRow]:
    """Yield the Inspector's rows, their gaps yet to be computed."""
    given = {_handles(key): value for key, value in values.items()}
    in_order = [node.handles for node in graph.nodes if node.handles in given]
    reference = {handles: given[handles] for handles in dict.fromkeys((*in_order, *given))}
    if not reference or not graph.nodes:
        raise ValueError(
            "Missing etrecord or missing representative inputs within etrecord, both of which are "
            "required for calculating numerical gap"
        )
    runtime, names = runtime_outputs(blocks)
    known = HandleIndex(names)
    for pair in list(paired_outputs(reference, runtime)):
        if pair.reference is None or pair.runtime is None:
            continue
        if is_list(pair.reference) and len(pair.reference) > 1:
            continue
        operators = graph.operators(pair.handles)
        events = [name for handles in known.within(pair.handles) for name in names[handles]]
        yield GapRow(
            pair.handles,
            operators,
            pair.reference,
            events,
            pair.handles,
            pair.runtime,
            [],
            graph.stack_traces(operators),
        )


def inspector_gap(metric: GapMetric, reference: Any, runtime: Any) -> list[float]:
    """Return the distance of a value, or of each of several."""
    if is_list(reference) != is_list(runtime):
        raise ValueError(
            f"Both inputs 'a' ({reference}) and 'b' ({runtime}) must be sequences or both must be "
            "non-sequences."
        )
    if not is_list(reference):
        return [_distance(metric, reference, runtime)]
    if len(reference) != len(runtime):
        raise ValueError(
            f"Sequences 'a' ({reference}) and 'b' ({runtime}) must have the same length for "
            f"comparison. len(a): {len(reference)} len(b): {len(runtime)}."
        )
    return [_distance(metric, a, b) for a, b in zip(reference, runtime, strict=True)]


def _distance(metric: GapMetric, reference: Any, runtime: Any) -> float:
    problem = broadcast_problem(reference, runtime) if metric.named else ""
    if problem:
        raise ValueError(f"Error computing {metric.name} difference between tensors: {problem}")
    return metric.of(reference, runtime)


def _handles(key: Any) -> Handles:
    return (key,) if isinstance(key, int) else tuple(key)
