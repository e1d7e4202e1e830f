"""The times of two runs compared: which operators take longer, and which do so by noise alone."""

from __future__ import annotations

import math
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.compare_times import told
from tvmdbg_widgets.analysis.compare_times.aligned import align
from tvmdbg_widgets.analysis.compare_times.columns import ChangeColumns, grouped
from tvmdbg_widgets.analysis.compare_times.samples import NodeSamples
from tvmdbg_widgets.analysis.compare_times.table import TimeChanges
from tvmdbg_widgets.analysis.compare_times.verdicts import Verdict
from tvmdbg_widgets.model.base.numbers import counted, duration_text
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.graph.node_words import node_labels, node_op_kinds, shape_text
from tvmdbg_widgets.model.timeline.measured import Measured

if TYPE_CHECKING:
    from collections.abc import Callable

    from tvmdbg_widgets.analysis.compare_times.changes import TimeChange
    from tvmdbg_widgets.analysis.matching import Matching
    from tvmdbg_widgets.model.graph.graph import Graph
    from tvmdbg_widgets.model.graph.node_columns import NodeColumn
    from tvmdbg_widgets.model.parts import RunParts
    from tvmdbg_widgets.model.timeline.timeline import Timeline
    from tvmdbg_widgets.run import DebugRun

_ONE_TIME = {
    Measured.CALL: "a profiling report holds one time of each call, so how it varies is unknown",
    Measured.SUM: "a profiling report holds one sum over calls, so how it varies is unknown",
}


class KindChanges(TimeChanges):
    """All operators of one kind as a row."""

    noun = "op kind"

    def __init__(self, columns: ChangeColumns, caption: tuple[str, ...]) -> None:
        self._columns, self._caption = columns, caption

    @property
    def columns(self) -> ChangeColumns:
        """The rows as columns."""
        return self._columns

    @property
    def caption(self) -> tuple[str, ...]:
        """What is told above the rows."""
        return self._caption


