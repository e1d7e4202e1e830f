"""Pictures of a plane of 10,240 x 10,240 float32 in the page cache, first and exact, and of parts.

Promises: the first picture (sampled) in 50 ms, the exact one in 0.25 s, a slider step on a small or
kept plane well below 10 ms, a part in proportion to its size. Beside them, in the same run: one
read of the file, one look at memory (``sum``), and the way that is usually written with numpy.
``python -m benchmarks.tensors.tensor_tiles [--side 10240]``
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Times, machine, measure, sized
from tvmdbg_widgets.model.pictures import Pictures, channels, picture, profile
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.model.tensors.planes import ArrayValues, Plane
from tvmdbg_widgets.sources.file_source import FileSource

CELLS = 512
_DTYPES = ("float16", "bfloat16", "float8_e4m3fn", "int8", "int32", "float64", "int64")


def write(path: Path, side: int, dtype: str = "float32") -> None:
    """Write normal values, eight times as large, a band of rows at a time."""
    random = np.random.default_rng(0)
    band = random.standard_normal((256, side), dtype=np.float32) * 8
    with path.open("wb") as file:
        for top in range(0, side, 256):
            rows = np.roll(band, top)[: side - top]
            file.write(rows.astype(DataType.parse(dtype).numpy_dtype).tobytes())


def stored(path: Path, dtype: str, shape: tuple[int, ...]) -> ArrayValues:
    """Take the file, or its beginning, for an array."""
    parsed = DataType.parse(dtype)
    nbytes = int(np.prod(shape)) * parsed.itemsize
    return ArrayValues(FileSource(path), 0, nbytes, parsed, shape, "bytes")


def plane_of(shape: tuple[int, ...], *axes: int) -> Plane:
    """Return the plane of two axes at index 0 of the others."""
    down, across = axes
    return Plane.of(shape, (down, across), [0] * len(shape))


def naive(whole: np.ndarray[Any, Any], step: int) -> Any:
    """Reduce cells as it is usually written; finite values alone."""
    side = len(whole) // step * step
    cells = whole[:side, :side].reshape(side // step, step, side // step, step)
    return cells.min((1, 3)), cells.max((1, 3)), cells.mean((1, 3), dtype=np.float64)


def read_whole(path: Path, side: int) -> np.ndarray[Any, Any]:
    """Read every value."""
    return np.fromfile(path, np.float32, side * side).reshape(side, side)


def check(path: Path, side: int) -> None:
    """Stop where the exact picture is not what numpy makes of the whole."""
    step = -(-side // CELLS)
    low, high, mean = naive(read_whole(path, side), step)
    values = stored(path, "float32", (side, side))
    found = picture(values, plane_of((side, side), 0, 1), CELLS, CELLS)
    here = np.s_[: len(low), : len(low)]
    for one, other in ((found.minimum, low), (found.maximum, high), (found.mean, mean)):
        cells = one.reshape(found.rows, found.cols)[here]
        np.testing.assert_allclose(cells, other, rtol=1e-6, atol=1e-7)


def told(times: Times, milliseconds: float) -> None:
    """Print the better of CPU and wall time beside what is promised."""
    cpu, wall = times.cpu_median * 1e3, times.wall_median * 1e3
    verdict = "kept" if min(cpu, wall) <= milliseconds else "MISSED"
    print(f"  {cpu:.1f} ms CPU, {wall:.1f} ms wall; promised {milliseconds:g} ms: {verdict}")


def compared(times: Times, others: dict[str, Times]) -> None:
    """Print the CPU time as so many times that of others."""
    said = [f"{times.cpu_median / each.cpu_median:.2f} x {what}" for what, each in others.items()]
    print(f"  CPU: {', '.join(said)}")


def main() -> None:
    """Print all times, and what is promised beside those that something is promised of."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", type=int, default=sized(10_240, 640))
    side = parser.parse_args().side
    machine()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "values.bin"
        write(path, side)
        check(path, side)
        _whole(path, side)
        _parts(path, side)
        _others(path, side)


