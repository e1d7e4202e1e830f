"""Names and order of a Chrome trace's tracks, from its metadata events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tvmdbg_widgets.formats.chrome.event import ChromeEvent
from tvmdbg_widgets.formats.decimals import DecimalText
from tvmdbg_widgets.model.base.numbers import as_float
from tvmdbg_widgets.model.base.text import paired

Key = tuple[Any, Any]

PROFILER = "profiler"

_NUMBERS = (int, float, DecimalText)


class Lane(str):
    """The id of a lane that is no thread of the trace."""

    __slots__ = ()


@dataclass(frozen=True)
class Tracks:
    """T tracks: titles, and the run, process and thread of each."""

    names: tuple[str, ...]
    runs: tuple[int, ...]
    devices: tuple[str, ...]
    threads: tuple[str, ...]
    observers: tuple[bool, ...]


class TrackNames:
    """Names from events of phase M; exported traces have the timeline in ``args.tvmdbg``."""

    def __init__(self) -> None:
        self._processes: dict[str, str] = {}
        self._labels: dict[str, str] = {}
        self._threads: dict[tuple[str, str], str] = {}
        self._process_order: dict[str, float] = {}
        self._thread_order: dict[tuple[str, str], float] = {}
        self._devices: dict[str, str] = {}
        self.ours: dict[Key, dict[str, Any]] = {}

    def add(self, event: ChromeEvent) -> None:
        """Add an event of phase M."""
        arguments = event.arguments()
        if not isinstance(arguments, dict):
            return
        pid, tid = str(event.pid), str(event.tid)
        ours = arguments.get("tvmdbg")
        name, order = arguments.get("name"), arguments.get("sort_index")
        kind = event.name
        if kind == "process_name" and isinstance(name, str):
            self._processes[pid] = name
            if isinstance(ours, dict) and isinstance(ours.get("device"), str):
                self._devices[pid] = ours["device"]
        elif kind == "process_labels" and isinstance(arguments.get("labels"), str):
            self._labels[pid] = arguments["labels"]
        elif kind == "thread_name" and isinstance(name, str):
            self._threads[pid, tid] = name
            if isinstance(ours, dict) and type(event.pid) is type(event.tid) is int:
                self.ours[event.pid, event.tid] = ours
        elif kind == "process_sort_index" and isinstance(order, _NUMBERS):
            self._process_order[pid] = _order(order)
        elif kind == "thread_sort_index" and isinstance(order, _NUMBERS):
            self._thread_order[pid, tid] = _order(order)

    def order(self, keys: Sequence[Key]) -> list[int]:
        """Return the display order of tracks."""
        if all(_is_track(self.ours.get(key, {})) for key in keys):
            return sorted(range(len(keys)), key=lambda at: self.ours[keys[at]]["index"])

        def place(at: int) -> tuple[Any, ...]:
            pid, tid = map(str, keys[at])
            processes, threads = self._process_order, self._thread_order
            return (
                processes.get(pid, 0.0),
                *_number(pid),
                threads.get((pid, tid), 0.0),
                *_number(tid),
            )

        return sorted(range(len(keys)), key=place)

    def declared(self) -> list[Key]:
        """Return the threads that are tracks of a timeline, also without slices."""
        return [key for key, ours in self.ours.items() if _is_track(ours)]

    def lanes(self) -> dict[Key, Key]:
        """Return the lanes of overlaps by thread."""
        return {
            (pid, tid): (pid, ours["lane_of"])
            for (pid, tid), ours in self.ours.items()
            if type(ours.get("lane_of")) is int
        }

    def process(self, pid: Any) -> str:
        """Return a process's name with labels, or its number; equal names get numbers, too."""
        own = str(pid)
        if own in self._devices:
            return paired(self._devices[own])
        return paired(self._titles.get(own) or self._title(own))

    @cached_property
    def _titles(self) -> dict[str, str]:
        pids = dict.fromkeys((*self._processes, *self._labels))
        titles = {pid: self._title(pid) for pid in pids}
        counts = Counter(titles.values())
        return {
            pid: f"{title} (pid {pid})" if counts[title] > 1 else title
            for pid, title in titles.items()
        }

    def _title(self, pid: str) -> str:
        name, labels = self._processes.get(pid) or f"process {pid}", self._labels.get(pid, "")
        return name if not labels or labels in name else f"{name} ({labels})"

    def table(self, keys: Sequence[Key]) -> Tracks:
        """Return the tracks; equal names get ids, too."""
        several = len({str(pid) for pid, _ in keys}) > 1
        devices = [self.process(pid) for pid, _ in keys]
        threads = [
            paired(self._threads.get((str(pid), str(tid))) or _default_title(tid))
            for pid, tid in keys
        ]
        names = [
            f"{device}: {thread}" if several else thread
            for device, thread in zip(devices, threads, strict=True)
        ]
        counts = Counter(names)
        shown = [
            f"{name} ({pid}, {tid})" if counts[name] > 1 else name
            for name, (pid, tid) in zip(names, keys, strict=True)
        ]
        runs = [0] * len(keys)
        for at, key in enumerate(keys):
            ours = self.ours.get(key, {})
            if _is_track(ours):
                shown[at], runs[at], threads[at] = ours["track"], ours["run"], ours["thread"]
        return Tracks(
            tuple(map(paired, shown)),
            tuple(runs),
            tuple(devices),
            tuple(map(paired, threads)),
            tuple(isinstance(tid, Lane) for _, tid in keys),
        )


def _is_track(ours: dict[str, Any]) -> bool:
    texts, numbers = ("track", "thread"), ("index", "run")
    return all(isinstance(ours.get(name), str) for name in texts) and all(
        type(ours.get(name)) is int and 0 <= ours[name] < 1 << 31 for name in numbers
    )


def _default_title(tid: Any) -> str:
    if tid is None:
        return "events"
    own = isinstance(tid, Lane) or (isinstance(tid, str) and tid.startswith("async"))
    return tid if own else f"thread {tid}"


def _number(text: str) -> tuple[float, str]:
    try:
        return float(text), text
    except ValueError:
        return float("inf"), text


def _order(value: Any) -> float:
    number = as_float(value)
    return number if number == number else 0.0  # noqa: PLR0124 (NaN sorts nothing)
