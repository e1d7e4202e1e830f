"""``tvmdbg table --by``: times summed by a property of operators."""

from __future__ import annotations

import csv
import math
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.cli.common.terminal import grid, note
from tvmdbg_widgets.model.base.text import one_line

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.times.table import TimeRow, TimeTable

TableBy = StrEnum("TableBy", "NODE KIND PART GROUP MODULE DEVICE NAME CALLERS TRACK")


def show(table: TimeTable, top: int | None) -> None:
    """Print the table with its caption and notes."""
    note(table.caption)
    head, cells = table.cells(top)
    right = tuple(range(1, len(head)))
    grid(head, cells, right=right, give=0, drop=tuple(range(len(head) - 1, 3, -1)))
    for text in table.notes:
        note(text)


def as_json(table: TimeTable, top: int | None) -> dict[str, Any]:
    """Return the table as an object."""
    return {
        "run": table.title,
        "by": table.by,
        "total_ns": table.total_ns,
        "overlap": table.overlap,
        "notes": list(table.notes),
        "rows": [_record(row) for row in table[:top]],
    }


def write_csv(table: TimeTable, top: int | None) -> None:
    """Write CSV by RFC 4180; unknown numbers are empty, nodes separated by spaces."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    rows = [_record(row) for row in table[:top]]
    writer.writerow(_FIELDS)
    for row in rows:
        writer.writerow([csv_cell(row[name]) for name in _FIELDS])


_TIMES = ("minimum", "mean", "p50", "p90", "maximum", "low", "high")
_FIELDS = (
    *("key", "label", "nodes", "slices", "ns", "share", "cumulative"),
    *(f"{name}_ns" for name in _TIMES),
    "noisy",
)


def _record(row: TimeRow) -> dict[str, Any]:
    key = " ← ".join(row.key) if isinstance(row.key, tuple) else row.key
    return {
        "key": key,
        "label": row.label,
        "nodes": list(row.nodes),
        "slices": row.slices,
        "ns": row.ns,
        "share": row.share,
        "cumulative": row.cumulative,
        **{f"{name}_ns": getattr(row, name) for name in _TIMES},
        "noisy": row.noisy,
    }


def csv_cell(value: Any) -> Any:
    """Return a value for CSV: NaN is empty, lists are separated by spaces, texts one line."""
    if isinstance(value, list | tuple):
        return " ".join(map(str, value))
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(value)
    return one_line(value) if isinstance(value, str) else value
