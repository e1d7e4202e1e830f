"""Chrome traces of a given size, as a profiler of four threads with three levels writes them.

Deterministic. On each thread operators follow each other with some idle time between; an operator
holds one to four parts, and each part one to three kernels. Times are whole nanoseconds.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

THREADS = 4
_NAMES = (
    "nn_conv2d_add_nn_relu",
    "nn_conv2d_add_add_nn_relu",
    "nn_dense_add",
    "nn_batch_matmul",
    "nn_softmax",
    "layout_transform",
    "nn_max_pool2d",
    "mean_power_add",
)
#: No edge is shared: some readers of such traces cannot tell then which slice is the outer one.
_APART = 10
_PARTS = ("pack", "compute", "bias", "store")


def write_trace(path: Path, slices: int, seed: int = 1) -> None:
    """Write a trace of so many X events, thread after thread."""
    chance = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        file.write('{"displayTimeUnit": "ns", "traceEvents": [\n')
        file.write('{"ph": "M", "pid": 1, "tid": 0, "name": "process_name", ')
        file.write('"args": {"name": "worker"}}')
        for thread in range(1, THREADS + 1):
            file.write(f',\n{{"ph": "M", "pid": 1, "tid": {thread}, "name": "thread_name", ')
            file.write(f'"args": {{"name": "stream {thread}"}}}}')
            _thread(file.write, chance, thread, slices // THREADS)
        file.write("\n]}\n")


def _thread(
    write: Callable[[str], object], chance: random.Random, thread: int, slices: int
) -> None:
    now = chance.randrange(5_000)
    while slices > 0:
        operator: list[tuple[str, int, int]] = []
        name = f"tvmgen_default_fused_{chance.choice(_NAMES)}_{chance.randrange(40)}"
        start = end = now
        for part in range(chance.randint(1, 4)):
            begin = end + _APART + chance.randrange(300)
            end = begin
            kernels = []
            for kernel in range(chance.randint(1, 3)):
                first = end + _APART + chance.randrange(100)
                end = first + 200 + chance.randrange(4_000)
                kernels.append((f"kernel_{part}_{kernel}", first, end))
            end += _APART
            operator.append((f"{_PARTS[part]}_{chance.randrange(8)}", begin, end))
            operator += kernels
        end += _APART
        for each, first, last in [(name, start, end), *operator][:slices]:
            write(
                f',\n{{"ph": "X", "pid": 1, "tid": {thread}, "cat": "op", "name": "{each}", '
                f'"ts": {first // 1000}.{first % 1000:03d}, '
                f'"dur": {(last - first) // 1000}.{(last - first) % 1000:03d}}}'
            )
        slices -= 1 + len(operator)
        now = end + chance.randrange(3_000)
