"""Groups that leave few boxes of a large graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from benchmarks.graphs import network, residual_graph
from benchmarks.growing import chain, graph_json
from tvmdbg_widgets.analysis.condensed import condensed, edges_between
from tvmdbg_widgets.answers.answers import answer
from tvmdbg_widgets.model.graph.nodes import NodeKind

GRAPHS = {
    "blocks": residual_graph(1_000).encode(),
    "network": network(3_000).encode(),
    "chain": graph_json(chain(700)),
}


@pytest.mark.parametrize("what", GRAPHS)
@pytest.mark.parametrize("most", [3, 12, 44, 300])
def test_boxes_are_few_and_hold_every_operator(what: str, most: int) -> None:
    run = tvmdbg.open(GRAPHS[what])
    graph = run.graph
    groups, opened = condensed(graph, run.groups, None, most)
    assert sorted(groups.order.tolist()) == list(range(graph.num_nodes))
    place = np.empty(graph.num_nodes, np.int64)
    place[groups.order] = np.arange(graph.num_nodes)
    known = graph.edge_source >= 0
    assert (place[graph.edge_source[known]] < place[graph.edge_target[known]]).all()
    alone = np.isin(groups.node_group, [-1, *opened])
    operators = graph.kinds > NodeKind.PARAMETER
    boxes = len(groups) - len(opened) + int((alone & operators).sum())
    inputs = int((graph.kinds == NodeKind.INPUT).sum())
    assert boxes + inputs <= max(most, 2 + inputs)
    assert boxes >= 1
    kept = edges_between(graph, groups, opened, graph.heads[:0])
    within = (
        groups.node_group[graph.edge_source[kept]] == groups.node_group[graph.edge_target[kept]]
    )
    assert not (within & ~alone[graph.edge_target[kept]]).any()


def test_first_of_many_alike_blocks_is_open() -> None:
    run = tvmdbg.open(GRAPHS["blocks"])
    assert run.graph is not None
    groups, opened = condensed(run.graph, run.groups, None, 44)
    (top,) = run.groups.top
    titles = [group.title for group in groups]
    assert titles == [top.title, "residual block", f"residual block × {top.repeats - 1}"]
    assert opened == [0, 1]
    assert groups.alike[1] == groups.alike[2]


@pytest.mark.parametrize("most", [1, 10**6, "12", [3], 2.5])
def test_bad_number_of_boxes_is_refused(most: Any) -> None:
    run = tvmdbg.open(GRAPHS["chain"])
    with pytest.raises(ValueError, match="most must"):
        answer(run.facts, {"kind": "graph", "most": most})


def test_query_that_cannot_be_read_is_answered_with_the_reason() -> None:
    run = tvmdbg.open(GRAPHS["chain"])
    reply = answer(run.facts, {"kind": "matches", "query": "tiem>1"})
    assert reply.result["info"]["problem"].startswith("unknown field 'tiem'")
    with pytest.raises(ValueError, match="query must be a text"):
        answer(run.facts, {"kind": "matches", "query": ["x"]})
