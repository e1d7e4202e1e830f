"""What the view shows of one schedule, and of two."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from tvmdbg_widgets.analysis.tuning.facts import LogFacts
from tvmdbg_widgets.analysis.tuning.schedules.comparison import (
    ScheduleDifference,
    compare_schedules,
)
from tvmdbg_widgets.analysis.tuning.schedules.schedule import Schedule
from tvmdbg_widgets.analysis.tuning.structure import TileStructure
from tvmdbg_widgets.analysis.tuning.touches import touches
from tvmdbg_widgets.model.base.numbers import bytes_text, counted, duration_text
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.model.tuning.record import Record
from tvmdbg_widgets.model.tuning.state import NestLine
from tvmdbg_widgets.model.tuning.trials import FIELDS

_NS = 1e9
_COSTS_SHOWN = 3


def schedule_answer(log: LogFacts, trial: int) -> dict[str, Any]:
    """Return what ``js/src/tuning/data/schedule.ts`` calls a ScheduleInfo."""
    schedule = log.schedule(trial)
    words, lines = schedule.steps, schedule.nest
    touched = _touched(schedule)
    codes = [step.code for step in schedule.record.steps] or [""] * len(words)
    return {
        "trial": trial,
        "title": f"trial {trial:,}",
        "facts": [
            *record_facts(schedule.record, len(log.parts.sources)),
            *_messages(log, trial),
        ],
        "lines": [_line(each, touched.get((each.stage, each.iterator), [])) for each in lines],
        "steps": [
            {"code": code, "text": one_line(text)} for code, text in zip(codes, words, strict=True)
        ],
        "tiles": _tiles(schedule.structure),
        "notes": [one_line(note) for note in schedule.notes],
        "python": schedule.python,
    }


def _touched(schedule: Schedule) -> dict[tuple[int, int], list[str]]:
    """Return how much of each buffer the loops inside of each loop touch, in words."""
    found: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
    for each in touches(schedule.inferred) if schedule.inferred is not None else ():
        if each.elements is not None:
            size = (
                counted(each.elements, "element")
                if each.nbytes is None
                else bytes_text(each.nbytes).partition(" (")[0]
            )
            what = f"writes {each.name}" if each.is_written else each.name
            found[each.stage, each.iterator].append(one_line(f"{what} {size}"))
    return found


def _line(line: NestLine, touched: list[str]) -> dict[str, Any]:
    return {
        "kind": line.kind,
        "depth": line.indent // 2,
        "text": one_line(line.text),
        "word": line.annotation.word if line.kind == "loop" else "",
        "factor": line.factor if line.extent is None else None,
        "steps": list(line.steps),
        "touches": touched,
    }


def _tiles(structure: TileStructure) -> list[dict[str, Any]]:
    """Return the loops that were split, with the parts in the order of the nest."""
    names = {stage.stage: stage.name for stage in structure.stages}
    return [
        {
            "stage": one_line(names.get(tile.stage, f"stage {tile.stage}")),
            "axis": one_line(tile.loop),
            "extent": tile.extent,
            "factors": list(tile.factors),
            "words": [mark for mark in tile.marks if mark],
        }
        for tile in structure.tiles
        if tile.factors and tile.rebuilt_by < 0
    ]


def change_answer(log: LogFacts, a: int, b: int) -> dict[str, Any]:
    """Return what ``js/src/tuning/data/schedule.ts`` calls a ScheduleChange."""
    compared = compare_schedules(log.schedule(a), log.schedule(b))
    return {
        "titles": [_title(compared.a.record), _title(compared.b.record)],
        "steps": [_change(each) for each in compared.steps],
        "lines": [_change(each) for each in compared.lines],
    }


def _change(difference: ScheduleDifference) -> dict[str, str]:
    texts = (difference.text_a, difference.text_b)
    a, b = (_indented(text) for text in texts)
    return {"change": difference.change, "a": a, "b": b}


def _indented(text: str) -> str:
    """Return a text in one line that keeps its indent."""
    return " " * (len(text) - len(text.lstrip(" "))) + one_line(text.lstrip(" "))


def _title(record: Record) -> str:
    cost = duration_text(record.cost * _NS) if record.error == 0 else record.error.label
    return f"trial {record.row:,}: {cost}"


def _messages(log: LogFacts, trial: int) -> list[tuple[str, str]]:
    """Return what the console said of a trial that failed; the log itself has no texts."""
    texts = {one_line(each.message) for each in log.parts.messages if each.row == trial}
    return [("said", text) for text in sorted(texts) if text]


def record_facts(record: Record, num_sources: int) -> list[tuple[str, str]]:
    """Return what a record says of its measurement, in words; its file where there are several."""
    facts = [("task", f"{record.task.index}: {one_line(record.task.name)}")]
    if record.error is MeasureError.NO_ERROR:
        facts.append(("cost", duration_text(record.cost * _NS)))
        if len(record.costs) > 1:
            facts.append(("runs", _runs(record.costs)))
    else:
        code = f"error {int(record.error)}, " if record.error > 0 else ""
        facts.append(("failed", f"{code}{record.error.label}"))
    for field in filter(lambda each: each.label, FIELDS.values()):
        value = getattr(record, field.name)
        if not math.isnan(value):
            text = duration_text(value * _NS) if field.unit == "s" else f"{value:,}"
            facts.append((field.label, text))
    file, _, line = record.where.rpartition(", ")
    where = line if num_sources == 1 else f"{PurePath(file).name}, {line}"
    facts.append(("in", one_line(f"{where} ({record.version})" if record.version else where)))
    return facts


def _runs(costs: Sequence[float]) -> str:
    """Return what each run cost, of many the cheapest and the dearest."""
    if len(costs) <= _COSTS_SHOWN:
        return ", ".join(duration_text(each * _NS) for each in costs)
    low, high = (duration_text(each * _NS) for each in (min(costs), max(costs)))
    return f"{len(costs)} of {low} to {high}"
