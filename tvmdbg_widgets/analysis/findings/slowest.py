"""The operators that take longest, and their share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tvmdbg_widgets.analysis.findings.evidence import Evidence
    from tvmdbg_widgets.model.timeline.timeline import Timeline

NAME = "slowest-operators"
_SHOWN = 5
_NEGLIGIBLE = 0.01


def find(evidence: Evidence) -> Iterable[Finding]:
    """Make one finding of the slowest five."""
    timeline, shares, timed = evidence.parts.timeline, evidence.shares, evidence.timed
    words = evidence.words
    if timeline is None or words is None or not timed:
        return
    order = timeline.top(_SHOWN)
    nodes = [node for node in order.nodes.tolist() if shares[node] > 0]
    part = float(shares[nodes].sum())
    sorted_shares = np.sort(shares[timed])[::-1]
    half = int(np.searchsorted(np.cumsum(sorted_shares), 0.5 - 1e-12)) + 1
    facts = [
        f"{evidence.name(node)}: {duration_text(float(timeline.node_ns[node]))}, "
        f"{percent(float(shares[node]))}"
        for node in nodes
    ]
    if len(timed) > _SHOWN and half <= len(timed):
        verb = "accounts" if half == 1 else "account"
        facts.append(f"the slowest {counted(half, words.row)} {verb} for half of the time")
    together = 0.0 if timeline.shared is None else timeline.shared.total_ns
    if together:
        facts.append(
            f"{percent(together / timeline.total_ns)} of the time is of several operators together"
        )
    unsure = any(timeline.node_trust[node] == Trust.AMBIGUOUS for node in nodes)
    title = f"{evidence.name(nodes[0])} takes {percent(float(shares[nodes[0]]))} of the time"
    unplaced = evidence.unplaced
    lost = float(timeline.slice_duration_ns[unplaced].sum())
    if unplaced:
        title += " matched to nodes"
        facts.insert(
            0,
            f"{counted(len(unplaced), 'slice')} ({duration_text(lost)} in all) "
            f"{'matches' if len(unplaced) == 1 else 'match'} no node of the graph",
        )
    if len(timed) > len(nodes):
        title += (
            f"; the slowest {len(nodes)} of {counted(len(timed), words.row)} take {percent(part)}"
        )
    summed = f"the sum of all {words.item} times"
    summed += " and of what operators took together" if together else ""
    summed += ", not the model's latency" if timeline.synthetic else ""
    yield Finding(
        NAME,
        Severity.HOTSPOT,
        title,
        tuple(facts),
        Confidence.LOW
        if lost > timeline.total_ns * _NEGLIGIBLE
        else Confidence.MEDIUM
        if unsure or evidence.inflated
        else Confidence.HIGH,
        f"shares of {duration_text(timeline.total_ns)}, {summed}"
        + ("; some of these times are matched ambiguously" if unsure else "")
        + evidence.inflated,
        tuple(nodes),
        (),
        _advice(evidence, timeline, nodes[0]),
        part,
    )


def _advice(evidence: Evidence, timeline: Timeline, node: int) -> str:
    """Point to the repeats of a node where it has several, else to what is known of it."""
    name = evidence.name(node)
    if len(timeline.repeats(node)) > 1:
        return f"Start with {name}: run.timeline.node({node}) shows the spread of its repeats."
    if evidence.of_executorch:
        return f"Start with {name}. To see how its time varies, execute the method several times."
    words = evidence.words
    unknown = f" {words.no_repeats}" if words is not None and words.no_repeats else ""
    return f"Start with {name}.{unknown}"


RULE = Rule(NAME, find, Basis.TIMES)
