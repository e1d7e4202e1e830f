"""Replies on schedules of a tuning log: of one trial, of two compared, tile sizes of a task."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.tuning.facts import LogFacts
from tvmdbg_widgets.analysis.tuning.schedules.comparison import (
    ScheduleDifference,
    compare_schedules,
    indented,
)
from tvmdbg_widgets.analysis.tuning.schedules.nest import shown_text
from tvmdbg_widgets.analysis.tuning.schedules.schedule import Schedule
from tvmdbg_widgets.analysis.tuning.structure import TileStructure
from tvmdbg_widgets.analysis.tuning.touches import touches
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.formats.tuning.record import read_steps
from tvmdbg_widgets.model.base.numbers import agree, bytes_text, counted, duration_text
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError, Record
from tvmdbg_widgets.model.tuning.steps import AnyStep, NestLine, PragmaStep, SplitStep
from tvmdbg_widgets.model.tuning.trials import FIELDS

#: Trials of a task with tile sizes.
MOST_TRIALS = 4000
_MOST_AXES = 18
_NS = 1e9
_COSTS_SHOWN = 3


def schedule(log: LogFacts, trial: int) -> Reply:
    """Answer the schedule of a trial."""
    shown = log.schedule(trial)
    words, lines = shown.steps, shown.nest
    touched = _touched(shown)
    codes = [step.code for step in shown.record.steps] or [""] * len(words)
    result = {
        "trial": trial,
        "title": f"trial {trial:,}",
        "facts": [*_record_facts(shown.record, len(log.parts.sources)), *_messages(log, trial)],
        "lines": [_line(line, touched.get((line.stage, line.iterator), [])) for line in lines],
        "steps": [
            {"code": code, "text": one_line(text)} for code, text in zip(codes, words, strict=True)
        ],
        "tiles": _tiles(shown.structure),
        "notes": [one_line(note) for note in shown.notes],
        "python": shown.python,
    }
    return Reply(result)


def _touched(schedule: Schedule) -> dict[tuple[int, int], list[str]]:
    """Return texts on how much of a buffer a loop body touches, by (stage, iterator)."""
    texts: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
    for touch in touches(schedule.inferred) if schedule.inferred is not None else ():
        if touch.elements is not None:
            size = (
                counted(touch.elements, "element")
                if touch.nbytes is None
                else bytes_text(touch.nbytes).partition(" (")[0]
            )
            what = f"writes {touch.name}" if touch.is_written else touch.name
            texts[touch.stage, touch.iterator].append(one_line(f"{what} {size}"))
    return texts


def _line(line: NestLine, touched: list[str]) -> dict[str, Any]:
    return {
        "kind": line.kind,
        "depth": line.indent // 2,
        "text": one_line(shown_text(line)),
        "word": line.annotation.word if line.kind == "loop" else "",
        "factor": line.factor if line.extent is None else None,
        "steps": list(line.steps),
        "touches": touched,
    }


def _tiles(structure: TileStructure) -> list[dict[str, Any]]:
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


def change(log: LogFacts, a: int, b: int) -> Reply:
    """Answer two schedules compared."""
    compared = compare_schedules(log.schedule(a), log.schedule(b))
    result = {
        "titles": [_title(compared.a.record), _title(compared.b.record)],
        "steps": [_change(step) for step in compared.steps],
        "lines": [_change(line) for line in compared.lines],
    }
    return Reply(result)


def _change(difference: ScheduleDifference) -> dict[str, str]:
    a, b = indented(difference.text_a), indented(difference.text_b)
    return {"change": difference.change, "a": a, "b": b}


def _title(record: Record) -> str:
    cost = duration_text(record.cost * _NS) if record.error == 0 else record.error.label
    return f"trial {record.row:,}: {cost}"


def _messages(log: LogFacts, trial: int) -> list[tuple[str, str]]:
    """Return console messages of a failed trial; the log has no texts."""
    texts = {one_line(message.message) for message in log.parts.messages if message.row == trial}
    return [("said", text) for text in sorted(texts) if text]


def _record_facts(record: Record, num_sources: int) -> list[tuple[str, str]]:
    """Return the facts of a record as label and text; the file's name if there are several."""
    facts = [("task", f"{record.task.index}: {one_line(record.task.name)}")]
    if record.error is MeasureError.NO_ERROR:
        facts.append(("cost", duration_text(record.cost * _NS)))
        if len(record.costs) > 1:
            facts.append(("runs", _runs(record.costs)))
    else:
        code = f"error {int(record.error)}, " if record.error > 0 else ""
        facts.append(("failed", f"{code}{record.error.label}"))
    for field in FIELDS.values():
        value = getattr(record, field.name) if field.label else math.nan
        if not math.isnan(value):
            text = duration_text(value * _NS) if field.unit == "s" else f"{value:,}"
            facts.append((field.label, text))
    file, _, line = record.where.rpartition(", ")
    where = line if num_sources == 1 else f"{PurePath(file).name}, {line}"
    facts.append(("in", one_line(f"{where} ({record.version})" if record.version else where)))
    return facts


