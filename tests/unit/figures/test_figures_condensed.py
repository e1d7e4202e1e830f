"""Large graphs condensed to groups: every number checked against the nodes, by brute force."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from benchmarks.graphs import residual_graph
from tests.unit.figures.figure_checks import assert_sound, texts
from tests.unit.figures.test_figures_hostile import graph_of, run_of
from tvmdbg_widgets.analysis.blocks import groups
from tvmdbg_widgets.figures.graph.condensed.condensed import Condensed, condense
from tvmdbg_widgets.figures.graph.condensed.groups import Runs, group
from tvmdbg_widgets.figures.graph.figure import graph_figure
from tvmdbg_widgets.figures.graph.label import Labels
from tvmdbg_widgets.figures.graph.scene import build_scene
from tvmdbg_widgets.figures.graph.times import Times
from tvmdbg_widgets.model.base.numbers import duration_text, percent
from tvmdbg_widgets.model.graph.groups import Groups

if TYPE_CHECKING:
    from pathlib import Path

    from tvmdbg_widgets.model.graph.graph import Graph


class Recorded:
    """Node times as a timeline has them."""

    def __init__(self, ns: Any) -> None:
        self.node_ns = np.asarray(ns, np.float64)
        self.shared = None


def condensed(graph: Graph, ns: Any = None, most: int = 44) -> tuple[Condensed, Times]:
    times = Times(graph, None if ns is None else Recorded(ns))  # type: ignore[arg-type]
    scene = build_scene(graph, fold=True)
    return condense(graph, scene, (Labels(graph, times), times), groups(graph), most), times


def assert_true(graph: Graph, found: Condensed, times: Times) -> None:
    """Each group's numbers are those of its nodes, each node is in one group, edges are real."""
    where: dict[int, int] = {}
    for at, each in enumerate(found.groups):
        for node in each.nodes:
            assert node not in where
            where[node] = at
    scene = build_scene(graph, fold=True)
    assert sorted(where) == scene.nodes
    for each in found.groups:
        own = [float(times.ns[node]) for node in each.nodes]
        known = [ns for ns in own if not np.isnan(ns)]
        assert each.unknown == len(own) - len(known)
        if known:
            assert each.ns == pytest.approx(sum(known))
        else:
            assert np.isnan(each.ns)
        read = {
            int(source)
            for node in each.nodes
            for source in graph.edge_source[graph.in_edges(node)]
            if source >= 0 and source not in where
        }
        assert each.parameters == len(read)
        if each.repeats > 1:
            assert len(each.nodes) == each.repeats * each.unit
        assert sum(share for _, share in each.kinds) == pytest.approx(1)
    drawn = set(zip(found.scene.source, found.scene.target, strict=True))
    real: set[tuple[int, int]] = set()
    hidden = 0
    for source, target in zip(graph.edge_source, graph.edge_target, strict=True):
        if int(source) in where:
            pair = where[int(source)], where[int(target)]
            if pair[0] != pair[1]:
                real.add(pair)
    assert drawn <= real
    for one, two in real - drawn:
        frame = found.groups[one].frame
        assert frame >= 0
        assert frame == found.groups[two].frame
        hidden += 1
    assert bool(hidden) <= bool(found.carried)
    assert all(one != two for one, two in drawn)


@pytest.mark.parametrize("name", ["transformer_encoder", "resnet20_cifar_unfused"])
@pytest.mark.parametrize("most", [3, 12, 44])
def test_groups_of_real_runs_are_their_nodes(corpus: Path, name: str, most: int) -> None:
    run = tvmdbg.open(corpus / "tvm" / name)
    assert run.graph is not None
    assert run.timeline is not None
    found, times = condensed(run.graph, run.timeline.node_ns, most)
    assert len(found.groups) <= most
    assert_true(run.graph, found, times)
    total = sum(each.ns for each in found.groups if not np.isnan(each.ns))
    assert total == pytest.approx(times.total)


def test_the_layers_of_a_transformer_are_found(corpus: Path) -> None:
    """Its generator made two encoder layers of six matrix products with weights each."""
    run = tvmdbg.open(corpus / "tvm/transformer_encoder")
    assert run.graph is not None
    assert run.timeline is not None
    found, _ = condensed(run.graph, run.timeline.node_ns)
    framed = [each for each in found.groups if each.frame >= 0]
    assert {each.repeats for each in framed} == {2}
    assert sum(each.title == "dense" for each in framed) == 4


@given(
    st.lists(
        st.tuples(st.integers(0, 59), st.integers(0, 59)).filter(lambda pair: pair[0] < pair[1]),
        max_size=120,
        unique=True,
    ),
    st.lists(st.integers(0, 2), min_size=60, max_size=60),
    st.integers(1, 20),
    st.integers(0, 2**32 - 1),
)
@settings(max_examples=150, deadline=None)
def test_groups_of_any_graph_are_their_nodes(
    edges: list[tuple[int, int]], kinds: list[int], most: int, seed: int
) -> None:
    names = [f"fused_op{kind}" for kind in kinds]
    graph = run_of(names, edges).graph
    ns = np.random.default_rng(seed).choice([0.0, 5.0, 250.5, np.nan], 60)
    found, times = condensed(graph, ns, most)
    assert_true(graph, found, times)
    again, _ = condensed(graph, ns, most)
    assert again.describe() == found.describe()


