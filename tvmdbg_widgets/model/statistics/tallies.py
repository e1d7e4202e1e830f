"""Which tally counts the values of a type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from tvmdbg_widgets.model.statistics.code_tally import CodeTally
from tvmdbg_widgets.model.statistics.float_tally import FloatTally
from tvmdbg_widgets.model.statistics.integer_tally import IntegerTally

Tally: TypeAlias = CodeTally | FloatTally | IntegerTally

if TYPE_CHECKING:
    import numpy as np


def tally(dtype: np.dtype[Any], *, fast: bool = False) -> Tally:
    """Return an empty tally for values of a type that has an order."""
    if dtype.itemsize <= 2:
        return CodeTally(dtype)
    return FloatTally(dtype, fast=fast) if dtype.kind == "f" else IntegerTally(dtype)
