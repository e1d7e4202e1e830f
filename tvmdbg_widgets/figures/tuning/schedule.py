"""What the view shows of one schedule, and of two."""

from __future__ import annotations

import math
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.model.numbers import duration_text
from tvmdbg_widgets.model.text import one_line
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError

if TYPE_CHECKING:
    from tvmdbg_widgets.model.tuning.record import Record
    from tvmdbg_widgets.tuning import TuningLog

_NS = 1e9
_COSTS_SHOWN = 10


def schedule_answer(log: TuningLog, trial: int) -> dict[str, Any]:
    """Return what ``js/src/tuning/schedule.ts`` calls a ScheduleInfo.

    Raises
    ------
    IndexError
        The log has no such trial.
    """
    record = log.record(trial)
    return {
        "trial": trial,
        "title": f"trial {trial:,}",
        "facts": record_facts(record),
        "lines": [],
        "steps": [{"code": each.code, "text": str(each.encode()[1:])} for each in record.steps],
        "tiles": [],
        "notes": [],
        "python": "",
    }


def change_answer(log: TuningLog, a: int, b: int) -> dict[str, Any]:
    """Return what ``js/src/tuning/schedule.ts`` calls a ScheduleChange."""
    raise NotImplementedError


def record_facts(record: Record) -> list[tuple[str, str]]:
    """Return what a record says of its measurement, in words."""
    facts = [("task", f"{record.task.index}: {one_line(record.task.name)}")]
    if record.error is MeasureError.NO_ERROR:
        facts.append(("cost", duration_text(record.cost * _NS)))
        if len(record.costs) > 1:
            shown = ", ".join(duration_text(each * _NS) for each in record.costs[:_COSTS_SHOWN])
            facts.append(("runs", shown + (", …" if len(record.costs) > _COSTS_SHOWN else "")))
    else:
        code = f"error {int(record.error)}, " if record.error > 0 else ""
        facts.append(("failed", f"{code}{record.error.label}"))
    if not math.isnan(record.all_cost):
        facts.append(("build and run", duration_text(record.all_cost * _NS)))
    where = PurePath(record.where).name
    facts.append(("in", one_line(f"{where} ({record.version})" if record.version else where)))
    return facts
