"""Ranges of time as users give them."""

from __future__ import annotations

import math

Range = tuple[float, float]


def checked_range(within: object) -> Range:
    """Return a range of nanoseconds as floats."""
    try:
        start, end = map(float, within)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        start = end = math.nan
    if not (math.isfinite(start) and math.isfinite(end) and start < end):
        raise ValueError(
            f"a range is (start, end) in nanoseconds with start before end, found {within!r:.80}"
        )
    return start, end
