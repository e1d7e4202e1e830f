"""A roofline in sentences; views say the same."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.graph.labels import label

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.timeline.roofline import Point, Roofline

_LINES_SHOWN = 40
_SHORT = 50
_PREFIXES = ("", "k", "M", "G", "T", "P")

CONVENTION = (
    "counted from shapes: 1 multiply–add is 2 operations, also at padded positions; bytes are "
    "inputs and outputs once each, ignoring cache hits"
)


def significant(value: float) -> str:
    """Three significant digits: ``"12.3"``, ``"0.00417"``."""
    return f"{float(f'{value:.3g}'):g}"


def rate_text(value: float, unit: str) -> str:
    """``"12.3 GFLOP/s"``; ``"unknown"`` for NaN."""
    if math.isnan(value):
        return "unknown"
    power = 0
    scaled = value
    while float(f"{scaled:.3g}") >= 1000 and power < len(_PREFIXES) - 1:
        scaled /= 1000
        power += 1
    return f"{significant(scaled)} {_PREFIXES[power]}{unit}"


def sentences(roofline: Roofline) -> list[str]:
    """Return what is worth saying, the most telling first."""
    graph_nodes = roofline.work.operators
    times = np.nan_to_num(roofline.times_ns[graph_nodes])
    total = float(times.sum())
    flops = roofline.work.flops[graph_nodes]
    known = ~np.isnan(flops)
    seconds = float(times[known].sum()) * 1e-9
    rate = float(np.nansum(flops)) / seconds if seconds > 0 else math.nan
    share = float(times[known].sum()) / total if total else math.nan
    whole = (
        f"{rate_text(float(np.nansum(flops)), 'FLOP')} in "
        f"{counted(int(known.sum()), 'operator')}, {rate_text(rate, 'FLOP/s')} over their time; "
        f"{percent(share)} of the total time"
    )
    said = [whole]
    said.append(_ceilings(roofline))
    if roofline.unknown:
        slow = sum(point.time_ns for point in roofline.unknown if point.time_ns > 0)
        said.append(
            f"{counted(len(roofline.unknown), 'operator')} with unknown operations or bytes, "
            f"{percent(slow / total if total else math.nan)} of the time; each row says why"
        )
    integers = {point.dtype for point in roofline if "int" in point.dtype and point.flops > 0}
    if integers:
        said.append(f"operations on integers ({', '.join(sorted(integers))}) count the same")
    return [*said, CONVENTION]


def _ceilings(roofline: Roofline) -> str:
    if roofline.peak_flops is not None and roofline.bandwidth is not None:
        ridge = roofline.peak_flops / roofline.bandwidth
        slow = [point for point in roofline if point.bound == "memory"]
        return (
            f"ceilings given: {rate_text(roofline.peak_flops, 'FLOP/s')} and "
            f"{rate_text(roofline.bandwidth, 'B/s')}; they meet at {significant(ridge)} FLOP/B, "
            f"below which memory is the bound: {counted(len(slow), 'operator')}"
        )
    return (
        f"best measured: {rate_text(roofline.highest_flops, 'FLOP/s')} and "
        f"{rate_text(roofline.highest_bytes, 'B/s')}; the hardware peak is unknown: "
        "roofline(peak_flops=…, bandwidth=…)"
    )


def _rows(roofline: Roofline) -> list[tuple[str, ...]]:
    points = sorted(roofline, key=lambda point: -np.nan_to_num(point.time_ns))
    return [_row(roofline, point) for point in points]


def _row(roofline: Roofline, point: Point) -> tuple[str, ...]:
    graph = roofline.work.graph
    said = one_line(label(graph.func_names[point.node]) or point.name)
    name = said if len(said) <= _SHORT else said[: _SHORT - 1] + "…"
    about = "" if point.exact else "≈ "
    bound = "" if point.bound == "unknown" else f"{point.bound}, {percent(point.of_ceiling)}"
    told = "; ".join(point.why) or bound
    intensity = "-" if math.isnan(point.intensity) else significant(point.intensity)
    return (
        f"#{point.node}",
        name,
        duration_text(point.time_ns),
        about + rate_text(point.flops, "FLOP"),
        intensity,
        rate_text(point.flops_per_s, "FLOP/s"),
        rate_text(point.bytes_per_s, "B/s"),
        told,
    )


_HEAD = ("node", "operator", "time", "work", "FLOP/B", "computed", "moved", "bound by, or unknown")


def text_of(roofline: Roofline) -> str:
    """Return sentences and operators, the slowest first, a line each."""
    rows = _rows(roofline)
    shown = [_HEAD, *rows[:_LINES_SHOWN]]
    widths = [max(len(row[i]) for row in shown) for i in range(len(_HEAD))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in shown
    ]
    more = len(rows) - _LINES_SHOWN
    return "\n".join([*roofline.said, *lines, *([f"… and {more} more"] if more > 0 else [])])


def html_of(roofline: Roofline) -> str:
    """Return the same as HTML."""
    style = 'style="text-align: left; white-space: nowrap"'
    rows = _rows(roofline)
    body = "".join(
        "<tr>" + "".join(f"<td {style}>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows[:_LINES_SHOWN]
    )
    head = "".join(f"<th {style}>{each}</th>" for each in _HEAD)
    said = "<br>".join(map(html.escape, roofline.said))
    more = len(rows) - _LINES_SHOWN
    note = f"<p>… and {more} more</p>" if more > 0 else ""
    return f"<p>{said}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"
