"""The counts of a tensor's statistics under the names that figure and live view give them."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import ml_dtypes

from tvmdbg_widgets.model.base.bits import is_integer
from tvmdbg_widgets.model.statistics import Statistics

if TYPE_CHECKING:
    import numpy as np


def tensor_counts(found: Statistics) -> dict[str, int | None]:
    """Return the counts of a tensor as JSON (``js/src/shared/client/tensor_questions.ts``)."""
    return {**spread_counts(found), "denormal": found.denormal}


def spread_counts(found: Statistics) -> dict[str, int | None]:
    """Return the counts that are known of a part of a tensor too."""
    return {
        "size": found.size,
        "finite": found.finite,
        "nan": found.nan,
        "posInf": found.pos_inf,
        "negInf": found.neg_inf,
        "zero": found.zero,
        "negative": found.negative,
        "atLowest": found.at_lowest,
        "atHighest": found.at_highest,
    }


def limits(dtype: np.dtype[Any]) -> tuple[float, float] | None:
    """Return the lowest and highest finite value of a type; None for bool."""
    if dtype.kind == "b":
        return None
    info: Any = (ml_dtypes.iinfo if is_integer(dtype) else ml_dtypes.finfo)(dtype)
    low, high = float(info.min), float(info.max)
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def special_counts(found: Statistics, dtype: str) -> dict[str, int]:
    """Return the counts of NaN, +Inf and -Inf, without zeros of what the dtype cannot hold."""
    counts = {"nan": found.nan, "pos_inf": found.pos_inf, "neg_inf": found.neg_inf}
    if re.match(r"u?int\d|bool$|float[46]_", dtype):
        held: tuple[str, ...] = ()
    else:
        held = ("nan",) if re.match(r"float8_\w+fn", dtype) else tuple(counts)
    return {name: count for name, count in counts.items() if count or name in held}
