"""Rooflines: numbers against their definition, words, answers to pages, and the figure."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.unit.figures.figure_checks import assert_sound
from tvmdbg_widgets.answers.answers import answer
from tvmdbg_widgets.figures.timeline import timeline_figure
from tvmdbg_widgets.run import DebugRun


def test_roofline_numbers_match_their_definitions(run: DebugRun) -> None:
    found = run.roofline(peak_flops=3e9, bandwidth=1e9)
    for point in found:
        seconds = run.timeline.node_ns[point.node] * 1e-9
        assert point.flops_per_s == pytest.approx(point.flops / seconds)
        assert point.bytes_per_s == pytest.approx(point.bytes / seconds)
        if point.bytes:
            assert point.intensity == point.flops / point.bytes
            memory = point.intensity < 3
            assert point.bound == ("memory" if memory else "compute")
            most = min(3e9, 1e9 * point.intensity)
            if point.flops:
                assert point.of_ceiling == pytest.approx(point.flops_per_s / most)
    assert {each.op_kind for each in found.totals} == {point.op_kind for point in found}
    assert sum(each.flops for each in found.totals) == np.nansum(found.work.flops)
    assert sum(each.nodes for each in found.totals) == len(found)


def test_bound_is_unknown_without_machine_peaks(run: DebugRun) -> None:
    found = run.roofline()
    assert {point.bound for point in found} == {"unknown"}
    assert all(math.isnan(point.of_ceiling) for point in found)
    assert "best measured" in repr(found)
    assert found.highest_flops == max(point.flops_per_s for point in found)
    assert len(found.to_dataframe()) == len(found) == 27
    assert "<table>" in found._repr_html_()
    for bad in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="above zero"):
            run.roofline(peak_flops=bad)


def test_unknown_nodes_have_reasons(corpus: Path) -> None:
    found = tvmdbg.open(corpus / "tvm" / "edge_cases" / "v0.19" / "split_multi").roofline()
    assert len(found.unknown) == 3
    assert all("no formula for k_" in point.why[0] for point in found.unknown)
    assert "no formula for k_split" in repr(found)


def test_critical_path_and_roofline_questions_are_answered(run: DebugRun, corpus: Path) -> None:
    path = answer(run.facts, {"kind": "critical"})
    assert [each["name"] for each in path.result["columns"]] == ["path", "slack"]
    assert path.result["info"]["said"] == list(run.critical_path().said)
    work = answer(run.facts, {"kind": "roofline"})
    assert {each["name"]: each["length"] for each in work.result["columns"]} == dict.fromkeys(
        ("node", "flops", "bytes", "exact", "dtypes", "why"), 27
    )
    bare = tvmdbg.open(corpus / "tvm" / "edge_cases" / "v0.19" / "params_zoo")
    for kind in ("critical", "roofline"):
        assert "open the dump folder" in answer(bare.facts, {"kind": kind}).result["missing"]


@pytest.mark.parametrize("width", [360, 720, 1400])
@pytest.mark.parametrize("ceilings", [(None, None), (3e9, 1e9), (3e9, None)])
def test_roofline_figures_are_well_formed(
    run: DebugRun, width: int, ceilings: tuple[float | None, float | None]
) -> None:
    peak, bandwidth = ceilings
    figure = timeline_figure(
        run.facts,
        chart="roofline",
        show="chart",
        peak_flops=peak,
        bandwidth=bandwidth,
        selected=[62],
        width=width,
    )
    assert_sound(figure)
    assert len(figure.description["roofline"]["points"]) == 27
    assert "not in the chart" in figure.svg


def test_timeline_figure_draws_roofline_chart(run: DebugRun, data: Path) -> None:
    figure = timeline_figure(run.facts, chart="roofline")
    assert_sound(figure)
    assert "FLOP/B" in figure.svg
    trace = tvmdbg.open(data / "chrome" / "viztracer.json")
    assert "needs the graph" in timeline_figure(trace.facts, chart="roofline").text
