"""Compared times of two runs as columns, and their sums."""

from __future__ import annotations

import math
from collections import Counter
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.compare_times.aligned import Aligned, align
from tvmdbg_widgets.analysis.compare_times.changes import (
    ONCE,
    ChangeColumns,
    TimeChange,
    TimeChanges,
    against,
    change_text,
    grouped,
    p_text,
)
from tvmdbg_widgets.analysis.compare_times.verdicts import (
    ALPHA,
    Ground,
    NodeSamples,
    TimeVerdict,
    least_p,
)
from tvmdbg_widgets.analysis.matching import Certainty, Matching
from tvmdbg_widgets.model.base.numbers import agree, counted, duration_text, percent, speed_text
from tvmdbg_widgets.model.base.ranges import total
from tvmdbg_widgets.model.graph.graph import Graph, node_labels, node_op_kinds, shape_text
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.timeline.measured import TimeMeaning
from tvmdbg_widgets.model.timeline.timeline import Timeline

RowWords = tuple[list[str], list[str], list[str]]  # labels, kinds and shapes of rows

_CONVERTING = frozenset({"cast/quantize", "layout/copy", "reshape"})
_RELATED = 0.5  # least share of common operators in runs of one model
_ONE_TIME = {
    TimeMeaning.CALL: "a profiling report holds one time of each call, so how it varies is unknown",
    TimeMeaning.SUM: "a profiling report holds one sum over calls, so how it varies is unknown",
}


