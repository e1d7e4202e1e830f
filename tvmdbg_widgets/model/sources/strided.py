"""Values that lie strided in memory, given as if they lay in C order."""

from __future__ import annotations

import math

import numpy as np

from tvmdbg_widgets.model.sources.byte_source import ByteSource


class StridedSource(ByteSource):
    """The bytes of a strided array in C order, made as they are read.

    The first read makes them all, and they are kept: a stretch in C order lies scattered over
    the whole array.

    Parameters
    ----------
    stored
        What holds the array.
    offset
        Its first byte there.
    shape, strides
        Strides in elements, none negative. No element lies beyond ``prod(shape)`` elements.
    itemsize
        Bytes an element takes.
    """

    def __init__(
        self,
        stored: ByteSource,
        offset: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        itemsize: int,
    ) -> None:
        self.stored = stored
        self.offset = offset
        self.shape = shape
        self.strides = strides
        self.itemsize = itemsize
        self.size = math.prod(shape) * itemsize
        self.name = stored.name
        self.far = stored.far
        self._ordered: memoryview | None = None

    def trouble(self) -> Exception | None:
        """Return why the bytes cannot be read now; see :class:`ByteSource`."""
        return self.stored.trouble()

    def _fill(self, offset: int, view: memoryview) -> None:
        if self._ordered is None:
            self._ordered = memoryview(self._in_order())
        view[:] = self._ordered[offset : offset + len(view)]

    def _in_order(self) -> bytes:
        data = self.stored.read(self.offset, self.size)
        steps = [stride * self.itemsize for stride in self.strides]
        return np.ndarray(self.shape, f"V{self.itemsize}", data, strides=steps).tobytes()
