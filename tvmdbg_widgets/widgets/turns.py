"""Who computes first: answers that somebody waits for, then pictures, then whole passes."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Seconds after which work goes on, whoever is before it: nobody starves.
_PATIENCE = 0.25


class Turn(IntEnum):
    """What goes first, smallest first."""

    AT_ONCE = 0
    PICTURE = 1
    PASS = 2


class Turns:
    """Lets work wait, between its pieces, while work that goes first is under way."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._working = dict.fromkeys(Turn, 0)

    @contextmanager
    def taken(self, turn: Turn) -> Iterator[None]:
        """Count as under way inside the block."""
        with self._changed:
            self._working[turn] += 1
        try:
            yield
        finally:
            with self._changed:
                self._working[turn] -= 1
                self._changed.notify_all()

    def give_way(self, turn: Turn) -> None:
        """Wait until nothing that goes before `turn` is under way, but not for long."""
        if not self._before(turn):
            return
        end = time.monotonic() + _PATIENCE
        with self._changed:
            self._changed.wait_for(lambda: not self._before(turn), end - time.monotonic())

    def _before(self, turn: Turn) -> int:
        return sum(self._working[each] for each in Turn if each < turn)
