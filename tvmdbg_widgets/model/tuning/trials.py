"""The trials of a tuning log as columns."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from tvmdbg_widgets.model.base.strings import StringColumn

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Trials:
    """N records of a log in the order of its files, one row each; row = trial number.

    Attributes
    ----------
    task : int32 [N]
        Index of the task.
    cost : float64 [N]
        Mean of the measured costs (what TVM ranks by), seconds; NaN where the trial failed.
    run_costs : float64 [C]
        Every cost as recorded, seconds; nothing for a failed trial.
    run_offsets : int64 [N + 1]
        The costs of row ``i`` are ``run_costs[run_offsets[i]:run_offsets[i + 1]]``.
    error : int8 [N]
        :class:`~tvmdbg_widgets.model.tuning.measure_errors.MeasureError`.
    all_cost : float64 [N]
        Seconds for building and running as recorded; NaN where the tuner writes none.
    timestamp : float64 [N]
        Unix time of the end of the run, seconds; NaN where the tuner writes none.
    version : StringColumn [N]
        As the records say: ``"v0.6"``, ``"0.2"``; empty where the tuner writes none.
    unroll : int32 [N]
        Largest ``auto_unroll_max_step``; -1 where no step sets one.
    schedule : int64 [N]
        Equal for records of one log whose task and schedule are the same bytes.
    source : int16 [N]
        Which file: ``parts.sources[i]``.
    offset : int64 [N]
        Where the record's line begins in that file, bytes.
    length : int32 [N]
        Bytes of the line without its end.
    line : int32 [N]
        Number of the line, from 1.
    """

    task: Ints
    cost: Floats
    run_costs: Floats
    run_offsets: Longs
    error: npt.NDArray[np.int8]
    all_cost: Floats
    timestamp: Floats
    version: StringColumn
    unroll: Ints
    schedule: Longs
    source: npt.NDArray[np.int16]
    offset: Longs
    length: Ints
    line: Ints

    def __len__(self) -> int:
        return len(self.task)

    def __repr__(self) -> str:
        return f"Trials: {len(self):,}, {int(np.count_nonzero(self.failed)):,} of them failed"

    @cached_property
    def failed(self) -> Bools:
        """Whether a trial has no cost (bool [N])."""
        return np.asarray(self.error != 0)

    @cached_property
    def number(self) -> Ints:
        """Which trial of its task each is, from 0 (int32 [N])."""
        order, ends = self._by_task
        found = np.empty(len(self), np.int32)
        found[order] = np.arange(len(self)) - np.repeat(ends[:-1], np.diff(ends))
        return found

    def of_task(self, task: int) -> npt.NDArray[np.intp]:
        """Return the rows of one task, ascending."""
        order, ends = self._by_task
        return order[ends[task] : ends[task + 1]] if 0 <= task < len(ends) - 1 else order[:0]

    @cached_property
    def _by_task(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Rows in the order of their tasks, and where among them each task begins and ends."""
        order = np.argsort(self.task, kind="stable")
        order.flags.writeable = False
        return order, np.concatenate([[0], np.cumsum(np.bincount(self.task))]).astype(np.intp)

    def take(self, rows: npt.ArrayLike) -> Self:
        """Return some rows as trials of their own."""
        at = np.asarray(rows, np.intp)
        counts = np.diff(self.run_offsets)[at]
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        moved = self.run_offsets[:-1][at] - offsets[:-1]
        costs = self.run_costs[np.arange(offsets[-1]) + np.repeat(moved, counts)]
        taken = {each.name: getattr(self, each.name) for each in fields(self)}
        columns = {
            name: column[at]
            for name, column in taken.items()
            if name not in ("run_costs", "run_offsets", "version")
        }
        version = type(self.version)(self.version.unique, self.version.codes[at])
        return type(self)(**columns, run_costs=costs, run_offsets=offsets, version=version)
