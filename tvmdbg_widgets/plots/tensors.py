"""Charts of a tensor's values: histogram, and profile of channels."""

from __future__ import annotations

import math
from itertools import compress, pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tvmdbg_widgets.analysis.summary import how_to_get
from tvmdbg_widgets.model.base.number_text import (
    computed_text,
    number_text,
    screen_text,
    short_text,
    value_text,
)
from tvmdbg_widgets.model.base.numbers import agree, counted, percent
from tvmdbg_widgets.model.base.slips import one_of, public
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.graph.graph import tensor_title
from tvmdbg_widgets.model.pictures import NAN, NEG_INF, POS_INF, profile
from tvmdbg_widgets.model.tensors.planes import axes_along
from tvmdbg_widgets.plots.chart import WIDTH, Chart, ThemeName, checked

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.facts import OpenedRun, RunFacts
    from tvmdbg_widgets.model.statistics import Histogram, Statistics
    from tvmdbg_widgets.model.tensors.planes import Reading
    from tvmdbg_widgets.model.tensors.tensors import Tensor, TensorKey

#: Gap before the bar of zeros, and its width, as shares of the axis; room above the bars.
_APART, _ABOVE = 0.03, 1.05
#: Ticks without labels below the bar of zeros.
_TICK = 'return tick > last ? "" : `${Number(tick.toPrecision(6))}`;'
#: Most bars of channels; a bar of a longer axis covers several indices.
_MOST_CHANNELS = 512


@public
def histogram(
    run: OpenedRun,
    key: TensorKey,
    bins: int = 64,
    range: tuple[float, float] | None = None,  # noqa: A002 (as np.histogram has it)
    scale: Literal["linear", "log"] = "linear",
    *,
    reading: Reading | None = None,
    theme: ThemeName = "auto",
    width: int = WIDTH,
) -> Any:
    """Return a histogram of the finite values of a tensor, exact counts.

    As in the tensor view, zeros have a bar of their own at the right, or they would flatten the
    others; not if there is nothing else. A few outliers do not set the range.

    A row is a bin: ``low``, ``high``, ``count``, ``share`` of all values, and the entry ``node``,
    ``output``. Zeros are in no bin: they have a row of their own in the second data source.

    Parameters
    ----------
    run : DebugRun
    key : int, str, (int, int) or (str, int)
        As ``run.tensors[key]`` takes it: node id or name, or that with an output.
    bins : int
        At most.
    range : (float, float), optional
        First and last edge; by default those of the finite values, without a few that are far
        beyond the others.
    scale : str
        ``"linear"`` or ``"log"``, which counts the values above zero.
    reading : str, optional
        One of ``tensor.readings``.
    theme : str
        ``"light"``, ``"dark"``, or ``"auto"``: as the notebook is, elsewhere light.
    width : int
        px at most.

    Raises
    ------
    KeyError
        The run has no such tensor.
    ValueError
        The run has no tensors, or this one no values to count; or an argument is none of these.
    """
    facts, colors = checked("histogram", run, theme)
    tensor, name = _tensor(facts, key)
    one_of("scale", scale, ("linear", "log"))
    read = reading or next(iter(tensor.readings), None)
    statistics = tensor.statistics(reading=read)
    if why := _why_nothing(statistics):
        raise ValueError(f"{name} has no histogram: {why}")
    robust = None
    if range is None and scale == "linear" and (contrast := tensor.contrast(reading=read)):
        robust = contrast.robust
    if robust is not None:
        range = robust.low, robust.high  # noqa: A001
    counted_bins = tensor.histogram(bins, range, scale, reading=read)
    if scale == "log" and not counted_bins.edges[0] > 0:
        raise ValueError(f"{name} has no values above zero for a log scale; use scale='linear'")
    stay = scale == "log" or tensor.dtype.name == "bool" or statistics.zero == statistics.finite
    zeros = 0 if stay else statistics.zero
    counts = _without_zeros(counted_bins, zeros)
    beyond = statistics.finite - zeros - int(counts.sum())
    edges = [short_text(edge) for edge in counted_bins.edges.tolist()]
    values = counted(statistics.size, "value")
    columns = {
        "node": np.full(len(counts), tensor.node),
        "output": np.full(len(counts), tensor.output),
        "low": counted_bins.edges[:-1],
        "high": counted_bins.edges[1:],
        "count": counts,
        "share": counts / statistics.size,
        "range_text": [f"{low} … {high}" for low, high in pairwise(edges)],
        "count_text": [counted(count, "value") for count in counts.tolist()],
    }
    bounds = f"{number_text(statistics.minimum)} … {number_text(statistics.maximum)}"
    as_what = f", read as {read.removeprefix('as ')}" if read else ""
    kind = f"{tensor.dtype}{list(tensor.shape)}{as_what}"
    notes = [f"{facts.title}: {kind}, {values}, {bounds}"]
    notes += _left_out(statistics, beyond, is_robust=robust is not None)
    notes += tensor.notes

    from bokeh.models import ColumnDataSource, CustomJSTickFormatter, NumeralTickFormatter

    axes: Any = {"x_axis_label": "value", "y_axis_label": "values per bin"}
    chart = Chart(f"{name}: values", notes, columns, colors, width, x_axis_type=scale, **axes)
    look = {"fill_color": colors.accent, "line_color": colors.background}
    box: dict[str, Any] = {"bottom": 0, "top": "count"}
    glyphs = [chart.draw("quad", left="low", right="high", **box, **look, line_width=0.5)]
    if zeros and counts.any():
        share = zeros / statistics.size
        of_zeros = _row_of_zeros(tensor, counted_bins, zeros, share)
        legend = f"{counted(zeros, 'zero')} ({percent(share)}), shown separately"
        box |= {"source": ColumnDataSource(of_zeros), "color": colors.muted}
        apart = chart.draw("quad", left="left", right="right", **box, legend_label=legend)
        glyphs.append(apart)
        last = {"last": float(counted_bins.edges[-1])}
        chart.figure.y_range.end = float(counts.max()) * _ABOVE
        chart.figure.xaxis.formatter = CustomJSTickFormatter(args=last, code=_TICK)
    chart.figure.y_range.start = 0
    chart.figure.yaxis.formatter = NumeralTickFormatter(format="0,0")
    chart.figure.xgrid.visible = False
    tooltip = {"values": "@range_text", "count": "@count{0,0}", "share": "@share{0.00 %}"}
    return chart.finished(glyphs, tooltip, facts, theme)


