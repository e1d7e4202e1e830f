"""The times of two runs, operator by operator."""

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
    axis_names,
    colors_of,
    columns_of,
    left_out,
    new_figure,
    place_legend,
    require_run,
    selectable,
    unit_ticks,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.analysis.compare_times import TimeChange, TimeComparison
    from tvmdbg_widgets.analysis.derived.derived import Derived
    from tvmdbg_widgets.figures.theme import Theme

_NUMBERS = (
    *("label", "kind", "a", "b", "ns_a", "ns_b", "change_ns", "ratio", "p", "q"),
    *("shift_ns", "low_ns", "high_ns", "why", "match"),
)


@public
def compare_times(
    a: Derived,
    b: Derived,
    titles: Sequence[str] | None = None,
    *,
    warm_up: int = 0,
    top: int = 30,
    theme: ThemeName = "light",
    width: int = WIDTH,
) -> Any:
    """Return the times of two runs, the operators that changed most first.

    A hollow dot is the time in `a`, a filled one that in `b`. Columns are those of
    ``a.compare_times(b).to_dataframe()``; ``a`` and ``b`` hold the ids of the nodes, so that
    ``link(figure, a, nodes="a")`` and ``link(figure, b, nodes="b")`` know them.

    Parameters
    ----------
    a, b : DebugRun
    titles : two str, optional
        What the runs are called; their own titles by default.
    warm_up : int
        So many first repeats of every node are left out.
    top : int
        Operators.
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
        A run has no times, or nothing in one stands for anything in the other; tells what to do.
        Or ``top`` or ``theme`` is none of these.
    """
    require_run("compare_times", a)
    require_run("compare_times", b)
    if top < 1:
        raise ValueError(f"top must be at least 1, found {top!r}")
    colors = colors_of(theme)
    from tvmdbg_widgets.analysis.compare_times import compare_times as compared

    comparison = compared(a.parts, b.parts, titles, warm_up=warm_up)
    rows = [row for row in comparison if np.isfinite(row.ns_a) and np.isfinite(row.ns_b)]
    if not rows:
        raise ValueError(
            f"No operator has a known time in both {a.title} and {b.title}, so there is nothing "
            "to draw."
        )
    columns = _columns(rows[:top], colors, width)
    names = columns["operator"]

    from bokeh.models import ColumnDataSource

    source = ColumnDataSource(columns)
    figure = new_figure(
        "Times of two runs",
        _notes(comparison, len(rows), top),
        colors,
        width,
        AROUND + ROW * len(names),
        y_range=names[::-1],
        x_axis_label="time",
    )
    lines = figure.segment(
        x0="ns_a",
        x1="ns_b",
        y0="operator",
        y1="operator",
        source=source,
        line_color="color",
        line_width=2,
    )
    before = figure.scatter(
        x="ns_a",
        y="operator",
        size=9,
        source=source,
        fill_color=str(colors.background),
        line_color="color",
        line_width=1.5,
    )
    after = figure.scatter(
        x="ns_b",
        y="operator",
        size=9,
        source=source,
        color="color",
        legend_group="verdict",
    )
    figure.x_range.start = 0
    figure.xaxis.formatter = unit_ticks(TIME_UNITS)
    selectable(
        figure,
        [before, after, lines],
        colors,
        [
            ("operator", "@operator"),
            ("A", "@a_text"),
            ("B", "@b_text"),
            ("B minus A", "@change_text"),
            ("verdict", "@verdict: @why"),
            ("match", "@match"),
        ],
    )
    place_legend(figure, colors)
    return figure


def _columns(rows: Sequence[TimeChange], colors: Theme, width: int) -> dict[str, Any]:
    from tvmdbg_widgets.analysis.compare_times.change_texts import change_text, ratio_text
    from tvmdbg_widgets.analysis.compare_times.verdicts import Verdict
    from tvmdbg_widgets.model.base.text import one_line

    fills = {Verdict.SLOWER: colors.error, Verdict.FASTER: colors.accent}
    columns = columns_of(rows, _NUMBERS)
    columns["a"] = [list(row.a) for row in rows]
    columns["b"] = [list(row.b) for row in rows]
    columns["verdict"] = [row.verdict.label for row in rows]
    columns["operator"] = axis_names(
        [one_line(row.label) for row in rows], [row.brief_nodes for row in rows], width
    )
    columns["color"] = [str(fills.get(row.verdict, colors.muted)) for row in rows]
    columns["a_text"] = [row.texts[0] if row.a else "no match" for row in rows]
    columns["b_text"] = [row.texts[1] if row.b else "no match" for row in rows]
    columns["change_text"] = [
        f"{change_text(row.change_ns)} ({ratio_text(row.ratio)})" for row in rows
    ]
    return columns


def _notes(comparison: TimeComparison, known: int, top: int) -> list[str]:
    from tvmdbg_widgets.model.base.numbers import counted

    notes = [f"{comparison.title} (A hollow, B filled)", comparison.sentence]
    if known > top:
        notes.append(f"the {counted(top, 'row')} of {known:,} that changed most")
    unknown = left_out(
        len(comparison) - known,
        len(comparison),
        "one of its times is unknown",
        "one of their times is unknown",
    )
    return [*notes, *([unknown] if unknown else [])]