class TimeComparison(TimeChanges):
    """The times of two runs, operator by operator; a sequence of :class:`TimeChange`.

    Attributes
    ----------
    a, b : RunParts
    matching : Matching
        Which nodes stand for each other.
    titles : (str, str)
    warm_up : int
        So many of the first repeats of every node were left out.
    total_a, total_b : float
        Sums of all known node times, nanoseconds: no latency.
    change_ns : float
        ``total_b - total_a``: the sum of all rows, but for :attr:`uncompared_ns`.
    total : TimeChange
        All nodes as one row.
    aligned_by : str
        What stands for what, where one run has no graph; else ``""``.
    """

    def __init__(
        self,
        a: RunParts,
        b: RunParts,
        matching: Matching,
        titles: tuple[str, str],
        *,
        warm_up: int = 0,
        open_run: Callable[[TimeComparison], DebugRun] | None = None,
        times: tuple[Timeline, Timeline] | None = None,
        aligned_by: str = "",
    ) -> None:
        self.a, self.b, self.matching, self.titles = a, b, matching, titles
        self.warm_up = warm_up
        self._open_run = open_run
        self.aligned_by = aligned_by
        compared = times or (_known_timeline(a), _known_timeline(b))
        self._nodes = NodeSamples(compared[0], warm_up), NodeSamples(compared[1], warm_up)

    @cached_property
    def columns(self) -> ChangeColumns:
        """The rows as columns."""
        aligned = align(self.matching, self._nodes[0].ns, self._nodes[1].ns)
        return ChangeColumns.of(aligned, self._nodes, self._named(aligned), self._missing)

    def _named(self, aligned: Any) -> tuple[list[str], list[str], list[str]]:
        """Label, kind and shape of each row: of the side with fewer nodes, else of `a`."""
        graphs = self.matching.graph_a, self.matching.graph_b
        words = [(node_labels(each), node_op_kinds(each)) for each in graphs]
        labels, kinds, shapes = [], [], []
        for row in range(len(aligned)):
            nodes = aligned.a(row), aligned.b(row)
            side = int(not nodes[0] or 0 < len(nodes[1]) < len(nodes[0]))
            node = self._longest(side, nodes[side])
            labels.append(words[side][0][node])
            kinds.append(words[side][1][node])
            shapes.append(_shape(graphs[side], node))
        return labels, kinds, shapes

    def _longest(self, side: int, nodes: tuple[int, ...]) -> int:
        times = self._nodes[side].ns[list(nodes)]
        return nodes[int(np.argmax(np.where(np.isnan(times), -1, times)))]

    @cached_property
    def _missing(self) -> str:
        known = {_ONE_TIME.get(_known_timeline(each).measured, "") for each in (self.a, self.b)}
        return max(known)

    @cached_property
    def total_a(self) -> float:
        """Sum of the known times of all nodes of `a`, nanoseconds."""
        return _total(self._nodes[0].ns)

    @cached_property
    def total_b(self) -> float:
        """Sum of the known times of all nodes of `b`, nanoseconds."""
        return _total(self._nodes[1].ns)

    def node_ns(self, side: int) -> npt.NDArray[np.float64]:
        """Return the time of each node of `a` (0) or `b` (1), nanoseconds; NaN where unknown."""
        return self._nodes[side].ns

    @property
    def change_ns(self) -> float:
        """``total_b - total_a``."""
        return self.total_b - self.total_a

    @cached_property
    def uncompared_ns(self) -> tuple[float, float]:
        """Time of `a` and of `b` in rows of which the other side's time is not known."""
        columns = self.columns
        lost = np.isnan(columns.change_ns)
        return float(np.nansum(columns.a.ns[lost])), float(np.nansum(columns.b.ns[lost]))

    @cached_property
    def total(self) -> TimeChange:
        """All nodes as one row."""
        aligned = self.columns.aligned
        whole = grouped(aligned, np.zeros(len(aligned), np.int64), 1)
        named = ["all operators"], [""], [""]
        return ChangeColumns.of(whole, self._nodes, named, self._missing).row(0)

    def by(self, what: str) -> TimeChanges:
        """Return the rows summed up: ``"kind"``, by op kind, or ``"node"``, this comparison.

        A row counts with all its nodes under one kind: a convolution and what is fused into it on
        one side stay together on the other, where they are functions of their own.

        Raises
        ------
        ValueError
            Anything else.
        """
        if what == "node":
            return self
        if what != "kind":
            raise ValueError(f"by is 'kind' or 'node', found {what!r:.80}")
        return self._by_kind

    @cached_property
    def _by_kind(self) -> KindChanges:
        columns = self.columns
        kinds, group = np.unique(np.array(columns.kinds, object), return_inverse=True)
        names = [str(each) for each in kinds]
        rows = grouped(columns.aligned, group.astype(np.int64), len(kinds))
        shapes = [""] * len(names)
        found = ChangeColumns.of(rows, self._nodes, (names, names, shapes), self._missing)
        return KindChanges(found, (self.title, f"By op kind: {self.sentence}"))

    def row_of(self, node: int) -> TimeChange | None:
        """Return the row of a node of `a`; None where it has none, as parameters.

        Raises
        ------
        IndexError
            `a` has no such node.
        """
        self.matching.graph_a.entry_range(node)
        aligned = self.columns.aligned
        at = np.flatnonzero(aligned.nodes_a == node)
        if not len(at):
            return None
        row = int(np.searchsorted(aligned.offsets_a, at[0], "right")) - 1
        return self[int(np.flatnonzero(self.columns.order == row)[0])]

    def counts(self) -> dict[str, int]:
        """Return how many rows there are of each verdict that occurs."""
        found = Counter(self.columns.verdicts.verdict.tolist())
        return {each.label: found[each] for each in Verdict if found[each]}

    @property
    def title(self) -> str:
        """Both runs by their titles."""
        return "A: {}, B: {}".format(*map(one_line, self.titles))

    @cached_property
    def sentence(self) -> str:
        """How much faster or slower `b` is, and how few operators account for that."""
        return told.sentence(self)

    @property
    def caption(self) -> tuple[str, ...]:
        """What is told above the rows, one sentence each."""
        verdicts = ", ".join(f"{count:,} {label}" for label, count in self.counts().items())
        lines = [self.title, self.sentence, f"{counted(len(self), 'row')}: {verdicts}", *self.power]
        if self.aligned_by:
            lines.append(self.aligned_by)
        if any(self.uncompared_ns):
            a, b = map(duration_text, self.uncompared_ns)
            lines.append(f"{a} of A and {b} of B could not be compared: times are unknown")
        if self.warm_up:
            lines.append(f"The first {counted(self.warm_up, 'repeat')} of each node left out")
        if seen := told.warm_up(self):
            lines.append(seen)
        if self.columns.verdicts.tests:
            lines.append(told.SESSIONS)
        return tuple(lines)

    @cached_property
    def power(self) -> tuple[str, ...]:
        """What samples of these sizes can show at all."""
        return told.power(self.columns, self._missing)

    @property
    def change(self) -> NodeColumn:
        """The difference at each node of `a`, as a color of its graph."""
        return self.column_of(self.matching.graph_a)

    def speed_of(self, graph: Graph) -> NodeColumn:
        """Return how much slower `b` is at each node of one of both graphs, as a ratio.

        Raises
        ------
        ValueError
            The graph is neither that of `a` nor that of `b`.
        """
        from tvmdbg_widgets.analysis.compare_times.as_column import speed_column

        return speed_column(self, self._side(graph))

    def column_of(self, graph: Graph) -> NodeColumn:
        """Return the difference at each node of one of both graphs.

        Raises
        ------
        ValueError
            The graph is neither that of `a` nor that of `b`.
        """
        from tvmdbg_widgets.analysis.compare_times.as_column import change_column

        return change_column(self, self._side(graph))

    def _side(self, graph: Graph) -> int:
        for side, known in enumerate((self.matching.graph_a, self.matching.graph_b)):
            if graph is known:
                return side
        raise ValueError(f"this graph is of neither run: {self.title}")

    @cached_property
    def timeline(self) -> Timeline:
        """Both timelines as one, over the nodes of `a`: the tracks of A, then those of B."""
        from tvmdbg_widgets.analysis.compare_times.combined import combined

        return combined(
            _known_timeline(self.a), _known_timeline(self.b), self.matching, self.titles
        )

    @cached_property
    def slice_words(self) -> dict[str, tuple[str, str]]:
        """Label and op kind of the slices of `b` by the name they have."""
        timeline, graph = _known_timeline(self.b), self.matching.graph_b
        labels, kinds = node_labels(graph), node_op_kinds(graph)
        named = np.flatnonzero(timeline.slice_node >= 0)
        codes, first = np.unique(timeline.slice_names.codes[named], return_index=True)
        nodes = timeline.slice_node[named[first]].tolist()
        return {
            timeline.slice_names.unique[code]: (labels[node], kinds[node])
            for code, node in zip(codes.tolist(), nodes, strict=True)
        }

    @cached_property
    def run(self) -> DebugRun:
        """One run that every view shows: graph and tensors of `a`, the slices of both.

        Raises
        ------
        ValueError
            This comparison was not made by :func:`tvmdbg_widgets.compare_times`.
        """
        if self._open_run is None:
            raise ValueError("use tvmdbg_widgets.compare_times(a, b), which knows the runs")
        return self._open_run(self)


def _known_timeline(parts: RunParts) -> Timeline:
    if parts.timeline is None:
        raise ValueError(f"{parts.title} has no times")
    return parts.timeline


def _shape(graph: Graph, node: int) -> str:
    shape = graph.shape(node) if len(graph.entry_range(node)) else None
    return "" if shape is None else shape_text(shape)


def _total(times: Any) -> float:
    return math.fsum(times[~np.isnan(times)].tolist())
