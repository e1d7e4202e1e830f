"""``tvmdbg check``: damaged, inconsistent or uncertain files."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from tvmdbg_widgets.cli.common.dump import NamedRun, of_run, print_json
from tvmdbg_widgets.cli.common.terminal import say, styled
from tvmdbg_widgets.cli.common.verbs import FOUND, examples, flag

EXAMPLES = examples(
    ("Is this dump OK?", "tvmdbg check /tmp/tvmdbg && echo OK"),
    ("Fail on damaged files only", "tvmdbg check /tmp/tvmdbg --fail-on error"),
    ("For another program", "tvmdbg check /tmp/tvmdbg --json | jq '.issues[].rule'"),
)
CheckFailOn = StrEnum("CheckFailOn", "ERROR WARNING NOTE")


@of_run
def check(
    named: NamedRun,
    *,
    fail_on: Annotated[
        CheckFailOn, typer.Option("--fail-on", help="Exit with status 1 on this severity or worse.")
    ] = CheckFailOn.WARNING,
    as_json: Annotated[bool, flag("Write JSON.", "--json")] = False,
) -> None:
    """Check a dump for damaged or inconsistent files. Exit status 1 if there are any.

    [bold]error[/]: a file violates its format, something was skipped. [bold]warning[/]: readable,
    but questionable, or two files disagree. [bold]note[/]: worth knowing, nothing is wrong. Errors
    and warnings give exit status 1; 2 means that nothing could be read.
    """
    run = named.open()
    issues = run.check()
    order = list(CheckFailOn)
    failed = any(order.index(CheckFailOn(one.severity)) <= order.index(fail_on) for one in issues)
    if as_json:
        from tvmdbg_widgets.cli.common.findings import issue_record

        records = [issue_record(issue) for issue in issues]
        print_json({"run": run.title, "ok": not failed, "issues": records})
    else:
        from tvmdbg_widgets.cli.common.findings import print_issues

        verdict = styled("issues found", "bold", "red") if failed else styled("OK", "bold", "green")
        say(styled(run.title, "bold"), "  ", verdict, styled(f"  {issues.summary()}", "dim"))
        print_issues(issues)
    if failed:
        raise typer.Exit(FOUND)
