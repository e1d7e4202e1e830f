"""Converting a params file of 1 GB, against ``cp``; and what its memory depends on.

``python -m benchmarks.convert [--gigabytes 1]``
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import machine, measure, sized
from benchmarks.params_open import write

COMMAND = [sys.executable, "-m", "tvmdbg_widgets.cli", "convert"]


def peak_megabytes(command: list[str]) -> float:
    """Run a command and return the most memory it held."""
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    return float(usage.ru_maxrss) / 1024


def main() -> None:
    """Print throughput beside that of ``cp``, and peak memory at two sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=sized(1.0, 0.02))
    gigabytes = parser.parse_args().gigabytes
    machine()
    with tempfile.TemporaryDirectory() as folder:
        peaks = []
        for size in (gigabytes / 16, gigabytes):
            source, target = Path(folder) / "in.params", Path(folder) / "out.params"
            write(source, max(1, int(size * 256)))
            command = [*COMMAND, str(source), "-o", str(target), "--dtype-layout", "wide"]
            peaks.append(peak_megabytes(command))
            print(f"{source.stat().st_size:,} bytes: peak memory {peaks[-1]:.0f} MB")
        print(f"  16 x the size: {peaks[1] - peaks[0]:+.0f} MB")
        bytes_ = source.stat().st_size
        copied = measure("cp", lambda: subprocess.run(["cp", source, target], check=True), 3)
        done = measure(
            "tvmdbg convert",
            lambda: subprocess.run(command, check=True, stderr=subprocess.DEVNULL),
            3,
        )
        for each in (copied, done):
            print(f"  {each.what}: {bytes_ / each.wall_median / 1e6:,.0f} MB/s wall")


if __name__ == "__main__":
    main()
