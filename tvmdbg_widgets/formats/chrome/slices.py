"""Slices on named tracks from the events of a Chrome trace."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.chrome.columns import ASYNC, FLOWS, INSTANTS, ChromeColumns
from tvmdbg_widgets.formats.chrome.tracks import PROFILER, Lane, TrackNames
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import counted, duration_text
from tvmdbg_widgets.model.base.text import IssueLog, IssueSeverity, paired
from tvmdbg_widgets.model.timeline.node_sets import Counters, FlowEnds, TraceExtras

_SHOWN = frozenset("XBEM") | INSTANTS | ASYNC
_EXACT_TO = 2.0**53
_PHASES_SHOWN = 10
_NO_END, _NO_BEGIN = "end missing", "begin missing"

Ints = npt.NDArray[np.int64]


class ChromeSlices:
    """Slices by start, outer before inner, with their tracks; see :class:`ChromeTrace`."""

    def __init__(self, columns: ChromeColumns, file: str) -> None:
        self.issues = IssueLog(file)
        self._columns = columns
        self._phase = np.frombuffer(columns.phase, np.uint8)
        self._rows: list[Ints] = []
        self._durations: list[npt.NDArray[np.float64]] = []
        self._keys = list(columns.tracks)
        self._track_of: list[Ints] = []
        self._lone: list[tuple[Ints, str]] = []
        self._same = _same(self._keys)
        rows = self._of("X")
        self._add(rows, self._columns.duration[rows], self._tracks(rows))
        self._threads()
        rows = self._of(INSTANTS)
        self._add(rows, np.zeros(len(rows)), self._tracks(rows))
        self._async()
        self._finish()
        self._add_issues()

    def _of(self, phases: Iterable[str]) -> Ints:
        codes = [ord(phase) for phase in phases]
        return np.flatnonzero(np.isin(self._phase, np.asarray(codes, np.uint8)))

    def _add(self, rows: Ints, durations: npt.NDArray[np.float64], tracks: Ints) -> None:
        self._rows.append(rows.astype(np.int64))
        self._durations.append(durations.astype(np.float64))
        self._track_of.append(tracks.astype(np.int64))

    def _tracks(self, rows: Ints) -> Ints:
        return self._same[np.frombuffer(self._columns.track, np.int32)[rows]]

    def _threads(self) -> None:
        rows = self._of("BE")
        begins, keys = self._phase[rows] == ord("B"), self._tracks(rows).tolist()
        self._paired(pair(self._columns, rows, begins, keys), "BE", self._tracks)

    def _async(self) -> None:
        rows = self._of(ASYNC)
        if not len(rows):
            return
        extra = self._columns.asynchronous
        begins = np.isin(self._phase[rows], [ord("b"), ord("S")])
        ends = np.isin(self._phase[rows], [ord("e"), ord("F")])
        both = rows[begins | ends]
        keys = [extra[row] for row in both.tolist()]
        pairs = pair(self._columns, both, begins[begins | ends], keys)
        inside = rows[~(begins | ends)]
        self._add(inside, np.zeros(len(inside)), self._async_tracks(inside))
        self._paired(pairs, "be", self._async_tracks)

    def _async_tracks(self, rows: Ints) -> Ints:
        table: dict[Any, int] = {key: at for at, key in enumerate(self._keys)}
        tracks = self._tracks(rows).tolist()
        own = []
        for row, track in zip(rows.tolist(), tracks, strict=True):
            category = self._columns.asynchronous[row][0]
            key = self._keys[track][0], f"async {category}".rstrip()
            at = table.setdefault(key, len(table))
            if at == len(self._keys):
                self._keys.append(key)
            own.append(at)
        return np.asarray(own, np.int64)

    def _finish(self) -> None:
        rows, durations = np.concatenate(self._rows), np.concatenate(self._durations)
        tracks = np.concatenate(self._track_of)
        timed = self._columns.ts[self._phase > 0]
        self.origin_ns = int(timed.min()) if len(timed) else 0
        tracks = self._observed(rows, tracks)
        start = self._columns.since(rows, self.origin_ns)
        order = _order(start, -durations, rows)
        rows, tracks = rows[order], tracks[order]
        self.start_ns, self.duration_ns = start[order], durations[order]
        self.names = self._named(rows)
        metadata = self._columns.metadata
        table = {key: at for at, key in enumerate(self._keys)}
        base = {
            table[lane]: table.setdefault(of, len(table))
            for lane, of in metadata.lanes().items()
            if lane in table
        }
        declared = [table.setdefault(key, len(table)) for key in metadata.declared()]
        tracks_of = np.arange(len(table))
        tracks_of[: len(self._same)] = self._same
        tracks_of[list(base)] = list(base.values())
        tracks, every = tracks_of[tracks], list(table)
        shown_at_all = np.zeros(len(table), np.bool_)
        shown_at_all[tracks] = shown_at_all[declared] = True
        used = np.flatnonzero(shown_at_all)
        keys = [every[at] for at in used.tolist()]
        shown = metadata.order(keys)
        self.tracks = metadata.table([keys[at] for at in shown])
        place = np.full(len(every), -1, np.int32)
        place[used[shown]] = np.arange(len(shown))
        place = place[tracks_of]
        self.track = place[tracks]
        at = np.full(len(self._phase), -1, np.int32)
        at[rows] = np.arange(len(rows))
        self.extras = TraceExtras(
            counters=_counters(self._columns, self._phase, self.origin_ns, metadata),
            flow_ends=_flow_ends(self._columns, self._phase, self.origin_ns, place, at),
            counts=dict(self._columns.phases),
        )

    def _observed(self, rows: Ints, tracks: Ints) -> Ints:
        """Return the tracks with a lane of its own for a profiler's own events of a process."""
        own = np.isin(rows, np.frombuffer(self._columns.observers, np.int64))
        if not own.any():
            return tracks
        table: dict[str, int] = {}
        moved = tracks.copy()
        for track in np.unique(tracks[own]).tolist():
            pid, _ = self._keys[track]
            if str(pid) not in table:
                table[str(pid)] = len(self._keys)
                self._keys.append((pid, Lane(PROFILER)))
            moved[own & (tracks == track)] = table[str(pid)]
        return moved

    def _named(self, rows: Ints) -> StringColumn:
        """Return the names of slices, which mark missing ends."""
        texts = list(map(paired, self._columns.names))
        codes = np.frombuffer(self._columns.name, np.int32)
        for lone, reason in self._lone:
            own, place = np.unique(codes[lone], return_inverse=True)
            codes = codes.copy()
            codes[lone] = place + len(texts)
            texts += [f"{texts[code]} ({reason})".lstrip() for code in own.tolist()]
        table = StringColumn.from_strings(texts)
        return StringColumn(table.unique, table.codes[codes[rows]])

    def _paired(self, pairs: BeginEndPairs, phases: str, tracks: Callable[[Ints], Ints]) -> None:
        starts, ends = np.asarray(pairs.begin, np.int64), np.asarray(pairs.end, np.int64)
        self._add(starts, self._columns.between(starts, ends), tracks(starts))
        begin, end = tuple(phases)
        for rule, rows, what, reason in (
            ("end-missing", pairs.lone_begins, f"{begin} without its {end}", _NO_END),
            ("begin-missing", pairs.lone_ends, f"{end} without its {begin}", _NO_BEGIN),
        ):
            if rows:
                at = np.asarray(rows, np.int64)
                self._add(at, np.zeros(len(at)), tracks(at))
                self._lone.append((at, reason))
                shown = f"how long it took is not known: a mark, named {f'… ({reason})'!r}"
                self._report(rule, IssueSeverity.ERROR, rows, f"{what}; {shown}")
        if pairs.differing:
            text = f"{end} of another name than the {begin} it closes; paired by nesting"
            self._report("names-differ", IssueSeverity.WARNING, pairs.differing, text)

    def _report(self, rule: str, severity: IssueSeverity, rows: list[int], what: str) -> None:
        places = [self._columns.index[row] for row in rows]
        first = rows[places.index(min(places))]
        text = f"traceEvents[{min(places)}] ({self._columns.text(first)} µs): {what}"
        more = f" ({counted(len(rows), 'such event')})"
        self.issues.add(rule, severity, text + more)

    def _add_issues(self) -> None:
        problems = sorted(self._columns.bad.items(), key=lambda problem: problem[1][1])
        for why, (count, first) in problems:
            text = f"traceEvents[{first}]: {why}; left out ({counted(count, 'such event')})"
            self.issues.error("event-unusable", text)
        phases = self._columns.phases
        other = {p: n for p, n in phases.items() if p not in _SHOWN | FLOWS | {"C", "?"}}
        if other:
            self.issues.note(
                "events-not-shown", f"{_counts(other)}: counted in timeline.extras alone"
            )
        span = float(self.start_ns.max()) if len(self.start_ns) else 0.0
        if span > _EXACT_TO:
            text = f"the last slice starts {duration_text(span)} after the first event: a double "
            text += f"holds such times to {np.spacing(span):.3g} ns"
            self.issues.note("time-precision", text)


