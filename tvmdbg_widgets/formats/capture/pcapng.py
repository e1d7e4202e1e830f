"""Packet blocks of a pcapng file.

Layout: draft-ietf-opsawg-pcapng, and dpkt's block classes. dpkt's own reader takes the first
section and interface alone, so blocks are walked here.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvmdbg_widgets.formats.capture.records import NO_TIME, Frame, clipped, load_dpkt
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tvmdbg_widgets.formats.capture.records import Damage
    from tvmdbg_widgets.formats.capture.window import Window

SECTION = b"\x0a\x0d\x0d\x0a"
BYTE_ORDERS = {b"\x1a\x2b\x3c\x4d": ">", b"\x4d\x3c\x2b\x1a": "<"}
_SIMPLE_PACKET = 3  # a block type dpkt has no class for
_SECOND = 1_000_000_000
_SMALLEST = 12  # type, length, length again
_OPTIONS_READ = 1 << 12  # bytes of options of an interface


@dataclass(frozen=True, slots=True)
class _Interface:
    link_type: int
    snaplen: int
    ticks: int  # a second
    offset: int  # ns added to each time

    def time(self, high: int, low: int) -> int:
        return clipped((high << 32 | low) * _SECOND // self.ticks + self.offset)


class _Section:
    """Byte order and interfaces of one section, and its packet blocks."""

    def __init__(self, order: str, window: Window, damage: Damage) -> None:
        self._blocks = load_dpkt().pcapng
        self._window = window
        self._damage = damage
        self._order = order
        self._interfaces: list[_Interface] = []
        self._packet = {
            self._blocks.PCAPNG_BT_EPB: self._layout(self._blocks.EnhancedPacketBlock),
            self._blocks.PCAPNG_BT_PB: self._layout(self._blocks.PacketBlock),
        }
        self._interface = self._layout(self._blocks.InterfaceDescriptionBlock)
        self.head = struct.Struct(order + "II")
        self._word = struct.Struct(order + "I")

    def _layout(self, block: type) -> struct.Struct:
        # Without the length that is repeated at the end.
        return struct.Struct(self._order + block.__hdr_fmt__[1:-1])  # type: ignore[attr-defined]

    def frame(self, kind: int, offset: int, stop: int) -> Frame | None:
        """Return the frame of a block, None of another block; interfaces are taken note of."""
        if kind in self._packet:
            return self._timed(self._packet[kind], offset, stop)
        if kind == self._blocks.PCAPNG_BT_IDB:
            self._describe(offset, stop)
        elif kind == _SIMPLE_PACKET:
            return self._simple(offset, stop)
        return None

    def word(self, offset: int) -> int:
        """Return the 32-bit number at an offset."""
        at = self._window.locate(offset, self._word.size)
        value: int = self._word.unpack_from(self._window.buffer, at)[0]
        return value

    def _timed(self, layout: struct.Struct, offset: int, stop: int) -> Frame | None:
        if stop - offset < layout.size:
            self._short(offset, stop)
            return None
        at = self._window.locate(offset, layout.size)
        fields = layout.unpack_from(self._window.buffer, at)
        high, low, captured, sent = fields[-4:]
        interface = self._known(fields[2], offset)
        if interface is None:
            return None
        start = offset + layout.size
        there = min(captured, stop - start)
        if there < captured and stop < self._window.size:
            self._damage.add(
                "damaged-capture",
                f"packet at byte {start}: captured length {captured:,}, but its block ends after "
                f"{counted(there, 'byte')}",
            )
        time = interface.time(high, low)
        return Frame(start, there, max(captured, sent), time, interface.link_type)

    def _simple(self, offset: int, stop: int) -> Frame | None:
        if stop - offset < _SMALLEST:
            self._short(offset, stop)
            return None
        interface = self._known(0, offset)
        if interface is None:
            return None
        sent = self.word(offset + 8)
        captured = min(sent, interface.snaplen or sent, stop - offset - _SMALLEST)
        return Frame(offset + _SMALLEST, captured, sent, NO_TIME, interface.link_type)

    def _short(self, offset: int, stop: int) -> None:
        if stop < self._window.size:
            self._damage.add(
                "damaged-capture", f"block at byte {offset}: too short for its type; left out"
            )

    def _known(self, number: int, offset: int) -> _Interface | None:
        if number < len(self._interfaces):
            return self._interfaces[number]
        self._damage.add(
            "damaged-capture",
            f"packet block at byte {offset}: interface {number} is not described before it "
            f"(there are {len(self._interfaces)}); the packet was left out",
        )
        return None

    def _describe(self, offset: int, stop: int) -> None:
        if stop - offset < self._interface.size:
            self._short(offset, stop)
            return
        block = self._window.bytes(offset, min(stop - offset, _OPTIONS_READ))
        _, _, link_type, _, snaplen = self._interface.unpack_from(block)
        options = self._options(block[self._interface.size :])
        (resolution,) = options.get(self._blocks.PCAPNG_OPT_IF_TSRESOL, b"\x06")[:1] or (6,)
        ticks = 2 ** (resolution & 0x7F) if resolution & 0x80 else 10**resolution
        (seconds,) = struct.unpack(
            self._order + "q",
            options.get(self._blocks.PCAPNG_OPT_IF_TSOFFSET, b"")[:8].ljust(8, b"\0"),
        )
        self._interfaces.append(_Interface(link_type, snaplen, ticks, seconds * _SECOND))

    def _options(self, data: bytes) -> dict[int, bytes]:
        found: dict[int, bytes] = {}
        option = struct.Struct(self._order + "HH")
        at = 0
        while at + option.size <= len(data):
            code, length = option.unpack_from(data, at)
            if code == self._blocks.PCAPNG_OPT_ENDOFOPT:
                break
            at += option.size
            found.setdefault(code, data[at : at + length])
            at += length + -length % 4
        return found


def pcapng_frames(window: Window, damage: Damage) -> Iterator[Frame]:
    """Yield the frames of all sections of a pcapng file in file order.

    Simple packet blocks have no time. Blocks other than packets are passed over.
    """
    section = _section(window, 0, damage)
    offset, size = 0, window.size
    while size - offset >= _SMALLEST:
        if offset and window.bytes(offset, 4) == SECTION:
            try:
                section = _section(window, offset, damage)
            except FormatError as problem:
                damage.add("damaged-capture", f"{problem.problem} at byte {offset}")
                return
        at = window.locate(offset, section.head.size)
        kind, length = section.head.unpack_from(window.buffer, at)
        if length < _SMALLEST or length % 4:
            damage.add(
                "damaged-capture",
                f"block at byte {offset}: length {length:,}, expected a multiple of 4 from "
                f"{_SMALLEST} on; what follows was not read",
            )
            return
        stop = offset + length
        frame = section.frame(kind, offset, min(stop - 4, size))
        if frame is not None:
            yield frame
        if stop > size:
            break
        again = section.word(stop - 4)
        if again != length:
            damage.add(
                "damaged-capture",
                f"block at byte {offset}: length {length:,} at its start and {again:,} at its "
                "end; what follows was not read",
            )
            return
        offset = stop
    if offset < size:
        damage.add(
            "truncated-capture",
            f"the file ends inside the block at byte {offset}, after "
            f"{counted(size - offset, 'byte')} of it",
        )


def _section(window: Window, offset: int, damage: Damage) -> _Section:
    magic = window.bytes(offset, _SMALLEST)[8:]
    order = BYTE_ORDERS.get(magic)
    if order is None:
        raise FormatError(
            "the section header names no byte order",
            file=window.name,
            field="byte-order magic",
            offset=offset + 8,
            expected="1a 2b 3c 4d in either order",
            found=magic.hex(" ") or "the end of the file",
        )
    return _Section(order, window, damage)
