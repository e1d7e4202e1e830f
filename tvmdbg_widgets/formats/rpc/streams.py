"""One direction of a connection as packets, by their lengths and codes."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
from tqdm.auto import tqdm

from tvmdbg_widgets.formats.rpc.grammar import REPLIES, Grammar
from tvmdbg_widgets.formats.rpc.packets import WireError
from tvmdbg_widgets.formats.rpc.resync import PacketReader, RawPacket, Resync
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.rpc_packets import DamagedBytes, PacketState, StreamPackets, StreamSpan
from tvmdbg_widgets.sources.byte_source import ByteSource

_ASKING = ("GetGlobalFunc", "ModuleGetFunc")
_HIGHEST = 2**63 - 1
_FUNCTIONS = ("function", "handle")
#: Columns of packets, and their bytes in a row.
_COLUMNS = np.dtype(
    [
        *(("offsets", "<i8"), ("sizes", "<i8"), ("codes", "<i2"), ("states", "u1")),
        *(("functions", "<u8"), ("payloads", "<i8"), ("asked", "<i8")),
    ]
)
_ROW = struct.Struct("<qqhBQqq")


class Collected:
    """Growing rows of packets."""

    def __init__(self) -> None:
        self._rows = bytearray()
        self.names: dict[int, str] = {}
        self.handles: dict[int, int] = {}
        self.damages: list[DamagedBytes] = []
        self.protocol = ""
        self.replies = 0

    def __len__(self) -> int:
        return len(self._rows) // _ROW.size

    def add(self, packet: RawPacket, state: PacketState) -> None:
        """Append one packet."""
        index, body = len(self), packet.body
        asked = min(body.nbytes or 0, _HIGHEST) if packet.name == "CopyFromRemote" else 0
        payload = body.payload.size if body.payload else 0
        place = packet.offset, packet.size, packet.code, state
        self._rows += _ROW.pack(*place, body.function or 0, payload, asked)
        self.replies += packet.name in REPLIES
        self.protocol = self.protocol or body.protocol
        arguments = body.arguments or ()
        if packet.name in _ASKING:
            named = [argument.value for argument in arguments if isinstance(argument.value, str)]
            if named:
                self.names[index] = named[0]
        elif packet.name == "CallFunc" and len(arguments) > 1 and arguments[0].kind == "module":
            if isinstance(arguments[1].value, str):
                self.names[index] = arguments[1].value
        elif packet.name == "Return" and arguments and arguments[-1].kind in _FUNCTIONS:
            self.handles[index] = arguments[-1].value

    def add_cut_off(self, offset: int, size: int, code: int) -> None:
        """Append a packet with a missing end."""
        self._rows += _ROW.pack(offset, size, code, PacketState.CUT_OFF, 0, 0, 0)

    def last_copy(self, grammar: Grammar) -> tuple[int, int] | None:
        """Return offset and size of the last packet, if it is a ``CopyAck``."""
        if not self._rows:
            return None
        offset, size, code, *_ = _ROW.unpack_from(self._rows, len(self._rows) - _ROW.size)
        return (offset, size) if grammar.codes.get(code) == "CopyAck" else None

    def drop_last_copy(self) -> None:
        """Remove the last packet, a ``CopyAck``."""
        del self._rows[len(self._rows) - _ROW.size :]
        self.replies -= 1

    def packets(self, size: int) -> StreamPackets:
        """Return the final columns."""
        rows = np.frombuffer(self._rows, _COLUMNS)
        return StreamPackets(
            **{name: np.ascontiguousarray(rows[name]) for name in _COLUMNS.names or ()},
            names=self.names,
            handles=self.handles,
            damages=tuple(self.damages),
            protocol=self.protocol,
            size=size,
        )


Gaps = tuple[tuple[int, int], ...]
#: Bytes behind a damage within which a gap is its likely cause.
_NEAR = 12
_REPORT_EVERY = 4096
_GAVE_UP = (
    "; behind it too many places look like packets and are none, so the rest was not searched"
)


def read_stream(
    source: ByteSource,
    grammar: Grammar,
    *,
    start: int = 0,
    gaps: Gaps = (),
    asked: Sequence[int] | None = None,
) -> StreamPackets:
    """Read the headers of all packets in 45 bytes of memory each; damages are skipped."""
    walk = _StreamWalk(PacketReader(source, grammar, asked), gaps, start)
    with tqdm(
        total=source.size, unit="B", unit_scale=True, desc="packets", delay=1, leave=False
    ) as bar:
        while walk.at < source.size:
            try:
                walk.step()
            except WireError as error:
                walk.resume_behind(error)
            if len(walk.collected) % _REPORT_EVERY == 0:
                bar.update(walk.at - bar.n)
    return walk.collected.packets(source.size)


def first_packets(
    source: ByteSource, grammar: Grammar, start: int, most: int, asked: Sequence[int] | None = None
) -> StreamPackets:
    """Read at most ``most`` packets, with empty ones, up to the first damage."""
    walk = _StreamWalk(PacketReader(source, grammar, asked), (), start)
    for _ in range(most):
        if walk.at >= source.size:
            break
        try:
            walk.step()
        except WireError as error:
            walk.give_up(error)
    return walk.collected.packets(source.size)


class _StreamWalk:
    """A walk through one stream."""

    def __init__(self, reader: PacketReader, gaps: Gaps, at: int) -> None:
        self.at = at
        self.collected = Collected()
        self._reader = reader
        self._size = reader.source.size
        self._resync = Resync(reader)
        self._gaps = gaps
        self._next_gap = 0

    def step(self) -> None:
        """Read the packet at ``at`` and move behind it."""
        gap = self._gap()
        if gap is not None and gap[0] <= self.at:
            raise WireError(
                "bytes", self.at, "captured bytes", f"a gap of {counted(gap[1], 'byte')}"
            )
        packet = self._reader.packet(self.at, self.collected.replies)
        if isinstance(packet, int):
            self.at += packet
            return
        end = self.at + packet.size
        state = PacketState.WHOLE
        if gap is not None and gap[0] < end:
            if not _is_carried(gap, packet.body.payload, end):
                raise WireError(
                    "bytes", gap[0], "captured bytes", f"a gap of {counted(gap[1], 'byte')}"
                )
            state = PacketState.MISSING_BYTES
        self.at = end
        self.collected.add(packet, state)

    def resume_behind(self, error: WireError) -> None:
        """Note the damage at ``at`` and move to the next packets."""
        at, after = self.at, self.at + 1
        gap = self._gap()
        if gap is not None and gap[0] < (error.offset or at) + _NEAR:
            after = sum(gap)
        elif self._take_back_copy(at):
            return
        breaks_off = after == at + 1 and self._reader.is_cut_off(at, error)
        again = self._resync.behind(at, after, self.collected.replies, breaks_off=breaks_off)
        if again is None and breaks_off:
            self.collected.add_cut_off(at, self._size - at, self._reader.code(at))
            self.at = self._size
            return
        self.at = self._size if again is None else again
        more = _GAVE_UP if again is None and self._resync.gave_up else ""
        self._note(at, f"{error}{more}")

    def _take_back_copy(self, end: int) -> bool:
        """Drop a copy right before ``end`` whose length reaches into other packets."""
        copy = self.collected.last_copy(self._reader.grammar)
        if copy is None or copy[0] + copy[1] != end or not self._reader.grammar.prefixed:
            return False
        place = self._resync.swallowed(copy[0], end)
        if place is None:
            return False
        self.collected.drop_last_copy()
        self.at = place
        read = f"{copy[1] - 8}, with other packets within"
        self._note(copy[0], str(WireError("length of the packet", copy[0], "its end", read)))
        return True

    def give_up(self, error: WireError) -> None:
        """Note the damage at ``at`` and stop."""
        at, self.at = self.at, self._size
        if self._reader.is_cut_off(at, error):
            self.collected.add_cut_off(at, self._size - at, self._reader.code(at))
        else:
            self._note(at, str(error))

    def _note(self, at: int, reason: str) -> None:
        self.collected.damages.append(DamagedBytes(at, self.at - at, len(self.collected), reason))

    def _gap(self) -> tuple[int, int] | None:
        """Return the first gap that ends behind ``at``."""
        while self._next_gap < len(self._gaps) and sum(self._gaps[self._next_gap]) <= self.at:
            self._next_gap += 1
        return self._gaps[self._next_gap] if self._next_gap < len(self._gaps) else None


def _is_carried(gap: tuple[int, int], payload: StreamSpan | None, end: int) -> bool:
    """Return whether the part of a gap before ``end`` lies in a copy's payload."""
    return payload is not None and payload.offset <= gap[0] and min(end, sum(gap)) <= sum(payload)
