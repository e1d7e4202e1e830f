"""The timelines of two runs as one, over the nodes of the first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.compare_times.aligned import sure_nodes
from tvmdbg_widgets.analysis.matching import Matching
from tvmdbg_widgets.model.base.issues import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.timeline.node_sets import NodeSets
from tvmdbg_widgets.model.timeline.timeline import Timeline

#: Issues of a timeline that say what a node's time is: those of `b` are not of these nodes.
_OF_NODES = frozenset({"rows-merged", "report-sums", "report-one-pass", "order-unknown"})


def combined(a: Timeline, b: Timeline, matching: Matching, titles: tuple[str, str]) -> Timeline:
    """Return one timeline with the tracks of `a`, then those of `b`, each from its own zero.

    Times and repeats of the nodes are those of `a`. A slice of `b` refers to the node of `a` it
    surely or likely stands for, of several to the last; to none where the match is only possible
    or there is none. Occurrences of a node count on from `a` to `b`.
    """
    stands_for = np.append(
        sure_nodes(matching, matching.graph_a.topological_order.astype(np.int64)), np.int32(-1)
    )
    slice_node = np.concatenate((a.slice_node, stands_for[b.slice_node]))
    trust_b = np.where(stands_for[b.slice_node] < 0, Trust.ABSENT, b.slice_trust)
    names = StringColumn(
        (*a.slice_names.unique, *b.slice_names.unique),
        np.concatenate((a.slice_names.codes, b.slice_names.codes + len(a.slice_names.unique))),
    )
    shared = _both_calls(a, b, stands_for)
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
    # Times and shares are those of A, whose slices come first.
    both.__dict__["account"] = a.account
    return both


def _both_calls(a: Timeline, b: Timeline, stands_for: npt.NDArray[np.int32]) -> NodeSets | None:
    """Return the calls of `a`, then those of `b` over the nodes of `a` they stand for."""
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
    """Number the slices of each node: those of `a` as they were, then those of `b` by start."""
    found = np.concatenate((a.slice_occurrence, np.zeros(b.num_slices, np.int32)))
    own = np.bincount(a.slice_node[a.slice_node >= 0], minlength=a.num_nodes)
    later = np.arange(a.num_slices, len(slice_node))
    order = later[np.lexsort((b.slice_start_ns, slice_node[later]))]
    nodes = slice_node[order]
    begins = np.searchsorted(nodes, nodes)
    before = np.where(nodes >= 0, np.append(own, 0)[nodes], 0)
    found[order] = before + np.arange(len(order)) - begins
    return found


def _named(letter: str, title: str, timeline: Timeline) -> list[str]:
    return [f"{letter}: {one_line(title)} · {track}" for track in timeline.tracks]


def _issues(a: Timeline, b: Timeline, titles: tuple[str, str], lost: int) -> Issues:
    said = (
        f"A is {one_line(titles[0])}, B {one_line(titles[1])}, aligned at 0; "
        "labels and details are A's"
    )
    found = [Issue("two-runs", IssueSeverity.NOTE, said)]
    if a.synthetic != b.synthetic:
        laid, clocked = ("A", "B") if a.synthetic else ("B", "A")
        found.append(
            Issue(
                "two-clocks",
                IssueSeverity.WARNING,
                f"the slices of {laid} are back to back, those of {clocked} where a clock "
                "recorded them: compare durations, not places",
            )
        )
    if lost:
        found.append(
            Issue(
                "slices-unmatched",
                IssueSeverity.NOTE,
                f"{counted(lost, 'slice')} of B {agree(lost, 'has')} no match in A",
            )
        )
    kept = (each for each in b.issues if each.rule not in _OF_NODES)
    theirs = (replace(each, message=f"B: {each.message}", nodes=(), entries=()) for each in kept)
    return Issues((*a.issues, *found, *theirs))
