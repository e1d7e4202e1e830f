"""Events of a Chrome trace to slices on named tracks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.chrome.columns import ASYNC, FLOWS, INSTANTS
from tvmdbg_widgets.formats.chrome.nesting import Pairs, pair
from tvmdbg_widgets.formats.chrome.tracks import TrackNames
from tvmdbg_widgets.model.issues import Issue, Severity
from tvmdbg_widgets.model.numbers import counted
from tvmdbg_widgets.model.strings import StringColumn
from tvmdbg_widgets.model.text import paired
from tvmdbg_widgets.model.trace_extras import TraceExtras

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tvmdbg_widgets.formats.chrome.columns import Columns

_SHOWN = frozenset("XBEM") | INSTANTS | ASYNC
_COARSE_US = 1e-3

Ints = npt.NDArray[np.int64]


class Slices:
    """Slices by start, outer before inner, with their tracks; see :class:`ChromeTrace`."""

    def __init__(self, columns: Columns, file: str) -> None:
        self.file = file
        self.issues: list[Issue] = []
        self._columns = columns
        self._phase = np.frombuffer(columns.phase, np.uint8)
        self._ts = np.frombuffer(columns.ts_us, np.float64)
        self._rows: list[Ints] = []
        self._durations: list[npt.NDArray[np.float64]] = []
        self._keys = list(columns.tracks)
        self._track_of: list[Ints] = []
        self._intervals()
        self._threads()
        self._instants()
        self._async()
        self._finish()
        self._tell()

    def _of(self, phases: Iterable[str]) -> Ints:
        codes = [ord(phase) for phase in phases]
        return np.flatnonzero(np.isin(self._phase, np.asarray(codes, np.uint8)))

    def _add(self, rows: Ints, durations: npt.NDArray[np.float64], tracks: Ints) -> None:
        self._rows.append(rows.astype(np.int64))
        self._durations.append(durations.astype(np.float64))
        self._track_of.append(tracks.astype(np.int64))

    def _tracks(self, rows: Ints) -> Ints:
        return np.frombuffer(self._columns.track, np.int32)[rows].astype(np.int64)

    def _intervals(self) -> None:
        rows = self._of("X")
        self._add(rows, np.frombuffer(self._columns.dur_us, np.float64)[rows], self._tracks(rows))

    def _threads(self) -> None:
        rows = self._of("BE")
        found = pair(
            self._columns,
            rows,
            self._phase[rows] == ord("B"),
            self._tracks(rows).tolist(),
            unnamed=self._columns.names.get(""),
        )
        begin = np.asarray(found.begin, np.int64)
        self._add(
            begin, self._ts[np.asarray(found.end, np.int64)] - self._ts[begin], self._tracks(begin)
        )
        self._unpaired(found, "B", "E")

    def _instants(self) -> None:
        rows = self._of(INSTANTS)
        self._add(rows, np.zeros(len(rows)), self._tracks(rows))

    def _async(self) -> None:
        rows = self._of(ASYNC)
        if not len(rows):
            return
        extra = self._columns.extra
        begins = np.isin(self._phase[rows], [ord("b"), ord("S")])
        ends = np.isin(self._phase[rows], [ord("e"), ord("F")])
        both = rows[begins | ends]
        keys = [extra[row][:2] for row in both.tolist()]
        found = pair(
            self._columns,
            both,
            begins[begins | ends],
            keys,
            unnamed=self._columns.names.get(""),
        )
        begin = np.asarray(found.begin, np.int64)
        durations = self._ts[np.asarray(found.end, np.int64)] - self._ts[begin]
        self._add(begin, durations, self._async_tracks(begin))
        inside = rows[~(begins | ends)]
        self._add(inside, np.zeros(len(inside)), self._async_tracks(inside))
        self._unpaired(found, "b", "e")

    def _async_tracks(self, rows: Ints) -> Ints:
        """Tracks of asynchronous events: one a process and category."""
        table: dict[Any, int] = {key: at for at, key in enumerate(self._keys)}
        tracks = self._tracks(rows).tolist()
        own = []
        for row, track in zip(rows.tolist(), tracks, strict=True):
            category = self._columns.extra[row][0]
            key = self._keys[track][0], f"async {category}".rstrip()
            at = table.setdefault(key, len(table))
            if at == len(self._keys):
                self._keys.append(key)
            own.append(at)
        return np.asarray(own, np.int64)

    def _finish(self) -> None:
        rows, durations = np.concatenate(self._rows), np.concatenate(self._durations)
        tracks = np.concatenate(self._track_of)
        order = np.lexsort((rows, -durations, self._ts[rows]))
        rows, durations, tracks = rows[order], durations[order], tracks[order]
        origin = float(self._ts.min()) if len(self._ts) else 0.0
        self._origin = origin
        self.start_ns = (self._ts[rows] - origin) * 1e3
        self.duration_ns = durations * 1e3
        texts = tuple(map(paired, self._columns.names))
        self.names = StringColumn(texts, np.frombuffer(self._columns.name, np.int32)[rows])
        metadata = TrackNames(self._columns.metadata)
        used = np.unique(tracks)
        keys = [self._keys[at] for at in used.tolist()]
        shown = metadata.order(keys)
        names = metadata.names(keys)
        place = np.zeros(len(self._keys), np.int32)
        place[used[shown]] = np.arange(len(shown))
        self.track = place[tracks]
        self.tracks = tuple(paired(names[at]) for at in shown)
        self.extras = self._extras(metadata)

    def _extras(self, metadata: TrackNames) -> TraceExtras:
        columns = self._columns
        counters, flows = self._of("C"), self._of(FLOWS)
        codes = np.frombuffer(columns.name, np.int32)
        names = metadata.names(self._keys)
        of_flow = self._tracks(flows).tolist()
        return TraceExtras(
            counter_names=StringColumn(tuple(map(paired, columns.names)), codes[counters]),
            counter_ns=(self._ts[counters] - self._origin) * 1e3,
            counter_values=tuple(columns.extra[row][0] for row in counters.tolist()),
            flow_ids=tuple(" ".join(columns.extra[row][:2]) for row in flows.tolist()),
            flow_phases=tuple(chr(self._phase[row]) for row in flows.tolist()),
            flow_ns=(self._ts[flows] - self._origin) * 1e3,
            flow_tracks=tuple(paired(names[at]) for at in of_flow),
            counts=dict(columns.phases),
        )

    def _unpaired(self, found: Pairs, begin: str, end: str) -> None:
        for rule, rows, what in (
            ("end-missing", found.lone_begins, f"{begin} without its {end}; it has no duration"),
            ("begin-missing", found.lone_ends, f"{end} without its {begin}"),
        ):
            if rows:
                self._report(rule, Severity.ERROR, rows, f"{what}; left out")
        if found.differing:
            self._report(
                "names-differ",
                Severity.WARNING,
                found.differing,
                f"{end} of another name than the {begin} it closes; paired by nesting",
            )

    def _report(self, rule: str, severity: Severity, rows: list[int], what: str) -> None:
        places = [self._columns.index[row] for row in rows]
        first = rows[places.index(min(places))]
        text = f"traceEvents[{min(places)}] ({self._ts[first]:.3f} µs): {what}"
        more = f" ({counted(len(rows), 'such event')})"
        self.issues.append(Issue(rule, severity, text + more, file=self.file))

    def _tell(self) -> None:
        for why, (count, first) in self._columns.bad.items():
            self.issues.append(
                Issue(
                    "event-unusable",
                    Severity.ERROR,
                    f"traceEvents[{first}]: {why}; left out ({counted(count, 'such event')})",
                    file=self.file,
                )
            )
        phases = self._columns.phases
        kept = {phase: phases[phase] for phase in ("C", *sorted(FLOWS)) if phases[phase]}
        if kept:
            self._note("events-kept", f"{_counts(kept)}: kept in timeline.extras, not drawn")
        other = {p: n for p, n in phases.items() if p not in _SHOWN | FLOWS | {"C", "?"}}
        if other:
            self._note("events-not-shown", f"{_counts(other)}: counted in timeline.extras alone")
        step = float(np.spacing(np.abs(self._ts).max())) if len(self._ts) else 0.0
        if step > _COARSE_US:
            self._note(
                "time-precision",
                f"times are as large as {float(np.abs(self._ts).max()):.6g} µs: a double holds "
                f"them to {step * 1e3:.3g} ns",
            )

    def _note(self, rule: str, message: str) -> None:
        self.issues.append(Issue(rule, Severity.NOTE, message, file=self.file))


def _counts(phases: dict[str, int]) -> str:
    told = ", ".join(f"{count:,} of phase {paired(p)[:8]!r}" for p, count in sorted(phases.items()))
    return f"events {told}"
