"""Numbers and places as JSON says them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tvmdbg_widgets.model.number_text import number_text


def exact_number(value: Any) -> dict[str, Any]:
    """Return a number with its text; no value where it is not finite."""
    if value is None:
        return {"text": "none", "value": None}
    number = float(value)
    return {"text": number_text(value), "value": number if math.isfinite(number) else None}


def exact_mean(value: float) -> dict[str, Any]:
    """Return a mean or spread; none where no value was finite."""
    return exact_number(None if math.isnan(value) else value)


def place(flat: int | None, shape: tuple[int, ...]) -> list[int] | None:
    """Return the index of a position in C order."""
    if flat is None:
        return None
    return [int(each) for each in np.unravel_index(flat, shape)] if shape else []
