"""Few large reads of a source: as a file object, and for small reads at rising offsets."""

from __future__ import annotations

import io
import os
from typing import Any

from tvmdbg_widgets.sources.byte_source import ByteSource

_NEAR, _FAR = 1 << 16, 1 << 20


class SourceFile(io.RawIOBase):
    """A binary file object over a source; closing it leaves the source as it is."""

    def __init__(self, source: ByteSource) -> None:
        super().__init__()
        self._source = source
        self._position = 0

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
        return True

    def tell(self) -> int:
        """Position in bytes."""
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to ``offset`` from the start, the position, or the end; ValueError below 0."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._source.size}
        position = start[whence] + offset
        if position < 0:
            raise ValueError(f"position {position} lies before the start")
        self._position = position
        return position

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer from the position on; return the number of bytes, 0 at the end."""
        view = memoryview(buffer).cast("B")
        count = max(0, min(len(view), self._source.size - self._position))
        if count:
            self._source.read_into(self._position, view[:count])
            self._position += count
        return count


def as_file(source: ByteSource) -> io.BufferedReader:
    """Return a buffered file object over a source; few large reads where it is far."""
    return io.BufferedReader(SourceFile(source), _FAR if source.far else _NEAR)


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
