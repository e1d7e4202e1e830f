"""Opens inputs in processes of their own, and holds CPU time and memory of each to its limits."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import tvmdbg_widgets as tvmdbg
from tests.make.fuzz.files import Files
from tests.make.fuzz.inputs import Inputs
from tests.make.fuzz.seeds import seeds
from tests.make.fuzz.using import check_message, use_any

SECONDS = 2.0  # of CPU for any input
SECONDS_PER_MB = 1.0
MEMORY_MB = 300  # beyond what was used before
MEMORY_PER_BYTE = 20
#: All views, findings, exports and pages of one input together: what its file allows, and more.
SECONDS_OF_USE, SECONDS_OF_USE_PER_MB = 15.0, 15.0
MEMORY_OF_USE_MB = 500
#: Beyond what a process has when it begins; more is a MemoryError.
ADDRESS_SPACE_MB = 3_000
#: CPU seconds behind a limit after which a process ends where no signal reaches its Python code.
GRACE = 8
USED_EVERY = 100
#: Inputs that one process takes before another one takes its place.
SHARE = 2_000
#: Seconds without news after which a process is taken to wait for ever.
SILENCE = 300.0


class TooSlowError(BaseException):
    """The limit of CPU time is reached; no reader catches it."""


class TooLargeError(Exception):
    """The limit of memory was passed."""


@dataclass(frozen=True)
class Fault:
    """What went wrong with one input; `kind` is one for all that go wrong at the same place."""

    number: int
    of: str
    size: int
    kind: str
    text: str

    def __str__(self) -> str:
        return f"input {self.number} ({self.of}, {self.size:,} bytes): {self.text}"


@dataclass
class Outcome:
    """What became of some inputs."""

    inputs: int = 0
    opened: int = 0
    refused: int = 0
    used: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    slowest: tuple[float, int] = (0.0, -1)
    largest: tuple[float, int] = (0.0, -1)
    cpu: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        """Count another outcome in."""
        self.inputs += other.inputs
        self.opened += other.opened
        self.refused += other.refused
        self.used += other.used
        self.kinds.update(other.kinds)
        self.slowest = max(self.slowest, other.slowest)
        self.largest = max(self.largest, other.largest)
        self.cpu.update(other.cpu)
        self.faults += other.faults

    def __str__(self) -> str:
        kinds = ", ".join(
            f"{kind} {count:,} ({self.cpu[kind] / count * 1000:.0f} ms)"
            for kind, count in self.kinds.most_common()
        )
        (seconds, slow), (memory, large) = self.slowest, self.largest
        told = (
            f"{self.inputs:,} inputs: {self.opened:,} opened, {self.refused:,} refused with a "
            f"FormatError, {self.used:,} shown, asked and exported; {len(self.faults)} faults\n"
            f"made of: {kinds}\n"
            f"slowest to open: {seconds:.2f} s CPU (input {slow}); most memory: {memory:.0f} MB "
            f"(input {large}); {sum(self.cpu.values()):.0f} s CPU in all"
        )
        alike = defaultdict(list)
        for each in self.faults:
            alike[each.kind].append(each)
        for kind, own in sorted(alike.items(), key=lambda item: -len(item[1])):
            few = ", ".join(f"{each.number} ({each.of})" for each in own[:3])
            told += f"\n{len(own):>5} x {kind}: {few}"
        return told


def try_input(
    number: int, inputs: Inputs | dict[int, Files], outcome: Outcome, *, use: bool | None = None
) -> None:
    """Open one input, use it where it is its turn, and count what became of it."""
    given = inputs[number]
    megabytes = given.counted / 1e6
    outcome.inputs += 1
    outcome.kinds[given.kind] += 1
    use = number % USED_EVERY == 0 if use is None else use
    began = time.process_time()
    try:
        with given.opened() as sources:
            seconds = SECONDS + SECONDS_PER_MB * megabytes
            with _limits(seconds, MEMORY_MB + MEMORY_PER_BYTE * megabytes, outcome, number):
                try:
                    found = given.read(sources)
                    outcome.opened += 1
                except tvmdbg.FormatError as problem:
                    check_message(str(problem))
                    outcome.refused += 1
                    use = False
            if use:
                outcome.used += 1
                seconds = SECONDS_OF_USE + SECONDS_OF_USE_PER_MB * megabytes
                with _limits(seconds, MEMORY_OF_USE_MB + MEMORY_PER_BYTE * megabytes):
                    use_any(found)
    except (Exception, TooSlowError) as problem:  # noqa: BLE001 (every kind is a fault)
        outcome.faults.append(_fault(problem, number, given.kind, given.size))
    outcome.cpu[given.kind] += time.process_time() - began


def _fault(problem: BaseException, number: int, of: str, size: int) -> Fault:
    frames = traceback.extract_tb(problem.__traceback__)
    ours = [each for each in frames if "tvmdbg_widgets/" in each.filename] or frames
    place = ours[-1].filename.rpartition("tvmdbg_widgets/")[2]
    used = " in use" if any(each.name == "use_any" for each in frames) else ""
    if isinstance(problem, TooLargeError):
        kind = f"TooLargeError{used}"
    else:
        kind = f"{type(problem).__name__}{used} at {place}, {ours[-1].name}"
    text = "".join(traceback.format_exception(problem, limit=-8))
    return Fault(number, of, size, kind, text[-6000:])


@contextlib.contextmanager
def _limits(
    seconds: float, megabytes: float, outcome: Outcome | None = None, number: int = -1
) -> Iterator[None]:
    """Hold what is done to CPU time and memory; keep what it took where that is the most."""
    taken = 0.0
    before, begin = _peak_anew(), time.process_time()
    _end_after(seconds)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        taken = _peak_mb() - before
        if outcome is not None:
            outcome.slowest = max(outcome.slowest, (time.process_time() - begin, number))
            outcome.largest = max(outcome.largest, (taken, number))
    if taken > megabytes:
        raise TooLargeError(f"took {taken:.0f} MB, {megabytes:.0f} MB are the limit")


def _end_after(seconds: float) -> None:
    """Let the kernel end this process where it is far behind its limit."""
    _lower(resource.RLIMIT_CPU, int(time.process_time() + seconds + GRACE))


def _lower(kind: int, most: int) -> None:
    """Set a limit of this process within what its caller set."""
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _too_slow(_signal: int, _frame: Any) -> None:
    raise TooSlowError


def _status(name: str) -> int:
    """Return a line of /proc/self/status in kB."""
    with Path("/proc/self/status").open("rb") as status:
        for line in status:
            if line.startswith(name.encode()):
                return int(line.split()[1])
    raise KeyError(name)


def _peak_anew() -> float:
    """Let the peak of memory begin anew, and return what is in use (MB)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return _status("VmRSS:") / 1024
    except OSError:  # no Linux: the peak of all inputs so far
        return _peak_mb()


