"""Rounds of the task scheduler, recovered from the order of records.

One round measures up to ``num_measures_per_round`` schedules of one task: 64 by default, fewer
where there are fewer trials than 64 a task (python/tvm/auto_scheduler/task_scheduler.py). The log
does not number them; they end where the task changes, the file or the session ends, or the round
is full.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.tuning.sessions import session_of
from tvmdbg_widgets.model.tuning.trials import Trials

#: ``TuningOptions(num_measures_per_round=64)``.
ROUND = 64
_SEEN = 3


def round_of(trials: Trials) -> npt.NDArray[np.int32]:
    """Return which round each row belongs to, from 0 (int32 [N])."""
    keys = (trials.task, trials.source, session_of(trials))
    begins = np.zeros(len(trials), bool)
    for key in keys:
        begins |= np.diff(key, prepend=-1) != 0
    starts = np.flatnonzero(begins)
    lengths = np.diff(starts, append=len(trials))
    within = np.arange(len(trials)) - np.repeat(starts, lengths)
    full = within % _round_size(lengths) == 0
    return np.asarray(np.cumsum(full) - 1, np.int32)


def _round_size(blocks: npt.NDArray[np.intp]) -> int:
    """Return how many trials a round has, by the records in a row that are of one task.

    A smaller number than 64 is believed where at least half of such blocks, and no fewer than
    three, have it.
    """
    lengths, counts = np.unique(blocks, return_counts=True)
    if not len(lengths):
        return ROUND
    most = int(np.argmax(counts))
    seen = int(counts[most])
    believed = seen >= _SEEN and 2 * seen >= len(blocks)
    return min(ROUND, int(lengths[most])) if believed else ROUND


def round_starts(rounds: npt.NDArray[np.int32]) -> npt.NDArray[np.intp]:
    """Return the first row of each round (intp [R])."""
    return np.flatnonzero(np.diff(rounds, prepend=-1))
