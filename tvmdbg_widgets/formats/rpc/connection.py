"""Both directions of one connection, from two streams or a network capture."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.family import Family, JoinOptions, Kind, Part
from tvmdbg_widgets.formats.rpc.capture import KIND as CAPTURE
from tvmdbg_widgets.formats.rpc.capture import Capture, TcpConnection
from tvmdbg_widgets.formats.rpc.detect import Detection, Side, SideGrammar, detect
from tvmdbg_widgets.formats.rpc.grammar import ERAS, Era, Grammar
from tvmdbg_widgets.formats.rpc.packet_bytes import MAGIC
from tvmdbg_widgets.formats.rpc.packets import WireError
from tvmdbg_widgets.formats.rpc.reassembly import CapturedStream
from tvmdbg_widgets.formats.rpc.resync import PacketReader, RawPacket
from tvmdbg_widgets.formats.rpc.streams import Gaps, read_stream
from tvmdbg_widgets.formats.tvm.params.list import layouts_to_try
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import FormatError, Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.dtype_layout import DTypeLayout
from tvmdbg_widgets.model.rpc_packets import PacketState, StreamPackets
from tvmdbg_widgets.sources.byte_source import ByteSource, DerivedSource

TimesAt = Callable[[npt.NDArray[np.int64]], npt.NDArray[np.int64]]


class FilledSource(DerivedSource):
    """Reads on across gaps; callers must know where they are."""

    def __init__(self, source: ByteSource, gaps: Sequence[tuple[int, int]]) -> None:
        super().__init__(source, source.size)
        self._starts = [start for start, _ in gaps]
        self._gaps = gaps
        self.missing = sum(length for _, length in gaps)

    def next_gap(self, offset: int) -> tuple[int, int]:
        """Return start and end of the first gap behind ``offset``; see :class:`ByteSource`."""
        at = max(0, bisect_right(self._starts, offset) - 1)
        for start, length in self._gaps[at : at + 2]:
            if start + length > offset:
                return start, start + length
        return self.size, self.size

    def _fill(self, offset: int, view: memoryview) -> None:
        at, end = offset, offset + len(view)
        while at < end:
            start, behind = self.next_gap(at)
            start, behind = min(max(start, at), end), min(behind, end)
            if start > at:
                self.stored.read_into(at, view[at - offset : start - offset])
            view[start - offset : behind - offset] = bytes(behind - start)
            at = behind


# The handshake before the first packet.


_HEAD = struct.Struct("<ii")
#: Keys are such as ``server:rasp3b`` and ``client:rasp3b -timeout=10``.
_LONGEST_KEY = 4096
_ANSWERS = {MAGIC: "accepted", MAGIC + 1: "refused: duplicate key", MAGIC + 2: "refused: no match"}


class Handshake(NamedTuple):
    """The first bytes of a connection."""

    answer: str
    key: str
    size: int

    @property
    def side(self) -> str | None:
        """``"client"`` or ``"server"`` by the prefix of the key, or None."""
        head = self.key.partition(":")[0]
        return head if head in ("client", "server") else None


def sniff(head: bytes) -> bool:
    """Return whether a stream begins with a handshake."""
    if len(head) < _HEAD.size:
        return False
    code, length = _HEAD.unpack_from(head)
    key = head[_HEAD.size : _HEAD.size + max(0, length)]
    return code in _ANSWERS and 0 <= length <= _LONGEST_KEY and len(key) == length and _text(key)


def read_handshake(source: ByteSource) -> Handshake | None:
    """Return the handshake at the start of a stream, or None."""
    head = source.read(0, min(source.size, _HEAD.size + _LONGEST_KEY))
    if not sniff(head):
        return None
    code, length = _HEAD.unpack_from(head)
    key = head[_HEAD.size : _HEAD.size + length].decode()
    return Handshake(_ANSWERS[code], key, _HEAD.size + length)


def read_stream_head(source: ByteSource) -> Handshake:
    """Return the handshake of a stream that :func:`sniff` knows."""
    handshake = read_handshake(source)
    if handshake is None:
        raise FormatError(
            "no handshake of TVM's RPC",
            file=source.name,
            offset=0,
            expected=f"{MAGIC:#x}, then the length of a key",
            found=source.read(0, min(8, source.size)).hex(" ") or "an empty file",
            hint="open_rpc(client, server) reads streams that begin later.",
        )
    return handshake


def _text(key: bytes) -> bool:
    try:
        return key.decode().isprintable()
    except UnicodeDecodeError:
        return False


@dataclass(frozen=True)
class RpcStream:
    """The captured bytes of one direction."""

    name: str
    source: ByteSource
    gaps: Gaps = ()
    times_at: TimesAt | None = None


@dataclass(frozen=True, eq=False)
class RpcDirection:
    """The packets of one side."""

    name: str
    source: ByteSource
    readable: ByteSource
    grammar: Grammar
    alike: tuple[Grammar, ...]
    handshake: Handshake | None
    packets: StreamPackets
    times: npt.NDArray[np.int64] | None

    def packet(self, index: int) -> RawPacket | None:
        """Read one packet again; None if the stream ends within it."""
        if self.packets.states[index] == PacketState.CUT_OFF:
            return None
        asked = None if self.grammar.prefixed else [int(self.packets.payloads[index])]
        at = int(self.packets.offsets[index])
        try:
            packet = PacketReader(self.readable, self.grammar, asked).packet(at)
        except WireError as error:
            raise FormatError(
                "the stream changed while it was read", file=self.source.name, offset=at
            ) from error
        return None if isinstance(packet, int) else packet

    def name_of(self, index: int) -> str:
        """Return the name of a packet, such as ``"CallFunc"``."""
        code = int(self.packets.codes[index])
        return self.grammar.codes.get(code, f"code {code}")


@dataclass(frozen=True, eq=False)
class RpcConnection:
    """A captured connection."""

    title: str
    directions: tuple[RpcDirection, ...]
    eras: tuple[Era, ...]
    reasons: tuple[str, ...]
    issues: Issues = field(default_factory=Issues)

    def direction(self, name: str) -> RpcDirection | None:
        """Return the packets of ``"client"`` or ``"server"``."""
        return next((direction for direction in self.directions if direction.name == name), None)


def read_connection(
    streams: Sequence[RpcStream],
    *,
    title: str,
    eras: Sequence[Era] = ERAS,
    layouts: Sequence[DTypeLayout],
    issues: Sequence[Issue] = (),
) -> RpcConnection:
    """Detect a connection's release and layout, and read all its packets."""
    readable = [FilledSource(way.source, way.gaps) if way.gaps else way.source for way in streams]
    shakes = [read_handshake(way) for way in readable]
    sides = [
        Side(stream.name, source, shake.size if shake else 0)
        for stream, source, shake in zip(streams, readable, shakes, strict=True)
    ]
    result = detect(sides, eras, layouts)
    directions: list[RpcDirection] = []
    for stream, shake, side in zip(streams, shakes, result.sides, strict=True):
        asked = None
        if not side.grammar.prefixed and directions:
            asked = directions[0].packets.asked.tolist()
        directions.append(_direction(stream, shake, side, asked))
    if not any(len(way.packets) for way in directions):
        raise _nothing(streams, result)
    own = [issue for way in directions for issue in _issues(way)]
    return RpcConnection(
        title, tuple(directions), result.eras, result.reasons, Issues([*issues, *own])
    )


