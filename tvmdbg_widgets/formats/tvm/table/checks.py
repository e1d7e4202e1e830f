"""Whether the parts of a printed table agree with each other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from tvmdbg_widgets.formats.tvm.table.layout import DECIMALS, TableLayout, canonical_layout
from tvmdbg_widgets.formats.tvm.table.rows import TableRow
from tvmdbg_widgets.model.base.issues import Issue, IssueSeverity
from tvmdbg_widgets.model.base.numbers import agree, counted


def check_table(
    rows: Sequence[TableRow],
    *,
    total_us: float | None,
    total_cells: tuple[str, ...],
    layout: TableLayout,
    file: str,
    truncated: bool,
) -> tuple[tuple[TableRow, ...], list[Issue]]:
    """Number the rows of each node and compare total, means and widths with the rows."""
    numbered, issues = _number_outputs(rows, layout, file)
    half_step = 0.5 * 10.0 ** -DECIMALS[layout.style]
    for row in numbered:
        mean = _mean(row.measurements_us)
        if abs(mean - row.time_us) > 2 * half_step + 1e-12 * abs(mean):
            text = (
                f"{row.name!r}: Time(us) is {row.time_us!r}, the mean of its measurements "
                f"{mean:.9g}"
            )
            issues.append(Issue("mean-disagrees", IssueSeverity.WARNING, text, file=file))
            break
    calls = [row for row in numbered if row.output == 0]
    if total_us is not None:
        times = math.fsum(row.time_us for row in calls if math.isfinite(row.time_us))
        slack = half_step * (len(calls) + 1) + 1e-12 * abs(times)
        if abs(times - total_us) > slack:
            said = (
                f"Total_time is {total_us!r} µs, the {counted(len(calls), 'node')} above "
                f"{agree(len(calls), 'takes', 'together take')} {times:.9g} µs: rows may be "
                "missing"
            )
            issues.append(Issue("total-disagrees", IssueSeverity.WARNING, said, file=file))
    elif layout.style != "v0.5" and not truncated and _descending(calls):
        told = (
            "the rows are sorted by time but no Total_time row follows: "
            "the text may be cut off behind the last row"
        )
        issues.append(Issue("no-total-row", IssueSeverity.NOTE, told, file=file))
    if total_us is None and not truncated:
        issues += _check_shares(calls, file)
    lines = [row.cells for row in numbered] + ([total_cells] if total_cells else [])
    issues += _check_widths(lines, layout, file)
    return numbered, issues


def _check_shares(calls: Sequence[TableRow], file: str) -> list[Issue]:
    shares = math.fsum(row.percent for row in calls)
    if not calls or not math.isfinite(shares) or abs(shares - 100) < 0.1 + 0.0051 * len(calls):
        return []
    text = f"the printed shares of {counted(len(calls), 'node')} add up to {shares:.4g} %, not to "
    text += "100 %: rows are missing, or stand twice"
    return [Issue("shares-disagree", IssueSeverity.WARNING, text, file=file)]


def _number_outputs(
    rows: Sequence[TableRow], layout: TableLayout, file: str
) -> tuple[tuple[TableRow, ...], list[Issue]]:
    shape = layout.columns.index("Shape")
    numbered: list[TableRow] = []
    broken: list[str] = []
    previous: tuple[str, ...] = ()
    for row in rows:
        call = row.cells[:shape] + row.cells[shape + 1 :]
        last = numbered[-1] if numbered else row
        output = last.output + 1 if call == previous and last.output + 1 < last.outputs else 0
        if output == 0 and numbered and last.output + 1 < last.outputs:
            broken.append(last.name)
        numbered.append(row._replace(output=output) if output else row)
        previous = call
    if numbered and numbered[-1].output + 1 < numbered[-1].outputs:
        broken.append(numbered[-1].name)
    if not broken:
        return tuple(numbered), []
    issue = Issue(
        "rows-missing",
        IssueSeverity.WARNING,
        f"{broken[0]!r} has fewer rows than outputs"
        + (f", as have {counted(len(broken) - 1, 'other')}" if len(broken) > 1 else ""),
        file=file,
    )
    return tuple(numbered), [issue]


def _check_widths(lines: Sequence[Sequence[str]], layout: TableLayout, file: str) -> list[Issue]:
    canonical = canonical_layout(layout.style, lines)
    actual = _widths(layout)
    for title, width, expected in zip(layout.columns, actual, _widths(canonical), strict=False):
        if width != expected:
            text = (
                f"column {title!r} is {width} wide where its cells need {expected}: "
                "a name ends in blanks, which print loses, or rows are missing"
            )
            return [Issue("blanks-lost", IssueSeverity.NOTE, text, file=file)]
    return []


def _widths(layout: TableLayout) -> list[int]:
    edges = [*layout.starts, *([] if layout.length is None else [layout.length])]
    return [end - start for start, end in itertools.pairwise(edges)]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def _descending(rows: Sequence[TableRow]) -> bool:
    return len(rows) > 4 and all(a.time_us >= b.time_us for a, b in itertools.pairwise(rows))
