"""One packet: its length, its code, and what follows, which must end where the length says."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tvmdbg_widgets.formats.rpc.bodies import Body, read_body
from tvmdbg_widgets.formats.rpc.reader import I32, U64, Reader, WireError
from tvmdbg_widgets.model.sources.readahead import ReadAhead

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.formats.rpc.grammar import Grammar
    from tvmdbg_widgets.model.sources.byte_source import ByteSource

#: What is longer is no length of a packet.
_LONGEST_PACKET = 1 << 48


class RawPacket(NamedTuple):
    """One packet as it lies in its stream."""

    offset: int
    size: int
    code: int
    name: str
    body: Body


class PacketReader:
    """Reads packets of one direction of a connection."""

    def __init__(
        self, source: ByteSource, grammar: Grammar, asked: Sequence[int] | None = None
    ) -> None:
        self.source = source
        self.grammar = grammar
        self.values = 0
        self._asked = asked
        self._ahead = ReadAhead(source)

    def packet(self, at: int, replies: int = 0) -> RawPacket | int:
        """Read the packet at ``at``, or return how many bytes of empty packets lie there."""
        size = self.source.size
        reader = Reader(self._ahead, at, size)
        end = size
        if self.grammar.prefixed:
            length = reader.number(U64, "length of the packet")
            if length == 0:
                return 8
            if length < 4:
                raise WireError("length of the packet", at, "4 or more", length)
            end = reader.at + length
        reader.end = min(end, size)
        code = reader.number(I32, "code")
        name = self.grammar.codes.get(code)
        if name is None:
            known = f"that of a packet, up to {max(self.grammar.codes)}"
            raise WireError("code", reader.at - 4, known, code)
        copied = None
        if not self.grammar.prefixed and self._asked is not None and replies < len(self._asked):
            copied = self._asked[replies]
        if end > size:
            raise WireError("length of the packet", at, f"at most {size - at - 8}", end - at - 8)
        try:
            body = read_body(reader, self.grammar, name, copied)
        finally:
            self.values += reader.values
        if self.grammar.prefixed and reader.left:
            raise WireError("end of the packet", reader.at, f"byte {end}", f"{reader.left} more")
        return RawPacket(at, reader.at - at, code, name, body)

    def is_cut_off(self, at: int, error: WireError) -> bool:
        """Whether what failed at ``at`` seems to be a packet that the stream ends within."""
        size = self.source.size
        if not self.grammar.prefixed:
            return error.is_short
        if size - at < 12:
            return True
        reader = Reader(self._ahead, at, size)
        length = reader.number(U64, "length")
        known = reader.number(I32, "code") in self.grammar.codes
        return known and size - at - 8 < length < _LONGEST_PACKET

    def length(self, at: int) -> int | None:
        """Return the length at ``at``, None where it leads out of the stream."""
        size = self.source.size
        if size - at < 12:
            return None
        length = Reader(self._ahead, at, size).number(U64, "length")
        return length if 4 <= length <= size - at - 8 else None

    def end_of_body(self, at: int) -> int | None:
        """Return where a packet whose code lies at ``at`` ends by what it holds, if it says so."""
        reader = Reader(self._ahead, at, self.source.size)
        try:
            name = self.grammar.codes.get(reader.number(I32, "code"))
            if name is None or name == "CopyAck":
                return None
            read_body(reader, self.grammar, name)
        except WireError:
            return None
        finally:
            self.values += reader.values
        return reader.at

    def code(self, at: int) -> int:
        """Return the code of the packet at ``at``, 0 where the stream ends before it."""
        at += 8 * self.grammar.prefixed
        reader = Reader(self._ahead, at, self.source.size)
        return reader.number(I32, "code") if reader.left >= 4 else 0