def _same(keys: list[Any]) -> Ints:
    """Return the first track of a thread, whose ids may be numbers or texts."""
    table: dict[tuple[str, str], int] = {}
    return np.asarray(
        [table.setdefault((str(pid), str(tid)), at) for at, (pid, tid) in enumerate(keys)], np.int64
    )


def _order(*keys: npt.NDArray[Any]) -> Ints:
    """Return the order by several keys; fast if few rows are equal in the first."""
    order = np.argsort(keys[0], kind="stable")
    equal = np.zeros(len(order) + 1, np.bool_)
    equal[1:-1] = np.diff(keys[0][order]) == 0
    tied = np.flatnonzero(equal[1:] | equal[:-1])
    among = order[tied]
    order[tied] = among[np.lexsort([key[among] for key in keys[::-1]])]
    return order


def _counts(phases: dict[str, int]) -> str:
    texts = [f"{count:,} of phase {paired(p)[:8]!r}" for p, count in sorted(phases.items())]
    if len(texts) > _PHASES_SHOWN:
        texts[_PHASES_SHOWN:] = [counted(len(texts) - _PHASES_SHOWN, "more phase")]
    return f"events {', '.join(texts)}"


def _counters(
    columns: ChromeColumns, phase: npt.NDArray[np.uint8], origin_ns: int, names: TrackNames
) -> Counters:
    """Return series by process, name and id; the last value of a moment counts."""
    row = np.frombuffer(columns.counter_row, np.int64)
    of = np.frombuffer(columns.counter_series, np.int32)
    value = np.frombuffer(columns.counter_value, np.float64)
    used = phase[row] > 0
    row, of, value = row[used], of[used], value[used]
    order = columns.by_time(row)
    order = order[np.argsort(of[order], kind="stable")]
    offsets = np.searchsorted(of[order], np.arange(len(columns.series) + 1))
    keys = list(columns.series)
    return Counters(
        names=tuple(paired(f"{name} {own}".rstrip()) for _, name, own, _ in keys),
        series=tuple(paired(key) for *_, key in keys),
        devices=tuple(names.process(pid) for pid, *_ in keys),
        offsets=offsets.astype(np.int64),
        ns=columns.since(row[order], origin_ns),
        values=value[order],
    )


