"""Alignment of nodes for a comparison of times, and both timelines as one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.matching import Certainty, Matching
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import Trust, agree, counted
from tvmdbg_widgets.model.base.text import Issue, Issues, IssueSeverity, one_line
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.timeline.node_sets import NodeSets
from tvmdbg_widgets.model.timeline.timeline import Timeline

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

NO_MATCH = 255  # certainty of a row with nodes on one side only


class NodeRows(NamedTuple):
    """The nodes of one run by row."""

    offsets: Ints
    nodes: Ints

    @property
    def sizes(self) -> Ints:
        """Number of nodes by row."""
        return np.diff(self.offsets)

    @property
    def row(self) -> Ints:
        """The row of each of the nodes."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.sizes)

    def of(self, row: int) -> tuple[int, ...]:
        """Return the nodes in a row."""
        return tuple(self.nodes[self.offsets[row] : self.offsets[row + 1]].tolist())


@dataclass(frozen=True, eq=False)
class Aligned:
    """R rows of nodes that do the same work; every timed node is in exactly one."""

    a: NodeRows
    b: NodeRows
    certainty: npt.NDArray[np.uint8]
    reason: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.certainty)

    def side(self, side: int) -> NodeRows:
        """Return the nodes of `a` (0) or `b` (1)."""
        return (self.a, self.b)[side]


def align(
    matching: Matching,
    times_a: Floats,
    times_b: Floats,
    calls: tuple[NodeSets | None, NodeSets | None] = (None, None),
) -> Aligned:
    """Return the rows to compare: nodes matched directly or indirectly, and nodes of one call."""
    count_a, count_b = matching.graph_a.num_nodes, matching.graph_b.num_nodes
    ones, others = matching.pairs[:, 0].astype(np.int64), matching.pairs[:, 1] + np.int64(count_a)
    for sets, first in zip(calls, (0, count_a), strict=True):
        if sets is not None:
            sizes = np.diff(sets.offsets)
            leading = np.repeat(sets.offsets[:-1], sizes)
            own = ~np.repeat(sets.apart, sizes)  # time of a set apart belongs to none of its nodes
            ones = np.concatenate((ones, sets.nodes[leading[own]] + np.int64(first)))
            others = np.concatenate((others, sets.nodes[own] + np.int64(first)))
    group = _connected_groups(ones, others, count_a + count_b)
    timed = np.concatenate(
        (_is_compared(matching.graph_a, times_a), _is_compared(matching.graph_b, times_b))
    )
    kept = np.unique(group[timed])
    place = np.full(count_a + count_b, -1, np.int64)
    place[kept] = np.arange(len(kept))
    rows = place[group]
    worst = np.full(len(kept), -1, np.int64)
    of_pair = rows[matching.pairs[:, 0]]
    known = of_pair >= 0
    coded = matching.certainty[known].astype(np.int64) * 256 + matching.reason[known]
    np.maximum.at(worst, of_pair[known], coded)
    alone = worst < 0
    return Aligned(
        _side(rows[:count_a], len(kept)),
        _side(rows[count_a:], len(kept)),
        np.where(alone, NO_MATCH, worst // 256).astype(np.uint8),
        np.where(alone, 0, worst % 256).astype(np.uint8),
    )


def _is_compared(graph: Graph, times: Floats) -> npt.NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):
        is_compared: npt.NDArray[np.bool_] = (graph.kinds >= NodeKind.OPERATOR) | (times > 0)
    return is_compared


def _connected_groups(ones: Ints, others: Ints, count: int) -> Ints:
    group = np.arange(count, dtype=np.int64)
    while True:
        least = np.minimum(group[ones], group[others])
        before = group.copy()
        np.minimum.at(group, before[ones], least)
        np.minimum.at(group, before[others], least)
        group = group[group]
        if np.array_equal(before, group):
            return group


def _side(rows: Ints, count: int) -> NodeRows:
    nodes = np.flatnonzero(rows >= 0)
    nodes = nodes[np.argsort(rows[nodes], kind="stable")].astype(np.int64)
    return NodeRows(np.searchsorted(rows[nodes], np.arange(count + 1)).astype(np.int64), nodes)


def sure_nodes(matching: Matching, order: Ints) -> npt.NDArray[np.int32]:
    """Return for nodes of `b` the last node of `a` they surely or likely match; -1 for none."""
    sure = matching.certainty <= Certainty.LIKELY
    pairs = matching.pairs[sure]
    places = np.empty(matching.graph_a.num_nodes, np.int64)
    places[order] = np.arange(len(places))
    nodes = np.full(matching.graph_b.num_nodes, -1, np.int32)
    late = np.argsort(places[pairs[:, 0]], kind="stable")
    nodes[pairs[late, 1]] = pairs[late, 0]  # of equal indices the last one wins
    return nodes


#: Issues on the meaning of node times: `b`'s do not apply to these nodes.
_OF_NODES = frozenset({"rows-merged", "report-sums", "report-one-pass", "order-unknown"})


