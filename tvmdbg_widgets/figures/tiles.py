"""Tile sizes of one task's trials, for parallel coordinates."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.tuning.facts import LogFacts
from tvmdbg_widgets.analysis.tuning.schedules.schedule import Schedule
from tvmdbg_widgets.formats.tuning.record import read_steps
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.steps import AnyStep, PragmaStep, SplitStep

_MOST_TRIALS = 4000


_MOST_AXES = 18


def tiles(
    log: LogFacts, task: int, most: int = _MOST_TRIALS
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Return split factors of a task's trials, for ``js/src/tuning/client.ts``.

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
        return _answer([], "no trial of this task has transform steps", [], np.zeros((0, 0)), log)
    common = max(groups, key=lambda shape: len(groups[shape]))
    members = groups[common]
    if len(members) == 1:
        return _answer([], "no tile size differs in 1 trial", [], np.zeros((0, 0)), log)
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
    return _answer(axes, note, [row for row, _ in members] if axes else [], values[:, varied], log)


def _answer(
    axes: list[str], note: str, rows: list[int], values: npt.NDArray[np.float64], log: LogFacts
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    at = np.array(rows, np.int32)
    columns: dict[str, npt.NDArray[Any]] = {
        "rows": at,
        "values": np.ascontiguousarray(values[: len(at)], np.float32).ravel(),
        "costs": log.trials.cost[at],
    }
    return {"axes": axes, "note": note}, columns


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
