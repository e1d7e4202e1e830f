"""Where a sequence of letters repeats itself at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

#: Room for two ranks and a place in one number.
_MOST_LETTERS = 1 << 20
#: Distances that are looked at in each octave, the most frequent first.
_MOST_DISTANCES = 96
#: Letters that a run has at least.
FEWEST = 4


@dataclass(frozen=True)
class PeriodicRuns:
    """Stretches that read the same a period further on, the longest first."""

    start: Ints
    end: Ints
    period: Ints


def runs(letters: Ints) -> PeriodicRuns:
    """Return the stretches of a sequence that repeat themselves at once.

    Windows of 1, 2, 4 … letters are numbered by their text; where the nearest earlier window of
    the same text is one to two lengths away, that distance may be a period, and is tried on the
    whole sequence. O(n log n).
    """
    found: list[tuple[Ints, Ints, Ints]] = []
    count = len(letters)
    if 1 < count < _MOST_LETTERS:
        rank, places, width = letters, np.arange(count), 1
        while len(places) > 1 and width <= count // 2:
            rank, places, distance = _windows(rank, places)
            octave = distance[(distance >= width) & (distance < 2 * width)]
            found += [_stretches(letters, period) for period in _frequent(octave)]
            rank, places = _doubled(rank, places, width, count)
            width *= 2
    columns = list(zip(*found, strict=True)) or [(np.zeros(0, np.int64),)] * 3
    start, end, period = map(np.concatenate, columns)
    covered = (end - start) // np.maximum(period, 1) * period
    order = np.lexsort((start, period, -covered))
    return PeriodicRuns(start[order], end[order], period[order])


def _windows(rank: Ints, places: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the windows that occur more than once: new rank, place, distance to the one before."""
    bits = _MOST_LETTERS.bit_length()
    merged = np.sort((np.unique(rank, return_inverse=True)[1].astype(np.int64) << bits) | places)
    place, text = merged & ((1 << bits) - 1), merged >> bits
    same = np.zeros(len(text) + 1, np.bool_)
    same[1:-1] = text[1:] == text[:-1]
    distance = np.zeros(len(text), np.int64)
    distance[1:] = np.where(same[1:-1], place[1:] - place[:-1], 0)
    keep = same[1:] | same[:-1]
    return text[keep], place[keep], distance[keep]


def _doubled(rank: Ints, places: Ints, width: int, count: int) -> tuple[Ints, Ints]:
    """Return windows of twice the width, where both halves occur more than once."""
    table = np.full(count + width, -1, np.int64)
    table[places] = rank
    places = np.sort(places)
    second = table[places + width]
    both = second >= 0
    places = places[both]
    return (table[places] << 31) | second[both], places


def _frequent(distances: Ints) -> list[int]:
    values, counts = np.unique(distances, return_counts=True)
    order = np.lexsort((values, -counts))[:_MOST_DISTANCES]
    return sorted(values[order].tolist())


def _stretches(letters: Ints, period: int) -> tuple[Ints, Ints, Ints]:
    """Return start, end and period of all stretches of two periods or more."""
    same = np.zeros(len(letters) - period + 2, np.int8)
    same[1:-1] = letters[period:] == letters[:-period]
    steps = np.diff(same)
    start, stop = np.flatnonzero(steps > 0), np.flatnonzero(steps < 0)
    long = (stop - start >= period) & (stop + period - start >= FEWEST)
    start, stop = start[long], stop[long]
    return start, stop + period, np.full(len(start), period, np.int64)
