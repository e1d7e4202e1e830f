"""Names and order of a Chrome trace's tracks, from its metadata events."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.formats.decimals import DecimalText
from tvmdbg_widgets.model.text import paired

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Key = tuple[Any, Any]

_NUMBERS = (int, float, DecimalText)


@dataclass(frozen=True)
class Tracks:
    """T tracks: how they are shown, and the process and thread this is made of."""

    names: tuple[str, ...]
    devices: tuple[str, ...]
    threads: tuple[str, ...]


class TrackNames:
    """What phase M events say of processes and threads.

    Parameters
    ----------
    metadata : iterable of dict
    """

    def __init__(self, metadata: Iterable[dict[str, Any]]) -> None:
        self._processes: dict[str, str] = {}
        self._threads: dict[tuple[str, str], str] = {}
        self._process_order: dict[str, float] = {}
        self._thread_order: dict[tuple[str, str], float] = {}
        for event in metadata:
            arguments = event.get("args")
            if not isinstance(arguments, dict):
                continue
            pid, tid = str(event.get("pid")), str(event.get("tid"))
            name, order = arguments.get("name"), arguments.get("sort_index")
            kind = event.get("name")
            if kind == "process_name" and isinstance(name, str):
                self._processes[pid] = name
            elif kind == "thread_name" and isinstance(name, str):
                self._threads[pid, tid] = name
            elif kind == "process_sort_index" and isinstance(order, _NUMBERS):
                self._process_order[pid] = _order(order)
            elif kind == "thread_sort_index" and isinstance(order, _NUMBERS):
                self._thread_order[pid, tid] = _order(order)

    def order(self, keys: Sequence[Key]) -> list[int]:
        """Return the positions of tracks in the order they are shown in."""

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

    def process(self, pid: Any) -> str:
        """Return the name of a process, else its number."""
        return paired(self._processes.get(str(pid)) or f"process {pid}")

    def table(self, keys: Sequence[Key]) -> Tracks:
        """Return what tracks are called; equal names are told apart by their ids."""
        several = len({str(pid) for pid, _ in keys}) > 1
        devices = [self.process(pid) for pid, _ in keys]
        threads = [
            paired(self._threads.get((str(pid), str(tid))) or _untold(tid)) for pid, tid in keys
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
        return Tracks(tuple(map(paired, shown)), tuple(devices), tuple(threads))


def _untold(tid: Any) -> str:
    if tid is None:
        return "events"
    own = isinstance(tid, str) and tid.startswith("async")
    return tid if own else f"thread {tid}"


def _number(text: str) -> tuple[float, str]:
    try:
        return float(text), text
    except ValueError:
        return float("inf"), text


def _order(value: Any) -> float:
    try:
        number = float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return number if number == number else 0.0  # noqa: PLR0124 (NaN sorts nothing)
