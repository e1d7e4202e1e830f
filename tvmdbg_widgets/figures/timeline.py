"""The timeline of a run as a figure: slices in time, and the slowest operators."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.analysis.times.operators import Operators, operators
from tvmdbg_widgets.figures.choices import (
    CHARTS,
    SHOWN,
    SLICE_COLORS,
    SORTS,
    TABLES_BY,
    one_of,
    usable_width,
)
from tvmdbg_widgets.figures.missing import missing_panel
from tvmdbg_widgets.figures.slice_paint import SlicePaint
from tvmdbg_widgets.figures.svg import MARGIN, Panel
from tvmdbg_widgets.figures.theme import Theme, theme_of
from tvmdbg_widgets.figures.timeline_chart import Chart, Range, whole_range
from tvmdbg_widgets.figures.timeline_names import Names
from tvmdbg_widgets.figures.timeline_other import (
    OTHER_CHARTS,
    SUMMED_BY,
    draw_other,
    draw_summed,
)
from tvmdbg_widgets.figures.timeline_table import draw_table
from tvmdbg_widgets.model.base.numbers import counted, duration_text
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.timeline.words import PRINTED_ONCE_AN_OUTPUT, timeline_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.analysis.derived.derived import Derived
    from tvmdbg_widgets.figures.figure import Figure
    from tvmdbg_widgets.model.timeline.timeline import Timeline
    from tvmdbg_widgets.model.timeline.words import TimelineWords

TOP = 10


@dataclass(frozen=True)
class TimelineOptions:
    """How the timeline is shown; as of ``Flamechart``. ``selected`` are node ids."""

    show: str = "both"
    chart: str = "time"
    table_by: str = "node"
    sort: str = "time"
    slice_color: str = "auto"
    time_range: Range | None = None
    selected: tuple[int, ...] = ()
    peak_flops: float | None = None
    bandwidth: float | None = None

    def __post_init__(self) -> None:
        """Refuse what no timeline can show."""
        one_of("show", self.show, SHOWN)
        one_of("chart", self.chart, CHARTS)
        one_of("table_by", self.table_by, TABLES_BY)
        one_of("sort", self.sort, SORTS)
        one_of("slice_color", self.slice_color, SLICE_COLORS)
        if self.time_range is not None:
            start, end = self.time_range
            if not (math.isfinite(start) and math.isfinite(end) and start < end):
                raise ValueError(f"time_range is (start, end) in ns, found {self.time_range!r}")


_PLAIN = TimelineOptions()


def timeline_figure(
    run: Derived,
    *,
    show: str = "both",
    chart: str = "time",
    table_by: str = "node",
    sort: str = "time",
    slice_color: str = "auto",
    time_range: Range | None = None,
    selected: Sequence[int] = (),
    peak_flops: float | None = None,
    bandwidth: float | None = None,
    width: float = 720,
    theme: str = "light",
) -> Figure:
    """Draw the slices of a run on a time axis, and operators as a table.

    Parameters
    ----------
    show : str
        ``"chart"``, ``"table"`` or ``"both"``.
    chart : str
        ``"time"`` (tracks in time), ``"merged"`` (by path, the heaviest first), ``"folded"`` (all
        repeats as one), ``"repeats"`` (operators by repeats) or ``"roofline"`` (work against time).
    table_by : str
        What a row of the table sums up: ``"node"``, ``"kind"``, ``"part"``, ``"group"``,
        ``"device"``, ``"name"`` or ``"callers"``.
    sort : str
        The table of nodes holds the slowest (``"time"``) or the first in execution (``"order"``).
    slice_color : str
        ``"kind"``, ``"block"``, ``"share"``, or ``"auto"`` for what tells most.
    time_range : (float, float) or None
        Nanoseconds that the axis spans; the whole timeline where left out.
    selected : sequence of int
        Nodes that are marked.
    peak_flops, bandwidth : float or None
        Ceilings of the roofline: FLOP/s and byte/s.
    width : float
        px.
    theme : str
        ``"light"``, ``"dark"`` or ``"auto"``.

    Raises
    ------
    ValueError
        A value that is none of these.
    """
    options = TimelineOptions(
        show=show,
        chart=chart,
        table_by=table_by,
        sort=sort,
        slice_color=slice_color,
        time_range=time_range,
        selected=tuple(selected),
        peak_flops=peak_flops,
        bandwidth=bandwidth,
    )
    return timeline_panel(run, usable_width(width), theme_of(theme), options).figure()


def timeline_panel(
    run: Derived, width: float, theme: Theme, options: TimelineOptions = _PLAIN
) -> Panel:
    """Return the timeline as a panel."""
    timeline = run.timeline
    if timeline is None:
        return missing_panel(run, "timeline", width, theme)
    words = timeline_words(timeline, run.graph is not None)
    rows, which = _rows(run, words, options)
    said = words.said
    total = timeline.total_ns
    took = "no times known" if math.isnan(total) else f"{duration_text(total)} {words.together}"
    if words.by_name and timeline.num_slices:
        took = f"{duration_text(timeline.span_ns)} from first to last"
    slices = counted(int((timeline.slice_duration_ns > 0).sum()), "slice")
    title = f"Timeline of {run.title}: {slices}, {took}"
    panel = Panel(width, title, f"{said}. {rows.caption}", theme)
    panel.text = f"{rows!r}\n({said})"
    panel.description = _description(run, timeline, rows, words, options)
    y = panel.heading(run.title, f"{slices}, {took}")
    y = panel.paragraph(said, y, lines=4, fill=theme.warning if timeline.synthetic else theme.muted)
    paint = SlicePaint.of(theme, run, timeline, options.slice_color)
    in_time = options.chart not in OTHER_CHARTS
    charted = bool(timeline.num_slices) and options.show != "table" and in_time
    if charted:
        whole = whole_range(timeline)
        shown = options.time_range or whole
        if shown != whole:
            note = (
                f"Shown: {duration_text(shown[0])} to {duration_text(shown[1])} of "
                f"{duration_text(whole[0])} to {duration_text(whole[1])}."
            )
            y = panel.paragraph(note, y, lines=2, fill=theme.muted)
        chart = Chart(panel, timeline, run.graph, shown, options.selected, paint=paint)
        y = chart.draw(y + 4)
    elif timeline.num_slices and options.show != "table":
        ceilings = options.peak_flops, options.bandwidth
        y = draw_other(
            panel, run, options.chart, y, options.selected, paint=paint, ceilings=ceilings
        )
    if options.table_by in SUMMED_BY:
        if options.show != "chart":
            y = draw_summed(panel, run, options.table_by, y)
    elif len(rows) and (options.show != "chart" or not timeline.num_slices):
        y = panel.paragraph(which, y + 4, lines=5, fill=theme.muted)
        names = Names(timeline, run.graph)
        y = draw_table(panel, names, rows, words, y, paint=paint, selected=options.selected)
    panel.height = y + MARGIN
    return panel


def _rows(run: Derived, words: TimelineWords, options: TimelineOptions) -> tuple[Operators, str]:
    """Return the rows of the table, and which they are."""
    every = operators(run.parts)
    if options.sort == "time":
        rows = operators(run.parts, top=TOP)
        which = f"The slowest {counted(len(rows), words.row)}"
    else:
        rows = every[:TOP]
        which = f"The first {counted(len(rows), words.row)} in {words.order}"
    trusts = {row.trust for row in rows} - {Trust.EXACT, Trust.ABSENT}
    if run.graph is None:
        trusts.clear()
    unsure = "".join(f"; times matched {trust.label}" for trust in sorted(trusts))
    said = f"{which}, of {len(every):,}; shares are {words.shares}{unsure}."
    if run.graph is not None and words.repeats:
        outputs = np.diff(run.graph.entry_offsets)
        if any(outputs[row.node] > 1 for row in rows):
            said += f" {PRINTED_ONCE_AN_OUTPUT}"
    return rows, said


def _description(
    run: Derived,
    timeline: Timeline,
    top: Operators,
    words: TimelineWords,
    options: TimelineOptions,
) -> dict[str, Any]:
    total = timeline.total_ns
    names = Names(timeline, run.graph)
    return {
        "view": "timeline",
        "title": run.title,
        "synthetic": timeline.synthetic,
        "clock": timeline.clock,
        "said": words.said,
        "words": words.to_json(),
        "nested": list(timeline.nesting.nested),
        "show": options.show,
        "chart": options.chart,
        "table_by": options.table_by,
        "sort": options.sort,
        "time_range": None if options.time_range is None else list(options.time_range),
        "selected": list(options.selected),
        "total_ns": None if math.isnan(total) else total,
        "total_text": duration_text(total),
        "tracks": list(timeline.tracks),
        "slices": timeline.num_slices,
        "top": [
            {
                "node": row.node,
                "label": names.row(row.node, row.name),
                "name": row.name,
                "kind": row.op_kind,
                "time_ns": row.time_ns,
                "time_text": duration_text(row.time_ns),
                "share": None if math.isnan(row.share) else row.share,
                "repeats": row.repeats,
                "p10_ns": None if math.isnan(row.p10_ns) else row.p10_ns,
                "p90_ns": None if math.isnan(row.p90_ns) else row.p90_ns,
                "noisy": row.noisy,
                "trust": row.trust.label,
                "slices": row.slices,
                "within_ns": None if math.isnan(row.within_ns) else row.within_ns,
            }
            for row in top
        ],
    }