class ComparedTimes(TimeChanges):
    """Times of two runs by operator, as numbers; see :class:`TimeComparison`."""

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
        hidden: bool = False,
    ) -> None:
        self.a, self.b, self.matching, self.titles = a, b, matching, titles
        self.warm_up = warm_up
        self.aligned_by = aligned_by
        compared = times or (known_timeline(a), known_timeline(b))
        self._compared = compared
        self._hidden = hidden or any(
            timeline.shared and timeline.shared.hidden for timeline in compared
        )
        self._nodes = NodeSamples(compared[0], warm_up), NodeSamples(compared[1], warm_up)

    @cached_property
    def columns(self) -> ChangeColumns:
        """The rows as columns."""
        calls = self._compared[0].shared, self._compared[1].shared
        aligned = align(self.matching, self._nodes[0].ns, self._nodes[1].ns, calls)
        return self.summed(aligned, self._row_words(aligned))

    def _row_words(self, aligned: Aligned) -> RowWords:
        graphs = self.matching.graph_a, self.matching.graph_b
        words = [(node_labels(graph), node_op_kinds(graph)) for graph in graphs]
        rows = []
        for row in range(len(aligned)):
            nodes = aligned.a.of(row), aligned.b.of(row)
            if called := self._longest_call(nodes):
                rows.append(called)
                continue
            side = int(not nodes[0] or 0 < len(nodes[1]) < len(nodes[0]))
            times = self._nodes[side].ns[list(nodes[side])]
            node = nodes[side][int(np.argmax(np.where(np.isnan(times), -1, times)))]
            label, kind = (column[node] for column in words[side])
            rows.append((label, kind, _shape(graphs[side], node)))
        labels, kinds, shapes = ([row_words[k] for row_words in rows] for k in range(3))
        return labels, kinds, shapes

    def _longest_call(
        self, nodes: tuple[tuple[int, ...], tuple[int, ...]]
    ) -> tuple[str, str, str] | None:
        for side in (1, 0):
            samples, sets = self._nodes[side], self._compared[side].shared
            own = [node for node in nodes[side] if samples.call[node] >= 0]
            if own and sets is not None:
                call = int(samples.call[max(own, key=lambda node: samples.ns[node])])
                return sets.names[call], sets.kinds[call], ""
        return None

    @cached_property
    def _missing(self) -> str:
        return max(_ONE_TIME.get(known_timeline(parts).measured, "") for parts in (self.a, self.b))

    @cached_property
    def total_a(self) -> float:
        """Time of `a` in nanoseconds: an execution if known, else the sum of its nodes."""
        return self._total(0)

    @cached_property
    def total_b(self) -> float:
        """Time of `b` in nanoseconds, likewise."""
        return self._total(1)

    def _total(self, side: int) -> float:
        if all(timeline.whole for timeline in self._compared) and not self.warm_up:
            return self._compared[side].account.whole_ns
        return _total(self._nodes[side].ns) + self._time_outside_operators(side)

    def _time_outside_operators(self, side: int) -> float:
        sets = self._compared[side].shared
        return 0.0 if sets is None else float(np.nansum(sets.own_ns[sets.apart]))

    @cached_property
    def gap_ns(self) -> tuple[float, float]:
        """Time of an execution of `a` and of `b` outside of operators, in no row."""
        if all(timeline.whole for timeline in self._compared) and not self.warm_up:
            one, other = (self._total(side) - _total(self._nodes[side].ns) for side in (0, 1))
            return one, other
        return self._time_outside_operators(0), self._time_outside_operators(1)

    @cached_property
    def shared(self) -> tuple[int, int]:
        """Number of common operators, and the larger number of operators.

        Common are matches, or as many of one op kind and output shape as both have.
        """
        sure = self.matching.pairs[self.matching.certainty <= Certainty.LIKELY]
        sides = []
        for side, graph in enumerate((self.matching.graph_a, self.matching.graph_b)):
            kinds = node_op_kinds(graph)
            codes = np.array([kind not in _CONVERTING for kind in kinds.unique] or [False])
            counts = codes[kinds.codes] & (graph.kinds >= NodeKind.OPERATOR)
            if not counts.any():
                counts = graph.kinds >= NodeKind.OPERATOR
            matched = int(counts[np.unique(sure[:, side])].sum())
            words = ((kinds[node], _shape(graph, node)) for node in np.flatnonzero(counts).tolist())
            alike = Counter(word for word in words if word[1])
            sides.append((matched, int(counts.sum()), alike))
        matched, count, _ = max(sides, key=lambda each: each[1])
        return max(matched, sum((sides[0][2] & sides[1][2]).values())), count

    @property
    def is_unrelated(self) -> bool:
        """Whether the runs share too few known operators to be of one model."""
        if self._hidden:
            return False
        shared, count = self.shared
        return shared < count * _RELATED

    def node_ns(self, side: int) -> npt.NDArray[np.float64]:
        """Return node times of `a` (0) or `b` (1), nanoseconds; NaN where unknown."""
        return self._compared[side].node_ns

    def is_timed(self, side: int) -> bool:
        """Return whether any time of `a` (0) or `b` (1) is known."""
        return bool(np.isfinite(self._nodes[side].ns).any()) or self._total(side) > 0

    @property
    def change_ns(self) -> float:
        """``total_b - total_a``."""
        return self.total_b - self.total_a

    @cached_property
    def total(self) -> TimeChange:
        """All nodes as one row."""
        aligned = self.columns.aligned
        whole = grouped(aligned, np.zeros(len(aligned), np.int64), 1)
        return self.summed(whole, (["all operators"], [""], [""])).row(0)

    def summed(self, rows: Aligned, words: RowWords) -> ChangeColumns:
        """Return rows of nodes with sums and tests, given label, kind and shape."""
        return ChangeColumns.of(rows, self._nodes, words, self._missing)


def known_timeline(parts: RunParts) -> Timeline:
    """Return the times of a run; ValueError where it has none."""
    if parts.timeline is None:
        raise ValueError(f"{parts.title} has no times")
    return parts.timeline


def _shape(graph: Graph, node: int) -> str:
    shape = graph.shape(node) if len(graph.entry_range(node)) else None
    return "" if shape is None else shape_text(shape)


def _total(times: npt.NDArray[np.float64]) -> float:
    return total(times[~np.isnan(times)])


_MOST = 0.9
#: What no test of repeats can know.
SESSIONS = (
    "The repeats of each run were measured in one session: what else differed between the "
    "sessions (load, clock rate, memory) is part of the difference"
)


