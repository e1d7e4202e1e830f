"""Rows, bins and names of a timeline, computed once per run for all answers."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.timeline.lod import Hits, TimeBins, TimelineLod
from tvmdbg_widgets.analysis.times.keys import row_kinds
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.timeline.columns import SliceRole
from tvmdbg_widgets.model.timeline.kinds import name_kinds
from tvmdbg_widgets.model.timeline.rows import TimelineRows
from tvmdbg_widgets.model.timeline.timeline import Timeline

#: Slices up to which the first answer includes all.
ALONG = 8_000
#: Slices up to which a page holds all.
MOST_WHOLE = 2_000_000
_BINS = 2048
#: Bins of all rows in the first answer, of 16 bytes.
_CELLS = 10_000
_LEAST_BINS = 16
#: Bins per row, and of all rows, in the answer about a range of time.
_MOST_BINS = 1 << 13
_MOST_CELLS = 1 << 18


def first_bins(rows: int) -> int:
    """Return the number of bins per row in the first answer."""
    return max(_LEAST_BINS, min(_BINS, _CELLS // max(1, rows)))


@dataclass
class Searched:
    """The last search and its hits, in row order."""

    text: str
    regex: bool
    hits: Hits


@dataclass(frozen=True, eq=False)
class Ready:
    """Data of the first answer."""

    first: float
    last: float
    top: TimeBins
    sums: dict[str, Any]
    names: SliceNames
    table: SliceTable


class KeptTimeline:
    """A timeline with cached rows, bins and names."""

    def __init__(self, timeline: Timeline, graph: Graph | None) -> None:
        self.timeline = timeline
        self._graph = graph
        self.searched: Searched | None = None
        self._lock = threading.RLock()
        self._lod: TimelineLod | None = None
        self._ready: Ready | None = None

    @property
    def rows(self) -> TimelineRows:
        """Rows of the timeline; one thread computes them, others wait."""
        with self._lock:
            return self.timeline.rows

    @property
    def count(self) -> int:
        """Number of drawn slices."""
        return len(self.rows.order)

    @property
    def along(self) -> bool:
        """Whether the first answer includes all slices."""
        return self.count <= ALONG

    @property
    def whole(self) -> bool:
        """Whether a page holds all slices."""
        return self.count <= MOST_WHOLE

    @property
    def lod(self) -> TimelineLod:
        """Level of detail of the slices."""
        with self._lock:
            lod = self._lod or TimelineLod(self.timeline)
            self._lod = None if self.whole else lod
            return lod

    @property
    def most_bins(self) -> int:
        """Most bins per row of an answer about a range of time."""
        return max(_LEAST_BINS, min(_MOST_BINS, _MOST_CELLS // max(1, len(self.rows))))

    @property
    def num_bins(self) -> int:
        """Bins per row in the first answer."""
        return first_bins(len(self.rows))

    @property
    def ready(self) -> Ready:
        """Data of the first answer, computed once."""
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
        return Ready(lod.first, lod.last, top, sums, names, table)

    @property
    def names(self) -> SliceNames:
        """Distinct names of slices."""
        return self.ready.names

    @property
    def table(self) -> SliceTable:
        """Columns of slices."""
        return self.ready.table

    @cached_property
    def numbers(self) -> npt.NDArray[np.int32]:
        """Number of each slice of the timeline in row order, -1 if it is not drawn."""
        numbers = np.full(self.timeline.num_slices, -1, np.int32)
        numbers[self.rows.order] = np.arange(self.count, dtype=np.int32)
        return numbers

    @property
    def num_operators(self) -> int:
        """Number of what views sum by: nodes, calls of several, names, roles that are no work."""
        shared = self.timeline.shared
        named = self.timeline.num_nodes + (0 if shared is None else len(shared))
        return named + self.names.count + len(SliceRole) - 1

    def operators(self, slices: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
        """Return the numbers of slices among these (`timeline/data/operators.ts`)."""
        own, names = self.timeline, self.names
        first = self.num_operators - names.count - len(SliceRole) + 1
        node, role = own.slice_node[slices], own.slice_role[slices].astype(np.int64)
        key = first + names.codes[slices].astype(np.int64)
        if own.shared is not None:
            call = own.shared.slice_set[slices]
            key = np.where(call >= 0, own.num_nodes + call, key)
        key = np.where(node >= 0, node, key)
        numbers: npt.NDArray[np.int64] = np.where(role > 0, first + names.count + role - 1, key)
        return numbers


def lod_columns(kept: KeptTimeline, bins: TimeBins | None) -> dict[str, Any]:
    """Return the columns of bins; node and name are the dominant slice's."""
    if bins is None:
        empty = dict.fromkeys(("lodSlice", "lodNode", "lodName"), np.zeros(0, np.int32))
        return {"lodBusy": np.zeros(0, np.float32), **empty}
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


Column = npt.NDArray[Any]

#: Bytes of names in the first answer.
_FIRST_NAMES = 1 << 16
#: Names of slices without a node that the first answer ranks.
RANKED_NAMES = 1000
_NARROW = {"u1": np.uint8, "u2": np.uint16, "u4": np.uint32, "i4": np.int32, "f8": np.float64}