def _whole(path: Path, side: int) -> None:
    values, plane = stored(path, "float32", (side, side)), plane_of((side, side), 0, 1)
    step = -(-side // CELLS)
    whole = read_whole(path, side)
    memory = measure("one look at memory: sum of the array", whole.sum, 5)
    usual = measure("numpy: reshape, min, max, mean", partial(naive, whole, step), 3)
    del whole
    read = measure("one read of the file", lambda: read_whole(path, side), 5)
    every = measure(
        "numpy: read, reshape, min, max, mean", lambda: naive(read_whole(path, side), step), 3
    )
    others = {
        "one look at memory": memory,
        "one read": read,
        "numpy": usual,
        "numpy with read": every,
    }
    first = measure("first picture (sampled)", lambda: _picture(values, plane, sample=True), 9)
    told(first, 50)
    exact = measure("exact picture", lambda: _picture(values, plane), 9)
    told(exact, 250)
    compared(exact, others)
    kept = measure(
        "exact picture that keeps a finer one",
        lambda: Pictures().get("a", values, plane, CELLS, CELLS),
        5,
    )
    told(kept, 250)
    turned = plane_of((side, side), 1, 0)
    compared(measure("transposed", lambda: _picture(values, turned), 5), {"straight": exact})


def _picture(values: ArrayValues, plane: Plane, **how: Any) -> Any:
    return picture(values, plane, CELLS, CELLS, **how)


def _parts(path: Path, side: int) -> None:
    values, plane = stored(path, "float32", (side, side)), plane_of((side, side), 0, 1)
    for size in (side // 2, side // 4, side // 8, side // 16):
        part = (side // 3, side // 3, size, size)
        times = measure(f"part of {size} x {size}", partial(_picture, values, plane, part=part), 9)
        print(f"  {times.cpu_median / size**2 * 1e9:.2f} ns CPU a value")
    pictures = Pictures()
    pictures.get("a", values, plane, CELLS, CELLS)
    again = measure("kept plane again", lambda: pictures.get("a", values, plane, CELLS, CELLS), 9)
    told(again, 10)
    half = (side // 4, side // 4, side // 2, side // 2)
    kept = measure(
        "half of it, made of kept cells",
        lambda: pictures.get("a", values, plane, CELLS * 2 // 5, CELLS * 2 // 5, half),
        9,
    )
    told(kept, 10)
    edge = side // 10
    shape = (100, edge, edge)
    stack = stored(path, "float32", shape)
    at = 0

    def step() -> None:
        nonlocal at
        at = (at + 1) % 100
        pictures.get("c", stack, Plane.of(shape, (1, 2), [at, 0, 0]), 300, 460)

    told(measure(f"slider step, {edge} x {edge}", step, 50), 10)


def _others(path: Path, side: int) -> None:
    for dtype in _DTYPES:
        other = path.with_suffix(f".{dtype}")
        write(other, side, dtype)
        values, plane = stored(other, dtype, (side, side)), plane_of((side, side), 0, 1)
        times = measure(f"exact picture, {dtype}", partial(_picture, values, plane), 3)
        print(f"  {times.cpu_median / side**2 * 1e9:.2f} ns CPU a value")
        other.unlink()
    edge = int((side * side / 64) ** 0.5)
    inner, of = stored(path, "float32", (edge, edge, 64)), plane_of((edge, edge, 64), 0, 1)
    tasks: dict[str, Callable[[], Any]] = {
        "NHWC, one channel of 64": partial(_picture, inner, of),
        "NHWC, 64 channels": partial(channels, inner, of, 2, 0, 64, 64, 64),
        "profile along axis 0": partial(profile, inner, 0, CELLS),
        "profile along axis 1": partial(profile, inner, 1, CELLS),
        "profile along axis 2": partial(profile, inner, 2, CELLS),
    }
    for what, task in tasks.items():
        times = measure(what, task, 3)
        print(f"  {times.cpu_median / (edge * edge * 64) * 1e9:.2f} ns CPU a value")


if __name__ == "__main__":
    main()
