"""Rows of a log, gathered into columns."""

from __future__ import annotations

from array import array
from struct import Struct

import numpy as np

from tvmdbg_widgets.formats.tuning.result import MEASURED, Result
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.tuning.trials import FIELDS, Trials

_NAMES = (*MEASURED, *("schedule", "offset", "length", "line", "task", "unroll", "version", "runs"))
_DTYPES = {each.name: each.dtype for each in FIELDS.values()} | {
    "version": "int32",
    "runs": "int32",
}
_FIELDS = np.dtype([(name, _DTYPES[name]) for name in _NAMES])
_CODES = {"float64": "d", "int64": "q", "int32": "i", "int8": "b"}
# Packing a row at once takes half the time of adding to a column each; a digest is 8 bytes.
_ROW = Struct("=" + "".join("8s" if n == "schedule" else _CODES[_DTYPES[n]] for n in _NAMES))


class TrialColumns:
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
        costs, (digest, unroll) = result.costs, schedule
        number = self._versions.get(version)
        if number is None:
            number = self._versions[version] = len(self._versions)
        self._rows += self._pack(*result[2:], digest, *at, task, unroll, number, len(costs))
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
