"""Layouts in TVM's notation, and the logical index of every stored one.

An upper-case letter is an axis, a lower-case one behind its size a part split off that axis:
``NCHW8c`` holds channel ``C * 8 + c``. A letter split several times (``OIHW4i16o4i``) counts its
parts from left to right (``GetStoreRule``, src/tir/ir/data_layout.cc @ v0.19.0).
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.slips import public_class

_AXIS = re.compile(r"(?<![0-9])([0-9]*)([A-Za-z])")
_LONGEST = 100
_DIGITS = 9
_LONGEST_AXIS = 2**53


@public_class
@dataclass(frozen=True)
class Layout:
    """The order in which the axes of an array are stored, some of them split.

    Made by :meth:`parse`.

    Attributes
    ----------
    text
        As it was spelt.
    axes
        Letter and size of each stored axis; the size is None for an upper-case letter.
    """

    text: str
    axes: tuple[tuple[str, int | None], ...]

    @classmethod
    def parse(cls, text: str) -> Layout:
        """Read a layout such as ``"NCHW"``, ``"NCHW8c"`` or ``"OIHW4i8o"``.

        Raises
        ------
        ValueError
            The text is no layout; the message tells why.
        """
        return _parse(text)

    @property
    def rank(self) -> int:
        """Stored axes."""
        return len(self.axes)

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """The logical axes, in the order in which their upper-case letters are stored."""
        return tuple(letter for letter, _ in self.axes if letter.isupper())

    @cached_property
    def parts(self) -> tuple[tuple[int, ...], ...]:
        """The stored axes of every logical axis, slowest first."""
        return tuple(
            (
                self.axes.index((letter, None)),
                *(at for at, (other, _) in enumerate(self.axes) if other == letter.lower()),
            )
            for letter in self.letters
        )

    @property
    def is_packed(self) -> bool:
        """Whether an axis is split, so that unfolding does more than name the axes."""
        return self.rank > len(self.letters)

    def block(self, letter: str) -> int:
        """Return the indices of a logical axis in one block: 8 for ``C`` of NCHW8c."""
        return math.prod(size for other, size in self.axes if size and other == letter.lower())

    def misfit(self, shape: Sequence[int]) -> str:
        """Return why an array of a shape cannot have this layout; empty if it can."""
        if len(shape) != self.rank:
            return f"{self.text} has {counted(self.rank, 'axis')}, the array has {len(shape)}"
        for axis, ((letter, size), stored) in enumerate(zip(self.axes, shape, strict=True)):
            if size is not None and size != stored:
                return f"{size}{letter} of {self.text} is axis {axis}, which has {stored}"
        return ""

    def fits(self, shape: Sequence[int]) -> bool:
        """Return whether an array of a shape can have this layout: as many axes, and its sizes."""
        return not self.misfit(shape)

    def logical_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return the sizes of the logical axes, padding included.

        >>> Layout.parse("NCHW8c").logical_shape((1, 2, 32, 32, 8))
        (1, 16, 32, 32)

        Raises
        ------
        ValueError
            The shape does not fit.
        """
        problem = self.misfit(shape)
        if problem:
            raise ValueError(problem)
        return tuple(math.prod(shape[axis] for axis in part) for part in self.parts)

    def to_logical(self, index: Sequence[int]) -> tuple[int, ...]:
        """Return the logical index of a stored one.

        >>> Layout.parse("NCHW8c").to_logical((0, 1, 5, 6, 3))
        (0, 11, 5, 6)

        Raises
        ------
        ValueError
            The index has another rank.
        IndexError
            It is negative, or beyond the size of a split.
        """
        self._require(index, self.rank)
        for (letter, size), at in zip(self.axes, index, strict=True):
            if at < 0 or (size is not None and at >= size):
                raise IndexError(f"index {at} on axis {size or ''}{letter} of {self.text}")
        logical = []
        for part in self.parts:
            total = index[part[0]]
            for axis in part[1:]:
                total = total * self._size(axis) + index[axis]
            logical.append(total)
        return tuple(logical)

    def to_physical(self, index: Sequence[int]) -> tuple[int, ...]:
        """Return the stored index of a logical one.

        >>> Layout.parse("NCHW8c").to_physical((0, 11, 5, 6))
        (0, 1, 5, 6, 3)

        Raises
        ------
        ValueError
            The index has another rank.
        IndexError
            It is negative.
        """
        self._require(index, len(self.letters))
        stored = [0] * self.rank
        for letter, part, total in zip(self.letters, self.parts, index, strict=True):
            if total < 0:
                raise IndexError(f"index {total} on axis {letter} of {self.text}")
            rest = total
            for axis in reversed(part[1:]):
                rest, stored[axis] = divmod(rest, self._size(axis))
            stored[part[0]] = rest
        return tuple(stored)

    def named_sizes(self, shape: Sequence[int], sizes: Mapping[str, int]) -> tuple[int, ...]:
        """Return the logical shape with some sizes given by letter, which hide padding.

        Raises
        ------
        ValueError
            The shape does not fit, a letter is no axis, or a size is no integer or more than
        is stored.
        """
        full = dict(zip(self.letters, self.logical_shape(shape), strict=True))
        for letter, size in sizes.items():
            if letter not in full:
                has = ", ".join(self.letters)
                raise ValueError(f"{letter!r} is not an axis of {self.text}; it has {has}")
            if not isinstance(size, SupportsIndex):
                raise ValueError(f"size {size!r} of {letter} is not an integer")  # noqa: TRY004 (one kind of error for the caller)
            if not 0 <= size <= full[letter]:
                raise ValueError(f"size {size} of {letter}, of which {full[letter]} are stored")
        return tuple((full | dict(sizes)).values())

    def _size(self, axis: int) -> int:
        return self.axes[axis][1] or 1

    def _require(self, index: Sequence[int], rank: int) -> None:
        if len(index) != rank:
            raise ValueError(
                f"{self.text} needs an index of {counted(rank, 'item')}, not {tuple(index)}"
            )

    def __str__(self) -> str:
        return self.text


