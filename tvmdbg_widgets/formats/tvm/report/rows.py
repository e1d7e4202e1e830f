"""Rows of metrics to the columns of a report, and whether they agree with each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tvmdbg_widgets.formats.tvm.report.numbers import LONGEST
from tvmdbg_widgets.model.base.issues import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.base.numbers import agree, as_float, counted
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.timeline.report import Metric, Report

Row = Mapping[str, Metric]

NAME, DURATION, PERCENT, COUNT = "Name", "Duration (us)", "Percent", "Count"
DEVICE, SHAPES, HASH = "Device", "Argument Shapes", "Hash"
KNOWN = (NAME, DURATION, PERCENT, COUNT, DEVICE, SHAPES, HASH)
#: Value key of each metric class (``src/runtime/profiling.cc @ v0.19.0``, ``Report::AsJSON``).
KINDS = {DURATION: "microseconds", PERCENT: "percent", COUNT: "count"}
_LARGEST_COUNT = 2**63 - 1


def make_report(
    rows: Sequence[Row],
    *,
    form: str,
    file: str,
    rounding_us: Callable[[Metric], float],
    device_metrics: Mapping[str, Row] | None = None,
    configuration: Row | None = None,
    in_call_order: bool = True,
    truncated: bool = False,
    issues: Iterable[Issue] = (),
) -> Report:
    """Make a report of rows of metrics."""
    columns = _ReportColumns(rows, file)
    durations = columns.numbers(DURATION)
    counts = columns.whole(COUNT)
    percents = columns.numbers(PERCENT)
    others = dict.fromkeys(name for row in rows for name in row if name not in KNOWN)
    metrics = {name: tuple(row.get(name) for row in rows) for name in others}
    rounding = [
        rounding_us(row[DURATION]) if DURATION in row and math.isfinite(us) else 0.0
        for row, us in zip(rows, durations, strict=True)
    ]
    report = Report(
        names=columns.strings(NAME),
        duration_ns=np.asarray([us * 1e3 for us in durations], np.float64),
        rounding_ns=np.asarray(rounding, np.float64) * 1e3,
        count=np.asarray(counts, np.int64),
        percent=np.asarray(percents, np.float64),
        devices=columns.strings(DEVICE),
        argument_shapes=columns.strings(SHAPES),
        hashes=columns.strings(HASH),
        metrics=metrics,
        device_metrics=device_metrics or {},
        configuration=configuration or {},
        form=form,
        in_call_order=in_call_order,
        truncated=truncated,
        issues=Issues((*issues, *columns.issues)),
        file=file,
    )
    found = _percents(report)
    if found is not None:
        object.__setattr__(report, "issues", Issues((*report.issues, found)))
    return report


class _ReportColumns:
    def __init__(self, rows: Sequence[Row], file: str) -> None:
        self.rows = rows
        self.file = file
        self.issues: list[Issue] = []

    def strings(self, name: str) -> StringColumn:
        """Return the texts of a column, empty where absent or of another kind."""
        wrong = [i for i, row in enumerate(self.rows) if name in row and not _is_text(row[name])]
        self._report("metric-not-text", name, "string", wrong)
        texts = [
            row[name].value if name in row and _is_text(row[name]) else "" for row in self.rows
        ]
        return StringColumn.from_strings(texts)

    def numbers(self, name: str) -> list[float]:
        """Return the numbers of a column, NaN where absent or of another kind."""
        wrong = [i for i, row in enumerate(self.rows) if name in row and not _fits(row[name], name)]
        self._report("metric-not-a-number", name, KINDS[name], wrong)
        return [
            as_float(row[name].value) if name in row and _fits(row[name], name) else math.nan
            for row in self.rows
        ]

    def whole(self, name: str) -> list[int]:
        """Return the whole numbers of a column, 0 where absent or of another kind."""
        fits = [name in row and _is_count(row[name]) for row in self.rows]
        wrong = [i for i, row in enumerate(self.rows) if name in row and not fits[i]]
        kind = f"{KINDS[name]}, at most {_LARGEST_COUNT}"
        self._report("metric-not-a-number", name, kind, wrong)
        return [row[name].value if fit else 0 for row, fit in zip(self.rows, fits, strict=True)]

    def _report(self, rule: str, name: str, kind: str, rows: list[int]) -> None:
        if not rows:
            return
        metric = self.rows[rows[0]][name]
        more = f" ({counted(len(rows), 'such row')})" if len(rows) > 1 else ""
        limit = f" in at most {LONGEST} characters" if len(metric.text) > LONGEST else ""
        text = (
            f"row {rows[0]}: {name!r} is {one_line(f'{metric.kind} {metric.text}'[:60])!r}, "
            f"expected {kind}{limit}; it is left out{more}"
        )
        self.issues.append(Issue(rule, IssueSeverity.WARNING, text, file=self.file))


def _is_text(metric: Metric) -> bool:
    return isinstance(metric.value, str)


def _fits(metric: Metric, name: str) -> bool:
    numeric = isinstance(metric.value, int | float) and not isinstance(metric.value, bool)
    return numeric and metric.kind in (KINDS[name], "text")


def _is_count(metric: Metric) -> bool:
    value: Any = metric.value
    whole = isinstance(value, int) and not isinstance(value, bool)
    return whole and 0 <= value <= _LARGEST_COUNT


def _percents(report: Report) -> Issue | None:
    """Compare the percents with the durations over the largest device total, as TVM makes them."""
    totals = [ns for ns in report.device_ns.values() if math.isfinite(ns) and ns > 0]
    if not totals or not len(report):
        return None
    whole = max(totals)
    with np.errstate(invalid="ignore", over="ignore"):
        computed = report.duration_ns / whole * 100
        slack = 0.0051 * np.maximum(report.count, 1) + report.rounding_ns / whole * 100
        apart = np.flatnonzero(np.abs(report.percent - computed) > slack + 1e-6 * np.abs(computed))
    if not len(apart):
        return None
    first = int(apart[0])
    text = (
        f"{len(apart)} of {counted(len(report), 'percent')} {agree(len(apart), 'is')} not the "
        "row's time over the largest device "
        f"total ({whole / 1e3:.9g} µs): row {first} says {report.percent[first]:.9g} %, its time "
        f"gives {computed[first]:.9g} %; the report's own is kept"
    )
    return Issue("percent-disagrees", IssueSeverity.WARNING, text, file=report.file)
