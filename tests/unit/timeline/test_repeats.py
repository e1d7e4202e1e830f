"""Repeats of operators: where warm-up ends, and the repeats folded."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.timeline.times_truth import parts, timeline

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.analysis.timeline.repeat_matrix import (
    RepeatMatrix,
    repeat_matrix,
    why_no_repeats,
)
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.timeline.node_sets import node_statistics
from tvmdbg_widgets.model.timeline.warm_up import WarmUp, warm_up, without_first

STEADY = (1, 1.01, 0.99, 1, 1.02, 1, 0.98, 1)


def of(*totals: float, operators: int = 3) -> WarmUp:
    """Operators of 1, 2, 3 … µs that all follow the totals."""
    times = np.outer(np.arange(1, operators + 1) * 1000.0, totals)
    return warm_up(np.arange(0, times.size + 1, len(totals)), times.ravel())


@pytest.mark.parametrize(
    ("cut", "totals"),
    [
        (0, STEADY),
        (1, (1.6, 1, 1.01, 0.99)),
        (1, (1.2, *STEADY)),
        (2, (3, 1.5, *STEADY)),
        (4, (3, 2, 1.5, 1.2, 1.05, 1, 1, 1)),  # 1.05 is not beyond a tenth
        (10, (*[1.5] * 10, *STEADY, *STEADY)),
        (0, (1.09, *STEADY)),
        (0, (1, 1.6, 1, 1, 1)),  # in the middle
        (0, (10, 9, 8, 7, 6, 5, 4, 3)),  # a drift
        (0, (2, 2, 2, 2, 2, 1, 1, 1)),  # more than half
        (0, (1.6, 1, 1.6, 1, 1.6, 1, 1.6, 1)),  # as often later
        (1, (2, *[1] * 60, 2.5, *[1] * 10)),  # one slow one among many is chance
        (0, (1.6, 1, 1)),
        (0, (1, 1)),
    ],
)
def test_warm_up_cut_follows_slow_first_repeats(cut: int, totals: tuple[float, ...]) -> None:
    found = of(*totals)
    assert (found.cut, bool(found)) == (cut, cut > 0)
    np.testing.assert_allclose(found.totals, np.array(totals) * 6000)


def test_warm_up_reason_shows_its_numbers() -> None:
    assert of(1.6, 1, 1.01, 0.99, 1).why == (
        "the first of 5 repeats takes 1.60 times the median of the others; "
        "3 of 3 operators are slower in it than their median"
    )
    assert of(2, 2, *STEADY).why.startswith("the first 2 of 10 repeats take 2.00 times")
    assert "each of them" in of(2, 2, *STEADY).why
    assert of(*STEADY).why == (
        "no warm-up in 8 repeats: the first takes 1.00 times the median of the others"
    )
    assert "fewer than 4" in of(3, 1, 1).why
    assert "no repeats" in warm_up(np.zeros(3, np.int64), np.zeros(0)).why
    assert of(1.6, 1, 1, 1).inflated == pytest.approx(1.15)
    assert of(1.6, 1, 1, 1).to_json() == {
        "cut": 1,
        "why": of(1.6, 1, 1, 1).why,
        "totals": [9600.0, 6000.0, 6000.0, 6000.0],
    }


def test_operators_with_other_repeat_counts_are_left_out() -> None:
    offsets = np.array([0, 4, 4, 8, 10, 14])
    repeats = np.array([9, 1, 1, 1, 9, 1, np.nan, 1, 5, 5, 0, 0, 0, 0.0])
    found = warm_up(offsets, repeats)
    assert (found.cut, found.operators, found.totals.tolist()) == (1, 1, [9, 1, 1, 1])
    kept_offsets, kept = without_first(offsets, repeats, found.cut)
    assert kept_offsets.tolist() == [0, 3, 3, 6, 8, 11]
    np.testing.assert_array_equal(kept, [1, 1, 1, 1, np.nan, 1, 5, 5, 0, 0, 0])


columns = st.lists(st.lists(st.floats(0, 1e6), max_size=7), max_size=6)


@given(columns, st.integers(0, 4))
def test_without_first_matches_list_slicing(rows: list[list[float]], cut: int) -> None:
    offsets: npt.NDArray[np.int64] = np.concatenate(
        ([0], np.cumsum([len(r) for r in rows]))
    ).astype(np.int64)
    kept_offsets, kept = without_first(offsets, np.array([v for row in rows for v in row]), cut)
    most = max((len(row) for row in rows), default=0)
    expected = [row[cut:] if len(row) == most else row for row in rows]
    assert kept.tolist() == [v for row in expected for v in row]
    assert np.diff(kept_offsets).tolist() == [len(row) for row in expected]


def defined(times: npt.NDArray[np.float64]) -> int:
    """The cut as the module defines it, one candidate after the other."""
    operators, count = times.shape
    totals = times.sum(axis=0)
    for k in range(min(count // 2, count - 3), 0, -1):
        rest = totals[k:]
        usual = float(np.median(rest))
        spread = float(np.median(np.abs(rest - usual)))
        slow = totals > max(1.1 * usual, usual + 3 * 1.4826 * spread)
        each = (times[:, :k] > np.median(times[:, k:], axis=1)[:, None]).all(axis=1)
        ends = slow[:k].all() and not slow[k]
        if ends and slow[k:].mean() ** k <= 0.05 and each.sum() >= 2 / 3 * operators:
            return k
    return 0


levels = st.sampled_from((1.0, 1.0, 1.01, 1.02, 1.05, 1.1, 1.12, 1.2, 1.5, 2.0, 3.0))


@st.composite
def slow_at_first(draw: st.DrawFn) -> npt.NDArray[np.float64]:
    """Operators whose first repeats tend to be the slower the earlier they are."""
    rest = draw(st.lists(levels, min_size=3, max_size=40))
    first = sorted(draw(st.lists(levels, max_size=30)), reverse=True)
    totals = np.array([1.0 + each for each in first] + rest)
    times = np.outer(np.arange(1, draw(st.integers(1, 4)) + 1) * 1000.0, totals)
    for row, column in draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 69)), max_size=4)):
        times[row % len(times), column % len(totals)] = 1000.0
    return times


@given(slow_at_first())
def test_warm_up_cut_matches_its_definition(times: npt.NDArray[np.float64]) -> None:
    offsets = np.arange(0, times.size + 1, times.shape[1])
    assert warm_up(offsets, times.ravel()).cut == defined(times)


def test_warm_up_of_a_quarter_million_repeats() -> None:
    """Each of the first half falls below all before it, and none of them ends a warm-up."""
    half, quarter = 125_000, 62_500
    first = np.linspace(1.1004, 1.1, half) + 1e-7
    rest = np.concatenate([np.ones(quarter), np.linspace(1, 1.0004, half - quarter)])
    times = np.ones((3, 2 * half))
    times[0] = 100 * np.concatenate([first, rest]) - 2
    found = warm_up(np.arange(0, times.size + 1, 2 * half), times.ravel())
    assert (found.cut, found.operators) == (0, 3)


def test_the_timeline_shows_both_statistics() -> None:
    from tvmdbg_widgets.model.base.columns import StringColumn
    from tvmdbg_widgets.model.timeline.builders import from_table

    repeats = np.array([30.0, 10, 10, 10, 10, 10])
    line = from_table(
        StringColumn.from_strings(["a"]),
        [repeats.mean()],
        [0, 6],
        repeats,
        nodes=[0],
        trust=[0],
        num_nodes=1,
        source="table",
    )
    assert line.warm_up.cut == 1
    assert line.statistics().mean[0] == pytest.approx(80 / 6)
    assert (line.steady().mean[0], line.steady().n[0]) == (10, 5)
    assert line.node_ns[0] == pytest.approx(80 / 6)
    assert line.steady()[0] == node_statistics(np.array([0, 5]), repeats[1:], np.zeros(1))[0]


def matrix_of(ns: list[list[float]]) -> RepeatMatrix:
    column = np.array(ns)
    offsets = np.arange(0, column.size + 1, column.shape[1])
    names = [f"op {i}" for i in range(len(ns))]
    found = warm_up(offsets, column.ravel())
    return RepeatMatrix("t", np.arange(len(ns)), names, column, found)


def test_repeat_matrix_matches_debugger_times(corpus: Path) -> None:
    folder = corpus / "tvm" / "resnet20_cifar"
    seconds = json.loads((folder / "time_list.json").read_text())
    run = tvmdbg.open(folder)
    matrix = run.repeats()
    measured = [i for i, each in enumerate(seconds) if len(each) and max(each) > 0]
    rows = {node: row for row, node in enumerate(matrix.nodes.tolist())}
    for node in measured:
        expected = np.array(seconds[node]) * 1e9
        np.testing.assert_allclose(matrix.ns[rows[node]], expected, atol=0.51)
        np.testing.assert_allclose(
            matrix.relative[rows[node]], expected / np.median(expected), rtol=1e-3
        )
    totals = np.sum([np.array(seconds[node]) * 1e9 for node in measured], axis=0)
    np.testing.assert_allclose(matrix.totals, totals, atol=0.51 * len(measured))
    assert (matrix.nodes.tolist(), matrix.warm_up.cut) == (sorted(matrix.nodes.tolist()), 0)
    assert matrix.steady() is matrix
    assert "5 repeats" in repr(matrix)
    folded = matrix.folded()
    np.testing.assert_allclose(folded.p50, np.median(matrix.ns, axis=1))
    np.testing.assert_allclose(folded.start_ns[1:], np.cumsum(folded.p50)[:-1])
    assert folded.total_ns == pytest.approx(folded.p50.sum())
    assert "medians back to back" in folded.said


def test_missing_repeats_and_zero_medians_have_nan_ratio() -> None:
    matrix = matrix_of([[4, 2, 2, 2], [3, np.nan, 1, 1], [0, 0, 0, 0]])
    np.testing.assert_array_equal(matrix.relative[0], [2, 1, 1, 1])
    np.testing.assert_array_equal(matrix.relative[1], [3, np.nan, 1, 1])
    assert np.isnan(matrix.relative[2]).all()
    assert matrix.totals.tolist() == [4, 2, 2, 2]
    assert matrix.to_dataframe()["repeat_0_ns"].tolist() == [4, 3, 0]
    folded = matrix.folded()
    assert (folded.p50.tolist(), folded.start_ns.tolist()) == ([2, 1, 0], [0, 2, 3])
    assert len(folded.to_dataframe()) == 3


def test_warm_up_is_shown_and_removed_only_by_steady() -> None:
    matrix = matrix_of([[30, 10, 10, 10, 11], [60, 20, 20, 20, 20]])
    assert (matrix.warm_up.cut, matrix.repeats, matrix.steady().repeats) == (1, 5, 4)
    assert matrix.steady().ns[:, 0].tolist() == [10, 20]
    assert matrix.steady().totals.tolist() == [30, 30, 30, 31]
    assert "the first of 5 repeats takes 3.00 times" in repr(matrix)
    assert matrix.folded().p50.tolist() == [10, 20]


def test_operator_with_few_repeats_keeps_them_without_the_warm_up() -> None:
    rest = [np.nan] * 3
    matrix = matrix_of([[30, 10, 10, 10], [60, 20, 20, 20], [5, *rest], [np.nan, 7, *rest[1:]]])
    steady = matrix.steady()
    assert (matrix.warm_up.cut, steady.repeats) == (1, 3)
    np.testing.assert_array_equal(steady.ns[2:], [[5, *rest[1:]], [7, *rest[1:]]])
    assert steady.folded().total_ns == 42


def with_repeats(*rows: list[float]) -> RunParts:
    given = timeline([(i, 1, 0, 0) for i in range(len(rows))])
    own = np.arange(len(rows), dtype=np.int32)
    return parts(
        replace(
            given,
            slice_node=own,
            repeats_offsets=np.cumsum([0, *map(len, rows)]),
            repeats_ns=np.concatenate(rows),
            node_ns=np.array([np.mean(row) for row in rows]),
            node_trust=np.zeros(len(rows), np.uint8),
        )
    )


def test_matrix_has_the_repeats_of_its_operators_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    run = with_repeats([1.0, 2.0], [3.0, 4.0], [0.0] * 9)
    found = repeat_matrix(run)
    assert (found.ns.shape, found.totals.tolist()) == ((2, 2), [4, 6])
    uneven = with_repeats(*[[1.0]] * 30, [2.0] * 90)
    assert repeat_matrix(uneven).ns.shape == (31, 90)
    monkeypatch.setattr("tvmdbg_widgets.analysis.timeline.repeat_matrix._MOST_CELLS", 100)
    assert why_no_repeats(uneven).startswith("31 operators of up to 90 repeats: too many for a")
    assert why_no_repeats(with_repeats(*[[1.0, 2.0]] * 200)) == ""


def test_run_without_repeats_raises_error_with_reason(corpus: Path) -> None:
    with pytest.raises(ValueError, match="no trace"):
        repeat_matrix(parts(None))
    run = parts(timeline([(0, 1, 0, 0), (2, 0, 0, 0), (2, 3, 0, 1)]))
    assert "occurs once" in why_no_repeats(run)
    with pytest.raises(ValueError, match=r"time_list\.json"):
        repeat_matrix(run)
    with pytest.raises(ValueError, match="measured once"):
        tvmdbg.open(corpus / "tvm" / "resnet20_cifar_v0.6").repeats()


def test_trace_rows_group_slices_by_name() -> None:
    found = repeat_matrix(
        parts(timeline([(0, 3, 0, 1), (5, 2, 0, 1), (9, 0, 0, 1), (4, 1, 0, 0), (12, 4, 1, 1)]))
    )
    assert found.of_slices
    assert (list(found.names), found.nodes.tolist()) == (["f1", "f0"], [-1, -1])
    np.testing.assert_array_equal(found.ns, [[30, 20, 40], [10, np.nan, np.nan]])
    assert len(found.totals) == 0
    assert "2 names with up to 3 slices each" in repr(found)
    assert "f1: 30.00 ns (22.00 ns … 38.00 ns)" in repr(found.folded())


def test_report_without_calls_raises_error_naming_time_list(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/edge_cases/v0.19/reports")
    assert run.timeline.num_slices == 0
    with pytest.raises(ValueError, match=r"No times are in .*time_list\.json"):
        run.repeats()
