"""Times by what the graph knows of nodes, against sums over nodes one by one."""

import dataclasses
import json
import math
import statistics
from pathlib import Path

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.graph_json import graph_json
from tvmdbg_widgets.analysis.times.keys import NO_GROUP
from tvmdbg_widgets.analysis.times.table import TimeTable
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import parts
from tvmdbg_widgets.run import DebugRun

#: Student's t of four degrees of freedom, two-sided 95 %.
T_4 = 2.77644510519779


def check(run: DebugRun, table: TimeTable) -> None:
    """Every row is the sum over its nodes, and so are its repeats."""
    line = run.timeline
    for row in table:
        nodes = list(row.nodes)
        assert row.slices == sum(len(line.slices_of(node)) for node in nodes)
        assert row.ns == math.fsum(
            line.slice_duration_ns[i] for n in nodes for i in line.slices_of(n)
        )
        assert row.share == pytest.approx(row.ns / line.total_ns)
        timed = [line.repeats(node) for node in nodes if len(line.repeats(node))]
        if not timed:
            assert row.ns == 0
            assert math.isnan(row.low)
            continue
        sums = np.sum(timed, axis=0)
        half = T_4 * statistics.stdev(sums) / math.sqrt(5)
        assert row.low == pytest.approx(sums.mean() - half, rel=1e-9, abs=1e-6)
        assert row.high == pytest.approx(sums.mean() + half, rel=1e-9, abs=1e-6)


def test_times_by_node_match_the_run_statistics(run: DebugRun) -> None:
    table = run.times()
    check(run, table)
    given = {node.id for node in run.graph.nodes if node.kind < NodeKind.OPERATOR}
    assert {row.key for row in table} == set(range(run.graph.num_nodes)) - given
    assert table.idle == len(given) == 45
    assert "45 slices of inputs and parameters hidden" in repr(table)
    told = run.timeline.statistics()
    for row in table:
        assert row.low == pytest.approx(told.low[row.key], abs=1e-6, nan_ok=True)
        assert row.noisy == told.noisy[row.key]
    assert [row.key for row in table[:5]] == run.timeline.top(5).nodes.tolist()


def test_times_by_kind_cover_every_executed_node(run: DebugRun) -> None:
    table = run.times("kind")
    check(run, table)
    for row in table:
        assert {run.graph.nodes[node].op_kind for node in row.nodes} == {row.key}
    ran = [node for node in run.graph.nodes if node.kind >= NodeKind.OPERATOR]
    assert sum(len(row.nodes) for row in table) == len(ran) == run.graph.num_nodes - table.idle


def test_times_by_part_count_function_under_all_its_operators(run: DebugRun) -> None:
    table = run.times("part")
    check(run, table)
    assert table.overlap
    for row in table:
        holders = {
            node
            for node, func in enumerate(run.graph.func_names)
            if row.key in (parts(func) or ("no function",))
        }
        assert set(row.nodes) == holders
    assert table.ns.sum() > table.total_ns
    assert np.isnan(table.cumulative).all()
    assert "add up to more than 100 %" in " ".join(repr(table).split())


@pytest.mark.parametrize("level", [0, 1, -1])
def test_times_by_group_count_node_in_one_enclosing_group(run: DebugRun, level: int) -> None:
    table = run.times("group", level=level)
    check(run, table)
    assert math.fsum(table.ns) == pytest.approx(table.total_ns)
    for row in table:
        for node in row.nodes:
            around = [group.id for group in reversed(run.groups.of(node))]
            expected = NO_GROUP
            if around:
                expected = around[-1] if level < 0 else around[min(level, len(around) - 1)]
            assert row.key == expected


