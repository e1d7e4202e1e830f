"""A stream with zeros where its bytes were not captured."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from tvmdbg_widgets.model.sources.byte_source import ByteSource

if TYPE_CHECKING:
    from collections.abc import Sequence


class FilledSource(ByteSource):
    """Reads on across gaps; who reads must know where they are."""

    def __init__(self, source: ByteSource, gaps: Sequence[tuple[int, int]]) -> None:
        self.name = source.name
        self.size = source.size
        self._source = source
        self._starts = [start for start, _ in gaps]
        self._gaps = gaps
        self.missing = sum(length for _, length in gaps)

    def next_gap(self, offset: int) -> tuple[int, int]:
        """Return start and end of the first gap behind ``offset``; see :class:`ByteSource`."""
        at = max(0, bisect_right(self._starts, offset) - 1)
        for start, length in self._gaps[at : at + 2]:
            if start + length > offset:
                return start, start + length
        return self.size, self.size

    def _fill(self, offset: int, view: memoryview) -> None:
        end = offset + len(view)
        at = offset
        row = max(0, bisect_right(self._starts, offset) - 1)
        while at < end:
            while row < len(self._gaps) and sum(self._gaps[row]) <= at:
                row += 1
            start = self._starts[row] if row < len(self._gaps) else end
            if start > at:
                stop = min(start, end)
                self._source.read_into(at, view[at - offset : stop - offset])
            else:
                stop = min(sum(self._gaps[row]), end)
                view[at - offset : stop - offset] = bytes(stop - at)
            at = stop
