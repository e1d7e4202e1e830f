"""Where packets follow each other again, behind bytes that are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.formats.rpc.filled import FilledSource
from tvmdbg_widgets.formats.rpc.reader import WireError
from tvmdbg_widgets.model.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from tvmdbg_widgets.formats.rpc.packet_reader import PacketReader

_CHUNK = 1 << 20
#: Bytes of a packet that must lie in one piece: length and code.
_HEAD = 12
#: Packets that must follow each other for the first to be one; fewer at the end of the stream.
_CHAIN = 3
#: Places that are tried in one stream, so that hostile bytes cost about a second.
_MOST_TRIED = 30_000


class Resync:
    """Looks for packets in one stream.

    Parameters
    ----------
    reader : PacketReader
    """

    def __init__(self, reader: PacketReader) -> None:
        self._reader = reader
        self._tried = 0

    def next_packet(
        self, at: int, replies: int = 0, *, chain: bool = False, stop: int | None = None
    ) -> int | None:
        """Return where the next packets lie from ``at`` on (to ``stop``), None where none do.

        Three must follow each other, or the stream end behind the first or second, unless
        ``chain`` is set. After 30,000 places that looked like a packet and were none, it gives up.
        """
        for place in self._places(at):
            if stop is not None and place >= stop:
                return None
            self._tried += 1
            if self._tried > _MOST_TRIED:
                return None
            if self._chains(place, replies, chain):
                return place
        return None

    def _chains(self, at: int, replies: int, whole: bool) -> bool:
        size = self._reader.source.size
        for _ in range(_CHAIN):
            if at >= size or self._is_missing(at):
                return not whole
            try:
                packet = self._reader.packet(at, replies)
            except (WireError, FormatError):
                return False
            if isinstance(packet, int):
                return False
            at += packet.size
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
        while at + head <= source.size:
            length = min(_CHUNK, source.size - at)
            try:
                data = np.frombuffer(source.read(at, length), np.uint8)
            except FormatError:
                return
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
