import statistics
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from formats.tvm.times_truth import Case, corpus_cases, own_cases
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.formats.tvm.table import DebuggerTable, read_tables
from tvmdbg_widgets.formats.tvm.trace import read_trace
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import Trust, duration_text, time_share
from tvmdbg_widgets.model.timeline.builders import from_table, from_trace
from tvmdbg_widgets.model.timeline.kinds import combine
from tvmdbg_widgets.model.timeline.node_sets import node_statistics
from tvmdbg_widgets.model.timeline.timeline import Timeline
from tvmdbg_widgets.sources.file_source import FileSource


def trace_of(case: Case) -> Timeline:
    trace = read_trace(FileSource(case.trace))
    count = len(trace)
    return from_trace(
        trace.names,
        trace.start_ns,
        trace.duration_ns,
        nodes=np.arange(count),
        trust=np.full(count, Trust.BY_ORDER),
        num_nodes=count,
        source="trace",
    )


def table_of(case: Case) -> tuple[DebuggerTable, Timeline]:
    """The table joined by the order TVM sorts in, known from the time list."""
    second = case.folder / "run2_stdout.txt"
    path = second if second.exists() else case.folder / "run_stdout.txt"
    table = read_tables(FileSource(path))[-1]
    seconds = case.node_seconds
    rows = [index for index, node in case.timed_nodes() for _ in node.shapes]
    rows.sort(key=lambda index: case.printed_us(seconds[index]), reverse=True)
    offsets, repeats = table.repeats()
    timeline = from_table(
        table.names,
        table.time_ns,
        offsets,
        repeats,
        nodes=rows,
        trust=np.full(len(rows), Trust.BY_NAME),
        num_nodes=len(case.names),
        source="table",
    )
    return table, timeline


def check_case(case: Case) -> None:
    table, printed = table_of(case)
    traced = trace_of(case)
    both = combine(traced, printed, rounding_ns=table.rounding_ns)
    assert not both.issues
    truth = np.array(case.node_seconds) * 1e9
    close = {"rtol": 1e-9, "atol": 1e-6}
    np.testing.assert_allclose(both.node_ns, truth, **close)
    assert both.total_ns == pytest.approx(truth.sum(), rel=1e-9)
    assert both.span_ns == pytest.approx(truth.sum(), rel=1e-9)
    assert np.nansum(printed.node_ns) == pytest.approx(truth.sum(), abs=0.51 * len(truth))
    for index, node in case.timed_nodes():
        repeats = np.array(node.times_s) * 1e9
        np.testing.assert_allclose(both.repeats(index), repeats, atol=0.501)
        times = both.node(index)
        assert times.n == len(repeats)
        assert times.mean == pytest.approx(repeats.mean(), abs=0.501)
        if len(repeats) > 1:
            assert times.sd == pytest.approx(statistics.stdev(repeats), abs=1.1)
    operators = {index for index, _ in case.timed_nodes()}
    for index in set(range(len(truth))) - operators:
        assert (both.node_ns[index], len(both.repeats(index))) == (0, 0)
        assert printed.node_trust[index] == Trust.ABSENT
        assert np.isnan(printed.node_ns[index])


def test_trace_and_table_of_one_run_agree(data: Path) -> None:
    for case in own_cases(data):
        check_case(case)


def test_trace_and_table_of_one_run_agree_in_the_corpus(corpus: Path) -> None:
    for case in corpus_cases(corpus):
        check_case(case)


def test_timeline_repr_lists_slices_time_and_repeats(corpus: Path) -> None:
    case = Case(corpus / "tvm" / "resnet20_cifar", "v0.19")
    both = combine(trace_of(case), table_of(case)[1], rounding_ns=0.5)
    total = sum(case.node_seconds) * 1e3
    assert repr(both) == (
        f"Timeline: 72 slices on 1 track, {total:.2f} ms summed over nodes; "
        "synthetic (nodes back to back); 5 repeats per operator"
    )


def column(*texts: str) -> StringColumn:
    return StringColumn.from_strings(texts)


def table(nodes: Sequence[int], times: Sequence[float], **more: object) -> Timeline:
    count = len(nodes)
    arguments = {
        "nodes": nodes,
        "trust": np.zeros(count),
        "num_nodes": max(4, count),
        "source": "table.txt",
    } | more
    names = column(*(f"n{node}" for node in nodes))
    return from_table(names, times, np.arange(count + 1), times, **arguments)


