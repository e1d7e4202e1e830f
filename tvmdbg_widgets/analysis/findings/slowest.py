"""The operators that take longest, and their share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.findings import Certainty, Finding, Kind
from tvmdbg_widgets.model.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.trust import Trust

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tvmdbg_widgets.analysis.findings.evidence import Evidence

NAME = "slowest-operators"
_SHOWN = 5
_NEGLIGIBLE = 0.01


def find(evidence: Evidence) -> Iterable[Finding]:
    """Make one finding of the slowest five."""
    timeline, shares, timed = evidence.parts.timeline, evidence.shares, evidence.timed
    if timeline is None or not timed:
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
    if len(timed) > _SHOWN:
        facts.append(f"half of the time is in the {counted(half, 'slowest operator')}")
    unsure = any(timeline.node_trust[node] == Trust.AMBIGUOUS for node in nodes)
    title = f"{evidence.name(nodes[0])} takes {percent(float(shares[nodes[0]]))} of the time"
    unplaced = evidence.unplaced
    lost = float(timeline.slice_duration_ns[unplaced].sum())
    if unplaced:
        title += " that belongs to nodes"
        facts.insert(
            0,
            f"{counted(len(unplaced), 'slice')} of {duration_text(lost)} together "
            f"{'belongs' if len(unplaced) == 1 else 'belong'} to no node of the graph",
        )
    if len(timed) > len(nodes):
        title += (
            f"; the {len(nodes)} slowest of {counted(len(timed), 'operator')} take {percent(part)}"
        )
    laid = ", laid end to end, not the latency of the model" if timeline.synthetic else ""
    yield Finding(
        NAME,
        Kind.COST,
        title,
        tuple(facts),
        Certainty.POSSIBLE
        if lost > timeline.total_ns * _NEGLIGIBLE
        else Certainty.LIKELY
        if unsure
        else Certainty.CERTAIN,
        f"shares of {duration_text(timeline.total_ns)}, the sum of all node times{laid}"
        + ("; whose some of these times are is ambiguous" if unsure else ""),
        tuple(nodes),
        (),
        f"Start with {evidence.short_name(nodes[0]) or 'it'}: run.timeline.node({nodes[0]}) tells "
        "how its repeats spread.",
        part,
    )


RULE = Rule(NAME, find)
