"""A network capture as TCP connections with both directions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tqdm.auto import tqdm

from tvmdbg_widgets.formats.family import Kind
from tvmdbg_widgets.formats.rpc.conversations import (
    MOST_CONNECTIONS,
    Conversations,
    Payloads,
    TcpConversation,
    segment_of,
)
from tvmdbg_widgets.formats.rpc.frames import CaptureDamage, frames, sniff
from tvmdbg_widgets.formats.rpc.reassembly import CapturedStream, reassemble, stream_issues
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError, Issue, IssueLog, Issues, IssueSeverity
from tvmdbg_widgets.sources.byte_source import ByteSource, ReadAhead


class Endpoint(NamedTuple):
    """One side of a connection."""

    address: str
    port: int

    def __str__(self) -> str:
        return f"[{self.address}]:{self.port}" if ":" in self.address else ":".join(map(str, self))


@dataclass(frozen=True, slots=True, eq=False)
class TcpConnection:
    """One TCP connection, and the bytes that each side sent."""

    client: Endpoint
    server: Endpoint
    to_server: CapturedStream
    to_client: CapturedStream
    issues: Issues

    def __str__(self) -> str:
        return f"{self.client} to {self.server}"


@dataclass(frozen=True, slots=True, eq=False)
class Capture:
    """The TCP connections of a capture file."""

    name: str
    packets: int
    connections: tuple[TcpConnection, ...]
    left_out: Mapping[str, int]
    issues: Issues


_PACKETS_A_LOOK = 4096
_WINDOW = 1 << 20


def read_capture(source: ByteSource) -> Capture:
    """Read a capture once without payloads; a segment takes 32 bytes of memory."""
    head = source.read(0, min(12, source.size))
    if not sniff(head):
        raise FormatError(
            "this is no network capture",
            file=source.name,
            offset=0,
            expected="the magic number of pcap or pcapng",
            found=head[:4].hex(" ") or "an empty file",
        )
    ahead, damage = ReadAhead(source, _WINDOW), CaptureDamage(source.name)
    conversations = Conversations()
    left_out: Counter[str] = Counter()
    packets = 0
    bar = tqdm(total=source.size, desc="packets", unit="B", unit_scale=True, delay=1, leave=False)
    with bar:
        for frame in frames(ahead, damage):
            packets += 1
            segment = segment_of(ahead, frame)
            if isinstance(segment, str):
                left_out[segment] += 1
            elif not conversations.add(segment, frame.time):
                left_out[f"packets of connections after the first {MOST_CONNECTIONS:,}"] += 1
            if packets % _PACKETS_A_LOOK == 0:
                bar.update(frame.offset - bar.n)
    connections = tuple(
        _connection(source, conversation, rows)
        for conversation, rows in conversations.with_payloads()
    )
    issues = damage.issues()
    if left_out:
        reasons = ", ".join(f"{reason} ({count:,})" for reason, count in left_out.most_common())
        message = f"left out of {counted(packets, 'packet')}: {reasons}"
        issues.append(Issue("packets-left-out", IssueSeverity.NOTE, message, file=source.name))
    return Capture(source.name, packets, connections, dict(left_out), Issues(issues))


def _connection(
    source: ByteSource, conversation: TcpConversation, rows: tuple[Payloads, Payloads]
) -> TcpConnection:
    ends = [Endpoint(*end) for end in conversation.ends]
    opener = conversation.opener
    # Unknown: the side with the higher port, of equal ones the first to send.
    client = opener if opener is not None else int(ends[1].port > ends[0].port)
    issues = IssueLog(source.name)
    if opener is None:
        issues.note(
            "client-unknown",
            f"the opening of the connection was not captured; {ends[client]} is taken for the "
            "client because its port is not the lower one",
        )
    directions: list[CapturedStream] = []
    for side in (client, 1 - client):
        name = f"{source.name}, {ends[side]} to {ends[1 - side]}"
        stream = reassemble(rows[side], conversation.first[side], conversation.last[side])
        read = CapturedStream(source, stream.extents, stream.size, name)
        directions.append(read)
        issues += stream_issues(read, stream)
    to_server, to_client = directions
    return TcpConnection(ends[client], ends[1 - client], to_server, to_client, Issues(issues))


KIND = Kind("capture", "network capture", sniff, read_capture)
