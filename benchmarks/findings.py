"""Scanning every tensor for the findings, against numpy's own passes over the same bytes.

Prints GB/s of the scan (exact counts, bounds, moments and a histogram of each tensor), of
``min``, ``max`` and ``isnan`` alone, and of ``run.findings()`` as a whole; then what the rules
take once the tensors are scanned.
``python -m benchmarks.findings [--gigabytes 1]``
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np

import tvmdbg_widgets as tvmdbg
from benchmarks.measure import Times, machine, measure, sized
from benchmarks.params_open import ARRAY_BYTES, write
from tvmdbg_widgets.analysis.findings import find, probes
from tvmdbg_widgets.analysis.findings.evidence import RunEvidence
from tvmdbg_widgets.analysis.tensor_scan import TensorScan


def main() -> None:
    """Print all times, and the peak of memory that the scan added."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=sized(1.0, 0.02))
    arrays = int(parser.parse_args().gigabytes * (1 << 30) / ARRAY_BYTES)
    machine()
    print("resnet20_cifar, 72 tensors of 2 MB")
    _all(tvmdbg.samples.resnet20_cifar, 9)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.params"
        write(path, arrays)
        print(f"{arrays} float32 tensors of {path.stat().st_size / 1e9:.2f} GB, in the page cache")
        before = _peak()
        _all(path, 3)
        print(f"  the peak of memory rose by {(_peak() - before) / 1e6:.0f} MB")


def _all(path: Path, repeats: int) -> None:
    run = tvmdbg.open(path)
    nbytes = sum(tensor.nbytes for tensor in (run.tensors or {}).values())
    _rate(measure("numpy min, max, isnan", lambda: _numpy(path), repeats), nbytes)
    _rate(measure("scan (statistics and probes)", lambda: _scan(path), repeats), nbytes)
    _rate(measure("open(…).findings()", lambda: _findings(path), repeats), nbytes)
    scan = _scan(path)
    measure("the rules alone", lambda: find(RunEvidence(run.parts, scan.scanned())), repeats)


def _rate(times: Times, nbytes: int) -> None:
    cpu, wall = (nbytes / t / 1e9 for t in (times.cpu_median, times.wall_median))
    print(f"  {cpu:.2f} GB/s of CPU time, {wall:.2f} GB/s of wall time")


def _numpy(path: Path) -> None:
    for tensor in (tvmdbg.open(path).tensors or {}).values():
        for chunk in tensor.chunks():
            chunk.min()
            chunk.max()
            np.isnan(chunk).any()


def _scan(path: Path) -> TensorScan:
    scan = TensorScan(tvmdbg.open(path).parts, probes())
    scan.run()
    return scan


def _findings(path: Path) -> None:
    tvmdbg.open(path).findings(progress=False)


def _peak() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
