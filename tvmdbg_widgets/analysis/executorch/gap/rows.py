"""What a comparison of a run with its reference found."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.executorch.gap.handle_index import Handles
from tvmdbg_widgets.analysis.executorch.gap.metrics import GapMetric
from tvmdbg_widgets.model.base.frames import data_frame
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line

_LINES_SHOWN = 40
_WIDTH = 60


@dataclass(frozen=True, slots=True, eq=False)
class GapRow:
    """One value of the run and what it should be, named as the Inspector's columns.

    Attributes
    ----------
    aot_debug_handle : tuple of int
    aot_ops : list of str
        Operators of the reference graph with these handles.
    aot_intermediate_output : numpy.ndarray or list of numpy.ndarray
    runtime_ops : list of str
        Names of the events.
    runtime_debug_handle : tuple of int
    runtime_intermediate_output : numpy.ndarray or list of numpy.ndarray
        As it was logged.
    gap : list of float
        One for each output.
    stacktraces : Mapping of str to str or None
        Source lines by operator.
    """

    aot_debug_handle: Handles
    aot_ops: list[str]
    aot_intermediate_output: Any
    runtime_ops: list[str]
    runtime_debug_handle: Handles
    runtime_intermediate_output: Any
    gap: list[float]
    stacktraces: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A reference value that was compared with nothing, and why."""

    key: Any
    handles: Handles
    reason: str


@dataclass(frozen=True, eq=False, repr=False)
class NumericGap:
    """The distance of each value of a run from its reference.

    Attributes
    ----------
    metric : Metric
    rows : tuple of GapRow
        In the order of the program.
    skipped : tuple of Skipped
        Reference values without a row.
    """

    metric: GapMetric
    rows: tuple[GapRow, ...]
    skipped: tuple[Skipped, ...] = ()

    @property
    def worst_first(self) -> tuple[GapRow, ...]:
        """The rows by their worst gap; one that is no number comes first unless nothing differs."""
        return tuple(sorted(self.rows, key=self._badness, reverse=True))

    def _badness(self, row: GapRow) -> float:
        several = isinstance(row.aot_intermediate_output, list)
        reference, runtime = (
            each if several else [each]
            for each in (row.aot_intermediate_output, row.runtime_intermediate_output)
        )
        found = []
        for gap, ours, theirs in zip(row.gap, reference, runtime, strict=True):
            if not math.isnan(gap):
                found.append(-gap if self.metric.falls else gap)
            elif not np.array_equal(np.ravel(ours), np.ravel(theirs)):
                found.append(math.inf)
        return max(found, default=-math.inf)

    def to_dataframe(self) -> Any:
        """Return a ``pandas.DataFrame`` with the columns of the Inspector's, a row each."""
        names = [field.name for field in fields(GapRow)] if self.rows else []
        return data_frame({name: [getattr(row, name) for row in self.rows] for name in names})

    @property
    def summary(self) -> str:
        """The counts in one line."""
        told = f"{self.metric.name} of {counted(len(self.rows), 'value')}"
        return f"{told}, {len(self.skipped):,} skipped" if self.skipped else told

    def _lines(self) -> Iterator[tuple[str, str, str]]:
        yield self.metric.name, "reference", "run"
        for row in self.worst_first[:_LINES_SHOWN]:
            gaps = ", ".join(f"{gap:.4g}" for gap in row.gap)
            operators = row.aot_ops or [str(handle) for handle in row.aot_debug_handle]
            yield gaps, _names(operators), _names(row.runtime_ops)
        for each in self.skipped[: max(0, _LINES_SHOWN - len(self.rows))]:
            yield "skipped", one_line(str(each.key)), one_line(each.reason)
        more = len(self.rows) + len(self.skipped) - _LINES_SHOWN
        if more > 0:
            yield "…", f"and {more:,} more", ""

    def __repr__(self) -> str:
        cells = list(self._lines())
        first, second = (max(len(row[column]) for row in cells) for column in (0, 1))
        lines = [f"{row[0]:<{first}}  {row[1]:<{second}}  {row[2]}".rstrip() for row in cells]
        return "\n".join([self.summary, *lines])

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._lines()
        )
        return f"<table><caption>{html.escape(self.summary)}</caption><tbody>{rows}</tbody></table>"


def _names(names: list[str]) -> str:
    """Return names in one line: of many the last, whose value it is, and how many precede it."""
    text = one_line(", ".join(names))
    if len(text) <= _WIDTH:
        return text
    return f"{one_line(names[-1])} (+{len(names) - 1})" if len(names) > 1 else text
