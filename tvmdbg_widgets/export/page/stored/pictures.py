"""Reduced pictures of planes of tensors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvmdbg_widgets.export.page.stored.facts import Variant
from tvmdbg_widgets.export.page.stored.pack import shuffled_floats
from tvmdbg_widgets.figures.tensor.shown import MOST_EXACT
from tvmdbg_widgets.model.pictures import Picture, picture
from tvmdbg_widgets.model.tensors.planes import Plane, default_axes

#: Most cells of a picture down and across.
CELLS = 64


@dataclass(frozen=True)
class StoredPicture:
    """One picture of one variant, its cells as they are stored."""

    variant: int
    plane: Plane
    shown: Picture
    single: bool
    data: bytes


def planes(shape: tuple[int, ...]) -> Iterator[Plane]:
    """Yield the plane that the inspector shows first, then those at the other indices."""
    axes = default_axes(shape)
    ranges = [range(1) if axis in axes else range(size) for axis, size in enumerate(shape)]
    for index in itertools.product(*ranges):
        yield Plane(shape, axes, index)


def number_of_planes(shape: tuple[int, ...]) -> int:
    """Return how many planes :func:`planes` yields."""
    axes = default_axes(shape)
    return math.prod(size for axis, size in enumerate(shape) if axis not in axes)


def stored_picture(row: int, variant: Variant, plane: Plane) -> StoredPicture:
    """Reduce a plane to at most ``CELLS`` x ``CELLS`` cells; a huge one by a sample of it."""
    sample = plane.rows * plane.cols > MOST_EXACT
    shown = picture(variant.view, plane, CELLS, CELLS, sample=sample)
    numbers = [shown.minimum, shown.maximum, shown.mean]
    single = all(np.array_equal(each, shown.mean, equal_nan=True) for each in numbers)
    data = shuffled_floats([shown.mean] if single else numbers)
    flags = shown.flags.tobytes() if shown.flags.any() else b""
    return StoredPicture(row, plane, shown, single, data + flags)


def picture_columns(found: Sequence[StoredPicture], places: Sequence[int]) -> dict[str, Any]:
    """Return where and what the pictures are (P rows); ``places`` as given by the binary."""

    def whole(get: Any) -> np.ndarray[Any, np.dtype[np.int32]]:
        return np.array([get(each) for each in found], np.int32)

    indices = [each.plane.index for each in found]
    return {
        "variant": whole(lambda each: each.variant),
        "down": whole(lambda each: -1 if each.plane.axes[0] is None else each.plane.axes[0]),
        "across": whole(lambda each: -1 if each.plane.axes[1] is None else each.plane.axes[1]),
        "indexOffsets": np.cumsum([0, *map(len, indices)]).astype(np.int32),
        "index": np.array([at for index in indices for at in index], np.float64),
        "rows": whole(lambda each: each.shown.rows),
        "cols": whole(lambda each: each.shown.cols),
        "rowStep": np.array([each.shown.row_step for each in found], np.float64),
        "colStep": np.array([each.shown.col_step for each in found], np.float64),
        "single": np.array([each.single for each in found], np.bool_),
        "wide": np.array([each.shown.mean.itemsize == 8 for each in found], np.bool_),
        "sampled": np.array([not each.shown.exact for each in found], np.bool_),
        "flagged": np.array([bool(each.shown.flags.any()) for each in found], np.bool_),
        "at": np.array(places, np.float64),
    }
