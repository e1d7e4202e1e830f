"""Round numbers along an axis, those of the live view (``js/src/shared/drawing/ticks.ts``)."""

from __future__ import annotations

import math

#: Room that a digit of an index takes, px.
DIGIT = 7


def nice_ticks(low: float, high: float, count: float) -> list[float]:
    """Return 1, 2 or 5 times a power of ten inside two values, about ``count`` of them."""
    if not high > low or count < 1:
        return []
    step = _round_step(high / count - low / count)
    if not 0 < step < math.inf:
        return []
    ticks: list[float] = []
    at = math.ceil(low / step)
    while len(ticks) <= 4 * count:
        value = float(f"{at * step:.11e}")
        if value > high:
            break
        ticks.append(value)
        at += 1
    return ticks


def power_ticks(low: float, high: float, threshold: float) -> list[float]:
    """Return powers of ten from a threshold on, their negatives and zero, inside two values."""
    largest = max(abs(low), abs(high))
    values = [0.0] if low <= 0 <= high else []
    power = math.ceil(math.log10(threshold))
    while power <= 308 and float(f"1e{power}") <= largest:
        values += [float(f"1e{power}"), -float(f"1e{power}")]
        power += 1
    return sorted(value for value in values if low <= value <= high)


def index_ticks(
    first: int, room: float, size: float, length: int, spacing: float
) -> list[tuple[int, float]]:
    """Return indices to write along an axis, each with its middle in px from the axis' start.

    Parameters
    ----------
    first
        The index at the start.
    room, size
        Length of the axis, and of one index along it, px.
    length
        Indices of the whole axis.
    spacing
        Least distance from one to the next, px.
    """
    end = min(float(length), first + min(float(length), room / size))
    if not end > first:
        return []
    step = int(_round_step(max(1.0, (end - first) / max(1.0, room / spacing))))
    found = range(math.ceil(first / step) * step, math.ceil(end), step)
    placed = [(index, (index + 0.5 - first) * size) for index in found]
    return [(index, at) for index, at in placed if 0 <= at <= room]


def _round_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 0.0
    return power * next((each for each in (1, 2, 5) if each * power >= rough), 10)
