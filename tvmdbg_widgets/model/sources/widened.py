"""float32 values that are stored as their upper halves."""

from __future__ import annotations

import numpy as np

from tvmdbg_widgets.model.sources.byte_source import ByteSource

_BLOCK = 1 << 18


class WidenedSource(ByteSource):
    """The float32 bytes of values stored as bfloat16, made as they are read.

    ``f32-to-bf16`` stores the upper 16 bits of each float32; the value is ``u16 << 16``
    (src/runtime/relax_vm/ndarray_cache_support.cc @ v0.16.0).
    """

    def __init__(self, stored: ByteSource, offset: int, count: int) -> None:
        self.stored = stored
        self.offset = offset
        self.size = 4 * count
        self.name = stored.name
        self.far = stored.far

    def trouble(self) -> Exception | None:
        """Return why the bytes cannot be read now; see :class:`ByteSource`."""
        return self.stored.trouble()

    def _fill(self, offset: int, view: memoryview) -> None:
        done = 0
        while done < len(view):
            at = offset + done
            first = at // 4
            length = min(len(view) - done, _BLOCK)
            halves = np.empty(-(-(at + length) // 4) - first, "<u2")
            self.stored.read_into(self.offset + 2 * first, halves.data)
            wide = (halves.astype("<u4") << np.uint32(16)).view(np.uint8)
            view[done : done + length] = wide[at - 4 * first :][:length].data
            done += length
