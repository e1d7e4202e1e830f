"""What answers about the timeline share: made once a run, when first asked for."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.analysis.timeline_lod import Bins, TimelineLod
from tvmdbg_widgets.widgets.answering import Context, Reply
from tvmdbg_widgets.widgets.columns import pack
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
#: Bins of one tile.
TILE_BINS = 512
#: Bins of all rows that one answer has, but for one tile, which may always be asked for.
_TILE_CELLS = 1 << 16


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
    def tiles_at_once(self) -> int:
        """How many tiles one answer has at most."""
        return max(1, _TILE_CELLS // TILE_BINS // max(1, len(self.timeline.rows)))

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


def kept_timeline(context: Context) -> KeptTimeline:
    """Return the timeline of the run that is asked about; LookupError where it has none."""
    kept = context.timeline()
    if kept is None:
        raise LookupError("this run has no timeline")
    return kept


def lod_columns(kept: KeptTimeline, bins: Bins | None) -> dict[str, Any]:
    """Return the columns of bins; node and name are those of the dominant slice."""
    if bins is None:
        nothing = np.zeros(0, np.int32)
        found = dict.fromkeys(("lodSlice", "lodNode", "lodName"), nothing)
        return {"lodBusy": np.zeros(0, np.float32), **found}
    own = kept.timeline
    number = bins.slice.ravel()
    source = own.rows.order[number]
    idle = number < 0
    return {
        "lodBusy": bins.busy.ravel(),
        "lodSlice": number,
        "lodNode": np.where(idle, -1, own.slice_node[source]).astype(np.int32),
        "lodName": np.where(idle, -1, kept.names.codes[source]).astype(np.int32),
    }


def packed(columns: dict[str, Any], info: Any = None) -> Reply:
    """Answer columns."""
    headers, buffer = pack(columns)
    return Reply({"columns": headers, "info": info}, (buffer,))