def checked_sizes(sizes: Mapping[Any, Any], layout: str | None = None) -> dict[str, int]:
    """Return sizes of logical axes by letter, checked and copied."""
    allowed = 'sizes are integers from 1 on by upper-case letter, such as {"C": 3}'
    try:
        checked = {letter: operator.index(size) for letter, size in sizes.items()}
    except (AttributeError, TypeError):
        raise ValueError(f"{allowed}, found {str(sizes)[:_LONGEST]}") from None
    for letter, size in checked.items():
        named = isinstance(letter, str) and re.fullmatch("[A-Z]", letter)
        if not named or isinstance(sizes[letter], bool) or not 1 <= size <= _LONGEST_AXIS:
            raise ValueError(f"{allowed}, found {str({letter: sizes[letter]})[:_LONGEST]}")
        letters = _parse(layout).letters if layout else (letter,)
        if letter not in letters:
            raise ValueError(f"{letter} is not an axis of {layout}, which has {', '.join(letters)}")
    return checked


@lru_cache(maxsize=1024)
def _parse(text: str) -> Layout:
    if len(text) > _LONGEST:
        raise ValueError(f"a layout has at most {_LONGEST} characters, found {len(text):,}")
    pairs = _AXIS.findall(text)
    if not text or "".join(size + letter for size, letter in pairs) != text:
        raise ValueError(f"{text!r} is not a layout; expected for example NCHW or NCHW8c")
    letters = [letter for _, letter in pairs]
    for size, letter in pairs:
        problem = _problem(size, letter, letters)
        if problem:
            raise ValueError(f"layout {text!r}: {problem}")
    return Layout(text, tuple((letter, int(size) if size else None) for size, letter in pairs))


def _problem(size: str, letter: str, letters: list[str]) -> str:
    """Describe the fault of one axis of a layout."""
    if letter.isupper():
        if size:
            return f"{size} is before {letter}, which takes no size"
        return f"{letter} appears twice" if letters.count(letter) > 1 else ""
    if not size.strip("0"):
        return f"{letter} needs a size from 1 on, such as 8{letter}"
    if len(size) > _DIGITS:
        return f"{size} is too large a size"
    upper = letter.upper()
    return "" if upper in letters else f"{letter} is split off {upper}, which is not there"


def dequantized(
    values: Any, scale: Any, zero_point: Any = 0, axis: int | None = None
) -> npt.NDArray[np.float64]:
    """Return ``(values - zero_point) * scale`` in float64.

    Exact for integers of up to 16 bits with a float32 scale. Rounded to float32 it is the result of
    ``qnn.dequantize`` (src/relay/qnn/op/dequantize.cc @ v0.19.0).
    """
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise TypeError(f"{array.dtype} values are not quantized")
    with np.errstate(invalid="ignore"):  # signalling NaN
        wide = array.astype(np.float64)
    shift = _along(zero_point, wide.shape, axis, "zero_point")
    factor = _along(scale, wide.shape, axis, "scale")
    with np.errstate(invalid="ignore", over="ignore"):
        return (wide - shift) * factor


def _along(
    given: Any, shape: tuple[int, ...], axis: int | None, name: str
) -> npt.NDArray[np.float64]:
    """Shape numbers to broadcast along the axis."""
    numbers = np.asarray(given, np.float64)
    if numbers.size == 1:
        return numbers.reshape(())
    if axis is None:
        raise ValueError(
            f"{name} has {counted(numbers.size, 'number')}; name the axis they belong to"
        )
    if not -len(shape) <= axis < len(shape):
        raise ValueError(f"axis {axis} of values with {counted(len(shape), 'axis')}")
    if numbers.shape != (shape[axis],):
        raise ValueError(
            f"{name} has shape {numbers.shape}; axis {axis} of shape {shape} needs "
            f"{counted(shape[axis], 'number')}"
        )
    return numbers.reshape([-1 if dim == axis % len(shape) else 1 for dim in range(len(shape))])
