"""Figures of very large runs: as those of smaller ones, though the engine is told fewer names."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from benchmarks.growing import GROWING, chain, write
from tests.graph_json import graph_json, null, operator
from tests.unit.figures.figure_checks import assert_sound, drawn
from tvmdbg_widgets.analysis.compare_times.result import TimeComparison
from tvmdbg_widgets.answers import few_names
from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.figures.comparison import comparison_figure
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.run import DebugRun

_NODES = 12_000
#: Fields of questions that ask for less.
_FEWER = ("named", "longest")
SHOWN: list[dict[str, Any]] = [
    *({}, {"slice_color": "kind", "selected": [5, 6, 700]}, {"slice_color": "block"}),
    *({"slice_color": "share", "table_by": "name"}, {"time_range": (2e6, 2.01e6)}),
    *({"table_by": "kind", "sort": "order"}, {"table_by": "part"}, {"chart": "repeats"}),
    *({"chart": "folded", "table_by": "group"}, {"chart": "merged"}, {"chart": "roofline"}),
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


def both(draw: Callable[[], Figure]) -> tuple[Figure, Figure, list[int]]:
    """Draw a figure from whole answers and from what it asks for; also the bytes of each."""
    told: list[int] = []
    real = Answers.answer

    def whole(answers: Answers, message: dict[str, Any]) -> Reply:
        fewer = () if message["kind"] == "change" else _FEWER
        return measured(answers, {name: message[name] for name in message if name not in fewer})

    def measured(answers: Answers, message: dict[str, Any]) -> Reply:
        reply = real(answers, message)
        told[-1] += sum(map(len, reply.buffers))
        return reply

    figures = []
    for most, answer in ((10 * _NODES, whole), (_NODES // 2, measured)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(few_names, "MOST_NODES", most)
            patch.setattr(Answers, "answer", answer)
            told.append(0)
            figures.append(draw())
    few, many = figures
    assert "missing" not in few.description
    assert (many.svg, many.description) == (few.svg, few.description)
    return few, many, told


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("how", SHOWN, ids=str)
def test_timeline_is_same_in_few_and_many_node_modes(
    networks: tuple[DebugRun, DebugRun], which: int, how: dict[str, Any]
) -> None:
    both(lambda: networks[which].figure("timeline", **how))


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize(
    "how", [{}, {"color_by": "size", "selected": [5, 700]}, {"step_range": (300, 340)}], ids=str
)
def test_memory_plan_is_same_in_few_and_many_node_modes(
    networks: tuple[DebugRun, DebugRun], which: int, how: dict[str, Any]
) -> None:
    both(lambda: networks[which].figure("memory", **how))


def change_figure(compared: TimeComparison, **how: Any) -> Figure:
    return drawn(compared.run, "timeline", table_by="change", slice_color="kind", **how)


@pytest.mark.parametrize(
    "how", [{}, {"selected": [5, 700]}, {"time_range": (2e6, 2.01e6)}], ids=str
)
def test_time_comparison_of_many_nodes_is_drawn_like_few(
    networks: tuple[DebugRun, DebugRun], how: dict[str, Any]
) -> None:
    compared = networks[0].compare_times(networks[0], ("A", "B"))
    *_, told = both(lambda: change_figure(compared, **how))
    assert told[1] < 0.4 * told[0]


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
    figure = drawn(run.facts, "debugger") if view == "debugger" else run.figure(view)
    assert "no room for the answer" in figure.description["missing"]
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
        change_figure(compared),
        comparison_figure((run.facts, run.facts), differing, width=960),
    ):
        assert "no room for the answer" in figure.description["missing"]
        assert_sound(figure)


def test_engine_input_is_smaller_for_many_nodes(networks: tuple[DebugRun, DebugRun]) -> None:
    for view in ("memory", "timeline"):
        *_, (few, many) = both(lambda view=view: networks[1].figure(view))  # type: ignore[misc]
        assert many < 0.6 * few, view


@pytest.mark.slow
@pytest.mark.parametrize("line", ["nodes", "nodes in one chain"])
def test_a_million_nodes_with_times_are_drawn(line: str, tmp_path: Path) -> None:
    GROWING[line](tmp_path, 1_000_000)
    run = tvmdbg.open(tmp_path)
    assert isinstance(run, DebugRun)
    every = range(run.graph.num_nodes)
    for view, more in (("memory", {}), ("timeline", {}), ("graph", {"color_by": "time"})):
        figure = run.figure(view, selected=every, **more)
        assert "missing" not in figure.description, figure.description["missing"]
        # Of memory: up to a mark for each slot and four pixels.
        assert_sound(figure, 440 * 1024 if view == "memory" else 40 * 1024)
    assert np.isfinite(run.figure("timeline").description["total_ns"])


MANY = 20_000


def trace(threads: int) -> bytes:
    events: list[dict[str, Any]] = [
        {"name": f"op{at % 50}", "ph": "X", "ts": at, "dur": 5, "pid": at // 2, "tid": at}
        for at in range(threads)
    ]
    events += [
        {"name": "process_name", "ph": "M", "pid": at, "args": {"name": f"device {at}"}}
        for at in range(threads // 2)
    ]
    return json.dumps({"traceEvents": events}).encode()


def graph(inputs: int, operators: list[tuple[str, list[int]]]) -> bytes:
    nodes = [null(f"x{at}") for at in range(inputs)]
    nodes += [operator(f"n{at}", name, read) for at, (name, read) in enumerate(operators)]
    return graph_json(nodes, shapes=[1])


TWO_BLOCKS = [(f"fused_op{at % (MANY // 2)}", [at]) for at in range(MANY)]


@pytest.mark.parametrize(
    ("data", "view"),
    [
        (trace(MANY), "timeline"),
        (graph(MANY, [("fused_concatenate", list(range(MANY)))]), "graph"),
        (graph(1, TWO_BLOCKS), "graph"),
    ],
    ids=["threads", "inputs of a node", "operators of a block"],
)
def test_figures_of_very_large_inputs_are_drawn(data: bytes, view: str) -> None:
    figure = tvmdbg.open(data).figure(view)
    assert "missing" not in figure.description, figure.text[-200:]


def test_long_slice_names_are_shortened() -> None:
    events = [
        {"name": "n" * 50_000, "ph": "X", "ts": 10 * at, "dur": 9, "pid": 0, "tid": 0}
        for at in range(40)
    ]
    figure = tvmdbg.open(json.dumps({"traceEvents": events}).encode()).figure("timeline")
    assert len(figure.svg) < 100_000
    assert sum(len(each.text) for each in figure.hover) < 100_000
    assert len(figure.text) < 200_000


def test_slices_of_many_threads_are_drawn_unbinned() -> None:
    figure = tvmdbg.open(trace(9_000)).figure("timeline")
    assert "missing" not in figure.description
    assert figure.svg.count("busy") == figure.svg.count(">idle ") == 8
