"""Reduced values as columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from tvmdbg_widgets.engine.columns import pack
from tvmdbg_widgets.model.pictures import ChannelPictures, Picture, Profile


def packed_cells(found: Picture | Profile | ChannelPictures) -> tuple[list[dict[str, Any]], bytes]:
    """Return headers and buffer of mean, minimum, maximum and flags.

    Bounds that are the mean to the bit, as those of cells of one value, are left out, and so are
    flags where none is set; ``js/src/shared/client/tensor_client.ts`` puts them in.
    """
    bounds = {"minimum": found.minimum, "maximum": found.maximum}
    word = np.dtype(f"u{found.mean.itemsize}")
    bits = found.mean.view(word)
    columns: dict[str, Any] = {"mean": found.mean}
    columns |= {
        name: each for name, each in bounds.items() if not np.array_equal(each.view(word), bits)
    }
    if found.flags.any():
        columns["flags"] = found.flags
    return pack(columns, "cells")
