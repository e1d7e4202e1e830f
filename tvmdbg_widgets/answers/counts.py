"""Answers about the values of a tensor: statistics, counts and single values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from tvmdbg_widgets.analysis.findings.values.range_use import SHARE
from tvmdbg_widgets.answers.messages import SAMPLE, Question, StatisticsProgress
from tvmdbg_widgets.answers.tensor import (
    MOST_SIDE,
    Context,
    Reply,
    TensorQuery,
    asked_tensor,
    channels,
    data,
    layout,
    packed_cells,
    readable_tensor,
    tensor,
)
from tvmdbg_widgets.engine import pack
from tvmdbg_widgets.model.base.number_text import (
    bit_text,
    computed_text,
    fields,
    hex_text,
    is_float,
    is_integer,
    number_text,
    percentile_text,
    spacing,
)
from tvmdbg_widgets.model.pictures import profile as profile_of
from tvmdbg_widgets.model.statistics import Histogram, Statistics, statistics
from tvmdbg_widgets.model.statistics.batch import ArrayPasses
from tvmdbg_widgets.model.statistics.contrast import Contrast, contrast
from tvmdbg_widgets.model.statistics.distribution import Interval
from tvmdbg_widgets.model.statistics.passes import Watched
from tvmdbg_widgets.model.statistics.percentiles import PERCENTS
from tvmdbg_widgets.model.tensors.layouts import dequantized
from tvmdbg_widgets.model.tensors.planes import Plane
from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.model.tensors.values import ArrayView, Selection

#: Counts and positions of :class:`Statistics` that views show.
COUNTS = (
    *("size", "finite", "nan", "pos_inf", "neg_inf"),
    *("zero", "negative", "at_lowest", "at_highest"),
)
PLACES = ("argmin", "argmax", "first_nan", "first_pos_inf", "first_neg_inf")


def camel(name: str) -> str:
    """Return a name of Python as JavaScript writes it: ``"firstNan"``."""
    head, *rest = name.split("_")
    return head + "".join(map(str.capitalize, rest))


def limits(dtype: np.dtype[Any]) -> tuple[float, float] | None:
    """Return the lowest and highest finite value of a dtype; None for bool."""
    if dtype.kind == "b":
        return None
    info: Any = (ml_dtypes.iinfo if is_integer(dtype) else ml_dtypes.finfo)(dtype)
    low, high = float(info.min), float(info.max)
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def special_counts(statistics: Statistics, dtype: str) -> dict[str, int]:
    """Return counts of NaN, +Inf and -Inf, except zeros for dtypes without them."""
    counts = {"nan": statistics.nan, "pos_inf": statistics.pos_inf, "neg_inf": statistics.neg_inf}
    if re.match(r"u?int\d|bool$|float[46]_", dtype):
        held: tuple[str, ...] = ()
    else:
        held = ("nan",) if re.match(r"float8_\w+fn", dtype) else tuple(counts)
    return {name: count for name, count in counts.items() if count or name in held}


def profile(context: Context, question: Question) -> Reply:
    """Answer bounds, mean and flags along an axis."""
    about = TensorQuery(context, question)
    about.require_pictures()
    axis = question.integer("axis", 0, 63)
    points = question.integer("points", 1, MOST_SIDE)
    drawn = profile_of(about.values, axis, points, context.watch)
    columns, buffer = packed_cells(drawn)
    header = {"axis": drawn.axis, "length": drawn.length, "step": drawn.step, "columns": columns}
    return Reply(header, (buffer,))


#: Values per read; the second of remote files.
_PIECE = 1 << 17
_FAR_PIECE = 1 << 22


def region(context: Context, question: Question) -> Reply:
    """Answer counts, bounds, mean and distribution of a region of a plane."""
    about = TensorQuery(context, question)
    about.require_pictures()
    plane = about.plane
    part = about.part or (0, 0, plane.rows, plane.cols)
    values, most = about.values, _FAR_PIECE if about.stored.source.far else _PIECE
    pieces = partial(_pieces, values, plane, part, most)
    part_statistics = statistics(pieces, watch=context.watch)
    adapted = contrast(part_statistics, ArrayPasses.over(pieces), Watched(context.watch))
    header = {
        **spread_json(part_statistics, values.numpy_dtype, adapted),
        "statistics": part_json(part_statistics),
        "state": "exact",
        "part": list(part),
    }
    if adapted is None:
        return Reply(header)
    header["distribution"], buffer = distribution_json(adapted)
    return Reply(header, (buffer,))


def _pieces(
    values: ArrayView, plane: Plane, part: tuple[int, int, int, int], most: int
) -> Iterator[np.ndarray[Any, Any]]:
    """Yield the values of a region, a few rows or a stretch of one row at a time."""
    row, col, rows, cols = part
    wide = min(cols, most)
    high = max(1, most // wide)
    for top in range(row, row + rows, high):
        for left in range(col, col + cols, wide):
            down = slice(top, min(top + high, row + rows))
            across = slice(left, min(left + wide, col + cols))
            yield values.window(plane.selection(down, across)).ravel()


FORMATS = ("number", "hex", "bits", "dequantized")
_MOST_VALUES = 64 * 64
_MOST_SIDE = 4096


def values(context: Context, question: Question) -> Reply:
    """Answer the values in a window of a plane, row by row."""
    about = TensorQuery(context, question)
    form = question.choice("format", FORMATS) or "number"
    widths = list(fields(about.values.codes.numpy_dtype)) if form == "bits" else []
    if not math.prod(about.shape):
        return Reply({"row": 0, "col": 0, "rows": 0, "cols": 0, "text": [], "fields": widths})
    plane = about.plane
    row = min(question.integer("row"), plane.rows - 1)
    col = min(question.integer("col"), plane.cols - 1)
    rows = min(question.integer("rows", 1, _MOST_SIDE), plane.rows - row)
    cols = min(question.integer("cols", 1, _MOST_SIDE), plane.cols - col)
    if rows * cols > _MOST_VALUES:
        raise ValueError(f"at most {_MOST_VALUES} values at a time, asked for {rows} x {cols}")
    part = plane.selection(slice(row, row + rows), slice(col, col + cols))
    source = about.values.codes if form in ("hex", "bits") else about.values
    shown = plane.oriented(source.window(part)).ravel()
    if form == "hex":
        text = hex_text(shown)
    elif form == "bits":
        text = bit_text(shown)
    elif form == "dequantized":
        zero_point = question.integer("zeroPoint", -(2**53), 2**53)
        if shown.dtype.kind == "c":
            raise ValueError(f"{about.tensor.dtype} values are not quantized")
        text = list(map(computed_text, dequantized(shown, question.number("scale"), zero_point)))
    else:
        text = [number_text(value) for value in shown]
    place = {"row": row, "col": col, "rows": rows, "cols": cols}
    header = {**place, "text": text, "fields": widths}
    return Reply({**header, "one": _one(about.values, part)} if rows * cols == 1 else header)


def _one(source: ArrayView, part: Selection) -> dict[str, Any]:
    value, code = source.window(part).ravel(), source.codes.window(part).ravel()
    step = spacing(value)[0] if is_float(value.dtype) else math.nan
    return {
        "number": number_text(value[0]),
        "hex": hex_text(code)[0],
        "bits": bit_text(code)[0],
        "fields": list(fields(code.dtype)),
        "spacing": computed_text(step) if math.isfinite(step) else "",
    }


_MOST_PERCENTS = 32


def tensor_statistics(context: Context, question: Question) -> Reply:
    """Answer the best known statistics, and start the exact pass on request."""
    tensor, reading = asked_tensor(context.run, question)
    known = context.statistics_jobs.known(tensor, reading, begin=question.flag("exact"))
    return _reply(context, known, tensor, reading)


def cancel_tensor(context: Context, question: Question) -> Reply:
    """Stop the pass over a tensor, and this client's pictures."""
    tensor, reading = asked_tensor(context.run, question)
    return _reply(context, context.statistics_jobs.cancel(tensor, reading), tensor, reading)


