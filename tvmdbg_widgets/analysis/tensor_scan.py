"""One shared pass over all tensors of a run, interruptible between chunks."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
from tqdm.auto import tqdm

from tvmdbg_widgets.analysis.scan_results import Entry, Scanned
from tvmdbg_widgets.model.base.text import why_unread
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.statistics import Statistics
from tvmdbg_widgets.model.statistics.batch import Batch, comparable
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.sources.byte_source import ByteSource, read_near

State: TypeAlias = Literal["none", "scanning", "done", "cancelled"]

_LOG = logging.getLogger(__name__)
_POLL = 0.1
_AT_A_TIME = 4  # tensors scanned at once with an executor


class _ScanStoppedError(Exception):
    """Raised between two chunks of a cancelled scan."""


@dataclass(frozen=True)
class Subject:
    """One tensor as a rule's probe reads it."""

    parts: RunParts
    entry: Entry
    tensor: Tensor
    statistics: Statistics
    chunks: Callable[[], Iterator[np.ndarray[Any, Any]]]

    def count(self, low: float, high: float) -> tuple[int, int]:
        """Return the number of finite values in a closed range: least, and most."""
        spread = self.statistics.distribution
        return (0, 0) if spread is None else spread.count(low, high)

    def count_exactly(self, low: float, high: float) -> int:
        """Return the exact number; reads values only where the distribution is not enough."""
        least, most = self.count(low, high)
        if least == most:
            return least
        return sum(
            often * int(np.count_nonzero((piece >= low) & (piece <= high) & np.isfinite(piece)))
            for often, piece in self._weighted_values()
        )

    def _weighted_values(self) -> Iterator[tuple[int, np.ndarray[Any, Any]]]:
        values = self.tensor.values()
        if values.repeats is None:
            yield from ((1, comparable(chunk)) for chunk in self.chunks())
        else:
            yield from ((often, comparable(piece)) for often, piece, _ in values.distinct())


Probe: TypeAlias = "Callable[[Subject], Any]"  # reads more of one tensor; None for no result
#: Selects rows of a batch for which a probe may have a result.
Flags: TypeAlias = np.ndarray[tuple[int], np.dtype[np.bool_]]
Screen: TypeAlias = "Callable[[Batch], np.ndarray[Any, np.dtype[np.bool_]]]"


