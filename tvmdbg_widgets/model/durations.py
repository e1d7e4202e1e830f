"""Durations as people read them."""

from __future__ import annotations

import math

_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))


def duration_text(ns: float) -> str:
    """Write a duration with four significant digits and a unit.

    Parameters
    ----------
    ns : float
        Nanoseconds; may be negative, zero, NaN or infinite.

    Returns
    -------
    str
        ``"39.88 ms"``, ``"523.4 µs"``, ``"0 ns"``; ``"unknown"`` for NaN.
    """
    if math.isnan(ns):
        return "unknown"
    if ns == 0 or math.isinf(ns):
        return f"{ns:.0f} ns"
    rounded = float(f"{ns:.4g}")
    size = next((u for u in _UNITS if abs(rounded) >= u[0]), _UNITS[-1])
    digits = 3 - math.floor(math.log10(abs(rounded) / size[0]))
    return f"{rounded / size[0]:.{max(digits, 0)}f} {size[1]}"
