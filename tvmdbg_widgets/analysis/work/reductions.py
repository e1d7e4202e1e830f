"""Operations of reductions, pooling and softmax.

Convention: a reduction takes one operation an element it reads (as matrix products do, it starts
from the neutral element), and a mean one division an output more. Pooling takes one operation for
every position of its window, also in the padding, and an average one division an output; the window
is not in a classic graph, unless it is everything (global pooling) or the output divides the input
evenly (adaptive pooling). Softmax takes five operations an element: maximum, difference, exp, sum,
division; its logarithm maximum, difference, exp, sum, difference, and one log for each softmax.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Final

from tvmdbg_widgets.analysis.work.call import Bounds, Shape, bare

#: Operations an output that a reduction takes beside one an element.
REDUCTIONS: Final = {
    **dict.fromkeys(("sum", "max", "min", "prod", "all", "any", "argmax", "argmin"), 0),
    "mean": 1,
}
_POOL: Final = re.compile(r"(global_|adaptive_)?(max|avg)_pool[123]d")
_SIZES: Final = re.compile(r"\d+")
_SOFTMAX: Final = 5


def reduces_to(data: Shape, out: Shape) -> bool:
    """Whether a reduction over some axes, kept as 1 or not, leads from one shape to another."""
    axes = iter(data)
    return all(size in axes for size in out if size != 1)


def is_softmax(part: str) -> bool:
    """Whether an operator is a softmax."""
    return bare(part) in ("softmax", "fast_softmax", "log_softmax")


def softmax(part: str, out: Shape, attrs: Mapping[str, str]) -> Bounds:
    """Return the operations of a softmax, or of its logarithm."""
    count = math.prod(out)
    if bare(part) != "log_softmax":
        return Bounds(_SOFTMAX * count, _SOFTMAX * count)
    sizes = [size for size in out if size] or [1]
    axis = attrs.get("axis", "")
    if re.fullmatch(r"-?\d+", axis) and -len(out) <= int(axis) < len(out):
        sizes = [out[int(axis)] or 1]
    return Bounds(_SOFTMAX * count + count // max(sizes), _SOFTMAX * count + count // min(sizes))


def is_pooling(part: str) -> bool:
    """Whether an operator is a pooling."""
    return _POOL.fullmatch(bare(part)) is not None


def pooling(part: str, data: Shape | None, out: Shape, attrs: Mapping[str, str]) -> int | str:
    """Return the operations of a pooling, or why they are unknown."""
    named = _POOL.fullmatch(bare(part))
    if named is None or data is None:
        return f"{part}: the shape it reads is not in the graph"
    if len(data) != len(out):
        return f"{part}: what it reads and what it writes differ in rank"
    written = math.prod(out)
    extra = written if named[2] == "avg" else 0
    even = all(one and other and one % other == 0 for one, other in zip(data, out, strict=True))
    if named[1] and even:
        return math.prod(data) + extra
    if named[1]:
        return f"{part}: its windows overlap, and where they begin is not in the graph"
    window = attrs.get("pool_size", "") or attrs.get("kernel", "")
    sizes = [int(each) for each in _SIZES.findall(window)]
    if not sizes:
        return f"{part}: the size of its window is not in the graph"
    return written * math.prod(sizes) + extra
