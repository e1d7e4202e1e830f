"""Numbers for the distinct values of integer columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

#: Values that span at most so many times their count are numbered by a table instead of sorting.
_SPARSE = 4


def numbered(*columns: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Number the distinct rows of some integer columns from 0, in ascending order."""
    found, _ = _codes(columns[0])
    for column in columns[1:]:
        codes, count = _codes(column)
        found, _ = _codes(found * count + codes)
    return found


def first_rows(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the first row of each number of :func:`numbered`."""
    rows = np.empty(int(numbers.max(initial=-1)) + 1, np.int64)
    rows[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    return rows


def _codes(values: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], int]:
    """Number the distinct values of a column; return how many there are, at least 1, too."""
    if not len(values):
        return np.zeros(0, np.int64), 1
    low, high = int(values.min()), int(values.max())
    if high - low >= _SPARSE * len(values):
        distinct, codes = np.unique(values, return_inverse=True)
        return codes.astype(np.int64, copy=False), len(distinct)
    places = values.astype(np.int64, copy=False) - low
    there = np.zeros(high - low + 1, np.bool_)
    there[places] = True
    if there.all():
        return places, len(there)
    codes = np.cumsum(there) - 1
    return codes[places], int(codes[-1]) + 1
