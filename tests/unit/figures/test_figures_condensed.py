"""Groups in figures, and large graphs in few boxes."""

import re
from dataclasses import replace
from itertools import cycle, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from benchmarks.graphs import network, residual_graph
from benchmarks.growing import GROWING, Node, chain, graph_json
from tests.mostly_slow import mostly_slow
from tests.unit.figures.figure_checks import assert_sound, drawn, texts
from tests.unit.figures.test_figures_hostile import graph_of, run_of
from tvmdbg_widgets.answers import few_names
from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.figures.comparison import comparison_figure
from tvmdbg_widgets.run import DebugRun


@pytest.mark.parametrize("nodes", [1_000, 10_000])
def test_residual_network_condenses_to_one_block_and_its_repeats(nodes: int) -> None:
    run = tvmdbg.open(residual_graph(nodes).encode())
    assert run.graph is not None
    figure = drawn(run.facts, "graph")
    assert_sound(figure)
    (top,) = run.groups.top
    frames = figure.description["frames"]
    assert [frame["header"] for frame in frames] == [top.title, "residual block"]
    boxes = figure.description["boxes"]
    inside = [box["title"] for box in boxes if box["frame"] == 1]
    assert inside == ["conv2d + add + relu"] * 2 + ["add + relu"]
    (rest,) = (box for box in boxes if box["group"] is not None)
    assert rest["title"] == f"residual block × {top.repeats - 1}"
    assert sum(box["nodes"] for box in boxes) == figure.description["condensed"]["boxes"]
    lines = {(source, target) for source, target, _slot in figure.description["lines"]}
    assert len(lines) == len(figure.description["lines"])
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
    figure = drawn(run_of(names, edges).facts, "graph", width=width, color_by="time", theme="dark")
    assert_sound(figure, 80 * 1024)
    boxes = figure.description["boxes"]
    assert sum(box["nodes"] for box in boxes) == count
    assert len(boxes) <= 44
    assert f"Condensed: {count:,} boxes drawn as {len(boxes)}" in " ".join(texts(figure))


def test_selection_and_search_mark_groups() -> None:
    names = ["data", *[("dense" if at % 90 == 45 else f"op{at}") for at in range(600)]]
    run = tvmdbg.open(graph_of(names, [(at, at + 1) for at in range(600)]).encode())
    figure = drawn(run.facts, "graph", selected=[46], search="dense")
    assert_sound(figure)
    assert "7 nodes match “dense”" in " ".join(texts(figure))
    assert (figure.svg.count('stroke-width="3"'), figure.description["selected"]) == (1, [46])


@pytest.mark.parametrize("color_by", ["time", "kind", "dtype", "layout", "storage", "bytes"])
def test_graph_with_few_names_is_drawn_like_one_with_all(
    color_by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    GROWING["nodes"](tmp_path, 20_000)
    run = tvmdbg.open(tmp_path)
    assert run.graph is not None
    how: dict[str, Any] = {"color_by": color_by, "selected": range(1, 20_000, 3)}
    if color_by == "layout":
        how["label"] = "{op}\n{layout}"
    full = drawn(run.facts, "graph", **how, search="name:1*")
    monkeypatch.setattr(few_names, "MOST_NODES", 10_000)
    figure = drawn(run.facts, "graph", **how, search="name:1*")
    assert "missing" not in figure.description
    assert figure.svg == full.svg
    unread, many = (re.sub(" <- [^;]*", "", each.text) for each in (full, figure))
    assert many == unread
    for name in ("total_ns", "slowest", "hits", "boxes", "lines", "condensed"):
        assert figure.description[name] == full.description[name]
    for few, all_ in zip(figure.description["legend"], full.description["legend"], strict=True):
        assert few == pytest.approx(all_)


@pytest.mark.parametrize(
    "how",
    [
        {"color_by": "time", "color_limits": (1e3, 2e4)},
        {"color_by": "bytes", "focus": 7},
        {"color_by": "layout", "label": "{layout}"},
        {"color_by": "kind", "label": "{layout}"},
        {"hops": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("what", ["blocks", "sample with values"])
def test_rows_of_several_nodes_are_drawn_like_all_nodes(
    what: str, how: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    is_sample = what == "sample with values"
    run = tvmdbg.open(
        tvmdbg.samples.resnet20_cifar if is_sample else residual_graph(1_000).encode()
    )
    if is_sample:
        run.findings(progress=False)
    monkeypatch.setattr(few_names, "MOST_NODES", 20)
    few = drawn(run.facts, "graph", **how)
    ask = Answers.answer

    def ask_for_all(answers: Answers, message: dict[str, Any]) -> Reply:
        return ask(answers, {name: part for name, part in message.items() if name != "color"})

    monkeypatch.setattr(Answers, "answer", ask_for_all)
    every = drawn(run.facts, "graph", **how)
    assert "missing" not in few.description
    assert (few.svg, few.text) == (every.svg, every.text)


def test_inputs_share_a_box_and_parameters_are_in_their_readers() -> None:
    nodes = [Node("w"), *(Node(f"in{at}") for at in range(5)), *chain(600)[1:]]
    nodes = [*nodes[:6], *(replace(each, reads=[(at + 5, 0)]) for at, each in enumerate(nodes[6:]))]
    run = tvmdbg.open(graph_json(nodes))
    assert isinstance(run, DebugRun)
    figure = drawn(run.facts, "graph")
    assert_sound(figure)
    titles = [box["title"] for box in figure.description["boxes"]]
    assert sum(title.endswith("inputs") for title in titles) == 1


def test_options_without_effect_on_condensed_graph_are_listed() -> None:
    run = tvmdbg.open(graph_json(chain(900)))
    assert isinstance(run, DebugRun)
    assert "Without effect" not in " ".join(texts(drawn(run.facts, "graph", color_by="time")))
    figure = drawn(run.facts, "graph", fold_parameters=False, grouped=False)
    assert "Without effect here: fold_parameters, grouped." in " ".join(texts(figure))


def test_large_graphs_are_not_drawn_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(few_names, "MOST_NODES", 50)
    runs = tuple(tvmdbg.open(graph_json(chain(count))) for count in (80, 90))
    facts = (runs[0].facts, runs[1].facts)
    figure = comparison_figure(facts, tvmdbg.compare(*runs), width=960)
    assert_sound(figure)
    assert "missing" not in figure.description
    assert "are not drawn beside each other" in " ".join(texts(figure))


def test_groups_of_large_graph_are_closed_by_depth() -> None:
    run = tvmdbg.open(network(1_500).encode())
    figure = run.figure("graph")
    assert_sound(figure, 80 * 1024)
    boxes = figure.description["boxes"]
    depths = {run.groups[each["group"]].depth for each in boxes if each["group"] is not None}
    assert depths == {1}
    assert {run.groups[each["group"]].depth for each in figure.description["frames"]} == {0}


def test_no_such_group_is_refused() -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    with pytest.raises(ValueError, match="no group 99: open_groups takes ids below 12"):
        run.figure("graph", open_groups=[99])
