"""Messages of the page, checked field by field; passes over tensors; priorities."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial
from typing import Any, Literal, TypeAlias, TypeVar

from tqdm.auto import tqdm

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.statistics import Statistics
from tvmdbg_widgets.model.tensors.planes import ArrayValues
from tvmdbg_widgets.model.tensors.tensors import Tensor

_TEXT = 200

Choice = TypeVar("Choice", bound=str)


class Question:
    """One message of a view."""

    def __init__(self, message: object) -> None:
        if not isinstance(message, Mapping) or not isinstance(message.get("kind"), str):
            raise ValueError("a question must be an object with a kind")  # noqa: TRY004 (one kind of error for the caller)
        self._fields: Mapping[str, Any] = message
        self.kind: str = message["kind"][:_TEXT]

    @property
    def id(self) -> str | None:
        """Id that the answer carries, None if missing or unusable."""
        return message_id(self._fields)

    @property
    def client(self) -> str:
        """Id of the asking view, or ""."""
        client = self._fields.get("client")
        return client if isinstance(client, str) and len(client) <= _TEXT else ""

    def has(self, name: str) -> bool:
        """Whether a field is given and not null."""
        return self._fields.get(name) is not None

    def flag(self, name: str) -> bool:
        """Whether a field is ``true``."""
        return self._fields.get(name) is True

    def integer(self, name: str, low: int = 0, high: int = 2**53) -> int:
        """Return an integer in ``low`` … ``high``."""
        return _integer(name, self._fields.get(name), low, high)

    def integers(self, name: str, length: int | None = None, *, most: int = 64) -> list[int]:
        """Return a list of integers of at least 0, of fixed or limited length."""
        value = self._fields.get(name)
        if not isinstance(value, list | tuple) or len(value) > most:
            raise ValueError(f"{name} must be a list of at most {most} integers")
        if length is not None and len(value) != length:
            raise ValueError(f"{name} must have {counted(length, 'item')}, found {len(value)}")
        return [_integer(f"{name}[{i}]", item, 0, 2**53) for i, item in enumerate(value)]

    def axes(self, name: str) -> tuple[int | None, int | None]:
        """Return a pair of axis numbers, either None."""
        value = self._fields.get(name)
        if not isinstance(value, list | tuple) or len(value) != 2:
            raise ValueError(f"{name} must be a pair of axes")
        down, across = (
            None if item is None else _integer(f"{name}[{i}]", item, 0, 63)
            for i, item in enumerate(value)
        )
        return down, across

    def choice(self, name: str, choices: tuple[Choice, ...]) -> Choice | None:
        """Return one of the choices, or None."""
        value = self._fields.get(name)
        if value is None:
            return None
        if value not in choices:
            raise ValueError(f"{name} must be one of {', '.join(choices)}")
        return choices[choices.index(value)]

    def text(self, name: str, most: int) -> str | None:
        """Return a text of at most ``most`` characters, or None."""
        value = self._fields.get(name)
        if value is None:
            return None
        if not isinstance(value, str) or len(value) > most:
            raise ValueError(f"{name} must be a text of at most {most} characters")
        return value

    def number(self, name: str) -> float:
        """Return a finite number."""
        return _number(name, self._fields.get(name))

    def numbers(self, name: str, low: float, high: float, most: int) -> list[float]:
        """Return a list of at most ``most`` numbers in ``low`` … ``high``."""
        value = self._fields.get(name)
        if not isinstance(value, list | tuple) or not 0 < len(value) <= most:
            raise ValueError(f"{name} must be a list of 1 to {most} numbers")
        numbers = [_number(f"{name}[{i}]", item) for i, item in enumerate(value)]
        for number in numbers:
            if not low <= number <= high:
                raise ValueError(f"{name} must lie in {low:g} … {high:g}, found {number:g}")
        return numbers

    def sizes(self, name: str, most: int = 32) -> dict[str, int]:
        """Return sizes by letter, empty if missing."""
        value = self._fields.get(name)
        if value is None:
            return {}
        if not isinstance(value, Mapping) or len(value) > most:
            raise ValueError(f"{name} must be an object of at most {most} sizes")
        for letter in value:
            if not isinstance(letter, str) or len(letter) != 1:
                raise ValueError(f"{name} must be sizes by one letter each")
        return {key: _integer(f"{name}.{key}", size, 1, 2**53) for key, size in value.items()}


def message_id(message: object) -> str | None:
    """Return the id of any message, None if missing or unusable."""
    given = message.get("id") if isinstance(message, Mapping) else None
    return given if isinstance(given, str) and len(given) <= _TEXT else None


def _integer(name: str, value: Any, low: int, high: int) -> int:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if not whole or isinstance(value, bool):
        raise ValueError(f"{name} must be an integer")
    if not low <= value <= high:
        raise ValueError(f"{name} must lie in {low} … {high}, found {value}")
    return int(value)


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} must be a number")  # noqa: TRY004 (one kind of error for the caller)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number")
    return number


State: TypeAlias = Literal["exact", "sampled", "scanning", "cancelled"]
Key: TypeAlias = tuple[int, int, str | None]

_BINS = 64
#: Values up to which they are counted without a background pass: some 10 ms.
_CHEAP = 1 << 20
#: Values of a sample: some 5 ms.
SAMPLE = 1 << 18


class _PassStoppedError(Exception):
    """Raised between two pieces of a stopped pass."""


@dataclass(frozen=True)
class StatisticsProgress:
    """Known statistics of one tensor."""

    state: State
    done: int
    total: int
    statistics: Statistics
    values: ArrayValues


class StatisticsJobs:
    """Starts, watches and stops passes over tensors.

    ``seconds`` limits a pass per question; None starts it in a thread, infinity waits for its end.
    """

    def __init__(self, gate: PriorityGate, seconds: float | None) -> None:
        self._gate = gate
        self._seconds = seconds
        self._lock = threading.Lock()
        self._running: dict[Key, _Pass] = {}
        self._closed = False

    def known(self, tensor: Tensor, reading: str | None, *, begin: bool) -> StatisticsProgress:
        """Return known statistics, and start the pass if ``begin``."""
        values = tensor.values(reading)
        exact = tensor.known_statistics(_BINS, reading)
        if exact is None and values.count <= _CHEAP:
            exact = tensor.statistics(_BINS, reading=reading)
        if exact is None and begin and self._seconds == math.inf:
            exact = _counted(tensor, reading)
        if exact is not None:
            return StatisticsProgress("exact", values.count, values.count, exact, values)
        job = self._pass(tensor, reading, begin=begin)
        if job is not None and self._seconds is not None and begin:
            job.run_for(self._seconds)
        if job is not None and job.problem is not None:
            self._forget(job)
            raise job.problem
        if job is not None and job.ended:
            self._forget(job)
            return self.known(tensor, reading, begin=False)
        sampled = tensor.statistics(_BINS, SAMPLE, reading=reading)
        state: State = "sampled" if job is None else "scanning"
        return StatisticsProgress(
            state, 0 if job is None else job.done, values.count, sampled, values
        )

    def cancel(self, tensor: Tensor, reading: str | None) -> StatisticsProgress:
        """Stop the pass; known statistics stay."""
        with self._lock:
            job = self._running.pop(_key(tensor, reading), None)
        if job is not None:
            job.stop()
        known = self.known(tensor, reading, begin=False)
        if known.state == "exact":
            return known
        return replace(known, state="cancelled", done=0 if job is None else job.done)

    def close(self) -> None:
        """Stop all passes, and start no more."""
        with self._lock:
            self._closed = True
            running, self._running = list(self._running.values()), {}
        for job in running:
            job.stop()

    def _pass(self, tensor: Tensor, reading: str | None, *, begin: bool) -> _Pass | None:
        """Return the running pass, or start one."""
        key = _key(tensor, reading)
        with self._lock:
            job = self._running.get(key)
            if job is not None or not begin or self._closed:
                return job
            give_way = partial(self._gate.give_way, Priority.PASS)
            job = self._running[key] = _Pass(tensor, reading, give_way)
        if self._seconds is None:
            threading.Thread(target=job.run, name="tvmdbg-pass", daemon=True).start()
        return job

    def _forget(self, job: _Pass) -> None:
        with self._lock:
            if self._running.get(job.key) is job:
                del self._running[job.key]


class _Pass:
    """One running pass."""

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
        """Count all values; the tensor keeps the result."""
        try:
            self._tensor.statistics(
                _BINS, reading=self._reading, watch=self._watch, progress=self._progress
            )
            self._tensor.known_percentiles(self._reading, self._watch)
            self._tensor.contrast(reading=self._reading, watch=self._watch)
        except _PassStoppedError:
            pass
        except Exception as problem:  # noqa: BLE001 (raised at the next question)
            self.problem = problem
        self.ended = True

    def run_for(self, seconds: float) -> None:
        """Continue counting for some seconds."""
        try:
            self.done = self._tensor.count_on(seconds, self._reading)
            if self.done == self._tensor.values(self._reading).count:
                self._tensor.statistics(_BINS, reading=self._reading)
                self.ended = True
        except Exception as problem:  # noqa: BLE001 (raised by the caller)
            self.problem = problem

    def stop(self) -> None:
        """Stop at the next piece."""
        self._stop = True

    def _watch(self) -> None:
        if self._stop:
            raise _PassStoppedError
        self._give_way()

    def _progress(self, done: int) -> None:
        self.done = done


def _counted(tensor: Tensor, reading: str | None) -> Statistics:
    """Count all values with a progress bar."""
    total = tensor.values(reading).count
    look = {"unit": "value", "unit_scale": True, "delay": 1, "leave": False}
    with tqdm(total=total, desc="counting", **look) as bar:
        return tensor.statistics(
            _BINS, reading=reading, progress=lambda done: bar.update(done - bar.n)
        )


def _key(tensor: Tensor, reading: str | None) -> Key:
    return (tensor.node, tensor.output, reading)


class Priority(IntEnum):
    """Priorities of work, first is lowest."""

    AT_ONCE = 0
    PICTURE = 1
    PASS = 2


#: Seconds after which waiting work continues anyway: nobody starves.
_PATIENCE = 0.25
#: Seconds that work goes first; longer answers wait for a disk or network, not for this processor.
_FIRST = {Priority.AT_ONCE: 0.02, Priority.PICTURE: _PATIENCE, Priority.PASS: 0.0}


class PriorityGate:
    """Lets long work pause between its pieces while more urgent work runs."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._begun: dict[Priority, list[float]] = {priority: [] for priority in Priority}

    @contextmanager
    def taken(self, turn: Priority) -> Iterator[None]:
        """Count the block as running work."""
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
        """Wait shortly while work of higher priority has just begun."""
        if not any(self._begun[priority] for priority in Priority if priority < turn):
            return
        end = time.monotonic() + _PATIENCE
        with self._changed:
            while True:
                begun = [
                    (priority, at)
                    for priority in Priority
                    if priority < turn
                    for at in self._begun[priority]
                ]
                until = min(end, max((at + _FIRST[work] for work, at in begun), default=0.0))
                if (now := time.monotonic()) >= until:
                    return
                self._changed.wait(until - now)
