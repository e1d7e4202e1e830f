"""Release and layout of data types of a connection, detected by trial.

No packet has either, and the protocol's version stayed ``0.8.0`` when the sequences changed in
v0.21. A grammar fits if packets end where their lengths say.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tvmdbg_widgets.formats.rpc.grammar import RELEASES, Era, Grammar, grammar
from tvmdbg_widgets.formats.rpc.packets import WireError
from tvmdbg_widgets.formats.rpc.resync import PacketReader, Resync
from tvmdbg_widgets.formats.rpc.streams import first_packets
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.dtype_layout import DTypeLayout
from tvmdbg_widgets.sources.byte_source import ByteSource, ReadAhead

# Offsets of packets by kind in a long stream, by lengths and codes alone.


_HEAD = struct.Struct("<QI")
#: Kept packets per code and length.
_OF_A_KIND = 3
#: Lengths of 0 in a row; TVM skips one.
_MOST_EMPTY = 1000


def rare_packets(source: ByteSource, start: int, most: int) -> list[int]:
    """Return the offsets of up to ``most`` packets, few per code and length."""
    ahead = ReadAhead(source)
    seen: Counter[tuple[int, int]] = Counter()
    offsets: list[int] = []
    at, empty = start, 0
    while at + _HEAD.size <= source.size and len(offsets) < most and empty < _MOST_EMPTY:
        if source.next_gap(at)[0] <= at:
            break
        length, code = _HEAD.unpack(ahead.bytes(at, _HEAD.size))
        empty = 0 if length else empty + 1
        if length and not 4 <= length <= source.size - at - 8:
            break
        if length:
            kind = code, length
            seen[kind] += 1
            if seen[kind] <= _OF_A_KIND:
                offsets.append(at)
        at += 8 + length
    return offsets


# How far a grammar reads one direction of a connection.


#: Packets that a grammar is tried on: the first ones, then rare ones of the stream.
_TRIED = 400
#: Bytes to search the first packet of a capture that begins within one.
_SEARCHED = 4 << 20


@dataclass(frozen=True)
class Side:
    """One direction to read."""

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
        """Quality of the fit; higher is better."""
        return (not self.problem, self.packets)


def fit_side(side: Side, grammars: Sequence[Grammar], asked: list[int] | None) -> list[Fit]:
    """Try every grammar on one direction."""
    fits = [_fit(side, item, side.start, asked) for item in grammars]
    if side.source.size > side.start and not any(fit.packets for fit in fits):
        fits = [_fit_later(side, item, asked, len(grammars)) for item in grammars]
    return _tried_on_rare(side, fits)


def asked_by(of_client: Sequence[Fit]) -> list[int] | None:
    """Return the bytes that each request asks for, by the best reading without lengths."""
    without = [fit for fit in of_client if not fit.grammar.prefixed]
    return max(without, key=lambda fit: fit.rank).asked if without else None


def _fit(side: Side, own: Grammar, start: int, asked: list[int] | None) -> Fit:
    packets = first_packets(side.source, own, start, _TRIED, asked)
    problem = packets.damages[0].reason if packets.damages else ""
    return Fit(own, start, len(packets), problem, packets.protocol, packets.asked.tolist())


def _fit_later(side: Side, own: Grammar, asked: list[int] | None, share: int) -> Fit:
    """Try a grammar from the first chain of packets on: the capture may begin within one."""
    resync = Resync(PacketReader(side.source, own, asked), share)
    start = resync.next_packet(side.start + 1, stop=side.start + _SEARCHED)
    return _fit(side, own, side.start if start is None else start, asked)


def _tried_on_rare(side: Side, fits: list[Fit]) -> list[Fit]:
    """Try equally good grammars on rare packets of the stream."""
    tied = [fit for fit in fits if fit.grammar.prefixed and fit.packets and not fit.problem]
    if len(tied) < 2:
        return fits
    rare = rare_packets(side.source, tied[0].start, _TRIED)
    return [_tried_on(side, fit, rare) if fit in tied else fit for fit in fits]


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


#: Preferred of several fitting releases: most connections have these.
_PREFERRED: tuple[Era, ...] = ("v0.8", "v0.21", "v0.7", "v0.5")


@dataclass(frozen=True)
class SideGrammar:
    """The detected grammar of one direction."""

    side: Side
    grammar: Grammar
    start: int
    alike: tuple[Grammar, ...]


@dataclass(frozen=True)
class Detection:
    """Detected release and layouts of a connection, with reasons."""

    eras: tuple[Era, ...]
    sides: tuple[SideGrammar, ...]
    reasons: tuple[str, ...]


def detect(sides: Sequence[Side], eras: Sequence[Era], layouts: Sequence[DTypeLayout]) -> Detection:
    """Detect the release and the layouts of a connection."""
    # A layout may be padded to 8 bytes, or with the 4 bytes of TVM's own.
    grammars = [
        g
        for era in eras
        for layout in layouts
        for g in dict.fromkeys((grammar(era, layout), grammar(era, layout, 4)))
    ]
    fits: dict[str, list[Fit]] = {}
    for side in sides:
        fits[side.name] = fit_side(side, grammars, asked_by(next(iter(fits.values()), [])))
    best = _eras(fits, eras)
    reasons = _era_reasons(fits, eras, best)
    chosen = min(best, key=_PREFERRED.index)
    own = [_side(side, fits[side.name], chosen, layouts) for side in sides]
    return Detection(best, tuple(g for g, _ in own), (*reasons, *(why for _, why in own)))


def _eras(fits: dict[str, list[Fit]], eras: Sequence[Era]) -> tuple[Era, ...]:
    """Return the eras that read both directions furthest."""
    ranks = {}
    for era in eras:
        best = [
            max((fit.rank for fit in of_side if fit.grammar.era == era), default=(True, 0))
            for of_side in fits.values()
        ]
        ranks[era] = (all(complete for complete, _ in best), sum(count for _, count in best))
    most = max(ranks.values())
    best_eras = [era for era in eras if ranks[era] == most]
    protocol = _protocol(fits)
    if protocol:
        fitting = [era for era in best_eras if (era == "v0.7") == protocol.startswith("0.7")]
        best_eras = fitting or best_eras
    return tuple(best_eras)


def _protocol(fits: dict[str, list[Fit]]) -> str:
    return next((fit.protocol for side in fits.values() for fit in side if fit.protocol), "")


def _era_reasons(
    fits: dict[str, list[Fit]], eras: Sequence[Era], chosen: tuple[Era, ...]
) -> list[str]:
    if len(eras) == 1:
        return [f"packets of TVM {RELEASES[eras[0]]}, as asked for"]
    reasons = []
    names = " or ".join(RELEASES[era] for era in chosen)
    if len(chosen) == 1:
        reasons.append(f"packets of TVM {names}")
    else:
        reasons.append(
            f"packets of TVM {names}: nothing captured tells them apart, for which it takes a "
            "tensor, a copy, or a call with two arguments or more"
        )
    protocol = _protocol(fits)
    if protocol:
        reasons.append(f"the client names protocol {protocol}")
    for era in eras:
        if era in chosen:
            continue
        furthest = [
            max((fit for fit in of_side if fit.grammar.era == era), key=lambda fit: fit.rank)
            for of_side in fits.values()
        ]
        problem = next((fit.problem for fit in furthest if fit.problem), "")
        if problem:
            reasons.append(f"not {RELEASES[era]}: {problem}")
    return reasons


def _side(
    side: Side, fits: list[Fit], era: Era, layouts: Sequence[DTypeLayout]
) -> tuple[SideGrammar, str]:
    of_era = [fit for fit in fits if fit.grammar.era == era]
    best = max(fit.rank for fit in of_era)
    tied = [fit for fit in of_era if fit.rank == best]
    chosen = tied[0]
    names = [_layout_name(fit.grammar) for fit in tied]
    if len(layouts) == 1 and len(of_era) == 1:
        why = f"{side.name}: dtypes are {names[0]}, as asked for"
    elif len(tied) == 1:
        others = next((fit for fit in of_era if fit is not chosen and fit.problem), None)
        why = f"{side.name}: dtypes are {names[0]}"
        if others is not None:
            why += f", not {_layout_name(others.grammar)}: {others.problem}"
    else:
        why = f"{side.name}: dtypes are {' or '.join(names)}: it sent none that tells"
    others_alike = tuple(fit.grammar for fit in tied[1:])
    return SideGrammar(side, chosen.grammar, chosen.start, others_alike), why


def _layout_name(own: Grammar) -> str:
    kept = own.padding and own.dtype.size + own.padding != 8
    return (
        f"{own.dtype.name} (with {counted(own.padding, 'byte')} of padding)"
        if kept
        else own.dtype.name
    )
