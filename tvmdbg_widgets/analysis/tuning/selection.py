"""Trials selected by a query, and trials counted by error."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.query import rows_found
from tvmdbg_widgets.analysis.selection import Listed
from tvmdbg_widgets.analysis.tuning.curves import round_of
from tvmdbg_widgets.analysis.tuning.error_tables import ErrorTable, error_table
from tvmdbg_widgets.analysis.tuning.hardware_limits import threads_of
from tvmdbg_widgets.analysis.tuning.sessions import session_of
from tvmdbg_widgets.analysis.tuning.trial_queries import TRIALS, TrialMasks, trials_frame
from tvmdbg_widgets.formats.tuning.record import row_numbers
from tvmdbg_widgets.model.base.numbers import counted, duration_text
from tvmdbg_widgets.model.base.slips import meant
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError, Record
from tvmdbg_widgets.model.tuning.parts import TuningParts


class TrialSelection(Listed):
    """Rows of the trials that a query selects, ascending.

    Made by :meth:`tvmdbg_widgets.TuningLog.select`.

    Attributes
    ----------
    query : str
    unknown : dict of str to int
        By compared field, the number of trials without a value; they fit no comparison.
    """

    _head = ("row", "task", "cost", "error")
    query: str
    unknown: dict[str, int]
    _parts: TuningParts

    def __new__(
        cls, rows: Iterable[int], query: str, unknown: dict[str, int], parts: TuningParts
    ) -> Self:
        """Keep the rows with query and log."""
        selection = super().__new__(cls, rows)
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
        """The selection in words: ``"12 of 3,008 trials: cost<2ms; cost unknown for 9 trials"``."""
        count = len(self._parts.trials)
        head = f"{len(self):,} of {counted(count, 'trial')}: {one_line(self.query)}"
        unknown = [
            f"{field} unknown for {'all' if rows == count else counted(rows, 'trial')}"
            for field, rows in self.unknown.items()
        ]
        return "; ".join([head, *unknown])

    def _cells(self, row: int) -> list[str]:
        trials = self._parts.trials
        task, failed = int(trials.task[row]), bool(trials.failed[row])
        error = f"{trials.error[row]} {MeasureError(trials.error[row]).label}"
        return [
            str(row),
            one_line(f"{task} {self._parts.tasks[task].name}"),
            "" if failed else duration_text(float(trials.cost[row]) * 1e9),
            error if failed else "",
        ]


def select(parts: TuningParts, query: str) -> TrialSelection:
    """Return the trials that a query selects: ``"error:6 task:3"``, ``"cost<2ms is:improved"``.

    The language is that of the search fields (:doc:`/queries`).

    Raises
    ------
    ValueError, TypeError
        It does not follow the grammar, and the message shows where; it is no text.
    """
    masks = TrialMasks(parts)
    rows = rows_found(query, masks, TRIALS).tolist()
    return TrialSelection(rows, query, masks.unknown, parts)


def errors_by(
    parts: TuningParts,
    by: Literal["task", "round", "session", "unroll", "threads"],
    rows: Iterable[int] | None = None,
    *,
    progress: bool = True,
) -> ErrorTable:
    """Return the errors by task, round, session, unroll setting or threads of a block.

    ::

        log.errors_by("unroll", log.select("task:3"))

    Parameters
    ----------
    by : str
        ``"threads"`` reads the steps of every record.
    rows : int [M], optional
        The trials that are counted, as of :meth:`select`; all by default.
    progress : bool
        Whether to show a bar where this takes more than a second.

    Raises
    ------
    ValueError, TypeError, IndexError, FormatError
        It is none of these; a mask is no rows, or there is no such row; a file changed since it
        was opened.
    """
    trials = parts.trials
    at = np.arange(len(trials)) if rows is None else row_numbers(rows, trials)
    keys: dict[str, Callable[[], npt.NDArray[Any]]] = {
        "task": lambda: trials.task[at],
        "round": lambda: round_of(trials)[at],
        "session": lambda: session_of(trials)[at],
        "unroll": lambda: trials.unroll[at],
        "threads": lambda: threads_of(parts, at, progress=progress),
    }
    if by not in keys:
        raise ValueError(f"no errors by {by!r:.80}{meant(by, tuple(keys))}")
    labels = [f"{task.index}: {task.name}" for task in parts.tasks] if by == "task" else ()
    return error_table(trials if rows is None else trials.take(at), by, keys[by](), labels)
