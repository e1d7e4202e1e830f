"""A chain of residual blocks of one structure, with something unusual in some of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.unit.findings.findings_dump import Op

F4 = np.float32
#: Operators of a block with their times in microseconds.
TIMES = {"conv2d": 100.0, "relu": 10.0, "conv2d_add": 100.0, "add": 20.0}
_SPREAD = np.array([0.99, 1.0, 1.01, 1.0, 1.0, 0.995, 1.005, 1.0, 0.99, 1.01])


def blocks(
    count: int = 6,
    *,
    factor: Mapping[tuple[int, str], float] | None = None,
    weights: Mapping[int, Any] | None = None,
    outputs: Mapping[tuple[int, str], Any] | None = None,
    channels: Sequence[int] | None = None,
    attrs: Mapping[int, dict[str, str]] | None = None,
    funcs: Mapping[int, str] | None = None,
    repeats: int = 10,
    swapped: bool = False,
    dtype: Any = F4,
) -> list[Op]:
    """Return its nodes; `factor` of times and `outputs` go by block and operator.

    `weights` scale those of a block's first convolution, `channels` are the blocks' sizes,
    `swapped` stores the parameters of odd blocks in the other order.
    """
    rng = np.random.default_rng(7)
    sizes = list(channels or [8] * count)

    def values(*shape: int) -> Any:
        return rng.uniform(-1, 1, shape).astype(dtype)

    ops = [Op("x", values(1, sizes[0], 4, 4))]

    def operator(block: int, func: str, *reads: int) -> int:
        took = 1000 * TIMES[func] * (factor or {}).get((block, func), 1.0)
        written = (outputs or {}).get((block, func))
        written = values(1, sizes[block], 4, 4) if written is None else written
        name = f"tvmgen_default_fused_nn_{(funcs or {}).get(block, '')}{func}"
        edges, own = [(node, 0) for node in reads], (attrs or {}).get(block, {})
        times = (took * _SPREAD[:repeats]).tolist()
        ops.append(Op(f"{func}_{block}", written, name, edges, own, ns=times))
        return len(ops) - 1

    last = 0
    for block, size in enumerate(sizes):
        given = [
            Op(f"w{block}", (values(size, size, 3, 3) * (weights or {}).get(block, 1))),
            Op(f"b{block}", values(size, 1, 1)),
        ]
        place = len(ops)
        order = given[::-1] if swapped and block % 2 else given
        ops += order
        weight, bias = place + order.index(given[0]), place + order.index(given[1])
        inner = operator(block, "relu", operator(block, "conv2d", last, weight, bias))
        ops.append(Op(f"v{block}", values(size, size, 3, 3)))
        inner = operator(block, "conv2d_add", inner, len(ops) - 1)
        last = operator(block, "add", inner, last)
    return ops


def place_of(ops: Sequence[Op], name: str) -> int:
    """Return the node of an operator: ``"conv2d_3"``."""
    return [op.name for op in ops].index(name)
