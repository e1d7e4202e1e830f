"""Repeats of a trial that differ more than good schedules do."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tvmdbg_widgets.analysis.findings.tuning import remedies, thresholds
from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence
from tvmdbg_widgets.analysis.findings.tuning.rule import LogBasis, LogRule
from tvmdbg_widgets.model.base.numbers import counted, percent
from tvmdbg_widgets.model.verdicts.findings import Confidence, Finding, Severity

NOISY_COSTS_NAME = "noisy-costs"


def find_noisy_costs(evidence: LogEvidence) -> Iterable[Finding]:
    """Make one finding where the repeats of most trials differ by a tenth or more."""
    trials = evidence.trials
    repeats = np.diff(trials.run_offsets)
    rows = np.flatnonzero((trials.cost > 0) & (repeats >= thresholds.REPEATS))
    if len(rows) < thresholds.FEW:
        return
    starts = trials.run_offsets[rows]
    stops = np.stack([starts, starts + repeats[rows]], axis=1).ravel()
    padded = np.append(trials.run_costs, 0.0)
    high = np.maximum.reduceat(padded, stops)[::2]
    low = np.minimum.reduceat(padded, stops)[::2]
    spread = (high - low) / trials.cost[rows]
    median = float(np.median(spread))
    if median < thresholds.NOISY:
        return
    tail = percent(float(np.percentile(spread, 90)))
    most = int(np.bincount(repeats[rows]).argmax())
    yield Finding(
        NOISY_COSTS_NAME,
        Severity.WARNING,
        f"Costs are noisy: repeats of a trial differ by {percent(median)} in the median",
        (
            f"{counted(len(rows), 'trial')} with {thresholds.REPEATS} repeats or more, e.g. {most}",
            f"(highest - lowest) / mean: median {percent(median)}, a tenth of them over {tail}",
        ),
        Confidence.HIGH,
        "TVM ranks by the mean of the repeats, so one slow repeat hides a good schedule",
        next_step=remedies.for_each(
            evidence.tuners_of(np.isin(np.arange(len(trials)), rows)), remedies.longer_measuring
        )
        + "\nMeasure the best few again before you rely on their order.",
        weight=median,
        trials=tuple(rows[spread >= thresholds.NOISY].tolist()),
    )


NOISY_COSTS = LogRule(NOISY_COSTS_NAME, find_noisy_costs, LogBasis.SHARES)
