"""Reduced values as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.widgets.columns import pack

if TYPE_CHECKING:
    from tvmdbg_widgets.model.pictures import Channels, Picture, Profile


def packed_cells(
    found: Picture | Profile | Channels, pictures: int = 1, *, mean_only: bool = False
) -> tuple[dict[str, Any], bytes]:
    """Return headers and buffer of mean, minimum, maximum and flags.

    Bounds that are the mean to the bit, as those of cells of one value, are left out, and so are
    flags where none is set; ``js/src/shared/tensor_client.ts`` puts them in. Where the mean alone
    is wanted, other bounds are left out as well, two thirds of the bytes: ``"spans"`` then gives
    those of each picture.
    """
    bounds = {"minimum": found.minimum, "maximum": found.maximum}
    word = np.dtype(f"u{found.mean.itemsize}")
    bits = found.mean.view(word)
    columns: dict[str, Any] = {"mean": found.mean}
    more = {
        name: each for name, each in bounds.items() if not np.array_equal(each.view(word), bits)
    }
    told: dict[str, Any] = {}
    if mean_only and more:
        told["spans"] = [
            _span(*both)
            for both in zip(
                np.split(found.minimum.ravel(), pictures),
                np.split(found.maximum.ravel(), pictures),
                strict=True,
            )
        ]
    else:
        columns |= more
    if found.flags.any():
        columns["flags"] = found.flags
    headers, buffer = pack(columns)
    return {**told, "columns": headers}, buffer


def _span(minimum: np.ndarray, maximum: np.ndarray) -> list[float] | None:
    """Return the least and largest finite bound; None where there is none."""
    low = np.min(minimum, initial=np.inf, where=np.isfinite(minimum))
    high = np.max(maximum, initial=-np.inf, where=np.isfinite(maximum))
    return [float(low), float(high)] if low <= high else None
