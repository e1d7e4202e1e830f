"""Comparison of runs without a graph: nodes and slices are matched by name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.compare_times.compared_times import known_timeline
from tvmdbg_widgets.analysis.matching import Certainty, Matching, Reason
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import Trust, counted
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.timeline.builders import from_events, occurrences
from tvmdbg_widgets.model.timeline.columns import SliceRole
from tvmdbg_widgets.model.timeline.measured import TimeMeaning
from tvmdbg_widgets.model.timeline.timeline import Timeline

_SHOWN, _LONGEST = 3, 80
_WITH_GRAPHS = (
    "Open both runs with their graphs, and they are matched by structure, whatever their names: "
    "the whole dump folder, or open(…, graph=lib.get_graph_json())."
)


class ByName(NamedTuple):
    """Two runs made comparable."""

    a: RunParts
    b: RunParts
    matching: Matching
    times_a: Timeline
    times_b: Timeline
    aligned_by: str


def by_name(a: RunParts, b: RunParts) -> ByName:
    """Align two timed runs of which one, or both, have no graph."""
    lines = by_calls(known_timeline(a)), by_calls(known_timeline(b))
    graphs = _named_nodes(a, lines[0]), _named_nodes(b, lines[1])
    known = graphs[0] or graphs[1]
    if known is None:
        return _traces(a, b, *lines)
    if graphs[0] is not None and graphs[1] is not None:
        return _made(
            a, b, _pairs_by_name(a, b, (graphs[0], graphs[1]), lines), _ROWS_ALIGNED, lines
        )
    side = int(graphs[0] is not None)
    timeline = joined(lines[side], known)
    if not (timeline.slice_node >= 0).any():
        raise ValueError(_nothing(a, b, lines))
    aligned_by, bare = _joined_sentence(timeline, "AB"[side]), timed(known, timeline)
    if side:
        return _made(
            a, b, _matched_to_itself(known, bare, timeline), aligned_by, (lines[0], timeline)
        )
    made = _made(a, b, _matched_to_itself(bare, known, timeline), aligned_by, (timeline, lines[1]))
    return made._replace(a=replace(made.a, graph=b.graph))


_TRACES_ALIGNED = (
    "Aligned by name: the slices of a name are its repeats, its time is their mean without children"
)
_ROWS_ALIGNED = (
    "Aligned by name: rows of one name count together; with the graphs of both, nodes are matched "
    "by structure"
)


def _named_nodes(parts: RunParts, timeline: Timeline) -> Graph | None:
    if parts.graph is not None or not timeline.num_nodes:
        return parts.graph
    names = [""] * timeline.num_nodes
    for node, name in zip(timeline.slice_node.tolist(), timeline.slice_names, strict=True):
        if node >= 0:
            names[node] = names[node] or name
    return named_graph(names, timeline.node_ns != 0)


def _made(
    a: RunParts, b: RunParts, matching: Matching, aligned_by: str, shown: tuple[Timeline, Timeline]
) -> ByName:
    one, other = replace(a, timeline=shown[0]), replace(b, timeline=shown[1])
    return ByName(one, other, matching, *shown, aligned_by)


def _traces(a: RunParts, b: RunParts, one: Timeline, other: Timeline) -> ByName:
    lasting = [_names_with_duration(timeline) for timeline in (one, other)]
    graph = named_graph(list(dict.fromkeys((*lasting[0], *lasting[1]))))
    both = joined(one, graph), joined(other, graph)
    pairs = np.flatnonzero(np.isfinite(both[0].node_ns) & np.isfinite(both[1].node_ns))
    if not len(pairs):
        raise ValueError(_nothing(a, b, (one, other)))
    graphs = timed(graph, both[0]), timed(graph, both[1])
    matching = _matching(*graphs, np.stack((pairs, pairs), 1), Certainty.LIKELY)
    made = _made(a, b, matching, _TRACES_ALIGNED, both)
    return made._replace(times_a=own_times(both[0]), times_b=own_times(both[1]))


def _names_with_duration(timeline: Timeline) -> list[str]:
    names = timeline.slice_names
    lasting = timeline.slice_duration_ns > 0
    lasting &= timeline.slice_role != SliceRole.LOADING
    codes, first = np.unique(names.codes[lasting], return_index=True)
    return [names.unique[code] for code in codes[np.argsort(first)].tolist()]


def _matching(
    one: Graph, other: Graph, pairs: npt.NDArray[np.integer], certainty: npt.ArrayLike
) -> Matching:
    count = len(pairs)
    return Matching(
        one,
        other,
        np.asarray(pairs, np.int32).reshape(-1, 2),
        np.broadcast_to(np.asarray(certainty, np.uint8), (count,)),
        np.full(count, Reason.BY_NAME, np.uint8),
    )


def _matched_to_itself(one: Graph, other: Graph, timeline: Timeline) -> Matching:
    nodes = np.flatnonzero(np.isfinite(timeline.node_ns))
    shared = timeline.node_trust[nodes] == Trust.AMBIGUOUS
    certainty = np.where(shared, Certainty.POSSIBLE, Certainty.LIKELY)
    return _matching(one, other, np.stack((nodes, nodes), 1), certainty)


def _joined_sentence(timeline: Timeline, letter: str) -> str:
    lost = int(np.count_nonzero(timeline.slice_node < 0))
    sentence = f"Aligned by name: the slices of {letter} of an operator's name are its repeats"
    return f"{sentence}; {counted(lost, 'slice')} of other names left out" if lost else sentence


def _pairs_by_name(
    a: RunParts, b: RunParts, graphs: tuple[Graph, Graph], lines: tuple[Timeline, Timeline]
) -> Matching:
    one, other = graphs
    places = [graph.num_nodes for graph in graphs]
    # Graphs whose nodes have generated names only.
    placed = [all(f"node {k}" == name for k, name in enumerate(graph.names)) for graph in graphs]
    if all(placed) and places[0] != places[1]:
        raise ValueError(
            f"A, {one_line(a.title)}, holds times of {counted(places[0], 'node')} and B, "
            f"{one_line(b.title)}, of {places[1]:,}, by their places alone. {_WITH_GRAPHS}"
        )
    pairs: list[tuple[int, int]] = []
    certainty: list[Certainty] = []
    taken: tuple[set[int], set[int]] = (set(), set())
    sums = TimeMeaning.SUM in {line.measured for line in lines}
    # All calls of a function are summed.
    sums &= all(
        parts.graph is not None or line.measured is not TimeMeaning.MEAN
        for parts, line in zip((a, b), lines, strict=True)
    )
    rounds = [(one.names, other.names), (one.func_names, other.func_names)]
    if any(line.measured is not TimeMeaning.MEAN for line in lines):
        rounds.reverse()  # reports name functions
    for names in rounds:
        mine, theirs = (_by_text(name, own) for name, own in zip(names, taken, strict=True))
        for name in mine.keys() & theirs.keys() - {""}:
            left, right = mine[name], theirs[name]
            sure = len(left) == len(right) or sums
            new = [(left[0], node) for node in right] + [(node, right[0]) for node in left[1:]]
            pairs += new
            certainty += [Certainty.LIKELY if sure else Certainty.POSSIBLE] * len(new)
            taken[0].update(left)
            taken[1].update(right)
    if not pairs:
        raise ValueError(_nothing(a, b, lines))
    return _matching(one, other, np.array(pairs), certainty)


def _by_text(column: StringColumn, taken: set[int]) -> dict[str, list[int]]:
    by_text: dict[str, list[int]] = {}
    for node, text in enumerate(column):
        if node not in taken:
            by_text.setdefault(text, []).append(node)
    return by_text


def _nothing(a: RunParts, b: RunParts, lines: tuple[Timeline, Timeline]) -> str:
    firsts = [
        f"{letter}, {one_line(parts.title)}, has {', '.join(_first(line)) or 'no names'}"
        for letter, parts, line in zip("AB", (a, b), lines, strict=True)
    ]
    return f"No name is in both runs: {'; '.join(firsts)}. {_WITH_GRAPHS}"


def _first(timeline: Timeline) -> list[str]:
    names = _names_with_duration(timeline)
    return [f"'{one_line(name)[:_LONGEST]}'" for name in names[:_SHOWN]] + ["…"] * (
        len(names) > _SHOWN
    )


def named_graph(names: Sequence[str], works: npt.NDArray[np.bool_] | None = None) -> Graph:
    """Return a graph of operators with nothing but names."""
    count = len(names)
    column = StringColumn.from_strings(names)
    nothing = np.zeros(0, np.int32)
    named = np.array([bool(name) for name in names], np.bool_)
    works = named if works is None else named & works
    return Graph(
        names=column,
        func_names=column,
        kinds=np.where(works, NodeKind.OPERATOR, NodeKind.INPUT).astype(np.uint8),
        parameter_trust=np.full(count, Trust.ABSENT, np.uint8),
        entry_offsets=np.zeros(count + 1, np.int64),
        edge_source=nothing,
        edge_output=nothing,
        edge_target=nothing,
        edge_position=nothing,
        edge_trust=np.zeros(0, np.uint8),
        heads=np.zeros((0, 2), np.int32),
        arg_nodes=nothing,
        shape_offsets=np.zeros(1, np.int64),
        shape_dims=np.zeros(0, np.int64),
        shape_known=np.zeros(0, np.bool_),
        dtypes=StringColumn((), nothing),
        attrs=({},) * count,
    )


def timed(graph: Graph, timeline: Timeline) -> Graph:
    """Return a graph where only nodes with a time are operators."""
    silent = ~np.isfinite(timeline.node_ns) & (graph.kinds >= NodeKind.OPERATOR)
    return replace(graph, kinds=np.where(silent, NodeKind.INPUT, graph.kinds).astype(np.uint8))


def joined(timeline: Timeline, graph: Graph) -> Timeline:
    """Return a timeline whose slices with a duration are joined to operators of a graph by name."""
    lasting = timeline.slice_duration_ns > 0
    names = timeline.slice_names
    events = from_events(
        StringColumn((*names.unique, ""), np.where(lasting, names.codes, len(names.unique))),
        timeline.slice_start_ns,
        np.where(lasting, timeline.slice_duration_ns, 0.0),
        timeline.slice_track,
        timeline.tracks,
        graph=graph,
        source=", ".join(timeline.sources),
    )
    return replace(
        timeline,
        slice_node=events.slice_node,
        slice_trust=events.slice_trust,
        slice_occurrence=events.slice_occurrence,
        repeats_offsets=events.repeats_offsets,
        repeats_ns=events.repeats_ns,
        node_ns=events.node_ns,
        node_trust=events.node_trust,
    )


def by_calls(timeline: Timeline) -> Timeline:
    """Return a timeline with calls as nodes, for calls whose nodes no file names."""
    sets = timeline.shared
    if sets is None or timeline.num_nodes:
        return timeline
    bare = [re.split(r", instruction| call\b", name, maxsplit=1)[0] for name in sets.names]
    known = timeline.slice_names
    codes = np.where(sets.slice_set >= 0, len(known.unique) + sets.slice_set, known.codes)
    return replace(
        timeline,
        slice_node=sets.slice_set,
        slice_names=StringColumn((*known.unique, *bare), codes.astype(np.int64)),
        slice_trust=np.where(sets.slice_set >= 0, Trust.EXACT, timeline.slice_trust),
        slice_occurrence=occurrences(sets.slice_set.astype(np.int64)),
        repeats_offsets=sets.repeats_offsets,
        repeats_ns=sets.repeats_ns,
        node_ns=sets.own_ns,
        node_trust=np.full(len(sets), Trust.EXACT, np.uint8),
        shared=None,
    )


def own_times(timeline: Timeline) -> Timeline:
    """Return a timeline whose repeats are the slices of a node minus nested ones."""
    known = np.flatnonzero(timeline.slice_node >= 0)
    known = known[np.argsort(timeline.slice_node[known], kind="stable")]
    own = timeline.nesting.self_ns[known]
    sums = np.bincount(
        timeline.slice_node[known], weights=np.nan_to_num(own), minlength=timeline.num_nodes
    )
    counts = np.diff(timeline.repeats_offsets)
    return replace(
        timeline, repeats_ns=own, node_ns=np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    )
