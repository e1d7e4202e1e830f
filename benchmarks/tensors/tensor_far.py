"""Statistics of a tensor larger than memory, and of one that is far away.

Promise: the memory taken does not depend on the size of the tensor. A sparse params file of 20 GB
is compared with one of 1 GB, each in a process of its own; then a source that answers each read
late stands for a store over a network.
``python -m benchmarks.tensors.tensor_far [--gigabytes 20]``
"""

from __future__ import annotations

import argparse
import resource
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import tvmdbg_widgets as tvmdbg
from benchmarks.measure import machine, measure, sized
from tvmdbg_widgets.model.statistics.contrast import Kept
from tvmdbg_widgets.model.tensors.dtypes import from_numpy
from tvmdbg_widgets.model.tensors.planes import ArrayValues
from tvmdbg_widgets.sources.byte_source import BytesSource

LATENCY = sized(0.03, 0.001)


def main() -> None:
    """Print peak memory and throughput of both files, and of the far source."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=sized(20.0, 0.05))
    parser.add_argument("--one", type=Path, help="count the tensor of this file and stop")
    asked = parser.parse_args()
    if asked.one:
        _count(asked.one)
        return
    machine()
    peaks = []
    with tempfile.TemporaryDirectory() as folder:
        for gigabytes in (sized(1.0, 0.02), asked.gigabytes):
            path = Path(folder) / f"{gigabytes:g}.params"
            _write(path, int(gigabytes * (1 << 30)) // 4)
            told = subprocess.run(
                [sys.executable, "-m", "benchmarks.tensors.tensor_far", "--one", str(path)],
                check=True,
                capture_output=True,
                text=True,
            ).stdout.split()
            before, peak, cpu, wall = (float(each) for each in told)
            peaks.append(peak - before)
            print(
                f"{gigabytes:g} GB: {peak - before:.0f} MB above the {before:.0f} MB at the start, "
                f"CPU {cpu:.2f} s, wall {wall:.2f} s, {gigabytes / wall:.2f} GB/s"
            )
            path.unlink()
    kept = abs(peaks[1] - peaks[0]) < 16
    verdict = "kept" if kept else "MISSED"
    print(f"  memory: {peaks[1] - peaks[0]:+.0f} MB for {asked.gigabytes:g} GB: {verdict}")
    _far()


def _write(path: Path, values: int) -> None:
    """Write a params list of one float32 tensor, a hole but for a few values in its middle."""
    name = b"x____topo-index:0____output-num:0"
    header = struct.pack(
        "<QQiiiBBHqq", 0xDD5E40F096B4A13F, 0, 1, 0, 1, 2, 32, 1, values, 4 * values
    )
    with path.open("wb") as file:
        file.write(struct.pack("<QQQ", 0xF7E58D4F05049CB7, 0, 1))
        file.write(struct.pack("<Q", len(name)) + name + struct.pack("<Q", 1) + header)
        begin = file.tell()
        file.seek(begin + values // 2 * 4)
        file.write(np.arange(1000, dtype="<f4").tobytes())
        file.truncate(begin + 4 * values)


def _count(path: Path) -> None:
    tensors = tvmdbg.open(path).tensors
    assert tensors is not None
    tensor = tensors[0, 0]
    tensor.statistics(sample=1 << 16)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    wall, cpu = time.perf_counter(), time.process_time()
    found = tensor.statistics()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert found.exact
    assert found.size == tensor.size
    assert (float(found.maximum), found.argmax) == (999.0, tensor.size // 2 + 999)
    assert found.zero == tensor.size - 999
    print(before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, cpu, wall)


class Late(BytesSource):
    """Bytes that come as late as over a network."""

    far = True

    def _fill(self, offset: int, view: memoryview) -> None:
        time.sleep(LATENCY)
        super()._fill(offset, view)


def _far() -> None:
    array = np.random.default_rng(0).standard_normal(sized(1 << 25, 1 << 20), dtype=np.float32)
    source = Late(array.tobytes())

    def count() -> None:
        values = ArrayValues(source, 0, array.nbytes, from_numpy(array.dtype), array.shape, "bytes")
        Kept(values).statistics()

    found = measure(f"{array.nbytes >> 20} MB, {LATENCY * 1e3:.0f} ms a read", count, 3)
    rate = array.nbytes / found.wall_median / 1e6
    print(f"  {rate:.0f} MB/s; one read of 512 KB after the other would give {0.524 / LATENCY:.0f}")


if __name__ == "__main__":
    main()
