"""Rows of a log, gathered into columns."""

from __future__ import annotations

from array import array
from struct import Struct
from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.tuning.trials import Trials

if TYPE_CHECKING:
    from tvmdbg_widgets.formats.tuning.result import Result

# Packing a row at once takes half the time of adding to a column each.
_ROW = Struct("=3d8sqi4iib")
_FIELDS = np.dtype(
    [
        ("cost", "f8"),
        ("all_cost", "f8"),
        ("timestamp", "f8"),
        ("schedule", "i8"),
        ("offset", "i8"),
        ("length", "i4"),
        ("line", "i4"),
        ("task", "i4"),
        ("unroll", "i4"),
        ("version", "i4"),
        ("runs", "i4"),
        ("error", "i1"),
    ]
)


class Columns:
    """Columns that grow row by row; one row takes about 80 bytes."""

    def __init__(self) -> None:
        self._rows = bytearray()
        self._run_costs = array("d")
        self._versions: dict[str, int] = {}
        self._pack = _ROW.pack

    def __len__(self) -> int:
        return len(self._rows) // _ROW.size

    def add(
        self,
        task: int,
        result: Result,
        version: str,
        schedule: tuple[bytes, int],
        at: tuple[int, int, int],
    ) -> None:
        """Add a row."""
        costs, cost, error, all_cost, timestamp, _ = result
        digest, unroll = schedule
        number = self._versions.get(version)
        if number is None:
            number = self._versions[version] = len(self._versions)
        self._rows += self._pack(
            cost, all_cost, timestamp, digest, *at, task, unroll, number, len(costs), error
        )
        self._run_costs.extend(costs)

    def trials(self) -> Trials:
        """Return the rows so far as the trials of one source, number 0."""
        rows = np.frombuffer(self._rows, _FIELDS)
        column = {name: np.ascontiguousarray(rows[name]) for name in _FIELDS.names or ()}
        runs, version = column.pop("runs"), column.pop("version")
        return Trials(
            **column,
            run_costs=np.array(self._run_costs, np.float64),
            run_offsets=np.concatenate([[0], np.cumsum(runs, dtype=np.int64)]),
            version=StringColumn(tuple(self._versions), version),
            source=np.zeros(len(rows), np.int16),
        )
