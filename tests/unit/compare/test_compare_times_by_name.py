"""Times of runs without a graph compared: by the names of slices and rows."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import case_dir
from tvmdbg_widgets import DebugRun
from tvmdbg_widgets.analysis.compare_times import TimeVerdict
from tvmdbg_widgets.analysis.matching import Certainty
from tvmdbg_widgets.answers.answers import answer
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.widgets.timeline import Flamechart

OUTER, INNER, LEFT = "outer", "<b>in\nner</b>", "only here"


def event(name: str, ts: float, dur: float, ph: str = "X") -> dict[str, Any]:
    return {"ph": ph, "name": name, "ts": ts, "dur": dur, "pid": 1, "tid": 1}


def opened(events: list[dict[str, Any]]) -> DebugRun:
    return tvmdbg.open(json.dumps(events).encode())


def nested(inner_us: float, count: int = 8) -> list[dict[str, Any]]:
    found = []
    for i in range(count):
        found.append(event(OUTER, 1000 * i, 200 + i))
        found.append(event(INNER, 1000 * i + 1, inner_us + i / 4))
    return found


def test_slices_of_one_name_are_repeats_and_nested_time_counts_once() -> None:
    a = opened([*nested(50), event(LEFT, 9000, 7), event("mark", 5, 0, "i")])
    b = opened([*nested(100), event(OUTER, 20, 5, "B")])
    found = tvmdbg.compare_times(a, b, ("a", "b"))
    rows = {row.label: row for row in found}
    assert set(rows) == {OUTER, INNER, LEFT}
    inner, outer = rows[INNER], rows[OUTER]
    assert inner.repeats_a.tolist() == [(50 + i / 4) * 1000 for i in range(8)]
    assert outer.repeats_b.tolist() == [(100 + i - i / 4) * 1000 for i in range(8)]
    assert inner.change_ns == 50_000
    assert outer.change_ns == -50_000
    assert (inner.verdict, outer.verdict) == (TimeVerdict.SLOWER, TimeVerdict.FASTER)
    assert rows[LEFT].verdict is TimeVerdict.ONLY_A
    assert inner.certainty is Certainty.LIKELY
    assert inner.match == "likely, by name"
    assert "(likely, by name)" in repr(found)
    assert "by name" in found.caption[-2]
    assert found.total_a == pytest.approx(np.mean([200e3 + 1e3 * i for i in range(8)]) + 7e3)
    assert "<b>" not in found._repr_html_()


def test_the_run_of_two_traces_shows_both() -> None:
    a, b = opened(nested(50)), opened(nested(100))
    found = tvmdbg.compare_times(a, b, ("a", "b"))
    both = found.run.timeline
    assert both.num_slices == 32
    assert both.tracks == ("A: a · thread 1", "B: b · thread 1")
    assert both.slice_node[:16].tolist() == both.slice_node[16:].tolist()
    reply = answer(found.run, {"id": 1, "client": "x", "kind": "change"})
    columns = {each["name"]: each for each in reply.result["columns"]}
    assert columns["nsA"]["length"] == 2
    assert Flamechart(found).table_by == "change"
    assert pickle.loads(pickle.dumps(found.run)).compared.change_ns == found.change_ns  # noqa: S301


def test_graph_operator_is_compared_with_slices_of_same_name(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/resnet20_cifar")
    graph, timeline = run.graph, run.timeline
    node = int(np.nanargmax(timeline.node_ns))
    events = [event(graph.names[node], 1e4 * i, 100 + i) for i in range(6)]
    trace = opened([*events, event("python", 1e6, 5)])
    found = tvmdbg.compare_times(run, trace)
    row = next(row for row in found if row.a and row.b)
    assert (row.a, row.b, row.ns_b) == ((node,), (node,), 102_500.0)
    assert row.verdict is TimeVerdict.FASTER
    assert f"{counted(1, 'slice')} of other names left out" in repr(found)
    back = tvmdbg.compare_times(trace, run)
    assert back.change_ns == -found.change_ns
    assert back.run.graph is graph
    assert back.run.timeline.slice_node[:6].tolist() == [node] * 6


def test_name_shared_by_operators_gives_unknown_verdict(corpus: Path) -> None:
    folder = corpus / "tvm/resnet20_cifar"
    document = json.loads((folder / "graph.json").read_text())
    functions = [node.get("attrs", {}).get("func_name") for node in document["nodes"]]
    shared = next(each for each in functions if each and functions.count(each) > 2)
    for node in document["nodes"]:
        node["name"] = node["name"].replace(shared, "renamed", node["name"] == shared)
    run = tvmdbg.open(json.dumps(document).encode(), times=folder / "time_list.json")
    trace = opened([event(shared, 10 * i, 1) for i in range(40)])
    rows = [row for row in tvmdbg.compare_times(run, trace) if row.a and row.b]
    assert len(rows) == functions.count(shared)
    assert {row.verdict for row in rows} == {TimeVerdict.UNKNOWN}
    assert {row.match for row in rows} == {"possible, by name"}


def test_table_is_compared_with_table_and_with_graph(corpus: Path) -> None:
    folder = corpus / "tvm/resnet20_cifar"
    table = tvmdbg.open(folder / "debug_result_unsorted.txt")
    whole = tvmdbg.open(folder)
    assert table.graph is None
    for a, b in ((table, table), (table, whole), (whole, table)):
        found = tvmdbg.compare_times(a, b)
        assert len(found) == 27
        assert all(row.a and row.b for row in found)
        assert {row.verdict for row in found} == {TimeVerdict.NOISE}
        assert abs(found.change_ns) < 27
        assert found.run.timeline is not None


def test_report_sum_is_compared_with_all_operators_of_function(corpus: Path) -> None:
    folder = corpus / "tvm/resnet20_cifar"
    whole, report = tvmdbg.open(folder), tvmdbg.open(folder / "report.txt")
    graph = whole.graph
    for row in tvmdbg.compare_times(report, whole):
        assert len(row.a) == 1
        functions = {graph.func_names[node] for node in row.b}
        assert len(functions) == 1
        assert len(row.b) == list(graph.func_names).count(functions.pop())


def test_times_matched_by_position_exclude_inputs(corpus: Path) -> None:
    lists = [
        tvmdbg.open(corpus / f"tvm/resnet20_cifar{each}/time_list.json")
        for each in ("", "_unfused")
    ]
    found = tvmdbg.compare_times(lists[0], lists[0])
    seconds = json.loads((corpus / "tvm/resnet20_cifar/time_list.json").read_text())
    assert len(found) == sum(1 for each in seconds if max(each) > 0)
    with pytest.raises(ValueError, match=r"by their places alone.*graph=lib\.get_graph_json"):
        tvmdbg.compare_times(*lists)


def test_loading_does_not_count_as_common_name() -> None:
    delegated = tvmdbg.open(case_dir("03d_xnnpack_two_outputs") / "etdump.etdp")
    portable = tvmdbg.open(case_dir("02_conv_portable") / "etdump.etdp")
    with pytest.raises(ValueError, match="No name is in both") as caught:
        tvmdbg.compare_times(delegated, portable)
    assert "Method::init" not in str(caught.value)
    assert "has 'delegate'" in str(caught.value)


def test_runs_without_common_names_suggest_next_step() -> None:
    a, b = opened([event("one", 0, 1)]), opened([event("two\n" * 99, 0, 1)])
    with pytest.raises(
        ValueError, match=r"No name is in both.*graph=lib\.get_graph_json"
    ) as caught:
        tvmdbg.compare_times(a, b)
    assert "\n" not in str(caught.value)
    assert "has 'one'; B, " in str(caught.value)
    assert len(str(caught.value)) < 500
    with pytest.raises(ValueError, match="No name is in both"):
        tvmdbg.compare_times(a, opened([event("one", 0, 1, "i")]))