def test_times_by_device_match_graph_devices(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm" / "resnet20_two_devices")
    table = run.times("device")
    assert set(table.keys) == {"cpu", "cuda"}
    for row in table:
        for node in row.nodes:
            entry = run.graph.entry_id(node, 0)
            assert run.graph.device_types[entry] == {"cpu": 1, "cuda": 2}[str(row.key)]


def test_times_within_part_of_the_run_have_no_interval(run: DebugRun) -> None:
    span = run.timeline.span_ns
    table = run.times("kind", within=(0, span / 2))
    assert np.isnan(table.low).all()
    assert not table.noisy.any()
    assert any("of the whole durations" in note for note in table.notes)
    halves = [table, run.times("kind", within=(span / 2, span))]
    whole = {row.key: row.ns for row in run.times("kind")}
    for key, ns in whole.items():
        found = [row.ns for half in halves for row in half if row.key == key]
        assert math.fsum(found) == pytest.approx(ns)


def test_node_with_fewer_repeats_makes_group_interval_unknown(run: DebugRun) -> None:
    line = run.timeline
    counts = np.diff(line.repeats_offsets).copy()
    slowest = int(np.nanargmax(line.node_ns))
    counts[slowest] -= 1
    kept = np.ones(len(line.repeats_ns), np.bool_)
    kept[line.repeats_offsets[slowest]] = False
    fewer = dataclasses.replace(
        line,
        repeats_offsets=np.concatenate(([0], np.cumsum(counts))),
        repeats_ns=line.repeats_ns[kept],
    )
    table = DebugRun(dataclasses.replace(run.parts, timeline=fewer)).times("kind")
    for row in table:
        assert np.isnan(row.low) == (slowest in row.nodes or row.ns == 0)


def test_times_table_converts_to_frame_and_html(run: DebugRun) -> None:
    table = run.times("kind")
    frame = table.to_dataframe()
    assert (frame["ns"].tolist(), frame["nodes"][0]) == (table.ns.tolist(), table[0].nodes)
    assert table[-1].key == table[len(table) - 1].key == list(table)[-1].key
    page = table._repr_html_()
    assert page.count("<tr>") == len(table) + 1
    assert "convolution" in page
    with pytest.raises(IndexError):
        table[len(table)]


def test_node_without_slices_counts_with_its_table_time(run: DebugRun) -> None:
    line = run.timeline
    slowest = int(np.nanargmax(line.node_ns))
    kept = np.flatnonzero(line.slice_node != slowest)
    names = line.slice_names
    cut = dataclasses.replace(
        line,
        slice_names=type(names)(names.unique, names.codes[kept]),
        **{
            name: getattr(line, name)[kept]
            for name in (
                *("slice_node", "slice_start_ns", "slice_duration_ns", "slice_track"),
                *("slice_trust", "slice_occurrence"),
            )
        },
    )
    fewer = DebugRun(dataclasses.replace(run.parts, timeline=cut))
    for by in ("node", "kind", "part", "group", "device"):
        table, before = fewer.times(by), run.times(by)
        assert table.total_ns == pytest.approx(line.total_ns)
        assert dict(zip(table.keys, table.ns, strict=True)) == pytest.approx(
            dict(zip(before.keys, before.ns, strict=True))
        )
        row = next(each for each in table if slowest in each.nodes)
        whole = next(each for each in before if slowest in each.nodes)
        assert row.slices == whole.slices - 1
    names_only = fewer.times("name")
    assert names_only.total_ns == pytest.approx(line.total_ns)
    assert names_only.share.sum() == pytest.approx(1 - line.node_ns[slowest] / line.total_ns)
    within = fewer.times("node", within=(0, line.span_ns))
    assert slowest not in {row.key for row in within}


def test_graph_without_nodes_has_times_by_group_and_can_be_compared() -> None:
    events = [{"ph": "X", "name": "a", "ts": 0, "dur": 2, "pid": 1, "tid": 1}]
    run = tvmdbg.open(json.dumps({"traceEvents": events}).encode(), graph=graph_json([]))
    assert run.graph.num_nodes == 0
    assert [(row.label, row.ns) for row in run.times("group")] == [("in no group", 2000)]
    compared = run.compare_times(run)
    assert len(compared) == len(compared.change.values) == 0
