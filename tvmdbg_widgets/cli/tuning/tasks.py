"""``tvmdbg tuning tasks``: time, expected gain and errors of tasks."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvmdbg_widgets.cli.common.dump import print_json
from tvmdbg_widgets.cli.common.terminal import grid, note
from tvmdbg_widgets.cli.common.verbs import examples, flag, option
from tvmdbg_widgets.cli.tuning.logs import NamedLog, of_log
from tvmdbg_widgets.model.base.numbers import duration_text, percent

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.tuning.links import TaskTable
    from tvmdbg_widgets.tuning import TuningLog

EXAMPLES = examples(
    ("Which task takes the time", "tvmdbg tuning tasks ansor.json --weights weights.json"),
    ("Where another round would gain most", "tvmdbg tuning tasks ansor.json --sort gain"),
    ("Which tasks fail", "tvmdbg tuning tasks ansor.json --sort errors --top 5"),
)
_HEAD = ("task", "name", "trials", "failed", "best", "share", "gain", "spent", "target")
TasksSort = StrEnum("TasksSort", "TASK TIME GAIN ERRORS")


@of_log
def tasks(
    named: NamedLog,
    *,
    sort: Annotated[
        TasksSort,
        typer.Option(
            help="Order: task, time (weighted best cost, slowest first), gain (what the scheduler "
            "expects of the next round) or errors (failed trials)."
        ),
    ] = TasksSort.TIME,
    top: Annotated[int | None, option("N", "The first N in this order.", min=1)] = None,
    as_json: Annotated[bool, flag("Write JSON.", "--json")] = False,
) -> None:
    """List the tasks: trials, errors, best cost, share of the total, expected gain.

    Times are weighted where --weights are given; gain is the gradient of TVM's task scheduler.
    """
    log = named.open()
    table = log.task_table()
    order = sorted(range(len(log.tasks)), key=lambda task: (_rank(table, sort, task), task))[:top]
    if as_json:
        rows = [_record(log, table, task) for task in order]
        body = {"log": log.title, "total_s": table.total, "weighted": table.weighted, "tasks": rows}
        print_json(body)
        return
    note(repr(table).splitlines()[0])
    cells = [_cells(log, table, task) for task in order]
    grid(_HEAD, cells, right=(0, 2, 3, 4, 5, 6, 7), give=1, drop=(8, 7, 6, 5))


def _rank(table: TaskTable, sort: TasksSort, task: int) -> float:
    """Return the key to sort by; unknown values come first."""
    if sort is TasksSort.TASK:
        return task
    if sort is TasksSort.ERRORS:
        return -_failed(table, task)
    value = table.gains.gain[task]
    if sort is TasksSort.TIME:
        value = table.weights[task] * table.best[task]
    return -math.inf if math.isnan(value) else -float(value)


def _failed(table: TaskTable, task: int) -> int:
    return int(table.errors.trials[task] - table.errors.valid[task])


def _cells(log: TuningLog, table: TaskTable, task: int) -> tuple[str, ...]:
    from tvmdbg_widgets.analysis.tuning.sessions import seconds_text

    def known(seconds: float) -> str:
        return "-" if math.isnan(seconds) else duration_text(float(seconds) * 1e9)

    share, spent = float(table.share[task]), float(table.errors.seconds[task])
    return (
        str(task),
        log.tasks[task].name,
        f"{int(table.errors.trials[task]):,}",
        f"{_failed(table, task):,}",
        known(table.best[task]),
        "-" if math.isnan(share) else percent(share),
        known(table.gains.gain[task] if table.errors.trials[task] else math.nan),
        "-" if math.isnan(spent) else seconds_text(spent),
        log.tasks[task].target.text,
    )


def _record(log: TuningLog, table: TaskTable, task: int) -> dict[str, Any]:
    return {
        "task": task,
        "name": log.tasks[task].name,
        "workload_key": log.tasks[task].workload_key,
        "target": log.tasks[task].target.text,
        "trials": int(table.errors.trials[task]),
        "failed": _failed(table, task),
        "errors": {kind: int(table.errors.count(kind)[task]) for kind in table.errors.kinds},
        "best_s": float(table.best[task]),
        "weight": float(table.weights[task]),
        "share": float(table.share[task]),
        "gain_s": float(table.gains.gain[task]),
        "rounds": int(table.gains.rounds[task]),
        "spent_s": float(table.errors.seconds[task]),
    }
