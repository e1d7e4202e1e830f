"""Opening and listing a params file of 1 GB, against reading all of it.

Promise: headers only, at least 50 times less CPU than a loader that copies every value, as TVM's
does.
``python -m benchmarks.params_open [--gigabytes 1]``
"""

from __future__ import annotations

import argparse
import struct
import tempfile
from pathlib import Path

import numpy as np

import tvmdbg_widgets as tvmdbg
from benchmarks.measure import machine, measure, ratio, sized

ARRAY_BYTES = 4 << 20


def write(path: Path, arrays: int) -> None:
    """Write a params list of so many float32 arrays, without holding them in memory."""
    names = [f"node_{i}____topo-index:{i}____output-num:0".encode() for i in range(arrays)]
    values = np.random.default_rng(0).standard_normal(ARRAY_BYTES // 4).astype("<f4").tobytes()
    header = struct.pack(
        "<QQiiiBBHqq", 0xDD5E40F096B4A13F, 0, 1, 0, 1, 2, 32, 1, len(values) // 4, len(values)
    )
    with path.open("wb") as file:
        file.write(struct.pack("<QQQ", 0xF7E58D4F05049CB7, 0, arrays))
        for name in names:
            file.write(struct.pack("<Q", len(name)) + name)
        file.write(struct.pack("<Q", arrays))
        for _ in names:
            file.write(header + values)


def main() -> None:
    """Print both times and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=sized(1.0, 0.02))
    arrays = int(parser.parse_args().gigabytes * (1 << 30) / ARRAY_BYTES)
    machine()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "big.params"
        write(path, arrays)
        print(f"{arrays} arrays, {path.stat().st_size:,} bytes")
        measure("a full read of the bytes", lambda: _read(path), 5)
        loaded = measure("load_params (every value)", lambda: tvmdbg.load_params(path), 3)
        opened = measure("open and list", lambda: repr(tvmdbg.open(path).tensors), 9)
        ratio(loaded, opened, 50)


def _read(path: Path) -> int:
    size = 0
    with path.open("rb", buffering=0) as file:
        buffer = bytearray(1 << 24)
        while count := file.readinto(buffer):
            size += count
    return size


if __name__ == "__main__":
    main()
