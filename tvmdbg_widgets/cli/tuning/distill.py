"""``tvmdbg tuning distill``: the best records as a log."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tvmdbg_widgets.cli.common.terminal import note, say
from tvmdbg_widgets.cli.common.verbs import UsageError, examples, option
from tvmdbg_widgets.cli.tuning.logs import NamedLog, of_log
from tvmdbg_widgets.model.base.numbers import counted

EXAMPLES = examples(
    ("As TVM's own distill", "tvmdbg tuning distill ansor.json -o best.json"),
    ("To measure the ten best again", "tvmdbg tuning distill ansor.json -k 10 -o top.json"),
    ("Of several logs", "tvmdbg tuning distill monday.json tuesday.json -o best.json"),
)


@of_log
def distill(
    named: NamedLog,
    *,
    output: Annotated[
        Path | None,
        option(
            "OUT",
            "Output file; an existing one is replaced.",
            "-o",
            "--output",
            show_default="LOG.best.json",
        ),
    ] = None,
    k: Annotated[int, option("K", "How many of each workload to keep.", "-k", min=1)] = 1,
) -> None:
    """Write the best records of each workload and target key to a log that TVM reads.

    The same records, in the same order, as TVM's distill mode; lines stay as they are. TVM's
    merges what OUT already holds: name that file as one more LOG, and another OUT.
    """
    if output is None:
        if len(named.logs) > 1 or named.logs == ["-"]:
            raise UsageError("which file to write is not clear", "Give it: -o best.json")
        output = Path(f"{named.logs[0].rstrip('/')}.best.json")
    named.spare(output)
    log = named.open()
    distilled = log.distill(k)
    distilled.write(output)
    say(str(output))
    kept = f"{counted(len(distilled), 'record')} of {counted(len(distilled.tasks), 'task')}"
    note(f"{kept}, from {counted(len(log), 'record')}")
