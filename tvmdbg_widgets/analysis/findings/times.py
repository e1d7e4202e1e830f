"""Rules on times: shares by kind of work, data movement, slow operators, noise, warm-up.

The time of a fused function cannot be split between its operators, so a share is that of the
functions that contain a kind of work, and shares of several kinds add up to more than one.
Operators that ran as one in a delegate have the kind of their common event.

Repeats are noisy where p90 / p10 is above 1.2 over 5 repeats or more; below 1 % of the time that is
a note. Systematically slower first repeats are warm-up, not noise.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import partial
from typing import TypeAlias

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut
from tvmdbg_widgets.analysis.findings.rule import Basis, rule
from tvmdbg_widgets.model.base.numbers import Trust, agree, counted, duration_text, fixed, percent
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.findings import Confidence, Finding, Severity
from tvmdbg_widgets.model.graph.graph import short_label
from tvmdbg_widgets.model.graph.operators import family, parts
from tvmdbg_widgets.model.timeline.node_sets import NOISY_RATIO
from tvmdbg_widgets.model.timeline.timeline import Timeline

_COMPUTING = ("convolution", "matmul", "normalization", "pooling/reduction")
_MOST = 0.5
_KINDS_SHOWN = 8
_FUNCTIONS_SHOWN = 5
_NAMED = 2
_OTHER = "other"
_NO_WORK = ("delegate", _OTHER)  # kinds of common events that say nothing about the work
#: Kind of a common event, its share of the time, and its nodes.
Together: TypeAlias = tuple[str, float, tuple[int, ...]]


@rule("time-by-work", Basis.TIMES)
def find_work(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding of all kinds of work, the dominant one first, then by time."""
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
    together = _common_events(evidence)
    for kind, ran in together.items():
        shares[kind] += sum(share for _, share, _ in ran)
        nodes[kind] = list(dict.fromkeys([*nodes[kind], *(n for _, _, own in ran for n in own)]))
    known = sorted((kind for kind in shares if kind != _OTHER), key=lambda kind: -shares[kind])
    if not known:
        return
    computing = (kind for kind in known if kind in _COMPUTING and shares[kind] >= _MOST)
    first = next(computing, known[0])
    known.sort(key=lambda kind: kind != first)
    functions = _functions_by_share(evidence, alone[first], together.get(first, []))
    facts = [*functions[:_FUNCTIONS_SHOWN]]
    facts += [
        f"{kind}: {percent(shares[kind])} ({counted(len(nodes[kind]), 'node')})"
        for kind in known[:_KINDS_SHOWN]
    ]
    if _OTHER in shares:
        facts.append(
            f"unknown operators: {percent(shares[_OTHER])} ({counted(len(nodes[_OTHER]), 'node')})"
        )
    yield Finding(
        Severity.HOTSPOT,
        f"{first.capitalize()} takes {percent(shares[first])} of the time: "
        f"{', '.join(functions[:_NAMED])}",
        tuple(facts),
        evidence.confidence_in_shares,
        "time by fused operator (a fused function counts for each); operators are read from "
        "function names" + evidence.inflated,
        tuple(nodes[first]),
        next_step="run.table() lists the kind of each; GraphView(run, color_by='time') shows where "
        "they are.",
        weight=min(shares[first], 1.0) / 4,
    )


def _common_events(evidence: RunEvidence) -> dict[str, list[Together]]:
    timeline = evidence.parts.timeline
    by_kind: dict[str, list[Together]] = {}
    sets = None if timeline is None else timeline.shared
    if timeline is None or sets is None or not timeline.total_ns > 0:
        return by_kind
    for number, kind in enumerate(sets.kinds):
        if kind not in _NO_WORK and not sets.apart[number] and sets.own_ns[number] > 0:
            share = float(sets.own_ns[number]) / timeline.total_ns
            by_kind.setdefault(kind, []).append((sets.names[number], share, sets.of(number)))
    return by_kind


