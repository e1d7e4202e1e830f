"""Counts, bounds, moments and percentiles of a tensor: at once as far as known, then exact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.figures.tensor_counts import limits, tensor_counts
from tvmdbg_widgets.model.statistics.percentiles import PERCENTS
from tvmdbg_widgets.model.statistics.robust import linear_zone
from tvmdbg_widgets.widgets.answering import Reply
from tvmdbg_widgets.widgets.answers_tensor.asked import asked_reading, asked_tensor
from tvmdbg_widgets.widgets.answers_tensor.numbers import (
    computed_number,
    exact_number,
    percentile_number,
    place,
)
from tvmdbg_widgets.widgets.columns import pack
from tvmdbg_widgets.widgets.passes import SAMPLE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tvmdbg_widgets.model.statistics import Histogram, Statistics
    from tvmdbg_widgets.model.statistics.distribution import Interval
    from tvmdbg_widgets.model.statistics.robust import Robust
    from tvmdbg_widgets.model.tensors import Tensor
    from tvmdbg_widgets.widgets.answering import Context
    from tvmdbg_widgets.widgets.messages import Question
    from tvmdbg_widgets.widgets.passes import Known

_MOST_PERCENTS = 32


def tensor_statistics(context: Context, question: Question) -> Reply:
    """Answer the best statistics that are known, and begin the pass where all are wanted."""
    tensor = asked_tensor(context.run, question)
    reading = asked_reading(tensor, question)
    known = context.passes.known(tensor, reading, begin=question.flag("exact"))
    return _reply(known, tensor, reading, context.watch)


def cancel_tensor(context: Context, question: Question) -> Reply:
    """Stop the pass over a tensor, and the pictures that this client waits for."""
    tensor = asked_tensor(context.run, question)
    reading = asked_reading(tensor, question)
    return _reply(context.passes.cancel(tensor, reading), tensor, reading, context.watch)


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


def _reply(known: Known, tensor: Tensor, reading: str | None, watch: Callable[[], None]) -> Reply:
    found, dtype = known.statistics, known.values.numpy_dtype
    bounds: Sequence[Interval] = ()
    if known.state == "exact":
        bounds = tensor.told_percentiles(reading, watch)
    elif found.distribution is not None:
        bounds = found.distribution.percentiles(PERCENTS)
    whole = None if known.state == "exact" else SAMPLE
    told: dict[str, Any] = {
        "state": known.state,
        "done": known.done,
        "total": known.total,
        "statistics": statistics_json(found, known.values.view_shape),
        "reason": found.reason,
        "histogram": histogram_json(found),
        "percentiles": percentiles_json(bounds, dtype),
        "robust": robust_json(tensor.robust(whole, reading=reading, watch=watch)),
        "linear": linear(found),
        "distribution": None,
        "limits": limits(dtype) if found.applicable else None,
    }
    spread = found.distribution
    if spread is None or known.state == "scanning":
        return Reply(told)
    low, high = spread.bounds()
    columns, buffer = pack(
        {
            "low": low.astype(np.float64),
            "high": high.astype(np.float64),
            "count": spread.counts.astype(np.float64),
        }
    )
    told["distribution"] = {"columns": columns}
    return Reply(told, (buffer,))


def statistics_json(found: Statistics, shape: tuple[int, ...]) -> dict[str, Any] | None:
    """Return statistics with indices of an array of a shape; None where there are none."""
    if not found.applicable:
        return None
    return {
        **tensor_counts(found),
        "minimum": exact_number(found.minimum),
        "maximum": exact_number(found.maximum),
        "mean": computed_number(found.mean),
        "std": computed_number(found.std),
        "argmin": place(found.argmin, shape),
        "argmax": place(found.argmax, shape),
        "firstNan": place(found.first_nan, shape),
        "firstPosInf": place(found.first_pos_inf, shape),
        "firstNegInf": place(found.first_neg_inf, shape),
    }


def histogram_json(found: Statistics) -> dict[str, Any] | None:
    """Return the histogram; None without finite values."""
    return None if found.histogram is None else _histogram(found.histogram)


def _histogram(found: Histogram) -> dict[str, Any]:
    return {
        "counts": found.counts.tolist(),
        "edges": found.edges.tolist(),
        "exact": found.exact,
    }


def robust_json(found: Robust | None) -> dict[str, Any] | None:
    """Return the range of nearly all values; None where no few values set the tensor's own."""
    if found is None:
        return None
    return {
        "low": found.low,
        "high": found.high,
        "beyond": found.beyond,
        "histogram": _histogram(found.histogram),
    }


def linear(found: Statistics) -> float | None:
    """Return where a symlog scale turns linear; None where all values are zero, or none is."""
    return None if found.distribution is None else linear_zone(found.distribution, found.zero)


def percentiles_json(bounds: Sequence[Interval], dtype: np.dtype[Any]) -> list[dict[str, Any]]:
    """Return the percentiles of values of a type; none without finite values."""
    return [
        {
            "percent": percent,
            "low": percentile_number(low, dtype),
            "high": percentile_number(high, dtype),
        }
        for percent, (low, high) in zip(PERCENTS, bounds, strict=False)
    ]
