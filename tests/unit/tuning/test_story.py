"""Generated logs: legal schedules, and each scenario its own diagnosis."""

from __future__ import annotations

import json
import math
import random
from functools import cache

import numpy as np
import pytest

from tests.make.story.schedules import Space, conv, matmul
from tests.make.tuning_story import SCENARIOS, WEIGHTS, story
from tests.unit.tuning.printed_states import dag, read_steps
from tvmdbg_widgets.analysis.tuning.hardware_limits import threads_per_block
from tvmdbg_widgets.analysis.tuning.schedules.replaying import replay
from tvmdbg_widgets.tuning import TuningLog, open_tuning

WORKS = [matmul(64, 96, 48, 1), conv(14, 32, 16, 1)]
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


@pytest.mark.parametrize("kind", ["llvm", "cuda"])
@pytest.mark.parametrize("work", WORKS, ids=lambda work: work.name)
def test_schedules_are_legal(work: object, kind: str) -> None:
    space, rng = Space(work, kind), random.Random(3)  # type: ignore[arg-type]
    made = space.sample(rng)
    for trial in range(150):
        made = space.sample(rng) if trial % 3 == 0 else space.mutate(rng, made)
        steps = read_steps(space.steps(made))
        state = replay(dag(space.work.key), steps)
        for stage in state.stages:
            assert all(each.extent is None or each.extent >= 1 for each in stage.iterators)
        output = math.prod(each.extent or 0 for each in state.stages[-1].iterators)
        assert output == math.prod(space.work.spatial)
        if kind == "cuda":
            assert threads_per_block(steps) == space.threads(made)


def test_recorded_extents_of_original_axes_are_true() -> None:
    for line in story("fine", rounds=8):
        (key, *_), (_, steps) = json.loads(line)["i"]
        args = json.loads(key)[1:]
        sizes = args[:3:2] if "matmul" in key else [1, args[3], args[1], args[2]]
        splits = [step for step in steps if step[0] == "SP"]
        assert [step[3] for step in splits[: len(sizes)]] == sizes
        assert all(step[3] % math.prod(step[4]) == 0 for step in splits)


def diagnosis(log: TuningLog) -> set[str]:
    assert log.parts.num_refused == 0
    return {each.rule for each in log.findings()}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scenario_gets_only_its_own_diagnosis(scenario: str) -> None:
    assert diagnosis(opened(scenario)) == DIAGNOSES[scenario]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["llvm", "cuda"])
@pytest.mark.parametrize("seed", range(1, 6))
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_diagnoses_do_not_depend_on_the_seed(scenario: str, seed: int, kind: str) -> None:
    assert diagnosis(opened(scenario, kind, seed)) == DIAGNOSES[scenario]


def test_generated_log_has_rounds_of_64_trials() -> None:
    log = opened("fine")
    assert np.bincount(log.rounds).tolist() == [64] * 36
    assert [each.trials for each in opened("resumed").sessions] == [1152, 1152]


def test_generated_results_follow_tvm_conventions() -> None:
    for scenario in ("starved", "dead_workers", "run_timeouts"):
        trials = opened(scenario).trials
        assert set(trials.all_cost[trials.error == 6]) <= {15.0}
        assert set(trials.all_cost[trials.error == 2]) <= {15.0}
        assert (trials.all_cost[trials.error == 4] >= 10).all()
        assert (np.diff(trials.timestamp) >= 0).all()
        assert (trials.timestamp == np.floor(trials.timestamp)).all()


@pytest.mark.parametrize("kind", ["llvm", "cuda"])
def test_best_costs_fall_over_the_story(kind: str) -> None:
    curve = opened("fine", kind).curve()
    known = curve.best[~np.isnan(curve.best)]
    assert (np.diff(known) <= 0).all()
    assert known[-1] < known[0] * 0.75
    assert len(curve.steps) > 20


def test_story_is_deterministic() -> None:
    assert story("starved", rounds=3) == story("starved", rounds=3)
    assert story("starved", rounds=3) != story("starved", rounds=3, seed=8)