class TensorScan:
    """Scan of all tensors in node order by one of any number of threads that call :meth:`run`."""

    def __init__(
        self,
        parts: RunParts,
        probes: Mapping[str, Probe],
        screens: Mapping[str, Screen] | None = None,
    ) -> None:
        self.give_way: Callable[[], None] = lambda: None
        self._parts = parts
        self._probes = probes
        self._screens = screens or {}
        self._batches: list[tuple[list[Entry], Batch]] = []
        self._lonely: set[Entry] = set()  # small tensors that could not be counted in a batch
        self._entries: list[Entry] = list(parts.tensors or ())
        self._statistics: dict[Entry, Statistics] = {}
        self._probed: dict[str, dict[Entry, Any]] = {name: {} for name in probes}
        self._broken: dict[Entry, str] = {}
        self._changed = threading.Condition()
        self._owner = 0
        self._stop = self._paused = False
        self._started = False
        self._when_done: list[Callable[[], None]] = []

    @property
    def state(self) -> State:
        """``"none"`` before a start or paused; ``"cancelled"`` after a stop before the end."""
        with self._changed:
            if self._done == len(self._entries):
                return "done"
            if self._stop and not self._owner:
                return "none" if self._paused else "cancelled"
            return "scanning" if self._owner or self._done or self._started else "none"

    @property
    def _done(self) -> int:
        return len(self._statistics) + len(self._broken)

    def scanned(self) -> Scanned:
        """Return a snapshot of the results."""
        with self._changed:
            return Scanned(
                dict(self._statistics),
                {name: dict(results) for name, results in self._probed.items()},
                dict(self._broken),
                len(self._entries),
                tuple(self._batches),
            )

    def cancel(self, *, wait: float = 0.0, pause: bool = False) -> None:
        """Stop at the next chunk; results stay, and :meth:`run` resumes."""
        with self._changed:
            self._stop, self._paused = True, pause
            self._changed.wait_for(lambda: not self._owner, wait)

    def start(self, *, go_on: bool = False) -> bool:
        """Start a scan thread if none runs, and return whether it was started."""
        with self._changed:
            if self.state != "none" and not (go_on and self.state == "cancelled"):
                return False
            self._started, self._stop = True, False
        threading.Thread(target=self.run, name="tvmdbg-scan", daemon=True).start()
        return True

    def wait(self, seconds: float) -> None:
        """Block until all tensors are scanned, the scan is cancelled, or time is up."""
        with self._changed:
            self._changed.wait_for(lambda: self.state in {"done", "cancelled"}, seconds)

    def when_done(self, call: Callable[[], None]) -> None:
        """Call a function once all tensors are scanned."""
        with self._changed:
            if self.state != "done":
                if call not in self._when_done:
                    self._when_done.append(call)
                return
        call()

    def run(
        self,
        *,
        progress: bool = False,
        seconds: float | None = None,
        executor: Executor | None = None,
    ) -> bool:
        """Scan the remaining tensors, or wait for the thread that does."""
        try:
            if self._claim():
                self._scan(progress, seconds, executor)
        except KeyboardInterrupt:
            self.cancel()
        except _ScanStoppedError:
            pass
        finally:
            self._ended()
        return not self._stop

    def _ended(self) -> None:
        with self._changed:
            if self._owner == threading.get_ident():
                self._owner = 0
                self._changed.notify_all()
            calls = []
            if self.state == "done":
                calls, self._when_done = self._when_done, []
        for call in calls:
            call()

    def _claim(self) -> bool:
        with self._changed:
            while self._owner:
                stopping = self._stop
                self._changed.wait(_POLL)
                if not self._owner and not stopping:
                    return False
            if self._done == len(self._entries):
                self._stop = False
                return False
            self._owner, self._stop = threading.get_ident(), False
            return True

    def _scan(self, progress: bool, seconds: float | None, executor: Executor | None) -> None:
        tensors: Mapping[Entry, Tensor] = self._parts.tensors or {}
        left = {entry: tensor for entry, tensor in tensors.items() if not self._known(entry)}
        end = None if seconds is None else time.monotonic() + seconds
        bar = tqdm(
            total=sum(tensor.nbytes for tensor in left.values()),
            desc="scanning tensors",
            unit="B",
            unit_scale=True,
            delay=1,
            leave=False,
            disable=not progress,
        )
        small = [
            entry
            for entry, tensor in left.items()
            if is_small(tensor) and entry not in self._lonely
        ]
        with bar:
            for begin in range(0, len(small), TOGETHER):
                some = {entry: left[entry] for entry in small[begin : begin + TOGETHER]}
                bar.update(self._scan_batches(some))
                if end is not None and time.monotonic() > end:
                    return
            left = {entry: tensor for entry, tensor in left.items() if not self._known(entry)}
            if executor is not None:
                self._scan_parallel(left, executor, bar)
                return
            for entry, tensor in left.items():
                self._look(entry, tensor)
                bar.update(tensor.nbytes)
                if end is not None and time.monotonic() > end:
                    return

    def _scan_parallel(self, left: Mapping[Entry, Tensor], executor: Executor, bar: Any) -> None:
        with ThreadPoolExecutor(_AT_A_TIME, "tvmdbg-scan") as own:
            looks = {
                own.submit(self._look, entry, tensor, executor): tensor.nbytes
                for entry, tensor in left.items()
            }
            try:
                for look in as_completed(looks):
                    look.result()
                    bar.update(looks[look])
            except BaseException:
                self._stop = True
                for look in looks:
                    look.cancel()
                raise

    def _known(self, entry: Entry) -> bool:
        return entry in self._statistics or entry in self._broken

    def _watch(self) -> None:
        if self._stop:
            raise _ScanStoppedError
        self.give_way()

    def _scan_batches(self, tensors: Mapping[Entry, Tensor]) -> int:
        self._watch()
        nbytes, entries = 0, list(tensors)
        for positions, batch in count_together(list(tensors.values())):
            self._watch()
            own = [entries[position] for position in positions]
            stats = dict(zip(own, batch.rows(), strict=True))
            probed = self._probe_batch(own, batch, stats, tensors)
            for entry, found in stats.items():
                tensors[entry].take(found)
            with self._changed:
                self._batches.append((own, batch))
                self._statistics.update(stats)
                for name, facts in probed.items():
                    self._probed[name].update(facts)
            nbytes += sum(tensors[entry].nbytes for entry in stats)
        self._lonely.update(entry for entry in entries if not self._known(entry))
        return nbytes

    def _probe_batch(
        self,
        entries: list[Entry],
        batch: Batch,
        stats: dict[Entry, Statistics],
        tensors: Mapping[Entry, Tensor],
    ) -> dict[str, dict[Entry, Any]]:
        probed: dict[str, dict[Entry, Any]] = {}
        for name, probe in self._probes.items():
            screen = self._screens.get(name)
            rows = range(len(batch)) if screen is None else np.flatnonzero(screen(batch)).tolist()
            facts = probed.setdefault(name, {})
            for row in rows:
                entry = entries[row]
                if entry not in stats:
                    continue
                chunks = partial(batch.chunks, row)
                try:
                    fact = probe(Subject(self._parts, entry, tensors[entry], stats[entry], chunks))
                except Exception:  # noqa: BLE001 (one broken tensor must not hide the others)
                    del stats[entry]
                    continue
                if fact is not None:
                    facts[entry] = fact
        return {
            name: {entry: fact for entry, fact in facts.items() if entry in stats}
            for name, facts in probed.items()
        }

    def _look(self, entry: Entry, tensor: Tensor, executor: Executor | None = None) -> None:
        self._watch()
        try:
            stats = tensor.statistics(watch=self._watch, executor=executor)
            subject = Subject(self._parts, entry, tensor, stats, partial(self._chunks, tensor))
            probed = {name: probe(subject) for name, probe in self._probes.items()}
        except _ScanStoppedError:
            raise
        except Exception as problem:  # noqa: BLE001 (one broken tensor must not hide the others)
            _LOG.info("tensor %s cannot be read", entry, exc_info=True)
            with self._changed:
                self._broken[entry] = why_unread(problem)
            return
        with self._changed:
            self._statistics[entry] = stats
            for name, fact in probed.items():
                if fact is not None:
                    self._probed[name][entry] = fact

    def _chunks(self, tensor: Tensor) -> Iterator[np.ndarray[Any, Any]]:
        for chunk in tensor.chunks():
            self._watch()
            yield chunk