@public
def channels(
    run: OpenedRun,
    key: TensorKey,
    axis: int | None = None,
    *,
    reading: Reading | None = None,
    theme: ThemeName = "auto",
    width: int = WIDTH,
) -> Any:
    """Return minimum, mean and maximum of the finite values per channel of a tensor.

    A row is a channel, or several next to each other where there are more than 512: ``first`` and
    ``last`` index, ``minimum``, ``mean``, ``maximum``, whether it holds ``nan``, ``pos_inf`` or
    ``neg_inf``, and the entry ``node``, ``output``.

    Parameters
    ----------
    run : DebugRun
    key : int, str, (int, int) or (str, int)
        As ``run.tensors[key]`` takes it: node id or name, or that with an output.
    axis : int, optional
        The axis to go along; by default the second of three and more, else the longest.
    reading : str, optional
        One of ``tensor.readings``.
    theme : str
        ``"light"``, ``"dark"``, or ``"auto"``: as the notebook is, elsewhere light.
    width : int
        px at most.

    Raises
    ------
    KeyError
        The run has no such tensor.
    ValueError
        The run has no tensors, or this one no such axis or no ordered values; or ``theme`` is
        none of these.
    """
    facts, colors = checked("channels", run, theme)
    tensor, name = _tensor(facts, key)
    values = tensor.values(reading or next(iter(tensor.readings), None))
    shape, dtype = values.view_shape, values.numpy_dtype
    if not values.is_ordered:
        raise ValueError(f"{name} has no channels to compare: {tensor.dtype} values have no order")
    if not shape or not tensor.size:
        raise ValueError(f"{name} has no channels: its shape is {list(shape)}")
    if axis is None:
        axis = axes_along(shape)[0]
    elif not -len(shape) <= axis < len(shape):
        raise ValueError(f"{name} has no axis {axis!r}: its shape is {list(shape)}")
    drawn = profile(values, axis % len(shape), _MOST_CHANNELS)
    size = len(drawn.flags)
    first = np.arange(size) * drawn.step
    last = np.minimum(first + drawn.step, drawn.length) - 1
    flags = {"nan": NAN, "pos_inf": POS_INF, "neg_inf": NEG_INF}
    held = {name: (drawn.flags & flag) > 0 for name, flag in flags.items()}
    finite = np.isfinite(drawn.maximum)
    edge = float(drawn.maximum[finite].max()) if finite.any() else 0.0
    spans = zip(first.tolist(), last.tolist(), strict=True)
    minimum, mean, maximum = drawn.minimum, drawn.mean, drawn.maximum
    bounds = zip(minimum.tolist(), maximum.tolist(), mean.tolist(), strict=True)
    columns = {
        "node": np.full(size, tensor.node),
        "output": np.full(size, tensor.output),
        "first": first,
        "last": last,
        "left": first - 0.4,
        "right": last + 0.4,
        "middle": (first + last) / 2,
        "minimum": minimum.astype(np.float64),
        "mean": mean.astype(np.float64),
        "maximum": maximum.astype(np.float64),
        **held,
        "not_finite_at": np.where(drawn.flags > 0, edge, np.nan),
        "index_text": [f"{low}" if low == high else f"{low} … {high}" for low, high in spans],
        "values_text": [_values_text(*row, dtype) for row in bounds],
        "not_finite_text": [
            ", ".join(compress(("NaN", "+Inf", "−Inf"), row))
            for row in zip(*held.values(), strict=True)
        ],
    }
    along = f"along axis {drawn.axis} ({drawn.length:,}), reduced over all other axes"
    notes = [f"{facts.title}: {tensor.dtype}{list(tensor.shape)}, {along}"]
    if drawn.step > 1:
        notes.append(f"a bar is {counted(drawn.step, 'index')}")
    if empty := int((~finite).sum()):
        of, verb = counted(size, "bar"), agree(empty, "holds")
        notes.append(f"{empty:,} of {of} left out: {verb} no finite value")
    notes += tensor.notes
    labels: Any = {"x_axis_label": f"axis {drawn.axis}", "y_axis_label": "value"}
    chart = Chart(f"{name}: channels", notes, columns, colors, width, **labels)
    fill, text, error = colors.accent, colors.text, colors.error
    look: dict[str, Any] = {"fill_color": fill, "fill_alpha": 0.4, "line_color": fill}
    look |= {"bottom": "minimum", "top": "maximum", "legend_label": "minimum to maximum"}
    bars = chart.draw("quad", left="left", right="right", **look)
    look = {"line_color": text, "line_width": 2, "legend_label": "mean"}
    chart.draw("segment", x0="left", x1="right", y0="mean", y1="mean", **look)
    if any(columns["not_finite_text"]):
        look = {"line_color": error, "line_width": 2, "legend_label": "holds NaN or Inf"}
        chart.draw("scatter", x="middle", y="not_finite_at", marker="x", size=9, **look)
    chart.figure.xgrid.visible = False
    tooltip = {"index": "@index_text", "values": "@values_text", "holds": "@not_finite_text"}
    return chart.finished([bars], tooltip, facts, theme)


