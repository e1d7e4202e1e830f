"""Sessions of a resumed log, and elapsed time without the gaps between them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import duration_text, fixed
from tvmdbg_widgets.model.tuning.trials import Trials

#: Seconds without a record, less the next record's build and run, after which a log was resumed.
#: Between batches TVM searches and trains its cost model: at most 158 s in real logs. Their
#: shortest restart, proved by task order or a new timeout, is after 886 s.
SESSION_GAP = 600.0


@dataclass(frozen=True)
class TuningSession:
    """Records without a gap between them.

    Attributes
    ----------
    first_row, last_row : int
    start, end : float
        First and last timestamp, Unix seconds; NaN where the tuner writes none.
    gap : float
        Seconds since the last session; negative for older records, NaN for the first.
    """

    first_row: int
    last_row: int
    start: float
    end: float
    gap: float

    @property
    def trials(self) -> int:
        """Number of records."""
        return self.last_row - self.first_row + 1

    @property
    def seconds(self) -> float:
        """Last minus first timestamp: the first trial's own time is not in the log."""
        return self.end - self.start


def session_of(trials: Trials) -> npt.NDArray[np.int32]:
    """Return the sessions of rows, from 0 (int32 [N])."""
    is_known = ~np.isnan(trials.timestamp)
    before = np.maximum.accumulate(np.where(is_known, np.arange(len(trials)), 0))
    with np.errstate(over="ignore", invalid="ignore"):
        gap = np.diff(trials.timestamp[before])
        idle = gap - np.nan_to_num(trials.all_cost[1:])
    breaks = (idle > SESSION_GAP) | (gap < -SESSION_GAP)
    return np.concatenate([[0], np.cumsum(breaks)]).astype(np.int32)[: len(trials)]


def sessions(trials: Trials) -> tuple[TuningSession, ...]:
    """Return the sessions, in the order of the log."""
    of_row = session_of(trials)
    starts = np.flatnonzero(np.diff(of_row, prepend=-1)).tolist()
    parts: list[TuningSession] = []
    for first, end in pairwise([*starts, len(of_row)]):
        stamps = trials.timestamp[first:end]
        low, high = float(np.fmin.reduce(stamps)), float(np.fmax.reduce(stamps))
        gap = low - parts[-1].end if parts else float("nan")
        parts.append(TuningSession(first, end - 1, low, high, gap))
    return tuple(parts)


def elapsed(trials: Trials) -> npt.NDArray[np.float64]:
    """Return tuning time since the first record, without the gaps between sessions."""
    seconds = np.full(len(trials), np.nan)
    before = 0.0
    for session in sessions(trials):
        own = slice(session.first_row, session.last_row + 1)
        with np.errstate(over="ignore"):
            seconds[own] = before + np.fmax.accumulate(trials.timestamp[own] - session.start)
        before += session.seconds if np.isfinite(session.seconds) else 0.0
    seconds[np.isnan(trials.timestamp)] = np.nan
    return seconds


def seconds_text(seconds: float) -> str:
    """Format seconds: ``"15 s"``, ``"12.4 min"``, ``"6.8 h"``, ``"2.1 days"``."""
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if abs(seconds) >= 2 * size:
            number = seconds / size
            return f"{fixed(number, 1) if abs(number) < 1e12 else f'{number:.6g}'} {unit}"
    whole = float(seconds).is_integer()
    return f"{seconds:.0f} s" if whole else duration_text(seconds * 1e9)


def utc(timestamp: float, form: str = "%Y-%m-%d %H:%M") -> str:
    """Format a Unix time, one beyond all calendars as a number."""
    try:
        return time.strftime(form, time.gmtime(timestamp)) + " UTC"
    except (OverflowError, ValueError, OSError):
        return f"{timestamp:.6g} s"


TUNERS: Final = {
    "ansor": "Ansor",
    "autotvm": "AutoTVM",
    "metaschedule": "MetaSchedule",
    "mixed": "several tuners",
}
"""Names of the tuners, as people write them."""
