"""Processes and threads of a Chrome trace for the tracks of a timeline."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.timeline.holding import Intervals, holding
from tvmdbg_widgets.model.timeline.rows import in_order
from tvmdbg_widgets.model.timeline.timeline import Timeline

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Threads:
    """Threads so that on each slices only nest: other programs drop or move what overlaps."""

    of_slice: Ints
    track: Ints
    lane: Ints
    pid: Ints
    processes: dict[tuple[int, str], int]

    def where(self, thread: int) -> str:
        """Return ``pid`` and ``tid`` of a thread as members of an event."""
        return f'"pid":{self.pid[self.track[thread]]},"tid":{thread + 1}'


def threads(timeline: Timeline) -> Threads:
    """Give every track a thread, and slices that overlap threads of their own."""
    count = len(timeline.tracks)
    of_slice = timeline.slice_track.astype(np.int64)
    lane = np.zeros(timeline.num_slices, np.int64)
    at = in_order(timeline)
    at = at[timeline.slice_duration_ns[at] > 0]
    # as readers do that count in whole nanoseconds
    start = np.floor(timeline.slice_start_ns[at])
    length = np.floor(timeline.slice_duration_ns[at])
    order = np.lexsort((-length, start, of_slice[at]))
    at = at[order]
    found = holding(Intervals.of(of_slice[at], start[order], length[order], tolerance=0.0))
    lane[at] = np.where(found.across, found.depth + 1, 0)
    keys = of_slice * (int(lane.max(initial=0)) + 1) + lane
    extra, place = np.unique(keys[lane > 0], return_inverse=True)
    of_slice[lane > 0] = count + place
    width = int(lane.max(initial=0)) + 1
    processes: dict[tuple[int, str], int] = {}
    devices = zip(timeline.track_run.tolist(), timeline.track_device, strict=True)
    pid = [processes.setdefault(each, len(processes) + 1) for each in devices]
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


def metadata(timeline: Timeline, given: Threads, title: str, said: str) -> Iterator[str]:
    """Yield the events that name processes and threads and tell their order.

    What a name is made of stands beside it, for our own reader.
    """
    several = len(set(timeline.track_run.tolist())) > 1
    for (run, device), pid in given.processes.items():
        name = (device or title) + (f" (run {run + 1})" if several else "") + said
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
