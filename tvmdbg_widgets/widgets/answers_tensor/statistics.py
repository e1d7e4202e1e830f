"""Counts, bounds, moments and percentiles of a tensor: at once as far as known, then exact."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from tvmdbg_widgets.widgets.answering import Reply
from tvmdbg_widgets.widgets.answers_tensor.asked import Asked, asked_reading, asked_tensor
from tvmdbg_widgets.widgets.answers_tensor.numbers import exact_mean, exact_number, place

if TYPE_CHECKING:
    from tvmdbg_widgets.model.array_values import ArrayValues
    from tvmdbg_widgets.model.statistics import Statistics
    from tvmdbg_widgets.widgets.answering import Context
    from tvmdbg_widgets.widgets.messages import Question
    from tvmdbg_widgets.widgets.passes import Known

_MOST_PERCENTS = 32


def tensor_statistics(context: Context, question: Question) -> Reply:
    """Answer the best statistics that are known, and begin the pass where all are wanted."""
    tensor = asked_tensor(context.run, question)
    reading = asked_reading(tensor, question)
    return _reply(context.passes.known(tensor, reading, begin=question.flag("exact")))


def cancel_tensor(context: Context, question: Question) -> Reply:
    """Stop the pass over a tensor."""
    tensor = asked_tensor(context.run, question)
    return _reply(context.passes.cancel(tensor, asked_reading(tensor, question)))


def percentiles(context: Context, question: Question) -> Reply:
    """Answer exact percentiles."""
    tensor = asked_tensor(context.run, question)
    values = tensor.record.values(asked_reading(tensor, question))  # type: ignore[arg-type]
    percents = question.numbers("percents", 0, 100, _MOST_PERCENTS)
    context.watch()
    numbers = values.numpy().ravel()
    if values.is_raw or numbers.dtype.kind == "c":
        return Reply([])
    numbers = numbers.astype(np.float64)
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers):
        return Reply([])
    found = [exact_number(each) for each in np.percentile(numbers, percents)]
    told = zip(percents, found, strict=True)
    return Reply([{"percent": percent, "low": each, "high": each} for percent, each in told])


def former_statistics(about: Asked, bins: int) -> dict[str, Any]:
    """Return statistics and histogram for views that ask for both with the picture."""
    found = about.tensor.statistics(bins)
    return {
        "statistics": statistics_json(found, about.values),
        "histogram": histogram_json(found),
    }


def _reply(known: Known) -> Reply:
    found = known.statistics
    return Reply(
        {
            "state": known.state,
            "done": known.done,
            "total": known.total,
            "statistics": statistics_json(found, known.values),
            "reason": found.reason,
            "histogram": histogram_json(found),
            "percentiles": [],
            "distribution": None,
            "limits": limits(known.values.numpy_dtype) if found.applicable else None,
        }
    )


def statistics_json(found: Statistics, values: ArrayValues) -> dict[str, Any] | None:
    """Return statistics with indices of the values as stored; None where there are none."""
    if not found.applicable:
        return None
    shape = values.view_shape
    return {
        "size": found.size,
        "finite": found.finite,
        "nan": found.nan,
        "posInf": found.pos_inf,
        "negInf": found.neg_inf,
        "zero": found.zero,
        "negative": found.negative,
        "denormal": 0,
        "atLowest": None,
        "atHighest": None,
        "minimum": exact_number(found.minimum),
        "maximum": exact_number(found.maximum),
        "mean": exact_mean(found.mean),
        "std": exact_mean(found.std),
        "argmin": place(found.argmin, shape),
        "argmax": place(found.argmax, shape),
        "firstNan": None,
        "firstPosInf": None,
        "firstNegInf": None,
    }


def histogram_json(found: Statistics) -> dict[str, Any] | None:
    """Return the histogram; None without finite values."""
    if found.histogram is None:
        return None
    return {
        "counts": np.asarray(found.histogram.counts).tolist(),
        "edges": np.asarray(found.histogram.edges, np.float64).tolist(),
        "exact": True,
    }


def limits(dtype: np.dtype[Any]) -> list[float] | None:
    """Return the lowest and highest finite value of a type; None for bool."""
    if dtype.kind == "b":
        return None
    if dtype.kind in "iu":
        whole = np.iinfo(dtype)
        return [float(whole.min), float(whole.max)]
    if dtype.name.startswith(("int", "uint")):
        small = ml_dtypes.iinfo(dtype)
        return [float(small.min), float(small.max)]
    found = ml_dtypes.finfo(dtype)
    low, high = float(found.min), float(found.max)
    return [low, high] if math.isfinite(low) and math.isfinite(high) else None