def test_a_disagreement_gives_both_numbers() -> None:
    traced = from_trace(
        column("n0", "n1"),
        [0, 5000],
        [5000, 4000],
        nodes=[0, 1],
        trust=[0, 0],
        num_nodes=4,
        source="t.json",
    )
    assert not combine(traced, table([0, 1], [5000.5, 3999.5]), rounding_ns=0.5).issues
    beyond = combine(traced, table([0, 1, 2], [5000.6, 4000, 7]), rounding_ns=0.5)
    (issue,) = beyond.issues
    assert (issue.rule, issue.nodes) == ("times-disagree", (0,))
    assert "5 µs in t.json" in issue.message
    assert "5.0006 µs in table.txt" in issue.message
    assert beyond.node_ns.tolist()[:3] == [5000, 4000, 7]
    assert beyond.sources == ("t.json", "table.txt")
    assert "1 warning" in repr(beyond)


def test_rows_of_one_node_are_one_slice_and_count_once() -> None:
    line = table([2, 2, 2, 1, -1, -1], [30, 30, 30, 10, 5, 6])
    assert (line.total_ns, line.account.ns.tolist()) == (51, [10, 30, 11])
    assert (line.account.share.sum(), line.slice_node.tolist()) == (1, [1, 2, -1, -1])
    assert line.slice_start_ns.tolist() == [0, 10, 40, 45]
    assert line.synthetic
    assert not line.issues
    assert (line.repeats(2).tolist(), line.slices_of(2).tolist()) == ([30], [1])
    assert (line.slices_of(0).tolist(), line.slice(-1).node) == ([], -1)
    assert "no node" in repr(line.slice(3))
    differing = table([2, 2], [30, 31])
    assert (differing.issues[0].rule, differing.total_ns) == ("rows-disagree", 30)


def test_observed_starts_keep_their_gaps() -> None:
    line = table([0, 1, 2], [8, 9, 7], start_ns=[100, 120, 140], end_ns=[110, 130, np.nan])
    assert not line.synthetic
    assert (line.clock, line.slice_start_ns.tolist()) == ("wall", [0, 20])
    assert (line.slice_duration_ns.tolist(), line.node_ns.tolist()[:3]) == ([10, 10], [8, 9, 7])
    assert line.span_ns == 30
    assert "wall clock" in repr(line)
    with pytest.raises(ValueError, match="go together"):
        table([0], [1.0], start_ns=[0])


def test_several_slices_of_a_node_are_occurrences() -> None:
    line = from_trace(
        column("a", "b", "a", "a"),
        [0, 1000, 2000, 4000],
        [1000, 1000, 2000, np.nan],
        nodes=[0, 1, 0, 0],
        trust=[0, 3, 2, 0],
        num_nodes=3,
        source="t",
    )
    assert line.slice_occurrence.tolist() == [0, 0, 1]
    assert line.node_ns.tolist()[:2] == [1500, 1000]
    assert np.isnan(line.node_ns[2])
    assert line.node_trust.tolist() == [Trust.BY_NAME, Trust.AMBIGUOUS, Trust.ABSENT]
    assert [line.slice(int(i)).start_ns for i in line.slices_of(0)] == [0, 2000]
    assert (line.slice(2).end_ns, line.slice(2).name) == (4000, "a")


def test_columns_are_read_only_and_checked() -> None:
    line = table([0, 1], [1, 2])
    with pytest.raises(ValueError, match="read-only"):
        line.node_ns[0] = 3
    wrong = {
        "slice_start_ns": np.zeros(3),
        "slice_node": np.array([0, 9]),
        "slice_track": np.array([0, 1]),
        "slice_names": column("a"),
        "node_trust": np.zeros(1),
        "repeats_offsets": np.array([0, 2, 1, 2, 2]),
        "repeats_ns": np.zeros((2, 1)),
    }
    for name, value in wrong.items():
        with pytest.raises(ValueError):
            replace(line, **{name: value})
    with pytest.raises(ValueError, match="node ids"):
        table([4], [1.0])
    with pytest.raises(ValueError, match="nodes"):
        combine(line, table([0], [1.0], num_nodes=2), rounding_ns=0.5)
    for bad in (-1, 4):
        with pytest.raises(IndexError):
            line.node(bad)
        with pytest.raises(IndexError):
            line.repeats(bad)
    with pytest.raises(IndexError):
        line.slice(2)


