"""One array as pieces that fit a processor's cache, each with the place of its values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from tvmdbg_widgets.model.statistics.extremes import Where

Array: TypeAlias = np.ndarray[Any, Any]

#: Bytes of a piece. Every pass cuts an array at the same places, so that sums come out the same.
PIECE_BYTES = 1 << 19
_SAMPLE_BLOCK = 4096
#: Pieces of a far file that are read at once.
_FAR_PIECES = 8


class ReadableValues(Protocol):
    """What is read in ranges: :class:`~tvmdbg_widgets.model.tensors.array_values.ArrayValues`."""

    @property
    def count(self) -> int:
        """Scalars there are."""

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Type of the arrays returned."""

    def values(self, start: int, stop: int) -> Array:
        """Read the scalars ``start`` to ``stop`` as a 1-D array."""


def per_piece(values: ReadableValues) -> int:
    """Return how many scalars a piece has."""
    return max(1, PIECE_BYTES // values.numpy_dtype.itemsize)


@dataclass(frozen=True, slots=True)
class WholeArray:
    """All values from ``start``, which is a multiple of a piece, to ``stop``."""

    values: ReadableValues
    start: int
    stop: int

    def __iter__(self) -> Iterator[tuple[Array, Where]]:
        step = per_piece(self.values)
        far = getattr(getattr(self.values, "source", None), "far", False)
        block = step * _FAR_PIECES if far else step
        for begin in range(self.start, self.stop, block):
            read = self.values.values(begin, min(begin + block, self.stop))
            for offset in range(0, len(read), step):
                yield read[offset : offset + step], _after(begin + offset)

    def spans(self, pieces: int) -> Iterator[WholeArray]:
        """Cut it into spans of so many pieces."""
        step = per_piece(self.values) * pieces
        for begin in range(self.start, self.stop, step):
            yield WholeArray(self.values, begin, min(begin + step, self.stop))


@dataclass(frozen=True, slots=True)
class Distinct:
    """Values of which each stands for several of an array."""

    values: Any
    stop: int

    def groups(self) -> Iterator[tuple[int, Iterator[tuple[Array, Where]]]]:
        """Yield pieces, and how often their values count."""
        step = per_piece(self.values)
        for often, scalars, first in self.values.distinct():
            yield (
                often,
                (
                    (scalars[begin : begin + step], _at(first[begin : begin + step]))
                    for begin in range(0, len(scalars), step)
                ),
            )

    def __iter__(self) -> Iterator[tuple[Array, Where]]:
        yield from WholeArray(self.values, 0, self.stop)

    def spans(self, pieces: int) -> Iterator[Distinct]:  # noqa: ARG002 (as of Whole)
        """Yield all at once: there are few."""
        yield self


def every(values: ReadableValues) -> WholeArray | Distinct:
    """Return all values of an array, of which few stand for many where they repeat."""
    if getattr(values, "repeats", None) is not None:
        return Distinct(values, values.count)
    return WholeArray(values, 0, values.count)


@dataclass(frozen=True, slots=True)
class Sample:
    """About ``size`` values in blocks spread evenly, at most all of them."""

    values: ReadableValues
    size: int

    @property
    def whole(self) -> bool:
        """Whether so many are all values."""
        count = self.values.count
        return self.size >= count or self._blocks * self._length == count

    @property
    def _length(self) -> int:
        return min(_SAMPLE_BLOCK, self.values.count)

    @property
    def _blocks(self) -> int:
        length = self._length
        return min(-(-self.size // _SAMPLE_BLOCK), self.values.count // length) if length else 0

    def __iter__(self) -> Iterator[tuple[Array, Where]]:
        count, length, blocks = self.values.count, self._length, self._blocks
        starts = [index * (count - length) // max(1, blocks - 1) for index in range(blocks)]
        together = max(1, per_piece(self.values) // _SAMPLE_BLOCK)
        for first in range(0, blocks, together):
            some = starts[first : first + together]
            read = [self.values.values(start, start + length) for start in some]
            yield np.concatenate(read), _in_blocks(some, length)


@dataclass(frozen=True, slots=True)
class ArrayStream:
    """Consecutive 1-D arrays, from the start at each call."""

    chunks: Callable[[], Iterable[Array]]

    def __iter__(self) -> Iterator[tuple[Array, Where]]:
        begin = 0
        for chunk in self.chunks():
            yield np.ascontiguousarray(chunk), _after(begin)
            begin += len(chunk)


def _after(begin: int) -> Where:
    return lambda index: begin + index


def _at(positions: Array) -> Where:
    return lambda index: int(positions[index])


def _in_blocks(starts: list[int], length: int) -> Where:
    return lambda index: starts[index // length] + index % length
