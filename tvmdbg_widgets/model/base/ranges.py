"""Many small ranges of a file as few larger ones."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

#: Bytes between two ranges that cost less than another request, and the longest request so made.
GAP, LONGEST = 16 << 10, 1 << 20


def coalesced(
    ranges: Sequence[tuple[int, int]], gap: int = GAP, longest: int = LONGEST
) -> list[tuple[int, int]]:
    """Return spans ``(offset, length)``, ascending, that cover all ranges.

    Examples
    --------
    >>> coalesced([(100, 10), (0, 10), (112, 8)], gap=4)
    [(0, 10), (100, 20)]
    """
    spans: list[tuple[int, int]] = []
    for offset, length in sorted(ranges):
        if spans:
            start, reached = spans[-1]
            end = max(start + reached, offset + length)
            near = offset <= start + reached + gap and end - start <= longest
            if near or offset + length <= start + reached:
                spans[-1] = (start, end - start)
                continue
        spans.append((offset, length))
    return spans


def cut(
    ranges: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]], parts: Sequence[bytes]
) -> list[bytes]:
    """Return the bytes of each range from those of the spans that cover them."""
    starts = [start for start, _ in spans]
    found = []
    for offset, length in ranges:
        at = bisect_right(starts, offset) - 1
        begin = offset - starts[at]
        found.append(parts[at][begin : begin + length])
    return found
