"""Both directions of one connection, read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.formats.rpc.detect import Detection, detect
from tvmdbg_widgets.formats.rpc.filled import FilledSource
from tvmdbg_widgets.formats.rpc.fits import Side
from tvmdbg_widgets.formats.rpc.grammar import ERAS
from tvmdbg_widgets.formats.rpc.handshake import Handshake, read_handshake
from tvmdbg_widgets.formats.rpc.packet_reader import PacketReader, RawPacket
from tvmdbg_widgets.formats.rpc.reader import WireError
from tvmdbg_widgets.formats.rpc.streams import Gaps, read_stream
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.issues import Issue, Issues, Severity
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.rpc.packets import PacketState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from tvmdbg_widgets.formats.rpc.detect import SideGrammar
    from tvmdbg_widgets.formats.rpc.grammar import Era, Grammar
    from tvmdbg_widgets.model.abi.dtype_layout import DTypeLayout
    from tvmdbg_widgets.model.rpc.packets import StreamPackets
    from tvmdbg_widgets.model.sources.byte_source import ByteSource

    #: Nanoseconds at which bytes were captured, by their offsets.
    TimesAt = Callable[[npt.NDArray[np.int64]], npt.NDArray[np.int64]]


@dataclass(frozen=True)
class Stream:
    """What was captured of one direction."""

    name: str
    source: ByteSource
    gaps: Gaps = ()
    times_at: TimesAt | None = None


@dataclass(frozen=True, eq=False)
class Direction:
    """What one side sent, as packets."""

    name: str
    source: ByteSource
    readable: ByteSource
    grammar: Grammar
    alike: tuple[Grammar, ...]
    handshake: Handshake | None
    packets: StreamPackets
    times: npt.NDArray[np.int64] | None

    def packet(self, index: int) -> RawPacket | None:
        """Read one packet again; None where the stream ends within it."""
        if self.packets.states[index] == PacketState.CUT_OFF:
            return None
        asked = None if self.grammar.prefixed else [int(self.packets.payloads[index])]
        at = int(self.packets.offsets[index])
        try:
            found = PacketReader(self.readable, self.grammar, asked).packet(at)
        except WireError as error:
            raise FormatError(
                "the stream changed while it was read", file=self.source.name, offset=at
            ) from error
        return None if isinstance(found, int) else found

    def name_of(self, index: int) -> str:
        """Return the name of a packet, such as ``"CallFunc"``."""
        code = int(self.packets.codes[index])
        return self.grammar.codes.get(code, f"code {code}")


@dataclass(frozen=True, eq=False)
class Connection:
    """A connection as it was captured."""

    title: str
    directions: tuple[Direction, ...]
    eras: tuple[Era, ...]
    reasons: tuple[str, ...]
    issues: Issues = field(default_factory=Issues)

    def direction(self, name: str) -> Direction | None:
        """Return what ``"client"`` or ``"server"`` sent."""
        return next((each for each in self.directions if each.name == name), None)


def read_connection(
    streams: Sequence[Stream],
    *,
    title: str,
    eras: Sequence[Era] = ERAS,
    layouts: Sequence[DTypeLayout],
    issues: Sequence[Issue] = (),
) -> Connection:
    """Tell how a connection is written, and read all packets of it."""
    readable = [
        FilledSource(each.source, each.gaps) if each.gaps else each.source for each in streams
    ]
    shakes = [read_handshake(each) for each in readable]
    sides = [
        Side(stream.name, source, shake.size if shake else 0)
        for stream, source, shake in zip(streams, readable, shakes, strict=True)
    ]
    told = detect(sides, eras, layouts)
    directions: list[Direction] = []
    for stream, shake, side in zip(streams, shakes, told.sides, strict=True):
        asked = None
        if not side.grammar.prefixed and directions:
            asked = directions[0].packets.asked.tolist()
        directions.append(_direction(stream, shake, side, asked))
    if not any(len(each.packets) for each in directions):
        raise _nothing(streams, told)
    found = [issue for each in directions for issue in _issues(each)]
    return Connection(title, tuple(directions), told.eras, told.reasons, Issues([*issues, *found]))


def _direction(
    stream: Stream, shake: Handshake | None, side: SideGrammar, asked: Sequence[int] | None
) -> Direction:
    start = shake.size if shake else 0
    source = side.side.source
    packets = read_stream(source, side.grammar, start=start, gaps=stream.gaps, asked=asked)
    times = stream.times_at(packets.offsets) if stream.times_at else None
    return Direction(
        stream.name, stream.source, source, side.grammar, side.alike, shake, packets, times
    )


def _issues(direction: Direction) -> list[Issue]:
    packets, file = direction.packets, direction.source.name
    found = []
    for damage in packets.damages:
        text = (
            f"{direction.name}: no packets in {counted(damage.size, 'byte')} at byte "
            f"{damage.offset:,}, behind {counted(damage.packets_before, 'packet')}: {damage.reason}"
        )
        found.append(Issue("rpc-damaged", Severity.ERROR, text, file=file))
    counts = np.bincount(packets.states, minlength=3)
    if counts[PacketState.CUT_OFF]:
        text = f"{direction.name}: the stream ends within its last packet"
        found.append(Issue("rpc-cut-off", Severity.WARNING, text, file=file))
    if counts[PacketState.MISSING_BYTES]:
        text = (
            f"{direction.name}: {counted(counts[PacketState.MISSING_BYTES], 'packet')} "
            f"{agree(counts[PacketState.MISSING_BYTES], 'lacks')} bytes of what "
            f"{agree(counts[PacketState.MISSING_BYTES], 'it copies', 'they copy')}, which were "
            "not captured"
        )
        found.append(Issue("rpc-missing-bytes", Severity.WARNING, text, file=file))
    if direction.handshake and direction.handshake.answer != "accepted":
        text = f"the server did not take the client: {direction.handshake.answer}"
        found.append(Issue("rpc-refused", Severity.ERROR, text, file=file))
    return found


def _nothing(streams: Sequence[Stream], told: Detection) -> FormatError:
    return FormatError(
        "no packet of TVM's RPC was found",
        file=", ".join(each.source.name for each in streams),
        offset=0,
        expected="u64 length and i32 code of a packet, or the handshake before them",
        found="; ".join(told.reasons),
        hint="Pass what one side sent as client=, and what the other sent as server=; of a capture "
        "made by tcpdump or Wireshark, pass the file itself.",
    )
