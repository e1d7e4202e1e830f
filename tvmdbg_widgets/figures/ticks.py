"""Round numbers along an axis, those of the live view (``js/src/shared/drawing/ticks.ts``)."""

from __future__ import annotations

import math


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


def _round_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 0.0
    return power * next((each for each in (1, 2, 5) if each * power >= rough), 10)
