"""Distances between a value and its reference.

``devtools/inspector/numerical_comparator`` and ``convert_to_float_tensor`` of
``devtools/inspector/_inspector_utils.py`` @ v1.4.1 define MSE, L1 and SNR.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base import number_text
from tvmdbg_widgets.model.base.slips import meant

Distance: TypeAlias = "Callable[[Any, Any], float]"  # called with reference and runtime value
Doubles: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GapMetric:
    """A distance by name."""

    name: str
    distance: Distance
    falls: bool = False
    named: bool = True

    def of(self, reference: Any, runtime: Any) -> float:
        """Return the distance; overflows and divisions by zero end in infinity or NaN."""
        with np.errstate(all="ignore"):
            return float(self.distance(reference, runtime))


def doubles(value: Any) -> Doubles:
    """Return values as float64; with any NaN, NaN become 0 and infinities the largest numbers."""
    array = np.asarray(value)
    if array.dtype.kind == "c":
        raise TypeError(f"values of type {array.dtype} have no distance")
    wide: Doubles = array.astype(np.float64)
    return np.nan_to_num(wide) if np.isnan(wide).any() else wide


def mse(reference: Any, runtime: Any) -> float:
    """Mean of the squared differences; NaN of no values."""
    return _mean(np.square(_difference(reference, runtime)))


def l1(reference: Any, runtime: Any) -> float:
    """Sum of the absolute differences."""
    return float(np.abs(_difference(reference, runtime)).sum())


def snr(reference: Any, runtime: Any) -> float:
    """Signal-to-noise ratio in dB, infinite for equal values, NaN if these are all zero."""
    return _decibels(_mean(np.square(doubles(reference))), mse(reference, runtime))


def psnr(reference: Any, runtime: Any) -> float:
    """Peak signal-to-noise ratio in dB, infinite for equal values, NaN if these are all zero."""
    peak = np.square(doubles(reference)).max(initial=0.0)
    return _decibels(float(peak), mse(reference, runtime))


def cosine(reference: Any, runtime: Any) -> float:
    """Cosine of the angle between the values as vectors; 1 if both are all zero, 0 if one is."""
    first, second = (doubles(values).reshape(-1) for values in (reference, runtime))
    largest = [float(np.abs(values).max(initial=0.0)) for values in (first, second)]
    if 0.0 in largest:
        return float(largest[0] == largest[1])
    first, second = first / largest[0], second / largest[1]
    return float(np.dot(first, second) / np.sqrt(np.dot(first, first) * np.dot(second, second)))


def ulps(reference: Any, runtime: Any) -> float:
    """Largest distance in units in the last place of the runtime's type; infinite for one NaN."""
    ours = np.asarray(runtime)
    theirs = np.asarray(reference).astype(ours.dtype)
    steps = number_text.distance(theirs, ours)
    apart = (steps == number_text.NO_DISTANCE) & number_text.is_float(ours.dtype)
    both = apart & (theirs != theirs) & (ours != ours)  # noqa: PLR0124 (NaN)
    distances = np.where(apart, np.inf, steps.astype(np.float64))
    return float(np.where(both, 0.0, distances).max(initial=0.0))


def _difference(reference: Any, runtime: Any) -> Doubles:
    return doubles(reference) - doubles(runtime)


def _mean(values: Doubles) -> float:
    return float(np.mean(values)) if values.size else float("nan")


def _decibels(signal: float, noise: float) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(10 * np.log10(np.float64(signal) / np.float64(noise)))


#: The Inspector's metrics first.
METRICS: Final = (
    GapMetric("MSE", mse),
    GapMetric("L1", l1),
    GapMetric("SNR", snr, falls=True),
    GapMetric("COSINE", cosine, falls=True),
    GapMetric("PSNR", psnr, falls=True),
    GapMetric("ULP", ulps),
)
_OF_INSPECTOR: Final = 3


def metric(distance: str | Distance, *, compat: bool = False) -> GapMetric:
    """Return a distance by case-insensitive name, or for a callable."""
    if not isinstance(distance, str):
        if not callable(distance):
            raise TypeError(f"a distance is a name or a callable, not {distance!r:.80}")
        return GapMetric(
            getattr(distance, "__name__", type(distance).__name__), distance, named=False
        )
    known = {metric_.name: metric_ for metric_ in (METRICS[:_OF_INSPECTOR] if compat else METRICS)}
    chosen = known.get(distance.strip().upper())
    if chosen is None:
        names = "" if compat else meant(distance, known)
        raise ValueError(f"Unsupported distance metric {distance!r}{names}")
    return chosen


def broadcast_problem(reference: Any, runtime: Any) -> str:
    """Return why two values cannot be subtracted, as torch says it; ``""`` where they can."""
    shapes = np.shape(reference), np.shape(runtime)
    rank = max(map(len, shapes))
    for axis in reversed(range(rank)):
        a, b = (((1,) * (rank - len(shape)) + shape)[axis] for shape in shapes)
        if a != b and 1 not in (a, b):
            return (
                f"The size of tensor a ({a}) must match the size of tensor b ({b}) at "
                f"non-singleton dimension {axis}"
            )
    return ""
