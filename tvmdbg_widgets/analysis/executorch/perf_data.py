"""Durations of one event over the runs, and statistics of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_PERCENTILES = (10, 50, 90)


class PerfData:
    """Durations of an event in the target unit of its block.

    Parameters
    ----------
    raw
        One duration a run, in the order of the file; several where the event occurs several times
        in a run.

    Attributes
    ----------
    raw : list of float
    """

    __slots__ = ("_known", "raw")

    def __init__(self, raw: Sequence[float], _known: tuple[float, ...] | None = None) -> None:
        self.raw = list(raw)
        self._known = _known

    def _statistics(self) -> tuple[float, ...]:
        if self._known is None:
            found = np.percentile(self.raw, _PERCENTILES).tolist()
            self._known = (*found, float(np.mean(self.raw)))
        return self._known

    @property
    def p10(self) -> float:
        """The 10th percentile, interpolated linearly."""
        return self._statistics()[0]

    @property
    def p50(self) -> float:
        """The median."""
        return self._statistics()[1]

    @property
    def p90(self) -> float:
        """The 90th percentile, interpolated linearly."""
        return self._statistics()[2]

    @property
    def avg(self) -> float:
        """The mean."""
        return self._statistics()[3]

    @property
    def min(self) -> float:
        """The shortest duration."""
        return min(self.raw)

    @property
    def max(self) -> float:
        """The longest duration."""
        return max(self.raw)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PerfData) and self.raw == other.raw

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"PerfData(avg={self.avg:g} over {len(self.raw):,})"

    @classmethod
    def of_events(cls, raws: Sequence[Sequence[float]]) -> list[PerfData]:
        """Return the data of many events; statistics of equally many durations at once.

        Parameters
        ----------
        raws : sequence of sequence of float
            Floats only, at least one of each event.
        """
        by_length: dict[int, list[int]] = {}
        for event, raw in enumerate(raws):
            by_length.setdefault(len(raw), []).append(event)
        known: list[tuple[float, ...]] = [()] * len(raws)
        for events in by_length.values():
            table = np.array([raws[event] for event in events])
            columns = (*np.percentile(table, _PERCENTILES, axis=1), table.mean(axis=1))
            for event, row in zip(events, np.stack(columns, axis=1).tolist(), strict=True):
                known[event] = tuple(row)
        return [cls(raw, row) for raw, row in zip(raws, known, strict=True)]
