"""The trials that a query finds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.query.listed import Listed
from tvmdbg_widgets.analysis.query.masks import rows_found
from tvmdbg_widgets.analysis.tuning.records.fields import TRIALS, trials_frame
from tvmdbg_widgets.analysis.tuning.records.query import TrialMasks
from tvmdbg_widgets.model.base.numbers import counted, duration_text
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.model.tuning.parts import TuningParts
from tvmdbg_widgets.model.tuning.record import Record


class TrialSelection(Listed):
    """Rows of the trials that a query finds, ascending.

    Made by :meth:`tvmdbg_widgets.TuningLog.select`.

    Attributes
    ----------
    query : str
    unknown : dict of str to int
        By field that the query compares: how many trials of the log have no value there; they fit
        no comparison.
    """

    _head = ("row", "task", "cost", "error")
    query: str
    unknown: dict[str, int]
    _parts: TuningParts

    def __new__(
        cls, found: Iterable[int], query: str, unknown: dict[str, int], parts: TuningParts
    ) -> Self:
        """Keep what was found with what it was asked of."""
        selection = super().__new__(cls, found)
        selection.query, selection.unknown, selection._parts = query, unknown, parts
        return selection

    @property
    def rows(self) -> npt.NDArray[np.intp]:
        """The rows as an array (intp [M]), as numpy takes them to index columns."""
        return np.array(self, np.intp)

    @property
    def records(self) -> tuple[Record, ...]:
        """The records themselves, read from their lines."""
        from tvmdbg_widgets.formats.tuning.record import read_record

        return tuple(read_record(self._parts, row) for row in self)

    def to_dataframe(self) -> Any:
        """Return one row per trial (``pandas.DataFrame``), as ``TuningLog.to_dataframe``."""
        return trials_frame(self._parts, self.rows)

    @property
    def caption(self) -> str:
        """What was found: ``"12 of 3,008 trials: cost<2ms; cost unknown for 1,638 trials"``."""
        count = len(self._parts.trials)
        found = f"{len(self):,} of {counted(count, 'trial')}: {one_line(self.query)}"
        unknown = [
            f"{field} unknown for {'all' if rows == count else counted(rows, 'trial')}"
            for field, rows in self.unknown.items()
        ]
        return "; ".join([found, *unknown])

    def _cells(self, each: int) -> list[str]:
        trials = self._parts.trials
        task, failed = int(trials.task[each]), bool(trials.failed[each])
        error = f"{trials.error[each]} {MeasureError(trials.error[each]).label}"
        return [
            str(each),
            one_line(f"{task} {self._parts.tasks[task].name}"),
            "" if failed else duration_text(float(trials.cost[each]) * 1e9),
            error if failed else "",
        ]


def select(parts: TuningParts, query: str) -> TrialSelection:
    """Return the trials that a query finds: ``"error:6 task:3"``, ``"cost<2ms is:improved"``.

    The language is that of the search fields (:doc:`/queries`).

    Raises
    ------
    ValueError, TypeError
        It does not follow the grammar, and the message shows where; it is no text.
    """
    masks = TrialMasks(parts)
    found = rows_found(query, masks, TRIALS).tolist()
    return TrialSelection(found, query, masks.unknown, parts)
