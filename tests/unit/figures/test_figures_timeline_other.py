"""Charts of a timeline that are not in time, memory, and tables that sum up."""

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.graph_json import chain as chain_json
from tests.unit.figures.figure_checks import assert_legible, assert_sound, drawn, root_of, texts
from tests.unit.graph.test_memory_plan import IN, graph_of, op
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.run import DebugRun

CHARTS = ("merged", "folded", "repeats")


@pytest.fixture(scope="module")
def warm(run: DebugRun) -> DebugRun:
    """The sample as if it had 60 repeats, the first two of them slow."""
    line = run.timeline
    rng = np.random.default_rng(5)
    times = np.nan_to_num(line.node_ns)[:, None] * rng.normal(1, 0.01, (line.num_nodes, 60))
    times[:, :2] *= 1.7
    offsets = np.arange(0, times.size + 1, 60)
    slow = dataclasses.replace(line, repeats_offsets=offsets, repeats_ns=times.ravel())
    return DebugRun(dataclasses.replace(run.parts, timeline=slow))


def words(figure: Figure) -> str:
    return " ".join(texts(figure))


def marked(figure: Figure) -> int:
    return figure.svg.count("stroke")


def test_merged_places_match_the_run(run: DebugRun) -> None:
    figure = drawn(run.facts, "timeline", chart="merged", show="chart")
    told = figure.description["merged"]
    tree = run.merged()
    whole = float(tree.total_ns[tree.depth == 0].sum())
    assert told["total_ns"] == whole == pytest.approx(run.timeline.total_ns)
    largest = np.argsort(-tree.total_ns, kind="stable").tolist()
    for place, at in zip(told["places"], largest, strict=False):
        assert (tuple(place["path"]), place["total_ns"]) == (tree.path(at), tree.total_ns[at])
        assert place["start_ns"] == tree.start_ns[at]
    boxes = re.findall(r"M([\d.]+) [\d.]+h([\d.]+)v19", figure.svg)
    ends = [float(x) + float(wide) for x, wide in boxes]
    assert max(ends) == pytest.approx(720 - 14, abs=1.5)
    assert "not in order of time" in words(figure)
    assert figure.text.startswith(repr(tree))


def test_repeats_and_folded_show_the_warm_up(warm: DebugRun) -> None:
    matrix = warm.repeats()
    assert matrix.warm_up.cut == 2
    for chart in ("repeats", "folded"):
        figure = drawn(warm.facts, "timeline", chart=chart, show="chart")
        told = figure.description["repeats"]
        assert told["warm_up"] == {"cut": 2, "why": matrix.warm_up.why}
        assert told["totals_ns"] == matrix.totals.tolist()
        assert told["folded_ns"] == matrix.folded().total_ns
        for row in told["rows"]:
            at = matrix.nodes.tolist().index(row["node"])
            assert row["ns"] == matrix.ns[at].tolist()
            assert row["p50_ns"] == np.median(matrix.ns[at])
        assert "the first 2 of 60 repeats take" in words(figure).lower()
    assert "A column is the one of 2 repeats that is farthest from the median" in words(
        drawn(warm.facts, "timeline", chart="repeats")
    )
    folded = words(drawn(warm.facts, "timeline", chart="folded"))
    assert "medians back to back, which is no single repeat" in folded
    assert "without it the medians add up to" in folded


@pytest.mark.parametrize("by", ["kind", "part", "group", "device", "name", "callers"])
def test_table_rows_match_the_run(run: DebugRun, by: str) -> None:
    figure = drawn(run.facts, "timeline", table_by=by, show="table")
    table = run.times(by)
    told: dict[str, Any] = figure.description["table"]
    assert told["total_ns"] == table.total_ns == pytest.approx(run.timeline.total_ns)
    assert [row["ns"] for row in told["rows"]] == table.ns[: len(told["rows"])].tolist()
    assert [row["label"] for row in told["rows"]] == list(table.labels[: len(told["rows"])])
    assert figure.text.startswith(repr(table))
    assert ("shares overlap" in words(figure)) == (by == "part")


