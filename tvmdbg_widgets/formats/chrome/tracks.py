"""Names and order of a Chrome trace's tracks, from its metadata events."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Key = tuple[Any, Any]


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
        self.unused = 0
        for event in metadata:
            arguments = event.get("args")
            if not isinstance(arguments, dict):
                self.unused += 1
                continue
            pid, tid = str(event.get("pid")), str(event.get("tid"))
            name, order = arguments.get("name"), arguments.get("sort_index")
            kind = event.get("name")
            if kind == "process_name" and isinstance(name, str):
                self._processes[pid] = name
            elif kind == "thread_name" and isinstance(name, str):
                self._threads[pid, tid] = name
            elif kind == "process_sort_index" and isinstance(order, int | float):
                self._process_order[pid] = float(order)
            elif kind == "thread_sort_index" and isinstance(order, int | float):
                self._thread_order[pid, tid] = float(order)
            else:
                self.unused += 1

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

    def names(self, keys: Sequence[Key]) -> list[str]:
        """Return a name for each track; equal ones are told apart by their ids."""
        several = len({str(pid) for pid, _ in keys}) > 1
        names = []
        for pid, tid in keys:
            thread = self._threads.get((str(pid), str(tid)))
            shown = thread or _untold(tid)
            process = self._processes.get(str(pid)) or f"process {pid}"
            names.append(f"{process}: {shown}" if several else shown)
        counts = Counter(names)
        return [
            f"{name} ({pid}, {tid})" if counts[name] > 1 else name
            for name, (pid, tid) in zip(names, keys, strict=True)
        ]


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
