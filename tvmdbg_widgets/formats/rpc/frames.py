"""Frames of pcap and pcapng files in file order; damaged blocks are noted and skipped.

Layouts: draft-ietf-opsawg-pcap and -pcapng, as in dpkt's header classes. dpkt's own readers round
times to floats, take the first section and interface alone, trust every length, and report neither
the offset of a frame nor its size on the wire: so records are walked here.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError, Issue, IssueSeverity
from tvmdbg_widgets.sources.byte_source import ReadAhead

#: Unknown time in columns of times.
NO_TIME = -(1 << 63)
_SECOND = 1_000_000_000
#: pcap: microseconds and nanoseconds, big and little endian.
_MAGICS = (b"\xa1\xb2\xc3\xd4", b"\xa1\xb2\x3c\x4d", b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1")
_FILE_HEADER = 24
# Above libpcap's MAXIMUM_SNAPLEN (256 KiB) no writer of network frames goes.
_LARGEST = 1 << 18
_SECTION = b"\x0a\x0d\x0d\x0a"
_BYTE_ORDERS = {b"\x1a\x2b\x3c\x4d": ">", b"\x4d\x3c\x2b\x1a": "<"}
_SIMPLE_PACKET = 3  # a block type dpkt has no class for
_SMALLEST = 12  # type, length, length again
_OPTIONS_READ = 1 << 12  # bytes of options of an interface
_BEHIND = "; what follows was not read"


class Frame(NamedTuple):
    """One captured frame, link-layer header included."""

    offset: int
    captured: int
    sent: int
    time: int
    link_type: int


class CaptureDamage:
    """Defects of a capture file: the first message and the count by kind."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._count: Counter[str] = Counter()
        self._first: dict[str, str] = {}

    def add(self, rule: str, message: str) -> None:
        """Note a defect."""
        self._count[rule] += 1
        self._first.setdefault(rule, message)

    def issues(self) -> list[Issue]:
        """Return one issue per kind."""
        issues = []
        for rule, message in self._first.items():
            count = self._count[rule]
            often = f" ({counted(count, 'time')}; this is the first)" if count > 1 else ""
            issues.append(Issue(rule, IssueSeverity.ERROR, f"{message}{often}", file=self._file))
        return issues


def sniff(head: bytes) -> bool:
    """Whether a file that starts with these bytes is a pcap or pcapng file."""
    return head[:4] in _MAGICS or (head[:4] == _SECTION and head[8:12] in _BYTE_ORDERS)


def frames(ahead: ReadAhead, damage: CaptureDamage) -> Iterator[Frame]:
    """Yield the frames of a file that :func:`sniff` knows."""
    try:
        import dpkt
        from dpkt import pcapng  # noqa: F401 (a module that dpkt does not load itself)
    except ImportError as problem:
        raise ImportError(
            'reading network captures needs dpkt: pip install "tvmdbg-widgets[rpc]"'
        ) from problem
    is_pcapng = ahead.bytes(0, 4) == _SECTION
    return _pcapng(ahead, damage, dpkt.pcapng) if is_pcapng else _pcap(ahead, damage, dpkt.pcap)


def _pcap(ahead: ReadAhead, damage: CaptureDamage, layouts: Any) -> Iterator[Frame]:
    size = ahead.size
    if size < _FILE_HEADER:
        raise FormatError(
            "the file header is cut off",
            file=ahead.name,
            offset=0,
            expected=f"{_FILE_HEADER} bytes",
            found=counted(size, "byte"),
        )
    start = ahead.bytes(0, _FILE_HEADER)
    little = start[:4] in _MAGICS[2:]
    header = (layouts.LEFileHdr if little else layouts.FileHdr)(start)
    link_type = header.linktype & 0xFFFF  # above it: length of the frame check sequence
    largest = max(header.snaplen, _LARGEST)
    fraction = 1 if start[:4] in _MAGICS[1::2] else 1000
    record = struct.Struct((layouts.LEPktHdr if little else layouts.PktHdr).__hdr_fmt__)
    offset = _FILE_HEADER
    while size - offset >= record.size:
        at = ahead.locate(offset, record.size)
        seconds, part, captured, sent = record.unpack_from(ahead.buffer, at)
        if captured > largest:
            text = f"captured length {captured:,}, expected at most {largest:,}{_BEHIND}"
            damage.add("damaged-capture", f"record at byte {offset}: {text}")
            return
        offset += record.size
        there = min(captured, size - offset)
        if there or not captured:
            time = seconds * _SECOND + part * fraction
            yield Frame(offset, there, max(captured, sent), time, link_type)
        if there < captured:
            text = f"expected {counted(captured, 'byte')} of frame, found {there:,}"
            where = f"inside the record at byte {offset - record.size}"
            damage.add("truncated-capture", f"the file ends {where}: {text}")
            return
        offset += captured
    if offset < size:
        text = f"expected {counted(record.size, 'byte')}, found {size - offset}"
        where = f"inside the record header at byte {offset}"
        damage.add("truncated-capture", f"the file ends {where}: {text}")