def _flow_ends(
    columns: ChromeColumns,
    phase: npt.NDArray[np.uint8],
    origin_ns: int,
    place: npt.NDArray[np.int32],
    at: npt.NDArray[np.int32],
) -> FlowEnds:
    own = np.flatnonzero(np.isin(phase, [ord(is_around) for is_around in FLOWS]))
    flows = [columns.flow[row] for row in own.tolist()]
    bound = np.frombuffer(columns.bound_row, np.int64)
    there = at[bound] >= 0
    bound = bound[there]
    rows = np.concatenate((own, bound))
    order = columns.by_time(rows)
    flow = np.concatenate(
        (
            np.asarray([number for number, _ in flows], np.int32),
            np.frombuffer(columns.bound_flow, np.int32)[there],
        )
    )
    phases = np.concatenate((phase[own], np.frombuffer(columns.bound_phase, np.uint8)[there]))
    around = np.asarray([is_around for _, is_around in flows], np.bool_)
    encloses = np.concatenate((around, np.ones(len(bound), np.bool_)))
    slices = np.concatenate((np.full(len(own), -1, np.int32), at[bound]))
    rows = rows[order]
    track = np.frombuffer(columns.track, np.int32)[rows]
    codes = np.frombuffer(columns.name, np.int32)[rows]
    return FlowEnds(
        flow=flow[order],
        phase=phases[order],
        ns=columns.since(rows, origin_ns),
        track=place[track],
        encloses=encloses[order],
        names=StringColumn(tuple(map(paired, columns.names)), codes),
        slices=slices[order],
    )


@dataclass(frozen=True)
class BeginEndPairs:
    """Rows of begin events and of the end events that close them, and unpaired ones."""

    begin: list[int]
    end: list[int]
    lone_begins: list[int]
    lone_ends: list[int]
    differing: list[int]


def pair(
    columns: ChromeColumns,
    rows: npt.NDArray[np.int64],
    begins: npt.NDArray[np.bool_],
    keys: Sequence[Hashable],
) -> BeginEndPairs:
    """Pair events in order of time: an end closes the last open begin of its key."""
    order = columns.by_time(rows).tolist()
    own, begun, name = rows.tolist(), begins.tolist(), columns.name
    unnamed = columns.names.get("")
    pairs = BeginEndPairs([], [], [], [], [])
    stacks: dict[Hashable, list[int]] = {}
    for place in order:
        row = own[place]
        stack = stacks.setdefault(keys[place], [])
        if begun[place]:
            stack.append(row)
        elif stack:
            start = stack.pop()
            pairs.begin.append(start)
            pairs.end.append(row)
            if name[row] not in (name[start], unnamed):
                pairs.differing.append(row)
        else:
            pairs.lone_ends.append(row)
    for stack in stacks.values():
        pairs.lone_begins.extend(stack)
    return pairs
