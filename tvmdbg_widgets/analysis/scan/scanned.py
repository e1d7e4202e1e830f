"""What a scan of the tensors of a run knows so far."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from tvmdbg_widgets.analysis.scan.scan_columns import ScanColumns
from tvmdbg_widgets.model.statistics import Statistics
from tvmdbg_widgets.model.statistics.batch import Batch

Entry: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Scanned:
    """What a scan knows so far."""

    statistics: Mapping[Entry, Statistics]
    probed: Mapping[str, Mapping[Entry, Any]]
    broken: Mapping[Entry, str]
    total: int
    batches: tuple[tuple[list[Entry], Batch], ...] = ()

    @property
    def done(self) -> int:
        """Tensors looked at, those that could not be read included."""
        return len(self.statistics) + len(self.broken)

    @property
    def complete(self) -> bool:
        """Whether every tensor was looked at."""
        return self.done == self.total

    def columns(self, left_out: Container[Entry] = ()) -> ScanColumns:
        """Return all statistics that tell anything as columns, but for some entries."""
        together = {entry for own, _ in self.batches for entry in own}
        alone = {entry: each for entry, each in self.statistics.items() if entry not in together}
        return ScanColumns.of(
            self.batches,
            {entry: each for entry, each in alone.items() if each.applicable},
            lambda entry: entry in self.statistics and entry not in left_out,
        )
