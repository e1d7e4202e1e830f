"""Two sequences aligned: what is in both, and what in one alone."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TypeAlias, TypeVar

T = TypeVar("T")
#: Indices into the two; None where one has nothing for the other's.
Pair: TypeAlias = tuple[int | None, int | None]

#: Longer sequences are paired by position: aligning takes time with the square of the length.
_LONGEST = 2_000


def align(a: Sequence[T], b: Sequence[T], *keys: Callable[[T], Hashable]) -> list[Pair]:
    """Pair items of equal keys in order; what the first key leaves over, the next ones pair."""
    if max(len(a), len(b)) > _LONGEST:
        return list(zip_longest(range(len(a)), range(len(b))))
    return list(_aligned(a, b, (0, len(a)), (0, len(b)), keys))


def _aligned(
    a: Sequence[T],
    b: Sequence[T],
    of_a: tuple[int, int],
    of_b: tuple[int, int],
    keys: Sequence[Callable[[T], Hashable]],
) -> Iterator[Pair]:
    if not keys:
        yield from ((index, None) for index in range(*of_a))
        yield from ((None, index) for index in range(*of_b))
        return
    left = [keys[0](each) for each in a[slice(*of_a)]]
    right = [keys[0](each) for each in b[slice(*of_b)]]
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    for tag, a_from, a_to, b_from, b_to in matcher.get_opcodes():
        in_a, in_b = (of_a[0] + a_from, of_a[0] + a_to), (of_b[0] + b_from, of_b[0] + b_to)
        if tag == "equal":
            yield from zip(range(*in_a), range(*in_b), strict=True)
        else:
            yield from _aligned(a, b, in_a, in_b, keys[1:])
