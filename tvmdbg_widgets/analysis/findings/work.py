"""Share of the time by kind of work, from the operators in the names of fused functions.

The time of a fused function cannot be split between its operators, so a share is that of the
functions that contain a kind of work, and shares of several kinds add up to more than one.
Operators that ran as one in a delegate are of the kind of what they ran as.
Where no operator is of a known kind nothing is said.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import counted, percent
from tvmdbg_widgets.model.graph.operators import family, parts
from tvmdbg_widgets.model.verdicts.findings import Finding, Severity

WORK_NAME = "time-by-work"
_COMPUTING = ("convolution", "matmul", "normalization", "pooling/reduction")
_MOST = 0.5
_KINDS_SHOWN = 8
_FUNCTIONS_SHOWN = 5
_NAMED = 2
_OTHER = "other"
#: Kinds of what ran together that say nothing of the work.
_NO_WORK = ("delegate", _OTHER)
#: What operators ran as in one event, its share of the time, and their nodes.
Together: TypeAlias = tuple[str, float, tuple[int, ...]]


def find_work(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding of all kinds of work, the telling one first, then by time."""
    graph = evidence.parts.graph
    if graph is None:
        return
    shares: dict[str, float] = defaultdict(float)
    alone: dict[str, list[int]] = defaultdict(list)
    for node in evidence.timed:
        for kind in {family(part) for part in parts(graph.func_names[node])} or {_OTHER}:
            shares[kind] += float(evidence.shares[node])
            alone[kind].append(node)
    nodes = defaultdict[str, list[int]](list, alone)
    together = _together(evidence)
    for kind, ran in together.items():
        shares[kind] += sum(share for _, share, _ in ran)
        nodes[kind] = list(dict.fromkeys([*nodes[kind], *(n for _, _, own in ran for n in own)]))
    known = sorted((kind for kind in shares if kind != _OTHER), key=lambda kind: -shares[kind])
    if not known:
        return
    first = _telling(known, shares)
    known.sort(key=lambda kind: kind != first)
    functions = _functions(evidence, alone[first], together.get(first, []))
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
        WORK_NAME,
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


def _together(evidence: RunEvidence) -> dict[str, list[Together]]:
    """Return the operators that ran as one in a delegate, by the kind of what they ran as."""
    timeline = evidence.parts.timeline
    found: dict[str, list[Together]] = {}
    sets = None if timeline is None else timeline.shared
    if timeline is None or sets is None or not timeline.total_ns > 0:
        return found
    for number, kind in enumerate(sets.kinds):
        if kind not in _NO_WORK and not sets.apart[number] and sets.own_ns[number] > 0:
            share = float(sets.own_ns[number]) / timeline.total_ns
            found.setdefault(kind, []).append((sets.names[number], share, sets.of(number)))
    return found


def _functions(evidence: RunEvidence, nodes: list[int], together: list[Together]) -> list[str]:
    """Return which functions nodes call, how often and with what share, the largest first."""
    shares: dict[str, float] = defaultdict(float)
    called: dict[str, list[int]] = defaultdict(list)
    for node in nodes:
        shares[evidence.label(node)] += float(evidence.shares[node])
        called[evidence.label(node)].append(node)
    told = []
    for name, own in called.items():
        who = evidence.name(own[0]) if len(own) == 1 else f"{name} ({len(own)}×)"
        told.append((shares[name], f"{who} {percent(shares[name])}"))
    told += [(share, f"{name} {percent(share)}") for name, share, _ in together]
    return [text for _, text in sorted(told, key=lambda each: -each[0])]


def _telling(known: Sequence[str], shares: Mapping[str, float]) -> str:
    """Return what computes half of the time or more, else the kind of the greatest share.

    ``known`` is sorted by share; additions and activations are fused with everything.
    """
    computing = (kind for kind in known if kind in _COMPUTING and shares[kind] >= _MOST)
    return next(computing, known[0])


WORK = Rule(WORK_NAME, find_work, Basis.TIMES)
