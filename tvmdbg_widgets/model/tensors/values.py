"""What planes, pictures and tables read from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from tvmdbg_widgets.model.tensors.windows import Selection

if TYPE_CHECKING:
    import numpy as np


class ArrayView(Protocol):
    """An N-D array that is read a part at a time: as it is stored, or with its layout unfolded."""

    @property
    def view_shape(self) -> tuple[int, ...]:
        """The shape that selections speak of."""

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The dtype of what is read."""

    @property
    def codes(self) -> ArrayView:
        """The same scalars for telling their bits: as they are stored."""

    def window(self, selection: Selection) -> np.ndarray[Any, Any]:
        """Read what basic numpy indexing of the whole would give, and little more than that."""
