"""How long each operator takes, as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.model.base.slips import public
from tvmdbg_widgets.plots.chart import (
    AROUND,
    ROW,
    TIME_UNITS,
    WIDTH,
    ThemeName,
    colors_of,
    columns_of,
    left_out,
    new_figure,
    operator_names,
    place_legend,
    require_run,
    selectable,
    unit_ticks,
)

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.derived.derived import Derived


@public
def times(run: Derived, top: int = 30, *, theme: ThemeName = "light", width: int = WIDTH) -> Any:
    """Return a bar chart of the operators that take longest.

    Columns are those of ``run.table()``. A line across the end of a bar spans p10 to p90 of the
    repeats, where they are known.

    Parameters
    ----------
    run : DebugRun
    top : int
        Bars.
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
        The run has no times; tells how to get them. Or ``top`` or ``theme`` is none of these.
    """
    require_run("times", run)
    if top < 1:
        raise ValueError(f"top must be at least 1, found {top!r}")
    colors = colors_of(theme)
    columns, notes, axis = _columns(run, top, width)
    columns["color"] = [str(colors.kind(kind)) for kind in columns["op_kind"]]

    from bokeh.models import ColumnDataSource

    source = ColumnDataSource(columns)
    names = columns["operator"]
    figure = new_figure(
        f"{run.title}: time by operator",
        notes,
        colors,
        width,
        AROUND + ROW * len(names),
        y_range=names[::-1],
        x_axis_label=axis,
    )
    bars = figure.hbar(
        y="operator",
        right="time_ns",
        height=0.7,
        source=source,
        color="color",
        legend_group="op_kind",
    )
    figure.segment(
        x0="p10_ns",
        x1="p90_ns",
        y0="operator",
        y1="operator",
        source=source,
        line_color=str(colors.text),
        line_width=1.5,
    )
    figure.x_range.start = 0
    figure.xaxis.formatter = unit_ticks(TIME_UNITS)
    figure.ygrid.visible = False
    selectable(
        figure,
        [bars],
        colors,
        [
            ("operator", "@operator"),
            ("name", "@name"),
            ("time", "@time_text (@share_text)"),
            ("p10 … p90", "@spread_text"),
            ("outputs", "@outputs"),
            ("match", "@trust"),
        ],
    )
    place_legend(figure, colors)
    return figure


def _columns(run: Derived, top: int, width: int) -> tuple[dict[str, Any], list[str], str]:
    """Columns, notes, and what the time is."""
    from tvmdbg_widgets.analysis.summary import how_to_get
    from tvmdbg_widgets.analysis.times.operators import OPERATOR_COLUMNS
    from tvmdbg_widgets.model.base.numbers import agree, counted, duration_text, percent
    from tvmdbg_widgets.model.base.text import one_line
    from tvmdbg_widgets.model.graph.labels import label
    from tvmdbg_widgets.model.timeline.words import timeline_words

    if run.timeline is None:
        raise ValueError(how_to_get("timeline", run.parts))
    every = len(run.table())
    timed = run.top(every)
    if not len(timed):
        raise ValueError(
            f"No operator of {run.title} has a known time, so there is nothing to draw. "
            f"{how_to_get('timeline', run.parts)}"
        )
    shown = timed[:top]
    columns = columns_of(shown, OPERATOR_COLUMNS)
    columns["trust"] = [row.trust.label for row in shown]
    columns["operator"] = operator_names(
        [one_line(label(row.func_name) or row.name) for row in shown], columns["node"], width
    )
    columns["time_text"] = [row.time_text for row in shown]
    columns["share_text"] = [row.share_text for row in shown]
    columns["spread_text"] = [
        f"{row.spread_text}, {counted(row.repeats, 'repeat')}{', noisy' if row.noisy else ''}"
        if row.repeats > 1
        else "no repeats"
        for row in shown
    ]
    words = timeline_words(run.timeline, run.graph is not None)
    total = sum(row.time_ns for row in timed)
    notes = [f"total {duration_text(total)}, {words.together}"]
    if len(timed) > len(shown):
        share = float(np.nansum(columns["share"]))
        rows = f"{len(shown):,} slowest of {counted(len(timed), words.row)}"
        notes.append(f"the {rows} {agree(len(shown), 'accounts')} for {percent(share)}")
    unknown = left_out(every - len(timed), every, "its time is unknown", "their times are unknown")
    return columns, [*notes, *([unknown] if unknown else [])], words.time
