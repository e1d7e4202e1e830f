"""Two logs compared: matched by hand, counted by hand."""

import json
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.tuning import ansor_lines

from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.tuning import TuningLog, open_tuning

CPU, GPU = "llvm -keys=cpu -mcpu=skylake", "cuda -keys=cuda,gpu -arch=sm_86"
WORK = '["work", 64]'


def line(
    split: int, cost: float | None, *, key: str = WORK, target: str = CPU, error: int = 6
) -> str:
    """One record whose schedule is told by one split factor; None fails."""
    failed = error if cost is None else 0
    return ansor_lines.line(key, target, [cost or 0.0], failed, split=split).decode()


def log_of(*lines: str) -> TuningLog:
    return open_tuning("\n".join([*lines, ""]).encode())


def test_schedules_match_by_workload_and_steps_across_targets() -> None:
    old = log_of(line(2, 1e-3), line(4, 2e-3), line(8, 3e-3), line(2, 9e-3, key='["other", 1]'))
    new = log_of(line(16, 1e-4, target=GPU), line(4, 2e-4, target=GPU), line(2, 3e-4, target=GPU))
    found = old.compare(new)
    (task,) = found.tasks
    assert (task.old.target.text, task.new.target.text) == (CPU, GPU)
    assert (found.pairs.old_row.tolist(), found.pairs.new_row.tolist()) == ([0, 1], [2, 1])
    assert found.pairs.old_cost.tolist() == [1e-3, 2e-3]
    assert found.pairs.new_cost.tolist() == [3e-4, 2e-4]
    assert (task.old_only, task.new_only, found.old_only, found.new_only) == (1, 1, 1, 0)
    assert (task.transferred, task.new_best) == (3e-4, 1e-4)
    assert task.regret == pytest.approx(2)
    assert task.ratio == pytest.approx((0.3 + 0.1) / 2)
    assert not task.correlation.is_known
    assert "unknown: fewer than 4 pairs" in repr(found)
    assert "only in the old log: 1 task, and 1 schedule of the common workloads" in repr(found)


def test_schedules_match_despite_spacing_and_old_keys() -> None:
    nested, flat = '["0123456789abcdef0123456789abcdef", [4, 8], [4]]', None
    flat = nested.replace("[4, 8], [4]", "4, 8, 4")
    tight = json.dumps(json.loads(line(2, 1e-3, key=flat)), separators=(",", ":"))
    found = log_of(line(2, 2e-3, key=nested)).compare(log_of(tight))
    assert (len(found.pairs), found.tasks[0].new_only) == (1, 0)


def test_repeated_measurements_count_with_their_mean() -> None:
    old = log_of(line(2, 1e-3), line(4, 1e-3), line(2, 3e-3), line(2, None), line(8, None))
    new = log_of(line(2, None, error=4), line(2, None, error=7), line(8, 1e-3), line(8, 2e-3))
    found = old.compare(new)
    assert found.pairs.old_cost.tolist() == pytest.approx([2e-3, math.nan], nan_ok=True)
    assert found.pairs.new_cost.tolist() == pytest.approx([math.nan, 1.5e-3], nan_ok=True)
    assert (found.pairs.old_error.tolist(), found.pairs.new_error.tolist()) == ([0, 6], [7, 0])
    assert (found.pairs.old_count.tolist(), found.pairs.new_count.tolist()) == ([3, 1], [2, 2])
    told = repr(found)
    assert "valid in the old log and failing in the new one: 1 RunTimeoutError" in told
    assert "failing in the old log and valid in the new one: 1" in told
    assert "2 schedules measured repeatedly: the mean counts" in told
    (task,) = found.tasks
    assert math.isinf(task.regret)
    assert "fails" in told
    frame = found.to_dataframe()
    assert frame.new_error.tolist() == ["RunTimeoutError", ""]
    assert frame.cost_s.tolist() == pytest.approx([2e-3, math.nan], nan_ok=True)