def _runs(costs: Sequence[float]) -> str:
    """Return the costs of the runs; of many, the range."""
    if len(costs) <= _COSTS_SHOWN:
        return ", ".join(duration_text(cost * _NS) for cost in costs)
    low, high = duration_text(min(costs) * _NS), duration_text(max(costs) * _NS)
    return f"{len(costs)} of {low} to {high}"


def tiles(log: LogFacts, task: int, most: int = MOST_TRIALS) -> Reply:
    """Answer split factors of a task's trials.

    Only trials with the most common sequence of steps are shown, and only factors that differ.
    """
    rows = log.trials.of_task(task)
    shown = rows[np.argsort(log.trials.cost[rows], kind="stable")][:most]
    groups: defaultdict[tuple[object, ...], list[tuple[int, list[int]]]] = defaultdict(list)
    for row in shown.tolist():
        steps = read_steps(log.parts, row)
        if not steps:
            continue
        shape = tuple(_shape(step) for step in steps)
        groups[shape].append((row, [value for step in steps for value in _values(step)]))
    if not groups:
        return _tiles_of([], "no trial of this task has transform steps", [], np.zeros((0, 0)), log)
    common = max(groups, key=lambda shape: len(groups[shape]))
    members = groups[common]
    if len(members) == 1:
        return _tiles_of([], "no tile size differs in 1 trial", [], np.zeros((0, 0)), log)
    values = np.array([factors for _, factors in members], np.float64).reshape(len(members), -1)
    varied = np.flatnonzero((values != values[0]).any(axis=0))
    all_axes, varied = len(varied), varied[:_MOST_AXES]
    names = _names(log.schedule(members[0][0])) if all_axes else []
    axes = [names[at] for at in varied]
    of_all = counted(len(rows), "trial")
    if len(shown) < len(rows):
        of_all = f"the {len(shown):,} fastest of {of_all}"
    note = f"{len(members):,} of {of_all} {agree(len(members), 'shares')} this sequence of steps"
    if not axes:
        note = f"no tile size differs in {counted(len(members), 'trial')}"
    elif all_axes > len(axes):
        note += f"; the first {len(axes)} of {counted(all_axes, 'tile size')}"
    return _tiles_of(
        axes, note, [row for row, _ in members] if axes else [], values[:, varied], log
    )


def _tiles_of(
    axes: list[str], note: str, rows: list[int], values: npt.NDArray[np.float64], log: LogFacts
) -> Reply:
    at = np.array(rows, np.int32)
    columns = {
        "rows": at,
        "values": np.ascontiguousarray(values[: len(at)], np.float32).ravel(),
        "costs": log.trials.cost[at],
    }
    return Reply.of("tuningTiles", columns, {"axes": axes, "note": note})


def _shape(step: AnyStep) -> tuple[object, ...]:
    """Return the key that steps with comparable factors share."""
    if isinstance(step, SplitStep):
        return step.code, step.stage_id, step.iter_id, len(step.lengths)
    return step.code, step.stage_id


def _values(step: AnyStep) -> tuple[int, ...]:
    if isinstance(step, SplitStep):
        return step.lengths
    if isinstance(step, PragmaStep):
        return (step.auto_unroll or 0,)
    return ()


def _names(schedule: Schedule) -> list[str]:
    """Return a name per factor: the split loop and the number of the part, from 1."""
    tiles = {tile.step: tile for tile in schedule.structure.tiles}
    stages = {tile.loop: set[int]() for tile in tiles.values()}
    for tile in tiles.values():
        stages[tile.loop].add(tile.stage)
    pragmas = sum(isinstance(step, PragmaStep) for step in schedule.record.steps)
    names: list[str] = []
    for at, step in enumerate(schedule.record.steps):
        if isinstance(step, PragmaStep):
            names.append("unroll" if pragmas == 1 else f"{step.stage_id}: unroll")
        elif isinstance(step, SplitStep):
            loop = tiles[at].loop if at in tiles else f"loop {step.iter_id}"
            several = at in tiles and len(stages[loop]) > 1
            where = f"{tiles[at].stage}: {loop}" if several else loop
            names += [one_line(f"{where}·{part + 1}") for part in range(len(step.lengths))]
    return names
