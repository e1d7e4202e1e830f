"""Payloads of one direction, captured in any order, to one stream of bytes.

Everything is reckoned on offsets: no payload is held, and what is out of order waits for nothing.
Sequence numbers count modulo 2^32 (RFC 9293, 3.4); two segments captured in succession are taken
to lie less than 2 GiB apart.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tvmdbg_widgets.formats.capture.conversations import Payloads


@dataclass(frozen=True, slots=True)
class Extents:
    """Where the bytes of a stream lie, in stream order; between extents nothing was captured."""

    starts: NDArray[np.int64]
    offsets: NDArray[np.int64]
    lengths: NDArray[np.int64]
    times: NDArray[np.int64]


NOTHING = Extents(*(np.empty(0, np.int64) for _ in range(4)))


@dataclass(frozen=True, slots=True)
class TcpStream:
    """What reassembly made of one direction."""

    size: int
    extents: Extents
    copies: Extents
    repeated: int
    late: int
    cut: int
    outside: int


def reassemble(rows: Payloads, first: int | None, last: int | None) -> TcpStream:
    """Lay the payloads of one direction in order; of bytes captured twice the first copy counts."""
    if not len(rows):
        size = 0 if first is None or last is None else max(0, _signed(last - first))
        return TcpStream(size, NOTHING, NOTHING, repeated=0, late=0, cut=0, outside=0)
    sequence = rows["sequence"].astype(np.uint32)
    known = first if first is not None else int(sequence[0])
    steps = sequence.copy()
    steps[:1] -= np.uint32(known)  # wraps, as sequence numbers do
    steps[1:] -= sequence[:-1]
    starts = np.cumsum(steps.view(np.int32), dtype=np.int64)
    if first is None:
        starts -= starts.min()
    highest = size = int((starts + rows["sent"]).max(initial=0))
    if last is not None:
        # Of all offsets this number stands for, the one next to the end of what was captured.
        base = known if first is not None else int(sequence[0]) - int(starts[0])
        size = max(size, highest + _signed(last - base - highest))
    late = int((starts[1:] < np.maximum.accumulate(starts)[:-1]).sum())
    cut = int((rows["captured"] < rows["sent"]).sum())
    before = np.minimum(np.maximum(-starts, 0), rows["captured"])
    whole = Extents(
        starts + before,
        rows["offset"] + before,
        rows["captured"] - before,
        rows["time"].astype(np.int64),
    )
    extents, copies, repeated = _first_copies(whole)
    return TcpStream(size, extents, copies, repeated, late, cut, int(before.sum()))


def _signed(number: int) -> int:
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


def _first_copies(whole: Extents) -> tuple[Extents, Extents, int]:
    """Return extents that do not overlap, the segments that gave way, and how many bytes did."""
    order = np.argsort(whole.starts, kind="stable")
    order = order[whole.lengths[order] > 0]
    starts = whole.starts[order]
    ends = starts + whole.lengths[order]
    covered = np.maximum.accumulate(ends)
    if (starts[1:] >= covered[:-1]).all():
        return _taken(whole, order), NOTHING, 0
    # A run of segments that overlap starts where all before have ended.
    alone = np.ones(len(order) + 1, bool)
    alone[1:-1] = starts[1:] >= covered[:-1]
    single = alone[:-1] & alone[1:]
    heads = np.flatnonzero(alone[:-1] & ~alone[1:])
    tails = np.flatnonzero(~alone[:-1] & alone[1:]) + 1
    pieces: list[tuple[int, int, int]] = []
    for head, tail in zip(heads.tolist(), tails.tolist(), strict=True):
        run = slice(head, tail)
        pieces += _sweep(starts[run].tolist(), ends[run].tolist(), order[run].tolist())
    begin, end, owner = np.array(pieces, np.int64).T
    kept = Extents(
        begin,
        whole.offsets[owner] + begin - whole.starts[owner],
        end - begin,
        whole.times[owner],
    )
    lone = _taken(whole, order[single])
    merged = [
        np.concatenate([getattr(lone, name), getattr(kept, name)]) for name in Extents.__slots__
    ]
    place = np.argsort(merged[0], kind="stable")
    used = np.bincount(owner, weights=end - begin, minlength=len(whole.starts)).astype(np.int64)
    overlapping = np.sort(order[~single])
    lacking = whole.lengths[overlapping] - used[overlapping]
    copies = _taken(whole, overlapping[lacking > 0])
    return Extents(*(each[place] for each in merged)), copies, int(lacking.sum())


def _taken(whole: Extents, rows: NDArray[np.intp]) -> Extents:
    return Extents(*(getattr(whole, name)[rows] for name in Extents.__slots__))


def _sweep(starts: list[int], ends: list[int], arrival: list[int]) -> list[tuple[int, int, int]]:
    """Cut segments that overlap into pieces ``(begin, end, arrival)`` of the first to arrive.

    The segments are sorted by start and leave no hole between them.
    """
    pieces: list[tuple[int, int, int]] = []
    open_ones: list[tuple[int, int]] = []  # a heap of (arrival, end)
    count, following = len(starts), 0
    at = starts[0]
    while True:
        while following < count and starts[following] <= at:
            heapq.heappush(open_ones, (arrival[following], ends[following]))
            following += 1
        while open_ones and open_ones[0][1] <= at:
            heapq.heappop(open_ones)
        if not open_ones:
            return pieces
        owner, end = open_ones[0]
        stop = min(end, starts[following]) if following < count else end
        if pieces and pieces[-1][2] == owner:
            pieces[-1] = (pieces[-1][0], stop, owner)
        else:
            pieces.append((at, stop, owner))
        at = stop
