"""The operators that take longest, and their share."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import agree, counted, duration_text, percent
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.timeline.timeline import Timeline
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

SLOWEST_NAME = "slowest-operators"
_SHOWN = 5
_NEGLIGIBLE = 0.01


def find_slowest(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding of the slowest five."""
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
        verb = agree(half, "accounts")
        facts.append(f"the slowest {counted(half, words.row)} {verb} for half of the time")
    if (gap := account.gap_ns) > _NEGLIGIBLE * timeline.total_ns:
        facts.append(
            f"{percent(gap / timeline.total_ns)} of the time is spent outside of instructions"
        )
    if (left := float(np.nansum(account.ns[account.left]))) > _NEGLIGIBLE * timeline.total_ns:
        facts.append(
            f"{percent(left / timeline.total_ns)} of the time is left of delegates' calls, outside "
            "of their operators"
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
        title += (
            f"; the slowest {len(named)} of {counted(len(placed), words.row)} "
            f"{agree(len(named), 'takes')} "
        )
        title += percent(part)
    summed = "" if not timeline.synthetic else ", not the model's latency"
    yield Finding(
        SLOWEST_NAME,
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
        (),
        _advice(evidence, timeline, named[0][0], named[0][1]),
        part,
    )


def _advice(evidence: RunEvidence, timeline: Timeline, name: str, nodes: tuple[int, ...]) -> str:
    """Point to the repeats of a node where it has several, else to what is known of it."""
    if len(nodes) == 1 and len(timeline.repeats(nodes[0])) > 1:
        return f"Start with {name}: run.timeline.node({nodes[0]}) shows the spread of its repeats."
    if evidence.of_executorch:
        return f"Start with {name}. To see how its time varies, execute the method several times."
    words = evidence.words
    unknown = f" {words.no_repeats}" if words is not None and words.no_repeats else ""
    return f"Start with {name}.{unknown}"


SLOWEST = Rule(SLOWEST_NAME, find_slowest, Basis.TIMES)
