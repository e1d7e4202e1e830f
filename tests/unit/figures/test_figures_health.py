"""Figures of a graph by the health of its nodes, and faults where they began and spread."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.unit.figures.figure_checks import assert_sound, texts
from tests.unit.findings.findings_dump import Op, graph_json, params, plant
from tvmdbg_widgets.run import DebugRun


def values(*special: float) -> np.ndarray[Any, Any]:
    found = np.linspace(1, 2, 64, dtype=np.float32)
    found[: len(special)] = special
    return found


def test_box_health_includes_its_parameters() -> None:
    weight = Op("p0", values(np.nan))
    run = plant(Op("x", values()), weight, Op("n", values(), "fused_add", [(0, 0), (1, 0)]))
    figure = run.figure("graph", color_by="health")
    box = next(node for node in figure.description["nodes"] if node["id"] == 2)
    assert box["health"] == {"verdict": "faulty", "text": "1 NaN in #1"}


def test_nodes_without_values_are_hatched_and_counted(tmp_path: Path) -> None:
    ops = [Op("x", values()), Op("a", values(), "fused_add", [(0, 0)])]
    graph = graph_json(ops).encode()
    run = tvmdbg.open(params(ops, leave_out=[(1, 0)]), graph=graph)
    figure = run.figure("graph", color_by="health")
    assert figure.description["health"]["counts"] == {"no values": 1, "OK": 1}
    assert texts(figure).count("no values") == 2  # in the box, and in the legend
    (tmp_path / "_tvmdbg_graph_dump.json").write_bytes(graph)
    nothing = tvmdbg.open(tmp_path).figure("graph", color_by="health")
    assert "the run holds no tensors" in texts(nothing)


def test_groups_show_worst_health_of_their_nodes() -> None:
    ops = [Op("x", values())]
    ops += [
        Op(f"n{at}", values(*([np.inf] if at == 300 else [])), "fused_nn_relu", [(at, 0)])
        for at in range(400)
    ]
    figure = plant(*ops).figure("graph", color_by="health")
    assert figure.description["condensed"]
    assert "✕" in texts(figure)
    assert any("1 Inf in #301" in said for said in texts(figure))
    assert "faulty: 1 Inf in #301" in figure.text


def test_a_figure_of_a_view_does_not_wait_for_the_scan() -> None:
    run = plant(Op("x", values()), Op("a", values(np.nan), "fused_add", [(0, 0)]))
    view = tvmdbg.GraphView(run, color_by="health")
    assert view._figure(720, "light").description["health"]["counts"] == {"not scanned": 2}
    assert run.facts.search.scan.state == "none"
    view.close()


#: As in js/src/shared/client/health.ts.
BEGAN, SPREAD_HERE = 1, 2
SPREAD = 'stroke-dasharray="4 3"'


@pytest.fixture(scope="module")
def run() -> DebugRun:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    run.findings(progress=False)
    return run


def bad_nodes(run: DebugRun) -> list[int]:
    """Nodes whose values are not all finite, by numpy, in execution order."""
    values = {node: each.numpy().astype(np.float32) for (node, _), each in run.tensors.items()}
    return sorted(node for node, each in values.items() if not np.isfinite(each).all())


def test_nodes_with_bad_values_are_marked(run: DebugRun) -> None:
    figure = run.figure("graph")
    assert_sound(figure)
    first, *others = bad_nodes(run)
    found = {each["node"]: each["fault"] for each in figure.description["boxes"] if each["fault"]}
    assert found == {first: BEGAN} | dict.fromkeys(others, SPREAD_HERE)
    assert texts(figure).count("!") == 2  # one in the legend
    assert figure.svg.count(SPREAD) == len(others) + 1
    (line,) = [each for each in figure.text.split("\n") if each.endswith("fault begins here")]
    assert line.startswith(f"  #{first} conv2d + add + add + relu <- ")
    assert figure.text.count("fault spread here") == len(others)


@pytest.mark.parametrize("width", [360, 720])
def test_closed_group_shows_worst_fault_inside(run: DebugRun, width: int) -> None:
    figure = run.figure("graph", open_groups=[], width=width)
    assert_sound(figure)
    boxes = {each["title"]: each["fault"] for each in figure.description["boxes"]}
    assert boxes["data"] == 0
    grouped = [each for each in figure.description["boxes"] if each["group"] is not None]
    assert [each["fault"] for each in grouped] == [0, 0, 1, 2, 2]
    assert boxes["softmax"] == SPREAD_HERE


def test_faults_are_unmarked_before_scan_and_in_health_colors(run: DebugRun) -> None:
    fresh = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    for figure in (fresh.figure("graph"), run.figure("graph", color_by="health")):
        assert not any(each["fault"] for each in figure.description["boxes"])
        assert "!" not in texts(figure)
        assert SPREAD not in figure.svg


def test_badge_of_a_warning_has_its_legend(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/resnet20_cifar_int8")
    findings = run.findings(progress=False)
    figure = run.figure("graph")
    assert_sound(figure)
    assert "fault begins here" not in texts(figure)
    (words,) = [each for each in texts(figure) if each.endswith(" warning")]
    (line,) = [each for each in figure.text.split("\n") if each.endswith(words)]
    assert line.strip().startswith(f"#{findings[0].nodes[0]} ")
    assert texts(figure).count("!") == 2  # one in the legend
    assert words not in texts(run.figure("graph", color_by="health"))


def test_condensed_graph_marks_faults_too() -> None:
    values = np.linspace(1, 2, 8, dtype=np.float32)
    bad = values.copy()
    bad[0] = np.nan
    ops = [Op("x", values)]
    for at in range(400):
        op = Op(f"n{at}", bad if at >= 300 else values, f"fused_op{at}", [(at, 0)])
        ops.append(op)
    run = plant(*ops)
    run.findings(progress=False)
    figure = run.figure("graph")
    assert "condensed" in figure.description
    assert_sound(figure, 80 * 1024)
    assert texts(figure).count("!") == 2
    assert figure.text.count("fault begins here") == 1
    assert figure.svg.count(SPREAD) - 1 == figure.text.count("fault spread here") > 0
