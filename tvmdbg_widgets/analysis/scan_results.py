"""Results of a tensor scan so far, by tensor and as columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from tvmdbg_widgets.model.statistics import Statistics
from tvmdbg_widgets.model.statistics.batch import Batch

Entry: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Scanned:
    """Results of a scan so far."""

    statistics: Mapping[Entry, Statistics]
    probed: Mapping[str, Mapping[Entry, Any]]
    broken: Mapping[Entry, str]
    total: int
    batches: tuple[tuple[list[Entry], Batch], ...] = ()

    @property
    def done(self) -> int:
        """Number of tensors scanned, unreadable ones included."""
        return len(self.statistics) + len(self.broken)

    @property
    def complete(self) -> bool:
        """Whether every tensor was scanned."""
        return self.done == self.total

    def columns(self, left_out: Container[Entry] = ()) -> ScanColumns:
        """Return all applicable statistics as columns, without some entries."""
        together = {entry for own, _ in self.batches for entry in own}
        alone = {
            entry: statistics
            for entry, statistics in self.statistics.items()
            if entry not in together
        }
        return ScanColumns.of(
            self.batches,
            {entry: statistics for entry, statistics in alone.items() if statistics.applicable},
            lambda entry: entry in self.statistics and entry not in left_out,
        )


Counts: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Mask: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

_COUNTS = ("size", "finite", "nan", "pos_inf", "neg_inf", "zero", "denormal")
_COLUMNS = (*_COUNTS, "low", "high")


@dataclass(frozen=True, eq=False)
class ScanColumns:
    """Statistics as columns, one row per tensor in the order of entries."""

    entries: list[Entry]
    size: Counts
    finite: Counts
    nan: Counts
    pos_inf: Counts
    neg_inf: Counts
    zero: Counts
    denormal: Counts
    low: Floats
    high: Floats

    @classmethod
    def of(
        cls,
        batches: Sequence[tuple[Sequence[Entry], Batch]],
        alone: Mapping[Entry, Statistics],
        wanted: Callable[[Entry], bool],
    ) -> ScanColumns:
        """Merge statistics counted in batches and individually into one order."""
        entries = [entry for own, _ in batches for entry in own]
        entries += alone
        rows = [row for row, entry in enumerate(entries) if wanted(entry)]
        order = sorted(rows, key=entries.__getitem__)
        columns = {}
        for name in _COLUMNS:
            parts = [np.broadcast_to(getattr(batch, name), len(batch)) for _, batch in batches]
            parts.append(_column(name, alone.values()))
            columns[name] = np.concatenate(parts)[order]
        return cls([entries[index] for index in order], **columns)

    @property
    def peak(self) -> Floats:
        """Largest finite magnitude; NaN without any."""
        return np.fmax(np.abs(self.low), np.abs(self.high))

    def where(self, mask: Mask) -> list[Entry]:
        """Return the entries of the masked rows, in order."""
        return [self.entries[row] for row in np.flatnonzero(mask).tolist()]


def _column(name: str, stats: Iterable[Statistics]) -> np.ndarray[Any, Any]:
    if name in _COUNTS:
        return np.array([getattr(statistics, name) for statistics in stats], np.int64)
    field = "minimum" if name == "low" else "maximum"
    bounds = (getattr(statistics, field) for statistics in stats)
    return np.array([math.nan if bound is None else float(bound) for bound in bounds], np.float64)
