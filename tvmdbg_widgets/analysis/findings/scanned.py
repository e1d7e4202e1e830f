"""How much was read, and that none of it holds NaN or Inf."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.findings import Confidence, Finding, Severity
from tvmdbg_widgets.model.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tvmdbg_widgets.analysis.findings.evidence import Evidence

NAME = "scanned"


def find(evidence: Evidence) -> Iterable[Finding]:
    """Make one note, unless something is not finite."""
    scanned, tensors = evidence.scanned, evidence.parts.tensors
    read, columns = evidence.statistics, evidence.columns
    if tensors is None or not read or (columns.finite != columns.size).any():
        return
    records = [tensor.record for entry, tensor in tensors.items() if entry in read]
    nbytes = sum(record.nbytes for record in records)
    values = int(columns.size.sum())
    facts = [f"{values:,} values in {nbytes:,} bytes, parameters included"]
    left = scanned.total - scanned.done
    if left:
        facts.append(f"{counted(left, 'tensor')} of {scanned.total:,} not looked at yet")
    lost = len(scanned.statistics.keys() & evidence.overwritten.keys())
    if lost:
        facts.append(f"{counted(lost, 'tensor')} left out: overwritten by later nodes")
    untold = len(scanned.statistics) - lost - len(read)
    if untold:
        facts.append(f"{counted(untold, 'tensor')} left out: complex, or of a type unknown here")
    partly = sum(not record.complete for record in records)
    if partly:
        facts.append(f"of {counted(partly, 'tensor')} the file holds only a part of the values")
    if scanned.broken:
        facts.append(f"{counted(len(scanned.broken), 'tensor')} could not be read")
    was, hold = ("was", "holds") if len(read) == 1 else ("were", "hold")
    subject = counted(len(read), "tensor")
    if scanned.broken:
        subject = f"{len(read):,} of {counted(scanned.total, 'tensor')}"
    yield Finding(
        NAME,
        Severity.INFO,
        f"{subject} {was} read to the last value stored and {hold} neither NaN nor Inf",
        tuple(facts),
        Confidence.HIGH,
        "every value that these store was read",
        next_step="Let the scan run to its end: run.findings()." if left else "",
        weight=0.9,
    )


RULE = Rule(NAME, find)
