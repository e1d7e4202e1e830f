"""``tvmdbg tuning compare``: the same schedules on two machines."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvmdbg_widgets.cli.common.dump import print_json, wanted
from tvmdbg_widgets.cli.common.terminal import grid, note, paragraph, say, styled
from tvmdbg_widgets.cli.common.verbs import FOUND, argument, examples, flag, option, verb
from tvmdbg_widgets.cli.tuning.logs import NamedLog
from tvmdbg_widgets.model.base.numbers import duration_text

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.tuning.comparison import MachineComparison, TaskTransfer

EXAMPLES = examples(
    ("Whether schedules keep their rank", "tvmdbg tuning compare ansor.json rerun.json"),
    (
        "In CI: no best slower by over 10 %",
        "tvmdbg tuning compare a b --fail-on slower --margin 10",
    ),
    ("In CI: all that ran still run", "tvmdbg tuning compare a b --fail-on failing"),
    ("For another program", "tvmdbg tuning compare a b --json | jq '.tasks[]'"),
)
TuningFailOn = StrEnum("TuningFailOn", "ANY SLOWER FAILING")


@verb
def compare(
    old: Annotated[str, argument("OLD", "A log, or a folder of one tuning.")],
    new: Annotated[str, argument("NEW", "The log of the other machine.")],
    *,
    fail_on: Annotated[
        TuningFailOn | None,
        typer.Option(
            "--fail-on",
            help="Exit with status 1 if, for a task, the best of NEW is slower than that of OLD; "
            "'failing': if a schedule that ran on OLD fails on NEW; 'any': if either is so, or "
            "the logs have no schedule in common.",
        ),
    ] = None,
    margin: Annotated[float, option("%", "With --fail-on: slower by more than so.", min=0)] = 5.0,
    as_json: Annotated[bool, flag("Write JSON.", "--json")] = False,
) -> None:
    """Compare the same schedules in two logs: rank correlation, regret, what fails.

    Schedules are the same where workload and all steps are; the target may differ. The rank
    correlation comes with its 95 % interval, and needs 4 schedules of a task that ran in both
    logs. Regret: how much slower the fastest schedule of OLD is on NEW than the best of NEW.
    """
    comparison = NamedLog([old]).open().compare(NamedLog([new]).open(), progress=wanted())
    if as_json:
        print_json(_record(comparison))
    else:
        _tell(comparison)
    if fail_on is not None and _fails(comparison, fail_on, margin / 100):
        raise typer.Exit(FOUND)


def _fails(comparison: MachineComparison, fail_on: TuningFailOn, margin: float) -> bool:
    """Return whether the comparison fails, and print why."""
    slower = comparison.slower_by(margin) if fail_on is not TuningFailOn.FAILING else ()
    failing = sum(comparison.failing.values()) if fail_on is not TuningFailOn.SLOWER else 0
    nothing = fail_on is TuningFailOn.ANY and not len(comparison.pairs)
    for task in slower:
        note(f"slower: task {task.old.index}, best {_cost(task.old_best)} → {_cost(task.new_best)}")
    if failing:
        note(f"failing: {failing:,} of the schedules that ran")
    if nothing:
        note("the logs have no schedule in common")
    return bool(slower or failing or nothing)


def _tell(comparison: MachineComparison) -> None:
    first, *rest = comparison.caption
    say(styled(first, "bold"))
    for text in rest:
        paragraph(text, more=2)
    if not comparison.tasks:
        return
    head, lines = comparison.cells()
    say()
    grid(head, lines, right=range(1, len(head)), give=0, drop=(3, 6))


def _cost(seconds: float) -> str:
    return "none" if math.isnan(seconds) else duration_text(seconds * 1e9)


def _record(comparison: MachineComparison) -> dict[str, Any]:
    return {
        "old": comparison.titles[0],
        "new": comparison.titles[1],
        "said": list(comparison.caption[1:]),
        "schedules": len(comparison.pairs),
        "correlation": _correlation(comparison),
        "failing": {error.label: count for error, count in comparison.failing.items()},
        "tasks": [_task(task) for task in comparison.tasks],
    }


def _task(task: TaskTransfer) -> dict[str, Any]:
    return {
        "task": task.old.index,
        "new_task": task.new.index,
        "name": task.old.name,
        "workload_key": task.old.workload_key,
        "targets": [task.old.target.text, task.new.target.text],
        "schedules": len(task.pairs),
        "correlation": _correlation(task),
        "ratio": _number(task.ratio),
        "best_s": _number(task.old_best),
        "new_best_s": _number(task.new_best),
        "transferred_s": _number(task.transferred),
        "regret": _number(task.regret),
        "same_of_top": None if task.top is None else list(task.top),
        "failing": {error.label: count for error, count in task.failing.items()},
    }


def _correlation(of: MachineComparison | TaskTransfer) -> dict[str, Any]:
    correlation = of.correlation
    numbers = {name: _number(getattr(correlation, name)) for name in ("rho", "low", "high")}
    return {**numbers, "pairs": correlation.pairs}


def _number(value: float) -> float | None:
    """Return a number, None if JSON cannot hold it."""
    return value if math.isfinite(value) else None
