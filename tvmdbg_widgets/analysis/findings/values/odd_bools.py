"""Bool arrays that hold bytes which are neither 0 nor 1.

A kernel or another program wrote something else there, or the array is of another type: type code 6
was an 8-bit float in TVM 0.13 to 0.20. Any such byte counts as true, so that the statistics do not
see it: the bytes of bool arrays, and of no others, are looked at once more.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, and_more, cut, nodes_of
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.analysis.scan.tensor_scan import Entry, Subject
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.statistics.batch import Batch
from tvmdbg_widgets.model.statistics.pieces import Distinct, every
from tvmdbg_widgets.model.verdicts.findings import Finding, Severity

ODD_BOOLS_NAME = "odd-bools"


class OddBoolCount(NamedTuple):
    """How many bytes of a bool array are neither 0 nor 1, and the flat position of the first."""

    number: int
    first: int


def probe_odd_bools(subject: Subject) -> OddBoolCount | None:
    """Count such bytes, where there are any."""
    values = subject.tensor.values()
    if not subject.tensor.dtype.is_bool or values.is_packed:
        return None
    found = OddBoolCount(0, values.count)
    source = every(values.codes)
    groups = source.groups() if isinstance(source, Distinct) else [(1, source)]
    for often, pieces in groups:
        for chunk, where in pieces:
            odd = chunk > 1
            if odd.any():
                first = min(found.first, where(int(odd.argmax())))
                found = OddBoolCount(found.number + often * int(np.count_nonzero(odd)), first)
    return found if found.number else None


def screen_odd_bools(batch: Batch) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether there are such bytes."""
    codes = np.zeros((len(batch), 0)) if batch.codes is None else batch.codes
    odd: np.ndarray[tuple[int], np.dtype[np.bool_]] = np.count_nonzero(codes > 1, axis=1) > 0
    return odd


def find_odd_bools(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding of all such arrays."""
    odd: dict[Entry, OddBoolCount] = {
        entry: each
        for entry, each in sorted(evidence.scanned.probed.get(ODD_BOOLS_NAME, {}).items())
        if entry in evidence.statistics
    }
    entries = list(odd)
    if not entries:
        return
    confidence, why = evidence.joined(entries)
    count, size = odd[entries[0]].number, evidence.statistics[entries[0]].size
    verb = agree(count, "is")
    yield Finding(
        ODD_BOOLS_NAME,
        Severity.WARNING,
        f"{evidence.entry_name(entries[0])}: {count:,} of {counted(size, 'bool')} {verb} stored "
        f"as a byte other than 0 or 1{and_more(len(entries) - 1)}",
        cut([_fact(evidence, entry, each) for entry, each in odd.items()]),
        confidence,
        why,
        nodes_of(entries),
        tuple(entries),
        "They count as true. See the bytes with tensor.raw(); if the type is wrong, set it with "
        "tensor.with_dtype(…).",
        0.7,
    )


def _fact(evidence: RunEvidence, entry: Entry, odd: OddBoolCount) -> str:
    index = ", ".join(map(str, np.unravel_index(odd.first, evidence.tensors[entry].view_shape)))
    size = counted(evidence.statistics[entry].size, "value")
    return f"{evidence.entry_name(entry)}: {odd.number:,} of {size}, the first at [{index}]"


ODD_BOOLS = Rule(ODD_BOOLS_NAME, find_odd_bools, Basis.TENSORS, probe_odd_bools, screen_odd_bools)
