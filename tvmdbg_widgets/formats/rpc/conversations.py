"""Segments sorted into TCP connections as they are read; payloads stay in the file."""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tvmdbg_widgets.formats.rpc.frames import Frame
from tvmdbg_widgets.sources.byte_source import ReadAhead

FIN, SYN, RST, ACK = 1, 2, 4, 16

# Length of the link header, and where in it the EtherType is (-1: the IP version tells).
_LINKS = {
    0: (4, -1),  # NULL
    1: (14, 12),  # ETHERNET
    12: (0, -1),  # RAW, where DLT_ values were written
    14: (0, -1),  # likewise, OpenBSD
    101: (0, -1),  # RAW
    108: (4, -1),  # LOOP
    113: (16, 14),  # LINUX_SLL
    228: (0, -1),  # IPV4
    229: (0, -1),  # IPV6
    276: (20, 0),  # LINUX_SLL2
}
_IPV4, _IPV6 = 0x0800, 0x86DD
_VLAN = (0x8100, 0x88A8, 0x9100)
_TCP = 6
#: Of packets that are not TCP, and not IP: https://www.iana.org/assignments/protocol-numbers.
_PROTOCOLS = {1: "ICMP", 2: "IGMP", 17: "UDP", 47: "GRE", 50: "ESP", 58: "ICMPv6", 132: "SCTP"}
_ETHER_TYPES = {0x0806: "ARP", 0x8035: "RARP", 0x88CC: "LLDP", 0x888E: "EAPOL", 0x8863: "PPPoE"}
_FRAGMENT = 44
# Hop-by-hop, routing, destination options; mobility, HIP, shim6 have the same form.
_EXTENSIONS = (0, 43, 60, 135, 139, 140)
_HEADERS = 512  # inspected bytes of a frame

_TYPE = struct.Struct(">H")
_IPV4_HEADER = struct.Struct(">BxHxxHxBxx8s")
_IPV6_HEADER = struct.Struct(">4xHBx32s")
_TCP_HEADER = struct.Struct(">4sI4xBB")


class Segment(NamedTuple):
    """A TCP segment."""

    addresses: bytes
    ports: bytes
    sequence: int
    flags: int
    offset: int
    captured: int
    sent: int


class _LeftOutError(Exception):
    """The reason for leaving out a packet, in the plural."""


def segment_of(ahead: ReadAhead, frame: Frame) -> Segment | str:
    """Return the TCP segment of a frame, or the reason why it has none."""
    looked = min(frame.captured, _HEADERS)
    start = ahead.locate(frame.offset, looked)
    view = memoryview(ahead.buffer)[: start + looked]
    try:
        at = _past_link(view, start, frame.link_type)
        tcp, stop, addresses = _past_ip(view, at, start + frame.sent)
        ports, sequence, length, flags = _TCP_HEADER.unpack_from(view, tcp)
    except _LeftOutError as reason:
        return str(reason)
    except (struct.error, IndexError):
        return "packets whose headers are cut off"
    payload = tcp + (length >> 4) * 4
    if length >> 4 < 5 or payload > stop:
        return "packets with a damaged header"
    sent = stop - payload
    captured = min(sent, max(0, start + frame.captured - payload))
    offset = frame.offset + payload - start
    return Segment(addresses, ports, sequence, flags, offset, captured, sent)


def _past_link(view: memoryview, start: int, link_type: int) -> int:
    """Return the start of the IP header."""
    if link_type not in _LINKS:
        raise _LeftOutError(f"packets of link type {link_type}, which is not read")
    length, kind_at = _LINKS[link_type]
    at = start + length
    if kind_at >= 0:
        (kind,) = _TYPE.unpack_from(view, start + kind_at)
        while kind in _VLAN:
            (kind,) = _TYPE.unpack_from(view, at + 2)
            at += 4
        if kind not in (_IPV4, _IPV6):
            name = _ETHER_TYPES.get(kind)
            raise _LeftOutError(f"packets that are not IP{f' but {name}' if name else ''}")
    return at


