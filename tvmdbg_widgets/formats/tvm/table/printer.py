"""Printing the table of node times as TVM's debugger does.

``get_debug_result`` in ``python/tvm/contrib/debugger/debug_result.py`` @ v0.6.0 … v0.19.0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tvmdbg_widgets.formats.tvm.table.layout import TableLayout, canonical_layout, dashes
from tvmdbg_widgets.formats.tvm.table.rows import TOTAL_NAME
from tvmdbg_widgets.formats.tvm.table.table import DebuggerTable


@dataclass(frozen=True, slots=True)
class TimedNode:
    """An operator node with its measured repeats."""

    name: str
    func_name: str
    times_s: tuple[float, ...]
    shapes: tuple[tuple[int, ...], ...]
    num_inputs: int


def format_table(table: DebuggerTable) -> str:
    """Print a table that was read, as it stood in the text.

    Byte for byte what TVM printed if no line stood between the rows; every line ends as the header
    does, the last one has no line end.
    """
    lines = [row.cells for row in table.rows]
    if table.total_cells:
        lines.append(table.total_cells)
    return _format(table.layout, lines)


def bare_table(table: DebuggerTable) -> str:
    """Print a table that was read as TVM printed it: without marks of quotes or comments."""
    lines = [row.cells for row in table.rows]
    whole = canonical_layout(table.style, [*lines, *filter(None, [table.total_cells])])
    starts, length = table.layout.starts, table.layout.length
    if length is None and starts == whole.starts:
        length = whole.length
    layout = replace(table.layout, indent="", newline="\n", length=length)
    return format_table(replace(table, layout=layout))


def print_table(
    nodes: Sequence[TimedNode], *, style: str = "v0.9", sort_by_time: bool = True
) -> str:
    """Print the times of nodes."""
    if style not in ("v0.6", "v0.9"):
        raise ValueError(f"style must be 'v0.6' or 'v0.9', found {style!r}")
    rows: list[tuple[float, tuple[str, ...]]] = []
    times = [_time(node, style) for node in nodes]
    total = float(sum(times))
    for node, time in zip(nodes, times, strict=True):
        time_us = _rounded(time * 1e6, style)
        percent = _rounded(time / total * 100, style) if total else math.nan
        measurements = str([round(float(repeat) * 1e6, 3) for repeat in node.times_s])
        for shape in node.shapes:
            cells = (
                node.name,
                node.func_name,
                str(time_us),
                str(percent),
                str(tuple(int(size) for size in shape)),
                str(node.num_inputs),
                str(len(node.shapes)),
            )
            rows.append((time_us, (*cells, measurements) if style == "v0.9" else cells))
    if sort_by_time:
        rows.sort(key=lambda row: row[0], reverse=True)
    lines = [cells for _, cells in rows]
    if sort_by_time:
        rest = "-" * (5 if style == "v0.9" else 4)
        lines.append((TOTAL_NAME, "-", str(_rounded(total * 1e6, style)), *rest))
    return _format(canonical_layout(style, lines), lines)


def _time(node: TimedNode, style: str) -> float:
    if not node.times_s:
        raise ValueError(f"node {node.name!r} has no time")
    return float(np.mean(node.times_s)) if style == "v0.9" else node.times_s[0]


def _rounded(value: float, style: str) -> float:
    """Round as TVM does: from v0.9 the values are numpy's, whose ties differ from Python's."""
    return float(np.round(value, 3)) if style == "v0.9" else round(value, 3)


def _format(layout: TableLayout, lines: Iterable[Sequence[str]]) -> str:
    head = (layout.columns, dashes(layout.columns))
    return layout.newline.join(layout.join(cells) for cells in (*head, *lines))
