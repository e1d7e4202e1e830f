"""The error tables a log offers, by name."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.tuning.error_tables import ErrorTable, error_table
from tvmdbg_widgets.analysis.tuning.rounds import round_of
from tvmdbg_widgets.analysis.tuning.sessions import session_of
from tvmdbg_widgets.analysis.tuning.threads import threads_of
from tvmdbg_widgets.model.base.choice import meant
from tvmdbg_widgets.model.tuning.parts import TuningParts

KINDS: Final = ("task", "round", "session", "unroll", "threads")


def task_labels(parts: TuningParts) -> list[str]:
    """Return ``"3: matmul_add 1024 1024 1024"`` for each task."""
    return [f"{task.index}: {task.name}" for task in parts.tasks]


def errors_by(
    parts: TuningParts,
    by: Literal["task", "round", "session", "unroll", "threads"],
    rows: npt.ArrayLike | None = None,
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
    ValueError, FormatError
        It is none of these; a file changed since it was opened.
    """
    trials = parts.trials
    at = np.arange(len(trials)) if rows is None else np.asarray(rows, np.intp)
    counted = trials if rows is None else trials.take(at)
    if by == "task":
        return error_table(counted, by, counted.task, task_labels(parts))
    if by == "round":
        return error_table(counted, by, round_of(trials)[at])
    if by == "session":
        return error_table(counted, by, session_of(trials)[at])
    if by == "unroll":
        return error_table(counted, by, counted.unroll)
    if by == "threads":
        return error_table(counted, by, threads_of(parts, at, progress=progress))
    raise ValueError(f"no errors by {by!r:.80}{meant(by, KINDS)}")
