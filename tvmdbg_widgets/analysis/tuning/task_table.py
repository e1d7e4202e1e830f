"""What became of each task of a log."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.tuning.curves import best_costs, known_weights, weighted_sum
from tvmdbg_widgets.analysis.tuning.error_tables import ErrorTable
from tvmdbg_widgets.analysis.tuning.errors_by import errors_by
from tvmdbg_widgets.analysis.tuning.gains import Gains, gains
from tvmdbg_widgets.analysis.tuning.tables import table_html, table_text
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.tuning.parts import TuningParts

if TYPE_CHECKING:
    import pandas as pd


Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class TaskTable:
    """One row a task, in the order of ``log.tasks``: T rows.

    Attributes
    ----------
    errors : ErrorTable
        Trials, valid ones, errors and seconds of each task.
    best : float64 [T]
        Lowest cost, seconds; NaN where no trial is valid.
    weights : float64 [T]
        1 for each where the caller gave none.
    weighted : bool
        Whether the caller gave them.
    share : float64 [T]
        Of the weighted costs of the tasks that have one.
    gains : Gains
        What the task scheduler would expect of the next round.
    total : float
        Weighted sum of the best costs, seconds; NaN while a task has none, as in TVM.
    """

    errors: ErrorTable
    best: Floats
    weights: Floats
    weighted: bool
    share: Floats
    gains: Gains
    total: float

    def __len__(self) -> int:
        return len(self.best)

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row a task (needs pandas)."""
        frame = self.errors.to_dataframe()
        frame["best"] = self.best
        frame["weight"] = self.weights
        frame["share"] = self.share
        frame["gain"] = self.gains.gain
        frame["rounds"] = self.gains.rounds
        return frame

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        heads = ["task", "trials", "valid", "best", "share", "gain of a round", *self.errors.kinds]
        lines = []
        for row, label in enumerate(self.errors.labels):
            count = int(self.errors.trials[row])
            cells = [
                label,
                f"{count:,}",
                percent(int(self.errors.valid[row]) / count) if count else "",
                _duration(self.best[row]),
                "–" if math.isnan(self.share[row]) else percent(float(self.share[row])),
                _duration(self.gains.gain[row]),
                *(f"{each:,}" if each else "" for each in self.errors.counts[row].tolist()),
            ]
            lines.append(cells)
        return heads, lines

    def _title(self) -> str:
        how = "weighted sum" if self.weighted else "unweighted sum: weights are not in the log"
        of_all = "unknown" if math.isnan(self.total) else duration_text(self.total * 1e9)
        return f"{counted(len(self), 'task')}, estimated total latency {of_all} ({how})"

    def __repr__(self) -> str:
        return f"{self._title()}\n{table_text(*self._cells())}"

    def _repr_html_(self) -> str:
        return f"<p>{self._title()}</p>{table_html(*self._cells())}"


def _duration(seconds: float) -> str:
    return "–" if math.isnan(seconds) else duration_text(float(seconds) * 1e9)


def task_table(parts: TuningParts, weights: Sequence[float] | None = None) -> TaskTable:
    """Count what became of each task."""
    size = len(parts.tasks)
    weight = known_weights(weights, size)
    best = best_costs(parts.trials, size)
    with np.errstate(over="ignore", invalid="ignore"):
        products = weight * best
        known = float(np.nansum(products))
        share = products / known if known else np.full(size, np.nan)
    return TaskTable(
        errors_by(parts, "task"),
        best,
        weight,
        weights is not None,
        share,
        gains(parts.trials, size, weights),
        weighted_sum(best, weight),
    )
