"""The bytes of one FlatBuffer, read at many places at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.limits import WorkBudget
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.numbers import counted

Places = npt.NDArray[np.int64]

#: Only vtables are shared in real files: all else that is decoded is once the file at most.
_MOST_DECODED = 3


class FlatBuffer:
    """One FlatBuffer in memory."""

    def __init__(self, data: bytes, *, file: str, base: int = 0, hint: str | None = None) -> None:
        self.data = data
        self.size = len(data)
        self.file = file
        self.base = base
        self.hint = hint
        #: Decoded bytes, so that vectors which share bytes cannot unfold to any size.
        self.budget = WorkBudget(_MOST_DECODED * self.size, file, "bytes decoded", hint)

    def renewed(self) -> FlatBuffer:
        """Return the same bytes with nothing decoded yet."""
        return FlatBuffer(self.data, file=self.file, base=self.base, hint=self.hint)

    def at(self, places: Places, dtype: npt.DTypeLike, field: str) -> npt.NDArray[Any]:
        """Return the value of a little-endian type at each place."""
        kind = np.dtype(dtype).newbyteorder("<")
        self.require(places, kind.itemsize, field)
        if not len(places):
            return np.zeros(0, np.dtype(dtype))
        if kind == np.bool_:
            return self.at(places, np.uint8, field).astype(np.bool_)
        # One overlapping item for each byte: values need not be aligned.
        items = self.size - kind.itemsize + 1
        every = np.ndarray((items,), kind, buffer=self.data, strides=(1,))
        return every[places].astype(np.dtype(dtype), copy=False)

    def require(self, places: Places, widths: Places | int, field: str) -> None:
        """Raise FormatError where bytes do not lie within the buffer."""
        if not len(places):
            return
        wrong = (places < 0) | (places + widths > self.size)
        if wrong.any():
            first = int(np.argmax(wrong))
            width = widths if isinstance(widths, int) else int(widths[first])
            raise self.broken(
                "the field leaves the file",
                field,
                int(places[first]),
                expected=counted(width, "byte"),
                found=counted(max(0, self.size - int(places[first])), "byte"),
            )

    def broken(
        self, problem: str, field: str, place: int | None, *, expected: object, found: object
    ) -> FormatError:
        """Return the error for a place in this buffer."""
        return FormatError(
            problem,
            file=self.file,
            field=field,
            offset=None if place is None else self.base + place,
            expected=expected,
            found=found,
            hint=self.hint,
        )
