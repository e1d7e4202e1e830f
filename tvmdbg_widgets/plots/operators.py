"""Charts of operator times: bars, repeats, and two runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.analysis.compare_times import compare_times as compared
from tvmdbg_widgets.analysis.compare_times.changes import change_columns, change_text
from tvmdbg_widgets.analysis.compare_times.verdicts import TimeVerdict
from tvmdbg_widgets.analysis.summary import how_to_get
from tvmdbg_widgets.analysis.timeline.repeat_matrix import repeat_matrix
from tvmdbg_widgets.analysis.times.operator_rows import operators
from tvmdbg_widgets.analysis.times.operators import OPERATOR_COLUMNS
from tvmdbg_widgets.model.base.numbers import agree, counted, duration_text, percent, speed_text
from tvmdbg_widgets.model.base.slips import public
from tvmdbg_widgets.model.base.text import columns_of, one_line
from tvmdbg_widgets.model.graph.operators import label
from tvmdbg_widgets.model.timeline.words import timeline_words
from tvmdbg_widgets.plots.chart import (
    TIME_UNITS,
    WIDTH,
    Chart,
    ThemeName,
    axis_names,
    checked,
    left_out,
    operator_names,
)

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.facts import OpenedRun

#: Dots per operator; of more repeats an evenly spaced part is drawn.
_MOST_REPEATS = 400


@public
def times(run: OpenedRun, top: int = 30, *, theme: ThemeName = "auto", width: int = WIDTH) -> Any:
    """Return a bar chart of the slowest operators.

    Columns are those of ``run.table()``. A line across the end of a bar spans p10 to p90 of the
    repeats, if known.

    Parameters
    ----------
    run : DebugRun
    top : int
        Bars.
    theme : str
        ``"light"``, ``"dark"``, or ``"auto"``: as the notebook is, elsewhere light.
    width : int
        px at most.

    Raises
    ------
    ValueError
        The run has no times (the message says how to get them), or ``top`` or ``theme`` is
        invalid.
    """
    facts, colors = checked("times", run, theme, top)
    if facts.timeline is None:
        raise ValueError(how_to_get("timeline", facts.parts))
    every = len(operators(facts.parts))
    timed = operators(facts.parts, every)
    if not len(timed):
        raise ValueError(
            f"No operator of {facts.title} has a known time, so there is nothing to draw. "
            f"{how_to_get('timeline', facts.parts)}"
        )
    shown = timed[:top]
    labels = [one_line(label(row.func_name) or row.name) for row in shown]
    names = operator_names(labels, [row.node for row in shown], width)
    columns = columns_of(shown, OPERATOR_COLUMNS) | {
        "trust": [row.trust.label for row in shown],
        "operator": names,
        "time_text": [row.time_text for row in shown],
        "share_text": [row.share_text for row in shown],
        "spread_text": [
            f"{row.spread_text}, {counted(row.repeats, 'repeat')}{', noisy' if row.noisy else ''}"
            if row.repeats > 1
            else "no repeats"
            for row in shown
        ],
        "color": [colors.kind(row.op_kind) for row in shown],
    }
    words = timeline_words(facts.timeline, facts.graph is not None)
    total = duration_text(sum(row.time_ns for row in timed))
    notes = [f"total {total}, {words.together}"]
    if len(timed) > len(shown):
        share = percent(float(np.nansum(columns["share"])))
        rows = f"{len(shown):,} slowest of {counted(len(timed), words.row)}"
        notes.append(f"the {rows} {agree(len(shown), 'accounts')} for {share}")
    notes += left_out(every - len(timed), every, "its time is unknown", "their times are unknown")
    title = f"{facts.title}: time by operator"
    chart = Chart(title, notes, columns, colors, width, rows=names, x_axis_label=words.time)
    look: dict[str, Any] = {"height": 0.7, "color": "color", "legend_group": "op_kind"}
    bars = chart.draw("hbar", y="operator", right="time_ns", **look)
    look = {"line_color": colors.text, "line_width": 1.5}
    chart.draw("segment", x0="p10_ns", x1="p90_ns", y0="operator", y1="operator", **look)
    chart.scale("x", TIME_UNITS, start=0)
    chart.figure.ygrid.visible = False
    tooltip = {
        "operator": "@operator",
        "name": "@name",
        "time": "@time_text (@share_text)",
        "p10 … p90": "@spread_text",
        "outputs": "@outputs",
        "match": "@trust",
    }
    return chart.finished([bars], tooltip, facts, theme)


@public
def repeats(run: OpenedRun, top: int = 30, *, theme: ThemeName = "auto", width: int = WIDTH) -> Any:
    """Return the repeats of the slowest operators, divided by the operator's median.

    A row is one repeat of one operator: ``node``, ``name`` and ``time_ns`` as in ``run.table()``,
    ``repeat``, and ``relative``, which is ``time_ns`` over the median of the operator.

    Parameters
    ----------
    run : DebugRun
    top : int
        Operators.
    theme : str
        ``"light"``, ``"dark"``, or ``"auto"``: as the notebook is, elsewhere light.
    width : int
        px at most.

    Raises
    ------
    ValueError
        The run has no repeats (the message says how to get them), or ``top`` or ``theme`` is
        invalid.
    """
    facts, colors = checked("repeats", run, theme, top)
    matrix = repeat_matrix(facts.parts)
    rows = np.argsort(-matrix.median, kind="stable")[:top]
    names = operator_names([matrix.names[row] for row in rows], matrix.nodes[rows].tolist(), width)
    drawn = np.arange(0, matrix.repeats, -(-matrix.repeats // _MOST_REPEATS))
    ns = matrix.ns[np.ix_(rows, drawn)]
    row, column = np.nonzero(np.isfinite(ns))
    repeat, times_ns = drawn[column], ns[row, column]
    warm_up = repeat < matrix.warm_up.cut
    fills = colors.background, colors.accent
    columns = {
        "node": matrix.nodes[rows[row]],
        "name": [matrix.names[at] for at in rows[row].tolist()],
        "operator": [names[at] for at in row.tolist()],
        "repeat": repeat,
        "phase": np.where(warm_up, "warm-up", "after warm-up").tolist(),
        "time_ns": times_ns,
        "relative": matrix.relative[rows[row], repeat],
        "time_text": [duration_text(ns, matrix.rounding_ns) for ns in times_ns.tolist()],
        "color": np.where(warm_up, *fills).tolist(),
    }
    notes = [matrix.warm_up.why]
    if matrix.of_slices:
        notes = ["no repeats are known: each dot is one slice of that name"]
    if len(rows) < len(matrix):
        notes.append(f"the {len(rows):,} slowest of {counted(len(matrix), 'operator')}")
    if len(drawn) < matrix.repeats:
        of, are = counted(matrix.repeats, "repeat"), agree(len(drawn), "is")
        notes.append(f"{len(drawn):,} of {of} {are} drawn, evenly spaced")
    timeline = None if matrix.of_slices else facts.timeline
    given = 0 if timeline is None else np.diff(timeline.repeats_offsets)[matrix.nodes].sum()
    unknown = int(given - np.isfinite(matrix.ns).sum())
    if unknown > 0:
        notes.append(f"{counted(unknown, 'repeat')} left out: not a number")

    from bokeh.models import PrintfTickFormatter
    from bokeh.models.annotations import Span

    title, axis = f"{facts.title}: repeats by operator", "time over the median of the operator"
    chart = Chart(title, notes, columns, colors, width, rows=names, x_axis_label=axis)
    line = Span(location=1, dimension="height", line_color=colors.muted)
    chart.figure.add_layout(line)
    look: dict[str, Any] = {"fill_color": "color", "fill_alpha": 0.8, "legend_group": "phase"}
    look["line_color"] = colors.accent
    dots = chart.draw("scatter", x="relative", y="operator", size=8, **look)
    chart.figure.xaxis.formatter = PrintfTickFormatter(format="%.4g×")
    chart.figure.legend.visible = bool(matrix.warm_up.cut)
    tooltip = {
        "operator": "@operator",
        "repeat": "@repeat (@phase)",
        "time": "@time_text",
        "over the median": "@relative{0.000}×",
    }
    return chart.finished([dots], tooltip, facts, theme)


@public
def compare_times(
    a: OpenedRun,
    b: OpenedRun,
    titles: Sequence[str] | None = None,
    *,
    warm_up: int = 0,
    top: int = 30,
    theme: ThemeName = "auto",
    width: int = WIDTH,
) -> Any:
    """Return the times of two runs, largest changes first.

    A hollow dot is the time in `a`, a filled dot the time in `b`. Columns are those of
    ``a.compare_times(b).to_dataframe()``; ``a`` and ``b`` are node ids, for
    ``link(figure, a, nodes="a")`` and ``link(figure, b, nodes="b")``.

    Parameters
    ----------
    a, b : DebugRun
    titles : two str, optional
        What the runs are called; their own titles by default.
    warm_up : int
        Repeats to leave out at the start of every node.
    top : int
        Operators.
    theme : str
        ``"light"``, ``"dark"``, or ``"auto"``: as the notebook is, elsewhere light.
    width : int
        px at most.

    Raises
    ------
    ValueError
        A run has no times, or no operator of one matches any of the other (the message says what
        to do), or ``top`` or ``theme`` is invalid.
    """
    facts_a, _ = checked("compare_times", a, theme)
    facts_b, colors = checked("compare_times", b, theme, top)
    comparison = compared(facts_a.parts, facts_b.parts, titles, warm_up=warm_up)
    known = [row for row in comparison if np.isfinite(row.ns_a) and np.isfinite(row.ns_b)]
    if not known:
        raise ValueError(
            f"No operator has a known time in both {facts_a.title} and {facts_b.title}, so there "
            "is nothing to draw."
        )
    rows = known[:top]
    fills = {TimeVerdict.SLOWER: colors.warning, TimeVerdict.FASTER: colors.accent}
    labels, ids = [one_line(row.label) for row in rows], [row.brief_nodes for row in rows]
    columns = change_columns(rows) | {
        "a": [list(row.a) for row in rows],
        "b": [list(row.b) for row in rows],
        "operator": axis_names(labels, ids, width),
        "color": [fills.get(row.verdict, colors.muted) for row in rows],
        "a_text": [row.texts[0] if row.a else "no match" for row in rows],
        "b_text": [row.texts[1] if row.b else "no match" for row in rows],
        "change_text": [f"{change_text(row.change_ns)} ({speed_text(row.ratio)})" for row in rows],
    }
    notes = [f"{comparison.title} (A hollow, B filled)", comparison.sentence]
    if len(known) > top:
        notes.append(f"the {counted(top, 'row')} of {len(known):,} that changed most")
    unknown, why = len(comparison) - len(known), "of {} times is unknown"
    notes += left_out(
        unknown, len(comparison), f"one {why.format('its')}", f"one {why.format('their')}"
    )
    names = columns["operator"]
    chart = Chart(
        "Times of two runs", notes, columns, colors, width, rows=names, x_axis_label="time"
    )
    look: dict[str, Any] = {"line_color": "color", "line_width": 2}
    lines = chart.draw("segment", x0="ns_a", x1="ns_b", y0="operator", y1="operator", **look)
    look = {"fill_color": colors.background, "line_color": "color", "line_width": 1.5}
    before = chart.draw("scatter", x="ns_a", y="operator", size=9, **look)
    look = {"color": "color", "legend_group": "verdict"}
    after = chart.draw("scatter", x="ns_b", y="operator", size=9, **look)
    chart.scale("x", TIME_UNITS, start=0)
    tooltip = {
        "operator": "@operator",
        "A": "@a_text",
        "B": "@b_text",
        "B minus A": "@change_text",
        "verdict": "@verdict: @why",
        "match": "@match",
    }
    return chart.finished([before, after, lines], tooltip, facts_a, theme, "a")
