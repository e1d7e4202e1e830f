"""Large graphs condensed to parts; their numbers are tested in js/tests/graph/condense.test.ts."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import cycle, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from benchmarks.graphs import residual_graph
from benchmarks.growing import GROWING, Node, chain, graph_json
from tests.mostly_slow import mostly_slow
from tests.unit.figures.figure_checks import assert_sound, texts
from tests.unit.figures.test_figures_hostile import graph_of, run_of
from tvmdbg_widgets.answers import few_names
from tvmdbg_widgets.figures.choose import graph_figure
from tvmdbg_widgets.figures.comparison import comparison_figure
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.run import DebugRun


@pytest.mark.parametrize("nodes", [1_000, 10_000])
def test_residual_network_condenses_to_one_block_with_repeat_count(nodes: int) -> None:
    text = residual_graph(nodes)
    blocks = sum(
        node["name"].startswith("tvmgen_default_fused_add") for node in json.loads(text)["nodes"]
    )
    run = tvmdbg.open(text.encode())
    assert run.graph is not None
    figure = graph_figure(run.facts)
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


SHAPES, WIDTHS = ("chain", "fan", "random", "alike"), (300, 720, 2000)


@pytest.mark.parametrize(
    ("shape", "width"),
    mostly_slow(product(SHAPES, WIDTHS), *zip(SHAPES, cycle(WIDTHS), strict=False)),
)
def test_large_graph_of_any_shape_is_legible(shape: str, width: int) -> None:
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
    figure = graph_figure(run_of(names, edges).facts, width=width, color_by="time", theme="dark")
    assert_sound(figure, 80 * 1024)
    found = figure.description["condensed"]
    assert sum(len(each["nodes"]) for each in found["groups"]) == count
    assert len(found["groups"]) <= 60
    assert f"{count:,} boxes" in " ".join(texts(figure))
    assert "condensed" in figure.text


def test_selection_and_search_mark_groups() -> None:
    names = ["data", *[("dense" if at % 90 == 45 else f"op{at}") for at in range(600)]]
    run = tvmdbg.open(graph_of(names, [(at, at + 1) for at in range(600)]).encode())
    figure = graph_figure(run.facts, selected=[46], search="dense")
    assert_sound(figure)
    shown = " ".join(texts(figure))
    assert "7 nodes match “dense”" in shown
    assert figure.svg.count('stroke-width="3"') == 1
    assert figure.description["selected"] == [46]


def test_graph_too_large_for_the_engine_shows_sums_of_all_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    GROWING["nodes"](tmp_path, 20_000)
    run = tvmdbg.open(tmp_path)
    assert run.graph is not None
    assert run.timeline is not None
    marked = range(1, run.graph.num_nodes, 3)
    full = graph_figure(run.facts, color_by="time", selected=marked)
    monkeypatch.setattr(few_names, "MOST_NODES", 10_000)
    figure = graph_figure(run.facts, color_by="time", selected=marked)
    assert_sound(figure)
    assert "missing" not in figure.description
    told, whole = figure.description, full.description
    assert told["totals"] == next(
        line.split(": ", 1)[1] for line in full.text.splitlines() if "summed over" in line
    )
    assert told["total_ns"] == pytest.approx(whole["total_ns"])
    assert {(row["kind"], row["nodes"]) for row in told["legend"]} == {
        (row["kind"], row["nodes"]) for row in whole["legend"]
    }
    assert [row["time_ns"] for row in told["legend"]] == pytest.approx(
        [row["time_ns"] for row in whole["legend"]]
    )
    groups = told["stretches"]
    runs = run.graph.kinds > NodeKind.PARAMETER
    assert sum(row["nodes"] for row in groups) == runs.sum()
    assert sum(row["time_ns"] for row in groups) == pytest.approx(whole["total_ns"])
    assert sum(row["selected"] for row in groups) == len(marked)
    assert "count to the group that reads them first" in " ".join(texts(figure))
    assert f"{runs.sum():,} operators in {len(groups)} groups" in " ".join(texts(figure))


def test_marked_parameters_count_at_their_first_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nodes = [Node("w"), Node("unread"), *chain(100)]
    nodes = [*nodes[:3], *(replace(each, reads=[(at + 2, 0)]) for at, each in enumerate(nodes[3:]))]
    nodes[60] = replace(nodes[60], reads=[*nodes[60].reads, (0, 0)])
    nodes[90] = replace(nodes[90], reads=[*nodes[90].reads, (0, 0)])
    monkeypatch.setattr(few_names, "MOST_NODES", 50)
    run = tvmdbg.open(graph_json(nodes))
    assert isinstance(run, DebugRun)
    figure = graph_figure(run.facts, selected=[0, 1, 60], search="name:w")
    (row,) = (row for row in figure.description["stretches"] if row["first"] <= 60 <= row["last"])
    assert (row["selected"], row["hits"]) == (2, 1)
    assert sum(row["selected"] for row in figure.description["stretches"]) == 2
    assert "1 marked one that none reads in no group" in " ".join(texts(figure))


def test_options_without_effect_on_condensed_graph_are_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(few_names, "MOST_NODES", 50)
    run = tvmdbg.open(graph_json(chain(100)))
    assert isinstance(run, DebugRun)
    assert "Without effect" not in graph_figure(run.facts, color_by="time").text
    camera = {"node": 3, "dx": 0.0, "dy": 0.0, "scale": 1.0}
    how: dict[str, Any] = {"label": "{name}", "direction": "right", "grouped": False}
    figure = graph_figure(
        run.facts, camera=camera, fold_parameters=False, color_limits=(0, 1), **how
    )
    said = " ".join(texts(figure))
    assert "Without effect here" in said
    told = said.partition("Without effect here")[2].partition(".")[0]
    for name in ("label", "direction", "camera", "fold_parameters", "color_limits", "grouped"):
        assert name in told, name
    assert "whole" not in told


def test_large_graphs_are_not_drawn_side_by_side(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(few_names, "MOST_NODES", 50)
    runs = tuple(tvmdbg.open(graph_json(chain(count))) for count in (80, 90))
    facts = (runs[0].facts, runs[1].facts)
    figure = comparison_figure(facts, tvmdbg.compare(*runs), width=960)
    assert_sound(figure)
    assert "missing" not in figure.description
    assert "are not drawn beside each other" in " ".join(texts(figure))


@pytest.mark.slow
def test_a_million_nodes_are_drawn_within_the_limits_of_the_engine(tmp_path: Path) -> None:
    GROWING["entries in a hundred storages"](tmp_path, 1_000_000)
    run = tvmdbg.open(tmp_path)
    assert run.graph is not None
    figure = graph_figure(run.facts, selected=range(run.graph.num_nodes), search="kind:add")
    assert "missing" not in figure.description
    assert sum(row["nodes"] for row in figure.description["stretches"]) == 1_000_000
    assert sum(row["selected"] for row in figure.description["stretches"]) == run.graph.num_nodes
