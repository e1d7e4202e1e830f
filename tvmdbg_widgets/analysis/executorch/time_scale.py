"""Units of ExecuTorch's time stamps, and the time between two of them.

``TimeScale`` and ``calculate_time_scale_factor`` in devtools/inspector/_inspector_utils.py,
``Event._calculate_elapsed_time`` in devtools/inspector/_inspector.py @ v1.4.1.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

#: Converts a tick of a delegate's event, given the event's name, to a time in the target unit.
Converter: TypeAlias = Callable[[str, int], float]

MOST_TICKS: Final = 2**32 - 1


class TimeScale(enum.Enum):
    """Unit of time stamps and durations."""

    NS = "ns"
    US = "us"
    MS = "ms"
    S = "s"
    CYCLES = "cycles"


_RATES: Final = {
    TimeScale.NS: 1_000_000_000,
    TimeScale.US: 1_000_000,
    TimeScale.MS: 1_000,
    TimeScale.S: 1,
    TimeScale.CYCLES: 1,
}


def scale_factor(source: TimeScale, target: TimeScale) -> float:
    """Return how many units of `source` make one of `target`."""
    if (source is TimeScale.CYCLES) != (target is TimeScale.CYCLES):
        raise RuntimeError(
            "For TimeScale in cycles both the source and target time scale have to be in cycles."
        )
    return _RATES[source] / _RATES[target]


def elapsed(start: float, end: float) -> float:
    """Return the time from `start` to `end`; a clock of 32 bits may have wrapped once.

    After a wrap the answer is one tick short, as the Inspector's is.
    """
    if start <= end:
        return end - start
    if start > MOST_TICKS or end > MOST_TICKS:
        raise ValueError(
            f"Expected start_time ({start}) and end_time ({end}) to be less than {MOST_TICKS} for "
            "cases where there is wrap-around of time values."
        )
    return (MOST_TICKS - start) + end


def durations(
    start: npt.NDArray[np.uint64], end: npt.NDArray[np.uint64], scale: float
) -> npt.NDArray[np.float64]:
    """Return what :func:`elapsed` says of each pair of ticks, divided by `scale`."""
    most = np.uint64(MOST_TICKS)
    forward = start <= end
    ticks = np.where(forward, end - start, (most - start) + end).astype(np.float64)
    ticks[~forward & ((start > most) | (end > most))] = np.nan
    return ticks / scale


def differences_of_times(
    start: npt.NDArray[np.uint64], end: npt.NDArray[np.uint64], scale: float
) -> npt.NDArray[np.float64]:
    """Return what :func:`elapsed` says of each pair of ticks once both are divided by `scale`.

    This is how the Inspector measures delegates' events: it adds rounding noise, and a wrapped
    clock gives nonsense.
    """
    first, last = start.astype(np.float64) / scale, end.astype(np.float64) / scale
    forward = first <= last
    found = np.where(forward, last - first, (MOST_TICKS - first) + last)
    found[~forward & ((first > MOST_TICKS) | (last > MOST_TICKS))] = np.nan
    return found
