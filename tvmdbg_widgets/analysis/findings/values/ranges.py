"""Values near the limits of float16 and int8.

* float16, finite: a magnitude within a factor of two of 65,504, or a tenth or more of the nonzero
  values below the normal numbers (6.1e-5), where digits are lost. Sound float16 weights have up to
  0.2 % there.
* float32: magnitudes beyond 65,504, which become Inf in float16.
* float32: ranges so wide that one int8 scale for the tensor (its largest magnitude / 127) rounds
  half of the nonzero values or more to zero. They are counted where the distribution leaves that
  possible.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, and_more, cut, nodes_of
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.analysis.scan.tensor_scan import Entry, Subject
from tvmdbg_widgets.model.base.number_text import number_text
from tvmdbg_widgets.model.statistics import Statistics
from tvmdbg_widgets.model.statistics.batch import Batch
from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.model.verdicts.findings import Finding, Severity

if TYPE_CHECKING:
    import numpy as np


RANGES_NAME = "dynamic-range"
_MAX = 65504.0
#: Larger magnitudes are within a factor of two of the largest float16.
NEAR = _MAX / 2
_SMALLEST_NORMAL = 2.0**-14
_SUBNORMAL_SHARE = 0.1
_LEAST = 100
_LOST = 0.5
_INT8_STEPS = 254  # half steps of a scale from -127 to 127


def probe_ranges(subject: Subject) -> int | None:
    """Count the nonzero values that float16 or an int8 scale has no good number for.

    float16: those below the normal numbers. float32: those that an int8 scale rounds to zero.
    """
    found, name = subject.statistics, subject.tensor.dtype.name
    nonzero = found.finite - found.zero
    if nonzero < _LEAST:
        return None
    if name == "float16":
        below, least = _SMALLEST_NORMAL, _SUBNORMAL_SHARE * nonzero
    elif name == "float32":
        below, least = _peak(found) / _INT8_STEPS, _LOST * nonzero
    else:
        return None
    largest = math.nextafter(below, 0)
    if subject.count(-largest, largest)[1] - found.zero < least:
        return None
    count = subject.count_exactly(-largest, largest) - found.zero
    return count if count >= least else None


def screen_ranges(batch: Batch) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether there are so many nonzero values."""
    return batch.finite - batch.zero >= _LEAST


def is_near_limit(tensor: Tensor, found: Statistics) -> bool:
    """Whether a float16 tensor, finite, comes within a factor of two of the largest float16."""
    finite = found.finite and found.finite == found.size
    return bool(finite and tensor.dtype.name == "float16" and _peak(found) > NEAR)


def find_ranges(evidence: RunEvidence) -> Iterable[Finding]:
    """Make up to four findings, one a limit."""
    tensors = evidence.tensors
    columns, read = evidence.columns, evidence.statistics
    large = (columns.finite == columns.size) & (columns.peak > NEAR)
    whole = {entry: read[entry] for entry in columns.where(large)}
    floats = [entry for entry in whole if tensors[entry].dtype.name == "float32"]
    near = [entry for entry in whole if is_near_limit(tensors[entry], whole[entry])]
    if near:
        yield _finding(
            evidence,
            near,
            Severity.WARNING,
            f"is within a factor of 2 of the float16 maximum ({_MAX:,.0f})",
            facts=[f"{evidence.entry_name(e)}: {number_text(_end(whole[e]))}" for e in near],
            step="A larger input would overflow: keep these nodes in float32, or rescale.",
            weight=0.6,
        )
    small: dict[Entry, int] = {
        entry: count
        for entry, count in sorted(evidence.scanned.probed.get(RANGES_NAME, {}).items())
        if entry in evidence.statistics
    }
    lost = {e: count for e, count in small.items() if tensors[e].dtype.name == "float16"}
    if lost:
        told = [
            f"{evidence.entry_name(e)}: {count:,} of the {read[e].finite - read[e].zero:,} nonzero"
            for e, count in lost.items()
        ]
        yield _finding(
            evidence,
            list(lost),
            Severity.INFO,
            "has values too small for full float16 precision (below 6.1e-5)",
            facts=told,
            step="Rescale these values, or keep them in float32.",
            weight=0.6,
        )
    beyond = [entry for entry in floats if _peak(whole[entry]) > _MAX]
    if beyond:
        yield _finding(
            evidence,
            beyond,
            Severity.INFO,
            f"has values beyond {_MAX:,.0f}, which would be Inf in float16",
            facts=[f"{evidence.entry_name(e)}: {number_text(_end(whole[e]))}" for e in beyond],
            step="Keep these nodes in float32 when converting to float16.",
            weight=0.7,
        )
    wide = {e: count for e, count in small.items() if tensors[e].dtype.name == "float32"}
    if wide:
        told = [
            f"{evidence.entry_name(e)}: {wide[e]:,} of {read[e].finite - read[e].zero:,} nonzero"
            f"; largest magnitude {number_text(_end(read[e]))}"
            for e in wide
        ]
        yield _finding(
            evidence,
            list(wide),
            Severity.INFO,
            "has too wide a range for one int8 scale: most values would round to zero",
            facts=told,
            step="When quantizing, use per-channel scales for this tensor, or clip large values.",
            weight=0.4,
        )


def _finding(
    evidence: RunEvidence,
    entries: list[Entry],
    severity: Severity,
    what: str,
    *,
    facts: list[str],
    step: str,
    weight: float,
) -> Finding:
    confidence, why = evidence.joined(entries)
    return Finding(
        RANGES_NAME,
        severity,
        f"{evidence.entry_name(entries[0])} {what}{and_more(len(entries) - 1, 'tensor')}",
        cut(facts),
        confidence,
        why,
        nodes_of(entries),
        tuple(entries),
        step,
        weight,
    )


def _end(found: Statistics) -> object:
    """Return the bound of the larger magnitude."""
    end: object = found.minimum if -float(found.minimum) > float(found.maximum) else found.maximum
    return end


def _peak(found: Statistics) -> float:
    return max(abs(float(found.minimum)), abs(float(found.maximum)))


RANGES = Rule(RANGES_NAME, find_ranges, Basis.TENSORS, probe_ranges, screen_ranges)
