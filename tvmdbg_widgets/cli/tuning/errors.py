"""``tvmdbg tuning errors``: counts of failed trials."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvmdbg_widgets.cli.common.dump import print_json, wanted
from tvmdbg_widgets.cli.common.terminal import grid, note, say, styled
from tvmdbg_widgets.cli.common.verbs import examples, flag
from tvmdbg_widgets.cli.tuning.logs import NamedLog, of_log
from tvmdbg_widgets.model.base.numbers import counted, percent

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.tuning.error_tables import ErrorTable
    from tvmdbg_widgets.tuning import TuningLog

EXAMPLES = examples(
    ("Which tasks fail", "tvmdbg tuning errors ansor.json"),
    ("Whether some rounds were disturbed", "tvmdbg tuning errors ansor.json --by round"),
    ("Whether unrolling makes builds slow", "tvmdbg tuning errors ansor.json --by unroll"),
)
_MESSAGES = 10


class ErrorsBy(StrEnum):
    """Property by which trials are grouped."""

    TASK = "task"
    ROUND = "round"
    SESSION = "session"
    UNROLL = "unroll"
    THREADS = "threads"


@of_log
def errors(
    named: NamedLog,
    *,
    by: Annotated[
        ErrorsBy,
        typer.Option(
            help="Group trials by task, round of the scheduler, session, auto_unroll_max_step, or "
            "threads of a GPU block."
        ),
    ] = ErrorsBy.TASK,
    as_json: Annotated[bool, flag("Write JSON.", "--json")] = False,
) -> None:
    """Count failed trials by error, and by task, time, unroll setting or thread count.

    Where captured output of the tuning is given too, the texts of errors follow: the log has none.
    """
    log = named.open()
    table = log.errors_by(by.value, progress=wanted())
    if as_json:
        print_json(_record(log, table))
        return
    failed = int(log.trials.failed.sum())
    share = f" ({percent(failed / len(log))})" if failed else ""
    note(f"{failed:,} of {counted(len(log), 'trial')} failed{share}")
    head = (by.value, "trials", "failed", *table.kinds)
    rows = [
        (
            table.labels[row],
            f"{int(table.trials[row]):,}",
            f"{int(table.trials[row] - table.valid[row]):,}",
            *(f"{count:,}" if count else "" for count in table.counts[row].tolist()),
        )
        for row in range(len(table))
    ]
    grid(head, rows, right=range(1, len(head)), give=0, drop=range(len(head) - 1, 2, -1))
    _tell_messages(log)


def _tell_messages(log: TuningLog) -> None:
    messages = [message for message in log.parts.messages if message.error and message.message]
    if messages:
        say()
        say(styled("Messages", "bold"))
    for failed in messages[:_MESSAGES]:
        where = f"row {failed.row}" if failed.row >= 0 else f"No: {failed.number}"
        last_line = failed.message.strip().rpartition("\n")[2].strip()
        say("  ", styled(f"{where:<10}", "dim"), styled(last_line))
    if len(messages) > _MESSAGES:
        note(f"{len(messages) - _MESSAGES:,} more: --json has all")


def _record(log: TuningLog, table: ErrorTable) -> dict[str, Any]:
    return {
        "log": log.title,
        "by": table.by,
        "groups": [
            {
                table.by: int(table.keys[row]),
                "label": table.labels[row],
                "trials": int(table.trials[row]),
                "failed": int(table.trials[row] - table.valid[row]),
                "errors": {kind: int(table.count(kind)[row]) for kind in table.kinds},
                "spent_s": float(table.seconds[row]),
                "wasted_s": float(table.wasted_seconds[row]),
            }
            for row in range(len(table))
        ],
        "messages": [
            {name: getattr(message, name) for name in ("row", "number", "error", "message")}
            for message in log.parts.messages
            if message.error
        ],
    }