def _past_ip(view: memoryview, at: int, frame_stop: int) -> tuple[int, int, bytes]:
    """Return the start of the TCP header, the end of the packet, and the pair of addresses."""
    version = view[at] >> 4
    if version == 4:
        first, total, fragment, protocol, addresses = _IPV4_HEADER.unpack_from(view, at)
        if fragment & 0x3FFF:
            raise _LeftOutError("IP fragments")
        if first & 15 < 5:
            raise _LeftOutError("packets with a damaged header")
        after, stop = at + (first & 15) * 4, at + total
    elif version == 6:
        total, protocol, addresses = _IPV6_HEADER.unpack_from(view, at)
        after, stop = at + 40, at + 40 + total
        while protocol in _EXTENSIONS:
            protocol, length = view[after], view[after + 1]
            after += 8 + length * 8
        if protocol == _FRAGMENT:
            raise _LeftOutError("IP fragments")
    else:
        raise _LeftOutError("packets that are not IP")
    if protocol != _TCP:
        name = _PROTOCOLS.get(protocol)
        raise _LeftOutError(f"packets that are not TCP{f' but {name}' if name else ''}")
    # Length 0 was left to the network card (segmentation offload), or tells of a jumbogram.
    return after, stop if total else frame_stop, addresses


#: Connections that are kept; a scan of ports has one a packet.
MOST_CONNECTIONS = 10_000

#: A payload of one direction: sequence number, offset in the file, bytes there and on
#: the wire, nanoseconds.
PAYLOAD = np.dtype(
    [
        ("direction", "<u4"),
        ("sequence", "<u4"),
        ("offset", "<i8"),
        ("captured", "<u4"),
        ("sent", "<u4"),
        ("time", "<i8"),
    ]
)
_ROW = struct.Struct("<IIqIIq")
_WRAP = 0xFFFF_FFFF

Payloads: TypeAlias = "NDArray[np.void]"


@dataclass(slots=True)
class TcpConversation:
    """One TCP connection; side 0 is the sender of its first packet."""

    ends: tuple[tuple[str, int], tuple[str, int]]
    number: int
    first: list[int | None] = field(default_factory=lambda: [None, None])
    last: list[int | None] = field(default_factory=lambda: [None, None])
    opener: int | None = None
    data: list[bool] = field(default_factory=lambda: [False, False])

    def begins_anew(self, side: int, first: int) -> bool:
        """Return whether a SYN opens the next connection between the same ports."""
        known = self.first[side]
        return any(self.data) and known != first and (known is not None or self.data[side])


class Conversations:
    """All connections of a capture."""

    def __init__(self) -> None:
        self.connections: list[TcpConversation] = []
        self._routes: dict[tuple[bytes, bytes], tuple[TcpConversation, int]] = {}
        self._rows = bytearray()

    def add(self, segment: Segment, time: int) -> bool:
        """Add a segment; False if there are too many connections."""
        addresses, ports, sequence, flags, offset, captured, sent = segment
        route = self._routes.get((addresses, ports))
        if route is None:
            if len(self.connections) >= MOST_CONNECTIONS:
                return False
            route = self._open(addresses, ports)
        conversation, side = route
        if flags & (SYN | FIN | RST):
            if flags & SYN:
                sequence = sequence + 1 & _WRAP
                if conversation.begins_anew(side, sequence):
                    if len(self.connections) >= MOST_CONNECTIONS:
                        return False
                    conversation, side = self._open(addresses, ports)
                conversation.first[side] = sequence
                conversation.opener = side if not flags & ACK else 1 - side
            if flags & FIN and conversation.last[side] is None:
                conversation.last[side] = sequence + sent & _WRAP
            if flags & RST:
                return True  # its payload is a diagnosis (RFC 9293, 3.5.3), no data
        if sent:
            conversation.data[side] = True
            self._rows += _ROW.pack(
                2 * conversation.number + side, sequence, offset, captured, sent, time
            )
        return True

    def with_payloads(self) -> Iterator[tuple[TcpConversation, tuple[Payloads, Payloads]]]:
        """Yield the connections with data, and both sides' rows in order of capture."""
        rows = np.frombuffer(self._rows, PAYLOAD)
        order = np.argsort(rows["direction"], kind="stable")
        sides = np.arange(2 * len(self.connections) + 1)
        bounds = np.searchsorted(rows["direction"][order], sides).tolist()
        for conversation in self.connections:
            if any(conversation.data):
                number = 2 * conversation.number
                low, middle, high = bounds[number : number + 3]
                yield conversation, (rows[order[low:middle]], rows[order[middle:high]])

    def _open(self, addresses: bytes, ports: bytes) -> tuple[TcpConversation, int]:
        half = len(addresses) // 2
        source, destination = struct.unpack(">HH", ports)
        ends = (
            (str(ipaddress.ip_address(addresses[:half])), source),
            (str(ipaddress.ip_address(addresses[half:])), destination),
        )
        conversation = TcpConversation(ends, len(self.connections))
        self.connections.append(conversation)
        # A port that talks to itself is its own other side.
        self._routes[addresses[half:] + addresses[:half], ports[2:] + ports[:2]] = conversation, 1
        self._routes[addresses, ports] = conversation, 0
        return conversation, 0
