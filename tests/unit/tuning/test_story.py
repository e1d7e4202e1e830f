"""Generated logs: each scenario gets its own diagnosis."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tests.make.tuning_story import SCENARIOS, WEIGHTS, story
from tvmdbg_widgets.tuning import TuningLog, open_tuning

DIAGNOSES = {
    "fine": set(),
    "starved": {"build-starvation"},
    "slow_task": {"slow-compiling-task"},
    "unroll": {"unroll-bloat"},
    "dead_workers": {"dead-build-workers"},
    "burst": {"temporary-contention"},
    "run_timeouts": {"run-timeouts"},
    "no_schedule": {"no-valid-schedule", "frequent-errors"},
    "resumed": {"resumed-log"},
    "measured_again": {"duplicates", "resumed-log"},
    "copied": {"duplicates", "resumed-log"},
}


@cache
def opened(scenario: str, kind: str = "llvm", seed: int = 7) -> TuningLog:
    lines = story(scenario, kind=kind, seed=seed)
    return open_tuning("".join(lines).encode(), weights=WEIGHTS, progress=False)


def diagnosis(log: TuningLog) -> set[str]:
    assert log.parts.num_refused == 0
    return {each.rule for each in log.findings()}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scenario_gets_only_its_own_diagnosis(scenario: str) -> None:
    assert diagnosis(opened(scenario)) == DIAGNOSES[scenario]


def test_generated_log_has_rounds_of_64_trials() -> None:
    log = opened("fine")
    assert np.bincount(log.rounds).tolist() == [64] * 36
    assert [each.trials for each in opened("resumed").sessions] == [1152, 1152]
