"""Result of a comparison of times: operators that take longer, and whether by noise alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.compare_times import compared_times
from tvmdbg_widgets.analysis.compare_times.aligned import combined
from tvmdbg_widgets.analysis.compare_times.changes import (
    ChangeColumns,
    TimeChange,
    TimeChanges,
    grouped,
)
from tvmdbg_widgets.analysis.compare_times.compared_times import (
    ComparedTimes,
    known_timeline,
    untested,
)
from tvmdbg_widgets.analysis.compare_times.verdicts import TimeVerdict
from tvmdbg_widgets.analysis.matching import Certainty
from tvmdbg_widgets.model.base.numbers import counted, duration_text
from tvmdbg_widgets.model.base.slips import one_of, public_class
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.graph.graph import Graph, node_labels, node_op_kinds
from tvmdbg_widgets.model.graph.node_columns import NodeColumn
from tvmdbg_widgets.model.timeline.timeline import Timeline


class KindChanges(TimeChanges):
    """Changes summed by op kind."""

    noun = "op kind"

    def __init__(self, comparison: TimeComparison) -> None:
        self._comparison = comparison

    @cached_property
    def columns(self) -> ChangeColumns:
        """Columns of the comparison, summed by op kind."""
        columns = self._comparison.columns
        kinds, group = np.unique(np.array(columns.kinds, object), return_inverse=True)
        names = [str(kind) for kind in kinds]
        rows = grouped(columns.aligned, group.astype(np.int64), len(kinds))
        return self._comparison.summed(rows, (names, names, [""] * len(names)))

    @property
    def caption(self) -> tuple[str, ...]:
        """The sentences above the rows."""
        return self._comparison.title, f"By op kind: {self._comparison.sentence}"


@public_class
class TimeComparison(ComparedTimes):
    """Times of two runs by operator; a sequence of :class:`TimeChange`.

    Attributes
    ----------
    a, b : RunParts
    matching : Matching
        Matched nodes.
    titles : (str, str)
    warm_up : int
        So many of the first repeats of every node were left out.
    total_a, total_b : float
        Nanoseconds: for ExecuTorch mean ``Method::execute``, else the sum of known node times.
    change_ns : float
        ``total_b - total_a``: all rows, :attr:`uncompared_ns` and :attr:`gap_ns`.
    total : TimeChange
        All nodes as one row.
    aligned_by : str
        How nodes were aligned, where one run has no graph; else ``""``.
    """

    #: Makes the run that shows both; see :attr:`run`.
    open_run: Callable[[TimeComparison], Any] | None = None

    @cached_property
    def uncompared_ns(self) -> tuple[float, float]:
        """Time of `a` and of `b` in rows whose other side has no known time."""
        columns = self.columns
        lost = np.isnan(columns.change_ns)
        return float(np.nansum(columns.a.ns[lost])), float(np.nansum(columns.b.ns[lost]))

    def by(self, what: str) -> TimeChanges:
        """Return the rows summed up: ``"kind"``, by op kind, or ``"node"``, this comparison.

        A row counts with all its nodes under one kind: a convolution and what is fused into it on
        one side stay together on the other, where they are functions of their own.

        Raises
        ------
        ValueError
            Anything else.
        """
        return self if one_of("rows by", what, ("kind", "node")) == "node" else self._by_kind

    @cached_property
    def _by_kind(self) -> KindChanges:
        return KindChanges(self)

    def row_of(self, node: int) -> TimeChange | None:
        """Return the row of a node of `a`; None for nodes without one, such as parameters."""
        self.matching.graph_a.entry_range(node)
        rows = self.columns.aligned.a
        at = np.flatnonzero(np.isin(self.columns.order, rows.row[rows.nodes == node]))
        return self[int(at[0])] if len(at) else None

    def counts(self) -> dict[str, int]:
        """Return the number of rows by verdict."""
        counts = Counter(self.columns.verdicts.verdict.tolist())
        return {verdict.label: counts[verdict] for verdict in TimeVerdict if counts[verdict]}

    @property
    def title(self) -> str:
        """Titles of both runs."""
        return "A: {}, B: {}".format(*map(one_line, self.titles))

    @cached_property
    def sentence(self) -> str:
        """How much faster or slower `b` is, and how few operators account for that."""
        return compared_times.sentence(self)

    @property
    def caption(self) -> tuple[str, ...]:
        """The sentences above the rows."""
        verdicts = ", ".join(f"{count:,} {label}" for label, count in self.counts().items())
        lines = [self.title, self.sentence, f"{counted(len(self), 'row')}: {verdicts}", *self.power]
        lines.append(self.aligned_by)
        for pair, why in (
            (self.uncompared_ns, "could not be compared: times are unknown"),
            (self.gap_ns, "lie outside of operators, in no row"),
        ):
            if any(pair):
                lines.append("{} of A and {} of B {}".format(*map(duration_text, pair), why))
        if self.warm_up:
            lines.append(f"The first {counted(self.warm_up, 'repeat')} of each node left out")
        lines.append(compared_times.warm_up(self))
        if self.columns.verdicts.tests:
            lines.append(compared_times.SESSIONS)
        return tuple(filter(None, lines))

    @cached_property
    def power(self) -> tuple[str, ...]:
        """Power of tests with samples of these sizes."""
        return compared_times.power(self.columns, self._missing)

    @property
    def change(self) -> NodeColumn:
        """Differences at the nodes of `a`, as a color of its graph."""
        return self.column_of(self.matching.graph_a)

    def speed_of(self, graph: Graph) -> NodeColumn:
        """Return how much slower `b` is by node of one of both graphs, as a ratio.

        Raises
        ------
        ValueError
            The graph is neither that of `a` nor that of `b`.
        """
        side, columns = self._side(graph), self.columns
        rows, verdict = columns.aligned.side(side), columns.verdicts.verdict
        alone = (verdict == TimeVerdict.ONLY_A) | (verdict == TimeVerdict.ONLY_B)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.log2(columns.b.ns / columns.a.ns)
        ratios[~(columns.verdicts.shown & ~alone & np.isfinite(ratios))] = np.nan
        values = np.full(graph.num_nodes, np.nan)
        values[rows.nodes] = ratios[rows.row]
        ends = min(float(np.nanmax(np.abs(ratios), initial=0)), _MOST)
        return NodeColumn(
            SPEED,
            "nodes",
            values,
            unit="×",
            scale="diverging",
            range=(-ends, ends) if ends > 0 else None,
            together="ratio",
            note=_color_note(self),
            terms=_shared_times(self, side),
        )

    def column_of(self, graph: Graph) -> NodeColumn:
        """Return the difference by node of one of both graphs, at the last node of a function.

        Raises
        ------
        ValueError
            The graph is neither that of `a` nor that of `b`.
        """
        columns = self.columns
        rows, shown = columns.aligned.side(self._side(graph)), columns.verdicts.shown
        nodes, row = rows.nodes, rows.row
        places = np.empty(graph.num_nodes, np.int64)
        places[graph.topological_order] = np.arange(graph.num_nodes)
        order = np.lexsort((places[nodes], row))
        last = order[np.diff(row[order], append=-1) != 0]
        values = np.full(graph.num_nodes, np.nan)
        kept = last[shown[row[last]]]
        values[nodes[kept]] = columns.change_ns[row[kept]]
        note = _color_note(self, len(nodes) - len(last))
        return NodeColumn(
            NAME,
            "nodes",
            values,
            unit="ns",
            scale="diverging",
            together="sum",
            note=". ".join(filter(None, ("B minus A", note))),
        )

    def _side(self, graph: Graph) -> int:
        for side, known in enumerate((self.matching.graph_a, self.matching.graph_b)):
            if graph is known:
                return side
        raise ValueError(f"this graph is of neither run: {self.title}")

    @cached_property
    def timeline(self) -> Timeline:
        """Timeline with the tracks of A, then those of B, over the nodes of `a`."""
        return combined(known_timeline(self.a), known_timeline(self.b), self.matching, self.titles)

    @cached_property
    def slice_words(self) -> dict[str, tuple[str, str]]:
        """Label and op kind of the slices of `b`, by name."""
        timeline, graph = known_timeline(self.b), self.matching.graph_b
        labels, kinds = node_labels(graph), node_op_kinds(graph)
        named = np.flatnonzero(timeline.slice_node >= 0)
        codes, first = np.unique(timeline.slice_names.codes[named], return_index=True)
        nodes = timeline.slice_node[named[first]].tolist()
        return {
            timeline.slice_names.unique[code]: (labels[node], kinds[node])
            for code, node in zip(codes.tolist(), nodes, strict=True)
        }

    @cached_property
    def run(self) -> Any:
        """One ``DebugRun`` for every view: graph and tensors of `a`, the slices of both.

        Raises
        ------
        ValueError
            This comparison was not made by :func:`tvmdbg_widgets.compare_times`.
        """
        if self.open_run is None:
            raise ValueError("use tvmdbg_widgets.compare_times(a, b), which knows the runs")
        return self.open_run(self)


Floats = npt.NDArray[np.float64]

NAME = "time change"  # name of the color in graphs
SPEED = "speed"
_MOST = 3.0  # limit of the color scale, as a binary logarithm of the ratio


def _shared_times(comparison: ComparedTimes, side: int) -> tuple[Floats, Floats]:
    columns, graphs = comparison.columns, (comparison.matching.graph_a, comparison.matching.graph_b)
    rows = columns.aligned.side(side)
    nodes, row = rows.nodes, rows.row
    own = comparison.node_ns(side)[nodes]
    whole = np.bincount(row, np.nan_to_num(own), minlength=len(rows.sizes))[row]
    count = rows.sizes[row]
    both = []
    for ns in (columns.a.ns, columns.b.ns):
        terms = np.full(graphs[side].num_nodes, np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms[nodes] = ns[row] * np.where(whole > 0, own / whole, 1 / count)
        both.append(terms)
    unsure = np.zeros(graphs[side].num_nodes, np.bool_)
    unsure[nodes] = (columns.aligned.certainty > Certainty.LIKELY)[row]
    missing = np.isnan(both[0]) | np.isnan(both[1]) | unsure
    for terms in both:
        terms[missing] = np.nan
    return both[0], both[1]


def _color_note(comparison: ComparedTimes, parts: int = 0) -> str:
    verdicts = comparison.columns.verdicts
    unknown = (verdicts.verdict == TimeVerdict.UNKNOWN) & ~verdicts.shown
    counts = (
        (int((verdicts.verdict == TimeVerdict.NOISE).sum()), "within noise"),
        (int(unknown.sum()), "unknown"),
        (parts, "counted at the last part of a function"),
    )
    listed = ", ".join(f"{count:,} {what}" for count, what in counts if count)
    without = f"without color: {listed}" if listed else ""
    return ". ".join(filter(None, (without, untested(comparison.columns))))
