"""Who computes first: answers that somebody waits for, then pictures, then whole passes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum


class Priority(IntEnum):
    """What goes first, smallest first."""

    AT_ONCE = 0
    PICTURE = 1
    PASS = 2


#: Seconds after which work goes on, whoever is before it: nobody starves.
_PATIENCE = 0.25
#: Seconds that work goes first: an answer that takes longer waits for a disk or a network, not for
#: this processor, and holds up nobody else.
_FIRST = {Priority.AT_ONCE: 0.02, Priority.PICTURE: _PATIENCE, Priority.PASS: 0.0}


class PriorityGate:
    """Lets work wait, between its pieces, while work that goes first is under way."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._begun: dict[Priority, list[float]] = {each: [] for each in Priority}

    @contextmanager
    def taken(self, turn: Priority) -> Iterator[None]:
        """Count as under way inside the block."""
        begun = time.monotonic()
        with self._changed:
            self._begun[turn].append(begun)
        try:
            yield
        finally:
            with self._changed:
                self._begun[turn].remove(begun)
                self._changed.notify_all()

    def give_way(self, turn: Priority) -> None:
        """Wait while something that goes before `turn` has just begun, but not for long."""
        if not any(self._begun[each] for each in Priority if each < turn):
            return
        end = time.monotonic() + _PATIENCE
        with self._changed:
            while (now := time.monotonic()) < (until := min(end, self._first_until(turn))):
                self._changed.wait(until - now)

    def _first_until(self, turn: Priority) -> float:
        """When all that goes before `turn` will have been first for long enough."""
        ends = [at + _FIRST[each] for each in Priority if each < turn for at in self._begun[each]]
        return max(ends, default=0.0)
