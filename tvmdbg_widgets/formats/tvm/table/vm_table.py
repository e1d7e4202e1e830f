"""The table that the Relay VM's profiler printed before v0.8 (``get_stat``).

``src/runtime/vm/profiler/vm.cc`` @ v0.7.0: ``#OpName`` (``#OpNameNShape`` with shapes) padded to
80, a tab, ``#InvokeCount`` padded to 10, a tab, ``#Duration(us): Sum/Mean/Min/Max``; a row a
function, sorted by time or in the order of a hash map; numbers with six significant digits.
"""

from __future__ import annotations

import itertools
import re

from tvmdbg_widgets.formats.tvm.report.numbers import general_rounding, parse_number
from tvmdbg_widgets.formats.tvm.report.report import with_several
from tvmdbg_widgets.formats.tvm.report.rows import COUNT, DURATION, NAME, SHAPES, make_report
from tvmdbg_widgets.formats.tvm.times_text import decode, read_text
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.issues import Issue, IssueSeverity
from tvmdbg_widgets.model.base.numbers import as_float, counted
from tvmdbg_widgets.model.timeline.report import Metric, Report
from tvmdbg_widgets.sources.byte_source import ByteSource

_HEADING = re.compile(
    r"#OpName(NShape)?\s+#InvokeCount\s+#Duration\(us\): Sum/Mean/Min/Max\s*", re.ASCII
)
_VALUE = r"([^\s/]{1,40})"
_COUNT = re.compile(r"[0-9]{1,18}")
_VALUES = re.compile("/".join([_VALUE] * 4))
_TOTAL = re.compile(
    rf"Total Duration:? {_VALUE} us\.?(?:\s+Total Packed Functions: ([0-9]{{1,18}}))?\s*", re.ASCII
)
_LONGEST = 1 << 16


def sniff(head: bytes) -> bool:
    """Tell whether these bytes hold the heading of such a table."""
    text = decode(head, "")[0]
    return "#OpName" in text and any(map(_HEADING.fullmatch, text.split("\n")))


def read_vm_table(source: ByteSource) -> Report:
    """Read the last such table of a text as a report whose rows stand for all calls of a function.

    ``Duration (us)`` is the sum; ``Mean (us)``, ``Min (us)``, ``Max (us)`` are among the metrics.
    Issues: ``report-cut``, ``total-disagrees``, ``rows-interrupted``, ``several-tables``,
    ``not-text``.
    """
    reports = read_vm_tables(source)
    return with_several(reports[-1], len(reports))


def read_vm_tables(source: ByteSource) -> tuple[Report, ...]:
    """Read every such table of a text."""
    text, issues = read_text(source)
    lines = [line[:_LONGEST] for line in text.split("\n")]
    headings = [i for i, line in enumerate(lines) if _HEADING.fullmatch(line)]
    if not headings:
        raise FormatError(
            "no table of the VM profiler in this text",
            file=source.name,
            expected="a line '#OpName  #InvokeCount  #Duration(us): Sum/Mean/Min/Max'",
            found=repr(text[:60]),
        )
    parts = itertools.pairwise([*headings, len(lines)])
    reports = tuple(_report(lines[start:end], source.name, issues) for start, end in parts)
    if not any(map(len, reports)) and any(map(str.strip, lines[headings[0] + 1 :])):
        raise FormatError(
            "no row of this table of the VM profiler can be read",
            file=source.name,
            field=f"line {headings[0] + 2}",
            expected="a function, a number of calls and four times with '/' between them",
            found=repr(lines[headings[0] + 1][:60]),
            hint="Save what the profiler prints, as it is.",
        )
    return reports


def _report(lines: list[str], file: str, issues: list[Issue]) -> Report:
    with_shapes = "#OpNameNShape" in lines[0]
    rows: list[dict[str, Metric]] = []
    total: tuple[float, int | None] | None = None
    strange = 0
    for line in lines[1:]:
        ended = _TOTAL.fullmatch(line)
        if ended is not None and (number := parse_number(ended[1])) is not None:
            total = (float(number), int(ended[2]) if ended[2] else None)
            break
        row = _row(line, with_shapes)
        if row is not None:
            rows.append(row)
        elif line.strip():
            strange += 1
    return make_report(
        rows,
        form="vm-table",
        file=file,
        rounding_us=lambda metric: general_rounding(as_float(metric.value)),
        in_call_order=False,
        truncated=total is None,
        issues=[*issues, *_checks(rows, total, strange, file)],
    )


def _row(line: str, with_shapes: bool) -> dict[str, Metric] | None:
    cells = line.rsplit(None, 2)
    if len(cells) == 2 and line[0].isspace():
        cells.insert(0, "")
    values = _VALUES.fullmatch(cells[-1]) if len(cells) == 3 else None
    if values is None or not _COUNT.fullmatch(cells[1]):
        return None
    called, count, _ = cells
    if not with_shapes and called.split() != ([called] if called else []):
        return None
    numbers = [parse_number(each) for each in values.groups()]
    if any(number is None for number in numbers):
        return None
    name, _, shapes = called.partition(" ") if with_shapes else (called, "", "")
    row = {NAME: Metric("string", name, name)}
    if shapes:
        row[SHAPES] = Metric("string", shapes, shapes)
    row[COUNT] = Metric("count", int(count), count)
    titles = (DURATION, "Mean (us)", "Min (us)", "Max (us)")
    for title, number, text in zip(titles, numbers, values.groups(), strict=True):
        row[title] = Metric("microseconds", number, text)
    return row


def _checks(
    rows: list[dict[str, Metric]], total: tuple[float, int | None] | None, strange: int, file: str
) -> list[Issue]:
    issues = []
    if strange:
        text = f"{counted(strange, 'line')} between the rows left out: no rows of the table"
        issues.append(Issue("rows-interrupted", IssueSeverity.WARNING, text, file=file))
    if total is None:
        what = "the line 'Total Duration' is missing: the text may be cut off behind the last row"
        return [*issues, Issue("report-cut", IssueSeverity.WARNING, what, file=file)]
    times = sum(float(row[DURATION].value) for row in rows)
    calls = sum(int(row[COUNT].value) for row in rows)
    slack = general_rounding(total[0]) + sum(
        general_rounding(as_float(row[DURATION].value)) for row in rows
    )
    if total[1] not in (None, calls) or abs(times - total[0]) > 1.01 * slack:
        said = (
            f"the last line says {total[0]:.9g} µs in {counted(total[1] or calls, 'call')}, "
            f"the rows give {times:.9g} µs in {calls}: rows may be missing"
        )
        issues.append(Issue("total-disagrees", IssueSeverity.WARNING, said, file=file))
    return issues
