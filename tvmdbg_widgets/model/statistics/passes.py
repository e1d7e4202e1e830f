"""One pass over an array: here, in threads, or in an executor."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np

from tvmdbg_widgets.model.statistics.distribution import Where
from tvmdbg_widgets.model.statistics.result import Statistics
from tvmdbg_widgets.model.statistics.tallies import tally
from tvmdbg_widgets.model.tensors.planes import ArrayValues

Array: TypeAlias = np.ndarray[Any, Any]

#: Bytes of a piece. Every pass cuts an array at the same places, so that sums are the same.
PIECE_BYTES = 1 << 19
_SAMPLE_BLOCK = 4096
_FAR_PIECES = 8


class ReadableValues(Protocol):
    """Values read by range: :class:`~tvmdbg_widgets.model.tensors.planes.ArrayValues`."""

    @property
    def count(self) -> int:
        """Number of scalars."""

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Type of the arrays returned."""

    def values(self, start: int, stop: int) -> Array:
        """Read the scalars ``start`` to ``stop`` as a 1-D array."""


def per_piece(values: ReadableValues) -> int:
    """Return the number of scalars in a piece."""
    return max(1, PIECE_BYTES // values.numpy_dtype.itemsize)


@dataclass(frozen=True, slots=True)
class WholeArray:
    """All values from ``start``, which is a multiple of a piece, to ``stop``."""

    values: ReadableValues
    start: int
    stop: int

    def __iter__(self) -> Iterator[tuple[Array, Where]]:
        step = per_piece(self.values)
        far = getattr(getattr(self.values, "source", None), "far", False)
        block = step * _FAR_PIECES if far else step
        for begin in range(self.start, self.stop, block):
            read = self.values.values(begin, min(begin + block, self.stop))
            for offset in range(0, len(read), step):
                yield read[offset : offset + step], _after(begin + offset)

    def spans(self, pieces: int) -> Iterator[WholeArray]:
        """Cut it into spans of `pieces` pieces."""
        step = per_piece(self.values) * pieces
        for begin in range(self.start, self.stop, step):
            yield WholeArray(self.values, begin, min(begin + step, self.stop))


@dataclass(frozen=True, slots=True)
class Distinct:
    """Values that stand for several of an array."""

    values: Any
    stop: int

    def groups(self) -> Iterator[tuple[int, Iterator[tuple[Array, Where]]]]:
        """Yield pieces, and how often their values count."""
        step = per_piece(self.values)
        for often, scalars, first in self.values.distinct():
            yield (
                often,
                (
                    (scalars[begin : begin + step], _at(first[begin : begin + step]))
                    for begin in range(0, len(scalars), step)
                ),
            )

    def __iter__(self) -> Iterator[tuple[Array, Where]]:
        yield from WholeArray(self.values, 0, self.stop)

    def spans(self, pieces: int) -> Iterator[Distinct]:  # noqa: ARG002 (as of WholeArray)
        """Yield itself: there are few values."""
        yield self


@dataclass(frozen=True, slots=True)
class Sample:
    """About ``size`` values in blocks spread evenly, at most all of them."""

    values: ReadableValues
    size: int

    @property
    def is_complete(self) -> bool:
        """Whether the sample has all values."""
        count = self.values.count
        return self.size >= count or self._blocks * self._length == count

    @property
    def _length(self) -> int:
        return min(_SAMPLE_BLOCK, self.values.count)

    @property
    def _blocks(self) -> int:
        length = self._length
        return min(-(-self.size // _SAMPLE_BLOCK), self.values.count // length) if length else 0

    def __iter__(self) -> Iterator[tuple[Array, Where]]:
        count, length, blocks = self.values.count, self._length, self._blocks
        starts = [index * (count - length) // max(1, blocks - 1) for index in range(blocks)]
        together = max(1, per_piece(self.values) // _SAMPLE_BLOCK)
        for first in range(0, blocks, together):
            some = starts[first : first + together]
            read = [self.values.values(start, start + length) for start in some]
            yield np.concatenate(read), _in_blocks(some, length)


@dataclass(frozen=True, slots=True)
class ArrayStream:
    """Consecutive 1-D arrays, restarted at every call."""

    chunks: Callable[[], Iterable[Array]]

    def __iter__(self) -> Iterator[tuple[Array, Where]]:
        begin = 0
        for chunk in self.chunks():
            yield np.ascontiguousarray(chunk), _after(begin)
            begin += len(chunk)


def _after(begin: int) -> Where:
    return lambda index: begin + index


def _at(positions: Array) -> Where:
    return lambda index: int(positions[index])


def _in_blocks(starts: list[int], length: int) -> Where:
    return lambda index: starts[index // length] + index % length


Source: TypeAlias = WholeArray | Distinct | Sample | ArrayStream

#: Size from which on threads are worth their start.
_LARGE = 32 << 20
_MOST_THREADS = 4
#: Pieces a thread takes at a time, and futures an executor is given.
_SPAN_PIECES = 8
_FUTURES = 64
_POLL = 0.05


class StatisticsPass(Protocol):
    """The collector of a pass; pieces may go to several, which are then merged."""

    def add(self, chunk: np.ndarray[Any, Any], where: Where) -> None:
        """Add a piece of at least one value."""

    def merge(self, other: Any) -> None:
        """Add the values of another."""

    def times(self, count: int) -> None:
        """Count all values `count` times."""


F = TypeVar("F", bound=StatisticsPass)


class Watched:
    """Callbacks before and after a piece, from any thread."""

    def __init__(
        self, watch: Callable[[], None] | None = None, progress: Callable[[int], None] | None = None
    ) -> None:
        self._watch = watch
        self._progress = progress
        self._lock = threading.Lock()
        self._done = 0
        self.stopped = False

    def before(self) -> bool:
        """Return whether to go on."""
        if self._watch is not None and not self.stopped:
            self._watch()
        return not self.stopped

    def after(self, count: int) -> None:
        """Report the number of values just counted."""
        with self._lock:
            self._done += count
            if self._progress is not None:
                self._progress(self._done)


def run_pass(
    source: Source, make: Callable[[], F], watched: Watched, executor: Executor | None = None
) -> F:
    """Collect all values of a source."""
    if isinstance(source, Distinct):
        collected = make()
        for often, repeated in source.groups():
            some = _collect(repeated, make(), watched)
            some.times(often)
            collected.merge(some)
        return collected
    if isinstance(source, WholeArray):
        pieces = -(-(source.stop - source.start) // per_piece(source.values))
        if executor is not None and not isinstance(executor, ThreadPoolExecutor):
            if pieces > 1:
                return _spread(source, make, watched, executor, pieces)
        elif (threads := _threads(source, executor)) > 1:
            submit = _in_new_thread if executor is None else executor.submit
            here = executor is not None
            return _in_threads(source, make, watched, submit, threads, here=here)
    return _collect(source, make(), watched)


def _threads(source: WholeArray, executor: ThreadPoolExecutor | None) -> int:
    size = source.stop - source.start
    if executor is not None:
        spans = -(-size // (per_piece(source.values) * _SPAN_PIECES))
        return min(executor._max_workers, spans)  # noqa: SLF001 (there is no other way to know)
    if size * source.values.numpy_dtype.itemsize < _LARGE:
        return 1
    return min(_MOST_THREADS, cores())


def cores() -> int:
    """Return the number of usable cores."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _collect(source: Iterable[tuple[np.ndarray[Any, Any], Where]], fold: F, watched: Watched) -> F:
    pieces = iter(source)
    with np.errstate(invalid="ignore"):
        while watched.before() and (piece := next(pieces, None)) is not None:
            chunk, where = piece
            if len(chunk):
                fold.add(chunk, where)
            watched.after(len(chunk))
    return fold


def _in_threads(
    source: WholeArray,
    make: Callable[[], F],
    watched: Watched,
    submit: Callable[[Callable[[], F]], Future[F]],
    threads: int,
    *,
    here: bool,
) -> F:
    """Collect spans in threads, which take the next one when free."""
    spans, lock = source.spans(_SPAN_PIECES), threading.Lock()

    def following() -> WholeArray | None:
        with lock:
            return next(spans, None)

    def work() -> F:
        fold = make()
        try:
            while not watched.stopped and (span := following()) is not None:
                _collect(span, fold, watched)
        except BaseException:
            watched.stopped = True
            raise
        return fold

    futures = [submit(work) for _ in range(threads - here)]
    try:
        collected = work() if here else make()
        # Who has not begun by now has nothing left to do.
        others = [future.result() for future in futures if not future.cancel()]
    except BaseException:
        watched.stopped = True
        wait([future for future in futures if not future.cancel()])
        raise
    for other_ in others:
        collected.merge(other_)
    return collected


def _in_new_thread(work: Callable[[], F]) -> Future[F]:
    """Start a daemon thread, which an executor's threads are not."""
    future: Future[F] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as problem:  # noqa: BLE001 (who waits for the result gets it)
            future.set_exception(problem)

    threading.Thread(target=run, name="tvmdbg-pass", daemon=True).start()
    return future


def _spread(
    source: WholeArray, make: Callable[[], F], watched: Watched, executor: Executor, pieces: int
) -> F:
    """Send spans to other processes; the callbacks run here meanwhile."""
    futures: dict[Future[F], int] = {}
    collected = make()
    try:
        for span in source.spans(-(-pieces // _FUTURES)):
            watched.before()
            futures[executor.submit(_elsewhere, span, make)] = span.stop - span.start
        left = set(futures)
        while left:
            watched.before()
            done, left = wait(left, _POLL, FIRST_COMPLETED)
            for future in done:
                collected.merge(future.result())
                watched.after(futures.pop(future))
    except BaseException:
        for future in futures:
            future.cancel()
        raise
    return collected


def _elsewhere(span: WholeArray, make: Callable[[], F]) -> F:
    return _collect(span, make(), Watched())


class TimedPasses:
    """A pass that can be interrupted and resumed."""

    def __init__(self, values: ArrayValues) -> None:
        self.done = 0
        self._spans = every(values).spans(1)
        self._make = partial(tally, values.numpy_dtype)
        self._fold = self._make()

    def go_on(self, seconds: float) -> Statistics | None:
        """Count for `seconds`, a piece at least; return the statistics at the end."""
        end = time.monotonic() + seconds
        for span in self._spans:
            if isinstance(span, Distinct):
                self._fold = run_pass(span, self._make, Watched())
            else:
                run_pass(span, lambda: self._fold, Watched())
            self.done = span.stop
            if time.monotonic() >= end:
                return None
        return self._fold.finish()


def every(values: ReadableValues) -> WholeArray | Distinct:
    """Return all values of an array, distinct ones if they repeat."""
    if getattr(values, "repeats", None) is not None:
        return Distinct(values, values.count)
    return WholeArray(values, 0, values.count)