def _values_text(low: Any, high: Any, mean: float, dtype: np.dtype[Any]) -> str:
    if math.isnan(mean):
        return ""
    ends = f"{value_text(low, dtype)} … {value_text(high, dtype)}"
    return screen_text(f"{ends}, mean {computed_text(mean)}")


def _tensor(run: RunFacts, key: TensorKey) -> tuple[Tensor, str]:
    if run.tensors is None:
        raise ValueError(how_to_get("tensors", run.parts))
    tensor = run.tensors[key]
    return tensor, one_line(tensor_title(tensor, run.graph))


def _why_nothing(statistics: Statistics) -> str:
    if statistics.reason:
        return statistics.reason
    if statistics.size == 0:
        return "it holds no values"
    if statistics.finite == 0:
        return (
            f"none of its {counted(statistics.size, 'value')} is finite ({statistics.nan:,} NaN, "
            f"{statistics.pos_inf:,} +Inf, {statistics.neg_inf:,} −Inf)"
        )
    return ""


def _left_out(statistics: Statistics, beyond: int, *, is_robust: bool) -> list[str]:
    specials = (
        (statistics.nan, "NaN"),
        (statistics.pos_inf, "+Inf"),
        (statistics.neg_inf, "−Inf"),
        (0 if is_robust else beyond, "finite values outside the range"),
    )
    parts = [f"{count:,} {what}" for count, what in specials if count]
    notes = [f"left out: {', '.join(parts)}"] if parts else []
    if is_robust:
        every = f"range=({statistics.minimum}, {statistics.maximum}) shows all"
        of = counted(statistics.finite, "value")
        notes.append(f"{beyond:,} of {of} beyond this range; {every}")
    return notes


def _row_of_zeros(tensor: Tensor, bins: Histogram, zeros: int, share: float) -> dict[str, Any]:
    first, last = float(bins.edges[0]), float(bins.edges[-1])
    gap = _APART * (last - first)
    row = {
        "node": tensor.node,
        "output": tensor.output,
        "low": 0.0,
        "high": 0.0,
        "count": zeros,
        "share": share,
        "range_text": "0",
        "count_text": counted(zeros, "value"),
        "left": last + gap,
        "right": last + 2 * gap,
    }
    return {name: [value] for name, value in row.items()}


def _without_zeros(bins: Histogram, zeros: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the counts without zeros, which are all in one bin."""
    edges, counts = bins.edges, np.array(bins.counts, np.int64)
    home = min(int(np.searchsorted(edges, 0.0, side="right")) - 1, len(counts) - 1)
    if zeros and home >= 0 and edges[home] <= 0 <= edges[-1]:
        counts[home] -= min(zeros, counts[home])
    return counts
