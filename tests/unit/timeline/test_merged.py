"""Trees of merged paths, against walking up from every slice."""

import json
import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.timeline.times_truth import STEP, Span, Steps, parts, ranges, spans, timeline

import tvmdbg_widgets as tvmdbg
from tests.make.timeline_sums import FILE, vectors
from tvmdbg_widgets.analysis.timeline.merged import CallTree, callers, merged
from tvmdbg_widgets.analysis.timeline.merged_tree import Frames, merge
from tvmdbg_widgets.model.graph.groups import Groups

Paths = dict[tuple[str, ...], tuple[float, float, int]]


def groups() -> Groups:
    return Groups(np.zeros(0, np.int32))


def paths(tree: CallTree) -> Paths:
    """Total, own time and count of every path."""
    found = {
        tree.path(i): (float(tree.total_ns[i]), float(tree.self_ns[i]), int(tree.count[i]))
        for i in range(len(tree))
    }
    assert len(found) == len(tree)
    return found


def check_order(tree: CallTree, weight: np.ndarray) -> None:
    """The heaviest first, level by level, each inside the one around it."""
    for place in range(len(tree)):
        inner = tree.children(place)
        assert (inner > place).all()
        assert (np.diff(inner) == 1).all()
        assert (np.diff(weight[inner]) <= 0).all()
        at = tree.start_ns[place]
        for each in inner.tolist():
            assert tree.depth[each] == tree.depth[place] + 1
            assert tree.start_ns[each] == pytest.approx(at)
            at += weight[each]
        assert at <= (tree.start_ns[place] + weight[place]) * (1 + 1e-12) + 1e-9


@given(spans, st.one_of(st.none(), ranges))
def test_merged_paths_match_walk_over_every_slice(
    given_: list[Span], within: tuple[int, int] | None
) -> None:
    found = timeline(given_)
    low, high = within or (0, 60)
    steps = Steps(found)
    parent, names = found.rows.parent.tolist(), list(found.slice_names)
    sums: dict[tuple[str, ...], list[float]] = defaultdict(lambda: [0.0, 0.0, 0])
    for i in steps.touching(low, high):
        way = [i]
        while parent[way[-1]] >= 0:
            way.append(parent[way[-1]])
        path = tuple(names[each] for each in reversed(way))
        own = steps.own_in(i, low, high)
        sums[path][1] += own
        sums[path][2] += 1
        for depth in range(len(path)):
            sums[path[: depth + 1]][0] += own
    area = None if within is None else (low * STEP, high * STEP)
    tree = merged(parts(found), groups, area)
    assert paths(tree) == {path: tuple(each) for path, each in sums.items()}
    check_order(tree, tree.total_ns)


@given(spans, st.integers(0, 4))
def test_callers_match_walk_over_every_slice(given_: list[Span], which: int) -> None:
    found = timeline(given_)
    name = f"f{which}"
    parent, names = found.rows.parent.tolist(), list(found.slice_names)
    sums: dict[tuple[str, ...], list[float]] = defaultdict(lambda: [0.0, 0.0, 0])
    total = found.rows.self_ns.copy()
    for i in range(found.num_slices):
        outer = parent[i]
        while outer >= 0:
            total[outer] += found.rows.self_ns[i]
            outer = parent[outer]
    for i in range(found.num_slices):
        if names[i] != name:
            continue
        way = [i]
        while parent[way[-1]] >= 0:
            way.append(parent[way[-1]])
        path = tuple(names[each] for each in way) if any(p >= 0 for p in parent) else (name,)
        outermost = name not in path[1:]
        for depth in range(len(path)):
            entry = sums[path[: depth + 1]]
            entry[0] += total[i] * outermost
            entry[1] += found.rows.self_ns[i]
            entry[2] += 1
    if not sums:
        with pytest.raises(KeyError, match="no slice is named"):
            callers(parts(found), groups, name)
        return
    tree = callers(parts(found), groups, name)
    assert paths(tree) == {path: tuple(each) for path, each in sums.items()}
    check_order(tree, tree.self_ns)


forests = st.integers(0, 40).flatmap(
    lambda size: st.tuples(
        st.lists(st.integers(-1, 40), min_size=size, max_size=size),
        st.lists(st.integers(0, 3), min_size=size, max_size=size),
        st.lists(st.floats(0, 1e6), min_size=size, max_size=size),
    )
)


@given(forests)
def test_sums_of_fractions_are_rounded_once(
    forest: tuple[list[int], list[int], list[float]],
) -> None:
    parent = [min(outer, i - 1) for i, outer in enumerate(forest[0])]
    keys, own = forest[1:]
    way: list[tuple[int, ...]] = []
    for outer, key in zip(parent, keys, strict=True):
        way.append((*(way[outer] if outer >= 0 else ()), key))
    places = merge(
        Frames(
            np.array(parent, np.int64),
            np.array(keys, np.int64),
            np.array(own, np.float64),
            np.ones(len(keys), np.int64),
        ),
        4,
    )
    assert len(places.key) == len(set(way))
    for i, path in enumerate(way):
        place = int(places.of[i])
        inside = [own[j] for j, each in enumerate(way) if each[: len(path)] == path]
        assert places.total_ns[place] == math.fsum(inside)
        assert places.self_ns[place] == math.fsum(
            own[j] for j, each in enumerate(way) if each == path
        )


def test_merged_tree_without_nesting_follows_graph_groups(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm" / "resnet20_cifar")
    tree = run.merged()
    assert tree.said == "groups of the graph"
    assert float(tree.total_ns[tree.depth == 0].sum()) == pytest.approx(run.timeline.total_ns)
    for place in np.flatnonzero(tree.group >= 0).tolist():
        nodes = run.groups[int(tree.group[place])].nodes
        assert tree.total_ns[place] == pytest.approx(run.timeline.node_ns[nodes].sum())
        assert tree.self_ns[place] == tree.count[place] == 0
    for place in np.flatnonzero(tree.node >= 0).tolist():
        node = int(tree.node[place])
        around = [group.title for group in reversed(run.groups.of(node))]
        assert list(tree.path(place))[:-1] == around
        assert tree.self_ns[place] == run.timeline.node_ns[node]
    check_order(tree, tree.total_ns)
    slowest = int(np.nanargmax(run.timeline.node_ns))
    name = run.timeline.slice(int(run.timeline.slices_of(slowest)[0])).name
    up = run.callers(name)
    assert [up.names[i] for i in range(1, len(up))] == [g.title for g in run.groups.of(slowest)]
    assert (up.self_ns == run.timeline.node_ns[slowest]).all()
    assert f"#{slowest}:" in repr(up)


def test_unknown_slice_name_suggests_close_names() -> None:
    run = parts(timeline([(0, 2, 0, 1)]))
    with pytest.raises(KeyError, match="did you mean 'f1'"):
        callers(run, groups, "f11")
    with pytest.raises(ValueError, match="no trace"):
        merged(parts(None), groups)
    assert "1 path" in repr(merged(run, groups))
    assert len(merged(run, groups).to_dataframe()) == 1
    with pytest.raises(IndexError):
        merged(run, groups).path(1)


def test_recorded_sums_for_live_view_match() -> None:
    recorded = json.loads(FILE.read_text())
    ours = json.loads(json.dumps(vectors()))
    assert [{key: each[key] for key in ours[0]} for each in recorded] == ours
