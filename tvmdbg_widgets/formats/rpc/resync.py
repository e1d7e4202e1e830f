"""Packets one after the other, and their next start behind damaged bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.rpc.grammar import REPLIES, Grammar
from tvmdbg_widgets.formats.rpc.packets import I32, U64, Body, Reader, WireError, read_body
from tvmdbg_widgets.sources.byte_source import ByteSource, ReadAhead

# One packet: its length, its code, and what follows, which must end where the length says.


_LONGEST_PACKET = 1 << 48


class RawPacket(NamedTuple):
    """One packet in its stream."""

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
        """Read the packet at ``at``, or return the number of bytes of empty packets there."""
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
        """Return whether a failed packet is one that the stream ends within."""
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
        """Return the length at ``at``, or None if it leads out of the stream."""
        size = self.source.size
        if size - at < 12:
            return None
        length = Reader(self._ahead, at, size).number(U64, "length")
        return length if 4 <= length <= size - at - 8 else None

    def end_of_body(self, at: int) -> int | None:
        """Return the end of a packet by its contents, if they have one."""
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
        """Return the code of the packet at ``at``, 0 if the stream ends before it."""
        at += 8 * self.grammar.prefixed
        reader = Reader(self._ahead, at, self.source.size)
        return reader.number(I32, "code") if reader.left >= 4 else 0


#: Bytes searched at once, at first and at most.
_SMALLEST, _LARGEST = 1 << 9, 1 << 20
#: Bytes of a packet that must lie in one piece: length and code.
_HEAD = 12
#: Consecutive packets that confirm the first; fewer at the end of the stream.
_CHAIN = 3
#: Bad packets in a row that are skipped by their lengths.
_LINKS = 4
#: Bytes behind damage within which a packet needs no other to prove it.
_NEAR = 256
#: Packets with arbitrary contents: only length and code can be checked.
_WEAK = frozenset({"CopyAck", "Shutdown"})
#: Handles are addresses: numbers in tensors are smaller, floats are larger.
_LOWEST_HANDLE, _HIGHEST_HANDLE = 1 << 20, 1 << 48
#: Letters that numbers in tensors do not spell by chance.
_LETTERS = 4
#: Work on false starts: a constant, and as much again for this many bytes of the
#: stream. With 40 µs a unit, hostile bytes cost less than a second a MB.
_WORK, _WORK_BYTES = 1000, 100_000
#: Values that cost as much as to begin a packet.
_VALUES = 16


class Resync:
    """Searches packets in one stream."""

    def __init__(self, reader: PacketReader, share: int = 1) -> None:
        self._reader = reader
        self.gave_up = False
        captured = reader.source.size - reader.source.missing
        self._most = _WORK + _WORK * captured // _WORK_BYTES // share
        self._work = 0

    def next_packet(self, at: int, stop: int) -> int | None:
        """Return the start of three consecutive packets, or None."""
        for place in self._places(at, stop):
            if self._work > self._most:
                self.gave_up = True
                return None
            before = self._reader.values
            if self._chains(place, 0, complete=False):
                return place
            self._work += 1 + (self._reader.values - before) // _VALUES
        return None

    def behind(self, bad: int, after: int, replies: int, *, breaks_off: bool) -> int | None:
        """Return the start of the next packets behind a bad one, from ``after`` on, or None."""
        prefixed = self._reader.grammar.prefixed
        last = self._reader.source.size - breaks_off
        end = self._end_of(bad, range(after, last + 1)) if prefixed else None
        alone = prefixed or not breaks_off
        for place in self._places(after, end):
            if self._work > self._most:
                self.gave_up = end is None
                break
            before = self._reader.values
            if end is not None:
                sound = self._leads_to(place, end)
            else:
                near = place - bad <= _NEAR and not breaks_off
                sound = self._chains(place, replies, complete=breaks_off, near=near, alone=alone)
            if sound:
                return place
            self._work += 1 + (self._reader.values - before) // _VALUES
        return end

    def swallowed(self, copy: int, end: int) -> int | None:
        """Return the start of a packet that begins inside of a copy with a wrong length."""
        for place in self._places(copy + _HEAD, end):
            if self._work > self._most:
                return None
            before = self._reader.values
            at, first, sure = place, True, False
            while at < end and (packet := self._packet(at)) is not None:
                if first and packet.name in _WEAK:
                    break
                sure = sure or not first or _is_certain(packet)
                at, first = at + packet.size, False
                self._work += 1
            if at > end and sure:
                return place
            self._work += 1 + (self._reader.values - before) // _VALUES
        return None

    def _chains(
        self, at: int, replies: int, *, complete: bool, near: bool = False, alone: bool = False
    ) -> bool:
        size = self._reader.source.size
        sure = near
        for number in range(_CHAIN):
            if at >= size or self._is_missing(at):
                return not complete or (alone and number > 0 and sure)
            packet = self._packet(at, replies)
            if packet is None:
                return alone and number > 0 and self._goes_on(at, sure)
            sure = (sure and (number > 0 or packet.name not in _WEAK)) or _is_certain(packet)
            at += packet.size
            replies += packet.name in REPLIES
        return True

    def _goes_on(self, at: int, sure: bool) -> bool:
        """Return whether a bad packet may follow the last one."""
        if self._reader.grammar.prefixed:
            return sure or (self._reader.length(at) is not None and self._is_sound(at))
        return sure and self._reader.code(at) in self._reader.grammar.codes

    def _end_of(self, bad: int, among: range) -> int | None:
        """Return the end of the bad packet by its body, or by its length, if packets follow."""
        ends = [end for start in (bad + 8, bad) if (end := self._reader.end_of_body(start))]
        length = self._reader.length(bad)
        ends += [] if length is None else [bad + 8 + length]
        self._work += 1
        return next((end for end in ends if end in among and self._is_sound(end)), None)

    def _is_sound(self, at: int) -> bool:
        """Return whether a packet lies here, the stream ends, or lengths lead to either."""
        for _ in range(_LINKS):
            if at == self._reader.source.size or self._packet(at) is not None:
                return True
            length = self._reader.length(at)
            if length is None or self._is_missing(at):
                return False
            at += 8 + length
        return False

    def _leads_to(self, at: int, end: int) -> bool:
        """Return whether packets follow each other up to ``end``, the first no copy."""
        first = True
        while at < end and (packet := self._packet(at)) is not None:
            if first and packet.name in _WEAK:
                return False
            at, first = at + packet.size, False
            self._work += 1
        return at == end

    def _packet(self, at: int, replies: int = 0) -> RawPacket | None:
        try:
            packet = self._reader.packet(at, replies)
        except WireError:
            return None
        return None if isinstance(packet, int) or self._is_missing(at) else packet

    def _is_missing(self, at: int) -> bool:
        return self._reader.source.next_gap(at)[0] <= at

    def _places(self, at: int, end: int | None = None) -> Iterator[int]:
        """Yield the captured places before ``end`` with a possible length and code."""
        source = self._reader.source
        prefixed = self._reader.grammar.prefixed
        head = _HEAD if prefixed else 4
        codes = np.array([*self._reader.grammar.codes], np.uint32)
        chunk = _SMALLEST
        last = source.size if end is None else min(source.size, end - 1 + head)
        while at + head <= last:
            gap, behind = source.next_gap(at)
            if gap <= at:
                at = behind
                continue
            stop = min(at + chunk, gap + head - 1, last)
            chunk = min(2 * chunk, _LARGEST)
            data = np.frombuffer(source.read(at, stop - at), np.uint8)
            code = _number(data[head - 4 :], 4).astype(np.uint32)
            likely = np.isin(code, codes)
            if prefixed:
                sizes = _number(data[: len(data) - 4], 8)
                left = np.uint64(source.size - at - 8) - np.arange(len(sizes), dtype=np.uint64)
                likely &= (sizes >= 4) & (sizes <= left)
            for place in np.flatnonzero(likely).tolist():
                yield at + place
            at += len(likely)


def _is_certain(packet: RawPacket) -> bool:
    """Return whether a packet holds a text or a handle, which random numbers are not."""
    body = packet.body
    handles = [body.function or 0, getattr(body.copied, "data", 0)]
    for argument in body.arguments or ():
        if isinstance(argument.value, str) and len(argument.value) >= _LETTERS:
            if argument.value.isprintable():
                return True
        elif argument.kind in ("handle", "function", "module", "object"):
            handles.append(argument.value)
        elif argument.kind == "tensor":
            handles.append(argument.value.data)
    return any(_LOWEST_HANDLE <= argument < _HIGHEST_HANDLE for argument in handles)


def _number(data: npt.NDArray[np.uint8], size: int) -> npt.NDArray[np.uint64]:
    """Return the little-endian numbers that start at every byte."""
    count = max(0, len(data) - size + 1)
    value = np.zeros(count, np.uint64)
    for byte in range(size):
        value |= data[byte : byte + count].astype(np.uint64) << np.uint64(8 * byte)
    return value
