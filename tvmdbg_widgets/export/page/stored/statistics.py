"""Statistics, percentiles and histograms of every variant of the tensors, as columns."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tvmdbg_widgets.answers.tensor.counts import limits
from tvmdbg_widgets.export.page.stored.facts import BINS, Variant
from tvmdbg_widgets.model.base.number_text import number_text
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.statistics import Histogram, Statistics
from tvmdbg_widgets.model.statistics.percentiles import PERCENTS

_COUNTS = ("size", "finite", "nan", "pos_inf", "neg_inf", "zero", "negative", "denormal")
_PLACES = (
    *("argmin", "argmax", "at_lowest", "at_highest"),
    *("first_nan", "first_pos_inf", "first_neg_inf"),
)


def variant_columns(found: Sequence[Variant], *, histograms: bool) -> dict[str, Any]:
    """Return statistics (V rows) with histograms (H rows of ``BINS`` counts)."""
    told = [each.found for each in found]
    shapes = [each.values.view_shape for each in found]
    shown = [each.histogram if histograms else None for each in told]
    kept = [each for each in shown if each is not None]
    linear = [_is_linear(each) for each in kept]
    counts = np.concatenate([np.zeros(0, np.int64), *(each.counts for each in kept)])
    columns: dict[str, Any] = {
        "tensor": np.array([each.row for each in found], np.int32),
        "reading": _strings([each.reading for each in found]),
        "shapeOffsets": np.cumsum([0, *map(len, shapes)]).astype(np.int32),
        "shapeDims": np.array([size for shape in shapes for size in shape], np.float64),
        "dtype": _strings([each.values.numpy_dtype.name for each in found]),
        "applicable": np.array([each.applicable for each in told], np.bool_),
    }
    for name in (*_COUNTS, *_PLACES, "minimum", "maximum", "mean", "std"):
        columns[_camel(name)] = _floats(told, operator.attrgetter(name))
    ends = [_limits(each) for each in found]
    columns |= {
        "reason": _strings([each.reason for each in told]),
        "lowest": np.array([low for low, _ in ends], np.float64),
        "highest": np.array([high for _, high in ends], np.float64),
        "minimumText": _strings([_text(each.minimum) for each in told]),
        "maximumText": _strings([_text(each.maximum) for each in told]),
        "histogram": _numbered([each is not None for each in shown]),
        "counts": counts.astype(np.int32 if counts.max(initial=0) < 2**31 else np.float64),
        "first": np.array([each.edges[0] for each in kept], np.float64),
        "last": np.array([each.edges[-1] for each in kept], np.float64),
        "rounded": np.array([not each.exact for each in kept], np.bool_),
        "uneven": _numbered([not each for each in linear]),
        "edges": np.concatenate(
            [
                np.zeros(0),
                *(each.edges for each, even in zip(kept, linear, strict=True) if not even),
            ]
        ),
    }
    return columns | _percentile_columns(found) | _contrast_columns(found, histograms=histograms)


def _percentile_columns(found: Sequence[Variant]) -> dict[str, Any]:
    """Return bounds of the percentiles (P rows, as many a variant as it tells)."""
    bounds = [each for variant in found for each in variant.percentiles]
    return {
        "percentileOffsets": np.cumsum([0, *(len(each.percentiles) for each in found)]).astype(
            np.int32
        ),
        "percents": np.array(PERCENTS, np.float64),
        "low": np.array([each.low for each in bounds], np.float64),
        "high": np.array([each.high for each in bounds], np.float64),
    }


def _contrast_columns(found: Sequence[Variant], *, histograms: bool) -> dict[str, Any]:
    """Return scales, and ranges of nearly all values (R rows) with their bins (B rows).

    There is one row more than bins a range; the count of a range's last edge is 0.
    """
    there = [each.contrast for each in found]
    ranges = [None if each is None or not histograms else each.robust for each in there]
    chosen = [each for each in ranges if each is not None]
    bins = [each.histogram for each in chosen]
    zones = [None if each is None else each.linear for each in there]
    return {
        "linear": np.array([math.nan if each is None else each for each in zones], np.float64),
        "scale": _strings(["linear" if each is None else each.scale for each in there]),
        "crowd": np.array([0.0 if each is None else each.crowd for each in there], np.float64),
        "robust": _numbered([each is not None for each in ranges]),
        "robustLow": np.array([each.low for each in chosen], np.float64),
        "robustHigh": np.array([each.high for each in chosen], np.float64),
        "beyond": np.array([each.beyond for each in chosen], np.float64),
        "robustExact": np.array([each.exact for each in bins], np.bool_),
        "robustOffsets": np.cumsum([0, *(len(each.edges) for each in bins)]).astype(np.int32),
        "robustEdges": np.concatenate([np.zeros(0), *(each.edges for each in bins)]),
        "robustCounts": np.concatenate(
            [np.zeros(0), *(np.append(each.counts, 0).astype(np.float64) for each in bins)]
        ),
    }


def _limits(each: Variant) -> tuple[float, float]:
    found = limits(each.values.numpy_dtype) if each.found.applicable else None
    return (math.nan, math.nan) if found is None else (found[0], found[1])


def _is_linear(found: Histogram) -> bool:
    """Whether ``first + i * ((last - first) / BINS)`` gives the very same edges."""
    first, last = float(found.edges[0]), float(found.edges[-1])
    if len(found.counts) != BINS or not math.isfinite(last - first):
        return False
    edges = np.arange(BINS + 1) * ((last - first) / BINS) + first
    return np.array_equal(edges[:-1], found.edges[:-1])


def _numbered(there: Sequence[bool]) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Count up the rows that are there; -1 for the others."""
    mask = np.array(there, np.bool_)
    return np.where(mask, np.cumsum(mask) - 1, -1).astype(np.int32)


def _floats(
    found: Sequence[Statistics], get: Callable[[Statistics], Any]
) -> np.ndarray[Any, np.dtype[np.float64]]:
    values = (get(each) for each in found)
    return np.array([math.nan if each is None else float(each) for each in values], np.float64)


def _text(bound: Any) -> str:
    return "none" if bound is None else number_text(bound)


def _strings(texts: Sequence[str]) -> StringColumn:
    return StringColumn.from_strings(texts)


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(each.capitalize() for each in rest)
