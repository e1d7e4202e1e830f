"""Share of the time by kind of work, from the operators in the names of fused functions.

The time of a fused function cannot be split between its operators, so a share is that of the
functions that contain a kind of work, and shares of several kinds add up to more than one.
Where no operator is of a known kind nothing is said.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import counted, percent
from tvmdbg_widgets.model.graph.operators import family, parts
from tvmdbg_widgets.model.verdicts.findings import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tvmdbg_widgets.analysis.findings.evidence import Evidence

NAME = "time-by-work"
_COMPUTING = ("convolution", "matmul", "normalization", "pooling/reduction")
_MOST = 0.5
_KINDS_SHOWN = 8
_FUNCTIONS_SHOWN = 5
_NAMED = 2
_OTHER = "other"


def find(evidence: Evidence) -> Iterable[Finding]:
    """Make one finding of all kinds of work, the telling one first, then by time."""
    graph = evidence.parts.graph
    if graph is None:
        return
    shares: dict[str, float] = defaultdict(float)
    nodes: dict[str, list[int]] = defaultdict(list)
    for node in evidence.timed:
        for kind in {family(part) for part in parts(graph.func_names[node])} or {_OTHER}:
            shares[kind] += float(evidence.shares[node])
            nodes[kind].append(node)
    known = sorted((kind for kind in shares if kind != _OTHER), key=lambda kind: -shares[kind])
    if not known:
        return
    first = _telling(known, shares)
    known.sort(key=lambda kind: kind != first)
    functions = _functions(evidence, nodes[first])
    told = [*functions[:_FUNCTIONS_SHOWN]]
    told += [
        f"{kind}: {percent(shares[kind])} ({counted(len(nodes[kind]), 'node')})"
        for kind in known[:_KINDS_SHOWN]
    ]
    if _OTHER in shares:
        told.append(
            f"unknown operators: {percent(shares[_OTHER])} ({counted(len(nodes[_OTHER]), 'node')})"
        )
    yield Finding(
        NAME,
        Severity.HOTSPOT,
        f"{first.capitalize()} takes {percent(shares[first])} of the time: "
        f"{', '.join(functions[:_NAMED])}",
        tuple(told),
        evidence.confidence_in_shares,
        "operators are read from function names; a fused function counts for each kind in it, "
        "since its time cannot be split" + evidence.inflated,
        tuple(nodes[first]),
        (),
        "run.table() lists the kind of each; GraphView(run, color_by='time') shows where they are.",
        min(shares[first], 1.0) / 4,
    )


def _functions(evidence: Evidence, nodes: list[int]) -> list[str]:
    """Return which functions nodes call, how often and with what share, the largest first."""
    shares: dict[str, float] = defaultdict(float)
    called: dict[str, list[int]] = defaultdict(list)
    for node in nodes:
        shares[evidence.label(node)] += float(evidence.shares[node])
        called[evidence.label(node)].append(node)
    return [
        f"{evidence.name(called[name][0]) if len(called[name]) == 1 else name} "
        f"{f'({len(called[name])}×) ' if len(called[name]) > 1 else ''}{percent(shares[name])}"
        for name in sorted(shares, key=lambda name: -shares[name])
    ]


def _telling(known: Sequence[str], shares: Mapping[str, float]) -> str:
    """Return what computes half of the time or more, else the kind of the greatest share.

    ``known`` is sorted by share; additions and activations are fused with everything.
    """
    computing = (kind for kind in known if kind in _COMPUTING and shares[kind] >= _MOST)
    return next(computing, known[0])


RULE = Rule(NAME, find, Basis.TIMES)
