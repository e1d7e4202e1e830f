"""A byte source as Python's own archive readers want it: a file object that can seek."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tvmdbg_widgets.model.sources.byte_source import ByteSource

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
