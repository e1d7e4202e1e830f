"""Counts of whole tensors in the background, one a tensor and reading."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from tvmdbg_widgets.model.statistics import Statistics, statistics
from tvmdbg_widgets.widgets.turns import Turn, Turns

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from tvmdbg_widgets.model.array_values import ArrayValues
    from tvmdbg_widgets.model.tensors import Tensor

State: TypeAlias = Literal["exact", "sampled", "scanning", "cancelled"]
Key: TypeAlias = tuple[int, int, str | None]

_BINS = 64
#: Values that are counted at once, without a pass in the background.
_CHEAP = 1 << 20
#: Values of a sample.
_SAMPLE = 1 << 18


class _StoppedError(Exception):
    """Raised between two pieces of a pass that was stopped."""


@dataclass(frozen=True)
class Known:
    """What is known of the values of one tensor.

    Attributes
    ----------
    state : str
        ``"exact"``, ``"sampled"``, ``"scanning"`` or ``"cancelled"``.
    done, total : int
        Values that the pass has looked at, of how many.
    statistics : Statistics
        Of a sample, until ``"exact"``.
    values : ArrayValues
    """

    state: State
    done: int
    total: int
    statistics: Statistics
    values: ArrayValues


class Passes:
    """Begins, watches and stops passes over tensors.

    Parameters
    ----------
    turns : Turns
        Passes give way to whatever goes first.
    threads : bool
        Whether a pass runs beside its questions; otherwise it runs to its end within one.
    """

    def __init__(self, turns: Turns, *, threads: bool) -> None:
        self._turns = turns
        self._threads = threads
        self._lock = threading.Lock()
        self._exact: dict[Key, Statistics] = {}
        self._sampled: dict[Key, Statistics] = {}
        self._running: dict[Key, _Pass] = {}

    def known(self, tensor: Tensor, reading: str | None, *, begin: bool) -> Known:
        """Return what is known at once, and begin the pass where that is wanted.

        Raises
        ------
        FormatError
            The pass could not read the tensor.
        """
        values = tensor.record.values(reading)  # type: ignore[arg-type]
        key = (tensor.node, tensor.output, reading)
        if key not in self._exact and (values.is_raw or values.count <= _CHEAP):
            self._exact[key] = _counted(tensor, reading)
        if key not in self._exact and begin:
            self._begin(key, tensor, reading)
        with self._lock:
            found = self._running.get(key)
            exact = self._exact.get(key)
        if exact is not None:
            return Known("exact", values.count, values.count, exact, values)
        if found is not None and found.problem is not None:
            with self._lock:
                self._running.pop(key, None)
            raise found.problem
        sampled = self._sampled.get(key)
        if sampled is None:
            sampled = self._sampled[key] = _sampled(values)
        done = 0 if found is None else found.done
        state: State = "sampled" if found is None else "scanning"
        return Known(state, done, values.count, sampled, values)

    def cancel(self, tensor: Tensor, reading: str | None) -> Known:
        """Stop the pass; what was known before stays."""
        with self._lock:
            found = self._running.pop((tensor.node, tensor.output, reading), None)
        if found is not None:
            found.stop = True
        known = self.known(tensor, reading, begin=False)
        if known.state == "exact":
            return known
        return replace(known, state="cancelled", done=0 if found is None else found.done)

    def close(self) -> None:
        """Stop all passes."""
        with self._lock:
            running, self._running = list(self._running.values()), {}
        for each in running:
            each.stop = True

    def _begin(self, key: Key, tensor: Tensor, reading: str | None) -> None:
        with self._lock:
            if key in self._running:
                return
            found = self._running[key] = _Pass()
        if not self._threads:
            self._run(found, key, tensor, reading)
            return
        threading.Thread(
            target=self._run,
            args=(found, key, tensor, reading),
            name="tvmdbg-pass",
            daemon=True,
        ).start()

    def _run(self, found: _Pass, key: Key, tensor: Tensor, reading: str | None) -> None:
        def watch(done: int) -> None:
            if found.stop:
                raise _StoppedError
            found.done = done
            self._turns.give_way(Turn.PASS)

        try:
            exact = _counted(tensor, reading, watch)
        except _StoppedError:
            return
        except Exception as problem:  # noqa: BLE001 (told at the next question)
            found.problem = problem
            return
        with self._lock:
            self._exact[key] = exact
            self._running.pop(key, None)


class _Pass:
    """One pass that is under way."""

    def __init__(self) -> None:
        self.done = 0
        self.stop = False
        self.problem: Exception | None = None


def _sampled(values: ArrayValues) -> Statistics:
    return statistics(lambda: values.sample(_SAMPLE), bins=_BINS, exact=False)


def _counted(tensor: Tensor, reading: str | None, watch=None) -> Statistics:  # type: ignore[no-untyped-def]
    values = tensor.record.values(reading)
    if values.is_raw:
        return Statistics.not_applicable(values.count, f"{tensor.dtype} has no numpy type")

    def chunks() -> Iterator[np.ndarray]:  # type: ignore[type-arg]
        done = 0
        for chunk in values.chunks():
            if watch is not None:
                watch(done)
            done += len(chunk)
            yield chunk

    if reading is None:
        return tensor.statistics(_BINS, watch=None if watch is None else lambda: watch(0))
    return statistics(chunks, bins=_BINS)
