"""Tuning logs: 100,000 records and a million, their schedules, their figure and their view.

Promises for 100,000 records, in CPU seconds: 2 s to columns, and 0.1 s to filter them, again and
the first time; 0.1 s for best records, distilled ones, curves and the table of tasks, 0.5 s for
findings; 1 s to write them; 0.05 s for 64 that a running tuning appended; 5 s for the threads of
every block, which reads all steps; 0.3 s and 3 MB for what the view is given, 1 s and 100 kB for
its figure. A million take 300 MB at most above what the process had before. A schedule is replayed
in 2 ms and its bounds are inferred in 10 ms. In the view 95 of 100 frames take 8 ms of script.

Peers: ``json.loads`` of every line, as a user's own script does it, and msgspec, whose objects
nobody has looked at yet; the limit is reading the bytes. With ``TVMDBG_CORPUS`` set, real logs are
read too. ``python -m benchmarks.tuning.tuning
[records million questions growing schedules shown view]``
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

import tvmdbg_widgets as tvmdbg
from benchmarks.graph_view import verdict
from benchmarks.measure import Times, limit, load, machine, measure, ratio, sized
from benchmarks.tuning.tuning_logs import WEIGHTS, records, write_log
from benchmarks.tuning.tuning_view import view
from tvmdbg_widgets.analysis.tuning.schedules.nest import nest
from tvmdbg_widgets.analysis.tuning.schedules.replaying import replay
from tvmdbg_widgets.analysis.tuning.schedules.schedule import infer_bounds
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.answers.tuning import TuningAnswers
from tvmdbg_widgets.tuning import TuningLog

MANY, MILLION, FEW, ROUND = sized((100_000, 1_000_000, 1_000, 64), (4_800, 4_800, 400, 8))
OPEN_S, SELECT_S, QUICK_S, FINDINGS_S, WRITE_S, POLL_S, THREADS_S = 2, 0.1, 0.1, 0.5, 1, 0.05, 5
GIVEN_S, GIVEN_MB, FIGURE_S, FIGURE_KB, MEMORY_MB = 0.3, 3, 1, 100, 300
REPLAY_MS, BOUNDS_MS = 2, 10
QUERIES = (
    "error:6 task:3 cost<2ms",
    "cost<2ms is:improved",
    "conv2d_layer is:failed",
    "matmul -name:768 unroll>=512",
    "round:3 | is:duplicate",
)
#: Peak memory of opening a log, less what the process had when it had opened a small one, in MB.
PEAK = """
import pathlib, resource, sys
import tvmdbg_widgets as tvmdbg
tvmdbg.open_tuning(sys.argv[1])
status = pathlib.Path("/proc/self/status").read_text()
before = int(status.partition("VmRSS:")[2].split()[0])
log = tvmdbg.open_tuning(sys.argv[2], progress=False)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, len(log))
"""


def quietly(path: Path) -> TuningLog:
    """Open a log without a bar."""
    return tvmdbg.open_tuning(path, weights=WEIGHTS, progress=False)


def lines_of(path: Path, decode: Callable[[bytes], Any]) -> None:
    """Decode every line, and keep nothing."""
    with path.open("rb") as file:
        for line in file:
            decode(line)


def reading(path: Path) -> None:
    """Print what reading a log takes beside its peers."""
    print(f"{MANY:,} records, {path.stat().st_size / 1e6:.1f} MB; {load()}")
    fast = measure("limit: reading the bytes", path.read_bytes)
    peer = measure("peer: json.loads of every line", lambda: lines_of(path, json.loads))
    untyped = measure(
        "peer: msgspec of every line", lambda: lines_of(path, msgspec.json.Decoder().decode)
    )
    ours = measure("open_tuning", lambda: quietly(path))
    limit(ours, OPEN_S)
    for each in (fast, untyped, peer):
        print(f"  {ours.cpu_median / each.cpu_median:.2f} x {each.what}")
    corpus = os.environ.get("TVMDBG_CORPUS")
    if corpus is None:
        print("  TVMDBG_CORPUS is not set: no real logs")
        return
    folder = Path(corpus) / "tuning"
    paths = [each for each in folder.rglob("*") if _is_ansor(each)]
    kept = [each.read_bytes() for each in paths]
    print(f"real logs: {len(paths)} files, {sum(map(len, kept)) / 1e6:.1f} MB; {load()}")
    slow = measure(
        "peer: json.loads of every line",
        lambda: [json.loads(line) for each in kept for line in each.splitlines() if line.strip()],
    )
    real = measure("open_tuning, each file", lambda: list(map(quietly_alone, paths)))
    print(f"  {real.cpu_median / slow.cpu_median:.2f} x {slow.what}")


def quietly_alone(path: Path) -> TuningLog:
    """Open a log whose tasks nobody weighed."""
    return tvmdbg.open_tuning(path, progress=False)


def _is_ansor(path: Path) -> bool:
    if not path.is_file() or path.suffix not in (".json", ".log"):
        return False
    with path.open("rb") as file:
        return file.read(6) == b'{"i": '


def million(folder: Path) -> None:
    """Print time and memory of a million records."""
    small, path = folder / "small.json", folder / "million.json"
    write_log(small, FEW)
    write_log(path, MILLION)
    print(f"{MILLION:,} records, {path.stat().st_size / 1e6:.1f} MB; {load()}")
    fast = measure("limit: reading the bytes", lambda: lines_of(path, len), 1)
    ours = measure("open_tuning", lambda: quietly(path), 1)
    print(f"  {ours.cpu_median / fast.cpu_median:.1f} x {fast.what}")
    command = [sys.executable, "-c", PEAK, str(small), str(path)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    peak = float(printed.split()[0])
    print(f"  peak memory {peak:.0f} MB; {verdict(peak, MEMORY_MB)}", flush=True)
    path.unlink()


def questions(path: Path, folder: Path) -> None:
    """Print what is asked of a log takes."""
    print(f"questions to {MANY:,} records; {load()}")
    for query in QUERIES:
        # What a log keeps of the first query is not there yet.
        log = quietly(path)
        limit(measure(f"first: {query}", partial(log.select, query), 1), SELECT_S)
        limit(measure(f"again: {query}", partial(log.select, query)), SELECT_S)
    log = quietly(path)
    asked: tuple[tuple[str, Callable[[], object], float], ...] = (
        ("best()", log.best, QUICK_S),
        ("applied(task)", lambda: log.applied(0), QUICK_S),
        ("distill()", log.distill, QUICK_S),
        ("distill(10)", lambda: log.distill(10), QUICK_S),
        ("curve()", log.curve, QUICK_S),
        ("task_table()", log.task_table, QUICK_S),
        ("findings()", log.findings, FINDINGS_S),
    )
    for what, question, promise in asked:
        limit(measure(what, question), promise)
    for by in ("round", "unroll"):
        limit(measure(f'errors_by("{by}")', partial(log.errors_by, by)), QUICK_S)
    threads = measure('errors_by("threads")', lambda: log.errors_by("threads", progress=False), 3)
    limit(threads, THREADS_S)
    copy = measure("limit: copying the file", lambda: shutil.copyfile(path, folder / "copy"))
    written = measure("write(path)", lambda: log.write(folder / "written.json"))
    limit(written, WRITE_S)
    print(f"  {written.cpu_median / copy.cpu_median:.0f} x {copy.what}")
    assert (folder / "written.json").read_bytes() == path.read_bytes()
    other = quietly(path)
    limit(measure("merge(other)", lambda: log.merge(other)), QUICK_S)


def growing(path: Path) -> None:
    """Print what a look at a log takes that grew, and at one that did not."""
    print(f"{MANY:,} records and then {ROUND} more, again and again; {load()}")
    log = quietly(path)
    opened = measure("open_tuning", lambda: quietly(path), 3)
    with log.follow() as follower:
        measure("poll(), nothing new", follower.poll)
        for count in (ROUND, 100 * ROUND):
            added = "".join(records(count, seed=count))

            def grown(added: str = added) -> None:
                with path.open("a", encoding="utf-8") as file:
                    file.write(added)
                assert follower.poll() is not None

            polled = measure(f"poll(), {count:,} new", grown)
            if count == ROUND:
                limit(polled, POLL_S)
                ratio(opened, polled, OPEN_S / POLL_S)


def schedules(folder: Path) -> None:
    """Print what the schedules of a log take."""
    path = folder / "few.json"
    write_log(path, 12 * FEW)
    log = quietly(path)
    on_gpu = [row for row in range(len(log)) if log.tasks[log.trials.task[row]].target.is_gpu]
    rows = on_gpu[:: max(1, len(on_gpu) // FEW)][:FEW]
    print(f"{len(rows):,} GPU schedules of {len(log.tasks)} tasks; {load()}")
    per("log.record(row)", rows, log.record)
    found = [log.record(row) for row in rows]
    dags = [log.dag(each.task) for each in found]
    known = [(dag, each.steps) for dag, each in zip(dags, found, strict=True) if dag is not None]
    print(f"  the DAG is known of {len(known):,}")
    told(per("replayed", known, lambda each: replay(*each)), len(known), REPLAY_MS)
    states = [replay(*each) for each in known]
    per("lines of its nest", states, nest)
    told(per("bounds inferred", states, infer_bounds), len(states), BOUNDS_MS)
    per("log.schedule(row), shown", rows, lambda row: repr(log.schedule(row)))
    steps = [each.steps for each in found]
    per("replayed without a DAG", steps, lambda each: replay(None, each))


def per(what: str, items: list[Any], task: Callable[[Any], object]) -> Times:
    """Print what a task takes for all of some items."""
    times = measure(f"{what}, {len(items):,} times", lambda: list(map(task, items)), 3)
    print(f"  {times.cpu_median / len(items) * 1e6:,.0f} µs each")
    return times


def told(times: Times, count: int, promise: float) -> None:
    """Print a promise of milliseconds an item."""
    print(f"  {verdict(times.cpu_median / count * 1e3, promise)}")


def _overview(log: TuningLog) -> Reply:
    return TuningAnswers(log.facts).answer({"kind": "tuning"})


def shown(path: Path) -> None:
    """Print what the view is given, and its figure."""
    log = quietly(path)
    print(f"{MANY:,} records shown; {load()}")
    given = partial(_overview, log)
    limit(measure("what the view is given", given), GIVEN_S)
    reply = given()
    size = sum(map(len, reply.buffers)) + len(json.dumps(reply.result))
    print(f"  {size / 1e6:.2f} MB; {verdict(size / 1e6, GIVEN_MB)}")
    chosen: tuple[dict[str, Any], ...] = ({}, {"along": "time"}, {"task": 0})
    for traits in chosen:
        drawn = partial(log.figure, theme="auto", **traits)
        limit(measure(f"figure {traits or ''}".strip(), drawn, 3), FIGURE_S)
        letters = len(drawn().svg.encode()) / 1e3
        print(f"  {letters:.1f} kB; {verdict(letters, FIGURE_KB)}")


def main() -> None:
    """Print all figures, or those of the parts named."""
    machine()
    named = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "ansor.json"
        write_log(path, MANY)
        parts: dict[str, Callable[[], None]] = {
            "records": lambda: reading(path),
            "million": lambda: million(folder),
            "questions": lambda: questions(path, folder),
            "schedules": lambda: schedules(folder),
            "shown": lambda: shown(path),
            "view": lambda: view(quietly(path)),
            "growing": lambda: growing(path),
        }
        for part in named or parts:
            parts[part]()


if __name__ == "__main__":
    main()
