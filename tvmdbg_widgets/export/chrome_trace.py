"""The timeline as a Chrome trace in JSON, for Perfetto, chrome://tracing and this package.

"Trace Event Format" (Google, 2016): times are microseconds in decimal. Slices are X events,
without duration instants (i); counters are C events; flows are s, t and f events, or a bind_id of
their slice. Times count from the timeline's origin in ``otherData``: Perfetto v52 reads times since
1970 to 250 ns only, and drops a third of adjacent slices.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from tqdm.auto import tqdm

from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.base.writing import replacing
from tvmdbg_widgets.model.graph.graph import Graph, node_op_kinds
from tvmdbg_widgets.model.timeline.columns import SliceRole
from tvmdbg_widgets.model.timeline.measured import bound_slices
from tvmdbg_widgets.model.timeline.rows import Intervals, holding, in_order
from tvmdbg_widgets.model.timeline.timeline import Timeline

_BLOCK = 1 << 14

Ints = npt.NDArray[np.int64]


def write_chrome_trace(
    timeline: Timeline, graph: Graph | None, path: str | os.PathLike[str], *, title: str = ""
) -> Path:
    """Write a timeline; see ``DebugRun.to_chrome_trace``."""
    target = Path(path)
    with replacing(target, ".json") as file:
        send_chrome_trace(timeline, graph, file, title=title)
    return target


def send_chrome_trace(
    timeline: Timeline, graph: Graph | None, file: IO[bytes], *, title: str = ""
) -> None:
    """Write a timeline to an open file, one block of events at a time."""
    slices = _order(timeline)
    given = threads(timeline)
    suffix = " (synthetic: back to back)" if timeline.synthetic else ""
    values = None if timeline.extras is None else timeline.extras.counters.values
    about = {
        "title": title,
        "synthetic": timeline.synthetic,
        "origin_ns": timeline.origin_ns,
        "executions": timeline.executions,
        "whole": timeline.whole,
        "roles": _roles(timeline),
        "slices_left_out": timeline.num_slices - len(slices),
        "values_left_out": 0 if values is None else int(np.count_nonzero(~np.isfinite(values))),
    }
    top = {"displayTimeUnit": "ns", "otherData": {"tvmdbg": about}}
    file.write(json.dumps(top)[:-1].encode() + b', "traceEvents": [\n')
    first = ",\n".join(metadata(timeline, given, title or "timeline", suffix))
    file.write(first.encode())
    comma = ",\n" if first else ""
    events = _EventLines(timeline, graph, given)
    total = len(slices) + len(events.ends)
    with tqdm(total=total, desc="writing events", unit="", delay=1, leave=False) as bar:
        for make, every in ((events.slices, slices), (events.flows, events.ends)):
            for begin in range(0, len(every), _BLOCK):
                block = every[begin : begin + _BLOCK]
                file.write((comma + ",\n".join(make(block))).encode())
                comma = ",\n"
                bar.update(len(block))
    for line in events.counters():
        file.write((comma + line).encode())
        comma = ",\n"
    file.write(b"\n]}\n")


def _roles(timeline: Timeline) -> dict[str, list[str]]:
    """Return the names of non-work slices by role, if all slices of a name have it.

    No event field holds a role, and a reopened trace must count the same.
    """
    codes, roles = timeline.slice_names.codes, {}
    for role in set(SliceRole) - {SliceRole.WORK}:
        own = timeline.slice_role == role
        names = np.setdiff1d(codes[own], codes[~own])
        if len(names):
            unique = timeline.slice_names.unique
            roles[role.name.lower()] = [unique[code] for code in names.tolist()]
    return roles


def _order(timeline: Timeline) -> Ints:
    """Return usable slices by start, longer first, in rounded-down nanoseconds.

    Some readers use integer nanoseconds, and parents must come before their children.
    """
    at = np.sort(timeline.rows.order).astype(np.int64)
    start, duration = timeline.slice_start_ns[at], timeline.slice_duration_ns[at]
    return at[np.lexsort((-duration, start, -np.floor(duration), np.floor(start)))]


_WAYS = {"s": ("flow_out",), "t": ("flow_in", "flow_out"), "f": ("flow_in",)}


class _EventLines:
    """Lines of the events of a timeline."""

    def __init__(self, timeline: Timeline, graph: Graph | None, given: Threads) -> None:
        self._timeline, self._threads = timeline, given
        self._names = [json.dumps(name) for name in timeline.slice_names.unique]
        self._where = [given.where(thread) for thread in range(len(given.track))]
        self._trust = [json.dumps(trust.label) for trust in Trust]
        kinds = [] if graph is None else list(node_op_kinds(graph))
        self._node = [
            f'"node":{node}' + (f',"op":{json.dumps(kinds[node])}' if node < len(kinds) else "")
            for node in range(timeline.num_nodes)
        ]
        extras = timeline.extras
        self._bound = bound_slices(timeline, timeline.rows, timeline.nesting)
        self.ends = np.zeros(0, np.int64)
        self._flow: dict[int, str] = {}
        if extras is not None:
            flows = extras.flow_ends
            self.ends = np.flatnonzero(~flows.from_slice)
            for end in np.flatnonzero(flows.from_slice).tolist():
                slice_, phase = int(self._bound[end]), chr(flows.phase[end])
                ways = ",".join(f'"{way}":true' for way in _WAYS[phase])
                self._flow[slice_] = f',"bind_id":"0x{flows.flow[end]:x}",{ways}'

    def slices(self, at: Ints) -> Iterator[str]:
        line = self._timeline
        duration = line.slice_duration_ns[at]
        for index, ts, dur, length, name, thread, node, trust, occurrence in zip(
            at.tolist(),
            microseconds(line.slice_start_ns[at]),
            microseconds(duration),
            duration.tolist(),
            line.slice_names.codes[at].tolist(),
            self._threads.of_slice[at].tolist(),
            line.slice_node[at].tolist(),
            line.slice_trust[at].tolist(),
            line.slice_occurrence[at].tolist(),
            strict=True,
        ):
            more = self._flow.get(index, "")
            if node >= 0:
                more += (
                    f',"args":{{{self._node[node]},"trust":{self._trust[trust]},'
                    f'"occurrence":{occurrence}}}'
                )
            kind = f'"ph":"X","dur":{dur}' if length else '"ph":"i","s":"t"'
            yield (f'{{"name":{self._names[name]},{kind},"ts":{ts},{self._where[thread]}{more}}}')

    def flows(self, at: Ints) -> Iterator[str]:
        """Yield ends of flows, on the thread of their slice."""
        extras = self._timeline.extras
        if extras is None:
            return
        given = extras.flow_ends
        for end, ts in zip(at.tolist(), microseconds(given.ns[at]), strict=True):
            bound, track = int(self._bound[end]), int(given.track[end])
            thread = int(self._threads.of_slice[bound]) if bound >= 0 else track
            where = self._where[thread] if thread >= 0 else '"pid":0,"tid":0'
            around = ',"bp":"e"' if given.encloses[end] else ""
            yield (
                f'{{"name":{json.dumps(given.names[end])},"cat":"flow",'
                f'"ph":"{chr(given.phase[end])}","id":{given.flow[end]},"ts":{ts},{where}'
                f"{around}}}"
            )

    def counters(self) -> Iterator[str]:
        """Yield values of counters; series that change together share an event."""
        line = self._timeline
        if line.extras is None:
            return
        given = line.extras.counters
        devices = {device: pid for (_, device), pid in self._threads.processes.items()}
        together: dict[tuple[str, str, bytes], list[int]] = {}
        for k, key in enumerate(zip(given.devices, given.names, strict=True)):
            own = given.ns[given.offsets[k] : given.offsets[k + 1]]
            together.setdefault((*key, own.tobytes()), []).append(k)
        for (device, name, _), members in together.items():
            ns = given.ns[given.offsets[members[0]] : given.offsets[members[0] + 1]]
            starts = given.offsets[members]
            keys = [given.series[k] for k in members]
            head = f'{{"ph":"C","name":{json.dumps(name)},"pid":{devices[device]},"ts":'
            for step, ts in enumerate(microseconds(ns)):
                values = given.values[starts + step].tolist()
                series: dict[str, Any] = {
                    key: value
                    for key, value in zip(keys, values, strict=True)
                    if np.isfinite(value)
                }
                if series:
                    yield f'{head}{ts},"args":{json.dumps(series)}}}'


@dataclass(frozen=True, eq=False)
class Threads:
    """Threads on which slices only nest: other programs drop or move overlapping slices."""

    of_slice: Ints
    track: Ints
    lane: Ints
    pid: Ints
    processes: dict[tuple[int, str], int]

    def where(self, thread: int) -> str:
        """Return ``pid`` and ``tid`` of a thread as members of an event."""
        return f'"pid":{self.pid[self.track[thread]]},"tid":{thread + 1}'


def threads(timeline: Timeline) -> Threads:
    """Give every track a thread, and overlapping slices threads of their own."""
    count = len(timeline.tracks)
    of_slice = timeline.slice_track.astype(np.int64)
    lane = np.zeros(timeline.num_slices, np.int64)
    at = in_order(timeline)
    at = at[timeline.slice_duration_ns[at] > 0]
    # Some readers use integer nanoseconds.
    start = np.floor(timeline.slice_start_ns[at])
    length = np.floor(timeline.slice_duration_ns[at])
    order = np.lexsort((-length, start, of_slice[at]))
    at = at[order]
    nested = holding(Intervals.of(of_slice[at], start[order], length[order], tolerance=0.0))
    lane[at] = np.where(nested.across, nested.depth + 1, 0)
    keys = of_slice * (int(lane.max(initial=0)) + 1) + lane
    extra, place = np.unique(keys[lane > 0], return_inverse=True)
    of_slice[lane > 0] = count + place
    width = int(lane.max(initial=0)) + 1
    processes: dict[tuple[int, str], int] = {}
    devices = zip(timeline.track_run.tolist(), timeline.track_device, strict=True)
    pid = [processes.setdefault(process, len(processes) + 1) for process in devices]
    for device in timeline.extras.counters.devices if timeline.extras is not None else ():
        if device not in timeline.track_device:
            processes.setdefault((0, device), len(processes) + 1)
    return Threads(
        of_slice,
        np.concatenate((np.arange(count), extra // width)),
        np.concatenate((np.zeros(count, np.int64), extra % width)),
        np.asarray(pid, np.int64),
        processes,
    )


def metadata(timeline: Timeline, given: Threads, title: str, suffix: str) -> Iterator[str]:
    """Yield events that name and order processes and threads.

    The parts of a name are stored beside it for this package's reader.
    """
    several = len(set(timeline.track_run.tolist())) > 1
    for (run, device), pid in given.processes.items():
        name = (device or title) + (f" (run {run + 1})" if several else "") + suffix
        ours = {"device": device}
        yield _event("process_name", f'"pid":{pid}', {"name": name, "tvmdbg": ours})
        yield _event("process_sort_index", f'"pid":{pid}', {"sort_index": pid})
    for thread, (track, lane) in enumerate(
        zip(given.track.tolist(), given.lane.tolist(), strict=True)
    ):
        name = timeline.track_thread[track] or timeline.tracks[track]
        place: dict[str, Any] = {"lane_of": track + 1}
        if lane:
            name = f"{name} (overlapping, lane {lane})"
        else:
            place = {
                "index": track,
                "track": timeline.tracks[track],
                "run": int(timeline.track_run[track]),
                "thread": timeline.track_thread[track],
            }
        where = given.where(thread)
        yield _event("thread_name", where, {"name": name, "tvmdbg": place})
        yield _event("thread_sort_index", where, {"sort_index": thread + 1})


def _event(kind: str, where: str, arguments: dict[str, Any]) -> str:
    return f'{{"ph":"M","name":"{kind}",{where},"args":{json.dumps(arguments)}}}'


_ALL_DIGITS = Context(prec=400)


def microseconds(ns: npt.NDArray[np.float64]) -> list[str]:
    """Write times as JSON from which decimal readers get the same doubles.

    Times that would be another nanosecond for Perfetto are texts: it reads a number as a double
    times 1,000, truncated, and a text as a decimal (``CoerceToTs`` in
    ``src/trace_processor/importers/json``). One in a hundred slices would overlap the next and be
    dropped.
    """
    whole = np.floor(ns)
    if np.array_equal(whole, ns) and (not len(ns) or 0 <= ns.min() <= ns.max() < 2.0**62):
        every = whole.astype(np.int64)
        count, rest = np.divmod(every, 1000)
        same = (((every / 1e3) * 1e3).astype(np.int64) == every) & (every < 1 << 53)
        return [
            (f"{q}.{r:03d}" if r else str(q)) if plain else f'"{q}.{r:03d}"'
            for q, r, plain in zip(
                count.tolist(), rest.tolist(), (same | (rest == 0)).tolist(), strict=True
            )
        ]
    return [_text(value) for value in ns.tolist()]


def _text(ns: float) -> str:
    exact = _decimal(ns)
    text = f"{_ALL_DIGITS.scaleb(exact, -3):f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return text if exact < 0 or int(float(text) * 1e3) == int(exact) else f'"{text}"'


def _decimal(ns: float) -> Decimal:
    """Return the shortest decimal whose integer nanoseconds and rest give the double."""
    short = Decimal(repr(ns))
    whole = int(short.to_integral_value("ROUND_FLOOR"))
    rest = float(short - whole)
    return short if float(whole) + rest == ns else Decimal(ns)
