"""``tvmdbg tuning merge``: several logs as one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tvmdbg_widgets.cli.common.terminal import note, say
from tvmdbg_widgets.cli.common.verbs import examples, option
from tvmdbg_widgets.cli.tuning.logs import NamedLog, of_log
from tvmdbg_widgets.model.base.numbers import agree, counted

EXAMPLES = examples(
    ("Two tunings of one network", "tvmdbg tuning merge a.json b.json -o all.json"),
    ("The failed trials alone", "tvmdbg tuning merge a.json --select is:failed -o failed.json"),
)


@of_log
def merge(
    named: NamedLog,
    output: Annotated[
        Path, option("OUT", "Output file; an existing one is replaced.", "-o", "--output")
    ],
    *,
    select: Annotated[
        str | None,
        option("QUERY", "Only these trials, such as 'task:3 cost<2ms'; see the manual, Searching."),
    ] = None,
) -> None:
    """Write the records of several logs to one that TVM reads; lines stay as they are.

    Unreadable lines are left out and counted; records that are in several logs stay in it as
    often.
    """
    named.spare(output)
    log = named.open()
    rows = None if select is None else log.select(select)
    log.write(output, rows)
    say(str(output))
    written = len(log) if rows is None else len(rows)
    note(f"{counted(written, 'record')} of {counted(len(log.parts.sources), 'file')}")
    repeated = len(log.select("is:repeated"))
    if repeated:
        note(
            f"{counted(repeated, 'record')} {agree(repeated, 'repeats')} the schedule of an "
            "earlier one"
        )
    if log.parts.num_refused:
        note(f"{counted(log.parts.num_refused, 'line')} could not be read, left out")
