"""ExecuTorch's files: the table of events, the flamechart of a million, and a large program.

Promises, in CPU seconds: an ETDump of 100,000 events from file to table 1 s and 20 times less than
ExecuTorch's own Inspector takes with its flatc; one of 1,000,000 events 1.5 s to open and 300 MB of
memory above what the process had after its imports, then the first answer of the flamechart 0.3 s
and all slices 1.5 s; an ETRecord of 10,000 operators 1.5 s to the first answer of the graph, and
1.5 s to a figure of it.

The peer runs in an interpreter that has executorch: ``TVMDBG_EXECUTORCH_PYTHON`` names it, else
there is no peer. ``python -m benchmarks.executorch``
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import tvmdbg_widgets as tvmdbg
from benchmarks.executorch_files import write_etdump, write_etrecord
from benchmarks.measure import Times, limit, load, machine, measure, ratio, sized
from tvmdbg_widgets.answers.answers import Answers

TABLE, CHART, NODES = sized((100_000, 1_000_000, 10_000), (1_000, 10_000, 200))
#: Executions of one program: of 10,000 events each, and of 1,000.
EXECUTIONS = (10, 100)
TABLE_S, FEWER, OPEN_S, ROWS_S, FIRST_S, ALL_S, PICTURE_S, MEMORY_MB = (
    1, 20, 1.5, 0.5, 0.3, 1.5, 1.5, 300,
)  # fmt: skip
PEER_REPEATS = 3
#: Slices of one answer.
PART = 32_768
#: The Inspector beside ours: CPU and wall seconds without its imports, and the rows of its table.
PEER = """
import logging, pathlib, resource, sys, time, warnings
import pandas
from executorch.devtools import Inspector
logging.disable()
warnings.simplefilter("ignore")
def cpu():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)
begin, wall = cpu(), time.perf_counter()
rows = len(Inspector(etdump_path=sys.argv[1]).to_dataframe())
print(cpu() - begin, time.perf_counter() - wall, rows)
"""
#: What memory was at most, less what it was when another dump had been opened, in MB.
PEAK = """
import pathlib, sys
import tvmdbg_widgets as tvmdbg
def memory(name):
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.partition(name)[2].split()[0]) / 1024
tvmdbg.open(sys.argv[1])
before = memory("VmRSS:")
run = tvmdbg.open(sys.argv[2])
print(memory("VmHWM:") - before, run.timeline.num_slices)
"""


def table(dump: Path) -> int:
    """Return how many rows the table of a dump has."""
    return len(tvmdbg.executorch.Inspector(dump).to_dataframe())


def of_peer(dump: Path) -> Times | None:
    """Return what the Inspector itself takes for its table, None without an interpreter for it."""
    python = os.environ.get("TVMDBG_EXECUTORCH_PYTHON")
    if python is None:
        return None
    command = [python, "-c", PEER, str(dump)]
    cpu, wall = [], []
    for _ in range(PEER_REPEATS):
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        used, took, rows = printed.split()[-3:]
        assert int(rows) == table(dump)
        cpu.append(float(used))
        wall.append(float(took))
    times = Times("Inspector of ExecuTorch, with its flatc", tuple(cpu), tuple(wall))
    print(times, flush=True)
    return times


def tables(folder: Path) -> None:
    """Print what the tables of programs of two sizes take."""
    for executions in EXECUTIONS:
        dump = folder / f"{executions}.etdp"
        write_etdump(dump, TABLE, executions)
        rows = table(dump)
        print(f"{TABLE:,} events of {executions} executions, {rows:,} rows; {load()}")
        ours = measure("file to table", partial(table, dump), 7)
        limit(ours, TABLE_S)
        if (theirs := of_peer(dump)) is not None:
            ratio(theirs, ours, FEWER)


def chart(folder: Path) -> None:
    """Print what the flamechart of a million events takes, without a browser."""
    small, dump = folder / "small.etdp", folder / "chart.etdp"
    write_etdump(small, 1_000, 1)
    write_etdump(dump, CHART, EXECUTIONS[-1])
    print(f"{CHART:,} events, {dump.stat().st_size / 1e6:.1f} MB; {load()}")
    limit(measure("tvmdbg.open", lambda: tvmdbg.open(dump)), OPEN_S)
    runs = [tvmdbg.open(dump) for _ in range(3)]
    timelines = [run.timeline for run in runs if run.timeline is not None]
    left = iter(timelines)
    limit(measure("run.timeline.rows", lambda: next(left).rows, len(timelines)), ROWS_S)
    asked = [Answers(run.facts) for run in runs]
    firsts, alls = iter(asked), iter(asked)
    first = measure("first answer", lambda: next(firsts).answer({"kind": "timeline"}), len(asked))
    limit(first, FIRST_S)
    count = timelines[0].num_slices
    limit(measure("all slices", lambda: every_slice(next(alls), count), len(asked)), ALL_S)
    memory = peak(small, dump)
    verdict = "kept" if memory <= MEMORY_MB else "MISSED"
    print(f"  peak memory: {memory:.0f} MB; promised {MEMORY_MB} MB: {verdict}; {load()}")


def every_slice(answers: Answers, count: int) -> None:
    """Ask for the slices as a page does, part after part."""
    for first in range(0, count, PART):
        last = min(count, first + PART)
        answers.answer({"kind": "slices", "first": first, "last": last})


def peak(small: Path, dump: Path) -> float:
    """Return the MB that opening the dump takes at most in a process of its own."""
    command = [sys.executable, "-c", PEAK, str(small), str(dump)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(printed.split()[0])


def program(folder: Path) -> None:
    """Print what the first picture of a large program takes."""
    record = folder / "etrecord.bin"
    nodes = write_etrecord(record, NODES)
    print(f"program of {nodes:,} operators, {record.stat().st_size / 1e6:.1f} MB; {load()}")

    def answered() -> None:
        run = tvmdbg.open(record)
        assert len(run.groups)
        Answers(run.facts).answer({"kind": "graph"})

    limit(measure("open, groups, first answer", answered), PICTURE_S)
    limit(measure("open, groups, figure", lambda: tvmdbg.open(record).figure("graph")), PICTURE_S)


def main() -> None:
    """Print all figures."""
    machine()
    with tempfile.TemporaryDirectory() as folder:
        tables(Path(folder))
        chart(Path(folder))
        program(Path(folder))


if __name__ == "__main__":
    main()
