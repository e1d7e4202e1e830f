"""Groups opened and closed from Python."""

from __future__ import annotations

import pytest
import traitlets

import tvmdbg_widgets as tvmdbg
from benchmarks.graphs import network
from tests.unit.graph.block_graphs import Draft
from tests.unit.graph.open_groups_truth import opened
from tvmdbg_widgets.analysis.blocks import groups
from tvmdbg_widgets.analysis.view_columns import open_by_itself
from tvmdbg_widgets.formats.tvm.graph.graph_json import read_graph
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.sources.byte_source import BytesSource


def row_of_blocks() -> Graph:
    draft = Draft()
    x = draft.null(1, 8)
    for _ in range(7):
        x = draft.residual(x)
    return draft.graph()


def test_small_graph_opens_with_all_groups_open(run: tvmdbg.DebugRun) -> None:
    assert run.graph is not None
    assert open_by_itself(run.graph, run.groups) == list(range(len(run.groups)))


@pytest.mark.parametrize(("nodes", "seed"), [(0, 0), (40, 2), (120, 1), (300, 3)])
def test_initially_open_groups_match_readable_depth(nodes: int, seed: int) -> None:
    source = BytesSource(network(nodes, seed).encode(), "graph.json") if nodes else None
    graph = row_of_blocks() if source is None else read_graph(source)
    known = groups(graph)
    assert len(known)
    assert open_by_itself(graph, known) == opened(graph, known)


def test_groups_are_closed_by_id_name_or_all_at_once(run: tvmdbg.DebugRun) -> None:
    view = tvmdbg.GraphView(run)
    assert view.open_groups is None
    view.collapse(0)
    assert view.open_groups == list(range(1, 12))
    view.collapse("residual block × 2")
    assert set(range(12)) - set(view.open_groups) == {0, 5, 9}
    view.collapse(run.groups[1].alike)
    assert {1, 2, 3}.isdisjoint(view.open_groups)
    view.collapse()
    assert view.open_groups == []


def test_expanding_a_group_opens_its_parent_groups(run: tvmdbg.DebugRun) -> None:
    view = tvmdbg.GraphView(run, open_groups=[])
    view.expand(run.groups[11])
    assert view.open_groups == [9, 11]
    view.expand()
    assert view.open_groups == list(range(12))
    view.grouped = False
    view.collapse(11)
    assert view.grouped


def test_unknown_group_errors_name_valid_groups(run: tvmdbg.DebugRun) -> None:
    view = tvmdbg.GraphView(run)
    with pytest.raises(KeyError, match="residual block"):
        view.expand("residul block")
    with pytest.raises(IndexError, match="group 12 of 12"):
        view.collapse(12)
    with pytest.raises(TypeError, match="not True"):
        view.expand(True)
    with pytest.raises(TypeError, match=r"not 1\.5"):
        view.expand(1.5)  # type: ignore[arg-type]
    with pytest.raises(traitlets.TraitError, match="group ids end at 11"):
        view.open_groups = [3, 12]
    with pytest.raises(traitlets.TraitError, match="group ids end at 11"):
        view.group = -1
