"""How far a grammar reads one direction of a connection."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tvmdbg_widgets.formats.rpc.packet_reader import PacketReader
from tvmdbg_widgets.formats.rpc.rare_packets import rare_packets
from tvmdbg_widgets.formats.rpc.reader import WireError
from tvmdbg_widgets.formats.rpc.resync import Resync
from tvmdbg_widgets.formats.rpc.streams import first_packets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.formats.rpc.grammar import Grammar
    from tvmdbg_widgets.model.sources.byte_source import ByteSource

#: Packets that a grammar is tried on: the first ones, then rare ones of the whole stream.
_TRIED = 400
#: Bytes in which the first packet of a capture that begins within one is looked for.
_SEARCHED = 4 << 20


@dataclass(frozen=True)
class Side:
    """One direction to be read."""

    name: str
    source: ByteSource
    start: int = 0


@dataclass(frozen=True)
class Fit:
    """How far a grammar reads one direction."""

    grammar: Grammar
    start: int
    packets: int
    problem: str
    protocol: str
    asked: list[int]

    @property
    def rank(self) -> tuple[bool, int]:
        """The higher, the better it fits."""
        return (not self.problem, self.packets)


def fit_side(side: Side, grammars: Sequence[Grammar], asked: list[int] | None) -> list[Fit]:
    """Try each grammar on one direction."""
    fits = [_fit(side, each, side.start, asked) for each in grammars]
    if side.source.size > side.start and not any(fit.packets for fit in fits):
        fits = [_fit_later(side, each, asked, len(grammars)) for each in grammars]
    return _tried_on_rare(side, fits)


def asked_by(of_client: Sequence[Fit]) -> list[int] | None:
    """Return how many bytes each request asks for, by the best reading without lengths."""
    without = [fit for fit in of_client if not fit.grammar.prefixed]
    return max(without, key=lambda fit: fit.rank).asked if without else None


def _fit(side: Side, own: Grammar, start: int, asked: list[int] | None) -> Fit:
    packets = first_packets(side.source, own, start, _TRIED, asked)
    problem = packets.damages[0].reason if packets.damages else ""
    return Fit(own, start, len(packets), problem, packets.protocol, packets.asked.tolist())


def _fit_later(side: Side, own: Grammar, asked: list[int] | None, share: int) -> Fit:
    """Try a grammar where packets first follow each other: the capture may begin within one."""
    resync = Resync(PacketReader(side.source, own, asked), share)
    start = resync.next_packet(side.start + 1, stop=side.start + _SEARCHED)
    return _fit(side, own, side.start if start is None else start, asked)


def _tried_on_rare(side: Side, fits: list[Fit]) -> list[Fit]:
    """Try grammars that read the first packets alike on packets that are rare in the stream."""
    alike = [fit for fit in fits if fit.grammar.prefixed and fit.packets and not fit.problem]
    if len(alike) < 2:
        return fits
    rare = rare_packets(side.source, alike[0].start, _TRIED)
    return [_tried_on(side, fit, rare) if fit in alike else fit for fit in fits]


def _tried_on(side: Side, fit: Fit, offsets: Sequence[int]) -> Fit:
    reader = PacketReader(side.source, fit.grammar)
    packets, problem = fit.packets, ""
    for offset in offsets:
        try:
            reader.packet(offset)
            packets += 1
        except WireError as error:
            problem = problem or str(error)
    return replace(fit, packets=packets, problem=problem)
