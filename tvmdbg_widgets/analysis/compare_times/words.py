"""Differences of times in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.compare_times.rank_test import least_p
from tvmdbg_widgets.analysis.compare_times.verdicts import ALPHA, Ground
from tvmdbg_widgets.model.base.numbers import counted, duration_text, fixed, percent

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.compare_times.changes import TimeChange


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


def against(n: int, m: int) -> str:
    """Write how many repeats there are: ``"5 against 5 repeats"``."""
    return f"{n:,} against {counted(m, 'repeat')}"


def why(row: TimeChange, tests: int, missing: str) -> str:
    """Return why a verdict is what it is, in one sentence.

    Parameters
    ----------
    row : TimeChange
    tests : int
        How many rows were tested.
    missing : str
        Why there are no repeats, where the runs have none at all.
    """
    n, m = len(row.repeats_a), len(row.repeats_b)
    ground = row.ground
    if ground in (Ground.TOLD, Ground.NOT_TOLD):
        sign = "≤" if ground is Ground.TOLD else ">"
        corrected = f", {p_text(row.q)} corrected for {counted(tests, 'comparison')}"
        told = f"p = {p_text(row.p)} ({against(n, m)}){corrected if tests > 1 else ''}"
        return f"{told}, {sign} {ALPHA}"
    if ground is Ground.CLOCK:
        return "the difference is below what the printed times resolve (1 ns each)"
    if ground is Ground.ODDS:
        return (
            f"the ranks of the repeats say {change_text(row.shift_ns)}, the means "
            f"{change_text(row.change_ns)}: a few repeats are outliers"
        )
    if ground is Ground.FEW:
        return (
            f"{against(n, m)} can show nothing at {ALPHA}: the least possible p is "
            f"{p_text(least_p(n, m))}"
        )
    if ground is Ground.NO_REPEATS:
        return missing or "no repeats"
    if ground is Ground.UNEVEN:
        return "the parts have different numbers of repeats, which cannot be summed one by one"
    if ground is Ground.NO_TIME:
        return "the time of some of these nodes is unknown"
    if ground is Ground.POSSIBLE:
        return f"the match is only possible ({row.reason}), so it is not used"
    return "it has no match"
