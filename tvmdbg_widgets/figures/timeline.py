"""The timeline of a run as a figure: slices, charts, and tables of operators or sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.times.keys import has_modules, no_modules
from tvmdbg_widgets.analysis.times.operator_rows import operators
from tvmdbg_widgets.analysis.times.operators import OperatorRow, Operators
from tvmdbg_widgets.analysis.times.sums import times
from tvmdbg_widgets.analysis.times.table import TimeRow, TimeTable
from tvmdbg_widgets.answers.few_names import few_of_timeline, has_many
from tvmdbg_widgets.answers.kept_timeline import ALONG, first_bins
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.figures.run_figure import RunFigure, note, other_chart
from tvmdbg_widgets.figures.texts import CHARTS, SHOWN, SLICE_COLORS, SORTS, TABLES_BY
from tvmdbg_widgets.model.base.choice import one_of
from tvmdbg_widgets.model.base.numbers import Trust, counted, duration_text
from tvmdbg_widgets.model.graph.graph import Graph, node_op_kinds, shape_text
from tvmdbg_widgets.model.graph.operators import OP_KINDS, family
from tvmdbg_widgets.model.timeline.timeline import Timeline
from tvmdbg_widgets.model.timeline.words import (
    PRINTED_ONCE_AN_OUTPUT,
    TimelineWords,
    left_out,
    timeline_words,
)

Range = tuple[float, float]


@dataclass(frozen=True)
class TimelineFigureOptions:
    """Options of a timeline's figure; same names as traits of ``Flamechart``.

    ``selected`` are node ids.
    """

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
#: Bins of a row, about one per pixel column of a figure.
_FINE_BINS = 512


def timeline_figure(
    run: RunFacts,
    *,
    selected: Sequence[int] = (),
    width: float = 720,
    theme: str = "light",
    **more: Any,
) -> Figure:
    """Draw slices on a time axis, and a table of operators."""
    options = TimelineFigureOptions(selected=tuple(selected), **more)
    return timeline_request(run, options).figure(width=width, theme=theme)


def timeline_request(run: RunFacts, options: TimelineFigureOptions = _PLAIN) -> RunFigure:
    """Return the data and options of a timeline's figure."""
    timeline = run.timeline
    if timeline is None:
        return RunFigure.missing(run, "timeline")
    words = timeline_words(timeline, run.graph is not None)
    caption = words.said
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
        "words": f"{caption}. {table.operators.caption}",
        "notes": [note(caption, "warning" if timeline.synthetic else "muted")],
        "selected": list(options.selected),
        "chart": None,
        "table": None,
    }
    text = [f"{table.operators!r}\n({caption})"]
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
    """Return the range of time whose slices are fetched; None if bins suffice."""
    if time_range is not None or first_bins(len(timeline.rows)) >= _FINE_BINS:
        return time_range
    first = float(timeline.slice_start_ns.min())
    return first, first + timeline.span_ns


def _few(
    run: RunFacts, timeline: Timeline, data: dict[str, Any], time_range: Range | None
) -> dict[str, Reply]:
    """Answer timeline and graph of a huge run to its figure."""
    named = np.concatenate([_listed(data), seen_nodes(timeline, time_range)])
    return few_of_timeline(run, timeline, named)


def _listed(data: dict[str, Any]) -> npt.NDArray[np.int64]:
    rows = [*data["top"], *(data["table"] or {}).get("rows", ())]
    listed = [row["node"] for row in rows]
    names = (data["chart"] or {}).get("names")
    return np.array([*listed, *(names["node"] if names else ())], np.int64)


def seen_nodes(timeline: Timeline, time_range: Range | None) -> npt.NDArray[np.int32]:
    """Return the nodes of the longest slices in a range of time."""
    if time_range is None:
        return timeline.slice_node[:0]
    start, lasts = timeline.slice_start_ns, timeline.slice_duration_ns
    there = np.flatnonzero((start <= time_range[1]) & (start + lasts >= time_range[0]))
    return timeline.slice_node[there[np.argsort(-lasts[there], kind="stable")[:ALONG]]]


