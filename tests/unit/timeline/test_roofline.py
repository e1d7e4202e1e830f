"""Rooflines and counters along the timeline."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from unit.timeline.times_truth import parts, timeline

import tvmdbg_widgets as tvmdbg
from tests.unit.figures.figure_checks import assert_sound, drawn
from tvmdbg_widgets.analysis.timeline.counters import counters
from tvmdbg_widgets.answers.answers import answer
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
    figure = drawn(
        run.facts,
        "timeline",
        chart="roofline",
        show="chart",
        peak_flops=peak,
        bandwidth=bandwidth,
        selected=[62],
        width=width,
    )
    assert_sound(figure)
    assert len(figure.description["roofline"]["points"]) == 27
    assert "not in the chart: #" in figure.svg


def test_timeline_figure_draws_roofline_chart(run: DebugRun, data: Path) -> None:
    figure = drawn(run.facts, "timeline", chart="roofline")
    assert_sound(figure)
    assert "FLOP/B" in figure.svg
    trace = tvmdbg.open(data / "chrome" / "viztracer.json")
    assert "needs the graph" in drawn(trace.facts, "timeline", chart="roofline").text


def test_memory_counter_matches_plan_at_every_node(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm" / "resnet20_cifar")
    memory = run.counters()["memory in use"]
    plan, line = run.memory_plan(), run.timeline
    assert (memory.unit, len(memory)) == ("B", len(plan.order) + 1)
    for step, node in enumerate(plan.order.tolist()):
        (index,) = line.slices_of(node).tolist()
        middle = line.slice_start_ns[index] + line.slice_duration_ns[index] / 2
        assert memory.at(middle) == plan.live[step]
    assert memory.values.max() == plan.peak.bytes
    assert memory.ns[-1] == pytest.approx(line.span_ns)
    assert np.isnan(memory.at(-1.0))
    assert "neither was observed" in memory.said
    assert "Parameters" in memory.said
    assert repr(run.counters()).startswith("1 counter along the timeline")
    assert len(run.counters().to_dataframe()) == len(memory)


def test_counters_of_a_trace_keep_their_series() -> None:
    events = [
        {"ph": "X", "name": "f", "ts": 0, "dur": 10, "pid": 1, "tid": 1},
        {"ph": "C", "name": "memory", "ts": 1, "pid": 1, "args": {"heap": 5, "stack": 2}},
        {"ph": "C", "name": "memory", "ts": 4, "pid": 1, "args": {"heap": 7, "stack": 2}},
        {"ph": "C", "name": "load", "ts": 3, "pid": 1, "args": {"value": 0.5}},
    ]
    run = tvmdbg.open(json.dumps(events).encode())
    found = run.counters()
    assert set(found.names) == {"memory: heap", "memory: stack", "load"}
    heap = found["memory: heap"]
    assert (heap.ns.tolist(), heap.values.tolist()) == ([1000, 4000], [5, 7])
    assert [heap.at(ns) for ns in (1000, 3999, 4000, 1e9)] == [5, 5, 7, 7]
    assert "no graph" in found.missing
    assert "memory: This run has no graph" in repr(found)
    with pytest.raises(KeyError, match=r"known: .*load"):
        found["heap"]


def test_a_timeline_without_nodes_has_no_memory(corpus: Path) -> None:
    graph = tvmdbg.open(corpus / "tvm" / "resnet20_cifar" / "graph.json")
    with pytest.raises(ValueError, match="no trace"):
        graph.counters()
    found = counters(parts(timeline([(0, 1, 0, 0)])), graph.memory_plan)
    assert len(found) == 0
    assert found.missing