def _direction(
    stream: RpcStream, shake: Handshake | None, side: SideGrammar, asked: Sequence[int] | None
) -> RpcDirection:
    start = shake.size if shake else 0
    source = side.side.source
    packets = read_stream(source, side.grammar, start=start, gaps=stream.gaps, asked=asked)
    times = stream.times_at(packets.offsets) if stream.times_at else None
    return RpcDirection(
        stream.name, stream.source, source, side.grammar, side.alike, shake, packets, times
    )


def _issues(direction: RpcDirection) -> list[Issue]:
    packets, file = direction.packets, direction.source.name
    issues = []
    for damage in packets.damages:
        text = (
            f"{direction.name}: no packets in {counted(damage.size, 'byte')} at byte "
            f"{damage.offset:,}, behind {counted(damage.packets_before, 'packet')}: {damage.reason}"
        )
        issues.append(Issue("rpc-damaged", IssueSeverity.ERROR, text, file=file))
    counts = np.bincount(packets.states, minlength=3)
    if counts[PacketState.CUT_OFF]:
        text = f"{direction.name}: the stream ends within its last packet"
        issues.append(Issue("rpc-cut-off", IssueSeverity.WARNING, text, file=file))
    if counts[PacketState.MISSING_BYTES]:
        text = (
            f"{direction.name}: {counted(counts[PacketState.MISSING_BYTES], 'packet')} "
            f"{agree(counts[PacketState.MISSING_BYTES], 'lacks')} bytes of what "
            f"{agree(counts[PacketState.MISSING_BYTES], 'it copies', 'they copy')}, which were "
            "not captured"
        )
        issues.append(Issue("rpc-missing-bytes", IssueSeverity.WARNING, text, file=file))
    if direction.handshake and direction.handshake.answer != "accepted":
        text = f"the server did not take the client: {direction.handshake.answer}"
        issues.append(Issue("rpc-refused", IssueSeverity.ERROR, text, file=file))
    return issues