def test_unavailable_charts_show_the_reason(data: Path, run: DebugRun) -> None:
    trace = tvmdbg.open(data / "chrome" / "viztracer.json")
    assert "Groups come from the graph" in words(drawn(trace.facts, "timeline", table_by="group"))
    assert "column is not one pass" in words(drawn(trace.facts, "timeline", chart="repeats"))
    mean = dataclasses.replace(
        run.timeline,
        repeats_ns=np.zeros(0),
        repeats_offsets=np.zeros(run.timeline.num_nodes + 1, np.int64),
    )
    bare = DebugRun(dataclasses.replace(run.parts, timeline=mean))
    for chart in ("repeats", "folded"):
        figure = drawn(bare.facts, "timeline", chart=chart)
        assert "No repeats are known, only the mean" in words(figure)
        assert "No repeats are known" in figure.description["repeats"]["missing"]
    for wrong in ({"chart": "pie"}, {"table_by": "color"}):
        with pytest.raises(ValueError, match="known: "):
            drawn(run.facts, "timeline", **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("chart", CHARTS)
@pytest.mark.parametrize("width", [300, 720])
def test_every_chart_is_sound_at_requested_width(warm: DebugRun, chart: str, width: int) -> None:
    slowest = int(np.nanargmax(warm.timeline.node_ns))
    plain = drawn(warm.facts, "timeline", chart=chart, width=width, show="chart")
    figure = drawn(
        warm.facts, "timeline", chart=chart, width=width, show="chart", selected=[slowest]
    )
    assert f'viewBox="0 0 {width} ' in figure.svg
    assert marked(figure) > marked(plain) or chart == "repeats"
    assert_sound(figure, 60_000)
    assert_legible(root_of(figure))
    assert_sound(drawn(warm.facts, "timeline", chart=chart, width=width, theme="dark"), 60_000)


def test_node_with_several_outputs_counts_once_with_a_note(data: Path) -> None:
    folder = data / "times" / "split_multi_v0.19"
    split = tvmdbg.open(folder)
    said = "appears k times in the table that run() prints"
    assert said in words(drawn(split.facts, "timeline", show="table"))
    table = split.times("node")
    assert said in " ".join(table.notes)
    assert said in " ".join(repr(table).split())
    printed = (folder / "run_stdout.txt").read_text()
    several = [row for row in table if len(split.graph.entry_range(int(row.key))) > 1]
    assert [row.slices for row in several] == [1] * len(several) != []
    for row in several:
        name = split.graph.names[int(row.key)]
        assert sum(name in line for line in printed.splitlines()) > 1


def test_the_roofline_has_the_ceilings_of_its_view() -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    view = tvmdbg.Flamechart(run, chart="roofline", peak_flops=2e11, bandwidth=2e10)
    found = view.figure().description["roofline"]
    assert (found["peak_flops"], found["bandwidth"]) == (2e11, 2e10)
    assert "ceilings given: 200 GFLOP/s and 20 GB/s" in " ".join(found["said"])


def test_comparison_row_of_several_nodes_names_both_sides(corpus: Path) -> None:
    a, b = (tvmdbg.open(corpus / "tvm" / f"resnet20_cifar{each}") for each in ("_unfused", ""))
    figure = tvmdbg.Flamechart(a, against=b).figure()
    assert_sound(figure)
    shown = texts(figure)
    for row in list(a.compare_times(b))[:16]:
        first, *_, last = (*row.a, row.a[-1])
        ends = f"#{last} ~ #{row.b[0]}"
        assert [each for each in shown if f"#{first}" in each and ends in each]


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
    for part in ("allocated 204.3 KiB", "peak 204.0 KiB at #9", "#3", "#0 data", "64.0 KiB"):
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
    assert "#3 conv2d" not in said
    assert "#59 conv2d + add + add + relu: 16.0 KiB (16,384)" in said
    # As the view does, it shows the end of the order.
    last = run.figure("memory", step_range=(400, 500))
    assert "#71 softmax: 40 B" in last.svg


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
