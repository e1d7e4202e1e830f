"""Differences of times in words."""

from __future__ import annotations

import math

from tvmdbg_widgets.model.base.numbers import counted, duration_text, fixed, percent


def change_text(ns: float) -> str:
    """Write a difference with its sign: ``"+1.82 ms"``, ``"−340.0 µs"``, ``"0 ns"``."""
    told = duration_text(abs(ns))
    return told if not ns or math.isnan(ns) else f"{'+' if ns > 0 else '−'}{told}"


def ratio_text(ratio: float) -> str:
    """Write a ratio as a share with its sign, above ten times as a factor: ``"+4.56 %"``."""
    if math.isnan(ratio):
        return "unknown"
    if ratio > 10:
        return f"{fixed(ratio, 1)} times"
    return percent(0.0) if ratio == 1 else f"{'+' if ratio > 1 else '−'}{percent(abs(ratio - 1))}"


def p_text(p: float) -> str:
    """Write a p value with two significant digits, small ones as a bound: ``"0.0079"``."""
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"


#: What is said where a side was measured once.
ONCE = "one repeat is no evidence of spread"


def against(n: int, m: int) -> str:
    """Write how many repeats there are: ``"5 against 5 repeats"``."""
    return f"{n:,} against {counted(m, 'repeat')}"