def _functions_by_share(
    evidence: RunEvidence, nodes: list[int], together: list[Together]
) -> list[str]:
    shares: dict[str, float] = defaultdict(float)
    called: dict[str, list[int]] = defaultdict(list)
    for node in nodes:
        shares[evidence.label(node)] += float(evidence.shares[node])
        called[evidence.label(node)].append(node)
    functions = []
    for name, own in called.items():
        who = evidence.name(own[0]) if len(own) == 1 else f"{short_label(name)} ({len(own)}×)"
        functions.append((shares[name], f"{who} {percent(shares[name])}"))
    functions += [(share, f"{name} {percent(share)}") for name, share, _ in together]
    return [text for _, text in sorted(functions, key=lambda each: -each[0])]


_LEAST = 0.01
_WORK = {
    "layout_transform": frozenset(
        {"layout_transform", "auto_scheduler_layout_transform", "meta_schedule_layout_transform"}
    ),
    "transpose": frozenset(
        {"transpose", "permute_dims", "swapaxes", "permute_copy", "transpose_copy", "t_copy"}
    ),
    "copies": frozenset(
        {
            *("__copy", "copy", "device_copy", "clone", "contiguous"),
            *("_clone_dim_order", "expand_copy", "view_copy", "slice_copy"),
        }
    ),
    "casts": frozenset({"cast", "cast_like", "astype", "_to_copy", "_to_dim_order_copy"}),
}
_ADVICE = {
    "layout_transform": "Make neighbors use the same layout (ConvertLayout, AlterOpLayout), or "
    "check why their schedules need different ones.",
    "transpose": "Transpose parameters at compile time (FoldConstant), or let consumers take the "
    "other axis order.",
    "copies": "Check the devices on both sides: fewer device changes, fewer copies.",
    "casts": "Check whether neighbors can use the same dtype (ToMixedPrecision).",
}
_ADVICE_ON_EXECUTORCH = {
    "layout_transform": "Keep one memory format from end to end.",
    "transpose": "Compute transposed weights once (constant_prop_pass), or let a delegate take "
    "the whole layer.",
    "copies": "Check whether a view would do: memory planning removes views of a fixed shape.",
    "casts": "Check whether neighbors can use the same dtype and memory format.",
}


