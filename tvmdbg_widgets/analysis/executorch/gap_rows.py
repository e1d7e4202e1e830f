"""Result of a comparison of a run with its reference."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.executorch.handle_index import (
    HandleIndex,
    Handles,
    ValuesByName,
    is_list,
    paired_outputs,
    runtime_outputs,
)
from tvmdbg_widgets.analysis.executorch.metrics import (
    Distance,
    GapMetric,
    broadcast_problem,
    metric,
)
from tvmdbg_widgets.analysis.executorch.reference_graph import (
    Reference,
    ReferenceGraph,
    ReferenceValue,
    edge_program,
    given_values,
    reference_graph,
    reference_values,
)
from tvmdbg_widgets.model.base.numbers import agree, counted, text_lines
from tvmdbg_widgets.model.base.text import columns_of, data_frame, one_line
from tvmdbg_widgets.model.executorch.etrecord import ETRecord

_LINES_SHOWN = 40
_WIDTH = 60


@dataclass(frozen=True, slots=True, eq=False)
class GapRow:
    """One value of the run and its reference, named as the Inspector's columns.

    Attributes
    ----------
    aot_debug_handle : tuple of int
    aot_ops : list of str
        Operators of the reference graph with these handles.
    aot_intermediate_output : numpy.ndarray or list of numpy.ndarray
    runtime_ops : list of str
        Names of the events.
    runtime_debug_handle : tuple of int
    runtime_intermediate_output : numpy.ndarray or list of numpy.ndarray
        As it was logged.
    gap : list of float
        One per output.
    stacktraces : Mapping of str to str or None
        Source lines by operator.
    """

    aot_debug_handle: Handles
    aot_ops: list[str]
    aot_intermediate_output: Any
    runtime_ops: list[str]
    runtime_debug_handle: Handles
    runtime_intermediate_output: Any
    gap: list[float]
    stacktraces: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A reference value without a counterpart, and why."""

    key: Any
    handles: Handles
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class NumericGap:
    """Distances of a run's values from their references.

    Attributes
    ----------
    metric : Metric
    rows : tuple of GapRow
        In the order of the program.
    skipped : tuple of Skipped
        Reference values without a row.
    """

    metric: GapMetric
    rows: tuple[GapRow, ...]
    skipped: tuple[Skipped, ...] = ()

    @property
    def worst_first(self) -> tuple[GapRow, ...]:
        """The rows by worst gap; NaN comes first, unless nothing differs."""
        return tuple(sorted(self.rows, key=self._badness, reverse=True))

    def _badness(self, row: GapRow) -> float:
        several = isinstance(row.aot_intermediate_output, list)
        reference, runtime = (
            output if several else [output]
            for output in (row.aot_intermediate_output, row.runtime_intermediate_output)
        )
        gaps = []
        for gap, ours, theirs in zip(row.gap, reference, runtime, strict=True):
            if not math.isnan(gap):
                gaps.append(-gap if self.metric.falls else gap)
            elif not np.array_equal(np.ravel(ours), np.ravel(theirs)):
                gaps.append(math.inf)
        return max(gaps, default=-math.inf)

    def to_dataframe(self) -> Any:
        """Return a ``pandas.DataFrame`` with the Inspector's columns, one row per value."""
        names = [field.name for field in fields(GapRow)] if self.rows else []
        return data_frame(columns_of(self.rows, names))

    @property
    def summary(self) -> str:
        """The counts in one line."""
        words = f"{self.metric.name} of {counted(len(self.rows), 'value')}"
        return f"{words}, {len(self.skipped):,} skipped" if self.skipped else words

    def _lines(self) -> Iterator[tuple[str, str, str]]:
        yield self.metric.name, "reference", "run"
        for row in self.worst_first[:_LINES_SHOWN]:
            gaps = ", ".join(f"{gap:.4g}" for gap in row.gap)
            operators = row.aot_ops or [str(handle) for handle in row.aot_debug_handle]
            yield gaps, _names_text(operators), _names_text(row.runtime_ops)
        for skipped in self.skipped[: max(0, _LINES_SHOWN - len(self.rows))]:
            yield "skipped", one_line(str(skipped.key)), one_line(skipped.reason)
        more = len(self.rows) + len(self.skipped) - _LINES_SHOWN
        if more > 0:
            yield "…", f"and {more:,} more", ""

    def __repr__(self) -> str:
        return "\n".join([self.summary, *text_lines(list(self._lines()))])

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._lines()
        )
        return f"<table><caption>{html.escape(self.summary)}</caption><tbody>{rows}</tbody></table>"


def _names_text(names: list[str]) -> str:
    text = one_line(", ".join(names))
    if len(text) <= _WIDTH:
        return text
    return f"{one_line(names[-1])} (+{len(names) - 1})" if len(names) > 1 else text


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
    """Compare the logged values of a run with a reference; ``skipped`` has values without one."""
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
        compared = [_compared(value, logged, graph, measure) for value in values]
        rows = tuple(row for row in compared if isinstance(row, GapRow))
        skipped = tuple(row for row in compared if isinstance(row, Skipped))
        return NumericGap(measure, rows, skipped)
    if reference is None:
        raise ValueError("the Inspector computes its reference with torch: give reference=")
    pairs = list(inspector_pairs(blocks, graph, given_values(reference)))
    measure = metric(distance, compat=True)
    for row in pairs:
        ours, theirs = row.aot_intermediate_output, row.runtime_intermediate_output
        row.gap.extend(inspector_gap(measure, ours, theirs))
    return NumericGap(measure, tuple(pairs))


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
    pairs, gaps = [], []
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
        pairs.append(each)
    operators = graph.operators(wanted.handles)
    return GapRow(
        wanted.handles,
        operators,
        wanted.value,
        list(dict.fromkeys(runtime.event.name for runtime in pairs)),
        pairs[0].handles,
        [runtime.value for runtime in pairs] if several else pairs[0].value,
        gaps,
        graph.stack_traces(operators),
    )


def inspector_pairs(
    blocks: Iterable[Any], graph: ReferenceGraph, values: Mapping[Any, Any]
) -> Iterator[GapRow]:
    """Yield the Inspector's rows without their gaps."""
    given = {(k,) if isinstance(k, int) else tuple(k): value for k, value in values.items()}
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
        several = is_list(pair.reference) and len(pair.reference) > 1
        if pair.reference is None or pair.runtime is None or several:
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
    """Return the distance of one value, or of several."""
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