def _pcapng(ahead: ReadAhead, damage: CaptureDamage, layouts: Any) -> Iterator[Frame]:
    """Yield the frames of all sections; other blocks are skipped."""
    section = _Section(ahead, 0, damage, layouts)
    offset, size = 0, ahead.size
    while size - offset >= _SMALLEST:
        if offset and ahead.bytes(offset, 4) == _SECTION:
            try:
                section = _Section(ahead, offset, damage, layouts)
            except FormatError as problem:
                damage.add("damaged-capture", f"{problem.problem} at byte {offset}")
                return
        kind, length = section.numbers("II", offset)
        if length < _SMALLEST or length % 4:
            text = f"length {length:,}, expected a multiple of 4 from {_SMALLEST} on{_BEHIND}"
            damage.add("damaged-capture", f"block at byte {offset}: {text}")
            return
        stop = offset + length
        frame = section.frame(kind, offset, min(stop - 4, size))
        if frame is not None:
            yield frame
        if stop > size:
            break
        (again,) = section.numbers("I", stop - 4)
        if again != length:
            text = f"length {length:,} at its start and {again:,} at its end{_BEHIND}"
            damage.add("damaged-capture", f"block at byte {offset}: {text}")
            return
        offset = stop
    if offset < size:
        text = f"after {counted(size - offset, 'byte')} of it"
        damage.add("truncated-capture", f"the file ends inside the block at byte {offset}, {text}")


class _Interface(NamedTuple):
    link_type: int
    snaplen: int
    ticks: int  # a second
    offset: int  # ns added to each time


class _Section:
    """Byte order and interfaces of one section, and its packet blocks."""

    def __init__(self, ahead: ReadAhead, offset: int, damage: CaptureDamage, layouts: Any) -> None:
        magic = ahead.bytes(offset + 8, 4)
        if magic not in _BYTE_ORDERS:
            raise FormatError(
                "the section header names no byte order",
                file=ahead.name,
                field="byte-order magic",
                offset=offset + 8,
                expected="1a 2b 3c 4d in either order",
                found=magic.hex(" "),
            )
        self._ahead, self._damage, self._names = ahead, damage, layouts
        self._order = _BYTE_ORDERS[magic]
        self._interfaces: list[_Interface] = []
        blocks = {
            layouts.PCAPNG_BT_EPB: layouts.EnhancedPacketBlock,
            layouts.PCAPNG_BT_PB: layouts.PacketBlock,
            layouts.PCAPNG_BT_IDB: layouts.InterfaceDescriptionBlock,
        }
        # Without the byte order, and the length that is repeated at the end.
        self._layouts = {kind: block.__hdr_fmt__[1:-1] for kind, block in blocks.items()}
        self._layouts[_SIMPLE_PACKET] = "III"

    def numbers(self, layout: str, offset: int) -> tuple[int, ...]:
        """Return the numbers at an offset."""
        layout = self._order + layout
        at = self._ahead.locate(offset, struct.calcsize(layout))
        return struct.unpack_from(layout, self._ahead.buffer, at)

    def frame(self, kind: int, offset: int, stop: int) -> Frame | None:
        """Return the frame of a block, or None; interfaces are registered."""
        layout = self._layouts.get(kind)
        if layout is None:
            return None
        start = offset + struct.calcsize(self._order + layout)
        if stop < start:
            if stop < self._ahead.size:
                text = f"block at byte {offset}: too short for its type; left out"
                self._damage.add("damaged-capture", text)
            return None
        fields = self.numbers(layout, offset)
        if kind == self._names.PCAPNG_BT_IDB:
            options = self._ahead.bytes(start, min(stop - start, _OPTIONS_READ))
            self._interfaces.append(self._described(fields[2], fields[4], self._options(options)))
            return None
        number = 0 if kind == _SIMPLE_PACKET else fields[2]
        if number >= len(self._interfaces):
            text = (
                f"packet block at byte {offset}: interface {number} is not described before it "
                f"(there are {len(self._interfaces)}); the packet was left out"
            )
            self._damage.add("damaged-capture", text)
            return None
        interface = self._interfaces[number]
        if kind == _SIMPLE_PACKET:
            sent = fields[2]
            captured = min(sent, interface.snaplen or sent, stop - start)
            return Frame(start, captured, sent, NO_TIME, interface.link_type)
        high, low, captured, sent = fields[-4:]
        there = min(captured, stop - start)
        if there < captured and stop < self._ahead.size:
            text = f"but its block ends after {counted(there, 'byte')}"
            where = f"packet at byte {start}: captured length {captured:,}"
            self._damage.add("damaged-capture", f"{where}, {text}")
        time = (high << 32 | low) * _SECOND // interface.ticks + interface.offset
        time = time if NO_TIME < time < -NO_TIME else NO_TIME
        return Frame(start, there, max(captured, sent), time, interface.link_type)

    def _described(self, link_type: int, snaplen: int, options: dict[int, bytes]) -> _Interface:
        resolution = (options.get(self._names.PCAPNG_OPT_IF_TSRESOL) or b"\x06")[0]
        ticks = 2 ** (resolution & 0x7F) if resolution & 0x80 else 10**resolution
        offset = options.get(self._names.PCAPNG_OPT_IF_TSOFFSET, b"")[:8].ljust(8, b"\0")
        (seconds,) = struct.unpack(f"{self._order}q", offset)
        return _Interface(link_type, snaplen, ticks, seconds * _SECOND)

    def _options(self, data: bytes) -> dict[int, bytes]:
        options: dict[int, bytes] = {}
        at = 0
        while at + 4 <= len(data):
            code, length = struct.unpack_from(f"{self._order}HH", data, at)
            if code == self._names.PCAPNG_OPT_ENDOFOPT:
                break
            options.setdefault(code, data[at + 4 : at + 4 + length])
            at += 4 + length + -length % 4
        return options
