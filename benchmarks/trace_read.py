"""Reading a Chrome trace of 1,000,000 events (102 MB), ``json.load`` of the same file in turns.

Promises: at most 1.5 s CPU and less than ``json.load``, for ``tvmdbg.open`` as a whole, and at most
300 MB of memory above what the process had after a small one.
``python -m benchmarks.trace_read [EVENTS]``
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import tvmdbg_widgets as tvmdbg
from benchmarks.measure import Times, limit, load, machine, measure, ratio, sized
from benchmarks.traces import write_trace

EVENTS, REPEATS = sized((1_000_000, 7), (1_000, 1))
CPU_S, MEMORY_MB = 1.5, 300
#: What memory was at most, less what it was when a small trace had been opened, in MB. The kernel's
#: own ru_maxrss also counts the process this one was started from.
PEAK = """
import pathlib, sys
import tqdm.auto
import tvmdbg_widgets as tvmdbg
def memory(name):
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.partition(name)[2].split()[0]) / 1024
tvmdbg.open(sys.argv[1])
before = memory("VmRSS:")
run = tvmdbg.open(sys.argv[2])
print(memory("VmHWM:") - before, run.timeline.num_slices)
"""


def joined(name: str, parts: list[Times]) -> Times:
    """Return single measurements as one of several repeats."""
    return Times(name, tuple(each.cpu[0] for each in parts), tuple(each.wall[0] for each in parts))


def peak(small: Path, trace: Path) -> float:
    """Return the MB that opening the trace takes at most in a process of its own."""
    command = [sys.executable, "-c", PEAK, str(small), str(trace)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(printed.split()[0])


def main() -> None:
    """Print all figures."""
    machine()
    count = int(sys.argv[1]) if len(sys.argv) > 1 else EVENTS
    with tempfile.TemporaryDirectory() as folder:
        small, trace = Path(folder) / "small.json", Path(folder) / "trace.json"
        write_trace(small, 100)
        write_trace(trace, count)
        print(f"{count:,} events, {trace.stat().st_size / 1e6:.1f} MB")
        assert tvmdbg.open(trace).timeline is not None
        loads, opens = [], []
        for _ in range(REPEATS):
            loads.append(measure("json.load", lambda: json.loads(trace.read_bytes()), 1))
            opens.append(measure("tvmdbg.open", lambda: tvmdbg.open(trace), 1))
        slow, fast = joined("json.load", loads), joined("tvmdbg.open", opens)
        print(f"{slow}\n{fast}")
        limit(fast, CPU_S)
        ratio(slow, fast, 1)
        memory = peak(small, trace)
        verdict = "kept" if memory <= MEMORY_MB else "MISSED"
        print(f"  peak memory: {memory:.0f} MB; promised {MEMORY_MB} MB: {verdict}; {load()}")


if __name__ == "__main__":
    main()
