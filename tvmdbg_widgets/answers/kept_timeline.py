"""What answers about the timeline share: made once a run, when first asked for."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.timeline.find import Hits
from tvmdbg_widgets.analysis.timeline.lod import TimeBins, TimelineLod
from tvmdbg_widgets.answers.slices import SliceNames, SliceTable, account_columns
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.timeline.kinds import name_kinds
from tvmdbg_widgets.model.timeline.rows import TimelineRows
from tvmdbg_widgets.model.timeline.timeline import Timeline

#: Slices that come along with the first answer.
ALONG = 8_000
#: Slices that a page holds.
MOST_WHOLE = 2_000_000
_BINS = 2048
#: Bins of all rows in the first answer, 16 bytes each.
_CELLS = 10_000
_LEAST_BINS = 16
#: Bins of each row, and of all, in the answer about a range of time.
_MOST_BINS = 1 << 13
_MOST_CELLS = 1 << 18


def first_bins(rows: int) -> int:
    """Return how many bins each of so many rows has in the first answer."""
    return max(_LEAST_BINS, min(_BINS, _CELLS // max(1, rows)))


@dataclass
class Searched:
    """The last search: what was asked for, and the slices that it found, in row order."""

    text: str
    regex: bool
    hits: Hits


@dataclass(frozen=True, eq=False)
class Ready:
    """What every first answer needs."""

    first: float
    last: float
    step: float
    top: TimeBins
    sums: dict[str, Any]
    names: SliceNames
    table: SliceTable


class KeptTimeline:
    """The slices of a timeline, ready to be answered about.

    Beside the timeline and its rows it keeps 34 bytes a slice where a page cannot hold all slices,
    else none: then nobody asks for a window.
    """

    def __init__(self, timeline: Timeline, graph: Graph | None) -> None:
        self.timeline = timeline
        self._graph = graph
        self.searched: Searched | None = None
        self._lock = threading.RLock()
        self._lod: TimelineLod | None = None
        self._ready: Ready | None = None

    @property
    def rows(self) -> TimelineRows:
        """The rows of the timeline, which one thread makes and others wait for."""
        with self._lock:
            return self.timeline.rows

    @property
    def count(self) -> int:
        """Slices that are drawn."""
        return len(self.rows.order)

    @property
    def along(self) -> bool:
        """Whether the slices come along with the first answer."""
        return self.count <= ALONG

    @property
    def whole(self) -> bool:
        """Whether a page holds all slices."""
        return self.count <= MOST_WHOLE

    @property
    def lod(self) -> TimelineLod:
        """The slices ready to be summed up."""
        with self._lock:
            found = self._lod or TimelineLod(self.timeline)
            self._lod = None if self.whole else found
            return found

    @property
    def most_bins(self) -> int:
        """Bins of a row that a range of time may be asked in."""
        return max(_LEAST_BINS, min(_MOST_BINS, _MOST_CELLS // max(1, len(self.rows))))

    @property
    def num_bins(self) -> int:
        """Bins of a row in the first answer."""
        return first_bins(len(self.rows))

    @property
    def ready(self) -> Ready:
        """What every first answer needs; made once."""
        with self._lock:
            if self._ready is None:
                self._ready = self._made()
            return self._ready

    def _made(self) -> Ready:
        lod = self.lod
        step = (lod.last - lod.first) / self.num_bins or 1.0
        top = lod.bins(lod.first, step, self.num_bins)
        shown = np.zeros(0, np.int32) if self.along else top.slice[top.slice >= 0]
        kinds = name_kinds(self.timeline, self._graph)
        own = self.timeline
        names = SliceNames(own.slice_names, kinds, own.slice_labels, self.rows.order[shown])
        table = SliceTable(self.timeline, names)
        sums = account_columns(self.timeline, self._graph, names)
        return Ready(lod.first, lod.last, step, top, sums, names, table)

    @property
    def names(self) -> SliceNames:
        """Names of slices, by number."""
        return self.ready.names

    @property
    def table(self) -> SliceTable:
        """Slices as they travel."""
        return self.ready.table


def lod_columns(kept: KeptTimeline, bins: TimeBins | None) -> dict[str, Any]:
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
