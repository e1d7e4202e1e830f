"""The memory plan as a figure: what it says, what it draws, and that it stays small."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tvmdbg_widgets as tvmdbg
from tests.graph_json import chain as chain_json
from tests.unit.figures.figure_checks import assert_sound
from tests.unit.graph.test_memory_plan import IN, graph_of, op
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.run import DebugRun


def chain(count: int, slots: int) -> DebugRun:
    storage = [0, *(1 + at % slots for at in range(count - 1))]
    names = ["x", *(f"n{at}" for at in range(1, count))]
    return tvmdbg.open(chain_json(names, "add", shapes=[4], storage=storage))


def test_memory_figure_shows_text_of_the_plan(run: DebugRun) -> None:
    figure = run.figure("memory")
    said = run.memory_plan().said
    assert figure.description["said"] == list(said)
    for line in said:
        assert line in figure.text
    shown = re.sub(r"\s+", " ", " ".join(re.findall(r">([^<]+)<", figure.svg)))
    for part in ("allocated 204.3 KiB", "peak 204.0 KiB at #9", "#3", "data #0", "64.0 KiB"):
        assert part in shown
    assert "parameters 1.0 MiB, allocated throughout (not to scale)" in shown


def test_parameters_can_be_hidden_and_colors_chosen(run: DebugRun) -> None:
    plain = run.figure("memory", parameters=False)
    assert "not to scale" not in plain.svg
    assert "convolution" in plain.svg
    sized = run.figure("memory", color_by="size")
    assert "convolution" not in re.sub(r"<title>.*?</title>", "", sized.svg)
    assert "0 B" in sized.svg


def test_a_part_of_the_order_can_be_shown(run: DebugRun) -> None:
    part = run.figure("memory", step_range=(20, 24))
    said = part.svg
    assert "#3:" not in said
    assert "#59: 16.0 KiB (16,384)" in said
    # As the view does, it shows the end of the order.
    last = run.figure("memory", step_range=(400, 500))
    assert "#71: 40 B" in last.svg


def test_view_figure_matches_view_state(run: DebugRun) -> None:
    view = tvmdbg.MemoryView(run, parameters=False, color_by="size", step_range=(3, 9))
    wanted = run.figure("memory", parameters=False, color_by="size", step_range=(3.0, 9.0))
    assert view.figure().svg == wanted.svg
    with pytest.raises(Exception, match="'kind', 'size'"):
        view.color_by = "time"


def test_large_plans_give_small_figures() -> None:
    figure = chain(20_000, 40).figure("memory", width=2000)
    assert len(figure.svg) < 90_000
    assert "25 smaller slots not drawn" in figure.svg


def test_labels_do_not_overlap_at_low_peak() -> None:
    assert_sound(chain(60, 60).figure("memory"))


def test_labels_do_not_overlap_for_values_sharing_a_slot() -> None:
    nodes = [IN, op(0, outputs=3), op((1, 0), (1, 2))]
    graph = graph_of(nodes, [0, 1, 1, 1, 2], [(2, 0)])
    assert_sound(tvmdbg.DebugRun(RunParts("run", graph)).figure("memory"))


def test_missing_plan_explains_how_to_get_one(data: Path) -> None:
    figure = tvmdbg.open(data / "times/split_multi_v0.19/time_list.json").figure("memory")
    assert "lib.get_graph_json()" in figure.text
    assert figure.description["view"] == "memory"
