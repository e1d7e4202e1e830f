"""``tvmdbg tuning best``: the best trials of tasks, and the one TVM would apply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvmdbg_widgets.cli.common.dump import print_json
from tvmdbg_widgets.cli.common.terminal import grid, note, paragraph, say, styled
from tvmdbg_widgets.cli.common.verbs import FOUND, UsageError, examples, flag, option
from tvmdbg_widgets.model.base.numbers import agree, counted

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.tuning.identity import Applied
    from tvmdbg_widgets.model.tuning.measure_errors import Record


from tvmdbg_widgets.cli.tuning.logs import NamedLog, of_log, task_of
from tvmdbg_widgets.model.base.numbers import duration_text

EXAMPLES = examples(
    ("The best trial of each task", "tvmdbg tuning best ansor.json"),
    ("What TVM would apply, and why", "tvmdbg tuning best ansor.json --task 3"),
    ("On another target", "tvmdbg tuning best a.json --task 3 --target 'cuda -model=t4'"),
)
_HEAD = ("task", "name", "row", "cost", "where")


@of_log
def best(
    named: NamedLog,
    *,
    task: Annotated[str | None, option("TASK", "Index, workload key or function name.")] = None,
    target: Annotated[str | None, option("TARGET", "With --task: what TVM compiles for.")] = None,
    compatible: Annotated[
        bool,
        flag(
            "With --task: also workloads of other sizes, as include_compatible=True does.",
            "--compatible",
        ),
    ] = False,
    as_json: Annotated[bool, flag("Write JSON.", "--json")] = False,
) -> None:
    """List the best trial of each task: the lowest mean cost, the first of equal ones.

    With --task: the record that TVM would apply for it, and why. Exit status 1 if there is none.
    """
    if task is None and (target is not None or compatible):
        raise UsageError("--target and --compatible need --task")
    log = named.open()
    if task is not None:
        applied = log.applied(task_of(task), target, include_compatible=compatible)
        _tell_applied(applied, as_json=as_json)
        if applied.record is None:
            raise typer.Exit(FOUND)
        return
    records = log.best()
    if as_json:
        print_json({"log": log.title, "best": [_record(record) for record in records]})
        return
    rows = [
        (str(record.task.index), record.task.name, str(record.row), _cost(record), record.where)
        for record in records
    ]
    grid(_HEAD, rows, right=(0, 2, 3), give=1, drop=(4,))
    lacking = len(log.tasks) - len(records)
    if lacking:
        note(
            f"{lacking:,} of {counted(len(log.tasks), 'task')} {agree(lacking, 'has')} no valid "
            "trial"
        )


def _tell_applied(applied: Applied, *, as_json: bool) -> None:
    if as_json:
        body = {
            "applied": None if applied.record is None else _record(applied.record),
            "why": list(applied.why),
            "candidates": [
                {
                    "found_by": candidate.found_by,
                    "factor": candidate.factor,
                    **_record(candidate.record),
                }
                for candidate in applied.candidates
            ],
        }
        print_json(body)
        return
    record = applied.record
    head = "no record" if record is None else f"row {record.row}"
    where = "" if record is None else f"  {_cost(record)}  {record.where}"
    say(styled(head, "bold"), styled(where))
    for text in applied.why:
        paragraph(text, indent=2)


def _cost(record: Record) -> str:
    return duration_text(record.cost * 1e9)


def _record(record: Record) -> dict[str, Any]:
    return {
        "task": record.task.index,
        "name": record.task.name,
        "workload_key": record.task.workload_key,
        "target": record.task.target.text,
        "row": record.row,
        "cost_s": record.cost,
        "costs_s": list(record.costs),
        "where": record.where,
        "line": record.line.decode("utf-8", "replace"),
    }
