"""Operations of dense layers and products of matrices.

Convention: 1 multiply–add = 2 operations, so a product of M×K by K×N takes 2·M·N·K, of each matrix
of a batch. Whether an operand is transposed is not in a classic graph and not needed: K is what is
left of an operand besides the rows (columns) that the output has.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from tvmdbg_widgets.analysis.work.call import Operand, Shape, bare

_DENSE: Final = frozenset(["dense", "contrib_dense_pack", "dense_pack", "linear", "fast_dense"])
_PRODUCTS: Final = frozenset(
    ["matmul", "batch_matmul", "NT_matmul", "batch_matmul_NN", "batch_matmul_NT", "bmm"]
)


def is_matmul(part: str) -> bool:
    """Whether there is a formula for an operator here."""
    return not part.startswith("qnn.") and bare(part) in _DENSE | _PRODUCTS


def matmul(part: str, operands: Sequence[Operand], out: Shape) -> int | str:
    """Return the operations of a dense layer or a product, or why they are unknown."""
    inner = _dense if bare(part) in _DENSE else _product
    found = {
        count
        for left, right in pairwise(operands)
        if left.shape is not None and right.shape is not None
        for count in inner(left.shape, right.shape, out)
    }
    if len(found) == 1:
        return 2 * math.prod(out) * found.pop()
    if not found:
        return f"{part}: the shapes of its operands do not fit that of its output"
    several = ", ".join(map(str, sorted(found)))
    return f"{part}: the shapes leave open over how many numbers it sums ({several})"


def _dense(data: Shape, weight: Shape, out: Shape) -> set[int]:
    """Return K where data are …×K, the output …×N, and the weight N×K, packed or not."""
    if not data or not out or data[:-1] != out[:-1]:
        return set()
    fits = math.prod(weight) == out[-1] * data[-1] and (
        len(weight) > 2 or weight in ((out[-1], data[-1]), (data[-1], out[-1]))
    )
    return {data[-1]} if fits else set()


def _product(left: Shape, right: Shape, out: Shape) -> set[int]:
    """Return every K that the last two axes of both operands can share."""
    if min(len(left), len(right), len(out)) < 2:
        return set()
    rows, columns = out[-2:]
    if not (_batched(left, out) and _batched(right, out)):
        return set()
    return _rest(left, rows) & _rest(right, columns)


def _batched(operand: Shape, out: Shape) -> bool:
    """Whether the axes before the last two are those of the output, or broadcast to them."""
    own, whole = operand[:-2], out[:-2]
    return len(own) <= len(whole) and all(
        one in (1, other) for one, other in zip(reversed(own), reversed(whole), strict=False)
    )


def _rest(operand: Shape, known: int) -> set[int]:
    """Return what the other of the last two axes can be, where one of them is known."""
    first, second = operand[-2:]
    return {other for one, other in ((first, second), (second, first)) if one == known}