#: Largest size in bytes of a small tensor. Its values are kept for later probes; the histogram of
#: another takes as much.
SMALL = 1 << 10
TOGETHER = 1 << 13  # tensors read at once, at most 8 MB of them
_FEW = 4  # least batch of one type and length


def is_small(tensor: Tensor) -> bool:
    """Return whether a tensor is small and not counted yet."""
    return tensor.record.nbytes <= SMALL and not tensor.is_counted


def count_together(tensors: Sequence[Tensor]) -> Iterator[tuple[list[int], Batch]]:
    """Read small tensors and count batches of one type and length."""
    kinds: dict[tuple[DataType, int, int], list[int]] = defaultdict(list)
    for position, tensor in enumerate(tensors):
        record = tensor.record
        kinds[record.dtype, record.nbytes, math.prod(record.shape)].append(position)
    groups = [
        group
        for group in kinds.values()
        if len(group) >= _FEW and tensors[group[0]].values().is_ordered
    ]
    try:
        stored = _stored_bytes(tensors, [position for group in groups for position in group])
    except (OSError, ValueError):
        _LOG.info("small tensors cannot be read together", exc_info=True)
        return
    for group in groups:
        values, rows = tensors[group[0]].values(), [stored[position] for position in group]
        truths = values.dtype.is_bool and not values.is_packed
        yield group, Batch(values.alike(rows), values.codes.alike(rows) if truths else None)


def _stored_bytes(tensors: Sequence[Tensor], positions: list[int]) -> dict[int, bytes]:
    files: dict[int, tuple[ByteSource, list[int]]] = {}
    for position in positions:
        source = tensors[position].record.source
        files.setdefault(id(source), (source, []))[1].append(position)
    data: dict[int, bytes] = {}
    for source, own in files.values():
        records = [tensors[position].record for position in own]
        ranges = [(record.offset, record.nbytes) for record in records]
        data.update(zip(own, read_near(source, ranges), strict=True))
    return data
