"""How the values of a tensor are distributed."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tvmdbg_widgets.model.base.slips import public
from tvmdbg_widgets.plots.chart import (
    WIDTH,
    ThemeName,
    colors_of,
    new_figure,
    place_legend,
    selectable,
)
from tvmdbg_widgets.plots.tensor_of import called, tensor_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from tvmdbg_widgets.analysis.derived.derived import Derived
    from tvmdbg_widgets.model.statistics import Histogram, Statistics
    from tvmdbg_widgets.model.statistics.robust import Robust
    from tvmdbg_widgets.model.tensors.readings import Reading
    from tvmdbg_widgets.model.tensors.tensor import Tensor
    from tvmdbg_widgets.model.tensors.tensors import TensorKey

_HEIGHT = 320
#: Gap before the bar of zeros, and its width, as shares of the axis; room above the bars.
_APART, _ABOVE = 0.03, 1.05
#: Where the bar of zeros stands there are no values.
_TICK = 'return tick > last ? "" : `${Number(tick.toPrecision(6))}`;'


@public
def histogram(
    run: Derived,
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

    As in the tensor view zeros are apart, at the right, so that they do not flatten the bars,
    unless there is nothing else; and where a few far values would set the range, the bars span
    the others.

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
    from tvmdbg_widgets.model.base.choice import one_of
    from tvmdbg_widgets.model.base.numbers import counted, percent

    tensor = tensor_of("histogram", run, key)
    colors = colors_of(theme)
    one_of("scale", scale, ("linear", "log"))
    read = reading or next(iter(tensor.readings), None)
    statistics = tensor.statistics(reading=read)
    why = _why_nothing(statistics)
    if why:
        raise ValueError(f"{called(run, tensor)} has no histogram: {why}")
    robust = None
    if range is None and scale == "linear":
        contrast = tensor.contrast(reading=read)
        robust = contrast.robust if contrast is not None else None
    if robust is not None:
        range = robust.low, robust.high  # noqa: A001
    found = tensor.histogram(bins, range, scale, reading=read)
    if scale == "log" and not found.edges[0] > 0:
        raise ValueError(
            f"{called(run, tensor)} has no values above zero for a log scale; use scale='linear'"
        )
    stay = scale == "log" or tensor.dtype.name == "bool" or statistics.zero == statistics.finite
    zeros = 0 if stay else statistics.zero
    counts = _without_zeros(found, zeros)
    size = len(counts)

    from bokeh.models import ColumnDataSource, CustomJSTickFormatter, NumeralTickFormatter

    source = ColumnDataSource(
        {
            "node": np.full(size, tensor.node),
            "output": np.full(size, tensor.output),
            "low": found.edges[:-1],
            "high": found.edges[1:],
            "count": counts,
            "share": counts / statistics.size,
            "range_text": _ranges(found),
            "count_text": [counted(count, "value") for count in counts.tolist()],
        }
    )
    beyond = statistics.finite - zeros - int(counts.sum())
    figure = new_figure(
        f"{called(run, tensor)}: values",
        [
            f"{run.title}: {_summary(tensor, read, statistics)}",
            *_left_out(tensor, statistics, beyond, robust),
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
    glyphs = [bars]
    if zeros and counts.any():
        every = f"{counted(zeros, 'zero')} ({percent(zeros / statistics.size)})"
        apart = figure.quad(
            left="left",
            right="right",
            bottom=0,
            top="count",
            source=ColumnDataSource(_zeros(tensor, found, zeros, statistics.size)),
            color=str(colors.muted),
            legend_label=f"{every}, shown separately",
        )
        glyphs.append(apart)
        figure.y_range.end = float(counts.max()) * _ABOVE
        last = {"last": float(found.edges[-1])}
        figure.xaxis.formatter = CustomJSTickFormatter(args=last, code=_TICK)
        place_legend(figure, colors)
    figure.y_range.start = 0
    figure.yaxis.formatter = NumeralTickFormatter(format="0,0")
    figure.xgrid.visible = False
    selectable(
        figure,
        glyphs,
        colors,
        [("values", "@range_text"), ("count", "@count{0,0}"), ("share", "@share{0.00 %}")],
    )
    return figure


def _without_zeros(found: Histogram, zeros: int) -> npt.NDArray[np.int64]:
    """Return the counts without the zeros, which lie in one of the bins."""
    edges, counts = found.edges, np.array(found.counts, np.int64)
    home = min(int(np.searchsorted(edges, 0.0, side="right")) - 1, len(counts) - 1)
    if zeros and home >= 0 and edges[home] <= 0 <= edges[-1]:
        counts[home] -= min(zeros, counts[home])
    return counts


def _zeros(tensor: Tensor, found: Histogram, zeros: int, size: int) -> dict[str, Any]:
    """Return the columns of the zeros: as those of the bins, and where their bar is."""
    from tvmdbg_widgets.model.base.numbers import counted

    first, last = float(found.edges[0]), float(found.edges[-1])
    left = last + _APART * (last - first)
    return {
        "node": [tensor.node],
        "output": [tensor.output],
        "low": [0.0],
        "high": [0.0],
        "count": [zeros],
        "share": [zeros / size],
        "range_text": ["0"],
        "count_text": [counted(zeros, "value")],
        "left": [left],
        "right": [left + _APART * (last - first)],
    }


def _ranges(found: Histogram) -> list[str]:
    from tvmdbg_widgets.model.base.number_text import short_text

    edges = [short_text(edge) for edge in found.edges.tolist()]
    return [f"{low} … {high}" for low, high in pairwise(edges)]


def _why_nothing(statistics: Statistics) -> str:
    from tvmdbg_widgets.model.base.numbers import counted

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


def _summary(tensor: Tensor, reading: Reading | None, statistics: Statistics) -> str:
    from tvmdbg_widgets.model.base.number_text import number_text
    from tvmdbg_widgets.model.base.numbers import counted

    bounds = f"{number_text(statistics.minimum)} … {number_text(statistics.maximum)}"
    read = f", read as {reading.removeprefix('as ')}" if reading else ""
    values = counted(statistics.size, "value")
    return f"{tensor.dtype}{list(tensor.shape)}{read}, {values}, {bounds}"


def _left_out(
    tensor: Tensor, statistics: Statistics, beyond: int, robust: Robust | None
) -> list[str]:
    from tvmdbg_widgets.model.base.numbers import counted

    specials = (
        (statistics.nan, "NaN"),
        (statistics.pos_inf, "+Inf"),
        (statistics.neg_inf, "−Inf"),
        (beyond if robust is None else 0, "finite values outside the range"),
    )
    told = [f"{count:,} {what}" for count, what in specials if count]
    notes = [f"left out: {', '.join(told)}"] if told else []
    if robust is not None:
        every = f"range=({statistics.minimum}, {statistics.maximum}) shows all"
        notes.append(
            f"{beyond:,} of {counted(statistics.finite, 'value')} beyond this range; {every}"
        )
    return [*notes, *tensor.notes]
