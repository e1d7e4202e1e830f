"""A log that grows while tuning runs."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from tvmdbg_widgets.analysis.tuning.derived.recorded import Recorded
from tvmdbg_widgets.model.base.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterator


class Following(Recorded):
    """A log that grows while tuning runs."""

    def follow(self, seconds: float = 1.0) -> Follower[Self]:
        """Look at the files of this log again and again, as a tuning that runs appends to them.

        ::

            for log in tvmdbg.open_tuning("ansor.json").follow():
                print(len(log))

        This log stays as it is: each change gives another one. Rows that are new stand behind all
        others. A line that is only half written waits for its end; a file that another process
        cuts off and writes again is read again.

        Parameters
        ----------
        seconds
            Between two looks.

        Raises
        ------
        ValueError
            No file of the log is one on disk, or the time is not above 0.
        """
        return Follower(self, seconds)


Log = TypeVar("Log", bound=Following)


class Follower(Generic[Log]):
    """Logs of a tuning that runs, one after the other; made by :meth:`TuningLog.follow`.

    Iterate over it, or call :meth:`poll`. As a context it is closed in the end, which also ends an
    iteration in another thread.

    Attributes
    ----------
    problem : Exception or None
        Why the files could not be read at the last look, as while another process replaces them.
    """

    def __init__(self, log: Log, seconds: float = 1.0) -> None:
        from tvmdbg_widgets.formats.tuning.follow import FollowedParts
        from tvmdbg_widgets.sources.file_source import GrowingFile

        if not seconds > 0:
            raise ValueError(f"seconds must be above 0, not {seconds!r}")
        if not any(isinstance(e, GrowingFile) for e in (*log.parts.sources, *log.parts.beside)):
            raise ValueError("nothing of this log is a file on disk, which alone can grow")
        self.problem: Exception | None = None
        self._log = log
        self._followed = FollowedParts(log.parts)
        self._seconds = seconds
        self._closed = threading.Event()
        self._lock = threading.Lock()

    def poll(self) -> Log | None:
        """Look at the files now; None where nothing changed, or they cannot be read right now."""
        from tvmdbg_widgets.model.base.errors import FormatError

        with self._lock:
            self.problem = None
            try:
                if not self._followed.poll():
                    return None
            except (FormatError, OSError) as problem:
                self.problem = problem
                return None
            self._log = type(self._log)(self._followed.parts, self._weights())
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
        return (
            f"Follower of {self._log.title!r}, {state}: {counted(len(self._log), 'record')} so far"
        )

    def _weights(self) -> tuple[float, ...] | None:
        """Return the weights that the caller gave; a new task counts once."""
        if self._log.weights is None:
            return None
        pairs = zip(self._log.tasks, self._log.weights, strict=True)
        known = {(task.workload_key, task.target.text): weight for task, weight in pairs}
        tasks = self._followed.parts.tasks
        return tuple(known.get((task.workload_key, task.target.text), 1.0) for task in tasks)
