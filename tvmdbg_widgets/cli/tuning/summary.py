"""``tvmdbg tuning summary``: what happened in a tuning, findings first."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvmdbg_widgets.cli.common.dump import print_json
from tvmdbg_widgets.cli.common.findings import (
    finding_record,
    issue_record,
    print_findings,
    print_issues,
    reach,
)
from tvmdbg_widgets.cli.common.terminal import note, paragraph, say, styled
from tvmdbg_widgets.cli.common.verbs import FOUND, UsageError, examples, flag, option
from tvmdbg_widgets.cli.tuning.logs import NamedLog, of_log
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.findings import Severity

if TYPE_CHECKING:
    from tvmdbg_widgets.model.findings import Findings
    from tvmdbg_widgets.tuning import TuningLog


EXAMPLES = examples(
    ("What happened, what went wrong", "tvmdbg tuning summary ansor.json"),
    ("With the texts of errors", "tvmdbg tuning summary ansor.json stdout.txt"),
    ("In CI", "tvmdbg tuning summary ansor.json --fail-on error --max-errors 10%"),
    ("For another program", "tvmdbg tuning summary ansor.json --json | jq .total_s"),
)
#: Issues that the description of the log contains.
_DESCRIBED = ("lines-refused", "not-decoded", "log-cut")
_LIMIT = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(%?)")


@of_log
def summary(
    named: NamedLog,
    *,
    fail_on: Annotated[
        Severity | None,
        option(
            "SEVERITY",
            "Exit with status 1 if there is a finding of this severity or worse: "
            "error, warning, hotspot or info.",
        ),
    ] = None,
    max_errors: Annotated[
        str | None,
        option(
            "N|P%", "Exit with status 1 if more trials failed: a number, or a share such as 10%."
        ),
    ] = None,
    as_json: Annotated[bool, flag("Write JSON.", "--json")] = False,
) -> None:
    """Summarize a tuning: findings, where the latency ended, errors, lines that were not read.

    [bold]error[/]: trials were lost, or a task has no schedule. [bold]warning[/]: questionable.
    [bold]info[/]: worth knowing. A finding comes with its evidence, its confidence, and what to
    do.
    """
    allowed = None if max_errors is None else _limit(max_errors)
    log = named.open()
    findings = log.findings()
    if as_json:
        print_json(_record(log, findings))
    else:
        _tell(log, findings)
    failed = int(log.trials.failed.sum())
    too_many = allowed is not None and failed > allowed[0] * (len(log) if allowed[1] else 1)
    if too_many:
        note(
            f"{failed:,} of {counted(len(log), 'trial')} failed, more than --max-errors "
            f"{max_errors}"
        )
    if too_many or (fail_on is not None and reach(findings, fail_on.value)):
        raise typer.Exit(FOUND)


def _limit(text: str) -> tuple[float, bool]:
    """Return a number, and whether it is a share of all trials."""
    match = _LIMIT.fullmatch(text)
    if match is None:
        raise UsageError(
            f"--max-errors {text}: expected a number or a share", "Write it as: --max-errors 10%"
        )
    return float(match[1]) / (100 if match[2] else 1), bool(match[2])


def _tell(log: TuningLog, findings: Findings) -> None:
    from tvmdbg_widgets.analysis.tuning.writing import described

    tuner, *facts = described(log.parts)
    say(styled(log.title, "bold"), styled(f"  {tuner}", "dim"))
    say()
    say(styled("Findings", "bold"), styled(f"  {findings.summary()}", "dim"))
    print_findings(findings)
    say()
    say(styled("Tuning", "bold"))
    for text in (_ended(log), *facts):
        paragraph(text, indent=2, more=2)
    if log.trials.failed.any():
        say()
        say(styled("Errors", "bold"))
        for name, count in _error_counts(log).items():
            say(f"  {count:>9,}  ", styled(name), styled(f"  {percent(count / len(log))}", "dim"))
    issues = [issue for issue in log.issues if issue.rule not in _DESCRIBED]
    if issues:
        say()
        say(styled("Reading", "bold"))
        print_issues(issues[:5])
        if len(issues) > 5:
            note(f"  {counted(len(issues) - 5, 'more remark')}")


def _ended(log: TuningLog) -> str:
    """Return a sentence on the final total latency."""
    curve = log.curve()
    weighed = "weighted" if log.weights is not None else "unweighted sum: the log has no weights"
    if not len(log):
        return "no trials"
    if curve.reached is None:
        lacking = len(log.tasks) - len(log.best())
        return f"total latency unknown: {counted(lacking, 'task')} without a valid trial"
    reached = f"reached after {curve.reached:,} of {counted(len(curve), 'trial')}"
    return f"{duration_text(curve.last * 1e9)} estimated in total ({weighed}), {reached}"


def _record(log: TuningLog, findings: Findings) -> dict[str, Any]:
    curve, parts = log.curve(), log.parts
    return {
        "log": log.title,
        "tuner": parts.tuner,
        "versions": list(filter(None, log.trials.version.unique)),
        "tasks": len(log.tasks),
        "trials": len(log),
        "failed": int(log.trials.failed.sum()),
        "errors": _error_counts(log),
        "total_s": curve.last if curve.reached is not None else math.nan,
        "weighted": log.weights is not None,
        "refused": parts.num_refused,
        "undecoded": dict(parts.undecoded),
        "cut": parts.cut,
        "findings": [finding_record(one, "tasks", "trials") for one in findings],
        "issues": [issue_record(issue) for issue in log.issues],
    }


def _error_counts(log: TuningLog) -> dict[str, int]:
    """Return the number of failed trials by error, most frequent first."""
    from tvmdbg_widgets.model.tuning.measure_errors import MeasureError

    counts = Counter(sorted(log.trials.error[log.trials.failed].tolist()))
    return {MeasureError(code).label: count for code, count in counts.most_common()}
