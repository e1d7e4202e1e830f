"""First repeats that are slower throughout: caches, clocks or compilers warming up.

Said where the first repeat of all operators together takes 1.1 times the median of the others or
more, is the longest of all, and two thirds of the operators are slower in it than their median.
In the recorded runs that show none, that ratio is at most 1.05. Fewer than 4 repeats show nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.analysis.findings.rule import Rule
from tvmdbg_widgets.model.findings import Certainty, Finding, Kind
from tvmdbg_widgets.model.numbers import counted, duration_text, fixed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tvmdbg_widgets.analysis.findings.evidence import Evidence

NAME = "warm-up"
_REPEATS = 4
_SLOWER = 1.1
_OPERATORS = 2 / 3
_SURE = 1.5
_SHOWN = 8


def find(evidence: Evidence) -> Iterable[Finding]:
    """Make one finding where the first repeats are systematically slower."""
    timeline = evidence.parts.timeline
    if timeline is None:
        return
    counts = np.diff(timeline.repeats_offsets)
    most = int(counts.max(initial=0))
    nodes = [n for n in np.flatnonzero(counts == most).tolist() if timeline.repeats(n).sum() > 0]
    if most < _REPEATS or not nodes:
        return
    times = np.array([timeline.repeats(node) for node in nodes])
    times = times[np.isfinite(times).all(axis=1)]
    if not len(times):
        return
    totals = times.sum(axis=0)
    usual = float(np.median(totals[1:]))
    slower = int(np.count_nonzero(times[:, 0] > np.median(times[:, 1:], axis=1)))
    ratio = float(totals[0]) / usual if usual > 0 else 1.0
    if ratio < _SLOWER or totals[0] <= totals[1:].max() or slower < _OPERATORS * len(times):
        return
    told = ", ".join(duration_text(float(total)) for total in totals[:_SHOWN])
    inflated = float(totals.mean()) / usual
    yield Finding(
        NAME,
        Kind.DOUBT,
        f"The first repeat takes {fixed(ratio, 2)} times as long as the others: warm-up is in the "
        "means",
        (
            f"all operators together, by repeat: {told}{' …' if most > _SHOWN else ''}",
            f"{slower:,} of {counted(len(times), 'operator')} are slower in it than their median",
            f"the mean over all repeats is {fixed(inflated, 2)} times the median without the first",
        ),
        Certainty.CERTAIN if ratio >= _SURE and slower == len(times) else Certainty.LIKELY,
        f"{most} repeats of {counted(len(times), 'operator')} were compared",
        tuple(nodes),
        (),
        "Read medians instead of means (run.timeline.node(i).p50), or run once before measuring.",
        0.5,
    )


RULE = Rule(NAME, find)
