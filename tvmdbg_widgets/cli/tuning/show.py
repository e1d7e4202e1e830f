"""``tvmdbg tuning show``: one schedule as a loop nest, steps, tiles or Python."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvmdbg_widgets.cli.common.dump import print_json
from tvmdbg_widgets.cli.common.terminal import for_shell, grid, note, say, styled
from tvmdbg_widgets.cli.common.verbs import UsageError, examples, flag, option
from tvmdbg_widgets.cli.tuning.logs import NamedLog, of_log, task_of
from tvmdbg_widgets.model.base.numbers import counted

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.tuning.schedules.schedule import Schedule
    from tvmdbg_widgets.tuning import TuningLog

EXAMPLES = examples(
    ("The best schedule of a task", "tvmdbg tuning show ansor.json --task 3"),
    ("Names and extents", "tvmdbg tuning show a.json --row 12 --register workloads.py"),
    ("Each step in words", "tvmdbg tuning show ansor.json --row 12 --as steps"),
    ("To apply it in TVM", "tvmdbg tuning show ansor.json --row 12 --as python > apply.py"),
)
_STYLES = {
    "parallel": "yellow",
    "unroll": "yellow",
    "vthread": "yellow",
    "vectorize": "cyan",
    "tensorize": "cyan",
    "blockIdx": "cyan",
    "threadIdx": "green",
}
_NEST = ("kind", "indent", "text", "stage", "extent", "factor", "steps")
_TILES = ("stage", "loop", "extent", "factors", "bound to")
As = StrEnum("As", "NEST STATE STEPS TILES PYTHON")


@of_log
def show(
    named: NamedLog,
    *,
    row: Annotated[int | None, option("N", "Which trial; -1 is the last.")] = None,
    task: Annotated[
        str | None,
        option("TASK", "The best trial of a task: index, workload key or function name."),
    ] = None,
    form: Annotated[
        As,
        typer.Option(
            "--as",
            help="nest: loops with their known extents; state: as print(state) in TVM; steps "
            "in words; tiles as a table; python: code that applies it in TVM.",
        ),
    ] = As.NEST,
    as_json: Annotated[bool, flag("Write JSON.", "--json")] = False,
) -> None:
    """Show a schedule as loops, steps in words, a table of tiles, or Python.

    Without --row and --task it is the best trial of the only task. Names and extents need the
    workload's DAG: a DAG text or a file of dump_workload_to_dag_log among the LOGs, or --register.
    """
    log = named.open()
    schedule = log.schedule(_row(log, row, task))
    if as_json:
        print_json(_record(schedule))
        return
    if form is As.PYTHON:
        _tell_text(schedule.python, "only schedules of Ansor can be applied as Python")
    elif form is As.STATE:
        _tell_text(schedule.print(), schedule.refused or "only Ansor records steps")
    else:
        say(styled(schedule.title, "bold"))
        for text in schedule.notes:
            say("  ", styled(for_shell(text), "dim"))
        if form is As.NEST and schedule.nest:
            _tell_nest(schedule)
        elif form is As.TILES:
            _tell_tiles(schedule)
        else:
            for number, text in enumerate(schedule.steps):
                say(styled(f"{number:>4}  ", "dim"), styled(text))


def _row(log: TuningLog, row: int | None, task: str | None) -> int:
    if row is not None and task is not None:
        raise UsageError("--row and --task are mutually exclusive")
    if row is not None:
        return row
    if not len(log):
        raise UsageError("the log has no trial to show")
    if task is None and len(log.tasks) != 1:
        raise UsageError(
            f"the log has {counted(len(log.tasks), 'task')}", "Choose: --task 0, or --row 12"
        )
    best = log.best(0 if task is None else task_of(task))
    if best is None:
        raise UsageError("the task has no valid trial", "Choose one of its trials: --row 12")
    return best.row


def _tell_text(text: str, why: str) -> None:
    """Print text line by line; control characters are escaped."""
    if not text:
        raise UsageError(f"there is nothing to write: {why}")
    for line in text.rstrip("\n").split("\n"):
        say(styled(line))


def _tell_nest(schedule: Schedule) -> None:
    from tvmdbg_widgets.analysis.tuning.schedules.nest import with_factor

    for line in schedule.nest:
        word = line.annotation.word if line.kind == "loop" else ""
        style = _STYLES.get(word.partition(".")[0])
        rest = with_factor(line)[line.indent + len(word) :]
        say(" " * line.indent, styled(word, *([style] if style else [])), styled(rest))


def _tell_tiles(schedule: Schedule) -> None:
    stages = schedule.structure.stages
    rows = [
        (
            _stage(tile.stage, stages[tile.stage].name),
            tile.loop,
            "?" if tile.extent is None else f"{tile.extent:,}",
            " · ".join("?" if factor is None else str(factor) for factor in tile.factors),
            " · ".join(mark or "-" for mark in tile.marks) if any(tile.marks) else "",
        )
        for tile in schedule.structure.tiles
    ]
    if rows:
        grid(_TILES, rows, right=(2,), give=0, drop=())
    else:
        note("No loop is split.")


def _stage(number: int, name: str) -> str:
    """Return a stage's number and name; without a DAG the name contains the number."""
    return name if name.startswith(f"stage {number}") else f"{number} {name}"


def _record(schedule: Schedule) -> dict[str, Any]:
    record = schedule.record
    return {
        "row": record.row,
        "task": record.task.index,
        "workload_key": record.task.workload_key,
        "target": record.task.target.text,
        "cost_s": record.cost,
        "error": record.error.value,
        "notes": list(schedule.notes),
        "nest": [{name: getattr(line, name) for name in _NEST} for line in schedule.nest],
        "steps": list(schedule.steps),
        "python": schedule.python,
    }
