"""Statistics, distribution and percentiles of one large tensor in a params file.

Promise for 10^8 float32: a sampled first answer in 50 ms; the exact one in 1.5 s CPU with numpy
alone and 0.4 s CPU with the compiled pass; 0.5 s wall on 4 cores. Beside numpy's way (a mask, then
one function after the other) and beside one read of the same bytes, all in the same run.
``python -m benchmarks.tensors.tensor_statistics [--values 100000000]``
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.measure import limit, machine, measure, ratio, sized
from tvmdbg_widgets.model.statistics import batch, passes, result
from tvmdbg_widgets.model.statistics.contrast import Kept
from tvmdbg_widgets.model.tensors.dtypes import from_numpy
from tvmdbg_widgets.model.tensors.planes import ArrayValues
from tvmdbg_widgets.sources.file_source import FileSource

PERCENTS = [1, 5, 25, 50, 75, 95, 99]
SAMPLE = 1 << 18


def main() -> None:
    """Print times, ratios and promises; the promises are those of 10^8 values."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--values", type=int, default=sized(10**8, 10**5))
    size = parser.parse_args().values
    machine()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "values.bin"
        array = np.random.default_rng(0).standard_normal(size, dtype=np.float32)
        array[:: max(1, size // 100)] = np.nan
        array.tofile(path)
        _float32(path, array)
        for name in ("float16", "int8", "int32", "float64"):
            some = array[: size // 10].astype(np.float64)
            np.nan_to_num(some, copy=False)
            other = (some * 30).astype(name)
            other.tofile(path)
            measure(f"{name}, {len(other):,} values", lambda: _kept(path, other).statistics(), 3)  # noqa: B023


def _float32(path: Path, array: np.ndarray[Any, Any]) -> None:
    reads = measure("one read of the file", lambda: _read(path), 5)
    measure("one read of memory (np.add.reduce)", lambda: np.add.reduce(array), 5)
    naive = measure("numpy, one function after the other", lambda: _naive(array), 3)

    def exact() -> object:
        return _kept(path, array).statistics()

    sampled = measure(
        "sampled first answer", lambda: _kept(path, array).statistics(sample=SAMPLE), 9
    )
    print(f"  sampled first answer: {sampled.wall_median * 1e3:.0f} ms wall; promised 50 ms")
    cores = passes.cores()
    plain = _with(1, 1 << 62, lambda: measure("exact, numpy alone, one thread", exact, 5))
    limit(plain, 1.5)
    ratio(naive, plain, 4)
    print(f"  that is {plain.cpu_median / reads.cpu_median:.1f} x the CPU of one read of the file")
    _with(cores, 1 << 62, lambda: measure(f"exact, numpy alone, {cores} threads", exact, 5))
    if result.kernel(np.dtype(np.float32), wait=True) is None:
        print("  numba is not installed: the compiled pass was not measured")
    else:
        quick = _with(1, 1, lambda: measure("exact, compiled, one thread", exact, 5))
        limit(quick, 0.4)
        ratio(naive, quick, 10)
        spread = _with(cores, 1, lambda: measure(f"exact, compiled, {cores} threads", exact, 5))
        print(f"  wall on {cores} cores: {spread.wall_median:.2f} s; promised 0.5 s on 4 cores")
    kept = _kept(path, array)
    kept.statistics()
    numpys = measure("np.percentile of 7", lambda: np.nanpercentile(array, PERCENTS), 1)
    ours = measure("7 percentiles, exact, one more pass", lambda: kept.percentiles(PERCENTS), 3)
    ratio(numpys, ours, 4)
    measure("64 bins, exact, one more pass", lambda: kept.histogram(64, None, "linear"), 3)


def _with(threads: int, fast: int, task: Callable[[], Any]) -> Any:
    """Run with so many threads, compiled from so many values on."""
    with (
        patch.object(passes, "_MOST_THREADS", threads),
        patch.object(batch, "_FAST", fast),
    ):
        return task()


def _kept(path: Path, array: np.ndarray[Any, Any]) -> Kept:
    dtype = from_numpy(array.dtype)
    return Kept(ArrayValues(FileSource(path), 0, array.nbytes, dtype, array.shape, "bytes"))


def _read(path: Path) -> None:
    buffer = bytearray(1 << 19)
    with path.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def _naive(array: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    finite = array[np.isfinite(array)]
    return (
        finite.min(),
        finite.max(),
        finite.mean(dtype=np.float64),
        finite.std(dtype=np.float64),
        np.isnan(array).sum(),
        (array == np.inf).sum(),
        (array == -np.inf).sum(),
        (array == 0).sum(),
        np.histogram(finite, 64),
        np.percentile(finite, PERCENTS),
    )


if __name__ == "__main__":
    main()
