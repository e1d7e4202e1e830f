"""Entries whose slot a node writes to while they are still needed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.analysis.memory.losses import Credibility, Loss
from tvmdbg_widgets.analysis.memory.sentences import loss_text
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

LOST_VALUES_NAME = "lost-values"


def find_lost_values(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding of all such entries, where nodes run by their ids and slots mean a plan."""
    plan = evidence.plan
    if plan is None or not plan.losses or bool((np.diff(plan.order) < 0).any()):
        return
    entries = tuple(each.entry for each in plan.losses)
    number = f"{counted(len(entries), 'output')} {agree(len(entries), 'is')}"
    if plan.credibility is Credibility.MEANINGLESS:
        return
    shared = "the same storage_id" if plan.ranges is None else "the same bytes of a buffer"
    yield Finding(
        LOST_VALUES_NAME,
        Severity.ERROR,
        f"{number} overwritten before {agree(len(entries), 'its')} last consumer ran: "
        f"{loss_text(plan, plan.losses[0])}",
        cut([loss_text(plan, each) for each in plan.losses]),
        Confidence.HIGH,
        f"the graph gives both {shared}, and nodes run in order",
        _nodes(plan.losses),
        entries,
        "See run.memory_plan(): the memory planner reused a slot that was still in use.",
        1.0,
    )


def _nodes(losses: Iterable[Loss]) -> tuple[int, ...]:
    """Return the nodes that lose a value, then those that overwrite and read it."""
    lost = [loss.entry.node for loss in losses]
    others = [node for loss in losses for node in (loss.writer, loss.reader) if node >= 0]
    return tuple(dict.fromkeys([*lost, *others]))


LOST_VALUES = Rule(LOST_VALUES_NAME, find_lost_values, Basis.SLOTS)