def _peak_mb() -> float:
    try:
        return _status("VmHWM:") / 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _prepare() -> None:
    signal.signal(signal.SIGPROF, _too_slow)
    warnings.filterwarnings("error", category=RuntimeWarning, module="tvmdbg_widgets")
    with contextlib.suppress(OSError):
        _lower(resource.RLIMIT_AS, (_status("VmSize:") << 10) + ADDRESS_SPACE_MB * 2**20)


def _work(connection: Connection, inputs: Inputs, first: int, last: int) -> None:
    """Try some inputs in a process of its own; tell what came of each."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # progress bars
    _prepare()
    for number in range(first, last):
        outcome = Outcome()
        try_input(number, inputs, outcome)
        connection.send(outcome)


class _Process:
    """One process, and what it told."""

    def __init__(self, inputs: Inputs, first: int, last: int) -> None:
        fork = multiprocessing.get_context("fork")  # the seeds are there already
        self.connection, other = fork.Pipe(duplex=False)
        self.process = fork.Process(target=_work, args=(other, inputs, first, last), daemon=True)
        self.process.start()
        other.close()
        self.inputs = inputs
        self.at, self.last = first, last
        self._heard = time.monotonic()

    def listen(self) -> tuple[Outcome, bool]:
        """Return what the process told since, and whether it still works."""
        told = Outcome()
        try:
            while self.connection.poll():
                self._heard = time.monotonic()
                told.add(self.connection.recv())
                self.at += 1
        except EOFError:
            self.process.join()
            if self.at < self.last:
                self._lost(f"the process died with status {self.process.exitcode}", told)
            return told, False
        if time.monotonic() - self._heard > SILENCE:
            self.process.kill()
            self._lost(f"no end after {SILENCE:.0f} s", told)
            return told, False
        return told, True

    def _lost(self, why: str, told: Outcome) -> None:
        given = self.inputs[self.at]
        fault = Fault(self.at, given.kind, given.size, why, why)
        told.add(Outcome(inputs=1, kinds=Counter([given.kind]), faults=[fault]))
        self.at += 1


def fuzz(
    count: int,
    *,
    first: int = 0,
    seconds: float = float("inf"),
    jobs: int | None = None,
    keep: Path | None = None,
) -> Outcome:
    """Try so many inputs, or as many as the time allows, in several processes.

    Each fault is printed as it is found; its files are written below `keep`.
    """
    inputs = Inputs(seeds())
    whole, begin, end = Outcome(), first, first + count
    until = time.monotonic() + seconds
    working: list[_Process] = []
    while (working or begin < end) and time.monotonic() < until:
        while begin < end and len(working) < (jobs or os.cpu_count() or 1):
            working.append(_Process(inputs, begin, min(begin + SHARE, end)))
            begin += SHARE
        time.sleep(0.05)
        for each in list(working):
            told, works = each.listen()
            whole.add(told)
            for fault in told.faults:
                print(fault, file=sys.stderr, flush=True)
                if keep is not None:
                    inputs[fault.number].write(keep / str(fault.number))
            if not works:
                working.remove(each)
                if each.at < each.last:
                    working.append(_Process(inputs, each.at, each.last))
    for each in working:
        each.process.kill()
    return whole


def again(number: int, keep: Path | None = None) -> Outcome:
    """Try one input here, and use it; write its files where that is asked."""
    inputs, outcome = Inputs(seeds()), Outcome()
    if keep is not None:
        inputs[number].write(keep / str(number))
    _prepare()
    try_input(number, inputs, outcome, use=True)
    return outcome