def test_slower_best_schedules_are_listed() -> None:
    old = log_of(*(line(2, 1e-3, key=f'["work", {n}]') for n in range(4)))
    costs = (1.04e-3, 1.2e-3, None, 0.5e-3)
    new = log_of(*(line(2, cost, key=f'["work", {n}]') for n, cost in enumerate(costs)))
    found = old.compare(new)
    assert [each.old.index for each in found.slower_by(0)] == [0, 1, 2]
    assert [each.old.index for each in found.slower_by(0.05)] == [1, 2]
    assert not new.compare(log_of(line(2, 1e-3, key='["work", 2]'))).slower_by(0)


def test_comparison_reports_logs_without_common_schedule() -> None:
    found = log_of(line(2, 1e-3)).compare(log_of(line(2, 1e-3, key='["x"]')))
    assert "no schedule is in both logs" in repr(found)
    assert found._repr_html_()
    assert len(found.to_dataframe()) == 0
    assert not found.failing


def test_names_of_logs_are_shown_as_text() -> None:
    log = log_of(line(2, 1e-3, key='["<b>\\nx", 1]'))
    told = log.compare(log)
    assert "<b>\\n" in repr(told)
    assert "<b>" not in told._repr_html_()


def test_only_logs_are_compared() -> None:
    with pytest.raises(TypeError, match="compare takes a tuning log, found str"):
        log_of(line(2, 1e-3)).compare("new.json")  # type: ignore[arg-type]


trials = st.lists(
    st.tuples(
        st.integers(0, 2), st.integers(1, 6), st.none() | st.sampled_from([1e-3, 2e-3, 5e-3])
    ),
    min_size=1,
    max_size=25,
)


def grouped(rows: list[tuple[int, int, float | None]]) -> dict[tuple[int, int], list[Any]]:
    found: dict[tuple[int, int], list[Any]] = {}
    for task, split, cost in rows:
        found.setdefault((task, split), []).append(cost)
    return found


@given(trials, trials)
def test_comparison_pairs_match_direct_count(
    old: list[tuple[int, int, float | None]], new: list[tuple[int, int, float | None]]
) -> None:
    logs = [
        log_of(*(line(split, cost, key=f'["work", {task}]') for task, split, cost in rows))
        for rows in (old, new)
    ]
    found = logs[0].compare(logs[1])
    before, after = grouped(old), grouped(new)
    names = [json.loads(each.workload_key)[1] for each in logs[0].tasks]
    keys = [names[each] for each in found.pairs.old_task.tolist()]
    expected = sorted(before.keys() & after.keys())
    assert sorted(keys) == [task for task, _ in expected]
    valid = [
        (
            np.mean([each for each in before[key] if each]),
            np.mean([each for each in after[key] if each]),
        )
        for key in expected
        if any(before[key]) and any(after[key])
    ]
    ours = found.pairs.take(np.flatnonzero(found.pairs.valid))
    measured = zip(ours.old_cost.tolist(), ours.new_cost.tolist(), strict=True)
    assert np.sort(np.array(list(measured)).reshape(-1, 2), 0) == pytest.approx(
        np.sort(np.array(valid).reshape(-1, 2), 0)
    )
    lost = sum(any(before[key]) and not any(after[key]) for key in expected)
    assert found.failing == (Counter({MeasureError.BUILD_TIMEOUT: lost}) if lost else Counter())
    for each in found.tasks:
        size = json.loads(each.old.workload_key)[1]
        assert each.old_only == sum(key[0] == size and key not in after for key in before)
        if each.top is not None:
            assert 0 <= each.top[0] <= each.top[1] <= 10


def test_one_schedule_alone_has_no_regret() -> None:
    log = log_of(line(2, 1e-3))
    assert math.isnan(log.compare(log).tasks[0].regret)
    assert log.compare(log_of(line(2, 2e-3), line(4, 4e-3))).tasks[0].regret == 0


def test_costs_of_0_give_no_ratio() -> None:
    log = log_of(*(line(2**at, 0.0) for at in range(1, 7)))
    found = log.compare(log)
    (task,) = found.tasks
    assert math.isnan(task.regret)
    assert math.isnan(task.ratio)
    assert found.to_dataframe()["ratio"].isna().all()
    assert "unknown" in repr(found)


def test_one_workload_for_very_many_targets_is_refused() -> None:
    log = log_of(*(line(2, 1e-3, target=f"llvm -mcpu={n}") for n in range(330)))
    with pytest.raises(ValueError, match="one workload for very many targets"):
        log.compare(log)
