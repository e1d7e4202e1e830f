"""Small reads at rising offsets, gathered into few large ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tvmdbg_widgets.model.sources.byte_source import ByteSource

_SMALLEST = 1 << 12
_LARGEST = 1 << 20
_DENSE = 16


class ReadAhead:
    """A window on a source that grows while headers lie close together.

    Where each window served but a few headers, payloads lie between them, and the window stays
    small so that the payloads are skipped. It ends where a gap begins, or ends.
    """

    def __init__(self, source: ByteSource, smallest: int = _SMALLEST) -> None:
        self._source = source
        self._smallest = smallest
        self.name = source.name
        self.size = source.size
        self.captured = source.size - source.missing
        self.buffer = b""
        self._start = 0
        self._window = smallest
        self._served = 0

    def locate(self, offset: int, length: int) -> int:
        """Make sure ``buffer`` holds the bytes at ``offset``; return their position in it."""
        position = offset - self._start
        if position < 0 or position + length > len(self.buffer):
            dense = self._served >= _DENSE
            self._window = min(self._window * 2, _LARGEST) if dense else self._smallest
            gap, behind = self._source.next_gap(offset)
            end = gap if gap > offset else behind
            wanted = max(length, min(self._window, end - offset))
            self.buffer = self._source.read(offset, wanted)
            self._start = offset
            self._served = 0
            position = 0
        self._served += 1
        return position

    def bytes(self, offset: int, length: int) -> bytes:
        """Return ``length`` bytes at ``offset``."""
        position = self.locate(offset, length)
        return self.buffer[position : position + length]
