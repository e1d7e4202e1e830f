"""One pass over an array: here, in threads, or wherever an executor sends it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np

from tvmdbg_widgets.model.statistics.extremes import Where
from tvmdbg_widgets.model.statistics.pieces import (
    ArrayStream,
    Distinct,
    Sample,
    WholeArray,
    per_piece,
)

Source: TypeAlias = WholeArray | Distinct | Sample | ArrayStream

#: From so many bytes on threads are worth their start.
_LARGE = 32 << 20
_MOST_THREADS = 4
#: Pieces a thread takes at a time, and futures an executor is given.
_SPAN_PIECES = 8
_FUTURES = 64
_POLL = 0.05


class StatisticsPass(Protocol):
    """What a pass collects; pieces may be added to several of one kind, which are then merged."""

    def add(self, chunk: np.ndarray[Any, Any], where: Where) -> None:
        """Take in a piece of at least one value."""

    def merge(self, other: Any) -> None:
        """Take in what another has collected."""

    def times(self, count: int) -> None:
        """Count all that was collected so many times."""


F = TypeVar("F", bound=StatisticsPass)


class Watched:
    """Who is asked before a piece and told after it, from any thread."""

    def __init__(
        self,
        watch: Callable[[], None] | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self._watch = watch
        self._progress = progress
        self._lock = threading.Lock()
        self._done = 0
        self.stopped = False

    def before(self) -> bool:
        """Ask; whether to go on."""
        if self._watch is not None and not self.stopped:
            self._watch()
        return not self.stopped

    def after(self, count: int) -> None:
        """Tell that so many more values were looked at."""
        with self._lock:
            self._done += count
            if self._progress is not None:
                self._progress(self._done)


def run_pass(
    source: Source, make: Callable[[], F], watched: Watched, executor: Executor | None = None
) -> F:
    """Collect all values of a source."""
    if isinstance(source, Distinct):
        return _of_groups(source, make, watched)
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
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _of_groups(source: Distinct, make: Callable[[], F], watched: Watched) -> F:
    found = make()
    for often, pieces in source.groups():
        some = _collect(pieces, make(), watched)
        some.times(often)
        found.merge(some)
    return found


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
    """Let each thread take the next span as soon as it is through with one.

    Where they are those of an executor, this one works, too: they may all be busy, or wait for
    passes of their own.
    """
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
        found = work() if here else make()
        # Who has not begun by now has nothing left to do.
        others = [future.result() for future in futures if not future.cancel()]
    except BaseException:
        watched.stopped = True
        wait([future for future in futures if not future.cancel()])
        raise
    for each in others:
        found.merge(each)
    return found


def _in_new_thread(work: Callable[[], F]) -> Future[F]:
    """Start a thread that ends with the interpreter, which those of an executor do not."""
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
    """Send spans to other processes; watch is asked here while they work."""
    futures: dict[Future[F], int] = {}
    found = make()
    try:
        for span in source.spans(-(-pieces // _FUTURES)):
            watched.before()
            futures[executor.submit(_elsewhere, span, make)] = span.stop - span.start
        left = set(futures)
        while left:
            watched.before()
            done, left = wait(left, _POLL, FIRST_COMPLETED)
            for future in done:
                found.merge(future.result())
                watched.after(futures.pop(future))
    except BaseException:
        for future in futures:
            future.cancel()
        raise
    return found


def _elsewhere(span: WholeArray, make: Callable[[], F]) -> F:
    return _collect(span, make(), Watched())
