"""Entries whose slot a node writes to while they are still needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import cut, nodes_of
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.analysis.memory.planned import memory_plan
from tvmdbg_widgets.analysis.memory.sentences import loss_text
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tvmdbg_widgets.analysis.findings.evidence import Evidence

NAME = "lost-values"


def find(evidence: Evidence) -> Iterable[Finding]:
    """Make one finding of all such entries, where the nodes run by their ids."""
    graph = evidence.parts.graph
    if graph is None or graph.storage_ids is None:
        return
    plan = memory_plan(graph)
    if not plan.losses or bool((np.diff(plan.order) < 0).any()):
        return
    entries = tuple(each.entry for each in plan.losses)
    number, their = f"{len(entries):,} outputs are", "their"
    if len(entries) == 1:
        number, their = "1 output is", "its"
    shared = "the same storage_id" if plan.ranges is None else "the same bytes of a buffer"
    yield Finding(
        NAME,
        Severity.ERROR,
        f"{number} overwritten before {their} last consumer ran: {loss_text(plan, plan.losses[0])}",
        cut([loss_text(plan, each) for each in plan.losses]),
        Confidence.HIGH,
        f"the graph gives both {shared}, and nodes run in order",
        nodes_of(entries),
        entries,
        "See run.memory_plan(): the memory planner reused a slot that was still in use.",
        1.0,
    )


RULE = Rule(NAME, find)
