"""One direction of a connection as packets: lengths and codes followed from one to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tqdm.auto import tqdm

from tvmdbg_widgets.formats.rpc.collected import Collected
from tvmdbg_widgets.formats.rpc.packet_reader import PacketReader
from tvmdbg_widgets.formats.rpc.reader import WireError
from tvmdbg_widgets.formats.rpc.resync import Resync
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.rpc.packets import Damage, PacketState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.formats.rpc.grammar import Grammar
    from tvmdbg_widgets.model.rpc.packets import StreamPackets
    from tvmdbg_widgets.model.rpc.values import Span
    from tvmdbg_widgets.model.sources.byte_source import ByteSource

Gaps = tuple[tuple[int, int], ...]
#: Bytes behind a damage within which a gap is taken for its cause.
_NEAR = 12
_TOLD_EVERY = 4096
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
    """Read the headers of all packets; what is copied is not read.

    Memory grows by 45 bytes a packet. What is no packet is left out and told as a damage, and
    reading goes on where packets follow each other again.
    """
    walk = _Walk(PacketReader(source, grammar, asked), gaps, start)
    with tqdm(
        total=source.size, unit="B", unit_scale=True, desc="packets", delay=1, leave=False
    ) as bar:
        while walk.at < source.size:
            try:
                walk.step()
            except WireError as error:
                walk.resume_behind(error)
            if len(walk.found) % _TOLD_EVERY == 0:
                bar.update(walk.at - bar.n)
    return walk.found.packets(source.size)


def first_packets(
    source: ByteSource, grammar: Grammar, start: int, most: int, asked: Sequence[int] | None = None
) -> StreamPackets:
    """Read at most ``most`` packets, empty ones among them, up to the first that is none."""
    walk = _Walk(PacketReader(source, grammar, asked), (), start)
    for _ in range(most):
        if walk.at >= source.size:
            break
        try:
            walk.step()
        except WireError as error:
            walk.give_up(error)
    return walk.found.packets(source.size)


class _Walk:
    """The way through one stream."""

    def __init__(self, reader: PacketReader, gaps: Gaps, at: int) -> None:
        self.at = at
        self.found = Collected()
        self._reader = reader
        self._size = reader.source.size
        self._resync = Resync(reader)
        self._gaps = gaps
        self._next_gap = 0

    def step(self) -> None:
        """Read the packet at ``at`` and go behind it."""
        gap = self._gap()
        if gap is not None and gap[0] <= self.at:
            raise WireError(
                "bytes", self.at, "captured bytes", f"a gap of {counted(gap[1], 'byte')}"
            )
        packet = self._reader.packet(self.at, self.found.replies)
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
        self.found.add(packet, state)

    def resume_behind(self, error: WireError) -> None:
        """Note what is wrong at ``at`` and go where packets follow again."""
        at, after = self.at, self.at + 1
        gap = self._gap()
        if gap is not None and gap[0] < (error.offset or at) + _NEAR:
            after = sum(gap)
        elif self._take_back_copy(at):
            return
        breaks_off = after == at + 1 and self._reader.is_cut_off(at, error)
        again = self._resync.behind(at, after, self.found.replies, breaks_off=breaks_off)
        if again is None and breaks_off:
            self.found.add_cut_off(at, self._size - at, self._reader.code(at))
            self.at = self._size
            return
        self.at = self._size if again is None else again
        more = _GAVE_UP if again is None and self._resync.gave_up else ""
        self._note(at, f"{error}{more}")

    def _take_back_copy(self, end: int) -> bool:
        """Leave out a copy right before ``end`` whose length reaches into other packets."""
        copy = self.found.last_copy(self._reader.grammar)
        if copy is None or copy[0] + copy[1] != end or not self._reader.grammar.prefixed:
            return False
        place = self._resync.swallowed(copy[0], end)
        if place is None:
            return False
        self.found.drop_last_copy()
        self.at = place
        found = f"{copy[1] - 8}, with other packets within"
        self._note(copy[0], str(WireError("length of the packet", copy[0], "its end", found)))
        return True

    def give_up(self, error: WireError) -> None:
        """Note what is wrong at ``at`` and read no further."""
        at, self.at = self.at, self._size
        if self._reader.is_cut_off(at, error):
            self.found.add_cut_off(at, self._size - at, self._reader.code(at))
        else:
            self._note(at, str(error))

    def _note(self, at: int, reason: str) -> None:
        self.found.damages.append(Damage(at, self.at - at, len(self.found), reason))

    def _gap(self) -> tuple[int, int] | None:
        """Return the first gap that ends behind ``at``."""
        while self._next_gap < len(self._gaps) and sum(self._gaps[self._next_gap]) <= self.at:
            self._next_gap += 1
        return self._gaps[self._next_gap] if self._next_gap < len(self._gaps) else None


def _is_carried(gap: tuple[int, int], payload: Span | None, end: int) -> bool:
    """Whether the part of a gap before ``end`` lies in what a packet copies."""
    return payload is not None and payload.offset <= gap[0] and min(end, sum(gap)) <= sum(payload)
