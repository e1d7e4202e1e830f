"""Durations of a dump's events in the target unit, as the Inspector measures them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tvmdbg_widgets.analysis.executorch.time_scale import (
    Converter,
    TimeScale,
    differences_of_times,
    durations,
    elapsed,
    scale_factor,
)
from tvmdbg_widgets.model.executorch.etdump import ETDump


class MeasuredTimes:
    """Times of profile events, by their position in the dump."""

    def __init__(
        self,
        dump: ETDump,
        source: TimeScale,
        target: TimeScale,
        converter: Converter | None,
        *,
        compat: bool,
    ) -> None:
        self._scale = scale_factor(source, target)
        self._converter = converter
        self._compat = compat
        start, end = dump.start, dump.end
        found = durations(start, end, self._scale)
        of_delegates = (dump.delegate_id_int != -1) | (
            np.array([text != "" for text in dump.delegate_id_str.unique], np.bool_)[
                dump.delegate_id_str.codes
            ]
        )
        if not compat:
            of_delegates &= start <= end
        found[of_delegates] = differences_of_times(
            start[of_delegates], end[of_delegates], self._scale
        )
        self._delegated = of_delegates
        self._found = found.tolist()
        self._unknown = np.isnan(found).any()
        self._start, self._end = start.tolist(), end.tolist()

    def starts(self, rows: Sequence[int]) -> list[int]:
        """Return the ticks at which events started."""
        return [self._start[row] for row in rows]

    def of_events(self, rows: Sequence[int]) -> list[float]:
        """Return the durations of events that are no delegate's own."""
        found = [self._found[row] for row in rows]
        if self._compat and self._unknown:
            self._refuse(rows)
        return found

    def of_delegate(self, name: str, rows: Sequence[int]) -> list[float]:
        """Return the durations of a delegate's events, which the converter measures if given."""
        convert = self._converter
        if convert is None:
            return self.of_events(rows)
        found = []
        for row in rows:
            start, end = convert(name, self._start[row]), convert(name, self._end[row])
            try:
                found.append(elapsed(start, end))
            except ValueError:
                if self._compat:
                    raise
                found.append(float("nan"))
        return found

    def _refuse(self, rows: Sequence[int]) -> None:
        for row in rows:
            start, end = self._start[row], self._end[row]
            if self._delegated[row]:
                start, end = start / self._scale, end / self._scale
            elapsed(start, end)
