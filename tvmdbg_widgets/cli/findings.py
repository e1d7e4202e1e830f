"""``tvmdbg findings``: what the run tells about itself, ranked."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvmdbg_widgets.cli.dump import Named, of_run
from tvmdbg_widgets.cli.examples import examples
from tvmdbg_widgets.cli.failures import FOUND, INTERRUPTED, verb
from tvmdbg_widgets.cli.hints import for_shell
from tvmdbg_widgets.cli.terminal import folded, note, say, styled, width
from tvmdbg_widgets.model import findings_former as former

if TYPE_CHECKING:
    from tvmdbg_widgets.model.findings import Finding

EXAMPLES = examples(
    ("What is wrong, what is slow", "tvmdbg findings /tmp/tvmdbg"),
    ("In CI: no NaN, no overflow", "tvmdbg findings /tmp/tvmdbg --fail-on error"),
    ("For another program", "tvmdbg findings /tmp/tvmdbg --json | jq '.findings[].title'"),
)
_STYLE = {"error": ("bold", "red"), "warning": ("yellow",), "hotspot": ("cyan",), "info": ("dim",)}
_SEVERITIES = tuple(_STYLE)
_FORMER = {kind.value: severity for severity, kind in former.KINDS.items()}
_INDENT = 9


def _severity(word: str) -> str:
    """Return a severity; its former word still counts, with a line that says the new one."""
    better = _FORMER.get(word)
    if better is not None:
        note(f"--fail-on {word} is deprecated: use --fail-on {better}")
    if better is None and word not in _SEVERITIES:
        raise typer.BadParameter(f"{word!r} is not one of {', '.join(_SEVERITIES)}.")
    return better or word


@verb
@of_run
def findings(
    named: Named,
    *,
    fail_on: Annotated[
        str | None,
        typer.Option(
            "--fail-on",
            parser=_severity,
            metavar="SEVERITY",
            autocompletion=lambda: list(_SEVERITIES),
            help="Exit with status 1 if there is a finding of this severity or worse: error, "
            "warning, hotspot or info.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Write JSON.")] = False,
) -> None:
    """List what is wrong and what is slow in a run, ranked, with evidence and confidence.

    Reads every tensor once. [bold]error[/]: values or files are wrong. [bold]warning[/]: may be
    wrong, or cannot be relied on. [bold]hotspot[/]: where the time goes. [bold]info[/]: worth
    knowing. Ctrl+C stops the scan and lists what was found so far.
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
            note("No findings: no rule found anything in this run.")
    if not found.complete:
        note(f"The scan was stopped: {found.scanned} of {found.to_scan} tensors were scanned.")
    bar = () if fail_on is None else _SEVERITIES[: _SEVERITIES.index(fail_on) + 1]
    if any(each.severity.value in bar for each in found):
        raise typer.Exit(FOUND)
    if not found.complete:
        raise typer.Exit(INTERRUPTED)


def _tell(finding: Finding) -> None:
    columns = width(sys.stdout)
    lines = folded(finding.title, columns, first=_INDENT, rest=_INDENT)
    head, *more = lines
    severity = finding.severity.value
    say(styled(f"{severity:<{_INDENT}}", *_STYLE[severity]), styled(head, "bold"))
    for line in more:
        say(" " * _INDENT, styled(line[_INDENT:], "bold"))
    for text in finding.evidence:
        _tell_lines("· ", text, columns)
    _tell_lines("why   ", finding.why, columns)
    _tell_lines("next  ", for_shell(finding.next_step), columns)
    nodes = ", ".join(map(str, finding.nodes[:8])) + (" …" if len(finding.nodes) > 8 else "")
    where = f" · node {nodes}" if nodes else ""
    told = f"{finding.confidence} confidence · {finding.rule}{where}"
    say(" " * _INDENT, styled(told, "dim"))


def _tell_lines(label: str, text: str, columns: int) -> None:
    if not text:
        return
    start = _INDENT + len(label)
    head, *more = folded(text, columns, first=start, rest=start)
    say(" " * _INDENT, styled(label, "dim"), head)
    for line in more:
        say(line)


def _record(finding: Finding) -> dict[str, Any]:
    """Return a finding as JSON has it; ``kind`` and ``certainty`` are the former words."""
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "kind": former.KINDS[finding.severity.value].value,
        "certainty": former.CERTAINTIES[finding.confidence.value].value,
        "title": finding.title,
        "evidence": list(finding.evidence),
        "why": finding.why,
        "nodes": list(finding.nodes),
        "entries": [list(entry) for entry in finding.entries],
        "next": finding.next_step,
    }
