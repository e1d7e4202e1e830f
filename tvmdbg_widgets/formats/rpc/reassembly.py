"""Payloads of one direction, captured in any order, as one stream of bytes.

Only offsets are kept in memory, no payloads. Sequence numbers count modulo 2^32 (RFC 9293, 3.4);
consecutive segments are taken to lie less than 2 GiB apart.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tvmdbg_widgets.formats.rpc.conversations import Payloads
from tvmdbg_widgets.formats.rpc.frames import NO_TIME
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import FormatError, Issue, IssueSeverity
from tvmdbg_widgets.sources.byte_source import ByteSource, DerivedSource, read_near


@dataclass(frozen=True, slots=True)
class Extents:
    """Byte ranges of a stream in stream order; the gaps between them were not captured."""

    starts: NDArray[np.int64]
    offsets: NDArray[np.int64]
    lengths: NDArray[np.int64]
    times: NDArray[np.int64]


NOTHING = Extents(*(np.empty(0, np.int64) for _ in range(4)))


@dataclass(frozen=True, slots=True)
class TcpStream:
    """One reassembled direction."""

    size: int
    extents: Extents
    copies: Extents
    repeated: int
    late: int
    cut: int
    outside: int


def reassemble(rows: Payloads, first: int | None, last: int | None) -> TcpStream:
    """Order the payloads of one direction; the first copy of repeated bytes counts."""
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
        # The offset of this number that is nearest to the captured end.
        base = known if first is not None else int(sequence[0]) - int(starts[0])
        size = max(size, highest + _signed(last - base - highest))
    late = int((starts[1:] < np.maximum.accumulate(starts)[:-1]).sum())
    cut = int((rows["captured"] < rows["sent"]).sum())
    before = np.minimum(np.maximum(-starts, 0), rows["captured"])
    segments = Extents(
        starts + before,
        rows["offset"] + before,
        rows["captured"] - before,
        rows["time"].astype(np.int64),
    )
    extents, copies, repeated = _first_copies(segments)
    return TcpStream(size, extents, copies, repeated, late, cut, int(before.sum()))


def _signed(number: int) -> int:
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


def _first_copies(every: Extents) -> tuple[Extents, Extents, int]:
    """Return disjoint extents, the overlapped segments, and the number of overlapped bytes."""
    order = np.argsort(every.starts, kind="stable")
    order = order[every.lengths[order] > 0]
    starts = every.starts[order]
    ends = starts + every.lengths[order]
    covered = np.maximum.accumulate(ends)
    if (starts[1:] >= covered[:-1]).all():
        return _taken(every, order), NOTHING, 0
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
        begin, every.offsets[owner] + begin - every.starts[owner], end - begin, every.times[owner]
    )
    lone = _taken(every, order[single])
    merged = [
        np.concatenate([getattr(lone, name), getattr(kept, name)]) for name in Extents.__slots__
    ]
    place = np.argsort(merged[0], kind="stable")
    used = np.bincount(owner, weights=end - begin, minlength=len(every.starts)).astype(np.int64)
    overlapping = np.sort(order[~single])
    lacking = every.lengths[overlapping] - used[overlapping]
    copies = _taken(every, overlapping[lacking > 0])
    return Extents(*(each[place] for each in merged)), copies, int(lacking.sum())


def _taken(extents: Extents, rows: NDArray[np.intp]) -> Extents:
    return Extents(*(getattr(extents, name)[rows] for name in Extents.__slots__))


def _sweep(starts: list[int], ends: list[int], arrival: list[int]) -> list[tuple[int, int, int]]:
    """Cut adjoining, overlapping segments into pieces ``(begin, end, arrival)`` of first copies."""
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


#: Payloads read at once, and bytes checked for gaps before they are read.
_BATCH, _SPAN = 256, 1 << 20


class CapturedStream(DerivedSource):
    """A byte stream in extents of a file; reading across gaps raises FormatError."""

    def __init__(self, file: ByteSource, extents: Extents, size: int, name: str) -> None:
        super().__init__(file, size, name)
        self.extents = extents

    def times_at(self, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the capture times of the segments that first carried some bytes."""
        extents = self.extents
        if not len(extents.starts):
            return np.full(len(offsets), NO_TIME, np.int64)
        rows = np.searchsorted(extents.starts, offsets, "right") - 1
        held = (rows >= 0) & (offsets < extents.starts[rows] + extents.lengths[rows])
        return np.where(held, extents.times[rows], NO_TIME)

    @cached_property
    def gaps(self) -> tuple[tuple[int, int], ...]:
        """The missing stretches ``(start, length)``."""
        if not self.size:
            return ()
        ends = self.extents.starts + self.extents.lengths
        starts = np.concatenate([[0], ends])
        lengths = np.append(self.extents.starts, self.size) - starts
        missing = lengths > 0
        return tuple(zip(starts[missing].tolist(), lengths[missing].tolist(), strict=True))

    def pieces(self, offset: int, length: int) -> int:
        """Return the number of extents in a range."""
        first, stop = self._within(offset, offset + length)
        return stop - first

    def _within(self, offset: int, end: int) -> tuple[int, int]:
        first = max(0, int(np.searchsorted(self.extents.starts, offset, "right")) - 1)
        return first, int(np.searchsorted(self.extents.starts, end))

    def _fill(self, offset: int, view: memoryview) -> None:
        places, sizes = self._pieces(offset, offset + len(view))
        done = 0
        for low in range(0, len(places), _BATCH):
            batch = slice(low, low + _BATCH)
            ranges = list(zip(places[batch].tolist(), sizes[batch].tolist(), strict=True))
            for piece in read_near(self.stored, ranges):
                view[done : done + len(piece)] = piece
                done += len(piece)

    def _check(self, offset: int, length: int) -> None:
        """Refuse gaps before memory is allocated: sequence numbers claim any length."""
        super()._check(offset, length)
        if length > _SPAN:
            self._pieces(offset, offset + length)

    def _pieces(self, offset: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """Return offsets in the file and lengths of the parts of a range."""
        here = slice(*self._within(offset, end))
        starts, lengths = self.extents.starts[here], self.extents.lengths[here]
        begins = np.maximum(starts, offset)
        ends = np.minimum(starts + lengths, end)
        self._check_gaps(begins, ends, offset, end)
        return self.extents.offsets[here] + begins - starts, ends - begins

    def _check_gaps(self, begins: np.ndarray, ends: np.ndarray, offset: int, end: int) -> None:
        reached = np.concatenate([[offset], ends])
        wanted = np.append(begins, end)
        holes = np.flatnonzero(reached < wanted)
        if len(holes):
            start = int(reached[holes[0]])
            raise FormatError(
                "bytes of the stream were not captured",
                file=self.name,
                offset=offset,
                expected=counted(end - offset, "byte"),
                found=f"a gap from byte {start:,} to byte {int(wanted[holes[0]]):,} at least",
                hint="Its gaps say where the stream has bytes.",
            )


def stream_issues(source: CapturedStream, stream: TcpStream) -> list[Issue]:
    """Return the issues of one direction; copies are compared with the bytes they repeat."""
    problems: list[tuple[str, IssueSeverity, str]] = []
    if gaps := source.gaps:
        missing = sum(length for _, length in gaps)
        start, length = gaps[0]
        text = (
            f"{missing:,} of {counted(stream.size, 'byte')} {agree(missing, 'was')} not captured, "
            f"in {counted(len(gaps), 'gap')}; the first starts at byte {start:,} and is "
            f"{counted(length, 'byte')} long"
        )
        problems.append(("missing-bytes", IssueSeverity.ERROR, text))
    if stream.cut:
        text = f"captured in part: {counted(stream.cut, 'segment')}"
        hint = "record with a larger snapshot length (tcpdump -s 0)"
        problems.append(("cut-segments", IssueSeverity.WARNING, f"{text}; {hint}"))
    if count := len(stream.copies.starts):
        first, differing, compared = _compare(source, stream)
        if first is not None:
            text = f"bytes of {counted(differing, 'segment')}, first byte {first:,}"
            text = f"sent again with other values: {text}; the first copy was kept"
            problems.append(("differing-copies", IssueSeverity.ERROR, text))
        rest = "" if compared == count else f"; {count - compared:,} of them were not compared"
        text = f"in {counted(count, 'segment')}: {counted(stream.repeated, 'byte')}{rest}"
        problems.append(("repeated-bytes", IssueSeverity.NOTE, f"captured again, {text}"))
    if stream.late:
        text = f"captured after one that follows it: {counted(stream.late, 'segment')}"
        problems.append(("out-of-order", IssueSeverity.NOTE, f"{text}; put in order"))
    if stream.outside:
        text = f"sent with sequence numbers before that of SYN: {counted(stream.outside, 'byte')}"
        problems.append(("bytes-before-start", IssueSeverity.WARNING, f"{text}; left out"))
    return [Issue(rule, severity, text, file=source.name) for rule, severity, text in problems]


def _compare(source: CapturedStream, stream: TcpStream) -> tuple[int | None, int, int]:
    """Return the first differing offset, and the numbers of differing and compared segments."""
    columns = (stream.copies.starts, stream.copies.offsets, stream.copies.lengths)
    allowed = 64 + 2 * (len(stream.extents.starts) + len(columns[0]))
    first, differing = None, 0
    for done, (start, offset, length) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        if length == 1:
            continue  # a keep-alive may repeat the last byte with any value
        allowed -= source.pieces(start, length)
        if allowed < 0:
            return first, differing, done
        ours, kept = source.stored.read(offset, length), source.read(start, length)
        if ours != kept:
            differing += 1
            at = start + next(i for i in range(length) if ours[i] != kept[i])
            first = at if first is None else min(first, at)
    return first, differing, len(columns[0])
