"""pcap files of one TCP connection over loopback, as tcpdump writes them, in constant memory."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

#: Payload of a segment: what loopback takes at once, and what Ethernet does.
LOOPBACK, ETHERNET = 32_741, 1_448
_PORTS = (40_000, 9_090)
_LINK = bytes(12) + b"\x08\x00"
_TIMESTAMPS = b"\x01\x01\x08\x0a" + bytes(8)
_STEP_NS = 5_000


def write_capture(
    path: Path, messages: Iterable[tuple[bool, bytes]], segment: int = LOOPBACK
) -> int:
    """Write what two sides say; every segment is acknowledged.

    Parameters
    ----------
    path
        The file.
    messages
        Whether the client says it, and the bytes.
    segment
        Most bytes of payload in a segment.

    Returns
    -------
    int
        Packets written.
    """
    at = [1000, 0]
    packets = 0
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, 1))

        def put(client: bool, flags: int, payload: bytes | memoryview = b"") -> None:
            nonlocal packets
            packets += 1
            head = _headers(client, at, flags, len(payload))
            length = len(head) + len(payload)
            file.write(struct.pack("<IIII", *divmod(packets * _STEP_NS, 10**9), length, length))
            file.write(head)
            file.write(payload)
            at[not client] = (at[not client] + len(payload)) % (1 << 32)

        put(True, 2)
        at[:] = [1001, 5000]
        put(False, 18)
        at[1] = 5001
        for client, data in messages:
            view = memoryview(data)
            for start in range(0, len(view), segment):
                put(client, 24, view[start : start + segment])
                put(not client, 16)
    return packets


def _headers(client: bool, at: list[int], flags: int, payload: int) -> bytes:
    """Ethernet, IPv4 and TCP; ``at`` holds the next sequence number of client and server."""
    ports, numbers = (_PORTS, at) if client else (_PORTS[::-1], at[::-1])
    ip = struct.pack(
        ">BBHHHBBH4s4s", 69, 0, 52 + payload, 0, 0x4000, 64, 6, 0, b"\x7f\0\0\1", b"\x7f\0\0\1"
    )
    tcp = struct.pack(">HHIIBBHHH", *ports, *numbers, 128, flags, 512, 0, 0)
    return _LINK + ip + tcp + _TIMESTAMPS
