"""The bytes of one direction, read where they lie in the capture file."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.sources.byte_source import ByteSource

if TYPE_CHECKING:
    from tvmdbg_widgets.formats.capture.reassembly import Extents

# Payloads as close as this are read together with the headers between them.
_NEAR = 1 << 12
_SPAN = 1 << 20


class CapturedStream(ByteSource):
    """A byte stream that lies in extents of a file, read in place.

    Reading across bytes that were not captured raises FormatError; ask for the gaps first.
    """

    def __init__(self, file: ByteSource, extents: Extents, size: int, name: str) -> None:
        self.file = file
        self.extents = extents
        self.size = size
        self.name = name
        self.far = file.far

    def trouble(self) -> Exception | None:
        """Return why the bytes cannot be read now; see :class:`ByteSource`."""
        return self.file.trouble()

    def gaps(self) -> tuple[tuple[int, int], ...]:
        """Return the stretches ``(start, length)`` that were not captured."""
        if not self.size:
            return ()
        ends = self.extents.starts + self.extents.lengths
        starts = np.concatenate([[0], ends])
        lengths = np.append(self.extents.starts, self.size) - starts
        missing = lengths > 0
        return tuple(zip(starts[missing].tolist(), lengths[missing].tolist(), strict=True))

    def pieces(self, offset: int, length: int) -> int:
        """Return how many extents a range takes its bytes from."""
        first, stop = self._within(offset, offset + length)
        return stop - first

    def _within(self, offset: int, end: int) -> tuple[int, int]:
        first = max(0, int(np.searchsorted(self.extents.starts, offset, "right")) - 1)
        return first, int(np.searchsorted(self.extents.starts, end))

    def _fill(self, offset: int, view: memoryview) -> None:
        places, sizes, begins = self._pieces(offset, offset + len(view))
        apart = places[1:] - (places[:-1] + sizes[:-1])
        breaks = (apart < 0) | (apart > _NEAR) | (places[1:] // _SPAN != places[:-1] // _SPAN)
        bounds = [0, *(np.flatnonzero(breaks) + 1).tolist(), len(places)]
        for low, high in itertools.pairwise(bounds):
            at = int(begins[low]) - offset
            self._copy(places[low:high], sizes[low:high], view[at:])

    def _check(self, offset: int, length: int) -> None:
        """Refuse gaps before memory is taken for them: sequence numbers claim any length."""
        super()._check(offset, length)
        if length > _SPAN:
            self._pieces(offset, offset + length)

    def _pieces(self, offset: int, end: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return where the bytes of a range lie in the file, how many, and where in the stream."""
        here = slice(*self._within(offset, end))
        starts, lengths = self.extents.starts[here], self.extents.lengths[here]
        begins = np.maximum(starts, offset)
        ends = np.minimum(starts + lengths, end)
        self._check_whole(begins, ends, offset, end)
        return self.extents.offsets[here] + begins - starts, ends - begins, begins

    def _copy(self, places: np.ndarray, sizes: np.ndarray, view: memoryview) -> None:
        """Read payloads that lie close together."""
        start = int(places[0])
        if len(places) == 1:
            self.file.read_into(start, view[: int(sizes[0])])
            return
        span = memoryview(bytearray(int(places[-1] + sizes[-1]) - start))
        self.file.read_into(start, span)
        done = 0
        for place, size in zip((places - start).tolist(), sizes.tolist(), strict=True):
            view[done : done + size] = span[place : place + size]
            done += size

    def _check_whole(self, begins: np.ndarray, ends: np.ndarray, offset: int, end: int) -> None:
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