def combined(a: Timeline, b: Timeline, matching: Matching, titles: tuple[str, str]) -> Timeline:
    """Return the tracks of `a`, then those of `b`, from zero, over the nodes and times of `a`."""
    stands_for = np.append(
        sure_nodes(matching, matching.graph_a.topological_order.astype(np.int64)), np.int32(-1)
    )
    slice_node = np.concatenate((a.slice_node, stands_for[b.slice_node]))
    trust_b = np.where(stands_for[b.slice_node] < 0, Trust.ABSENT, b.slice_trust)
    names = StringColumn(
        (*a.slice_names.unique, *b.slice_names.unique),
        np.concatenate((a.slice_names.codes, b.slice_names.codes + len(a.slice_names.unique))),
    )
    shared = _calls_of_both(a, b, stands_for)
    lost = int((stands_for[b.slice_node] < 0).sum() - (b.slice_node < 0).sum())
    both = replace(
        a,
        slice_node=slice_node,
        slice_start_ns=np.concatenate((_from_zero(a), _from_zero(b))),
        slice_duration_ns=np.concatenate((a.slice_duration_ns, b.slice_duration_ns)),
        slice_track=np.concatenate((a.slice_track, b.slice_track + np.int32(len(a.tracks)))),
        slice_names=names,
        slice_trust=np.concatenate((a.slice_trust, trust_b)).astype(np.uint8),
        slice_occurrence=_occurrences(slice_node, a, b),
        tracks=(*_named("A", titles[0], a), *_named("B", titles[1], b)),
        synthetic=a.synthetic or b.synthetic,
        clock=a.clock if a.clock == b.clock else "synthetic" if a.synthetic else b.clock,
        track_run=np.repeat([0, 1], (len(a.tracks), len(b.tracks))).astype(np.int32),
        track_device=(*a.track_device, *b.track_device),
        track_thread=(*a.track_thread, *b.track_thread),
        sources=(*a.sources, *b.sources),
        issues=_issues(a, b, titles, lost),
        extras=None,
        shared=shared,
        slice_role=np.concatenate((a.slice_role, b.slice_role)),
        slice_about=None,
        rounding_ns=max(a.rounding_ns, b.rounding_ns),
    )
    both.__dict__["account"] = a.account  # times and shares are those of A, whose slices come first
    return both


def _calls_of_both(a: Timeline, b: Timeline, stands_for: npt.NDArray[np.int32]) -> NodeSets | None:
    if a.shared is None and b.shared is None:
        return None
    slices: list[npt.NDArray[np.int32]] = []
    members: list[list[int]] = []
    words: list[tuple[str, str]] = []
    own: list[float] = []
    apart: list[bool] = []
    for line, own_nodes in ((a, None), (b, stands_for)):
        sets = line.shared
        if sets is None:
            slices.append(np.full(line.num_slices, -1, np.int32))
            continue
        slices.append(np.where(sets.slice_set < 0, -1, sets.slice_set + len(members)))
        for number in range(len(sets)):
            nodes = list(sets.of(number))
            if own_nodes is not None:
                nodes = sorted({node for node in own_nodes[nodes].tolist() if node >= 0})
            members.append(nodes if len(nodes) > 1 else [])
        words += zip(sets.names, sets.kinds, strict=True)
        own += sets.own_ns.tolist()
        apart += sets.apart.tolist()
    offsets, repeats = np.zeros(1, np.int64), np.zeros(0)
    if a.shared is not None:
        offsets, repeats = a.shared.repeats_offsets, a.shared.repeats_ns
    missing = len(own) + 1 - len(offsets)
    return NodeSets(
        slice_set=np.concatenate(slices).astype(np.int32),
        offsets=np.cumsum([0, *map(len, members)]),
        nodes=np.array([node for nodes in members for node in nodes], np.int32),
        own_ns=np.array(own),
        names=tuple(name for name, _ in words),
        kinds=tuple(kind for _, kind in words),
        repeats_offsets=np.concatenate((offsets, np.repeat(offsets[-1:], missing))),
        repeats_ns=repeats,
        apart=np.array(apart, np.bool_),
    )


def _from_zero(timeline: Timeline) -> npt.NDArray[np.float64]:
    starts = timeline.slice_start_ns
    usable = starts[np.isfinite(starts)]
    return starts - (usable.min() if len(usable) else 0.0)


def _occurrences(
    slice_node: npt.NDArray[np.int32], a: Timeline, b: Timeline
) -> npt.NDArray[np.int32]:
    occurrences = np.concatenate((a.slice_occurrence, np.zeros(b.num_slices, np.int32)))
    own = np.bincount(a.slice_node[a.slice_node >= 0], minlength=a.num_nodes)
    later = np.arange(a.num_slices, len(slice_node))
    order = later[np.lexsort((b.slice_start_ns, slice_node[later]))]
    nodes = slice_node[order]
    begins = np.searchsorted(nodes, nodes)
    before = np.where(nodes >= 0, np.append(own, 0)[nodes], 0)
    occurrences[order] = before + np.arange(len(order)) - begins
    return occurrences


def _named(letter: str, title: str, timeline: Timeline) -> list[str]:
    return [f"{letter}: {one_line(title)} · {track}" for track in timeline.tracks]


def _issues(a: Timeline, b: Timeline, titles: tuple[str, str], lost: int) -> Issues:
    alignment = (
        f"A is {one_line(titles[0])}, B {one_line(titles[1])}, aligned at 0; "
        "labels and details are A's"
    )
    issues = [Issue("two-runs", IssueSeverity.NOTE, alignment)]
    if a.synthetic != b.synthetic:
        laid, clocked = ("A", "B") if a.synthetic else ("B", "A")
        issues.append(
            Issue(
                "two-clocks",
                IssueSeverity.WARNING,
                f"the slices of {laid} are back to back, those of {clocked} where a clock "
                "recorded them: compare durations, not places",
            )
        )
    if lost:
        issues.append(
            Issue(
                "slices-unmatched",
                IssueSeverity.NOTE,
                f"{counted(lost, 'slice')} of B {agree(lost, 'has')} no match in A",
            )
        )
    kept = (issue for issue in b.issues if issue.rule not in _OF_NODES)
    theirs = (replace(issue, message=f"B: {issue.message}", nodes=(), entries=()) for issue in kept)
    return Issues((*a.issues, *issues, *theirs))
