"""Storage ids that no memory planner made, so that nothing can be said of memory."""

from __future__ import annotations

from collections.abc import Iterable

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.analysis.memory.losses import Credibility
from tvmdbg_widgets.analysis.memory.sentences import loss_text, meaningless
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

STORAGE_IDS_NAME = "storage-ids"


def find_storage_ids(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding in place of all values that would be lost."""
    plan = evidence.plan
    if plan is None or plan.credibility is not Credibility.MEANINGLESS:
        return
    yield Finding(
        STORAGE_IDS_NAME,
        Severity.WARNING,
        meaningless(plan),
        cut([loss_text(plan, each) for each in plan.losses], 3),
        Confidence.MEDIUM,
        "a memory planner gives an output the slot of one that nobody needs any more",
        next_step="Open the graph as the compiler wrote it: open(…, graph=lib.get_graph_json()). "
        "Sums of memory are of no use here.",
        weight=0.5,
    )


STORAGE_IDS = Rule(STORAGE_IDS_NAME, find_storage_ids, Basis.FILES)
