"""How CPU time and memory grow with each size of a file: nothing more than n log n.

Every line of :mod:`benchmarks.growing`, :mod:`benchmarks.growing.executorch` and
:mod:`benchmarks.growing.logs` doubles one size. For each, in a process of its own that may use so
much CPU time and no more, five steps are measured: ``open``; ``display``, which is what a cell
shows and the first answers its views ask for; ``findings``, of a remote run what is paired and
unclear; ``figures``; ``save_html``. A message is explained and shown alone. Printed are the CPU
seconds of each step at the largest size (median of up to three), how high memory rose, and
after each the exponent: the median over the doublings of log2(this size's / the last one's), of
those that take long enough to be told from noise. 1 is linear, 2 is quadratic. A star is at what
takes more than 1 s for 100,000. ``python -m benchmarks.growth [--only nodes] [--most 16000]``

``--only "hundred storages" --most 1000000 --seconds 900`` goes to a million nodes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import resource
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import tvmdbg_widgets as tvmdbg
from benchmarks.growing import GROWING
from benchmarks.growing.executorch import EXECUTORCH
from benchmarks.growing.logs import LOGS
from benchmarks.measure import cpu_seconds, machine, sized
from tvmdbg_widgets.answers.answers import Answers

Found = dict[str, dict[int, float]]

DOUBLINGS = sized(3, 0)
WARM_UP = sized((32,), ())
LINES = GROWING | EXECUTORCH | LOGS
STEPS = ("open", "display", "findings", "figures", "save_html")
FIGURES = ("graph", "timeline", "memory")
#: What the views of a run ask first, and the charts that one may turn to.
FIRST = ("summary", "graph", "facts", "tensors", "timeline", "health", "memory", "findings")
FIRST += ("roofline", "critical", "flows", "counters")
#: n log n grows with an exponent of 1.1 at these sizes.
MOST_EXPONENT = 1.4
#: Less is noise: seconds, megabytes.
LEAST = {**dict.fromkeys(STEPS, 0.1), "memory": 20.0}
SLOW = 1e-5


def steps(folder: Path) -> Iterator[str]:
    """Do what is measured, and name each step once it is done."""
    message = folder / "message.txt"
    if message.exists():
        explained = tvmdbg.explain(message.read_text())
        yield "open"
        repr(explained)
        explained._repr_html_()
        yield "display"
        return
    found = tvmdbg.open(folder)
    yield "open"
    page = folder.parent / "page.html"
    if isinstance(found, tvmdbg.TuningLog):
        yield from _of_log(found, page)
    elif isinstance(found, tvmdbg.RpcLog):
        yield from _of_remote(found, page)
    else:
        yield from _of_run(found, page)


def _of_run(run: tvmdbg.DebugRun, page: Path) -> Iterator[str]:
    run._repr_mimebundle_()
    answers = Answers(run.facts)
    for kind in FIRST:
        answers.answer({"kind": kind, "id": "1"})
    answers.close()
    yield "display"
    run.findings(progress=False)
    yield "findings"
    for view in FIGURES:
        assert run.figure(view).svg
    yield "figures"
    run.save_html(page)
    yield "save_html"


def _of_log(log: tvmdbg.TuningLog, page: Path) -> Iterator[str]:
    log.view().close()
    repr(log)
    log.task_table()
    yield "display"
    log.findings()
    yield "findings"
    assert log.figure().svg
    yield "figures"
    log.save_html(page)
    yield "save_html"


def _of_remote(log: tvmdbg.RpcLog, page: Path) -> Iterator[str]:
    log._repr_mimebundle_()
    yield "display"
    repr(log.issues)
    repr(log.desync)
    yield "findings"
    assert log.figure().svg
    yield "figures"
    if log.timeline is not None:
        log.run().save_html(page)
    yield "save_html"


def measure(folder: Path, seconds: int) -> None:
    """Print what each step takes, size by size, for the process that started this one."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    start = 0.0
    for dump in sorted(folder.iterdir(), key=lambda each: int(each.name)):
        begin = cpu_seconds()
        for _ in range(sized(3, 1)):
            used = cpu_seconds()
            for step in steps(dump):
                print(json.dumps([step, int(dump.name), cpu_seconds() - used]), flush=True)
                used = cpu_seconds()
            if cpu_seconds() - begin > 1:
                break
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        start = start or peak
        print(json.dumps(["memory", int(dump.name), peak - start]), flush=True)


def grow(line: str, sizes: list[int], seconds: int) -> tuple[Found, bool]:
    """Write the dumps of a line, and return what each step took by size, and whether all ended."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "dumps"
        for size in (*WARM_UP, *sizes):
            (folder / str(size)).mkdir(parents=True)
            LINES[line](folder / str(size), size)
        command = [sys.executable, "-m", "benchmarks.growth", f"--seconds={seconds}"]
        done = subprocess.run([*command, "--measure", folder], stdout=subprocess.PIPE, check=False)
    taken: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in done.stdout.decode().splitlines():
        step, size, value = json.loads(row)
        if size in sizes:
            taken[step][size].append(value)
    found = {
        step: {size: statistics.median(values) for size, values in own.items()}
        for step, own in taken.items()
    }
    return found, done.returncode == 0


def exponent(of: dict[int, float], least: float) -> float:
    """Return how a value grows with its size; NaN where it is too small to tell."""
    told = [each for each in sorted(of.items()) if each[1] >= least]
    return statistics.median(
        [
            math.log2(value / last) / math.log2(size / smaller)
            for (smaller, last), (size, value) in itertools.pairwise(told)
        ]
        or [math.nan]
    )


def tell(line: str, found: Found, ended: bool) -> bool:
    """Print one line, and return whether it keeps the promise."""
    cells, exponents = [], []
    for what in (*STEPS, "memory"):
        of = found.get(what, {})
        largest = max(of, default=0)
        grows = exponent(of, LEAST[what])
        exponents.append(grows)
        slow = what != "memory" and largest and of[largest] / largest > SLOW
        value = f"{of[largest]:.2f}" if of and what != "memory" else f"{of.get(largest, 0):.0f}"
        power = "" if math.isnan(grows) else f"^{grows:.1f}"
        cells.append(f"{value + ('*' if slow else ''):>8}{power:<5}")
    kept = ended and not any(each > MOST_EXPONENT for each in exponents)
    verdict = "kept" if kept else "GROWS" if ended else "STOPPED"
    largest = max(found.get("open", {}), default=0)
    print(f"{line:<28}{largest:>9,}  {''.join(cells)}{verdict}", flush=True)
    return kept


def main() -> None:
    """Print all lines, or those asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="lines whose name holds this")
    parser.add_argument("--most", type=int, default=sized(16_000, 20), help="the largest size")
    parser.add_argument("--seconds", type=int, default=60, help="CPU time of a line at most")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.measure:
        measure(chosen.measure, chosen.seconds)
        return
    machine()
    heads = "".join(f"{each:>8}{'':<5}" for each in (*STEPS, "MB"))
    print(f"{'what grows':<28}{'to':>9}  {heads}")
    sizes = [chosen.most >> k for k in range(DOUBLINGS, -1, -1)]
    lines = [line for line in LINES if chosen.only in line][:: sized(1, 8)]
    kept = [tell(line, *grow(line, sizes, chosen.seconds)) for line in lines]
    print(f"{sum(kept)} of {len(kept)} lines grow by n log n at most")


if __name__ == "__main__":
    main()
