"""``Follower``: a log that grows while tuning runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar

from tvmdbg_widgets.analysis.tuning.curves import kept_weights
from tvmdbg_widgets.formats.tuning.assemble import FollowedParts
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.sources.file_source import GrowingFile

if TYPE_CHECKING:
    from tvmdbg_widgets.model.tuning.parts import TuningParts


class _Log(Protocol):
    parts: TuningParts
    weights: tuple[float, ...] | None

    def __init__(self, parts: TuningParts, weights: tuple[float, ...] | None = None) -> None: ...


Log = TypeVar("Log", bound=_Log)


class Follower(Generic[Log]):
    """Successive states of a growing log; made by :meth:`TuningLog.follow`.

    Iterate over it, or call :meth:`poll`. Leaving its context closes it, which also ends an
    iteration in another thread.
    """

    def __init__(self, log: Log, seconds: float = 1.0) -> None:
        if not seconds > 0:
            raise ValueError(f"seconds must be above 0, not {seconds!r}")
        if not any(isinstance(x, GrowingFile) for x in (*log.parts.sources, *log.parts.beside)):
            raise ValueError("nothing of this log is a file on disk, which alone can grow")
        self.problem: Exception | None = None
        self._log = log
        self._followed = FollowedParts(log.parts)
        self._seconds = seconds
        self._closed = threading.Event()
        self._lock = threading.Lock()

    def poll(self) -> Log | None:
        """Return the log with new records; None if nothing changed, or reading fails for now."""
        with self._lock:
            self.problem = None
            try:
                if not self._followed.poll():
                    return None
            except (FormatError, OSError) as problem:
                self.problem = problem
                return None
            log, parts = self._log, self._followed.parts
            self._log = type(log)(parts, kept_weights(log.parts.tasks, log.weights, parts.tasks))
            return self._log

    def close(self) -> None:
        """End the iteration."""
        self._closed.set()

    def __iter__(self) -> Iterator[Log]:
        while not self._closed.wait(self._seconds):
            if (log := self.poll()) is not None:
                yield log

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._closed.is_set() else f"every {self._seconds:g} s"
        parts = self._log.parts
        return (
            f"Follower of {parts.title!r}, {state}: {counted(len(parts.trials), 'record')} so far"
        )