def test_empty_timeline() -> None:
    line = from_trace(column(), [], [], nodes=[], trust=[], num_nodes=0, source="t")
    assert line.span_ns == 0
    assert np.isnan(line.total_ns)
    assert (len(line.statistics()), len(line.top())) == (0, 0)
    both = combine(line, table([], [], num_nodes=0), rounding_ns=0.5)
    assert not both.issues
    assert "0 slices on 1 track, unknown summed over nodes" in repr(both)
    assert "no repeats" in repr(both)


repeats = st.lists(st.floats(0, 1e9), max_size=9)


@given(st.lists(repeats, max_size=6))
def test_node_statistics_match_standard_library(nodes: list[list[float]]) -> None:
    offsets = np.concatenate(([0], np.cumsum([len(n) for n in nodes]))).astype(np.int64)
    values = np.array([v for n in nodes for v in n])
    result = node_statistics(offsets, values, np.full(len(nodes), 7.0))
    for index, node in enumerate(nodes):
        times = result[index]
        assert times.n == len(node)
        if not node:
            assert times.mean == 7.0
            assert np.isnan([times.min, times.p10, times.p50, times.p90, times.sd]).all()
            assert not times.noisy
            continue
        assert times.min == min(node)
        assert times.p50 == pytest.approx(statistics.median(node))
        assert times.mean == pytest.approx(statistics.fmean(node))
        if len(node) == 1:
            assert np.isnan(times.sd)
            assert times.p10 == times.p90 == node[0]
        else:
            assert times.sd == pytest.approx(statistics.stdev(node), abs=1e-6)
            tenths = statistics.quantiles(node, n=10, method="inclusive")
            assert times.p10 == pytest.approx(tenths[0])
            assert times.p90 == pytest.approx(tenths[-1])
        assert times.noisy == (len(node) >= 5 and times.p90 > 1.2 * times.p10)


def test_noise_needs_five_repeats_and_nan_is_left_out() -> None:
    offsets = np.array([0, 5, 9, 15])
    values = np.array([10, 10, 10, 10, 20.0, 10, 10, 10, 90, 10, 10, 10, np.nan, 10, 10])
    result = node_statistics(offsets, values, np.zeros(3))
    assert (result.n.tolist(), result.noisy.tolist()) == ([5, 4, 5], [True, False, False])
    assert "1 noisy" in repr(result)
    assert "noisy" in repr(result[0])


def test_ranking_is_stable_and_leaves_unknown_nodes_out() -> None:
    line = table(range(6), [1, 4, np.nan, 4, 1, 0.0])
    ranking = line.top(3)
    assert (ranking.nodes.tolist(), ranking.share.tolist()) == ([1, 3, 0], [0.4, 0.4, 0.1])
    assert table(range(3), [0, np.nan, 1]).top().nodes.tolist() == [2, 0]
    many = table(range(1000), [1.0, 2.0] * 500)
    assert many.top(None).nodes[:500].tolist() == list(range(1, 1000, 2))
    assert len(table([0], [np.nan]).top()) == 0
    assert np.isnan(table([0, 1], [0, 0]).top().share).all()
    with pytest.raises(ValueError, match="negative"):
        line.top(-1)
    line = table([0, 1], [30, 10])
    assert line.top(1).nodes.tolist() == [0]
    assert "node 0: 30.00 ns, 75.0 %" in repr(line.top())


def test_data_frames_need_pandas_only_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    line = table([0, 1], [1, 2])
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        line.to_dataframe()


def test_data_frames() -> None:
    pytest.importorskip("pandas")
    line = table([1, 0], [1, 2])
    frame = line.to_dataframe()
    assert (frame["name"].tolist(), frame["duration_ns"].tolist()) == (["n0", "n1"], [2, 1])
    assert frame["trust"].tolist() == ["exact", "exact"]
    assert line.statistics().to_dataframe()["n"].tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        *((0, "0 ns"), (39_882_100, "39.88 ms"), (523_400, "523.4 µs"), (999_960, "1.000 ms")),
        *((0.12344, "0.1234 ns"), (1e12, "1000 s"), (-5000, "-5.000 µs")),
        (float("nan"), "unknown"),
    ],
)
def test_durations_as_text(ns: float, text: str) -> None:
    assert duration_text(ns) == text


def test_zero_duration_is_shown_as_less_than_one_unit() -> None:
    assert [duration_text(ns, 1000) for ns in (0, 500, 1000)] == ["< 1 µs", "500.0 ns", "1.000 µs"]
    assert (time_share(0, 0, 1000), time_share(0, 0)) == ("< 1 µs", "0 ns, 0 %")
    assert time_share(1000, 0.25, 1000, " · ") == "1.000 µs · 25.0 %"
