"""How values fall into at most 65,536 bins: by the upper bits of floats, by 2**k of integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from tvmdbg_widgets.model.statistics.codes import code_table
from tvmdbg_widgets.model.statistics.moments import above_low

Array: TypeAlias = np.ndarray[Any, Any]

#: Most bins of a distribution.
MOST = 1 << 16


class ValueBins(Protocol):
    """Numbers bins in ascending order of their values."""

    def bounds(self, keys: Array) -> tuple[Array, Array]:
        """Return the least and largest value that may lie in each bin."""

    def inside(self, chunk: Array, keys: Array) -> Array:
        """Return the values of a chunk that lie in one of these bins."""


@dataclass(frozen=True, slots=True)
class FloatBins:
    """Bins of float32 or float64 values that share sign and upper 15 bits; zero has its own."""

    dtype: np.dtype[Any]

    @property
    def infinite(self) -> int:
        """Upper 16 bits of +Inf."""
        return 0x7F80 if self.dtype.itemsize == 4 else 0x7FF0

    @property
    def normal(self) -> int:
        """Upper 16 bits of the smallest normal number."""
        return 0x0080 if self.dtype.itemsize == 4 else 0x0010

    def prefixes(self, chunk: Array) -> Array:
        """Return the upper 16 bits of each value, a view."""
        lanes = self.dtype.itemsize // 2
        return chunk.view("<u2")[lanes - 1 :: lanes]

    def bounds(self, keys: Array) -> tuple[Array, Array]:
        """Return the least and largest value of each bin as float64."""
        steps = np.asarray(keys, np.int64) - self.infinite
        prefix = np.maximum(np.abs(steps) - 1, 0).astype(f"u{self.dtype.itemsize}")
        low_bits = 8 * self.dtype.itemsize - 16
        near = prefix << prefix.dtype.type(low_bits)
        far = near | prefix.dtype.type((1 << low_bits) - 1)
        near[prefix == 0] = 1  # zero has a bin of its own
        sign = np.sign(steps)
        near, far = (each.view(self.dtype).astype(np.float64) * sign for each in (near, far))
        return np.where(sign < 0, far, near), np.where(sign < 0, near, far)

    def inside(self, chunk: Array, keys: Array) -> Array:
        """Return the values of a chunk that lie in one of these bins; zeros never."""
        steps = np.asarray(keys, np.int64) - self.infinite
        wanted = np.zeros(MOST, np.bool_)
        wanted[np.where(steps < 0, 0x7FFF - steps, steps - 1)[steps != 0]] = True
        found: Array = chunk[wanted[self.prefixes(chunk)]]
        some: Array = found[found != 0]
        return some


@dataclass(frozen=True, slots=True)
class IntegerBins:
    """Equal bins of ``2**shift`` integers; bin 0 begins at ``first * 2**shift``."""

    dtype: np.dtype[Any]
    first: int
    shift: int

    def keys(self, chunk: Array) -> Array:
        """Return the bin of each value, none of which lies below the first bin."""
        above = above_low(chunk, self.first << self.shift)
        above >>= above.dtype.type(self.shift)
        return above

    def bounds(self, keys: Array) -> tuple[Array, Array]:
        """Return the least and largest value of each bin as int64, or uint64 for uint64."""
        wide = np.dtype(np.uint64 if self.dtype == np.uint64 else np.int64)
        start = np.uint64((self.first << self.shift) % (1 << 64))
        low = start + (np.asarray(keys, np.uint64) << np.uint64(self.shift))
        high = low + np.uint64((1 << self.shift) - 1)
        return low.view(wide), high.view(wide)

    def inside(self, chunk: Array, keys: Array) -> Array:
        """Return the values of a chunk that lie in one of these bins."""
        wanted = np.zeros(MOST, np.bool_)
        wanted[keys] = True
        found: Array = chunk[wanted[np.minimum(self.keys(chunk), MOST - 1)]]
        return found


@dataclass(frozen=True, slots=True)
class CodeBins:
    """One bin a value of a type of 8 or 16 bits; keys are places among its values, ascending."""

    dtype: np.dtype[Any]

    def bounds(self, keys: Array) -> tuple[Array, Array]:
        """Return the value of each bin twice, float64 or int64."""
        values = code_table(self.dtype).levels[keys]
        return values, values.copy()

    def inside(self, chunk: Array, keys: Array) -> Array:
        """Return the values of a chunk that lie in one of these bins."""
        table = code_table(self.dtype)
        wanted = np.zeros(len(table.levels) + 1, np.bool_)
        wanted[keys] = True
        found: Array = chunk[wanted[table.places][table.codes(chunk)]]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class GivenBins:
    """Bins of which each bound is given, ascending; none overlap."""

    low: Array
    high: Array

    def bounds(self, keys: Array) -> tuple[Array, Array]:
        """Return the least and largest value that may lie in each bin."""
        return self.low[keys], self.high[keys]

    def inside(self, chunk: Array, keys: Array) -> Array:
        """Return the values of a chunk that lie in one of these bins."""
        at = np.minimum(np.searchsorted(self.high, chunk), len(self.high) - 1)
        wanted = np.zeros(len(self.high), np.bool_)
        wanted[keys] = True
        found: Array = chunk[wanted[at] & (chunk >= self.low[at])]
        return found
