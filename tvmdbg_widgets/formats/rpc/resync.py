"""Where packets follow each other again, behind bytes that are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.formats.rpc.filled import FilledSource
from tvmdbg_widgets.formats.rpc.grammar import REPLIES
from tvmdbg_widgets.formats.rpc.reader import WireError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from tvmdbg_widgets.formats.rpc.packet_reader import PacketReader

#: Bytes that are looked through at once, at first and at most.
_SMALLEST, _LARGEST = 1 << 12, 1 << 20
#: Bytes of a packet that must lie in one piece: length and code.
_HEAD = 12
#: Packets that must follow each other for the first to be one; fewer at the end of the stream.
_CHAIN = 3
#: Work on places that prove to be none: so much, and as much again for so many bytes of the
#: stream. With 40 µs a unit, hostile bytes cost less than a second a MB.
_WORK, _WORK_BYTES = 1000, 100_000
#: Values that cost as much as to begin a packet.
_VALUES = 16


class Resync:
    """Looks for packets in one stream.

    Parameters
    ----------
    reader : PacketReader
    share : int
        How many look through the same stream, which share the work.

    Attributes
    ----------
    gave_up : bool
        Whether the search ended before the stream did.
    """

    def __init__(self, reader: PacketReader, share: int = 1) -> None:
        self._reader = reader
        self.gave_up = False
        self._most = _WORK + _WORK * reader.source.size // _WORK_BYTES // share
        self._work = 0

    def next_packet(
        self, at: int, replies: int = 0, *, chain: bool = False, stop: int | None = None
    ) -> int | None:
        """Return where the next packets lie from ``at`` on (to ``stop``), None where none do.

        Three must follow each other, or the stream end behind the first or second, unless
        ``chain`` is set. It gives up when places that look like packets and are none took more
        work than the size of the stream allows.
        """
        for place in self._places(at):
            if stop is not None and place >= stop:
                return None
            if self._work > self._most:
                self.gave_up = True
                return None
            before = self._reader.values
            if self._chains(place, replies, chain):
                return place
            self._work += 1 + (self._reader.values - before) // _VALUES
        return None

    def _chains(self, at: int, replies: int, whole: bool) -> bool:
        size = self._reader.source.size
        for _ in range(_CHAIN):
            if at >= size or self._is_missing(at):
                return not whole
            try:
                packet = self._reader.packet(at, replies)
            except WireError:
                return False
            if isinstance(packet, int):
                return False
            at += packet.size
            replies += packet.name in REPLIES
        return True

    def _is_missing(self, at: int) -> bool:
        source = self._reader.source
        return isinstance(source, FilledSource) and source.starts_in_gap(at)

    def _places(self, at: int) -> Iterator[int]:
        """Yield where length and code could be those of a packet."""
        source = self._reader.source
        prefixed = self._reader.grammar.prefixed
        head = _HEAD if prefixed else 4
        codes = np.array([*self._reader.grammar.codes], np.uint32)
        chunk = _SMALLEST
        while at + head <= source.size:
            length = min(chunk, source.size - at)
            chunk = min(2 * chunk, _LARGEST)
            data = np.frombuffer(source.read(at, length), np.uint8)
            code = _number(data[head - 4 :], 4).astype(np.uint32)
            likely = np.isin(code, codes)
            if prefixed:
                sizes = _number(data[: len(data) - 4], 8)
                left = np.uint64(source.size - at - 8) - np.arange(len(sizes), dtype=np.uint64)
                likely &= (sizes >= 4) & (sizes <= left)
            for place in np.flatnonzero(likely).tolist():
                yield at + place
            at += len(likely)


def _number(data: npt.NDArray[np.uint8], size: int) -> npt.NDArray[np.uint64]:
    """The little-endian number that starts at each byte."""
    count = max(0, len(data) - size + 1)
    value = np.zeros(count, np.uint64)
    for byte in range(size):
        value |= data[byte : byte + count].astype(np.uint64) << np.uint64(8 * byte)
    return value
