"""Headers read in file order out of one buffer that moves along the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tvmdbg_widgets.model.sources.byte_source import ByteSource

_BYTES = 1 << 20


class Window:
    """A stretch of 1 MiB of a source, moved to where the next header lies."""

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self.name = source.name
        self.size = source.size
        self.buffer = memoryview(bytearray(min(_BYTES, source.size)))
        self._start = 0
        self._stop = 0

    def locate(self, offset: int, length: int) -> int:
        """Return where ``length`` bytes (far fewer than 1 MiB) at ``offset`` are in ``buffer``."""
        if offset < self._start or offset + length > self._stop:
            count = min(len(self.buffer), self.size - offset)
            self._source.read_into(offset, self.buffer[:count])
            self._start = offset
            self._stop = offset + count
        return offset - self._start

    def bytes(self, offset: int, length: int) -> bytes:
        """Return ``length`` bytes at ``offset``, fewer where the file ends."""
        length = min(length, self.size - offset)
        at = self.locate(offset, length)
        return bytes(self.buffer[at : at + length])
