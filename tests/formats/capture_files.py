"""Writes pcap and pcapng files of TCP traffic, from their specifications alone.

draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng, https://www.tcpdump.org/linktypes.html, RFC 791,
RFC 8200, RFC 9293.
"""

import ipaddress
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tvmdbg_widgets.formats.rpc.frames import NO_TIME
from tvmdbg_widgets.formats.rpc.reassembly import CapturedStream

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
NULL, ETHERNET, RAW, LOOP, SLL, SLL2 = 0, 1, 101, 108, 113, 276
START = 1_700_000_000_123_456_789  # ns


@dataclass(frozen=True)
class Tcp:
    """A TCP segment in an IP packet."""

    payload: bytes = b""
    sequence: int = 0
    flags: int = ACK
    source: tuple[str, int] = ("127.0.0.1", 40000)
    destination: tuple[str, int] = ("127.0.0.1", 9090)
    options: bytes = b""
    fragment: int = 0  # flags and offset of IPv4
    extension: bytes = b""  # a destination options header of IPv6
    total: int | None = None  # length field of IP, where it is not what there is

    def tcp(self) -> bytes:
        head = 20 + len(self.options)
        assert head % 4 == 0
        fields = (self.source[1], self.destination[1], self.sequence % 2**32, 0, head // 4 << 4)
        return (
            struct.pack(">HHIIBBHHH", *fields, self.flags, 0xFFFF, 0, 0)
            + self.options
            + self.payload
        )

    def ip(self) -> bytes:
        tcp = self.tcp()
        ends = [ipaddress.ip_address(end[0]) for end in (self.source, self.destination)]
        if ends[0].version == 4:
            total = 20 + len(tcp) if self.total is None else self.total
            head = struct.pack(">BBHHHBBH", 0x45, 0, total, 1, self.fragment, 64, 6, 0)
        else:
            first = 60 if self.extension else 6
            total = len(self.extension) + len(tcp) if self.total is None else self.total
            head = struct.pack(">IHBB", 6 << 28, total, first, 64)
        return head + b"".join(end.packed for end in ends) + self.extension + tcp


def frame(packet: bytes, link_type: int = ETHERNET, vlans: Sequence[int] = ()) -> bytes:
    """An IP packet with the header of its link."""
    kind = struct.pack(">H", 0x86DD if packet[0] >> 4 == 6 else 0x0800)
    tags = b"".join(b"\x81\x00" + struct.pack(">H", vlan) for vlan in vlans)
    if link_type == ETHERNET:
        return b"\x02" * 6 + b"\x04" * 6 + tags + kind + packet
    if link_type == SLL:
        return struct.pack(">HHH8s", 0, 772, 6, b"") + kind + packet
    if link_type == SLL2:
        return kind + struct.pack(">HIHBB8s", 0, 1, 772, 0, 6, b"") + packet
    family = 30 if packet[0] >> 4 == 6 else 2
    if link_type == NULL:
        return struct.pack("<I", family) + packet
    if link_type == LOOP:
        return struct.pack(">I", family) + packet
    return packet


def pcap(
    frames: Iterable[bytes],
    link_type: int = ETHERNET,
    *,
    order: str = "<",
    nanoseconds: bool = True,
    snaplen: int = 262_144,
    times: Iterable[int] | None = None,
) -> bytes:
    """A pcap file; frames are captured 1 ms apart, or at the given times in ns."""
    magic = 0xA1B23C4D if nanoseconds else 0xA1B2C3D4
    out = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snaplen, link_type)]
    for data, time in _timed(frames, times):
        second, rest = divmod(time, 10**9)
        kept = data[:snaplen]
        part = rest if nanoseconds else rest // 1000
        out.append(struct.pack(order + "IIII", second, part, len(kept), len(data)) + kept)
    return b"".join(out)


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    """A block of a pcapng file."""
    body += bytes(-len(body) % 4)
    length = struct.pack(order + "I", 12 + len(body))
    return struct.pack(order + "I", kind) + length + body + length


def option(code: int, value: bytes, order: str = "<") -> bytes:
    return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)


def section(order: str = "<") -> bytes:
    return block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def interface(
    link_type: int = ETHERNET,
    *,
    order: str = "<",
    snaplen: int = 0,
    resolution: int | None = 9,
    seconds: int = 0,
    comment: bytes = b"a comment",
) -> bytes:
    """An interface description block, with ``if_tsresol`` and ``if_tsoffset`` where given."""
    options = option(1, comment, order)
    if resolution is not None:
        options += option(9, bytes([resolution]), order)
    if seconds:
        options += option(14, struct.pack(order + "q", seconds), order)
    options += option(0, b"", order)
    return block(1, struct.pack(order + "HHI", link_type, 0, snaplen) + options, order)


def enhanced_packet(
    data: bytes, ticks: int, *, number: int = 0, order: str = "<", sent: int | None = None
) -> bytes:
    sent = len(data) if sent is None else sent
    head = struct.pack(order + "IIIII", number, ticks >> 32, ticks & 0xFFFFFFFF, len(data), sent)
    options = option(2, struct.pack(order + "I", 1), order) + option(0, b"", order)
    return block(6, head + data + bytes(-len(data) % 4) + options, order)


def obsolete_packet(data: bytes, ticks: int, *, order: str = "<") -> bytes:
    head = struct.pack(
        order + "HHIIII", 0, 7, ticks >> 32, ticks & 0xFFFFFFFF, len(data), len(data)
    )
    return block(2, head + data, order)


def simple_packet(data: bytes, *, order: str = "<", snaplen: int = 0) -> bytes:
    return block(3, struct.pack(order + "I", len(data)) + data[: snaplen or None], order)


def pcapng(
    frames: Iterable[bytes],
    link_type: int = ETHERNET,
    *,
    order: str = "<",
    times: Iterable[int] | None = None,
) -> bytes:
    """A pcapng file of one section and interface, in nanoseconds."""
    packets = [enhanced_packet(data, time, order=order) for data, time in _timed(frames, times)]
    return b"".join([section(order), interface(link_type, order=order), *packets])


def conversation(
    sent: Sequence[bytes],
    answered: Sequence[bytes] = (),
    *,
    first: int = 1000,
    answer_first: int = 5000,
    like: Tcp = Tcp(),
) -> list[Tcp]:
    """A connection from SYN to FIN: all that the client sends, then all that comes back."""
    back = replace(like, source=like.destination, destination=like.source)
    segments = [
        replace(like, sequence=first, flags=SYN),
        replace(back, sequence=answer_first, flags=SYN | ACK),
        replace(like, sequence=first + 1),
    ]
    for side, number, parts in ((like, first, sent), (back, answer_first, answered)):
        at = number + 1
        for part in parts:
            segments.append(replace(side, payload=part, sequence=at, flags=PSH | ACK))
            at += len(part)
        segments.append(replace(side, sequence=at, flags=FIN | ACK))
    return segments


def _timed(frames: Iterable[bytes], times: Iterable[int] | None) -> Iterable[tuple[bytes, int]]:
    listed = list(frames)
    given = [START + i * 10**6 for i in range(len(listed))] if times is None else list(times)
    return zip(listed, given, strict=True)


def time_at(direction: CapturedStream, offset: int) -> int | None:
    """When one byte of a stream was captured, None where that is not known."""
    time = int(direction.times_at([offset])[0])
    return None if time == NO_TIME else time
