"""Cells from one value each, so that a first picture of a large plane is there at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tvmdbg_widgets.model.pictures.cells import NAN, NEG_INF, POS_INF, Cells
from tvmdbg_widgets.model.pictures.grid import CellSpan
from tvmdbg_widgets.model.pictures.real import real, rounded
from tvmdbg_widgets.model.pictures.stack import Stack

#: Bytes that a first picture may read.
_BUDGET = 48 << 20
#: Values that are reduced in a few milliseconds.
_QUICK = 1 << 22
#: Bytes read in vain that cost about as much as one more read.
_CALL = 1 << 14


def is_quick(stack: Stack, share: int = 1) -> bool:
    """Return whether to look at every value takes a few milliseconds, or that part of them."""
    rows = stack.lower.stop - stack.lower.start
    whole = replace(stack, higher=replace(stack.higher, step=1))
    cost = min(rows * _row_cost(whole), _spread(whole))
    return stack.size * share <= _QUICK and cost * share <= _BUDGET


def thinned(stack: Stack) -> Stack:
    """Return the stack with its cells made larger until one value of each is quickly read."""
    while _cost(stack) > _BUDGET:
        rows, cols = stack.lower.cells, stack.higher.cells
        if rows >= cols or _row_cost(stack) <= _BUDGET >> 6:
            stack = replace(stack, lower=stack.lower.doubled(stack.sizes[0]))
        else:
            stack = replace(stack, higher=stack.higher.doubled(stack.sizes[1]))
    return stack


def sampled(stack: Stack) -> Cells:
    """Look at one value a cell, near its middle."""
    block = stack.read(_middles(stack.lower), _middles(stack.higher), range(1))
    values = real(block).reshape(1, stack.lower.cells, stack.higher.cells)
    flags = np.zeros(values.shape, np.uint8)
    finite = np.isfinite(values)
    if not finite.all():
        for bit, found in (
            (NAN, np.isnan(values)),
            (POS_INF, values == np.inf),
            (NEG_INF, values == -np.inf),
        ):
            flags[found] = bit
    with np.errstate(over="ignore", invalid="ignore"):  # signalling NaN
        low, total = rounded(values), values.astype(np.float64)
    return Cells(low, low, total, finite.astype(np.int64), flags)


def _middles(span: CellSpan) -> slice:
    last = (span.stop - span.start - 1) % span.step
    return slice(span.start + min(span.step // 2, last), span.stop, span.step)


def _row_cost(stack: Stack) -> float:
    """Bytes to read, or their worth in calls, for one value of each cell of one row."""
    spread = stack.strides[1] * stack.values.numpy_dtype.itemsize
    span = (stack.higher.stop - stack.higher.start) * spread
    return float(min(span, stack.higher.cells * _CALL)) + _CALL


def _cost(stack: Stack) -> float:
    return min(stack.lower.cells * _row_cost(stack), _spread(stack))


def _spread(stack: Stack) -> float:
    """Bytes from the first to the last row."""
    row = stack.strides[0] * stack.values.numpy_dtype.itemsize
    return float((stack.lower.stop - stack.lower.start) * row)
