"""Faults in figures of a graph: a badge where one began, a ring around what it spread to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from benchmarks.graphs import network
from tests.make.drawn import faults
from tests.unit.figures.figure_checks import assert_sound, texts
from tvmdbg_widgets.figures.graph import sheet as graph_sheet
from tvmdbg_widgets.figures.graph.faults import Fault

if TYPE_CHECKING:
    from tvmdbg_widgets.run import DebugRun

SPREAD = 'stroke-dasharray="4 3"'


@pytest.fixture(scope="module")
def run() -> DebugRun:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    run.findings(progress=False)
    return run


def bad_nodes(run: DebugRun) -> list[int]:
    """Nodes whose values are not all finite, by numpy, in execution order."""
    assert run.tensors is not None
    values = {node: each.numpy().astype(np.float32) for (node, _), each in run.tensors.items()}
    return sorted(node for node, each in values.items() if not np.isfinite(each).all())


def test_each_node_with_bad_values_is_marked(run: DebugRun) -> None:
    figure = run.figure("graph")
    assert_sound(figure)
    first, *others = bad_nodes(run)
    found = {each["node"]: each["fault"] for each in figure.description["boxes"] if each["fault"]}
    assert found == {first: Fault.ORIGIN} | dict.fromkeys(others, Fault.SPREAD)
    assert texts(figure).count("!") == 2  # one in the legend
    assert figure.svg.count(SPREAD) == 2  # a group of rings, and the legend's
    (line,) = [each for each in figure.text.split("\n") if each.endswith("fault begins here")]
    assert line.startswith(f"  #{first} conv2d + add + add + relu <- ")
    assert figure.text.count("fault spread here") == len(others)


@pytest.mark.parametrize("width", [360, 720])
def test_a_closed_group_shows_the_gravest_fault_inside(run: DebugRun, width: int) -> None:
    figure = run.figure("graph", open_groups=[], width=width)
    assert_sound(figure)
    boxes = {each["title"]: each["fault"] for each in figure.description["boxes"]}
    assert boxes["data"] == Fault.NONE
    grouped = [each for each in figure.description["boxes"] if each["group"] is not None]
    assert [each["fault"] for each in grouped] == [0, 0, 1, 2, 2]
    assert boxes["softmax"] == Fault.SPREAD


def test_nothing_is_marked_before_it_is_known_and_where_colors_say_it(run: DebugRun) -> None:
    fresh = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    for figure in (fresh.figure("graph"), run.figure("graph", color_by="health")):
        assert not any(each["fault"] for each in figure.description["boxes"])
        assert "!" not in texts(figure)
        assert SPREAD not in figure.svg


def test_a_condensed_graph_is_marked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    run = tvmdbg.open(network(8_000).encode())
    assert run.graph is not None
    last = int(run.graph.heads[0, 0])
    found = faults({"4": 4, str(last): 4}, run.graph.num_nodes)
    monkeypatch.setattr(graph_sheet, "known_faults", lambda _: found)
    figure = run.figure("graph")
    assert "condensed" in figure.description
    assert_sound(figure)
    assert texts(figure).count("!") == 2
    assert figure.svg.count(SPREAD) == 2
    assert figure.text.count("fault begins here") == figure.text.count("fault spread here") == 1
