"""A few open files kept for the next read."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import io


class Descriptors:
    """Idle open files, the latest used of them up to a limit.

    A file is lent to one thread at a time, so none is closed or moved under a reader.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._idle: dict[int, io.FileIO] = {}
        self._lock = threading.Lock()

    def take(self, owner: int) -> io.FileIO | None:
        """Lend the idle file of ``owner``, if there is one."""
        with self._lock:
            return self._idle.pop(owner, None)

    def give(self, owner: int, file: io.FileIO) -> None:
        """Keep ``file`` for the next reader of ``owner``."""
        with self._lock:
            surplus = [self._idle.pop(owner, None)]
            self._idle[owner] = file
            if len(self._idle) > self._limit:
                surplus.append(self._idle.pop(next(iter(self._idle))))
        for other in surplus:
            if other is not None:
                other.close()

    def drop(self, owner: int) -> None:
        """Close the idle file of ``owner``."""
        file = self.take(owner)
        if file is not None:
            file.close()
