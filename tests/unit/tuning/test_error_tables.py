"""Counts of errors against counting one record at a time."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.tuning.hand_made import Row, failed, parts_of, trials_of
from tvmdbg_widgets.analysis.tuning.error_tables import error_table, glyph_counts, wasted_seconds
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.tuning.log import TuningLog

MIXED = [
    *(Row(0, 2e-3, unroll=0), failed(0, 6, unroll=512), failed(1, 4, 10.4, unroll=64)),
    *(failed(1, 4, 1.5, unroll=64), Row(1, 1e-3, unroll=64), failed(1, 7, 11.0)),
    *(failed(0, 1, 0.2, unroll=0), failed(0, 3, 2.0, unroll=0), failed(0, 6, unroll=512)),
]


def log(rows: list[Row] = MIXED, **more: object) -> TuningLog:
    return TuningLog(parts_of(rows, **more))  # type: ignore[arg-type]


def test_errors_by_task() -> None:
    table = log().errors_by("task")
    assert table.labels == ("0: work 0", "1: work 1")
    assert (table.trials.tolist(), table.valid.tolist()) == ([5, 4], [1, 1])
    assert table.kinds == (
        *("InstantiationError", "CompileDeviceError", "RuntimeDeviceError, probably run timeout"),
        *("RuntimeDeviceError, fast failure", "BuildTimeoutError", "RunTimeoutError"),
    )
    assert table.counts.tolist() == [[1, 1, 0, 0, 2, 0], [0, 0, 1, 1, 0, 1]]
    assert table.count("BuildTimeoutError").tolist() == [2, 0]
    assert table.count("WrongAnswerError").tolist() == [0, 0]
    assert (table.wasted_seconds.tolist(), table.seconds.tolist()) == ([30.0, 0.0], [34.2, 24.9])


def test_errors_by_unroll_label_trials_without_unroll() -> None:
    table = log().errors_by("unroll")
    assert table.keys.tolist() == [-1, 0, 64, 512]
    assert (table.labels, table.trials.tolist()) == (("none set", "0", "64", "512"), [1, 3, 3, 2])


@pytest.mark.parametrize(
    ("by", "trials"),
    [
        *(("task", {0: 2, 1: 1}), ("round", {0: 1, 1: 1, 2: 1}), ("session", {0: 3})),
        *(("unroll", {64: 1, 512: 2}), ("threads", {0: 3})),
    ],
)
def test_errors_of_selected_trials_keep_the_log_groups(by: Any, trials: dict[int, int]) -> None:
    table = log().errors_by(by, [1, 4, 8])
    assert dict(zip(table.keys.tolist(), table.trials.tolist(), strict=True)) == trials
    assert (table.kinds, table.counts.sum(), table.valid.sum()) == (("BuildTimeoutError",), 2, 1)
    assert log().errors_by(by, []).trials.sum() == 0


def test_cpu_trials_are_grouped_as_no_gpu() -> None:
    table = log().errors_by("threads")
    assert (table.labels, table.trials.tolist()) == (("no GPU",), [9])


def test_unknown_error_grouping_lists_known_ones() -> None:
    with pytest.raises(ValueError, match="no errors by 'color'; known: 'task', 'round'"):
        log().errors_by("color")  # type: ignore[arg-type]


def test_error_table_as_text_html_and_frame() -> None:
    table = log().errors_by("task")
    title, heads, first, *_ = repr(table).splitlines()
    assert title == "Errors of 9 trials by task"
    assert heads.split("  ")[0] == "task"
    assert first.split() == ["0:", "work", "0", "5", "20.0", "%", "1", "1", "2"]
    assert "<td>2</td>" in table._repr_html_()
    frame = table.to_dataframe()
    assert list(frame["task"]) == ["0: work 0", "1: work 1"]
    assert list(frame["BuildTimeoutError"]) == [2, 0]


def test_glyph_counts_match_console_glyphs() -> None:
    shown = glyph_counts(trials_of(MIXED))
    assert shown == {".": 6, ".E": 1, ".T": 2, "*": 2, "*E": 3, "*T": 1}


@given(
    st.lists(
        st.tuples(
            st.integers(0, 3), st.sampled_from(list(MeasureError)), st.sampled_from([0.25, 10, 15])
        )
    )
)
def test_every_trial_is_counted_once(rows: list[tuple[int, MeasureError, float]]) -> None:
    given_rows = [
        failed(task, error, seconds) if error else Row(task, 1.0, all_cost=seconds)
        for task, error, seconds in rows
    ]
    trials = trials_of(given_rows)
    table = error_table(trials, "task", trials.task)
    by_task = Counter(task for task, _, _ in rows)
    assert dict(zip(table.keys.tolist(), table.trials.tolist(), strict=True)) == by_task
    assert (table.valid + table.counts.sum(axis=1) == table.trials).all()
    for error in MeasureError:
        named = [kind for kind in table.kinds if kind.split(",")[0] == error.label]
        counted = sum(int(table.count(kind).sum()) for kind in named)
        assert counted == sum(each is error for _, each, _ in rows if error)
    assert wasted_seconds(trials) == sum(table.wasted_seconds.tolist())
    assert wasted_seconds(trials) == sum(s for _, e, s in rows if e is MeasureError.BUILD_TIMEOUT)


def test_the_task_table_agrees_with_the_curve() -> None:
    rows = [Row(0, 2e-3), failed(1), Row(1, 4e-3), Row(0, 1e-3), Row(1, 3e-3), failed(0, 4, 1.0)]
    table = log(rows).task_table([3.0, 0.5])
    assert table.best.tolist() == [1e-3, 3e-3]
    assert table.total == log(rows).curve(weights=[3.0, 0.5]).last == 3.0 * 1e-3 + 0.5 * 3e-3
    assert table.share.tolist() == pytest.approx([2 / 3, 1 / 3])
    assert table.gains.rounds.tolist() == [3, 3]
    assert log(rows).curve(1).last == table.best[1]
    assert log(rows).effective_trials == int(table.errors.valid.sum()) == 4
    assert log(rows).wasted_seconds == float(table.errors.wasted_seconds.sum()) == 15.0
    assert repr(table).splitlines()[0] == "2 tasks, estimated total latency 4.500 ms (weighted sum)"
    frame = table.to_dataframe()
    assert (list(frame["best"]), list(frame["gain"])) == ([1e-3, 3e-3], table.gains.gain.tolist())


def test_a_task_without_a_valid_trial_has_no_share_and_no_total() -> None:
    table = log([Row(0, 2e-3), failed(1)]).task_table()
    assert np.isnan(table.total)
    assert table.share.tolist()[0] == 1.0
    assert np.isnan(table.share[1])
    assert "unknown (unweighted sum: weights are not in the log)" in repr(table)
    assert np.isnan(log([failed(0)]).task_table().share).all()


def test_curve_repr_summarizes_trials() -> None:
    rows = [Row(0, 4e-3), failed(0), Row(0, 2e-3), Row(0, 3e-3)]
    curve = log(rows).curve(0)
    assert repr(curve) == (
        "Curve of work 0: 4 trials, 2.000 ms, reached after 3 trials; "
        "25.0 % of the trials have no measurement"
    )
    assert (curve.steps.tolist(), curve.reached, curve.lost) == ([0, 2], 3, 0.25)
    assert curve.seconds.tolist() == [0, 1, 2, 3]
    assert list(curve.to_dataframe()["trial"]) == [1, 2, 3, 4]
    with pytest.raises(IndexError, match="there is no task 1; the log has 1 task"):
        log(rows).curve(1)


def test_an_empty_log_has_empty_tables() -> None:
    empty = log([])
    assert (len(empty.task_table()), len(empty.errors_by("round"))) == (0, 0)
    assert (len(empty.curve()), empty.sessions, len(empty.findings())) == (0, (), 0)
    assert "Errors of 0 trials" in repr(empty.errors_by("unroll"))
    assert repr(empty.curve()) == "Curve of the sum over tasks: 0 trials, unknown"
