"""What answers about the timeline share: made once a run, when first asked for."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.analysis.timeline_lod import Bins, TimelineLod
from tvmdbg_widgets.widgets.timeline_slices import SliceNames, SliceTable

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.timeline_find import Hits
    from tvmdbg_widgets.model.timeline import Timeline

#: Slices that come along with the first answer.
ALONG = 8_000
#: Slices that a page holds.
MOST_WHOLE = 2_000_000
_BINS = 2048
#: Bins of all rows in the first answer, 16 bytes each.
_CELLS = 10_000
_LEAST_BINS = 16


@dataclass
class Searched:
    """The last search: what was asked for, and the slices that it found, in row order."""

    text: str
    regex: bool
    hits: Hits


class KeptTimeline:
    """The slices of a timeline, ready to be answered about.

    Parameters
    ----------
    timeline : Timeline
    """

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self.searched: Searched | None = None
        self._lock = threading.RLock()

    @property
    def count(self) -> int:
        """Slices that are drawn."""
        return len(self.timeline.rows.order)

    @property
    def along(self) -> bool:
        """Whether the slices come along with the first answer."""
        return self.count <= ALONG

    @property
    def whole(self) -> bool:
        """Whether a page holds all slices."""
        return self.count <= MOST_WHOLE

    @cached_property
    def _lod(self) -> TimelineLod:
        return TimelineLod(self.timeline)

    @property
    def lod(self) -> TimelineLod:
        """The slices ready to be summed up."""
        with self._lock:
            return self._lod

    @property
    def num_bins(self) -> int:
        """Bins of a row in the first answer."""
        rows = max(1, len(self.timeline.rows.track))
        return max(_LEAST_BINS, min(_BINS, _CELLS // rows))

    @property
    def step(self) -> float:
        """Nanoseconds of a bin of the first answer."""
        lod = self.lod
        return (lod.last - lod.first) / self.num_bins or 1.0

    @cached_property
    def _top(self) -> Bins:
        return self.lod.bins(self.lod.first, self.step, self.num_bins)

    @property
    def top(self) -> Bins:
        """All of time in bins."""
        with self._lock:
            return self._top

    @cached_property
    def _names(self) -> SliceNames:
        numbers = np.zeros(0, np.int32) if self.along else self.top.slice
        seen = self.timeline.rows.order[numbers[numbers >= 0]]
        return SliceNames(self.timeline.slice_names, seen)

    @property
    def names(self) -> SliceNames:
        """Names of slices, by number."""
        with self._lock:
            return self._names

    @cached_property
    def _table(self) -> SliceTable:
        return SliceTable(self.timeline, self.names)

    @property
    def table(self) -> SliceTable:
        """Slices as they travel."""
        with self._lock:
            return self._table
