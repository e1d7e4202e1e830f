"""What the rules say of real logs, judged by hand (docs/tuning_rules.md), and of generated ones."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.make.tuning_report import log_files
from tests.make.tuning_story import SCENARIOS, WEIGHTS, story
from tvmdbg_widgets.model.findings import Confidence, Severity
from tvmdbg_widgets.tuning import TuningLog, open_tuning

#: Rules that say something of a log, by the end of its name; all other logs are best records only.
VERDICTS = {
    "MHA4-B128-int8.json": {"build-starvation"},
    "autotvm-bert.stage1.log.tmp": {"build-starvation"},
    "2080ti-bert-B1.json": {"few-failures"},
    "t4-bert-B1.v0.5.json": {"few-failures"},
    "t4-all-runtimeout.v0.4.json": {"no-valid-schedule", "run-timeouts"},
    "ansor-bert.stage1.log": {"noisy-costs", "resumed-log"},
    "ansor_relu_128_1008_42_42.log": {"run-timeouts"},
    "ansor_matmul_65536_30522_1024.log": {"run-timeouts", "resumed-log"},
    "ansor_conv2d_128_3_331_331_96_3_3_2_0.log": {"run-timeouts"},
    "S2D1P1_64_32_16_16_16_3_3_ansor__tune.log": {"few-failures"},
    "ms_tvm_0.25_handmade/database_tuning_record.json": {"duplicates", "few-failures"},
}
BEST = {"distilled-log"}


def verdict(path: Path) -> set[str]:
    found = [rules for end, rules in VERDICTS.items() if path.as_posix().endswith(end)]
    return found[0] if found else BEST


def test_findings_match_verdicts_made_by_hand(corpus: Path) -> None:
    logs = log_files(corpus)
    assert len(logs) >= 30
    for path in logs:
        found = open_tuning(path, progress=False).findings()
        assert {each.rule for each in found} == verdict(path), path


def test_starved_log_is_reported_with_its_numbers(corpus: Path) -> None:
    (path,) = (each for each in log_files(corpus) if each.name.endswith("MHA4-B128-int8.json"))
    log = open_tuning(path, progress=False)
    (found,) = log.findings()
    assert found.title == (
        "Build starvation: 54.5 % of the trials hit the build timeout, mostly in 2 of 3 tasks"
    )
    assert (found.severity, found.confidence) == (Severity.ERROR, Confidence.MEDIUM)
    assert found.evidence[2] == (
        "by auto_unroll_max_step: 41 of 85 (48.2 %) at 0, 41 of 156 (26.3 %) at 16, 115 of 646 "
        "(17.8 %) at 64, 1,441 of 2,121 (67.9 %) at 512"
    )
    assert "at most 63 of 64" in found.evidence[3]
    assert (log.wasted_seconds, log.effective_trials) == (1638 * 15, 1370)


def test_restarts_of_the_long_log_are_found(corpus: Path) -> None:
    (path,) = (each for each in log_files(corpus) if "matmul_65536_30522" in each.name)
    log = open_tuning(path, progress=False)
    assert [each.trials for each in log.sessions] == [192, 48, 192, 1000]
    # Three restarts with other run timeouts; within sessions only whole rounds and one rest.
    assert sorted(set(log.errors_by("round").trials.tolist())) == [40, 48, 64]


@pytest.mark.parametrize("by", ["task", "round", "session", "unroll", "threads"])
def test_tables_of_one_log_agree(corpus: Path, by: str) -> None:
    (path,) = (each for each in log_files(corpus) if each.name == "2080ti-bert-B1.json")
    log = open_tuning(path, progress=False)
    table = log.errors_by(by, progress=False)  # type: ignore[arg-type]
    assert int(table.trials.sum()) == len(log) == 1024
    assert int(table.valid.sum()) == log.effective_trials == 994
    assert float(table.wasted_seconds.sum()) == log.wasted_seconds == 375.0
    assert (int(table.count("BuildTimeoutError").sum()), int(table.counts.sum())) == (25, 30)
    if by == "round":
        assert set(table.trials.tolist()) == {64}
    if by == "threads":
        assert min(table.keys) > 0


DIAGNOSES = {
    "fine": {"few-failures"},
    "starved": {"build-starvation"},
    "slow_task": {"slow-compiling-task"},
    "unroll": {"unroll-bloat"},
    "dead_workers": {"dead-build-workers"},
    "burst": {"temporary-contention"},
    "run_timeouts": {"run-timeouts"},
    "no_schedule": {"no-valid-schedule", "frequent-errors"},
    "resumed": {"resumed-log", "few-failures"},
    "measured_again": {"duplicates", "resumed-log", "few-failures"},
    "copied": {"duplicates", "resumed-log", "few-failures"},
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
    assert np.bincount(opened("fine").rounds).tolist() == [64] * 36
    assert [each.trials for each in opened("resumed").sessions] == [1152, 1152]
