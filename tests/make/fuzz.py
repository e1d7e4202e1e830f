"""Opens mutants of every real file at hand, and uses some of those that open.

``python -m tests.make.fuzz --inputs 200000 --jobs 2`` prints what it did and every fault: an
exception that is no FormatError, a limit of CPU time or of memory passed, a process that died.
A fault is shown again by its number: ``python -m tests.make.fuzz --only 12345``.

The files are the package's samples, tests/data, recordings and archives made of them, and the
folder that ``TVMDBG_CORPUS`` names.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import tvmdbg_widgets as tvmdbg
from tests.make.fuzz_seeds import Files, seeds
from tests.make.mutants import mutant

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.connection import Connection

SECONDS = 2.0  # of CPU for any input
SECONDS_PER_MB = 1.0
SECONDS_OF_USE = 30.0  # the views, the findings and the exports of one run together
MEMORY_MB = 160  # beyond what was used before
MEMORY_PER_BYTE = 40
ADDRESS_SPACE_MB = 6_000
USED_EVERY = 50
RARE = 0.4  # share of inputs that are of any kind, however few files of it there are
#: Inputs that one process takes before another one takes its place.
SHARE = 2_000
#: Seconds without news after which a process is taken to hang where no signal reaches.
SILENCE = 240.0


class TooSlowError(BaseException):
    """The limit of CPU time is reached; no reader catches it."""


@dataclass
class Outcome:
    """What became of some inputs."""

    inputs: int = 0
    opened: int = 0
    refused: int = 0
    used: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    slowest: tuple[float, int] = (0.0, -1)
    faults: list[str] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        """Count another outcome in."""
        self.inputs += other.inputs
        self.opened += other.opened
        self.refused += other.refused
        self.used += other.used
        self.kinds.update(other.kinds)
        self.slowest = max(self.slowest, other.slowest)
        self.faults += other.faults

    def __str__(self) -> str:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in self.kinds.most_common())
        seconds, number = self.slowest
        return (
            f"{self.inputs:,} inputs: {self.opened:,} opened, {self.refused:,} refused with a "
            f"FormatError, {self.used:,} shown, asked and exported; {len(self.faults)} faults\n"
            f"mutants of: {kinds}\nslowest to open: {seconds:.2f} s CPU (input {number})"
        )


def input_of(number: int, files: list[Files]) -> Files:
    """Return one input: the files of one seed, one of which is a mutant."""
    random = Random(number)
    kind = random.choice(sorted({each.kind for each in files}))
    rare = random.random() < RARE
    seed = random.choice([each for each in files if each.kind == kind] if rare else files)
    name = random.choice(list(seed.contents))
    others = [random.choice(list(each.contents.values())) for each in random.choices(files, k=3)]
    changed = mutant(seed.contents[name], [*seed.contents.values(), *others], random)
    return Files(seed.kind, {**seed.contents, name: changed}, seed.pack)


def try_input(number: int, files: list[Files], outcome: Outcome) -> None:
    """Open one input and count what became of it."""
    given = input_of(number, files)
    outcome.inputs += 1
    outcome.kinds[given.kind] += 1
    size = sum(map(len, given.contents.values()))
    before, begin = _peak_mb(), time.process_time()
    run = None
    try:
        with given.opened() as sources:
            with _limit(SECONDS + SECONDS_PER_MB * size / 1e6):
                try:
                    run = tvmdbg.open(sources)
                except tvmdbg.FormatError as problem:
                    str(problem).encode()
                    outcome.refused += 1
            outcome.slowest = max(outcome.slowest, (time.process_time() - begin, number))
            if run is not None:
                outcome.opened += 1
                if outcome.opened % USED_EVERY == 0:
                    outcome.used += 1
                    with _limit(SECONDS_OF_USE):
                        use_any(run)
    except (Exception, TooSlowError) as problem:  # noqa: BLE001 (every kind is a fault)
        trace = "".join(traceback.format_exception(problem, limit=-6))
        outcome.faults.append(f"input {number} ({given.kind}, {size:,} bytes): {trace}")
    grown = _peak_mb() - before
    if run is None and grown > MEMORY_MB + MEMORY_PER_BYTE * size / 1e6:
        outcome.faults.append(f"input {number} ({given.kind}, {size:,} bytes): took {grown:.0f} MB")


def use_any(run: tvmdbg.DebugRun | tvmdbg.TuningLog | tvmdbg.RpcLog) -> None:
    """Use what was opened."""
    if isinstance(run, tvmdbg.TuningLog):
        use_log(run)
    elif isinstance(run, tvmdbg.RpcLog):
        use_rpc(run)
    else:
        use(run)


def use(run: tvmdbg.DebugRun) -> None:
    """Show a run, ask for its findings and export it, as a person would."""
    run._repr_mimebundle_()
    for part in (run, run.graph, run.tensors, run.timeline, run.provenance, run.check()):
        repr(part).encode()
    run.summary().encode()
    repr(run.findings()).encode()
    repr(run.health()).encode()
    run.table()._repr_html_().encode()
    str(run.report()).encode()
    run.figure("debugger").svg.encode()
    with tempfile.TemporaryDirectory() as folder:
        below = Path(folder)
        run.save_html(below / "run.html")
        with contextlib.suppress(tvmdbg.FormatError):  # what cannot be unpacked cannot be copied
            run.save(below / "kept")
            tvmdbg.open(below / "kept")
        if run.graph is not None and run.graph.num_nodes:
            run.to_dot().encode()
            run.to_model_explorer().save(below / "model.json")
            with contextlib.suppress(tvmdbg.FormatError):
                run.extract(range(min(3, run.graph.num_nodes)), below / "mini")
        if run.timeline is not None:
            run.to_chrome_trace(below / "trace.json")
    run.debugger().close()


def use_log(log: tvmdbg.TuningLog) -> None:
    """Show a tuning log, ask for its findings and schedules and write it, as a person would."""
    for part in (log, log.trials, log.tasks, log.issues, log.findings(), log.task_table()):
        repr(part).encode()
    log.to_dataframe()
    log.select("error:6")
    for row in range(min(3, len(log))):
        repr(log.record(row)).encode()
        if log.tasks[log.trials.task[row]].tuner == "ansor":
            repr(log.schedule(row)).encode()
    if len({task.tuner for task in log.tasks}) == 1:
        with tempfile.TemporaryDirectory() as folder:
            log.write(Path(folder, "again.json"))
            assert len(tvmdbg.open_tuning(Path(folder, "again.json"))) == len(log)


def use_rpc(log: tvmdbg.RpcLog) -> None:
    """Show a capture of a remote run and explain it, as a person would."""
    for part in (log, log.issues, log.conversation, log.functions, log.desync, log.timeline):
        repr(part).encode()
    log.to_dataframe()
    log._repr_mimebundle_()
    for packet in log[:3]:
        repr(packet).encode()
    if log.timeline is not None:
        log.flamechart().close()


@contextlib.contextmanager
def _limit(seconds: float) -> Iterator[None]:
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _too_slow(_signal: int, _frame: Any) -> None:
    raise TooSlowError


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _work(connection: Connection, first: int, last: int) -> None:
    """Try some inputs in a process of its own; tell what came of each."""
    signal.signal(signal.SIGPROF, _too_slow)
    warnings.filterwarnings("error", category=RuntimeWarning, module="tvmdbg_widgets")
    most = ADDRESS_SPACE_MB * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    files, since_use = seeds(), 0
    for number in range(first, last):
        outcome = Outcome(opened=since_use)
        try_input(number, files, outcome)
        since_use, outcome.opened = outcome.opened % USED_EVERY, outcome.opened - since_use
        connection.send(outcome)


class _Process:
    """One process, and what it told."""

    def __init__(self, first: int, last: int) -> None:
        self.connection, other = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.Process(target=_work, args=(other, first, last), daemon=True)
        self.process.start()
        other.close()
        self.at, self.last = first, last
        self._heard = time.monotonic()

    def listen(self, whole: Outcome) -> bool:
        """Count in what the process told since; whether it still works."""
        try:
            while self.connection.poll():
                self._heard = time.monotonic()
                told = self.connection.recv()
                if isinstance(told, Outcome):
                    whole.add(told)
                    self.at += 1
                    for fault in told.faults:
                        print(fault, file=sys.stderr, flush=True)
        except EOFError:
            self.process.join()
            if self.at < self.last:
                self._lost(f"the process died with status {self.process.exitcode}", whole)
            return False
        if time.monotonic() - self._heard > SILENCE:
            self.process.kill()
            self._lost(f"no end after {SILENCE:.0f} s", whole)
            return False
        return True

    def _lost(self, why: str, whole: Outcome) -> None:
        whole.add(Outcome(inputs=1, faults=[f"input {self.at}: {why}"]))
        print(whole.faults[-1], file=sys.stderr, flush=True)
        self.at += 1


def fuzz(
    inputs: int, *, first: int = 0, seconds: float = float("inf"), jobs: int | None = None
) -> Outcome:
    """Try so many inputs, or as many as the time allows, in several processes."""
    whole, begin, end = Outcome(), first, first + inputs
    until = time.monotonic() + seconds
    working: list[_Process] = []
    while (working or begin < end) and time.monotonic() < until:
        while begin < end and len(working) < (jobs or os.cpu_count() or 1):
            working.append(_Process(begin, min(begin + SHARE, end)))
            begin += SHARE
        time.sleep(0.05)
        for each in list(working):
            if not each.listen(whole):
                working.remove(each)
                if each.at < each.last:
                    working.append(_Process(each.at, each.last))
    for each in working:
        each.process.kill()
    return whole


def main() -> int:
    """Run from the command line; exit status 1 where there are faults."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--inputs", type=int, default=200_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--jobs", type=int, default=None)
    parser.add_argument("--only", type=int, default=None, metavar="NUMBER", help="show one again")
    parser.add_argument("--keep", type=Path, default=None, help="with --only: write its files here")
    given = parser.parse_args()
    if given.only is not None:
        return _again(given.only, given.keep)
    outcome = fuzz(given.inputs, first=given.first, seconds=given.seconds, jobs=given.jobs)
    print(outcome)
    return 1 if outcome.faults else 0


def _again(number: int, keep: Path | None) -> int:
    signal.signal(signal.SIGPROF, _too_slow)
    files, outcome = seeds(), Outcome(opened=USED_EVERY - 1)
    if keep is not None:
        for name, content in input_of(number, files).contents.items():
            path = keep / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    try_input(number, files, outcome)
    print(outcome)
    print(*outcome.faults, sep="\n")
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    sys.exit(main())