def percentiles(context: Context, question: Question) -> Reply:
    """Answer exact percentiles; no value without finite values."""
    tensor, reading = readable_tensor(context, question)
    percents = question.numbers("percents", 0, 100, _MOST_PERCENTS)
    exact = tensor.percentiles(percents, reading=reading, watch=context.watch)
    dtype = tensor.values(reading).numpy_dtype
    numbers = [percentile_number(value, dtype) for value in exact]
    rows = zip(percents, numbers, strict=True)
    return Reply([{"percent": percent, "low": at, "high": at} for percent, at in rows])


def _reply(
    context: Context, known: StatisticsProgress, tensor: Tensor, reading: str | None
) -> Reply:
    statistics, watch = known.statistics, context.watch
    bounds: Sequence[Interval] = ()
    adapted = None
    why, counts_only = context.redact(tensor)
    if why:
        statistics = statistics.redacted(counts_only=counts_only)
    else:
        if known.state == "exact":
            bounds = tensor.known_percentiles(reading, watch)
        elif statistics.distribution is not None:
            bounds = statistics.distribution.percentiles(PERCENTS)
        sample = None if known.state == "exact" else SAMPLE
        adapted = tensor.contrast(sample, reading=reading, watch=watch)
    header = {
        **spread_json(statistics, known.values.numpy_dtype, adapted),
        "statistics": statistics_json(statistics, known.values),
        "state": known.state,
        "reason": statistics.reason,
        "done": known.done,
        "total": known.total,
        "percentiles": [
            {
                "percent": percent,
                "low": percentile_number(low, known.values.numpy_dtype),
                "high": percentile_number(high, known.values.numpy_dtype),
            }
            for percent, (low, high) in zip(PERCENTS, bounds, strict=False)
        ],
    }
    if adapted is None or known.state == "scanning":
        return Reply(header)
    header["distribution"], buffer = distribution_json(adapted)
    return Reply(header, (buffer,))


