"""Stretches of operators between which a single value passes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tvmdbg_widgets.analysis.blocks.sequence import Sequence

_FEWEST = 3
_MOST = 256


def branching(sequence: Sequence, low: int, high: int) -> list[tuple[int, int]]:
    """Return the stretches within an interval that branch and join again.

    Between them at most one value passes that is computed in the interval, or that is read both
    before and after; inside there are always several.
    """
    if high - low < _FEWEST:
        return []
    slots = slice(int(sequence.slot[low]), int(sequence.slot[high]))
    source, entry = sequence.source[slots], sequence.entry[slots]
    reader, last = sequence.reader[slots], sequence.last[slots]
    from_before = (source >= 0) & (source < low)
    _, first_at, group = np.unique(entry[from_before], return_index=True, return_inverse=True)
    count = high - low + 1
    # Values from before count from their first to their last reader in the interval.
    first = reader[from_before][first_at]
    final = np.zeros(len(first), np.int64)
    np.maximum.at(final, group, reader[from_before])
    steps = np.bincount(first + 1 - low, minlength=count + 1) - np.bincount(
        final + 1 - low, minlength=count + 1
    )
    ends = last[from_before][first_at]
    ended = np.cumsum(np.bincount(ends[ends < high] + 1 - low, minlength=count + 1))
    made = sequence.crossing[low : high + 1] - sequence.crossing[low] + ended[:count]
    thick = made + np.cumsum(steps)[:count]
    thin = thick <= 1
    thin[[0, -1]] = True
    cuts = (np.flatnonzero(thin) + low).tolist()
    return [(start, end) for start, end in pairwise(cuts) if _FEWEST <= end - start <= _MOST]
