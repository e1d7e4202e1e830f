"""Operators whose repeats spread widely: p90 / p10 above 1.2 over 5 repeats or more.

Where they take less than 1 % of the time together, that is a note: nothing rests on them. First
repeats that are slower throughout are warm-up, which has a rule of its own, and are left out here.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from tvmdbg_widgets.analysis.findings.evidence import RunEvidence, cut
from tvmdbg_widgets.analysis.findings.rule import Basis, Rule
from tvmdbg_widgets.model.base.numbers import agree, counted, duration_text, fixed, percent
from tvmdbg_widgets.model.findings import Confidence, Finding, Severity
from tvmdbg_widgets.model.timeline.node_sets import NOISY_RATIO

NOISE_NAME = "noisy-times"
_MATTERS = 0.01
_MANY = 10
_STEP = (
    "Measure again on an idle machine with fixed clocks, or with more repeats: "
    "run(number=…, repeat=…, min_repeat_ms=…)."
)
_STEP_OF_EXECUTORCH = (
    "Measure again on an idle machine with fixed clocks, or execute the method more often."
)


def find_noise(evidence: RunEvidence) -> Iterable[Finding]:
    """Make one finding of all noisy operators."""
    timeline = evidence.parts.timeline
    if timeline is None or not evidence.timed:
        return
    warm = timeline.warm_up.cut
    spread = timeline.steady()
    noisy = np.flatnonzero(spread.noisy & (evidence.shares > 0)).tolist()
    if not noisy:
        return
    noisy.sort(key=lambda node: -evidence.shares[node])
    share = float(evidence.shares[noisy].sum())
    text = partial(duration_text, rounding_ns=timeline.rounding_ns)
    facts = [
        f"{evidence.name(node)}: p10 … p90 {text(float(spread.p10[node]))} … "
        f"{text(float(spread.p90[node]))}{_ratio(spread.p10[node], spread.p90[node])}, "
        f"{counted(int(spread.n[node]), 'repeat')}, {percent(float(evidence.shares[node]))} of "
        "the time"
        for node in noisy
    ]
    few = int(spread.n[noisy].min())
    number = counted(len(noisy), "operator")
    noisy_timings = f"{number} {agree(len(noisy), 'has')} noisy timings"
    yield Finding(
        NOISE_NAME,
        Severity.WARNING if share >= _MATTERS else Severity.INFO,
        f"{noisy_timings} (p90/p10 above {NOISY_RATIO}), {percent(share)} of the time: "
        f"{evidence.list(noisy, 2)}",
        cut(facts),
        Confidence.HIGH if few >= _MANY else Confidence.MEDIUM,
        f"measured repeats{_without(warm)}"
        + ("" if few >= _MANY else f"; only {counted(few, 'repeat')}, percentiles are unreliable"),
        tuple(noisy),
        (),
        _STEP_OF_EXECUTORCH if evidence.of_executorch else _STEP,
        0.3 + share / 10,
    )


def _without(cut: int) -> str:
    if cut < 2:
        return " without the first (warm-up)" if cut else ""
    return f" without the first {cut} (warm-up)"


def _ratio(low: float, high: float) -> str:
    return f" ({fixed(float(high / low), 2)}×)" if low > 0 else ""


NOISE = Rule(NOISE_NAME, find_noise, Basis.TIMES)

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
