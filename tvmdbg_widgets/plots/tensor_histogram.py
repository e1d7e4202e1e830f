"""How the values of a tensor are distributed."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tvmdbg_widgets.plots.chart import WIDTH, ThemeName, colors_of, new_figure, selectable
from tvmdbg_widgets.plots.tensor_of import called, tensor_of

if TYPE_CHECKING:
    from tvmdbg_widgets.model.readings import Reading
    from tvmdbg_widgets.model.statistics import Histogram, Statistics
    from tvmdbg_widgets.model.tensor import Tensor
    from tvmdbg_widgets.model.tensors import TensorKey
    from tvmdbg_widgets.run import DebugRun

_HEIGHT = 320


def histogram(
    run: DebugRun,
    key: TensorKey,
    bins: int = 64,
    range: tuple[float, float] | None = None,  # noqa: A002 (as np.histogram has it)
    scale: Literal["linear", "log"] = "linear",
    *,
    reading: Reading | None = None,
    theme: ThemeName = "light",
    width: int = WIDTH,
) -> Any:
    """Return a histogram of the finite values of a tensor, exact counts.

    A row is a bin: ``low``, ``high``, ``count``, ``share`` of all values, and the entry ``node``,
    ``output``.

    Parameters
    ----------
    run : DebugRun
    key : int, str, (int, int) or (str, int)
        As ``run.tensors[key]`` takes it: node id or name, or that with an output.
    bins : int
        At most.
    range : (float, float), optional
        First and last edge; all finite values by default.
    scale : str
        ``"linear"`` or ``"log"``, which counts the values above zero.
    reading : str, optional
        One of ``tensor.readings``.
    theme : str
        ``"light"`` or ``"dark"``.
    width : int
        px at most.

    Returns
    -------
    bokeh.plotting.figure

    Raises
    ------
    KeyError
        The run has no such tensor.
    ValueError
        The run has no tensors, or this one no values to count; or an argument is none of these.
    """
    from tvmdbg_widgets.figures.choices import one_of

    tensor = tensor_of("histogram", run, key)
    colors = colors_of(theme)
    one_of("scale", scale, ("linear", "log"))
    read = reading or next(iter(tensor.readings), None)
    statistics = tensor.statistics(reading=read)
    why = _why_nothing(statistics)
    if why:
        raise ValueError(f"{called(run, tensor)} has no histogram: {why}")
    counted = tensor.histogram(bins, range, scale, reading=read)
    if scale == "log" and not counted.edges[0] > 0:
        raise ValueError(
            f"{called(run, tensor)} has no values above zero for a log scale; use scale='linear'"
        )
    size = len(counted.counts)

    from bokeh.models import ColumnDataSource, NumeralTickFormatter

    source = ColumnDataSource(
        {
            "node": np.full(size, tensor.node),
            "output": np.full(size, tensor.output),
            "low": counted.edges[:-1],
            "high": counted.edges[1:],
            "count": counted.counts,
            "share": counted.counts / statistics.size,
            "range_text": _ranges(counted),
        }
    )
    figure = new_figure(
        f"{called(run, tensor)}: values",
        [
            f"{run.title}: {_told(tensor, read, statistics)}",
            *_left_out(tensor, statistics, counted),
        ],
        colors,
        width,
        _HEIGHT,
        x_axis_type=scale,
        x_axis_label="value",
        y_axis_label="values in each bin",
    )
    bars = figure.quad(
        left="low",
        right="high",
        bottom=0,
        top="count",
        source=source,
        fill_color=str(colors.accent),
        line_color=str(colors.background),
        line_width=0.5,
    )
    figure.y_range.start = 0
    figure.yaxis.formatter = NumeralTickFormatter(format="0,0")
    figure.xgrid.visible = False
    selectable(
        figure,
        [bars],
        colors,
        [("values", "@range_text"), ("count", "@count{0,0}"), ("share", "@share{0.00 %}")],
    )
    return figure


def _ranges(counted: Histogram) -> list[str]:
    from tvmdbg_widgets.model.number_text import short_text

    edges = [short_text(edge) for edge in counted.edges.tolist()]
    return [f"{low} … {high}" for low, high in pairwise(edges)]


def _why_nothing(statistics: Statistics) -> str:
    if statistics.reason:
        return statistics.reason
    if statistics.size == 0:
        return "it holds no values"
    if statistics.finite == 0:
        return (
            f"none of its {statistics.size:,} values is finite ({statistics.nan:,} NaN, "
            f"{statistics.pos_inf:,} +Inf, {statistics.neg_inf:,} −Inf)"
        )
    return ""


def _told(tensor: Tensor, reading: Reading | None, statistics: Statistics) -> str:
    from tvmdbg_widgets.model.number_text import number_text

    bounds = f"{number_text(statistics.minimum)} … {number_text(statistics.maximum)}"
    read = f", read as {reading}" if reading else ""
    return f"{tensor.dtype}{list(tensor.shape)}{read}, {statistics.size:,} values, {bounds}"


def _left_out(tensor: Tensor, statistics: Statistics, counted: Histogram) -> list[str]:
    specials = (
        (statistics.nan, "NaN"),
        (statistics.pos_inf, "+Inf"),
        (statistics.neg_inf, "−Inf"),
        (statistics.finite - int(counted.counts.sum()), "finite beyond the edges"),
    )
    told = [f"{count:,} {what}" for count, what in specials if count]
    return [*([f"left out: {', '.join(told)}"] if told else []), *tensor.notes]