def _description(
    run: RunFacts,
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
        **{name: getattr(options, name) for name in ("show", "chart", "table_by", "sort")},
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


TOP = 10
_MOST_SUMMED = 14


@dataclass(frozen=True)
class OperatorTable:
    """Operators, and their table for ``js/src/timeline/figure_table.ts``."""

    operators: Operators
    data: dict[str, Any]


@dataclass(frozen=True)
class SummedTable:
    """Summed times as a table for ``figure_table.ts``, as text, and as facts."""

    data: dict[str, Any]
    text: str
    description: dict[str, Any] = field(default_factory=dict)


def operator_table(run: RunFacts, words: TimelineWords, sort: str) -> OperatorTable:
    """Return the slowest operators, or the first in execution order."""
    rows, which = _rows(run, words, sort)
    beside = _beside(words)
    largest = max((row.time_ns for row in rows if row.time_ns > 0), default=0.0) or 1.0
    graph = run.graph
    return OperatorTable(
        rows,
        {
            "notes": [note(which, "muted", 5)],
            "heads": ["slices" if words.by_name else "#", words.row, words.time, "share", beside],
            "rows": [
                {
                    "lead": f"{row.slices:,}"
                    if words.by_name
                    else f"#{row.node}"
                    if row.node >= 0
                    else "–",
                    "node": row.node,
                    "label": row.name,
                    "kind": row.op_kind,
                    "aside": _shapes(graph, row.node),
                    "time": row.time_text,
                    "share": row.share_text,
                    "bar": 0.0
                    if np.isnan(row.share)
                    else max(0.0, float(np.nan_to_num(row.time_ns))) / largest,
                    "more": _more(row, words) if beside else "",
                }
                for row in rows
            ],
            "below": [],
        },
    )


def _rows(run: RunFacts, words: TimelineWords, sort: str) -> tuple[Operators, str]:
    """Return the rows of the table, and a sentence on how they were chosen."""
    every = operators(run.parts)
    if sort == "time":
        rows = operators(run.parts, top=TOP)
        which = f"The slowest {counted(len(rows), words.row)}"
    else:
        rows = every[:TOP]
        which = f"The first {counted(len(rows), words.row)} in {words.order}"
    trusts = {row.trust for row in rows} - {Trust.EXACT, Trust.ABSENT}
    if run.graph is None:
        trusts.clear()
    unsure = "".join(f"; times matched {trust.label}" for trust in sorted(trusts))
    caption = f"{which}, of {len(every):,}; shares are {words.shares}{unsure}."
    if run.graph is not None and words.repeats:
        outputs = np.diff(run.graph.entry_offsets)
        if any(row.node >= 0 and outputs[row.node] > 1 for row in rows):
            caption += f" {PRINTED_ONCE_AN_OUTPUT}"
    return rows, caption


def _shapes(graph: Graph | None, node: int) -> str:
    """Return the shapes of a node's outputs: ``"1×64×8×8"``."""
    if graph is None or node < 0:
        return ""
    return ", ".join(
        "?" if shape is None else shape_text(shape) for shape in graph.nodes[node].shapes
    )


def _beside(words: TimelineWords) -> str:
    """Return the head of the last column, or "" if it is empty."""
    if words.by_name:
        return "total time" if words.time == "self time" else ""
    return "p10 – p90 of the repeats" if words.repeats else ""


def _more(row: OperatorRow, words: TimelineWords) -> str:
    if words.by_name:
        return row.text(row.within_ns)
    spread = row.spread_text.replace("…", "–") or "–"
    return f"{spread} noisy" if row.noisy else spread


def summed_table(run: RunFacts, by: str) -> SummedTable:
    """Return times by kind, group, …; see :meth:`~tvmdbg_widgets.DebugRun.times`."""
    graph, why = run.graph, ""
    if by == "group" and graph is None:
        why = "Groups come from the graph, and this run has none."
    elif by == "module" and not has_modules(graph):
        why = f"Modules are not known: {no_modules(graph)}"
    if why:
        return SummedTable({"notes": [note(why, "muted", 2)], "heads": [], "rows": []}, why)
    table = times(run.parts, lambda: run.groups, by)
    shown = table[:_MOST_SUMMED]
    caption = f"Time by {table.head}"
    if len(shown) < len(table):
        caption += f": the largest {counted(len(shown), 'row')} of {len(table):,}"
    caption += f"; shares are of {duration_text(table.total_ns)} {table.of}"
    caption += f"; {left_out(table.idle)}." if table.idle else "."
    sure = bool(np.isfinite(table.low).any())
    largest = float(table.ns[0]) if len(table) and table.ns[0] > 0 else 1.0
    more = len(table) - len(shown)
    below = [note(f"{more:,} more", "muted")] if more else []
    below += [note(text, "muted", 6) for text in table.notes[: 1 if table.overlap else 0]]
    data = {
        "notes": [note(caption, "muted", 3)],
        "heads": ["slices", table.head, "time", "share", "mean, 95 % CI" if sure else ""],
        "rows": [
            {
                "lead": f"{row.slices:,}",
                "node": row.key if graph is not None and row.nodes == (row.key,) else -1,
                "label": row.label,
                "kind": kind_of(table, row, graph),
                "aside": "",
                "time": row.text(row.ns),
                "share": row.share_text,
                "bar": 0.0 if np.isnan(row.share) else max(0.0, row.ns / largest),
                "more": _interval(row),
            }
            for row in shown
        ],
        "below": below,
    }
    return SummedTable(data, repr(table), {"table": _described(table)})


def _interval(row: TimeRow) -> str:
    if not np.isfinite(row.low):
        return ""
    text = f"{row.text(row.low)} … {row.text(row.high)}"
    return f"{text} noisy" if row.noisy else text


def kind_of(table: TimeTable, row: TimeRow, graph: Graph | None) -> str:
    """Return the op kind that colors a row; ``"other"`` if it has several."""
    if table.by == "kind":
        return row.label if row.label in OP_KINDS else "other"
    if table.by == "part":
        return family(row.label)
    if graph is None or not row.nodes or table.by in ("group", "device"):
        return "other"
    of_nodes = node_op_kinds(graph)
    kinds = {of_nodes[node] for node in row.nodes}
    return kinds.pop() if len(kinds) == 1 else "other"


def _described(table: TimeTable) -> dict[str, Any]:
    return {
        "by": table.by,
        "total_ns": table.total_ns,
        "overlap": table.overlap,
        "notes": list(table.notes),
        "rows": [
            {
                "key": row.key if isinstance(row.key, (int, str)) else list(row.key),
                "label": row.label,
                "nodes": list(row.nodes),
                "slices": row.slices,
                "ns": row.ns,
                "share": None if np.isnan(row.share) else row.share,
                "low_ns": None if np.isnan(row.low) else row.low,
                "high_ns": None if np.isnan(row.high) else row.high,
                "noisy": row.noisy,
            }
            for row in table[:_MOST_SUMMED]
        ],
    }
