"""How much was read, and that none of it holds NaN or Inf."""

from __future__ import annotations

from collections.abc import Iterable

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence
from tvmdbg_widgets.analysis.findings.rule import Basis, Rule
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.findings import Confidence, Finding, Severity

SCANNED_NAME = "scanned"


def find_scanned(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one note, unless something is not finite."""
    scanned, tensors = evidence.scanned, evidence.parts.tensors
    read, columns = evidence.statistics, evidence.columns
    if tensors is None or not read or (columns.finite != columns.size).any():
        return
    records = [tensor.record for entry, tensor in tensors.items() if entry in read]
    nbytes = sum(record.nbytes for record in records)
    values = int(columns.size.sum())
    given = "" if evidence.of_executorch else ", including parameters"
    facts = [f"{counted(values, 'value')}, {counted(nbytes, 'byte')}{given}"]
    left = scanned.total - scanned.done
    if left:
        facts.append(f"{counted(left, 'tensor')} of {scanned.total:,} not scanned yet")
    lost = len(scanned.statistics.keys() & evidence.overwritten.keys())
    if lost:
        facts.append(f"{counted(lost, 'tensor')} skipped: overwritten by later nodes")
    untold = len(scanned.statistics) - lost - len(read)
    if untold:
        facts.append(f"{counted(untold, 'tensor')} skipped: complex or unknown type")
    partly = sum(not record.complete for record in records)
    if partly:
        facts.append(f"{counted(partly, 'tensor')} only partly in the file")
    if scanned.broken:
        facts.append(f"{counted(len(scanned.broken), 'tensor')} could not be read")
    subject = f"All {counted(len(read), 'tensor')}" if len(read) > 1 else "1 tensor"
    if len(read) < scanned.total:
        subject = f"{len(read):,} of {counted(scanned.total, 'tensor')}"
    yield Finding(
        SCANNED_NAME,
        Severity.INFO,
        f"{subject} checked: no NaN or Inf",
        tuple(facts),
        Confidence.HIGH,
        "every stored value was read",
        next_step="Let the scan finish: run.findings()." if left else "",
        weight=0.9,
    )


SCANNED = Rule(SCANNED_NAME, find_scanned, Basis.FILES)
