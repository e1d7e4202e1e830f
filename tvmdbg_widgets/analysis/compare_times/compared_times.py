"""The times of two runs compared, as columns, and their sums."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.compare_times.aligned import align
from tvmdbg_widgets.analysis.compare_times.columns import ChangeColumns, grouped
from tvmdbg_widgets.analysis.compare_times.samples import NodeSamples
from tvmdbg_widgets.analysis.compare_times.table import TimeChanges
from tvmdbg_widgets.model.graph.node_words import node_labels, node_op_kinds, shape_text
from tvmdbg_widgets.model.timeline.measured import Measured

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.compare_times.changes import TimeChange
    from tvmdbg_widgets.analysis.matching import Matching
    from tvmdbg_widgets.model.graph.graph import Graph
    from tvmdbg_widgets.model.parts import RunParts
    from tvmdbg_widgets.model.timeline.timeline import Timeline

_ONE_TIME = {
    Measured.CALL: "a profiling report holds one time of each call, so how it varies is unknown",
    Measured.SUM: "a profiling report holds one sum over calls, so how it varies is unknown",
}


class ComparedTimes(TimeChanges):
    """The times of two runs, operator by operator, as numbers.

    See :class:`TimeComparison`, which says what they mean.
    """

    def __init__(
        self,
        a: RunParts,
        b: RunParts,
        matching: Matching,
        titles: tuple[str, str],
        *,
        warm_up: int = 0,
        times: tuple[Timeline, Timeline] | None = None,
        aligned_by: str = "",
    ) -> None:
        self.a, self.b, self.matching, self.titles = a, b, matching, titles
        self.warm_up = warm_up
        self.aligned_by = aligned_by
        compared = times or (known_timeline(a), known_timeline(b))
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
        known = {_ONE_TIME.get(known_timeline(each).measured, "") for each in (self.a, self.b)}
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
    def total(self) -> TimeChange:
        """All nodes as one row."""
        aligned = self.columns.aligned
        whole = grouped(aligned, np.zeros(len(aligned), np.int64), 1)
        named = ["all operators"], [""], [""]
        return ChangeColumns.of(whole, self._nodes, named, self._missing).row(0)


def known_timeline(parts: RunParts) -> Timeline:
    """Return the times of a run; ValueError where it has none."""
    if parts.timeline is None:
        raise ValueError(f"{parts.title} has no times")
    return parts.timeline


def _shape(graph: Graph, node: int) -> str:
    shape = graph.shape(node) if len(graph.entry_range(node)) else None
    return "" if shape is None else shape_text(shape)


def _total(times: Any) -> float:
    return math.fsum(times[~np.isnan(times)].tolist())
