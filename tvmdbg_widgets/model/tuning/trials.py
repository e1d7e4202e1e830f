"""The trials of a tuning log as columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, Self

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.strings import StringColumn

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Field:
    """What readers tell of each trial: columns, data frame, queries, facts and manual follow.

    `query` names the units that a query takes, empty where queries do not know the field; `label`
    is the field's name among the facts that the view shows of a trial.
    """

    name: str
    dtype: str
    text: str
    unit: Literal["", "s"] = ""
    query: Literal["", "run time", "wall time", "number"] = ""
    label: str = ""


_FAILED, _UNTOLD = "NaN where the trial failed", "NaN where the tuner writes none"
_FIELDS: Final = (
    Field("task", "int32", "index of the task"),
    Field("cost", "float64", f"mean of the measured costs; {_FAILED}", "s", "run time"),
    Field("run_costs", "float64", "every cost as recorded; nothing for a failed trial", "s"),
    Field("run_offsets", "int64", "row `i` has `run_costs[run_offsets[i]:run_offsets[i + 1]]`"),
    Field("error", "int8", "number of the `MeasureError`, 0 for none"),
    Field(
        "all_cost",
        "float64",
        f"what building and running took; {_UNTOLD}",
        "s",
        "wall time",
        "build and run",
    ),
    Field("timestamp", "float64", f"Unix time of the end of the run; {_UNTOLD}", "s", "number"),
    Field("version", "StringColumn", "of the record (`v0.6`, `0.2`), empty where it has none"),
    Field("unroll", "int32", "largest `auto_unroll_max_step`; -1 where no step sets one"),
    Field("schedule", "int64", "equal for records of one log with the same task and schedule"),
    Field("source", "int16", "which file of the log, `parts.sources[i]`"),
    Field("offset", "int64", "where the line of the record begins in its file, bytes"),
    Field("length", "int32", "bytes of that line without its end"),
    Field("line", "int32", "number of that line, from 1"),
)
FIELDS: Final = {each.name: each for each in _FIELDS}
"""By name, in the order of :class:`Trials`."""


@dataclass(frozen=True, eq=False)
class Trials:
    """N records of a log in the order of its files, one row each; row = trial number."""

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
        columns = {
            name: getattr(self, name)[at]
            for name in FIELDS
            if name not in ("run_costs", "run_offsets", "version")
        }
        version = type(self.version)(self.version.unique, self.version.codes[at])
        return type(self)(**columns, run_costs=costs, run_offsets=offsets, version=version)


Trials.__doc__ = "\n    ".join(
    [
        f"{Trials.__doc__}\n\n    Attributes\n    ----------",
        *(
            f"{each.name} : {each.dtype} [N]\n        {each.text[:1].upper()}{each.text[1:]}"
            f"{', seconds' * bool(each.unit)}.".replace("`", "``")
            for each in _FIELDS
        ),
    ]
)
