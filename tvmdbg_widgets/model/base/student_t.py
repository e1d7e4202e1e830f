"""Quantiles of Student's t distribution, for confidence intervals of means."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist
from typing import Final

#: Above, the expansion in 1 / degrees is exact to the last digits of a double.
_EXACT_UP_TO: Final = 1000
_STEPS: Final = 60


@cache
def student_t(degrees: int, confidence: float = 0.95) -> float:
    """Return the t that a variable stays within, on both sides, with a probability.

    Up to 1,000 degrees of freedom A(t | v), the probability of staying within, is the finite sum
    of cosines of theta = arctan(t / sqrt(v)) in Abramowitz and Stegun, *Handbook of Mathematical
    Functions* (1964), 26.7.3 (odd v) and 26.7.4 (even v), solved by Newton's method; above it is
    the expansion 26.7.5 about the normal quantile, whose next term is below 1e-13 there at 95 %.
    """
    if degrees < 1 or not 0 < confidence < 1:
        raise ValueError(
            f"degrees must be 1 or more and confidence within 0 … 1, found {degrees}, {confidence}"
        )
    if degrees == 1:
        return math.tan(math.pi * confidence / 2)
    if degrees == 2:
        return confidence * math.sqrt(2 / (1 - confidence * confidence))
    t = _expansion(degrees, NormalDist().inv_cdf((1 + confidence) / 2))
    if degrees > _EXACT_UP_TO:
        return t
    for _ in range(_STEPS):
        step = (_within(t, degrees) - confidence) / (2 * _density(t, degrees))
        t -= step
        if abs(step) <= 1e-14 * t:
            break
    return t


def _expansion(degrees: int, x: float) -> float:
    square = x * x
    terms = (
        (square + 1) / 4,
        ((5 * square + 16) * square + 3) / 96,
        (((3 * square + 19) * square + 17) * square - 15) / 384,
        ((((79 * square + 776) * square + 1482) * square - 1920) * square - 945) / 92160,
    )
    return x * (1 + sum(term / float(degrees) ** (i + 1) for i, term in enumerate(terms)))


def _within(t: float, degrees: int) -> float:
    theta = math.atan(t / math.sqrt(degrees))
    sine, cosine = math.sin(theta), math.cos(theta)
    odd = degrees % 2
    term = sine * cosine if odd else sine
    terms = []
    for factor in range(1 + odd, degrees - 1, 2):
        terms.append(term)
        term *= cosine * cosine * factor / (factor + 1)
    terms.append(term)
    total = math.fsum(terms)
    return 2 * (theta + total) / math.pi if odd else total


def _density(t: float, degrees: int) -> float:
    half = degrees / 2
    log = math.lgamma(half + 0.5) - math.lgamma(half) - 0.5 * math.log(degrees * math.pi)
    return math.exp(log - (half + 0.5) * math.log1p(t * t / degrees))
