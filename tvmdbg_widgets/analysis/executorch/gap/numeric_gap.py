"""How far the values of a run are from those they should be, operator by operator.

``Inspector.calculate_numeric_gap`` of devtools/inspector/_inspector.py @ v1.4.1.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.executorch.gap.inspector_gap import inspector_gap, inspector_pairs
from tvmdbg_widgets.analysis.executorch.gap.metrics import Distance, GapMetric, metric
from tvmdbg_widgets.analysis.executorch.gap.reference_graph import (
    ReferenceGraph,
    edge_program,
    reference_graph,
)
from tvmdbg_widgets.analysis.executorch.gap.reference_values import (
    Reference,
    ReferenceValue,
    given_values,
    reference_values,
)
from tvmdbg_widgets.analysis.executorch.gap.rows import GapRow, NumericGap, Skipped
from tvmdbg_widgets.analysis.executorch.gap.values_by_name import ValuesByName
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.executorch.etrecord import ETRecord


def numeric_gap(
    blocks: Iterable[Any],
    etrecord: ETRecord | None,
    distance: str | Distance,
    *,
    reference: Reference | None = None,
    disable_debug_handle_validation: bool = False,
    reference_graph: str | None = None,
    compat: bool = False,
) -> NumericGap:
    """Compare the values that a run logged with a reference.

    Each reference value is found in the edge program; what was logged of it, or of the value that
    it is a view of, is what it is compared with. Nothing is assumed: what has no counterpart is
    listed in ``skipped``.
    """
    blocks = list(blocks)
    if etrecord is None:
        if compat:
            raise AttributeError("'NoneType' object has no attribute 'exported_program'")
        raise ValueError("an ETRecord is needed: it tells which operator an event is of")
    graph = _graph(etrecord, reference_graph, validate=not disable_debug_handle_validation)
    if not compat:
        measure = metric(distance)
        values = reference_values(reference, etrecord, graph, blocks)
        logged = ValuesByName(blocks, edge_program(etrecord))
        compared = [_compared(each, logged, graph, measure) for each in values]
        rows = tuple(each for each in compared if isinstance(each, GapRow))
        skipped = tuple(each for each in compared if isinstance(each, Skipped))
        return NumericGap(measure, rows, skipped)
    if reference is None:
        raise ValueError("the Inspector computes its reference with torch: give reference=")
    pairs = list(inspector_pairs(blocks, graph, given_values(reference)))
    measure = metric(distance, compat=True)
    return NumericGap(
        measure,
        tuple(
            dataclasses.replace(
                row,
                gap=inspector_gap(
                    measure, row.aot_intermediate_output, row.runtime_intermediate_output
                ),
            )
            for row in pairs
        ),
    )


_graph = reference_graph


def _compared(
    wanted: ReferenceValue, logged: ValuesByName, graph: ReferenceGraph, measure: GapMetric
) -> GapRow | Skipped:
    def skipped(reason: str) -> Skipped:
        return Skipped(wanted.key, wanted.handles, reason)

    if not wanted.names:
        return skipped("the program has no such handle, node, value or module")
    several = isinstance(wanted.value, list)
    expected = wanted.value if several else [wanted.value]
    if len(expected) != len(wanted.names):
        return skipped(
            f"{counted(len(expected), 'value')} {agree(len(expected), 'is')} given for "
            f"{counted(len(wanted.names), 'output')}"
        )
    found, gaps = [], []
    for name, value in zip(wanted.names, expected, strict=True):
        each = logged.find(name)
        if each is None:
            return skipped(logged.why_not(name))
        if each.value is None:
            return skipped(f"the value of {name} is not known without its debug buffer")
        runtime = np.asarray(each.value)
        if runtime.size != np.size(value):
            return skipped(f"shapes {np.shape(value)} and {runtime.shape} of {name} do not agree")
        try:
            gaps.append(measure.of(value, runtime.reshape(np.shape(value))))
        except (TypeError, ValueError) as problem:
            return skipped(f"{name}: {problem}")
        found.append(each)
    operators = graph.operators(wanted.handles)
    return GapRow(
        wanted.handles,
        operators,
        wanted.value,
        list(dict.fromkeys(each.event.name for each in found)),
        found[0].handles,
        [each.value for each in found] if several else found[0].value,
        gaps,
        graph.stack_traces(operators),
    )
