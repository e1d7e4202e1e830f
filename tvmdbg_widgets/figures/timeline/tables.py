"""Tables of times below a timeline: its operators, or what they are summed up by."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.analysis.times.modules import has_modules, no_modules
from tvmdbg_widgets.analysis.times.operator_rows import operators
from tvmdbg_widgets.analysis.times.operators import OperatorRow, Operators
from tvmdbg_widgets.analysis.times.table import TimeRow, TimeTable
from tvmdbg_widgets.figures.run_figure import note
from tvmdbg_widgets.model.base.numbers import counted, duration_text
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.node_words import node_op_kinds, shape_text
from tvmdbg_widgets.model.graph.operators import OP_KINDS, family
from tvmdbg_widgets.model.timeline.words import PRINTED_ONCE_AN_OUTPUT, TimelineWords, left_out

TOP = 10
_MOST_SUMMED = 14


@dataclass(frozen=True)
class OperatorTable:
    """The operators of a table, and the table as ``js/src/timeline/figure`` draws it."""

    operators: Operators
    data: dict[str, Any]


@dataclass(frozen=True)
class SummedTable:
    """A table of sums as ``js/src/timeline/figure`` draws it, as text, and as facts."""

    data: dict[str, Any]
    text: str
    description: dict[str, Any] = field(default_factory=dict)


def operator_table(run: Derived, words: TimelineWords, sort: str) -> OperatorTable:
    """Return the slowest operators, or the first in execution."""
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


def _rows(run: Derived, words: TimelineWords, sort: str) -> tuple[Operators, str]:
    """Return the rows of the table, and which they are."""
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
    said = f"{which}, of {len(every):,}; shares are {words.shares}{unsure}."
    if run.graph is not None and words.repeats:
        outputs = np.diff(run.graph.entry_offsets)
        if any(row.node >= 0 and outputs[row.node] > 1 for row in rows):
            said += f" {PRINTED_ONCE_AN_OUTPUT}"
    return rows, said


def _shapes(graph: Graph | None, node: int) -> str:
    """Return the shapes of a node's outputs, ``"1×64×8×8"``."""
    if graph is None or node < 0:
        return ""
    return ", ".join("?" if each is None else shape_text(each) for each in graph.nodes[node].shapes)


def _beside(words: TimelineWords) -> str:
    """Head of the last column; ``""`` where there is nothing to say in it."""
    if words.by_name:
        return "total time" if words.time == "self time" else ""
    return "p10 – p90 of the repeats" if words.repeats else ""


def _more(row: OperatorRow, words: TimelineWords) -> str:
    if words.by_name:
        return row.text(row.within_ns)
    said = row.spread_text.replace("…", "–") or "–"
    return f"{said} noisy" if row.noisy else said


def summed_table(run: Derived, by: str) -> SummedTable:
    """Return times by one thing; see :meth:`~tvmdbg_widgets.DebugRun.times`."""
    graph = run.graph
    if by == "group" and graph is None:
        why = "Groups come from the graph, and this run has none."
        return SummedTable({"notes": [note(why, "muted", 2)], "heads": [], "rows": []}, why)
    if by == "module" and not has_modules(graph):
        why = f"Modules are not known: {no_modules(graph)}"
        return SummedTable({"notes": [note(why, "muted", 2)], "heads": [], "rows": []}, why)
    table = run.times(by)
    shown = table[:_MOST_SUMMED]
    said = f"Time by {table.head}"
    if len(shown) < len(table):
        said += f": the largest {counted(len(shown), 'row')} of {len(table):,}"
    said += f"; shares are of {duration_text(table.total_ns)} {table.of}"
    said += f"; {left_out(table.idle)}." if table.idle else "."
    sure = bool(np.isfinite(table.low).any())
    largest = float(table.ns[0]) if len(table) and table.ns[0] > 0 else 1.0
    more = len(table) - len(shown)
    below = [note(f"{more:,} more", "muted")] if more else []
    below += [note(each, "muted", 6) for each in table.notes[: 1 if table.overlap else 0]]
    data = {
        "notes": [note(said, "muted", 3)],
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
    said = f"{row.text(row.low)} … {row.text(row.high)}"
    return f"{said} noisy" if row.noisy else said


def kind_of(table: TimeTable, row: TimeRow, graph: Graph | None) -> str:
    """Return the op kind that colors a row; ``"other"`` where it holds several."""
    if table.by == "kind":
        return row.label if row.label in OP_KINDS else "other"
    if table.by == "part":
        return family(row.label)
    if graph is None or not row.nodes or table.by in ("group", "device"):
        return "other"
    kinds = node_op_kinds(graph)
    found = {kinds[node] for node in row.nodes}
    return found.pop() if len(found) == 1 else "other"


def _described(table: TimeTable) -> dict[str, Any]:
    """Return the rows that are drawn as facts."""
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
