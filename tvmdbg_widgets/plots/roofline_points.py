"""How fast each operator computed against what it computes for each byte."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.model.base.slips import public
from tvmdbg_widgets.plots.chart import (
    RATE_UNITS,
    WIDTH,
    ThemeName,
    colors_of,
    columns_of,
    new_figure,
    operator_names,
    place_legend,
    require_run,
    selectable,
    unit_ticks,
)

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.derived.derived import Derived
    from tvmdbg_widgets.analysis.timeline.roofline import Roofline
    from tvmdbg_widgets.analysis.timeline.roofline_point import Point
    from tvmdbg_widgets.figures.theme import Theme

_HEIGHT = 420
_SMALLEST, _LARGEST = 7.0, 26.0
_DECADE = 10.0**0.4


@public
def roofline(
    run: Derived,
    peak_flops: float | None = None,
    bandwidth: float | None = None,
    *,
    theme: ThemeName = "light",
    width: int = WIDTH,
) -> Any:
    """Return the roofline of a run; a dot is an operator, its area the time it takes.

    Columns are those of ``run.roofline().to_dataframe()``.

    Parameters
    ----------
    run : DebugRun
    peak_flops, bandwidth : float, optional
        Ceilings in FLOP/s and byte/s. Without both, the highest that was measured is dashed.
    theme : str
        ``"light"`` or ``"dark"``.
    width : int
        px at most.

    Returns
    -------
    bokeh.plotting.figure

    Raises
    ------
    ValueError
        The run has no graph or no times, or no operator of it computes anything; tells what to do.
        Or a ceiling or ``theme`` is none of these.
    """
    require_run("roofline", run)
    colors = colors_of(theme)
    found = run.roofline(peak_flops, bandwidth)
    points = [point for point in found if _drawn(point)]
    if not points:
        raise ValueError(
            f"No operator of {run.title} has both a known time and a known number of operations "
            "above 0, so there is no roofline. print(run.roofline()) gives the reasons."
        )

    from bokeh.models import ColumnDataSource

    source = ColumnDataSource(_columns(found, points, colors))
    figure = new_figure(
        f"{run.title}: roofline",
        _notes(found, len(points)),
        colors,
        width,
        _HEIGHT,
        x_axis_type="log",
        y_axis_type="log",
        x_axis_label="FLOP per byte",
        y_axis_label="FLOP/s",
    )
    dots = figure.scatter(
        x="intensity",
        y="flops_per_s",
        size="size",
        source=source,
        fill_color="color",
        fill_alpha=0.7,
        line_color=str(colors.background),
        legend_group="op_kind",
    )
    _draw_ceilings(figure, found, points, colors)
    figure.yaxis.formatter = unit_ticks(RATE_UNITS, "FLOP/s", "log")
    figure.yaxis.axis_label = None
    figure.xaxis.formatter = unit_ticks(((1, ""),), "", "log")
    selectable(
        figure,
        [dots],
        colors,
        [
            ("operator", "@operator"),
            ("time", "@time_text"),
            ("work", "@work_text"),
            ("computed", "@flops_text, @intensity{0.[000]} FLOP/B"),
            ("moved", "@bytes_text"),
            ("bound by", "@bound_text"),
        ],
    )
    place_legend(figure, colors)
    return figure


def _drawn(point: Point) -> bool:
    numbers = (point.intensity, point.flops_per_s)
    return all(math.isfinite(each) and each > 0 for each in numbers)


def _columns(found: Roofline, points: list[Point], colors: Theme) -> dict[str, Any]:
    from tvmdbg_widgets.analysis.timeline.roofline_point import Point
    from tvmdbg_widgets.model.base.numbers import duration_text, percent, rate_text
    from tvmdbg_widgets.model.base.text import one_line
    from tvmdbg_widgets.model.graph.labels import label

    columns = columns_of(points, Point.__dataclass_fields__)
    columns["why"] = ["; ".join(point.why) for point in points]
    functions = found.work.graph.func_names
    columns["operator"] = operator_names(
        [one_line(label(functions[point.node]) or point.name) for point in points],
        columns["node"],
    )
    columns["color"] = [str(colors.kind(point.op_kind)) for point in points]
    times = np.array(columns["time_ns"])
    columns["size"] = _SMALLEST + (_LARGEST - _SMALLEST) * np.sqrt(times / times.max())
    columns["time_text"] = [duration_text(point.time_ns) for point in points]
    columns["work_text"] = [
        ("" if point.exact else "≈ ") + rate_text(point.flops, "FLOP") for point in points
    ]
    columns["flops_text"] = [rate_text(point.flops_per_s, "FLOP/s") for point in points]
    columns["bytes_text"] = [rate_text(point.bytes_per_s, "B/s") for point in points]
    columns["bound_text"] = [
        "unknown without ceilings"
        if point.bound == "unknown"
        else f"{point.bound}, {percent(point.of_ceiling)} of the ceiling"
        for point in points
    ]
    return columns


def _notes(found: Roofline, drawn: int) -> list[str]:
    from tvmdbg_widgets.model.base.numbers import counted

    notes = list(found.said[:2])
    if missing := len(found) - drawn:
        notes.append(
            f"{counted(missing, 'operator')} not drawn: no operations, or operations, bytes or "
            "time unknown"
        )
    return notes


def _draw_ceilings(figure: Any, found: Roofline, points: list[Point], colors: Theme) -> None:
    """Draw the given ceilings solid, else dashed the highest that was measured."""
    given = found.peak_flops is not None and found.bandwidth is not None
    peak = found.peak_flops or found.highest_flops
    bandwidth = found.bandwidth or found.highest_bytes
    intensities = [point.intensity for point in points]
    ridge = peak / bandwidth
    low = min(*intensities, ridge) / _DECADE
    high = max(*intensities, ridge) * _DECADE
    figure.line(
        [low, ridge, high],
        [low * bandwidth, peak, peak],
        line_color=str(colors.muted),
        line_dash="solid" if given else "dashed",
        line_width=1.5,
        level="underlay",
    )
