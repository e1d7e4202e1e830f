"""Critical paths: against every path of small graphs, and on recorded runs."""

import dataclasses
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tests.graph_json import graph_json, operator
from tvmdbg_widgets.analysis.timeline.longest_path import critical_path, critical_path_of
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind

NAN = float("nan")


def dag(count: int, edges: list[tuple[int, int]], control: list[tuple[int, int]] = []) -> Graph:  # noqa: B006
    """A graph whose nodes without an input are inputs; all others run."""
    nodes = []
    for node in range(count):
        deps = [one for one, other in control if other == node]
        reads = [one for one, other in edges if other == node]
        one = operator(f"n{node}", "fused_add", reads)
        nodes.append(one | ({"control_deps": deps} if deps else {}))
    graph = tvmdbg.open(graph_json(nodes, shapes=[4])).graph
    assert graph is not None
    return graph


def every_path(count: int, edges: set[tuple[int, int]]) -> list[tuple[int, ...]]:
    """All paths from any node to any node, by trying every subset in order."""
    return [
        nodes
        for size in range(1, count + 1)
        for nodes in itertools.combinations(range(count), size)
        if all(pair in edges for pair in itertools.pairwise(nodes))
    ]


@st.composite
def dags(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]], list[tuple[int, int]], list[float]]:
    count = draw(st.integers(1, 7))
    pairs = list(itertools.combinations(range(count), 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    control = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=2)) if pairs else []
    whole = st.integers(0, 50).map(float) | st.just(NAN)
    times = draw(st.lists(whole, min_size=count, max_size=count))
    return count, edges, control, times


@given(dags())
def test_critical_path_is_the_longest_path(case: tuple[int, Any, Any, list[float]]) -> None:
    count, edges, control, times = case
    found = critical_path(dag(count, edges, control), np.array(times))
    paths = every_path(count, {*edges, *control})
    takes = np.nan_to_num(times)
    lengths = [takes[list(path)].sum() for path in paths]
    assert found.length_ns == max(lengths)
    assert tuple(found.nodes.tolist()) in paths
    assert takes[found.nodes].sum() == found.length_ns
    for node in range(count):
        through = max(length for path, length in zip(paths, lengths, strict=True) if node in path)
        if np.isnan(times[node]):
            assert np.isnan(found.slack_ns[node])
        else:
            assert found.slack_ns[node] == found.length_ns - through
    assert found.untimed.tolist() == np.flatnonzero(np.isnan(times)).tolist()
    assert found.total_ns == takes.sum()


@given(dags(), st.randoms(use_true_random=False))
def test_critical_path_does_not_depend_on_node_ids(
    case: tuple[int, Any, Any, list[float]], random: Any
) -> None:
    count, edges, control, times = case
    names = list(range(count))
    random.shuffle(names)
    moved = dag(
        count,
        [(names[one], names[other]) for one, other in edges],
        [(names[one], names[other]) for one, other in control],
    )
    shuffled = np.empty(count)
    shuffled[names] = times
    one, other = (
        critical_path(dag(count, edges, control), np.array(times)),
        critical_path(moved, shuffled),
    )
    assert one.length_ns == other.length_ns
    np.testing.assert_array_equal(other.slack_ns[names], one.slack_ns)


def test_ambiguous_edges_are_left_out_and_counted() -> None:
    graph = dag(3, [(0, 1), (1, 2)])
    trust = graph.edge_trust.copy()
    trust[1] = Trust.AMBIGUOUS
    unsure = dataclasses.replace(graph, edge_trust=trust, edge_candidates={1: (0, 1)})
    found = critical_path(unsure, np.array([5.0, 7, 4]))
    assert (found.length_ns, found.nodes.tolist(), found.ambiguous) == (12, [0, 1], 1)
    assert found.slack_ns.tolist() == [0, 0, 8]
    assert any("1 edge left out" in each for each in found.said)


def test_nodes_on_a_cycle_are_on_no_path() -> None:
    graph = dag(5, [(0, 1), (2, 3), (3, 2), (3, 4)])
    found = critical_path(graph, np.array([1.0, 2, 100, 100, 100]))
    assert (found.length_ns, found.nodes.tolist(), found.unsettled) == (3, [0, 1], 3)
    assert np.isnan(found.slack_ns[2:]).all()
    assert any("3 nodes on a cycle or behind one" in each for each in found.said)


def test_invalid_times_are_refused() -> None:
    graph = dag(2, [(0, 1)])
    for times in ([1.0], [1.0, -1.0], [1.0, float("inf")]):
        with pytest.raises(ValueError, match="times"):
            critical_path(graph, np.array(times))


def test_critical_path_of_sequential_run_sums_node_times(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm" / "resnet20_cifar")
    found = run.critical_path()
    graph = run.graph
    assert found.sequential
    assert np.isnan(found.measured_ns)
    assert found.said[1].startswith("lower bound if branches ran in parallel")
    # The two projections of the network run beside two convolutions each, which take longer or not.
    off = [n for n in np.flatnonzero(found.slack_ns > 0) if graph.kinds[n] >= NodeKind.OPERATOR]
    ran = graph.kinds >= NodeKind.OPERATOR
    times = run.timeline.node_ns
    assert found.length_ns == pytest.approx(np.nansum(times[ran]) - times[off].sum())
    assert 2 <= len(off) <= 4
    assert found.to_dataframe()["end_ns"].iloc[-1] == pytest.approx(found.length_ns)
    assert "critical path" in repr(found)
    assert "<table>" in found._repr_html_()


def test_missing_graph_or_times_raises_error(corpus: Path) -> None:
    folder = corpus / "tvm" / "edge_cases" / "v0.19" / "params_zoo"
    with pytest.raises(ValueError, match="needs the graph"):
        tvmdbg.open(folder).critical_path()
    graph = dag(2, [(0, 1)])
    parts = dataclasses.replace(tvmdbg.open(folder).parts, graph=graph)
    with pytest.raises(ValueError, match="needs times"):
        critical_path_of(parts)
