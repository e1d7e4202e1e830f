"""Times summed by a key, as a table."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.times.keys import Key
from tvmdbg_widgets.model.base.numbers import (
    counted,
    duration_text,
    html_table,
    percent,
    text_lines,
    time_share,
)
from tvmdbg_widgets.model.base.ranges import MadeSequence, Range
from tvmdbg_widgets.model.base.slips import public_class
from tvmdbg_widgets.model.base.text import data_frame, more_text, one_line
from tvmdbg_widgets.model.timeline.words import left_out

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Numbers of a row, and their columns in a data frame.
_NUMBERS = {
    "ns": "ns",
    "share": "share",
    "cumulative": "cumulative",
    "minimum": "min_ns",
    "mean": "mean_ns",
    "p50": "p50_ns",
    "p90": "p90_ns",
    "maximum": "max_ns",
    "low": "low_ns",
    "high": "high_ns",
}
_LINES_SHOWN = 40
_WIDTH = 100
_HEADS = {
    "node": "node",
    "kind": "op kind",
    "part": "fused operator",
    "group": "group",
    "module": "module",
    "device": "device",
    "name": "name",
    "callers": "name ← parent slice",
    "track": "track",
}


@dataclass(frozen=True, slots=True)
class TimeRow:
    """Times of one key; see :class:`TimeTable` for the columns."""

    key: Key
    label: str
    nodes: tuple[int, ...]
    slices: int
    ns: float
    share: float
    cumulative: float
    minimum: float
    mean: float
    p50: float
    p90: float
    maximum: float
    low: float
    high: float
    noisy: bool
    rounding_ns: float = 0.0

    @property
    def share_text(self) -> str:
        """The share; a dash if there is none, or the time is too short."""
        short = self.ns == 0 < self.rounding_ns
        return "–" if short or np.isnan(self.share) else percent(self.share)

    def text(self, ns: float) -> str:
        """Return a time of the row as text; a dash where unknown."""
        return "–" if np.isnan(ns) else duration_text(ns, self.rounding_ns)

    def __repr__(self) -> str:
        return (
            f"TimeRow: {one_line(self.label)}, "
            f"{time_share(self.ns, self.share, self.rounding_ns)}, "
            f"{counted(self.slices, 'slice')}"
        )


@public_class
@dataclass(frozen=True, eq=False, repr=False)
class TimeTable(MadeSequence[TimeRow]):
    """Times summed by a key, the largest first: G rows.

    Attributes
    ----------
    by : str
    within : (float, float) or None
        Nanoseconds; all time where None.
    keys : sequence
        Node ids (names of slices without a node), op kinds, parts, group ids, modules, device
        names, slice names, or pairs of a name and the name around it.
    labels : sequence of str
    slices : int64 [G]
        Slices that touch the range, without inputs and parameters that take no time.
    ns : float64 [G]
        Sum of the time in the range during which one of the slices runs and none inside it. Of all
        time a node without slices counts with its known time; in a range it does not.
    share, cumulative : float64 [G]
        Of :attr:`total_ns`; NaN where that is 0, and of rows that are no work, which come last.
        Shares of parts overlap and have no sum.
    minimum, mean, p50, p90, maximum : float64 [G]
        Of the full durations of slices entirely in the range, without instants; NaN for none.
    low, high : float64 [G]
        95 % confidence interval of the mean over repeats of the row's time. NaN for fewer than two
        repeats, for a part of the time, and where a node has slices in several rows.
    noisy : bool [G]
        p90 / p10 of those times is above 1.2, over 5 repeats or more.
    total_ns : float
        Sum over all work in the range, without counting time twice.
    of : str
        Scope of that sum: ``"in all slices"``, ``"in Method::execute"``.
    overlap : bool
        A slice counts in several rows.
    idle : int
        Slices of inputs and parameters that take no time, which are left out.
    title : str
    notes : tuple of str
        Caveats.
    rounding_ns : float
        As of the timeline: a time of 0 is less than this.
    """

    by: str
    within: Range | None
    keys: Sequence[Key]
    labels: Sequence[str]
    slices: Ints
    ns: Floats
    share: Floats
    cumulative: Floats
    minimum: Floats
    mean: Floats
    p50: Floats
    p90: Floats
    maximum: Floats
    low: Floats
    high: Floats
    noisy: npt.NDArray[np.bool_]
    total_ns: float
    overlap: bool
    idle: int
    title: str
    of: str
    notes: tuple[str, ...]
    node_offsets: Ints
    node_ids: Ints
    rounding_ns: float = 0.0

    def __len__(self) -> int:
        return len(self.ns)

    def nodes(self, row: int) -> Ints:
        """Return the ids of the nodes in a row, ascending."""
        return self.node_ids[self.node_offsets[row] : self.node_offsets[row + 1]]

    def _item(self, at: int) -> TimeRow:
        return TimeRow(
            key=self.keys[at],
            label=self.labels[at],
            nodes=tuple(self.nodes(at).tolist()),
            slices=int(self.slices[at]),
            **{name: float(getattr(self, name)[at]) for name in _NUMBERS},
            noisy=bool(self.noisy[at]),
            rounding_ns=self.rounding_ns,
        )

    @property
    def head(self) -> str:
        """Noun for a key: ``"op kind"``."""
        return _HEADS[self.by]

    @property
    def caption(self) -> str:
        """Contents of the table in one line."""
        where = (
            "" if self.within is None else f" from {' to '.join(map(duration_text, self.within))}"
        )
        idle = f"; {left_out(self.idle)}" if self.idle else ""
        return (
            f"{self.title}: time by {self.head}{where}; {duration_text(self.total_ns)} {self.of}, "
            f"{counted(len(self), 'row')}{idle}"
        )

    def to_dataframe(self) -> Any:
        """Return one row per key as a ``pandas.DataFrame``; times in nanoseconds."""
        return data_frame(
            {
                "key": list(self.keys),
                "label": list(self.labels),
                "nodes": [tuple(self.nodes(i).tolist()) for i in range(len(self))],
                "slices": self.slices,
                **{column: getattr(self, name) for name, column in _NUMBERS.items()},
                "noisy": self.noisy,
            }
        )

    def cells(self, most: int | None = None) -> tuple[list[str], list[list[str]]]:
        """Return head and rows as texts, without empty columns."""
        shown = range(len(self) if most is None else min(most, len(self)))
        spread = bool((self.slices > 1).any())
        sure = bool(np.isfinite(self.low).any())
        head = [self.head, "slices", "time", "share"]
        head += [] if self.overlap else ["together"]
        head += ["min", "median", "p90", "max"] if spread else []
        head += ["mean, 95 % CI"] if sure else []
        return head, [self._cells(i, spread=spread, sure=sure) for i in shown]

    def _cells(self, i: int, *, spread: bool, sure: bool) -> list[str]:
        row = self[i]
        label = one_line(row.label)
        if self.by == "node" and isinstance(row.key, int):
            label = f"#{row.key} {label}"
        cells = [label, f"{row.slices:,}", row.text(row.ns), row.share_text]
        if not self.overlap:
            cells.append("–" if np.isnan(row.cumulative) else percent(row.cumulative))
        if spread:
            cells += [row.text(ns) for ns in (row.minimum, row.p50, row.p90, row.maximum)]
        if sure:
            known = np.isfinite(row.low)
            within = f"{row.text(row.low)} … {row.text(row.high)}" if known else "–"
            cells.append(within + (" noisy" if row.noisy else ""))
        return cells

    def __repr__(self) -> str:
        head, rows = self.cells(_LINES_SHOWN)
        lines = [self.caption, *text_lines([head, *rows], right=True)]
        lines += more_text(len(self), _LINES_SHOWN)
        notes = [textwrap.fill(f"({note})", _WIDTH) for note in self.notes]
        return "\n".join([*lines, *notes])

    def _repr_html_(self) -> str:
        head, rows = self.cells(_LINES_SHOWN)
        below = (*more_text(len(self), _LINES_SHOWN), *self.notes)
        return html_table(head, rows, caption=self.caption, below=below)
