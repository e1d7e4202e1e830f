"""First repeats that are slower throughout: caches, clocks or compilers warming up.

Says what :mod:`tvmdbg_widgets.model.timeline.warm_up` found.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence
from tvmdbg_widgets.analysis.findings.premises import Basis
from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.base.numbers import agree, counted, duration_text, fixed
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

WARM_UP_NAME = "warm-up"
_SURE = 1.5
_SHOWN = 8


def find_warm_up(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding where the first repeats are systematically slower."""
    timeline = evidence.parts.timeline
    if timeline is None or not timeline.warm_up:
        return
    warm = timeline.warm_up
    count, several = len(warm.totals), warm.cut > 1
    counts = np.diff(timeline.repeats_offsets)
    nodes = [n for n in np.flatnonzero(counts == count).tolist() if timeline.repeats(n).sum() > 0]
    told = ", ".join(duration_text(float(total)) for total in warm.totals[:_SHOWN])
    first = f"first {warm.cut} repeats take" if several else "first repeat takes"
    them, number = ("each of them", f" {warm.cut}") if several else ("it", "")
    rest = f"{fixed(warm.inflated, 2)}× the median without the first{number}"
    slower = f"{warm.slower:,} of {counted(warm.operators, 'operator')}"
    yield Finding(
        WARM_UP_NAME,
        Severity.WARNING,
        f"The {first} {fixed(warm.ratio, 2)}× as long as the rest: means include warm-up",
        (
            f"sum over operators, by repeat: {told}{' …' if count > _SHOWN else ''}",
            f"{slower} {agree(warm.slower, 'is')} slower in {them} than in the median",
            f"the mean over all repeats is {rest}",
        ),
        Confidence.HIGH
        if warm.ratio >= _SURE and warm.slower == warm.operators
        else Confidence.MEDIUM,
        f"{counted(count, 'repeat')} of {counted(warm.operators, 'operator')} compared",
        tuple(nodes),
        (),
        "Use medians instead of means (run.timeline.node(i).p50) or run.timeline.steady(), or do a "
        "warm-up run before measuring.",
        0.45,
    )


WARM_UP = Rule(WARM_UP_NAME, find_warm_up, Basis.TIMES)
