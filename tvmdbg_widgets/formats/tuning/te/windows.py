"""Windows that convolutions move over padded pictures (python/tvm/topi/nn/)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.formats.tuning.te.scalars import NotUnderstoodError, Scalar, binary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.formats.tuning.te.tensors import ReduceAxis


class Window:
    """A window that moves over a padded picture, in height and width."""

    def __init__(
        self,
        size: Sequence[int],
        kernel: Sequence[int],
        stride: object,
        padding: object,
        dilation: object,
    ) -> None:
        self._strides, self._dilations = _pair(stride), _pair(dilation)
        reach = [(k - 1) * d + 1 for k, d in zip(kernel, self._dilations, strict=True)]
        self.before, self.after = _paddings(padding, reach)
        moved = zip(size, reach, self.before, self.after, self._strides, strict=True)
        self.positions = [(n - r + low + high) // s + 1 for n, r, low, high, s in moved]

    def places(self, at: Sequence[Scalar], within: Sequence[ReduceAxis]) -> list[Scalar]:
        """Return the indices of one element in the window at a position."""
        moved = zip(at, within, self._strides, self._dilations, strict=True)
        return [
            binary("+", binary("*", y, stride), binary("*", r.value, dilation))
            for y, r, stride, dilation in moved
        ]


def _pair(value: object) -> tuple[int, int]:
    pair = (value, value) if isinstance(value, int) else value
    if isinstance(pair, list | tuple) and len(pair) == 2:
        first, second = pair
        if isinstance(first, int) and isinstance(second, int) and first > 0 and second > 0:
            return first, second
    raise NotUnderstoodError("a stride or dilation that is no number, nor two")


def _paddings(padding: object, reach: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return padding before and after (``get_pad_tuple``, python/tvm/topi/nn/utils.py)."""
    if padding in ("VALID", "SAME"):
        both = [each - 1 if padding == "SAME" else 0 for each in reach]
    elif isinstance(padding, int):
        both = [2 * padding] * 2
    elif isinstance(padding, list | tuple) and all(isinstance(each, int) for each in padding):
        if len(padding) == 4:
            return list(padding[:2]), list(padding[2:])
        both = [2 * each for each in padding]
    else:
        both = []
    if len(both) != 2 or min(both) < 0:
        raise NotUnderstoodError("a padding that is no number, nor two or four")
    before = [(each + 1) // 2 for each in both]
    return before, [whole - low for whole, low in zip(both, before, strict=True)]
