"""Curves, rounds, sessions and gains against loops that take one record at a time."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.tuning.hand_made import Row, failed, parts_of, trials_of
from tvmdbg_widgets.analysis.tuning.curves import best_costs, best_so_far, gains, round_of, total
from tvmdbg_widgets.analysis.tuning.links import task_table
from tvmdbg_widgets.analysis.tuning.sessions import elapsed, seconds_text, session_of, sessions

TASKS = 4
some_rows = st.lists(
    st.builds(
        lambda task, cost: failed(task) if cost is None else Row(task, cost),
        st.integers(0, TASKS - 1),
        st.none() | st.floats(1e-7, 10),
    ),
    max_size=60,
)


def same(found: Any, expected: list[float]) -> bool:
    return bool(np.array_equal(found, np.array(expected, np.float64), equal_nan=True))


@given(some_rows)
def test_the_rows_of_all_tasks_are_found_by_one_sort(rows: list[Row]) -> None:
    trials = trials_of(rows)
    found = [trials.of_task(task) for task in range(TASKS + 1)]
    for task, each in enumerate(found):
        assert each.tolist() == [row for row, of in enumerate(rows) if of.task == task]
    assert len({id(each.base) for each in found}) == 1
    assert len(trials.of_task(-1)) == 0


@given(some_rows)
def test_best_so_far_is_the_running_minimum_per_task(rows: list[Row]) -> None:
    best: dict[int, float] = {}
    expected = []
    for row in rows:
        if row.cost is not None:
            best[row.task] = min(best.get(row.task, math.inf), row.cost)
        expected.append(best.get(row.task, math.nan))
    trials = trials_of(rows)
    assert same(best_so_far(trials), expected)
    assert same(best_costs(trials, TASKS), [best.get(task, math.nan) for task in range(TASKS)])


@given(some_rows, st.none() | st.lists(st.floats(0, 50), min_size=TASKS, max_size=TASKS))
def test_total_matches_weighted_sum_over_tasks_at_every_row(
    rows: list[Row], weights: list[float] | None
) -> None:
    best = [math.nan] * TASKS
    expected = []
    for row in rows:
        if row.cost is not None and not best[row.task] <= row.cost:
            best[row.task] = row.cost
        so_far = 0.0
        for weight, cost in zip(weights or [1.0] * TASKS, best, strict=True):
            so_far += weight * cost
        expected.append(so_far)
    found = total(trials_of(rows), TASKS, weights)
    assert same(found, expected)
    if rows:
        table = task_table(parts_of([*rows, failed(TASKS - 1)]), weights)
        assert same(found[-1:], [table.total])


def blocks(*pairs: tuple[int, int]) -> list[Row]:
    return [Row(task) for task, count in pairs for _ in range(count)]


@pytest.mark.parametrize(
    ("pairs", "lengths"),
    [
        ([(0, 64), (1, 64), (0, 128)], [64, 64, 64, 64]),
        ([(0, 200)], [64, 64, 64, 8]),
        ([(0, 10), (1, 10), (2, 10), (0, 20)], [10, 10, 10, 10, 10]),
        ([(0, 64), (1, 40), (2, 64), (0, 64)], [64, 40, 64, 64]),
        ([(0, 3), (1, 5)], [3, 5]),
        ([], []),
    ],
)
def test_rounds_end_at_task_change_or_when_full(
    pairs: list[tuple[int, int]], lengths: list[int]
) -> None:
    found = round_of(trials_of(blocks(*pairs)))
    assert found.dtype == np.int32
    assert np.bincount(found, minlength=len(lengths)).tolist() == lengths
    assert (np.diff(found) >= 0).all()


def test_a_new_session_and_a_new_file_begin_new_rounds() -> None:
    first = [Row(0, timestamp=1000.0 + i) for i in range(40)]
    later = [Row(0, timestamp=90_000.0 + i) for i in range(64)]
    other = [Row(0, timestamp=90_100.0 + i, source=1) for i in range(30)]
    trials = trials_of([*first, *later, *other])
    assert np.bincount(round_of(trials)).tolist() == [40, 64, 30]
    assert np.bincount(session_of(trials)).tolist() == [40, 94]


def test_slow_trial_is_not_a_session_gap() -> None:
    rows = [Row(timestamp=0.0), Row(timestamp=700.0, all_cost=690.0), Row(timestamp=1500.0)]
    assert session_of(trials_of(rows)).tolist() == [0, 0, 1]


def test_elapsed_time_excludes_gaps_between_sessions() -> None:
    stamps = [100.0, 103.0, 103.0, 5000.0, 5001.0, 4999.0, 5004.0]
    trials = trials_of([Row(timestamp=each) for each in stamps])
    first, second = sessions(trials)
    assert (first.trials, first.seconds, second.trials, second.seconds) == (3, 3.0, 4, 5.0)
    assert second.gap == 4896.0
    assert elapsed(trials).tolist() == [0, 3, 3, 4, 5, 5, 8]


def test_older_records_after_newer_ones_start_a_session() -> None:
    trials = trials_of([Row(timestamp=each) for each in (9000.0, 9001.0, 10.0, 12.0)])
    assert session_of(trials).tolist() == [0, 0, 1, 1]
    assert elapsed(trials).tolist() == [0, 1, 1, 3]


def test_records_without_times_hide_no_pause() -> None:
    trials = trials_of([Row(timestamp=each) for each in (100.0, math.nan, 9000.0, 9001.0)])
    assert session_of(trials).tolist() == [0, 0, 1, 1]
    assert same(elapsed(trials), [0, math.nan, 0, 1])


def test_elapsed_time_is_unknown_without_timestamps() -> None:
    trials = trials_of([Row(timestamp=math.nan)] * 3)
    assert np.isnan(elapsed(trials)).all()
    assert session_of(trials).tolist() == [0, 0, 0]
    assert sessions(trials_of([])) == ()


@given(
    st.lists(st.tuples(st.integers(0, 2), st.none() | st.floats(1e-6, 1)), min_size=1, max_size=14),
    st.lists(st.floats(0.5, 9), min_size=3, max_size=3),
)
def test_gradients_match_task_scheduler_formula(
    rounds: list[tuple[int, float | None]], weights: list[float]
) -> None:
    rows = [
        failed(task) if cost is None else Row(task, cost)
        for task, cost in rounds
        for _ in range(64)
    ]
    history: list[list[float]] = [[], [], []]
    best = [1e10, 1e10, 1e10]
    for task, cost in rounds:
        best[task] = min(best[task], 1e10 if cost is None else cost)
        history[task].append(best[task])
    expected = []
    for task in range(3):
        count = len(history[task])
        if not count:
            expected.append(0.0)
            continue
        fell = (history[task][-1] - history[task][-4]) / 3 if count >= 4 else 0.0
        ahead = best[task] - best[task] / count - best[task]
        expected.append(weights[task] * (0.2 * fell + 0.8 * ahead))
    found = gains(trials_of(rows), 3, weights)
    assert found.gradient.tolist() == pytest.approx(expected, rel=1e-12)
    assert found.rounds.tolist() == [len(each) for each in history]
    assert found.gradient[found.order].tolist() == sorted(found.gradient.tolist())
    failing = [best[task] == 1e10 and bool(history[task]) for task in range(3)]
    assert all(np.isnan(found.gain[task]) for task in range(3) if failing[task])


def test_times_beyond_all_calendars_are_short() -> None:
    assert [seconds_text(each) for each in (15.0, 750.0, 1.7e308)] == [
        *("15 s", "12.5 min", "1.96759e+303 days"),
    ]