def sentence(compared: ComparedTimes) -> str:
    """Return how much faster or slower `b` is, and how few operators account for that."""
    change, total_a, total_b = compared.change_ns, compared.total_a, compared.total_b
    totals = f"total {duration_text(total_a)} → {duration_text(total_b)}"
    if compared.is_unrelated:
        shared, count = compared.shared
        return (
            f"A and B share {shared:,} of {counted(count, 'operator')}: they look like different "
            f"models, so their times say nothing about each other ({totals})"
        )
    if untimed := [letter for side, letter in enumerate("AB") if not compared.is_timed(side)]:
        return f"No time of {' and '.join(untimed)} is known, so how they compare is unknown"
    if change == 0:
        return f"B takes as long as A: {totals}"
    ratio = total_b / total_a if total_a > 0 else 0.0
    if 0 < ratio < math.inf:
        speed = speed_text(ratio)
        same = speed == "same speed"
        how = "takes about as long as A" if same else f"is {speed}"
        size = f"B {how} ({change_text(change)}): {totals}"
    else:
        how = "slower" if change > 0 else "faster"
        size = f"B is {duration_text(abs(change))} {how}: {totals}"
    if compared.total.verdict is TimeVerdict.NOISE:
        return f"{size}; that is within noise ({compared.total.why})"
    number, part = _share_of_largest_rows(compared)
    if number:
        size += f"; {counted(number, 'operator')} {agree(number, 'accounts')} for "
        size += (
            f"{percent(part)} of the difference{', others offset some of that' if part > 1 else ''}"
        )
    if compared.total.verdict is TimeVerdict.UNKNOWN:
        size += "; whether that is more than noise is unknown"
    return size


def _share_of_largest_rows(compared: ComparedTimes) -> tuple[int, float]:
    changes = compared.columns.change_ns[~np.isnan(compared.columns.change_ns)]
    along = np.sort(np.sign(compared.change_ns) * changes)[::-1]
    sums = np.cumsum(along) / abs(compared.change_ns)
    enough = np.flatnonzero(sums >= _MOST)
    return (int(enough[0]) + 1, float(sums[enough[0]])) if len(enough) else (0, 0.0)


def power(columns: ChangeColumns, missing: str) -> tuple[str, ...]:
    """Describe what samples of these sizes can show at all."""
    sizes = zip(np.diff(columns.a.offsets), np.diff(columns.b.offsets), strict=True)
    known = Counter((int(n), int(m)) for n, m in sizes if n and m)
    if not known:
        return (f"No difference can be distinguished from noise: {missing or 'no repeats'}",)
    (n, m), _count = known.most_common(1)[0]
    least, tests = least_p(n, m), columns.verdicts.tests
    sentence = f"{against(n, m)}: the least possible p is {p_text(least)}"
    if least > ALPHA:
        once = f" ({ONCE})" if min(n, m) == 1 else ""
        return (f"{sentence}, so no difference can be distinguished from noise{once}",)
    need = math.ceil(least * tests / ALPHA - 1e-9)
    if need > 1:
        sentence += (
            f"; corrected for {counted(tests, 'comparison')}, at least {counted(need, 'operator')} "
            "must differ that clearly before any is distinguished from noise"
        )
    return (sentence,)


def untested(columns: ChangeColumns) -> str:
    """Return how many rows differ untested, and why; empty for none."""
    ground = columns.verdicts.ground
    few = ground == Ground.FEW
    once = few & ((np.diff(columns.a.offsets) == 1) | (np.diff(columns.b.offsets) == 1))
    counts = (
        (int(once.sum()), f"measured once ({ONCE})"),
        (int((few & ~once).sum()), "with too few repeats to test"),
        (int((columns.verdicts.untested & ~few).sum()), "without repeats to test"),
    )
    listed = ", ".join(f"{count:,} {what}" for count, what in counts if count)
    return f"perhaps noise: {listed}" if listed else ""


def warm_up(compared: ComparedTimes) -> str:
    """Return whether compared repeats include warm-up; empty where none is seen."""
    timelines = compared.a.timeline, compared.b.timeline
    cuts = [0 if timeline is None else timeline.warm_up.cut for timeline in timelines]
    if max(cuts) <= compared.warm_up:
        return ""
    seen = " and ".join(
        f"the first {counted(cut, 'repeat')} of {letter}"
        for letter, cut in zip("AB", cuts, strict=True)
        if cut
    )
    return f"Warm-up included: {seen}; compare_times(…, warm_up={max(cuts)}) excludes it"
