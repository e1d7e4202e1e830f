"""Counts of whole tensors in the background, one a tensor and reading."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeAlias

from tvmdbg_widgets.answers.priority_gate import Priority, PriorityGate
from tvmdbg_widgets.model.statistics import Statistics
from tvmdbg_widgets.model.tensors.array_values import ArrayValues
from tvmdbg_widgets.model.tensors.tensors import Tensor

State: TypeAlias = Literal["exact", "sampled", "scanning", "cancelled"]
Key: TypeAlias = tuple[int, int, str | None]

_BINS = 64
#: Values that are counted at once, without a pass in the background: some 10 ms.
_CHEAP = 1 << 20
#: Values of a sample: some 5 ms.
SAMPLE = 1 << 18


class _PassStoppedError(Exception):
    """Raised between two pieces of a pass that was stopped."""


@dataclass(frozen=True)
class StatisticsProgress:
    """What is known of the values of one tensor."""

    state: State
    done: int
    total: int
    statistics: Statistics
    values: ArrayValues


class StatisticsJobs:
    """Begins, watches and stops passes over tensors."""

    def __init__(self, gate: PriorityGate, seconds: float | None) -> None:
        self._gate = gate
        self._seconds = seconds
        self._lock = threading.Lock()
        self._running: dict[Key, _Pass] = {}
        self._closed = False

    def known(self, tensor: Tensor, reading: str | None, *, begin: bool) -> StatisticsProgress:
        """Return what is known at once, and begin the pass where that is wanted."""
        values = tensor.values(reading)
        exact = tensor.known_statistics(_BINS, reading)
        if exact is None and values.count <= _CHEAP:
            exact = tensor.statistics(_BINS, reading=reading)
        if exact is not None:
            return StatisticsProgress("exact", values.count, values.count, exact, values)
        found = self._pass(tensor, reading, begin=begin)
        if found is not None and self._seconds is not None and begin:
            found.run_for(self._seconds)
        if found is not None and found.problem is not None:
            self._forget(found)
            raise found.problem
        if found is not None and found.ended:
            self._forget(found)
            return self.known(tensor, reading, begin=False)
        sampled = tensor.statistics(_BINS, SAMPLE, reading=reading)
        state: State = "sampled" if found is None else "scanning"
        return StatisticsProgress(
            state, 0 if found is None else found.done, values.count, sampled, values
        )

    def cancel(self, tensor: Tensor, reading: str | None) -> StatisticsProgress:
        """Stop the pass; what was known before stays."""
        with self._lock:
            found = self._running.pop(_key(tensor, reading), None)
        if found is not None:
            found.stop()
        known = self.known(tensor, reading, begin=False)
        if known.state == "exact":
            return known
        return replace(known, state="cancelled", done=0 if found is None else found.done)

    def close(self) -> None:
        """Stop all passes; no other begins."""
        with self._lock:
            self._closed = True
            running, self._running = list(self._running.values()), {}
        for each in running:
            each.stop()

    def _pass(self, tensor: Tensor, reading: str | None, *, begin: bool) -> _Pass | None:
        """Return the pass that is under way, or the one that begins."""
        key = _key(tensor, reading)
        with self._lock:
            found = self._running.get(key)
            if found is not None or not begin or self._closed:
                return found
            give_way = partial(self._gate.give_way, Priority.PASS)
            found = self._running[key] = _Pass(tensor, reading, give_way)
        if self._seconds is None:
            threading.Thread(target=found.run, name="tvmdbg-pass", daemon=True).start()
        return found

    def _forget(self, found: _Pass) -> None:
        with self._lock:
            if self._running.get(found.key) is found:
                del self._running[found.key]


class _Pass:
    """One pass that is under way."""

    def __init__(self, tensor: Tensor, reading: str | None, give_way: Callable[[], None]) -> None:
        self.key = _key(tensor, reading)
        self.done = 0
        self.ended = False
        self.problem: Exception | None = None
        self._give_way = give_way
        self._tensor = tensor
        self._reading = reading
        self._stop = False

    def run(self) -> None:
        """Count all values; they stay with the tensor."""
        try:
            self._tensor.statistics(
                _BINS, reading=self._reading, watch=self._watch, progress=self._progress
            )
            self._tensor.known_percentiles(self._reading, self._watch)
            self._tensor.contrast(reading=self._reading, watch=self._watch)
        except _PassStoppedError:
            pass
        except Exception as problem:  # noqa: BLE001 (told at the next question)
            self.problem = problem
        self.ended = True

    def run_for(self, seconds: float) -> None:
        """Go on counting for so long."""
        try:
            self.done = self._tensor.count_on(seconds, self._reading)
            if self.done == self._tensor.values(self._reading).count:
                self._tensor.statistics(_BINS, reading=self._reading)
                self.ended = True
        except Exception as problem:  # noqa: BLE001 (told below)
            self.problem = problem

    def stop(self) -> None:
        """Let it end at the next piece."""
        self._stop = True

    def _watch(self) -> None:
        if self._stop:
            raise _PassStoppedError
        self._give_way()

    def _progress(self, done: int) -> None:
        self.done = done


def _key(tensor: Tensor, reading: str | None) -> Key:
    return (tensor.node, tensor.output, reading)
