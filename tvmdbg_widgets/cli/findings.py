"""``tvmdbg findings``: what the run tells about itself, ranked."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvmdbg_widgets.cli.dump import Named, of_run
from tvmdbg_widgets.cli.examples import examples
from tvmdbg_widgets.cli.failures import FOUND, INTERRUPTED, verb
from tvmdbg_widgets.cli.hints import for_shell
from tvmdbg_widgets.cli.terminal import folded, note, say, styled, width

if TYPE_CHECKING:
    from tvmdbg_widgets.model.findings import Finding

EXAMPLES = examples(
    ("What is slow, what is wrong", "tvmdbg findings /tmp/tvmdbg"),
    ("In a pipeline: no NaN, no overflow", "tvmdbg findings /tmp/tvmdbg --fail-on fault"),
    ("For another program", "tvmdbg findings /tmp/tvmdbg --json | jq '.findings[].title'"),
)
_STYLE = {"fault": ("bold", "red"), "doubt": ("yellow",), "cost": ("cyan",), "note": ("dim",)}


class FailOn(StrEnum):
    """The kinds that make the status 1."""

    FAULT = "fault"
    DOUBT = "doubt"
    COST = "cost"
    NOTE = "note"


_COUNTED = {
    FailOn.FAULT: {"fault"},
    FailOn.DOUBT: {"fault", "doubt"},
    FailOn.COST: {"fault", "doubt", "cost"},
    FailOn.NOTE: {"fault", "doubt", "cost", "note"},
}


@verb
@of_run
def findings(
    named: Named,
    *,
    fail_on: Annotated[
        FailOn | None,
        typer.Option(
            "--fail-on",
            help="Exit with status 1 if there is a finding of this kind or a graver one.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Write JSON.")] = False,
) -> None:
    """Tell what the run says of itself: ranked, with evidence, nodes and how sure each is.

    Reads every tensor once. [bold]fault[/]: values or files are wrong. [bold]doubt[/]: cannot be
    trusted. [bold]cost[/]: where time goes. Ctrl+C ends the scan and tells what is known so far.
    """
    from tvmdbg_widgets.cli.progress import wanted

    run = named.open()
    found = run.findings(progress=wanted())
    if as_json:
        from tvmdbg_widgets.cli.json_text import json_text

        body = {
            "run": run.title,
            "complete": found.complete,
            "findings": [_record(each) for each in found],
        }
        print(json_text(body))
    else:
        for number, each in enumerate(found):
            if number:
                say()
            _tell(each)
        if not len(found):
            note("Nothing to tell: no rule found anything in this run.")
    if not found.complete:
        note(f"The scan was stopped: {found.scanned} of {found.to_scan} tensors were looked at.")
    if fail_on is not None and any(each.kind.value in _COUNTED[fail_on] for each in found):
        raise typer.Exit(FOUND)
    if not found.complete:
        raise typer.Exit(INTERRUPTED)


def _tell(finding: Finding) -> None:
    columns = width(sys.stdout)
    lines = folded(finding.title, columns, first=7, rest=7)
    head, *more = lines
    kind = finding.kind.value
    say(styled(f"{kind:<7}", *_STYLE[kind]), styled(head, "bold"))
    for line in more:
        say(" " * 7, styled(line[7:], "bold"))
    for text in finding.evidence:
        _tell_lines("· ", text, columns)
    _tell_lines("why   ", finding.why, columns)
    _tell_lines("next  ", for_shell(finding.next_step), columns)
    nodes = ", ".join(map(str, finding.nodes[:8])) + (" …" if len(finding.nodes) > 8 else "")
    where = f" · node {nodes}" if nodes else ""
    say(" " * 7, styled(f"{finding.certainty.value} · {finding.rule}{where}", "dim"))


def _tell_lines(label: str, text: str, columns: int) -> None:
    if not text:
        return
    start = 7 + len(label)
    head, *more = folded(text, columns, first=start, rest=start)
    say(" " * 7, styled(label, "dim"), head)
    for line in more:
        say(line)


def _record(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "kind": finding.kind.value,
        "title": finding.title,
        "evidence": list(finding.evidence),
        "certainty": finding.certainty.value,
        "why": finding.why,
        "nodes": list(finding.nodes),
        "entries": [list(entry) for entry in finding.entries],
        "next": finding.next_step,
    }
