"""Figures of a graph by the health of its nodes: verdicts, words, signs, and what is not known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.unit.figures.figure_checks import root_of
from tests.unit.findings.findings_dump import Op, graph_json, params, plant
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.figures.theme import TOKENS

SVG = "{http://www.w3.org/2000/svg}"


def values(*special: float) -> np.ndarray[Any, Any]:
    found = np.linspace(1, 2, 64, dtype=np.float32)
    found[: len(special)] = special
    return found


def texts(figure: Figure) -> list[str]:
    return ["".join(each.itertext()) for each in root_of(figure).iter(f"{SVG}text")]


@pytest.mark.parametrize("theme", ["light", "dark", "auto"])
def test_figure_colors_recorded_overflow_by_health(theme: str) -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    figure = run.figure("graph", color_by="health", theme=theme)
    told = figure.description["health"]
    assert told == {
        "complete": True,
        "counts": {"faulty": 16, "OK": 58},
        "first_nonfinite": [38, 0],
    }
    nodes = {node["id"]: node["health"] for node in figure.description["nodes"]}
    assert nodes[38] == {"verdict": "faulty", "text": "59 Inf"}
    assert nodes[35] == {"verdict": "OK", "text": "OK"}
    assert "faulty: 59 Inf" in figure.text
    said = texts(figure)
    assert {"#38 · 59 Inf", "✕"} <= set(said)
    assert [said[said.index(label) + 1] for label in ("faulty", "OK")] == ["16", "58"]
    scheme = "dark" if theme == "dark" else "light"
    assert TOKENS["health"][scheme]["faulty"] in figure.svg


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
    assert "#1 · no values" in texts(figure)
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
    shown = view._figure(720, "light")
    assert shown.description["health"]["counts"] == {"not scanned": 2}
    assert run.facts.search.scan.state == "none"
    view.close()
