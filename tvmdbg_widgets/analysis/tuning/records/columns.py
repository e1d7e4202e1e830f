"""Columns that follow from those of the trials."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.tuning.curves import best_so_far
from tvmdbg_widgets.model.tuning.trials import Trials

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def num_repeats(trials: Trials) -> Floats:
    """Return how many costs each trial has (float64 [N]); NaN for one that failed."""
    counts = np.diff(trials.run_offsets).astype(np.float64)
    return np.where(counts > 0, counts, np.nan)


def extremes(trials: Trials) -> tuple[Floats, Floats]:
    """Return the lowest and the highest cost of each trial, seconds; NaN for one that failed."""
    lowest, highest = np.full(len(trials), np.nan), np.full(len(trials), np.nan)
    some = np.flatnonzero(np.diff(trials.run_offsets) > 0)
    if len(some):
        starts = trials.run_offsets[some]
        lowest[some] = np.minimum.reduceat(trials.run_costs, starts)
        highest[some] = np.maximum.reduceat(trials.run_costs, starts)
    return lowest, highest


def spread(trials: Trials) -> Floats:
    """Return highest less lowest cost of each trial over their mean; NaN below two repeats."""
    lowest, highest = extremes(trials)
    found = np.full(len(trials), np.nan)
    several = np.diff(trials.run_offsets) > 1
    np.divide(highest - lowest, trials.cost, out=found, where=several)
    return found


def improved(trials: Trials) -> Bools:
    """Return the trials that were faster than all before them of their task (bool [N])."""
    order = np.argsort(trials.task, kind="stable")
    best = best_so_far(trials)[order]
    before = np.concatenate([[np.nan], best])[:-1]
    before[np.diff(trials.task[order], prepend=-1) != 0] = np.nan
    found = np.empty(len(trials), bool)
    found[order] = (best < before) | (np.isnan(before) & ~np.isnan(best))
    return found


def repeated(trials: Trials) -> Bools:
    """Return the trials whose task and schedule an earlier trial has (bool [N])."""
    return _as_before(trials.schedule)


def duplicated(trials: Trials) -> Bools:
    """Return the trials that equal an earlier one: schedule, costs, error and time (bool [N]).

    Those without timestamps are never taken for the same measurement.
    """
    cost = np.nan_to_num(trials.cost, nan=-1.0)
    return _as_before(trials.schedule, trials.timestamp, trials.all_cost, cost, trials.error)


def _as_before(*columns: npt.NDArray[np.generic]) -> Bools:
    """Return which rows equal an earlier one in all columns (bool [N])."""
    order = np.lexsort(columns[::-1])
    same = np.ones(max(len(order) - 1, 0), bool)
    for column in columns:
        same &= column[order[1:]] == column[order[:-1]]
    found = np.zeros(len(order), bool)
    found[order[1:]] = same
    return found
