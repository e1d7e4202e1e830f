"""Counts, bounds, moments and percentiles of a tensor: at once as far as known, then exact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tvmdbg_widgets.answers.answering import Context, Reply
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.answers.statistics_jobs import SAMPLE, StatisticsProgress
from tvmdbg_widgets.answers.tensor.counts import limits, spread_counts, tensor_counts
from tvmdbg_widgets.answers.tensor.numbers import (
    computed_number,
    exact_number,
    percentile_number,
    place,
)
from tvmdbg_widgets.answers.tensor.tensor_query import asked_reading, asked_tensor
from tvmdbg_widgets.engine.columns import pack
from tvmdbg_widgets.model.statistics import Histogram, Statistics
from tvmdbg_widgets.model.statistics.contrast import Contrast
from tvmdbg_widgets.model.statistics.distribution import NumberBounds
from tvmdbg_widgets.model.statistics.percentiles import PERCENTS
from tvmdbg_widgets.model.tensors.tensors import Tensor

_MOST_PERCENTS = 32


def tensor_statistics(context: Context, question: Question) -> Reply:
    """Answer the best statistics that are known, and begin the pass where all are wanted."""
    tensor = asked_tensor(context.run, question)
    reading = asked_reading(tensor, question)
    known = context.statistics_jobs.known(tensor, reading, begin=question.flag("exact"))
    return _reply(known, tensor, reading, context.watch)


def cancel_tensor(context: Context, question: Question) -> Reply:
    """Stop the pass over a tensor, and the pictures that this client waits for."""
    tensor = asked_tensor(context.run, question)
    reading = asked_reading(tensor, question)
    return _reply(context.statistics_jobs.cancel(tensor, reading), tensor, reading, context.watch)


def percentiles(context: Context, question: Question) -> Reply:
    """Answer exact percentiles; none where there are no finite values."""
    tensor = asked_tensor(context.run, question)
    reading = asked_reading(tensor, question)
    percents = question.numbers("percents", 0, 100, _MOST_PERCENTS)
    found = tensor.percentiles(percents, reading=reading, watch=context.watch)
    dtype = tensor.values(reading).numpy_dtype
    told = [
        (percent, percentile_number(each, dtype))
        for percent, each in zip(percents, found, strict=True)
    ]
    return Reply([{"percent": percent, "low": each, "high": each} for percent, each in told])


def _reply(
    known: StatisticsProgress, tensor: Tensor, reading: str | None, watch: Callable[[], None]
) -> Reply:
    found = known.statistics
    bounds: Sequence[NumberBounds] = ()
    if known.state == "exact":
        bounds = tensor.known_percentiles(reading, watch)
    elif found.distribution is not None:
        bounds = found.distribution.percentiles(PERCENTS)
    whole = None if known.state == "exact" else SAMPLE
    adapted = tensor.contrast(whole, reading=reading, watch=watch)
    told = {
        **spread_json(found, known.values.numpy_dtype, adapted),
        "statistics": statistics_json(found, known.values.view_shape),
        "state": known.state,
        "reason": found.reason,
        "done": known.done,
        "total": known.total,
        "percentiles": percentiles_json(bounds, known.values.numpy_dtype),
    }
    if adapted is None or known.state == "scanning":
        return Reply(told)
    told["distribution"], buffer = distribution_json(adapted)
    return Reply(told, (buffer,))


def spread_json(
    found: Statistics, dtype: np.dtype[Any], adapted: Contrast | None
) -> dict[str, Any]:
    """Return how values of a type are spread, but for their numbers and their distribution."""
    return {
        "histogram": None if found.histogram is None else _histogram(found.histogram),
        "limits": limits(dtype) if found.applicable else None,
        "distribution": None,
        **contrast_json(adapted),
    }


def contrast_json(found: Contrast | None) -> dict[str, Any]:
    """Return how colors and histograms are to span the values."""
    if found is None:
        return {"robust": None, "linear": None, "scale": "linear", "crowd": 0.0}
    robust = found.robust
    return {
        "robust": None
        if robust is None
        else {
            "low": robust.low,
            "high": robust.high,
            "beyond": robust.beyond,
            "histogram": _histogram(robust.histogram),
        },
        "linear": found.linear,
        "scale": found.scale,
        "crowd": found.crowd,
    }


def distribution_json(found: Contrast) -> tuple[dict[str, Any], bytes]:
    """Return the distribution as headers of columns, and their buffer."""
    low, high = found.distribution.bounds()
    columns, buffer = pack(
        {
            "low": low.astype(np.float64),
            "high": high.astype(np.float64),
            "count": found.distribution.counts.astype(np.float64),
        },
        "distribution",
    )
    return {"columns": columns}, buffer


def part_json(found: Statistics) -> dict[str, Any] | None:
    """Return the statistics of a part of a tensor; None where there are none."""
    if not found.applicable:
        return None
    return {
        **spread_counts(found),
        "minimum": exact_number(found.minimum),
        "maximum": exact_number(found.maximum),
        "mean": computed_number(found.mean),
    }


def statistics_json(found: Statistics, shape: tuple[int, ...] | None) -> dict[str, Any] | None:
    """Return statistics with indices of an array of a shape; None where there are none."""
    known = part_json(found)
    return known and {
        **known,
        **tensor_counts(found),
        "std": computed_number(found.std),
        "argmin": place(found.argmin, shape),
        "argmax": place(found.argmax, shape),
        "firstNan": place(found.first_nan, shape),
        "firstPosInf": place(found.first_pos_inf, shape),
        "firstNegInf": place(found.first_neg_inf, shape),
    }


def _histogram(found: Histogram) -> dict[str, Any]:
    return {
        "counts": found.counts.tolist(),
        "edges": found.edges.tolist(),
        "exact": found.exact,
    }


def percentiles_json(bounds: Sequence[NumberBounds], dtype: np.dtype[Any]) -> list[dict[str, Any]]:
    """Return the percentiles of values of a type; none without finite values."""
    return [
        {
            "percent": percent,
            "low": percentile_number(low, dtype),
            "high": percentile_number(high, dtype),
        }
        for percent, (low, high) in zip(PERCENTS, bounds, strict=False)
    ]
