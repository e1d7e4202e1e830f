"""Buffers that a program plans as a whole, and where the entries of its graph lie in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.model.base.numbers import counted

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class PlannedMemory:
    """The memory plan of an ExecuTorch method, for the E entries and the nodes of its graph.

    Nodes run in the order of their ids, loops aside. All arrays are read-only.
    """

    buffer_sizes: tuple[int, ...]
    buffers: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    kept: npt.NDArray[np.int32]
    scratch: npt.NDArray[np.int32]
    loops: npt.NDArray[np.int32]

    def __post_init__(self) -> None:
        for name in ("buffers", "offsets", "kept", "scratch", "loops"):
            column = getattr(self, name).view()
            column.flags.writeable = False
            object.__setattr__(self, name, column)
        if len(self.offsets) != len(self.buffers):
            raise ValueError(
                f"offsets has {counted(len(self.offsets), 'item')}, not {len(self.buffers)}"
            )
        if self.buffers.size and self.buffers.max() >= len(self.buffer_sizes):
            raise ValueError(f"buffers must lie below {len(self.buffer_sizes)}")

    def __len__(self) -> int:
        return len(self.buffers)

    @property
    def total(self) -> int:
        """Bytes of all buffers."""
        return sum(self.buffer_sizes)

    @property
    def num_buffers(self) -> int:
        """How many buffers have any bytes."""
        return sum(size > 0 for size in self.buffer_sizes)

    def __reduce__(self) -> tuple[Any, ...]:
        columns = (self.buffers, self.offsets, self.kept, self.scratch, self.loops)
        return PlannedMemory, (self.buffer_sizes, *columns)
