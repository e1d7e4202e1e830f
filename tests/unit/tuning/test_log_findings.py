"""Each rule on a log with the thing planted, and on a log without it."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.tuning.hand_made import Row, failed, parts_of
from tvmdbg_widgets.analysis.findings.tuning import RULES, find
from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence, runs_of
from tvmdbg_widgets.model.findings import Confidence, Finding, Findings, Severity
from tvmdbg_widgets.model.tuning.parts import ConsoleMessage, RefusedLine
from tvmdbg_widgets.tuning import TuningLog

UNROLLS = (0, 16, 64, 512)


def findings(rows: list[Row], **more: Any) -> Findings:
    return find(LogEvidence(parts_of(rows, **more)))


def a_round(
    task: int, lost: int = 0, *, only: Iterable[int] = UNROLLS, error: int = 6
) -> list[Row]:
    """64 trials, of which some are lost: evenly over the unroll settings that may be."""
    rows = [Row(task, 1e-3 + place * 1e-6, unroll=UNROLLS[place % 4]) for place in range(64)]
    places = [place for place in range(64) if UNROLLS[place % 4] in set(only)]
    for place in places[:lost]:
        rows[place] = failed(task, error, unroll=rows[place].unroll)
    return rows


def rounds(*losses: tuple[int, int], **more: Any) -> list[Row]:
    return [row for task, lost in losses for row in a_round(task, lost, **more)]


FINE = rounds(*[(task, 0) for task in range(5)] * 3)
STARVED = rounds(*[(task, 40) for task in range(5)] * 2)
SLOW_TASK = rounds((0, 1), (1, 60), (2, 0), (3, 1), (4, 0))
UNROLLED = rounds(*[(task, 12) for task in range(5)], only=[512])
DYING = rounds(*[(task, 6) for task in range(5)], error=2)
BURST = rounds(*[(0, 0), (1, 1), (2, 0)] * 3, (0, 40), (1, 40), *[(0, 0), (2, 0)] * 3)
BROKEN = rounds((0, 0), (1, 0)) + [failed(2, 4, 0.3) for _ in range(12)]
TIMED_OUT = rounds((0, 0)) + [failed(0, 4, 10.4 + place / 100) for place in range(16)]
FAILING = rounds((0, 0)) + [failed(0, 3, 0.7) for _ in range(16)]
NOISY = [Row(0, (1.0, 1.1, 1.3), timestamp=float(place)) for place in range(30)]
TWICE = rounds((0, 0)) + [rounds((0, 0))[5]._replace(schedule=5, timestamp=1_600_000_005.0)] * 2
AGAIN = [Row(0, 1.0 + place % 10, schedule=place % 20) for place in range(30)]
RESUMED = [Row(0, timestamp=place + (90_000.0 if place > 30 else 0.0)) for place in range(60)]
BEST = [Row(task) for task in range(8)]


def expect(rows: list[Row], title: str, **more: Any) -> Finding:
    (found,) = findings(rows, **more)
    assert found.title == title
    return found


def test_a_log_that_went_well_has_no_findings() -> None:
    assert list(findings(FINE)) == []


def test_starved_builds() -> None:
    found = expect(
        STARVED, "Build starvation: 62.5 % of the trials hit the build timeout, in 5 of 5 tasks"
    )
    assert (found.rule, found.severity) == ("build-starvation", Severity.ERROR)
    assert found.confidence is Confidence.HIGH
    assert found.why == (
        "5 of 5 tasks lose a tenth or more, and so do programs that are hardly unrolled "
        "(62.5 % of 320)"
    )
    assert (found.tasks, len(found.trials)) == ((0, 1, 2, 3, 4), 400)
    assert found.evidence[0] == "400 of 640 trials (62.5 %) hit the build timeout of 15 s"
    assert found.evidence[-1] == "how many builds ran at once (n_parallel) is not in the log"
    assert "100.0 min of building went into them (builds run in parallel" in found.evidence[4]


def test_starved_builds_of_autotvm_are_less_sure() -> None:
    rows = [row._replace(unroll=-1, all_cost=10.0 if row.error else 2.0) for row in STARVED]
    (found,) = findings(rows, tuner="autotvm")
    assert (found.rule, found.confidence) == ("build-starvation", Confidence.LOW)
    assert found.severity is Severity.WARNING
    assert "autotvm.LocalBuilder(n_parallel=len(os.sched_getaffinity(0)), timeout=60)" in (
        found.next_step
    )


def test_starvation_phase_names_affected_rounds() -> None:
    phase = rounds(*[(0, 45), (1, 40), (2, 50)] * 2)
    (found,) = findings(phase + rounds(*[(0, 0), (1, 0), (2, 1)] * 3))
    assert found.rule == "build-starvation"
    assert found.evidence[3].endswith(
        "a quarter or more lost in 6 of 15 rounds (0–5), 0.52 % in the others"
    )


def test_a_task_that_is_slow_to_compile() -> None:
    found = expect(
        SLOW_TASK,
        "Task 1 (work 1) is slow to compile: 93.8 % of the trials hit the build timeout, 0.78 % "
        "elsewhere",
    )
    assert (found.rule, found.severity) == ("slow-compiling-task", Severity.WARNING)
    assert (found.confidence, found.tasks, len(found.trials)) == (Confidence.HIGH, (1,), 60)
    assert found.next_step.splitlines()[-2:] == [
        "builder = auto_scheduler.LocalBuilder(timeout=60)",
        "tune_option = auto_scheduler.TuningOptions(num_measure_trials=1000, builder=builder)",
    ]


def test_unrolled_programs() -> None:
    found = expect(
        UNROLLED,
        "Unrolling makes programs too long to compile: 75.0 % of the trials with "
        "auto_unroll_max_step 512 or more hit the build timeout, 0 % with 16 or less",
    )
    assert (found.rule, found.confidence) == ("unroll-bloat", Confidence.MEDIUM)
    assert found.evidence[1] == (
        "by auto_unroll_max_step: 0 of 80 (0 %) at 0, 0 of 80 (0 %) at 16, 0 of 80 (0 %) at 64, "
        "60 of 80 (75.0 %) at 512"
    )


def test_unroll_bloat_in_one_task_is_not_a_slow_task() -> None:
    rows = rounds((0, 14), (0, 14), only=[512]) + rounds((1, 0), (2, 0), (3, 0))
    found = expect(
        rows,
        "Unrolling makes programs too long to compile: 87.5 % of the trials with "
        "auto_unroll_max_step 512 or more hit the build timeout, 0 % with 16 or less, in 1 of 4 "
        "tasks",
    )
    assert found.tasks == (0,)


def test_build_workers_that_died() -> None:
    found = expect(
        DYING,
        "Build workers died: 30 trials (9.38 %) ended without a program or an error of the "
        "compiler",
    )
    assert (found.rule, found.severity) == ("dead-build-workers", Severity.ERROR)
    assert found.evidence[0] == "CompileHostError after exactly 15 s, the build timeout: 30 trials"


def test_compiler_errors_are_not_dead_workers() -> None:
    rows = [row._replace(all_cost=3.2) if row.error else row for row in rounds((0, 30), error=2)]
    found = expect(rows, "46.9 % of the trials failed with CompileHostError")
    assert found.rule == "frequent-errors"


def test_a_burst_of_timeouts() -> None:
    found = expect(
        BURST,
        "A burst of build timeouts: 62.5 % of the trials in rounds 9–10, 0.31 % in all other "
        "rounds",
    )
    assert (found.rule, found.tasks) == ("temporary-contention", (0, 1))
    assert found.evidence[2] == "from 2020-09-13 12:36:16 UTC to 2020-09-13 12:38:23 UTC"
    assert len(found.trials) == 80


def test_bad_first_rounds_are_not_a_burst() -> None:
    rows = rounds((0, 20), (1, 20), *[(0, 0), (1, 0)] * 4)
    (found,) = findings(rows)
    assert found.rule in ("build-starvation", "build-timeouts")


def test_unexplained_build_timeouts_have_low_confidence() -> None:
    rows = rounds(*[(0, 14)] * 3)
    found = expect(rows, "21.9 % of the trials hit the build timeout; the log does not tell why")
    assert (found.rule, found.confidence) == ("build-timeouts", Confidence.LOW)
    assert found.severity is Severity.WARNING
    assert found.why.startswith("with one task alone")
    few = findings(rounds((0, 4), (1, 4), (2, 1)))
    assert [(each.rule, each.severity) for each in few] == [("build-timeouts", Severity.INFO)]


def test_few_timeouts_are_counted_and_not_explained() -> None:
    (found,) = findings(rounds((0, 2), (1, 1), (2, 2)))
    assert (found.rule, found.severity, len(found.trials)) == ("few-failures", Severity.INFO, 5)
    assert found.title.startswith("5 of 192 trials failed (2.60")


def test_hidden_run_timeouts_are_reported() -> None:
    found = expect(
        TIMED_OUT,
        "20.0 % of the trials probably hit the run timeout, recorded as RuntimeDeviceError",
    )
    assert (found.rule, found.confidence) == ("run-timeouts", Confidence.MEDIUM)
    assert found.evidence[0] == (
        "16 trials with RuntimeDeviceError took 10 s or longer to build and run (median 10.48 s), "
        "0 took less"
    )


def test_run_timeouts_have_high_confidence() -> None:
    rows = rounds((0, 0)) + [failed(0, 7, 12.0)] * 16
    found = expect(rows, "20.0 % of the trials hit the run timeout")
    assert found.confidence is Confidence.HIGH


def test_frequent_errors_are_reported_with_console_message() -> None:
    said = tuple(
        ConsoleMessage(row, row, 3, "Traceback …\nCUDAError: no binary\x1b[0m") for row in (64, 65)
    )
    (found,) = findings(FAILING, messages=said)
    assert found.title == "20.0 % of the trials failed with CompileDeviceError"
    assert (found.evidence[-1], found.next_step) == ("2 × CUDAError: no binary\\x1b[0m", "")
    assert "verbose=2" in findings(FAILING)[0].next_step


def test_instantiation_errors_are_usual_in_autotvm() -> None:
    rows = rounds((0, 20), error=1)
    assert findings(rows, tuner="autotvm")[0].severity is Severity.INFO
    assert findings(rows)[0].severity is Severity.WARNING


def test_a_task_without_a_valid_schedule() -> None:
    found = findings(BROKEN).by_rule("no-valid-schedule")[0]
    assert found.title == "Task 2 (work 2) has no valid schedule"
    assert (found.severity, found.tasks) == (Severity.ERROR, (2,))
    assert found.evidence[0] == "task 2 (work 2): 12 × RuntimeDeviceError"
    why, code, then = found.next_step.splitlines()
    assert (why, code.count("log.")) == ("Find out why its trials fail:", 2)
    assert then.startswith("With Ansor, task.apply_best(log_file) raises")
    other = findings(BROKEN, tuner="autotvm").by_rule("no-valid-schedule")[0]
    assert "apply_best" not in other.next_step
    assert "autotvm.apply_history_best(log_file) warns" in other.next_step


def test_noisy_costs() -> None:
    found = expect(NOISY, "Costs are noisy: repeats of a trial differ by 26.5 % in the median")
    assert (found.rule, len(found.trials)) == ("noisy-costs", 30)
    assert list(findings([row._replace(cost=(1.0, 1.01, 1.02)) for row in NOISY])) == []
    assert list(findings(NOISY[:10])) == []


def test_duplicate_records_are_reported() -> None:
    found = findings(TWICE).by_rule("duplicates")
    assert [each.title for each in found] == ["2 records repeat earlier ones"]
    assert (found[0].severity, found[0].trials) == (Severity.WARNING, (64, 65))


def test_schedules_that_were_measured_again() -> None:
    found = expect(AGAIN, "10 trials measured a schedule that had been measured before")
    assert (found.rule, found.severity) == ("duplicates", Severity.INFO)
    assert found.evidence[1] == "costs differ by 0 % in the median, by at most 0 %"
    assert found.trials == tuple(range(20, 30))


def test_a_log_that_was_resumed() -> None:
    found = expect(RESUMED, "The log was written in 2 sessions, 58 s in all")
    assert (found.rule, found.trials) == ("resumed-log", (31,))
    assert found.evidence == (
        "session 0: 31 trials in 30 s from 1970-01-01 00:00 UTC",
        "session 1: 29 trials in 28 s from 1970-01-02 01:00 UTC, after a pause of 25.0 h",
    )


def test_a_distilled_log() -> None:
    found = expect(BEST, "Best records only: 8 records of 8 tasks, no curve")
    assert (found.rule, found.confidence) == ("distilled-log", Confidence.HIGH)
    assert list(findings([*BEST, *BEST])) == []


def test_unread_lines_are_reported() -> None:
    found = findings(
        FINE,
        refused=(RefusedLine(0, 12, 400, "steps: expected an array, found 3"),),
        num_refused=7,
        cut=True,
        undecoded={"AutoTVM pickle line for cuda": 2},
    )
    assert [each.title for each in found] == [
        "7 lines are no records: all numbers leave them out",
        "The last line is cut",
        "2 lines are recognized and not decoded",
    ]
    assert found[0].evidence == ("line 12: steps: expected an array, found 3", "and 6 more lines")


@pytest.mark.parametrize("unread", [{"num_refused": 1}, {"undecoded": {"a kind": 1}}])
def test_findings_are_less_confident_when_lines_were_not_read(unread: Any) -> None:
    for rows, rule in ((BROKEN, "no-valid-schedule"), (BEST, "distilled-log")):
        assert findings(rows).by_rule(rule)[0].confidence is Confidence.HIGH
        found = findings(rows, **unread).by_rule(rule)[0]
        assert found.confidence is Confidence.MEDIUM
        assert "1 line could not be read" in found.why


def test_many_unread_lines_lower_the_confidence() -> None:
    (rule,) = {each.rule for each in findings(NOISY)} & {"noisy-costs"}
    few, many = (findings(NOISY, num_refused=n).by_rule(rule)[0] for n in (0, len(NOISY)))
    assert (few.confidence, many.confidence) == (Confidence.HIGH, Confidence.MEDIUM)


def test_findings_have_no_nodes_and_printable_texts() -> None:
    for rows in (STARVED, SLOW_TASK, UNROLLED, DYING, BURST, BROKEN, TIMED_OUT, TWICE):
        for found in findings(rows):
            assert (found.nodes, found.entries) == ((), ())
            texts = (found.title, found.why, *found.evidence, *found.next_step.split("\n"))
            assert all(text.isprintable() for text in texts)
            assert found.evidence
            assert found.next_step


def test_n_parallel_is_reported_as_not_in_the_log() -> None:
    for rows in (STARVED, DYING, BURST, SLOW_TASK, UNROLLED):
        for found in findings(rows):
            told = " ".join((found.title, found.why, *found.evidence))
            claims = re.findall(r"[^,;]*n_parallel[^,;]*", told)
            assert all("is not in the log" in each for each in claims)


def test_frames_have_tasks_and_trials() -> None:
    assert findings(STARVED).to_dataframe()["tasks"][0] == (0, 1, 2, 3, 4)
    assert "tasks" not in findings([*FINE], cut=True).to_dataframe()
    assert [each.rule for each in findings(SLOW_TASK).by_task(1)] == ["slow-compiling-task"]


def test_ranges_of_rounds() -> None:
    assert runs_of([1, 2, 3, 7, 9, 10]) == "1–3, 7, 9–10"
    assert (runs_of(range(0, 14, 2)), runs_of([])) == ("0, 2, 4, 6, 8 and 2 more ranges", "")


EXTREMES = (0.0, -0.0, 1e-300, 1.0, 15.0, 1e10, 1e300, 1.7e308)


@given(
    st.lists(
        st.builds(
            Row,
            task=st.integers(0, 2),
            cost=st.none() | st.tuples(*[st.sampled_from(EXTREMES[:-1])] * 3),
            error=st.sampled_from([1, 2, 4, 6, 7]),
            all_cost=st.sampled_from([*EXTREMES, -1e308, np.nan]),
            unroll=st.sampled_from([-1, 0, 512, 2**31 - 1]),
            timestamp=st.sampled_from([*EXTREMES, -1.7e308, np.nan]),
            schedule=st.integers(0, 4),
            source=st.just(0),
        ).map(lambda row: row if row.cost is None else row._replace(error=0)),
        max_size=90,
    ),
    st.sampled_from(["ansor", "autotvm", "metaschedule", "mixed"]),
)
def test_extreme_numbers_are_shown_without_warning(rows: list[Row], tuner: str) -> None:
    log = TuningLog(parts_of(rows, tuner="ansor"))
    found = find(LogEvidence(parts_of(rows, tuner=tuner)))
    texts = [repr(found), found._repr_html_(), repr(log.task_table()), repr(log.curve())]
    assert all(texts)
    assert (len(log.curve().seconds), len(log.gains().order)) == (len(rows), len(log.tasks))


TUNERS = {
    "ansor": r"Ansor|auto_scheduler|TuningOptions|apply_best|TaskScheduler|verbose=|RPCMeasure",
    "autotvm": r"AutoTVM|autotvm|measure_option|load_history|apply_history_best|gpu kernel",
    "metaschedule": r"MetaSchedule|meta_schedule|\bms\.|tune_tir|EvaluatorConfig|max_workers",
}
REFUSING = rounds((0, 0)) + [failed(0, 1, 0.7) for _ in range(16)]
PLANTED = {
    "starved": STARVED,
    "slow task": SLOW_TASK,
    "unrolled": UNROLLED,
    "unclear": rounds(*[(task, 4) for task in range(5)]),
    "dying": DYING,
    "burst": BURST,
    "broken": BROKEN,
    "timed out": TIMED_OUT,
    "failing": FAILING,
    "refusing": REFUSING,
    "unrecorded": [row._replace(error=-1) if row.error else row for row in FAILING],
    "noisy": NOISY,
    "twice": TWICE,
    "again": AGAIN,
    "resumed": RESUMED,
    "best": BEST,
}


@pytest.mark.parametrize("tuner", TUNERS)
@pytest.mark.parametrize("name", PLANTED)
def test_no_rule_gives_the_advice_of_another_tuner(name: str, tuner: str) -> None:
    for each in findings(PLANTED[name], tuner=tuner):
        told = "\n".join([each.title, *each.evidence, each.why, each.next_step])
        others = [other for other in TUNERS if other != tuner and re.search(TUNERS[other], told)]
        assert others == [], f"{each.rule}: {told}"
        code = [
            line for line in each.next_step.splitlines() if line.startswith(("from ", "import "))
        ]
        assert not code or TUNERS[tuner].partition("|")[0] in each.next_step


def test_planted_logs_cover_every_rule() -> None:
    planted = {each.rule for rows in PLANTED.values() for each in findings(rows)}
    assert planted | {"unread-lines"} == {rule.name for rule in RULES}


def test_mixed_log_remedy_covers_only_affected_tuners() -> None:
    parts = parts_of(FAILING + [row._replace(task=1) for row in FAILING], tuner="mixed")
    tasks = [replace(each, tuner=tuner) for each, tuner in zip(parts.tasks, TUNERS, strict=False)]
    (found,) = find(LogEvidence(replace(parts, tasks=tuple(tasks))))
    assert "Ansor prints them" in found.next_step
    assert "AutoTVM logs them" in found.next_step
    assert "MetaSchedule" not in found.next_step
    (only,) = find(LogEvidence(replace(parts_of(FAILING, tuner="mixed"), tasks=tuple(tasks[1:]))))
    assert "Ansor" not in only.next_step


def test_refused_programs_are_worded_per_tuner() -> None:
    (found,) = findings(REFUSING, tuner="autotvm")
    assert "AutoTVM's template refused the config" in found.evidence[0]
    (found,) = findings(REFUSING)
    assert found.evidence[0].endswith("Ansor could not apply the steps to the compute DAG")


def test_autotvm_host_errors_are_not_dead_workers() -> None:
    """AutoTVM writes RuntimeDeviceError there, so its CompileHostError is the compiler's."""
    rows = [row._replace(all_cost=15.0) for row in DYING]
    assert not findings(rows, tuner="autotvm").by_rule("dead-build-workers")
