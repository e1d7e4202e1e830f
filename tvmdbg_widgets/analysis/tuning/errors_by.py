"""The error tables a log offers, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.tuning.error_tables import ErrorTable, error_table
from tvmdbg_widgets.analysis.tuning.rounds import round_of
from tvmdbg_widgets.analysis.tuning.sessions import session_of
from tvmdbg_widgets.analysis.tuning.threads import threads_of

if TYPE_CHECKING:
    from tvmdbg_widgets.model.tuning.parts import TuningParts

KINDS = ("task", "round", "session", "unroll", "threads")


def task_labels(parts: TuningParts) -> list[str]:
    """Return ``"3: matmul_add 1024 1024 1024"`` for each task."""
    return [f"{task.index}: {task.name}" for task in parts.tasks]


def errors_by(parts: TuningParts, by: str, *, progress: bool = True) -> ErrorTable:
    """Count errors by task, round, session, unroll setting or threads of a block.

    Raises
    ------
    ValueError
        `by` is none of these.
    """
    trials = parts.trials
    if by == "task":
        return error_table(trials, by, trials.task, task_labels(parts))
    if by == "round":
        return error_table(trials, by, round_of(trials))
    if by == "session":
        return error_table(trials, by, session_of(trials))
    if by == "unroll":
        return error_table(trials, by, trials.unroll)
    if by == "threads":
        return error_table(trials, by, threads_of(parts, progress=progress))
    raise ValueError(f"errors by {by!r}: one of {', '.join(KINDS)}")
