"""A critical path in sentences; views say the same."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING

from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.graph.node_words import node_label

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.timeline.critical_path import CriticalPath

_LINES_SHOWN = 40
_SHORT = 60


def sentences(path: CriticalPath) -> list[str]:
    """Return what is worth saying of a path, the most telling first."""
    together = duration_text(path.total_ns)
    ran = len(path.operators)
    least = "at least " if len(path.untimed) else ""
    length = (
        f"critical path: {least}{duration_text(path.length_ns)} in {counted(ran, 'operator')}, "
        f"{percent(path.share)} of the {together} of all nodes"
    )
    said = [length]
    if path.sequential:
        said.append(
            "lower bound if branches ran in parallel: here nodes ran one after the other, so every "
            "one of them delays the end, on the path or not"
        )
    if not math.isnan(path.measured_ns):
        said.append(_measured(path))
    if len(path.untimed):
        said.append(f"{counted(len(path.untimed), 'operator')} without a time: counted as zero")
    if path.ambiguous:
        said.append(f"{counted(path.ambiguous, 'edge')} left out: they may come from another node")
    if path.unsettled:
        said.append(f"{counted(path.unsettled, 'node')} on a cycle or behind one: on no path")
    return said


def _measured(path: CriticalPath) -> str:
    seen = duration_text(path.measured_ns)
    rest = path.measured_ns - path.length_ns
    if rest < 0:
        return (
            f"from first start to last end {seen} were measured, less than the path: times of "
            "nodes are not of that pass alone"
        )
    return (
        f"from first start to last end {seen} were measured: {duration_text(rest)} more than the "
        "path, when nodes waited for something other than their inputs, or nothing was recorded"
    )


def node_text(path: CriticalPath, node: int) -> str:
    """``"conv2d + add"``."""
    graph = path.graph
    said = one_line(node_label(graph, node))
    return said if len(said) <= _SHORT else said[: _SHORT - 1] + "…"


def _rows(path: CriticalPath) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for node in path.operators.tolist():
        time = float(path.times_ns[node])
        share = time / path.length_ns if path.length_ns > 0 else math.nan
        found.append((f"#{node}", node_text(path, node), duration_text(time), percent(share)))
    return found


def text_of(path: CriticalPath) -> str:
    """Return sentences and nodes, a line each."""
    rows = [("node", "operator", "time", "of the path"), *_rows(path)]
    shown = rows[: _LINES_SHOWN + 1]
    widths = [max(len(row[i]) for row in shown) for i in range(4)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in shown
    ]
    more = len(rows) - len(shown)
    return "\n".join([*path.said, *lines, *([f"… and {more} more"] if more else [])])


def html_of(path: CriticalPath) -> str:
    """Return the same as HTML."""
    style = 'style="text-align: left; white-space: nowrap"'
    rows = _rows(path)
    body = "".join(
        "<tr>" + "".join(f"<td {style}>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows[:_LINES_SHOWN]
    )
    head = "".join(f"<th {style}>{each}</th>" for each in ("node", "operator", "time", "of path"))
    said = "<br>".join(map(html.escape, path.said))
    more = len(rows) - _LINES_SHOWN
    note = f"<p>… and {more} more</p>" if more > 0 else ""
    return f"<p>{said}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"