def _nothing(streams: Sequence[RpcStream], detection: Detection) -> FormatError:
    return FormatError(
        "no packet of TVM's RPC was found",
        file=", ".join(stream.source.name for stream in streams),
        offset=0,
        expected="u64 length and i32 code of a packet, or the handshake before them",
        found="; ".join(detection.reasons),
        hint="Pass what one side sent as client=, and what the other sent as server=; of a capture "
        "made by tcpdump or Wireshark, pass the file itself.",
    )


_LISTED = 8


def choose_connection(capture: Capture, wanted: int | str | None) -> TcpConnection:
    """Return the wanted connection, or the only candidate."""
    every = capture.connections
    if not every:
        raise _without_tcp(capture)
    if isinstance(wanted, int):
        matches = [every[wanted]] if 0 <= wanted < len(every) else []
    elif wanted is not None:
        matches = [one for one in every if wanted in str(one)]
    else:
        shaken = [c for c in every if _handshake(c.to_server) or _handshake(c.to_client)]
        matches = shaken or list(every)
    if len(matches) == 1:
        return matches[0]
    listed = "; ".join(f"{number}: {one}" for number, one in enumerate(every[:_LISTED]))
    more = f"; and {len(every) - _LISTED} more" if len(every) > _LISTED else ""
    raise FormatError(
        "several connections may be meant" if matches else "no such connection was captured",
        file=capture.name,
        expected="one connection of TVM's RPC",
        found=f"{listed}{more}",
        hint="Choose one: open_rpc(capture, connection=0).",
    )


def _without_tcp(capture: Capture) -> FormatError:
    left = sorted(capture.left_out.items(), key=lambda item: -item[1])
    used = capture.packets - sum(capture.left_out.values())
    reasons = [f"{reason} ({count:,})" for reason, count in left]
    reasons += [f"TCP packets without data ({used:,})"] if used else []
    return FormatError(
        "the capture holds no TCP data",
        file=capture.name,
        expected="TCP packets with data, as TVM's RPC sends them",
        found="; ".join(reasons) or "no packets",
        hint="Capture the port of the RPC server: tcpdump -i any -w session.pcap tcp port 9090.",
    )


def _handshake(direction: CapturedStream) -> Handshake | None:
    return read_handshake(FilledSource(direction, direction.gaps))


def connection_in(
    capture: Capture,
    wanted: int | str | None,
    *,
    layouts: Sequence[DTypeLayout],
    eras: Sequence[Era] = ERAS,
    issues: Sequence[Issue] = (),
) -> RpcConnection:
    """Read the wanted connection of a capture."""
    chosen = choose_connection(capture, wanted)
    sent, answered = chosen.to_server, chosen.to_client
    shake = _handshake(sent)
    if shake is not None and shake.side == "server":
        sent, answered = answered, sent
    return read_connection(
        [
            RpcStream(name, direction, direction.gaps, direction.times_at)
            for name, direction in (("client", sent), ("server", answered))
        ],
        title=f"{PurePath(capture.name).name}, {chosen}",
        eras=eras,
        layouts=layouts,
        issues=[*issues, *capture.issues, *chosen.issues],
    )


def title_of(streams: Iterable[RpcStream]) -> str:
    """Name a connection after the files of its streams."""
    return " and ".join(PurePath(stream.source.name).name for stream in streams)


def join(parts: Sequence[Part], issues: Sequence[Issue], options: JoinOptions) -> RpcConnection:
    """Read a capture, or the streams of both sides, as one connection."""
    layouts = layouts_to_try(options.dtype_layout)
    captures = [part for part in parts if part.kind == "capture"]
    if len(captures) == 1 and len(parts) == 1:
        return connection_in(captures[0].value, None, layouts=layouts, issues=issues)
    if captures or len(parts) > 2:
        raise FormatError(
            "these are files of several connections",
            file=", ".join(part.source.name for part in parts),
            expected="one network capture, or the two directions of one connection",
            found=counted(len(parts), "file"),
            hint="Open them one by one with open_rpc(client, server).",
        )
    names = [part.value.side for part in parts]
    if len(set(names)) < len(names) or None in names:
        names = ["client", "server"][: len(names)]
    sources = dict(sorted(zip(names, (part.source for part in parts), strict=True)))
    streams = [RpcStream(*item) for item in sources.items()]
    return read_connection(streams, title=title_of(streams), layouts=layouts, issues=issues)


FAMILY = Family("rpc", (CAPTURE, Kind("rpc-stream", "RPC stream", sniff, read_stream_head)), join)