def test_runs_of_blocks_are_stretches_of_what_is_drawn() -> None:
    run = tvmdbg.open(residual_graph(100).encode())
    assert run.graph is not None
    drawn = [node for node in run.groups.order.tolist() if run.graph.kinds[node] > 1]
    names = [run.graph.func_names[node] for node in drawn]
    blocks = run.groups[0]
    (found,) = Runs(run.groups, drawn, names).outermost()
    assert (found.group, found.count, found.period) == (0, blocks.repeats, 3)
    own = drawn[found.start : found.start + found.count * found.period]
    assert set(own) <= set(blocks.nodes.tolist())
    names[found.start] += "?"  # a block that is not drawn as the others are
    assert not list(Runs(run.groups, drawn, names).outermost())


def test_the_hottest_keep_their_own_group() -> None:
    rng = np.random.default_rng(7)
    weights = np.full(500, 0.001)
    weights[[17, 300]] = 5.0
    names = [f"op{each}" for each in rng.integers(0, 400, 500)]
    found = group(
        Runs(Groups(np.arange(500, dtype=np.int32)), list(range(500)), names), weights, 20
    )
    assert len(found.groups) <= 20
    alone = [each.boxes for each in found.groups if len(each.boxes) == 1]
    assert (17,) in alone
    assert (300,) in alone


@pytest.mark.parametrize("nodes", [1_000, 10_000])
def test_a_residual_network_is_a_block_and_its_count(nodes: int) -> None:
    text = residual_graph(nodes)
    blocks = sum(
        node["name"].startswith("tvmgen_default_fused_add") for node in json.loads(text)["nodes"]
    )
    run = tvmdbg.open(text.encode())
    assert run.graph is not None
    figure = graph_figure(run)
    assert_sound(figure)
    found = figure.description["condensed"]
    framed = [each for each in found["groups"] if each["frame"] is not None]
    assert [each["label"] for each in framed] == ["conv2d + add + relu"] * 2 + ["add + relu"]
    assert {each["repeats"] for each in framed} == {blocks}
    assert f"× {blocks:,}" in texts(figure)
    at = {each["label"]: i for i, each in enumerate(found["groups"])}
    skip = {"source": 1, "target": at["add + relu"], "style": "data"}
    assert skip in found["edges"]
    assert "Condensed" in " ".join(texts(figure))
    assert "Jupyter" not in figure.svg


@pytest.mark.parametrize("shape", ["chain", "fan", "random", "alike"])
@pytest.mark.parametrize("width", [300, 720, 2000])
def test_a_large_graph_is_legible_whatever_its_shape(shape: str, width: int) -> None:
    count = 2_500
    rng = np.random.default_rng(3)
    edges = [(at, at + 1) for at in range(count - 1)]
    names = [f"op{at}" for at in range(count)]
    if shape == "fan":
        edges = [(0, at + 1) for at in range(count - 1)]
    if shape == "random":
        edges += [(int(at), int(at + rng.integers(2, 400))) for at in rng.integers(0, 2000, 300)]
    if shape == "alike":
        names = ["x", *["relu"] * (count - 1)]
    figure = graph_figure(run_of(names, edges), width=width, color_by="time", theme="dark")
    assert_sound(figure)
    found = figure.description["condensed"]
    assert sum(len(each["nodes"]) for each in found["groups"]) == count
    assert len(found["groups"]) <= 60
    assert f"{count:,} boxes" in " ".join(texts(figure))
    assert "condensed" in figure.text


def test_what_is_unknown_is_said_beside_the_sum() -> None:
    count = 400
    run = run_of(["x", *["relu"] * (count - 1)], [(at, at + 1) for at in range(count - 1)])
    ns = np.full(count, 1000.0)
    ns[[0, 7, 9]] = np.nan
    found, times = condensed(run.graph, ns)
    relu = max(found.groups, key=lambda each: len(each.nodes))
    assert len(relu.nodes) == 399
    known = f"{duration_text(397_000.0)} · {percent(1.0)}"
    assert relu.time_text == f"{known} + 2 unknown"
    assert times.total == 397_000
    assert dataclasses.replace(relu, unknown=0).time_text == known


def test_selection_and_search_mark_groups() -> None:
    names = ["data", *[("dense" if at % 90 == 45 else f"op{at}") for at in range(600)]]
    run = tvmdbg.open(graph_of(names, [(at, at + 1) for at in range(600)]).encode())
    figure = graph_figure(run, selected=[46], search="dense")
    assert_sound(figure)
    shown = " ".join(texts(figure))
    assert "7 nodes match “dense”" in shown
    assert figure.svg.count('stroke-width="2.5"') == 1
    assert figure.description["selected"] == [46]
