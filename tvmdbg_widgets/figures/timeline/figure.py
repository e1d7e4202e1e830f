"""The timeline of a run as a figure: slices in time, and the slowest operators."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.analysis.times.operators import Operators
from tvmdbg_widgets.answers.answering import Reply
from tvmdbg_widgets.answers.kept_timeline import ALONG, first_bins
from tvmdbg_widgets.figures.choices import CHARTS, SHOWN, SLICE_COLORS, SORTS, TABLES_BY
from tvmdbg_widgets.figures.few_names import few_of_timeline, has_many
from tvmdbg_widgets.figures.figure import Figure
from tvmdbg_widgets.figures.run_figure import RunFigure, note
from tvmdbg_widgets.figures.timeline.charts import other_chart
from tvmdbg_widgets.figures.timeline.tables import operator_table, summed_table
from tvmdbg_widgets.model.base.choice import one_of
from tvmdbg_widgets.model.base.numbers import counted, duration_text
from tvmdbg_widgets.model.timeline.timeline import Timeline
from tvmdbg_widgets.model.timeline.words import TimelineWords, timeline_words

Range = tuple[float, float]


@dataclass(frozen=True)
class TimelineFigureOptions:
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


_PLAIN = TimelineFigureOptions()
#: Bins of a row of which a figure's columns are made, about one each.
_FINE_BINS = 512


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
    """Draw the slices of a run on a time axis, and operators as a table."""
    options = TimelineFigureOptions(
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
    return timeline_request(run, options).figure(width=width, theme=theme)


def timeline_request(run: Derived, options: TimelineFigureOptions = _PLAIN) -> RunFigure:
    """Return what the figure of a timeline is made of."""
    timeline = run.timeline
    if timeline is None:
        return RunFigure.missing(run, "timeline")
    words = timeline_words(timeline, run.graph is not None)
    said = words.said
    total = timeline.total_ns
    took = "no times known" if math.isnan(total) else f"{duration_text(total)} {words.together}"
    if words.by_name and timeline.num_slices:
        took = f"{duration_text(timeline.span_ns)} from first to last"
    slices = counted(int((timeline.slice_duration_ns > 0).sum()), "slice")
    table = operator_table(run, words, options.sort)
    data: dict[str, Any] = {
        "title": run.title,
        "detail": f"{slices}, {took}",
        "name": f"Timeline of {run.title}: {slices}, {took}",
        "words": f"{said}. {table.operators.caption}",
        "notes": [note(said, "warning" if timeline.synthetic else "muted")],
        "selected": list(options.selected),
        "chart": None,
        "table": None,
    }
    text = [f"{table.operators!r}\n({said})"]
    description = _description(run, timeline, table.operators, words, options)
    questions: list[str | dict[str, Any]] = ["timeline", "graph"]
    if timeline.num_slices and options.show != "table":
        if options.chart == "time":
            data["chart"] = {"kind": "time", "notes": []}
            if timeline.num_slices > ALONG and (seen := _seen(timeline, options.time_range)):
                questions.append({"kind": "window", "from": seen[0], "to": seen[1]})
        else:
            chart = other_chart(run, options.chart, (options.peak_flops, options.bandwidth))
            data["chart"] = chart.data
            text.insert(0, chart.text)
            description |= chart.description
            questions += chart.questions
    if options.table_by not in ("node", "change"):
        if options.show != "chart":
            summed = summed_table(run, options.table_by)
            data["table"] = summed.data
            text.insert(0, summed.text) if summed.description else text.append(summed.text)
            description |= summed.description
    elif len(table.operators) and (options.show != "chart" or not timeline.num_slices):
        data["table"] = table.data
    data["top"] = [{"node": row.node, "name": row.name} for row in table.operators]
    data["text"] = "\n".join(text)
    traits = {"slice_color": options.slice_color, "time_range": options.time_range}
    if not has_many(run):
        return RunFigure(run, "timeline", questions, data, traits, description=description)

    replies = partial(_few, run, timeline, data, options.time_range)
    return RunFigure(
        run, "timeline", questions[2:], data, traits, replies=replies, description=description
    )


def _seen(timeline: Timeline, time_range: Range | None) -> Range | None:
    """Return the part of the time of which bins tell too little, as they do where rows are many."""
    if time_range is not None or first_bins(len(timeline.rows)) >= _FINE_BINS:
        return time_range
    first = float(timeline.slice_start_ns.min())
    return first, first + timeline.span_ns


def _few(
    run: Derived, timeline: Timeline, data: dict[str, Any], time_range: Range | None
) -> dict[str, Reply]:
    """Answer what a figure of very many nodes is told."""
    named = np.concatenate([_listed(data), seen_nodes(timeline, time_range)])
    return few_of_timeline(run, timeline, named)


def _listed(data: dict[str, Any]) -> npt.NDArray[np.int64]:
    """Return the nodes that tables and charts list."""
    rows = [*data["top"], *(data["table"] or {}).get("rows", ())]
    listed = [row["node"] for row in rows]
    names = (data["chart"] or {}).get("names")
    return np.array([*listed, *(names["node"] if names else ())], np.int64)


def seen_nodes(timeline: Timeline, time_range: Range | None) -> npt.NDArray[np.int32]:
    """Return the nodes of the longest slices of a part of the time."""
    if time_range is None:
        return timeline.slice_node[:0]
    start, lasts = timeline.slice_start_ns, timeline.slice_duration_ns
    there = np.flatnonzero((start <= time_range[1]) & (start + lasts >= time_range[0]))
    return timeline.slice_node[there[np.argsort(-lasts[there], kind="stable")[:ALONG]]]


def _description(
    run: Derived,
    timeline: Timeline,
    top: Operators,
    words: TimelineWords,
    options: TimelineFigureOptions,
) -> dict[str, Any]:
    total = timeline.total_ns
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
                "name": row.name,
                "kind": row.op_kind,
                "time_ns": row.time_ns,
                "time_text": row.text(row.time_ns),
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
