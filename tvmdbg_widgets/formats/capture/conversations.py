"""Segments sorted into TCP connections as they are read; payloads stay in the file."""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tvmdbg_widgets.formats.capture.packets import ACK, FIN, RST, SYN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tvmdbg_widgets.formats.capture.packets import Segment

#: Connections that are kept; a scan of ports has one a packet.
MOST_CONNECTIONS = 10_000

#: A payload of one direction: its sequence number, where it lies in the file, bytes there and on
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
class Conversation:
    """One TCP connection; side 0 is the sender of its first packet."""

    ends: tuple[tuple[str, int], tuple[str, int]]
    number: int
    first: list[int | None] = field(default_factory=lambda: [None, None])
    last: list[int | None] = field(default_factory=lambda: [None, None])
    reset: list[bool] = field(default_factory=lambda: [False, False])
    opener: int | None = None
    data: list[bool] = field(default_factory=lambda: [False, False])

    def begins_anew(self, side: int, first: int) -> bool:
        """Whether a SYN opens the next connection between the same ports."""
        known = self.first[side]
        return any(self.data) and known != first and (known is not None or self.data[side])


class Conversations:
    """All connections of a capture."""

    def __init__(self) -> None:
        self.found: list[Conversation] = []
        self._routes: dict[tuple[bytes, bytes], tuple[Conversation, int]] = {}
        self._rows = bytearray()

    def add(self, segment: Segment, time: int) -> bool:
        """Take a segment; False where it is of one connection too many."""
        addresses, ports, sequence, flags, offset, captured, sent = segment
        route = self._routes.get((addresses, ports))
        if route is None:
            if len(self.found) >= MOST_CONNECTIONS:
                return False
            route = self._open(addresses, ports)
        conversation, side = route
        if flags & (SYN | FIN | RST):
            if flags & SYN:
                sequence = sequence + 1 & _WRAP
                if conversation.begins_anew(side, sequence):
                    if len(self.found) >= MOST_CONNECTIONS:
                        return False
                    conversation, side = self._open(addresses, ports)
                conversation.first[side] = sequence
                conversation.opener = side if not flags & ACK else 1 - side
            if flags & FIN and conversation.last[side] is None:
                conversation.last[side] = sequence + sent & _WRAP
            if flags & RST:
                conversation.reset[side] = True
                return True  # what it carries is a diagnosis (RFC 9293, 3.5.3), no data
        if sent:
            conversation.data[side] = True
            self._rows += _ROW.pack(
                2 * conversation.number + side, sequence, offset, captured, sent, time
            )
        return True

    def with_payloads(self) -> Iterator[tuple[Conversation, tuple[Payloads, Payloads]]]:
        """Yield the connections that carried data, and each side's rows as they were captured."""
        rows = np.frombuffer(self._rows, PAYLOAD)
        order = np.argsort(rows["direction"], kind="stable")
        sides = np.arange(2 * len(self.found) + 1)
        bounds = np.searchsorted(rows["direction"][order], sides).tolist()
        for conversation in self.found:
            if any(conversation.data):
                number = 2 * conversation.number
                low, middle, high = bounds[number : number + 3]
                yield conversation, (rows[order[low:middle]], rows[order[middle:high]])

    def _open(self, addresses: bytes, ports: bytes) -> tuple[Conversation, int]:
        half = len(addresses) // 2
        source, destination = struct.unpack(">HH", ports)
        ends = (
            (str(ipaddress.ip_address(addresses[:half])), source),
            (str(ipaddress.ip_address(addresses[half:])), destination),
        )
        conversation = Conversation(ends, len(self.found))
        self.found.append(conversation)
        # A port that talks to itself is its own other side.
        self._routes[addresses[half:] + addresses[:half], ports[2:] + ports[:2]] = conversation, 1
        self._routes[addresses, ports] = conversation, 0
        return conversation, 0