def spread_json(
    statistics: Statistics, dtype: np.dtype[Any], adapted: Contrast | None
) -> dict[str, Any]:
    """Return histogram, dtype limits, and the ranges that colors and histograms span."""
    robust = None if adapted is None else adapted.robust
    return {
        "histogram": None if statistics.histogram is None else _histogram(statistics.histogram),
        "limits": limits(dtype) if statistics.applicable else None,
        "distribution": None,
        "robust": robust
        and {
            "low": robust.low,
            "high": robust.high,
            "beyond": robust.beyond,
            "histogram": _histogram(robust.histogram),
        },
        "linear": None if adapted is None else adapted.linear,
        "scale": "linear" if adapted is None else adapted.scale,
        "crowd": 0.0 if adapted is None else adapted.crowd,
    }


def distribution_json(contrast: Contrast) -> tuple[dict[str, Any], bytes]:
    """Return the distribution as column headers and their buffer."""
    low, high = contrast.distribution.bounds()
    columns, buffer = pack(
        {
            "low": low.astype(np.float64),
            "high": high.astype(np.float64),
            "count": contrast.distribution.counts.astype(np.float64),
        },
        "distribution",
    )
    return {"columns": columns}, buffer


def part_json(statistics: Statistics) -> dict[str, Any] | None:
    """Return the statistics of a region; None if there are none."""
    if not statistics.applicable:
        return None
    return {
        **{camel(name): getattr(statistics, name) for name in COUNTS},
        "minimum": exact_number(statistics.minimum),
        "maximum": exact_number(statistics.maximum),
        "mean": computed_number(statistics.mean),
    }


def statistics_json(statistics: Statistics, values: ArrayView) -> dict[str, Any] | None:
    """Return statistics with indices and words for values; None if there are none."""
    known = part_json(statistics)
    shape, specials = values.view_shape, special_counts(statistics, values.numpy_dtype.name)
    return known and {
        **known,
        "denormal": statistics.denormal,
        "std": computed_number(statistics.std),
        **{camel(name): place(getattr(statistics, name), shape) for name in PLACES},
        "specials": [camel(name) for name in sorted(specials, key=lambda name: not specials[name])],
        **_verdict(statistics, values.numpy_dtype),
    }


def _verdict(statistics: Statistics, dtype: np.dtype[Any]) -> dict[str, Any]:
    """Return a verdict and how many values lie at an end of an integer type.

    Zero is no end of an unsigned type.
    """
    size, ends = statistics.size, 0
    if is_integer(dtype):
        low = 0 if dtype.name.startswith("u") else statistics.at_lowest or 0
        ends = low + (statistics.at_highest or 0)
    if not size:
        return {"atEnds": ends, "verdict": "empty"}
    finite = "doubt" if ends / size >= SHARE else "good"
    return {"atEnds": ends, "verdict": "error" if statistics.finite < size else finite}


def _histogram(histogram: Histogram) -> dict[str, Any]:
    """Return a histogram with its first and last edge alone if these give the others."""
    counts, edges = histogram.counts.tolist(), histogram.edges.tolist()
    first, last = edges[0], edges[-1]
    step = (last - first) / len(counts)
    if math.isfinite(step) and [at * step + first for at in range(len(counts))] == edges[:-1]:
        edges = [first, last]
    return {"counts": counts, "edges": edges, "exact": histogram.exact}


_NONE = {"text": "none", "value": None}


def exact_number(value: Any) -> dict[str, Any]:
    """Return a number with its text; only the text if it is not finite."""
    if value is None:
        return _NONE
    number = float(value)
    return {"text": number_text(value), "value": number if math.isfinite(number) else None}


def computed_number(value: float) -> dict[str, Any]:
    """Return a mean or spread; none without finite values."""
    if math.isnan(value):
        return _NONE
    return {**exact_number(value), "text": computed_text(value)}


def percentile_number(value: float, dtype: np.dtype[Any]) -> dict[str, Any]:
    """Return a percentile; none without finite values."""
    if math.isnan(value):
        return _NONE
    return {**exact_number(value), "text": percentile_text(value, dtype)}


def place(flat: int | None, shape: tuple[int, ...]) -> list[int] | None:
    """Return the index of a flat position."""
    if flat is None:
        return None
    return list(map(int, np.unravel_index(flat, shape))) if shape else []


TENSOR_ANSWERS: Mapping[str, Callable[[Context, Question], Reply]] = {
    "tensor": tensor,
    "layout": layout,
    "statistics": tensor_statistics,
    "percentiles": percentiles,
    "cancelTensor": cancel_tensor,
    "values": values,
    "profile": profile,
    "channels": channels,
    "data": data,
    "region": region,
}
