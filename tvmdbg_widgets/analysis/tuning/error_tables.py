"""Errors of trials by task, round, session, unroll setting and thread count.

A run timeout may be logged as RuntimeDeviceError (4): with the RPC runner its expiry is an ordinary
exception (``_rpc_run``, python/tvm/auto_scheduler/measure.py), and only ``all_cost`` at or above
the timeout reveals it.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent, text_lines
from tvmdbg_widgets.model.base.text import data_frame, one_line
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.model.tuning.trials import Trials

if TYPE_CHECKING:
    import pandas as pd


Bools = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

RUN_TIMEOUT = 10.0  # seconds: default ``timeout`` of LocalRunner and RPCRunner
_PROBABLY, _FAST = "probably run timeout", "fast failure"
#: Console glyphs by outcome: build, then run (measure.py with verbose >= 1).
_GLYPHS = {0: ".*", 1: ".E", 2: ".E", 3: ".*E", 4: ".*E", 6: ".T", 7: ".*T"}


def hidden_run_timeouts(trials: Trials) -> Bools:
    """Return which trials failed with RuntimeDeviceError (4) after the run timeout (bool [N])."""
    failed = trials.error == MeasureError.RUNTIME_DEVICE
    return np.asarray(failed & (trials.all_cost >= RUN_TIMEOUT))


def glyph_counts(trials: Trials) -> dict[str, int]:
    """Return the number of console glyphs of these trials, by their errors."""
    return shown_glyphs("".join(_GLYPHS.get(code, "") for code in trials.error.tolist()))


def shown_glyphs(glyphs: str) -> dict[str, int]:
    """Return the counts of the glyphs that the console showed."""
    counts = dict.fromkeys((".", ".E", ".T", "*", "*E", "*T"), 0)
    for glyph in re.findall(r"[.*][ET]?", glyphs):
        counts[glyph] += 1
    return counts


def wasted_seconds(trials: Trials) -> float:
    """Return the seconds of timed-out builds; builds run in parallel, so this is no wall time."""
    return sum(trials.all_cost[trials.error == MeasureError.BUILD_TIMEOUT].tolist(), 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class ErrorTable:
    """Errors of G groups of trials.

    Attributes
    ----------
    by : str
        ``"task"``, ``"round"``, ``"session"``, ``"unroll"`` or ``"threads"``.
    keys : int64 [G]
        Task, round or session, ``auto_unroll_max_step`` (-1: none), threads (0: no GPU).
    labels : tuple of str
    trials, valid : int64 [G]
        All, and those with a measurement.
    kinds : tuple of str
        Errors that occur; RuntimeDeviceError in two.
    counts : int64 [G, K]
    seconds : float64 [G]
        Sum of ``all_cost``; NaN where the tuner records none.
    wasted_seconds : float64 [G]
        Of builds that timed out.
    """

    by: str
    keys: Counts
    labels: tuple[str, ...]
    trials: Counts
    valid: Counts
    kinds: tuple[str, ...]
    counts: Counts
    seconds: Floats
    wasted_seconds: Floats

    def __len__(self) -> int:
        return len(self.keys)

    def count(self, kind: str) -> Counts:
        """Return the counts of one error; zeros for an error that does not occur (int64 [G])."""
        if kind not in self.kinds:
            return np.zeros(len(self), np.int64)
        return np.asarray(self.counts[:, self.kinds.index(kind)])

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per group (needs pandas)."""
        columns: dict[str, Any] = {
            self.by: self.labels if self.by == "task" else self.keys,
            "trials": self.trials,
            "valid": self.valid,
        }
        columns |= {kind: self.counts[:, place] for place, kind in enumerate(self.kinds)}
        columns |= {"seconds": self.seconds, "wasted_seconds": self.wasted_seconds}
        return data_frame(columns)

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Return head and rows of a table with one row per group."""
        heads = [self.by, "trials", "valid", *self.kinds]
        lines = []
        for row, label in enumerate(self.labels):
            count = int(self.trials[row])
            valid = percent(int(self.valid[row]) / count) if count else ""
            cells = [label, f"{count:,}", valid]
            cells += [f"{count:,}" if count else "" for count in self.counts[row].tolist()]
            lines.append(cells)
        return heads, lines

    def __repr__(self) -> str:
        title = f"Errors of {counted(int(self.trials.sum()), 'trial')} by {self.by}"
        return f"{title}\n{table_text(*self.cells())}"

    def _repr_html_(self) -> str:
        return table_html(*self.cells())


def error_kinds(trials: Trials) -> tuple[tuple[str, ...], Counts]:
    """Return the errors that occur, and errors by row (-1: valid)."""
    kind_of = np.full(len(trials), -1, np.int64)
    kinds: list[str] = []
    hidden = hidden_run_timeouts(trials)
    for code in np.unique(trials.error[trials.failed]).tolist():
        label, own = MeasureError(code).label, trials.error == code
        parts = [(label, own)]
        if code == MeasureError.RUNTIME_DEVICE:
            parts = [(f"{label}, {_PROBABLY}", hidden), (f"{label}, {_FAST}", own & ~hidden)]
        for name, rows in parts:
            if rows.any():
                kind_of[rows] = len(kinds)
                kinds.append(name)
    return tuple(kinds), kind_of


def error_table(
    trials: Trials, by: str, keys: npt.NDArray[np.signedinteger[Any]], labels: Sequence[str] = ()
) -> ErrorTable:
    """Count errors by group of trials."""
    groups, of_row = np.unique(keys, return_inverse=True)
    if labels:
        groups, of_row = np.arange(len(labels)), np.asarray(keys, np.intp)
    kinds, kind_of = error_kinds(trials)
    size = len(groups)
    counts = np.bincount(
        of_row[kind_of >= 0] * len(kinds) + kind_of[kind_of >= 0], minlength=size * len(kinds)
    ).reshape(size, len(kinds))
    is_known = ~np.isnan(trials.all_cost)
    spent = np.where(is_known, trials.all_cost, 0.0)
    has_times = np.bincount(of_row[is_known], minlength=size) > 0
    wasted = np.where(trials.error == MeasureError.BUILD_TIMEOUT, spent, 0.0)
    return ErrorTable(
        by,
        groups.astype(np.int64),
        tuple(labels[key] if labels else _label(by, key) for key in groups.tolist()),
        np.bincount(of_row, minlength=size),
        np.bincount(of_row[~trials.failed], minlength=size),
        kinds,
        counts,
        np.where(has_times, np.bincount(of_row, spent, minlength=size), np.nan),
        np.bincount(of_row, wasted, minlength=size).astype(np.float64),
    )


def _label(by: str, key: int) -> str:
    if by == "unroll" and key < 0:
        return "none set"
    if by == "threads" and key <= 0:
        return "no GPU" if key == 0 else "unknown"
    return f"{key:,}"


_LINES_SHOWN = 40
_LEFT = 'style="text-align: left; white-space: nowrap"'


def seconds_cell(seconds: float) -> str:
    """Return a duration for a cell, a dash for NaN."""
    return "–" if math.isnan(seconds) else duration_text(float(seconds) * 1e9)


def table_text(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a text table: first column left-aligned, numbers right-aligned."""
    cells = [[one_line(cell) for cell in line] for line in (heads, *lines[:_LINES_SHOWN])]
    return "\n".join([*text_lines(cells, right=True), *_rest(lines)])


def table_html(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return the table as HTML."""

    def row(cells: Sequence[str], tag: str) -> str:
        first, *others = (html.escape(one_line(cell)) for cell in cells)
        rest = "".join(f"<{tag}>{cell}</{tag}>" for cell in others)
        return f"<tr><{tag} {_LEFT}>{first}</{tag}>{rest}</tr>"

    body = "".join(row(line, "td") for line in lines[:_LINES_SHOWN])
    more = "".join(f"<p>{text}</p>" for text in _rest(lines))
    return f"<table><thead>{row(heads, 'th')}</thead><tbody>{body}</tbody></table>{more}"


def _rest(lines: Sequence[object]) -> list[str]:
    more = len(lines) - _LINES_SHOWN
    return [f"… and {more:,} more: to_dataframe() has all"] if more > 0 else []
