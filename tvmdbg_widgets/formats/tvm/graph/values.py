"""Lists of a parsed file as arrays, with what does not fit left out and told."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.formats.tvm.graph.log import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tvmdbg_widgets.formats.tvm.graph.log import GraphLog

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1


def is_int(value: Any, low: int = 0, high: int = INT32_MAX) -> bool:
    """Tell whether a parsed JSON value is an integer of that range (a truth value is not)."""
    return type(value) is int and low <= value <= high


def plain_ints(values: Sequence[Any]) -> npt.NDArray[np.int64] | None:
    """Return a list of nothing but 64-bit integers as an array, else None."""
    if not set(map(type, values)) <= {int}:
        return None
    try:
        return np.fromiter(values, dtype=np.int64, count=len(values))
    except OverflowError:
        return None


def plain_int_lists(
    lists: Sequence[Any],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None:
    """Return lists of nothing but 64-bit integers as (lengths, items), else None."""
    if not set(map(type, lists)) <= {list}:
        return None
    items = plain_ints(list(chain.from_iterable(lists)))
    if items is None:
        return None
    return np.fromiter(map(len, lists), dtype=np.int64, count=len(lists)), items


def int32_list(
    values: Any, field: str, rule: str, log: GraphLog, *, low: int = 0, missing: int = -1
) -> npt.NDArray[np.int64]:
    """Return a list of integers ``low..2**31-1``; what is none is told and reads `missing`."""
    if not isinstance(values, list):
        log.add(rule, field, expected="a list of integers", found=shown(values))
        return np.zeros(0, dtype=np.int64)
    fast = plain_ints(values)
    if fast is not None and (not fast.size or (fast.min() >= low and fast.max() <= INT32_MAX)):
        return fast
    result = np.full(len(values), missing, dtype=np.int64)
    for position, value in enumerate(values):
        if is_int(value, low):
            result[position] = value
        else:
            log.add(
                rule,
                f"{field}[{position}]",
                expected=f"an integer from {low} to {INT32_MAX}",
                found=shown(value),
            )
    return result


def element_counts(
    offsets: npt.NDArray[np.int64], dims: npt.NDArray[np.int64], known: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float64]:
    """Return the number of elements of each entry, -1 where the shape is not known."""
    counts = np.full(len(known), -1.0)
    lengths = np.diff(offsets)
    filled = np.flatnonzero(lengths > 0)
    if filled.size:
        with np.errstate(over="ignore", invalid="ignore"):
            counts[filled] = np.multiply.reduceat(dims.astype(np.float64), offsets[filled])
    counts[known & (lengths == 0)] = 1.0
    return counts
