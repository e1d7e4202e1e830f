"""Numbers and places as JSON says them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tvmdbg_widgets.model.base.number_text import computed_text, number_text, percentile_text

_NONE = {"text": "none", "value": None}


def exact_number(value: Any) -> dict[str, Any]:
    """Return a number with its text; no value where it is not finite."""
    if value is None:
        return _NONE
    number = float(value)
    return {"text": number_text(value), "value": number if math.isfinite(number) else None}


def computed_number(value: float) -> dict[str, Any]:
    """Return a mean or spread; none where no value was finite."""
    if math.isnan(value):
        return _NONE
    return {**exact_number(value), "text": computed_text(value)}


def percentile_number(value: float, dtype: np.dtype[Any]) -> dict[str, Any]:
    """Return a percentile of values of a type; none where no value was finite."""
    if math.isnan(value):
        return _NONE
    return {**exact_number(value), "text": percentile_text(value, dtype)}


def place(flat: int | None, shape: tuple[int, ...] | None) -> list[int] | None:
    """Return the index of a position in C order; None of values whose places are not known."""
    if flat is None or shape is None:
        return None
    return [int(each) for each in np.unravel_index(flat, shape)] if shape else []