@rule("data-movement", Basis.TIMES)
def find_movement(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding per kind of movement that certainly matters."""
    made_of = {node: frozenset(evidence.operator_parts(node)) for node in evidence.timed}
    for work, names in _WORK.items():
        containing = [node for node, parts in made_of.items() if names & parts]
        alone = [node for node in containing if names >= made_of[node]]
        own = float(evidence.shares[alone].sum()) if alone else 0.0
        if own < _LEAST:
            continue
        alone.sort(key=lambda node: -evidence.shares[node])
        facts = [f"{counted(len(alone), 'node')}: {evidence.list(alone, 3)}"]
        fused = [node for node in containing if not names >= made_of[node]]
        if fused:
            facts.append(
                f"also fused into {counted(len(fused), 'node')} with "
                f"{percent(float(evidence.shares[fused].sum()))} of the time; its part of that is "
                "not known"
            )
        yield Finding(
            Severity.HOTSPOT,
            f"Data movement ({work}) takes {percent(own)} of the time: {evidence.list(alone, 2)}",
            tuple(facts),
            evidence.confidence_in_shares,
            "operators are read from function names; fused functions are not counted"
            + evidence.inflated,
            tuple(alone),
            next_step=(_ADVICE_ON_EXECUTORCH if evidence.of_executorch else _ADVICE)[work],
            weight=own,
        )


_SHOWN = 5
_NEGLIGIBLE = 0.01


@rule("slowest-operators", Basis.TIMES)
def find_slowest(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding of the slowest five."""
    timeline, words = evidence.parts.timeline, evidence.words
    if timeline is None or words is None or words.by_name or not timeline.total_ns > 0:
        return
    account = timeline.account
    rows = account.ranked[account.ns[account.ranked] > 0]
    placed = rows[account.name[rows] < 0]
    if not len(placed):
        return
    top = timeline.top(None)
    named = [
        (evidence.name(node) if node >= 0 else one_line(name), members, ns, share)
        for node, name, members, ns, share, code in zip(
            top.nodes.tolist(), top.names, top.members, top.ns.tolist(), top.share.tolist(),
            account.name[account.ranked].tolist(), strict=True,
        )
        if code < 0 and ns > 0
    ][:_SHOWN]  # fmt: skip
    shares = account.share[placed]
    part = float(shares[: len(named)].sum())
    half = int(np.searchsorted(np.cumsum(np.sort(shares)[::-1]), 0.5 - 1e-12)) + 1
    facts = [f"{name}: {duration_text(ns)}, {percent(share)}" for name, _, ns, share in named]
    if len(placed) > _SHOWN and half <= len(placed):
        verb, several = agree(half, "accounts"), counted(half, words.row).partition(" ")[2]
        these = f"the {half:,} slowest {several}" if half > 1 else f"the slowest {words.row} alone"
        facts.append(f"{these} {verb} for half of the time")
    if (gap := account.gap_ns) > _NEGLIGIBLE * timeline.total_ns:
        facts.append(f"{percent(gap / timeline.total_ns)} of the time is outside of instructions")
    if (left := float(np.nansum(account.ns[account.left]))) > _NEGLIGIBLE * timeline.total_ns:
        facts.append(
            f"{percent(left / timeline.total_ns)} of the time is in delegate calls, outside of "
            "their operators"
        )
    nodes = tuple(dict.fromkeys(node for _, members, _, _ in named for node in members))
    unsure = any(timeline.node_trust[node] == Trust.AMBIGUOUS for node in nodes)
    title = f"{named[0][0]} takes {percent(named[0][3])} of the time"
    unplaced = evidence.unplaced
    lost = float(timeline.slice_duration_ns[unplaced].sum())
    if lost > timeline.total_ns * _NEGLIGIBLE:
        title = f"{percent(lost / timeline.total_ns)} of the time matches no node; {title}"
    if unplaced:
        facts.insert(
            0,
            f"{counted(len(unplaced), 'slice')} ({duration_text(lost)} in all) "
            f"{agree(len(unplaced), 'matches')} no node of the graph",
        )
    if len(placed) > len(named):
        first = f"{len(named)} slowest" if len(named) > 1 else "slowest"
        title += f"; the {first} of {counted(len(placed), words.row)} {agree(len(named), 'takes')} "
        title += percent(part)
    summed = "" if not timeline.synthetic else ", not the model's latency"
    yield Finding(
        Severity.HOTSPOT,
        title,
        tuple(facts),
        Confidence.LOW
        if lost > timeline.total_ns * _NEGLIGIBLE
        else Confidence.MEDIUM
        if unsure or evidence.inflated
        else Confidence.HIGH,
        f"shares of {evidence.whole}{summed}"
        + ("; some of these times are matched ambiguously" if unsure else "")
        + evidence.inflated,
        nodes,
        next_step=_next_step(evidence, timeline, named[0][0], named[0][1]),
        weight=part,
    )


def _next_step(evidence: RunEvidence, timeline: Timeline, name: str, nodes: tuple[int, ...]) -> str:
    if len(nodes) == 1 and len(timeline.repeats(nodes[0])) > 1:
        return f"Start with {name}: run.timeline.node({nodes[0]}) shows the spread of its repeats."
    if evidence.of_executorch:
        return f"Start with {name}. To see how its time varies, execute the method several times."
    words = evidence.words
    unknown = f" {words.no_repeats}" if words is not None and words.no_repeats else ""
    return f"Start with {name}.{unknown}"


_MATTERS = 0.01
_MANY = 10
_STEP = (
    "Measure again on an idle machine with fixed clocks, or with more repeats: "
    "run(number=…, repeat=…, min_repeat_ms=…)."
)
_STEP_OF_EXECUTORCH = (
    "Measure again on an idle machine with fixed clocks, or execute the method more often."
)


@rule("noisy-times", Basis.TIMES)
def find_noise(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding of all noisy operators."""
    timeline = evidence.parts.timeline
    if timeline is None or not evidence.timed:
        return
    warm = timeline.warm_up.cut
    spread = timeline.steady()
    noisy = np.flatnonzero(spread.noisy & (evidence.shares > 0)).tolist()
    if not noisy:
        return
    noisy.sort(key=lambda node: -evidence.shares[node])
    share = float(evidence.shares[noisy].sum())
    text = partial(duration_text, rounding_ns=timeline.rounding_ns)
    facts = [
        f"{evidence.name(node)}: p10 … p90 {text(float(spread.p10[node]))} … "
        f"{text(float(spread.p90[node]))}{_ratio(spread.p10[node], spread.p90[node])}, "
        f"{counted(int(spread.n[node]), 'repeat')}, {percent(float(evidence.shares[node]))} of "
        "the time"
        for node in noisy
    ]
    few = int(spread.n[noisy].min())
    without = f" without the first{f' {warm}' if warm > 1 else ''} (warm-up)" if warm else ""
    number = counted(len(noisy), "operator")
    noisy_timings = f"{number} {agree(len(noisy), 'has')} noisy timings"
    yield Finding(
        Severity.WARNING if share >= _MATTERS else Severity.INFO,
        f"{noisy_timings} (p90/p10 above {NOISY_RATIO}), {percent(share)} of the time: "
        f"{evidence.list(noisy, 2)}",
        cut(facts),
        Confidence.HIGH if few >= _MANY else Confidence.MEDIUM,
        f"measured repeats{without}"
        + ("" if few >= _MANY else f"; only {counted(few, 'repeat')}, percentiles are unreliable"),
        tuple(noisy),
        next_step=_STEP_OF_EXECUTORCH if evidence.of_executorch else _STEP,
        weight=0.3 + share / 10,
    )


def _ratio(low: float, high: float) -> str:
    return f" ({fixed(float(high / low), 2)}×)" if low > 0 else ""


_SURE = 1.5
_REPEATS_SHOWN = 8


@rule("warm-up", Basis.TIMES)
def find_warm_up(evidence: RunEvidence) -> Iterable[Finding]:
    """Yield a finding where the first repeats are systematically slower."""
    timeline = evidence.parts.timeline
    if timeline is None or not timeline.warm_up:
        return
    warm = timeline.warm_up
    count, several = len(warm.totals), warm.cut > 1
    counts = np.diff(timeline.repeats_offsets)
    nodes = [n for n in np.flatnonzero(counts == count).tolist() if timeline.repeats(n).sum() > 0]
    nodes.sort(key=lambda node: -timeline.node_ns[node])
    totals = ", ".join(duration_text(float(total)) for total in warm.totals[:_REPEATS_SHOWN])
    first = f"first {warm.cut} repeats take" if several else "first repeat takes"
    them, number = ("each of them", f" {warm.cut}") if several else ("it", "")
    rest = f"{fixed(warm.inflated, 2)}× the median without the first{number}"
    slower = f"{warm.slower:,} of {counted(warm.operators, 'operator')}"
    yield Finding(
        Severity.WARNING,
        f"The {first} {fixed(warm.ratio, 2)}× as long as the rest: means include warm-up",
        (
            f"total by repeat: {totals}{' …' if count > _REPEATS_SHOWN else ''}",
            f"slower in {them} than in the median: {slower}",
            f"the mean over all repeats is {rest}",
        ),
        Confidence.HIGH
        if warm.ratio >= _SURE and warm.slower == warm.operators
        else Confidence.MEDIUM,
        f"{counted(count, 'repeat')} of {counted(warm.operators, 'operator')} compared",
        tuple(nodes),
        next_step="Use medians instead of means (run.timeline.node(i).p50) or "
        "run.timeline.steady(), or do a warm-up run before measuring.",
        weight=0.45,
    )
