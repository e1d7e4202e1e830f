"""``tvmdbg findings``: ranked findings of a run."""

from __future__ import annotations

from typing import Annotated

import typer

from tvmdbg_widgets.cli.common.dump import NamedRun, of_run, print_json, wanted
from tvmdbg_widgets.cli.common.findings import SEVERITIES, finding_record, print_findings, reach
from tvmdbg_widgets.cli.common.terminal import note
from tvmdbg_widgets.cli.common.verbs import FOUND, INTERRUPTED, examples, flag, option
from tvmdbg_widgets.model.base.numbers import agree, counted

EXAMPLES = examples(
    ("Faults and slow operators", "tvmdbg findings /tmp/tvmdbg"),
    ("In CI: no NaN, no overflow", "tvmdbg findings /tmp/tvmdbg --fail-on error"),
    ("For another program", "tvmdbg findings /tmp/tvmdbg --json | jq '.findings[].title'"),
)


def _severity(word: str) -> str:
    if word not in SEVERITIES:
        raise typer.BadParameter(f"{word!r} is not one of {', '.join(SEVERITIES)}.")
    return word


@of_run
def findings(
    named: NamedRun,
    *,
    fail_on: Annotated[
        str | None,
        option(
            "SEVERITY",
            "Exit with status 1 if there is a finding of this severity or worse: "
            "error, warning, hotspot or info.",
            parser=_severity,
            autocompletion=lambda: list(SEVERITIES),
        ),
    ] = None,
    as_json: Annotated[bool, flag("Write JSON.", "--json")] = False,
) -> None:
    """List what is wrong and what is slow in a run, ranked, with evidence and confidence.

    Reads every tensor once. [bold]error[/]: values or files are wrong. [bold]warning[/]: may be
    wrong, or cannot be relied on. [bold]hotspot[/]: where the time goes. [bold]info[/]: worth
    knowing. Ctrl+C stops the scan and lists the findings so far.
    """
    run = named.open()
    results = run.findings(progress=wanted())
    if as_json:
        body = {
            "run": run.title,
            "complete": results.complete,
            "findings": [finding_record(one, "nodes", "entries") for one in results],
        }
        print_json(body)
    else:
        print_findings(results)
        if not len(results):
            note("No findings: no rule applies to this run.")
    if not results.complete:
        note(
            f"The scan was stopped: {results.scanned} of {counted(results.to_scan, 'tensor')} "
            f"{agree(results.scanned, 'was')} scanned."
        )
    if fail_on is not None and reach(results, fail_on):
        raise typer.Exit(FOUND)
    if not results.complete:
        raise typer.Exit(INTERRUPTED)
