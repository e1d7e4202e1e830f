"""Work in pieces that can be stopped between any two, by one thread or several."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

_Piece = TypeVar("_Piece")

Watch = Callable[[], None]

_THREADS = min(4, os.cpu_count() or 1)


class _PieceQueue(Generic[_Piece]):
    """Pieces handed out one by one until there are none left or the work is stopped."""

    def __init__(self, pieces: Iterable[_Piece]) -> None:
        self._pieces = iter(pieces)
        self._lock = threading.Lock()
        self.stop = threading.Event()
        self.failed: list[BaseException] = []

    def __iter__(self) -> Iterator[_Piece]:
        while not self.stop.is_set():
            with self._lock:
                piece = next(self._pieces, None)
            if piece is None:
                return
            yield piece

    def help_out(self, work: Callable[[_Piece], None]) -> None:
        """Do pieces in a thread of its own."""
        try:
            for piece in self:
                work(piece)
        except BaseException as error:  # noqa: BLE001 (raised again by the calling thread)
            self.failed.append(error)
            self.stop.set()


def for_each(
    pieces: Iterable[_Piece], work: Callable[[_Piece], None], watch: Watch | None, large: bool
) -> None:
    """Call ``work`` with each piece, and ``watch`` before each that the calling thread does."""
    queue = _PieceQueue(pieces)
    count = _THREADS - 1 if large else 0
    threads = [
        threading.Thread(target=queue.help_out, args=(work,), daemon=True) for _ in range(count)
    ]
    for thread in threads:
        thread.start()
    try:
        for piece in queue:
            if watch is not None:
                watch()
            work(piece)
    except BaseException:
        queue.stop.set()
        raise
    finally:
        for thread in threads:
            thread.join()
    if queue.failed:
        raise queue.failed[0]
