"""Figures of runs of very many nodes: as those of fewer, though the engine is told fewer names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from benchmarks.growing import GROWING, chain, write
from tests.unit.figures.figure_checks import assert_sound
from tvmdbg_widgets.answers import few_names
from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.figures import run_figure
from tvmdbg_widgets.figures.comparison import comparison_figure, time_comparison_figure
from tvmdbg_widgets.figures.debugger import debugger_figure
from tvmdbg_widgets.run import DebugRun

_NODES = 12_000
SHOWN: list[dict[str, Any]] = [
    {},
    {"slice_color": "kind", "selected": [5, 6, 700]},
    {"slice_color": "block"},
    {"slice_color": "share", "table_by": "name"},
    {"time_range": (2e6, 2.01e6)},
    {"table_by": "kind", "sort": "order"},
    {"table_by": "part"},
    {"chart": "repeats"},
    {"chart": "folded", "table_by": "group"},
    {"chart": "merged"},
    {"chart": "roofline"},
]


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> tuple[DebugRun, DebugRun]:
    """A network whose entries have slots of their own, and a chain over few of different sizes."""
    first, second = tmp_path_factory.mktemp("network"), tmp_path_factory.mktemp("chain")
    GROWING["nodes"](first, _NODES)
    write(second, chain(_NODES), storage=lambda at: at // 300 if at % 7 else 90 + at % 100)
    found = tvmdbg.open(first), tvmdbg.open(second)
    assert all(isinstance(each, DebugRun) for each in found)
    return found


def both(run: DebugRun, view: str, **how: Any) -> tuple[Any, Any]:
    """Return a figure as of few nodes, and as of very many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(few_names, "MOST_NODES", 10 * _NODES)
        few = run.figure(view, **how)
        patch.setattr(few_names, "MOST_NODES", _NODES // 2)
        return few, run.figure(view, **how)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("how", SHOWN, ids=str)
def test_timeline_is_same_in_few_and_many_node_modes(
    networks: tuple[DebugRun, DebugRun], which: int, how: dict[str, Any]
) -> None:
    few, many = both(networks[which], "timeline", **how)
    assert "missing" not in few.description
    assert many.svg == few.svg
    assert many.description == few.description


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize(
    "how",
    [{}, {"color_by": "size", "selected": [5, 700]}, {"step_range": (300, 340)}],
    ids=str,
)
def test_memory_plan_is_same_in_few_and_many_node_modes(
    networks: tuple[DebugRun, DebugRun], which: int, how: dict[str, Any]
) -> None:
    few, many = both(networks[which], "memory", **how)
    assert "missing" not in few.description
    assert many.svg == few.svg
    assert many.description == few.description


@pytest.mark.parametrize(
    "how", [{}, {"selected": [5, 700]}, {"time_range": (2e6, 2.01e6)}], ids=str
)
def test_time_comparison_of_many_nodes_is_drawn_like_few(
    networks: tuple[DebugRun, DebugRun], how: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = networks[0].compare_times(networks[0], ("A", "B"))
    asked: list[int] = []
    draw = run_figure.draw_or_tell

    def measured(*arguments: Any, **more: Any) -> Any:
        asked.append(sum(len(b) for reply in more["answers"]().values() for b in reply.buffers))
        return draw(*arguments, **more)

    monkeypatch.setattr(run_figure, "draw_or_tell", measured)
    monkeypatch.setattr(few_names, "MOST_NODES", 10 * _NODES)
    few = time_comparison_figure(compared, **how)
    monkeypatch.setattr(few_names, "MOST_NODES", _NODES // 2)
    many = time_comparison_figure(compared, **how)
    assert "missing" not in few.description
    assert many.svg == few.svg
    assert many.description == few.description
    assert asked[1] < 0.3 * asked[0]


@pytest.mark.parametrize("view", ["graph", "timeline", "memory", "debugger"])
@pytest.mark.parametrize("most", [10 * _NODES, _NODES // 2], ids=["few", "many"])
def test_figure_with_failing_answers_has_text_form(
    networks: tuple[DebugRun, DebugRun], view: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise MemoryError("no room for the answer")

    monkeypatch.setattr(few_names, "MOST_NODES", most)
    monkeypatch.setattr(Answers, "answer", fails)
    monkeypatch.setattr(few_names, "first_of_timeline", fails)
    monkeypatch.setattr(few_names, "node_op_kinds", fails)
    run = networks[0]
    figure = debugger_figure(run.facts) if view == "debugger" else run.figure(view)
    assert figure.description["missing"].endswith("no room for the answer")
    assert run.title in figure.text
    assert_sound(figure)


def test_comparison_with_failing_answers_reports_the_error(
    networks: tuple[DebugRun, DebugRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise MemoryError("no room for the answer")

    run = networks[0]
    compared, differing = run.compare_times(run, ("A", "B")), tvmdbg.compare(run, run)
    monkeypatch.setattr(Answers, "answer", fails)
    for figure in (
        time_comparison_figure(compared),
        comparison_figure((run.facts, run.facts), differing, width=960),
    ):
        assert figure.description["missing"] == "no room for the answer"
        assert_sound(figure)


def test_engine_input_is_smaller_for_many_nodes(
    networks: tuple[DebugRun, DebugRun], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int] = []
    draw = run_figure.draw_or_tell

    def measured(*arguments: Any, **more: Any) -> Any:
        told.append(sum(len(b) for reply in more["answers"]().values() for b in reply.buffers))
        return draw(*arguments, **more)

    monkeypatch.setattr(run_figure, "draw_or_tell", measured)
    for view in ("memory", "timeline"):
        both(networks[1], view)
        few, many = told[-2:]
        assert many < 0.6 * few, view


@pytest.mark.slow
@pytest.mark.parametrize("line", ["nodes", "nodes in one chain"])
def test_a_million_nodes_with_times_are_drawn(line: str, tmp_path: Path) -> None:
    GROWING[line](tmp_path, 1_000_000)
    run = tvmdbg.open(tmp_path)
    assert isinstance(run, DebugRun)
    assert run.graph is not None
    every = range(run.graph.num_nodes)
    for view, more in (("memory", {}), ("timeline", {}), ("graph", {"color_by": "time"})):
        figure = run.figure(view, selected=every, **more)
        assert "missing" not in figure.description, figure.description["missing"]
        # Of memory: up to a mark for each slot and four pixels.
        assert_sound(figure, 440 * 1024 if view == "memory" else 40 * 1024)
    assert np.isfinite(run.figure("timeline").description["total_ns"])
