"""How often each code of up to 16 bits occurs."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Codes: TypeAlias = np.ndarray[Any, Any]
Counts: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

#: So few codes are sorted: a table takes longer to clear and to look through.
SHORT = 1 << 12


class CodeCounts:
    """Counts in a table, which a single short piece does without."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._table: Counts | None = None
        self._codes: Codes = np.zeros(0, np.int64)
        self._counts: Counts = np.zeros(0, np.int64)

    @property
    def table(self) -> Counts:
        """Count of each code, int64[size], to be added to."""
        if self._table is None:
            self._table = np.zeros(self.size, np.int64)
            self._table[self._codes] = self._counts
        return self._table

    def add_short(self, codes: Codes) -> Codes:
        """Count at most ``SHORT`` codes; return those that are new, ascending."""
        found, counts = np.unique(codes, return_counts=True)
        if self._table is None and not len(self._codes):
            self._codes, self._counts = found.astype(np.int64), counts.astype(np.int64)
            return self._codes
        new: Codes = found[self.table[found] == 0]
        self.table[found] += counts
        return new

    def merge(self, other: CodeCounts) -> None:
        """Add the counts of another."""
        codes, counts = other.present()
        self.table[codes] += counts

    def times(self, count: int) -> None:
        """Count all codes so many times."""
        self._counts = self._counts * count
        if self._table is not None:
            self._table *= count

    def present(self) -> tuple[Codes, Counts]:
        """Return the codes that occur, int64 ascending, and how often."""
        if self._table is None:
            return self._codes, self._counts
        codes = np.flatnonzero(self._table)
        return codes, self._table[codes]
