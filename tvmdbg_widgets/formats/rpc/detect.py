"""Which release and which layout of data types wrote a connection.

No packet says either: the handshake has neither, and the protocol's version stayed ``0.8.0`` when
the sequences changed in v0.21. A grammar is told by whether each packet ends where its length says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvmdbg_widgets.formats.rpc.fits import Fit, Side, asked_by, fit_side
from tvmdbg_widgets.formats.rpc.grammar import RELEASES, Era, Grammar, grammar
from tvmdbg_widgets.model.base.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.model.abi.dtype_layout import DTypeLayout

#: Where several fit, the one to read with: most connections are of these releases.
_PREFERRED: tuple[Era, ...] = ("v0.8", "v0.21", "v0.7", "v0.5")


@dataclass(frozen=True)
class SideGrammar:
    """How one direction is written."""

    side: Side
    grammar: Grammar
    start: int
    alike: tuple[Grammar, ...]


@dataclass(frozen=True)
class Detection:
    """How a connection is written, and by what that is known."""

    eras: tuple[Era, ...]
    sides: tuple[SideGrammar, ...]
    reasons: tuple[str, ...]


def detect(sides: Sequence[Side], eras: Sequence[Era], layouts: Sequence[DTypeLayout]) -> Detection:
    """Tell how a connection is written."""
    grammars = [each for era in eras for layout in layouts for each in _grammars(era, layout)]
    fits: dict[str, list[Fit]] = {}
    for side in sides:
        fits[side.name] = fit_side(side, grammars, asked_by(next(iter(fits.values()), [])))
    found = _eras(fits, eras)
    reasons = _era_reasons(fits, eras, found)
    chosen = min(found, key=_PREFERRED.index)
    told = [_side(side, fits[side.name], chosen, layouts) for side in sides]
    return Detection(found, tuple(each for each, _ in told), (*reasons, *(why for _, why in told)))


def _grammars(era: Era, layout: DTypeLayout) -> list[Grammar]:
    """Return the ways to write a layout: padded to 8 bytes, or with the 4 bytes of TVM's own."""
    usual, kept = grammar(era, layout), grammar(era, layout, 4)
    return list(dict.fromkeys((usual, kept)))


def _eras(fits: dict[str, list[Fit]], eras: Sequence[Era]) -> tuple[Era, ...]:
    """Return the eras that read both directions furthest."""
    ranks = {}
    for era in eras:
        best = [
            max((fit.rank for fit in of_side if fit.grammar.era == era), default=(True, 0))
            for of_side in fits.values()
        ]
        ranks[era] = (all(whole for whole, _ in best), sum(count for _, count in best))
    most = max(ranks.values())
    found = [era for era in eras if ranks[era] == most]
    protocol = _protocol(fits)
    if protocol:
        fitting = [era for era in found if (era == "v0.7") == protocol.startswith("0.7")]
        found = fitting or found
    return tuple(found)


def _protocol(fits: dict[str, list[Fit]]) -> str:
    return next((fit.protocol for side in fits.values() for fit in side if fit.protocol), "")


def _era_reasons(
    fits: dict[str, list[Fit]], eras: Sequence[Era], found: tuple[Era, ...]
) -> list[str]:
    if len(eras) == 1:
        return [f"packets of TVM {RELEASES[eras[0]]}, as asked for"]
    reasons = []
    names = " or ".join(RELEASES[era] for era in found)
    if len(found) == 1:
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
        if era in found:
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
    alike = [fit for fit in of_era if fit.rank == best]
    chosen = alike[0]
    names = [_layout_name(fit.grammar) for fit in alike]
    if len(layouts) == 1 and len(of_era) == 1:
        why = f"{side.name}: dtypes are {names[0]}, as asked for"
    elif len(alike) == 1:
        others = next((fit for fit in of_era if fit is not chosen and fit.problem), None)
        why = f"{side.name}: dtypes are {names[0]}"
        if others is not None:
            why += f", not {_layout_name(others.grammar)}: {others.problem}"
    else:
        why = f"{side.name}: dtypes are {' or '.join(names)}: it sent none that tells"
    others_alike = tuple(fit.grammar for fit in alike[1:])
    return SideGrammar(side, chosen.grammar, chosen.start, others_alike), why


def _layout_name(own: Grammar) -> str:
    kept = own.padding and own.dtype.size + own.padding != 8
    return (
        f"{own.dtype.name} (with {counted(own.padding, 'byte')} of padding)"
        if kept
        else own.dtype.name
    )