class SliceNames:
    """Distinct names of slices, most visible names first."""

    def __init__(
        self,
        names: StringColumn,
        kinds: Sequence[str],
        short: Mapping[str, str],
        seen: npt.NDArray[np.integer],
    ) -> None:
        self._names, self._kinds, self._short = names.unique, kinds, short
        self.count = self.first = len(names.unique)
        self.codes = names.codes
        self._codes: npt.NDArray[np.int64] | None = None
        if sum(map(len, names.unique)) > _FIRST_NAMES:
            self._renumber(names, seen)

    def _renumber(self, names: StringColumn, seen: npt.NDArray[np.integer]) -> None:
        bins = np.bincount(names.codes[seen], minlength=self.count)
        self._codes = np.argsort(-bins, kind="stable")
        ends = np.cumsum([len(self._names[code]) for code in self._codes.tolist()])
        self.first = int(np.searchsorted(ends, _FIRST_NAMES, "right"))
        number = np.empty(self.count, np.int32)
        number[self._codes] = np.arange(self.count, dtype=np.int32)
        self.codes = number[names.codes]

    def columns(self, numbers: Sequence[int]) -> dict[str, StringColumn]:
        """Return names, op kinds and labels by number."""
        codes = numbers if self._codes is None else self._codes[numbers].tolist()
        texts = [self._names[code] for code in codes]
        return {
            "names": StringColumn(texts, np.arange(len(texts))),
            "nameKinds": StringColumn.from_strings(self._kinds[code] for code in codes),
            "nameLabels": StringColumn.from_strings(
                "" if self._short[text] == text else self._short[text] for text in texts
            ),
        }

    def most(self, first: int, size: int) -> int:
        """Return the end of the names from ``first`` on that fit ``size`` bytes."""
        last = first
        while last < self.count and size >= 0:
            code = last if self._codes is None else int(self._codes[last])
            size -= len(self._names[code].encode("utf-8", "replace")) + 12
            last += 1
        return last


def account_columns(timeline: Timeline, graph: Graph | None, names: SliceNames) -> dict[str, Any]:
    """Return the rows of the timeline's account; of many names only the longest."""
    account = timeline.account
    named = np.flatnonzero(account.name >= 0)
    kept = np.ones(len(account), np.bool_)
    kept[named[np.argsort(-account.ns[named], kind="stable")[RANKED_NAMES:]]] = False
    rows = np.flatnonzero(kept)
    number = np.full(timeline.num_slices + 1, -1, np.int32)
    number[timeline.rows.order] = np.arange(len(timeline.rows.order), dtype=np.int32)
    first = account.first[rows]
    code = np.full(len(rows), -1, np.int32)
    has_name = account.name[rows] >= 0
    code[has_name] = names.codes[first[has_name]]
    kinds = row_kinds(timeline, graph)
    sets = timeline.shared
    return {
        "rankNode": account.node[rows].astype(np.int32),
        "rankCall": account.call[rows].astype(np.int32),
        "rankName": code,
        "rankKind": StringColumn.from_strings(kinds[row] for row in rows.tolist()),
        "rankOperator": account.operators[rows].astype(np.uint8),
        "rankNs": account.ns[rows],
        "rankShare": account.share[rows],
        "rankSlices": account.slices[rows].astype(np.int32),
        "rankFirst": number[first],
        "rankWithin": account.within_ns[rows],
        **(
            {}
            if sets is None
            else {
                "setNames": StringColumn.from_strings(sets.names),
                "setKinds": StringColumn.from_strings(sets.kinds),
            }
        ),
    }


class SliceTable:
    """Columns of drawn slices, one row per slice, in row order."""

    def __init__(self, timeline: Timeline, names: SliceNames) -> None:
        self._timeline = timeline
        rows = timeline.rows
        order = rows.order
        self._names = names
        duration = timeline.slice_duration_ns
        exact = _whole(duration[order])
        self.kinds = {"start": "f8", "duration": exact}
        if np.any(rows.parent >= 0):
            self.kinds["self"] = exact if exact == "f8" else _whole(rows.self_ns[order])
        if np.any(timeline.slice_node >= 0):
            self.kinds["node"] = "i4"
        if timeline.shared is not None:
            self.kinds["set"] = "i4"
        if np.any(timeline.slice_role):
            self.kinds["role"] = "u1"
        if timeline.slice_about is not None:
            self.kinds["about"] = "i4"
        self.kinds["name"] = "u2" if names.count <= 1 << 16 else "i4"
        if not np.array_equal(order, np.arange(len(order))):
            self.kinds["source"] = "i4"
        trust = timeline.slice_trust
        self.trust = int(trust[0]) if len(trust) and (trust == trust[0]).all() else None
        if self.trust is None:
            self.kinds["trust"] = "u1"

    @property
    def width(self) -> int:
        """Bytes per slice."""
        return sum(np.dtype(_NARROW[kind]).itemsize for kind in self.kinds.values())

    def columns(self, source: npt.NDArray[np.integer]) -> dict[str, Column]:
        """Return the columns of slices by timeline index."""
        timeline = self._timeline
        wide: dict[str, Column] = {
            "start": timeline.slice_start_ns,
            "duration": timeline.slice_duration_ns,
            "self": timeline.rows.self_ns,
            "node": timeline.slice_node,
            "name": self._names.codes,
            "trust": timeline.slice_trust,
            "role": timeline.slice_role,
        }
        if timeline.shared is not None:
            wide["set"] = timeline.shared.slice_set
        if timeline.slice_about is not None:
            wide["about"] = timeline.slice_about.codes
        return {
            name: (wide[name][source] if name in wide else source).astype(_NARROW[kind], copy=False)
            for name, kind in self.kinds.items()
        }


def _whole(values: npt.NDArray[np.float64]) -> str:
    """Return ``u4`` if all values are integers that fit, else ``f8``."""
    fits = not len(values) or values.max() < 1 << 32
    return "u4" if fits and bool((values == np.floor(values)).all()) else "f8"
