"""What runs, tables and findings say of none, one and two fits in number."""

import re
from collections.abc import Iterator
from contextlib import suppress

import pytest

import tvmdbg_widgets as tvmdbg
from tests.unit.findings.test_findings_rules import CASES, EXECUTORCH, timed
from tests.unit.tuning.hand_made import Row, failed, parts_of
from tvmdbg_widgets.analysis.findings.tuning import find
from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.findings import Findings
from tvmdbg_widgets.model.tuning.parts import RefusedLine
from tvmdbg_widgets.run import DebugRun
from tvmdbg_widgets.tuning import TuningLog

NOUNS = re.findall(
    r"\w+",
    "array byte call channel edge entry event file gap group input line name node operator output "
    "parameter record repeat round row slice slot task tensor time track trial value",
)
ONE, MANY = "|".join(NOUNS), "|".join(counted(2, noun)[2:] for noun in NOUNS)
#: "1 lines", "1 more lines", "1 line are", "1 of 3 lines were", "2 line", "failed with failed".
_ADJECTIVE = rf"((?!({ONE})\b)[a-z-]+ )?"
BROKEN = re.compile(
    rf"(?<![\w#.,×/-])(1 {_ADJECTIVE}({MANY})\b|1 {_ADJECTIVE}({ONE}) (are|were|have|do)\b"
    rf"|1 of [\d,]+ ({MANY}|{ONE}) (are|were|have|do)\b|[02] ({ONE})\b(?! \w+s\b))"
    r"|\b(?P<word>\w+) with (?P=word)\b"
)


def said_of_findings(found: Findings) -> Iterator[str]:
    yield repr(found)
    for each in found:
        yield from (each.title, *each.evidence, each.why, each.next_step)


def said_of(run: DebugRun) -> Iterator[str]:
    """Yield most of what a run says of itself without a picture."""
    yield from said_of_findings(run.findings())
    yield from (each.message for each in run.check())
    yield from map(repr, (run, run.graph, run.tensors, run.health(), run.check()))
    yield str(run.summary())
    if run.graph is not None:
        yield repr(run.select("conv2d"))
        with suppress(ValueError):  # an ETRecord alone has no plan
            yield repr(run.memory_plan())
        with suppress(ValueError):  # what delegates ran may be timed as a whole
            yield repr(run.roofline())
    if run.timeline is not None:
        yield from map(repr, (run.timeline, run.timeline.rows, run.table(), run.times(by="kind")))
        yield str(tvmdbg.compare_times(run, run))


def broken(texts: Iterator[str]) -> list[str]:
    return [text for text in texts if BROKEN.search(text)]


@pytest.mark.parametrize("rule", [*CASES, *EXECUTORCH])
def test_counts_in_planted_runs_are_grammatical(rule: str) -> None:
    make, _, without = (CASES | EXECUTORCH)[rule]
    assert not broken(said_of(make()))
    assert not broken(said_of(without()))


@pytest.mark.parametrize("count", [0, 1, 2])
@pytest.mark.parametrize("repeats", [(1.0,), (1.0, 1.0), (9.0, 1.0, 1.0, 5.0)])
def test_counts_in_runs_of_few_operators_are_grammatical(
    count: int, repeats: tuple[float, ...]
) -> None:
    run = timed(*(("fused_nn_conv2d", 1e6), ("fused_nn_relu", 4e5))[:count], repeats=repeats)
    assert not broken(said_of(run))


@pytest.mark.parametrize("trials", [0, 1, 2])
@pytest.mark.parametrize("bad", [0, 1, 2])
def test_counts_in_logs_of_few_trials_are_grammatical(trials: int, bad: int) -> None:
    rows = [Row(task, 1e-3) for task in range(trials)] + [failed(0, 4, 0.3)] * bad
    refused = (RefusedLine(0, 12, 400, "expected an array"),) * bad
    undecoded = {"a pickle": bad} if bad else {}
    parts = parts_of(rows, refused=refused, num_refused=bad, undecoded=undecoded)
    log = TuningLog(parts)
    tables = (log.task_table(), log.errors_by("task"), log.curve(), log.gains())
    assert not broken(map(repr, (log, log.tasks, log.issues, *tables)))
    assert not broken(said_of_findings(find(LogEvidence(parts))))
