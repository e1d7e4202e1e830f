"""Least, largest and mean value at each index of every axis of a tensor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvmdbg_widgets.export.page.stored.facts import Variant
from tvmdbg_widgets.export.page.stored.pack import shuffled_floats
from tvmdbg_widgets.model.pictures import profile

#: Most points of a profile, as many as the views ask for.
POINTS = 4096
#: Values of a tensor from which on it gets none: each axis takes a pass over all of them.
MOST_VALUES = 1 << 24


@dataclass(frozen=True)
class StoredProfiles:
    """The profiles of one variant along all axes of its view, as they are stored."""

    variant: int
    wide: bool
    flagged: bool
    data: bytes


def has_profiles(variant: Variant) -> bool:
    """Whether a variant has any: values of an ordered type, not too many, along an axis."""
    shape = variant.view.view_shape
    return variant.found.applicable and bool(shape) and 0 < math.prod(shape) <= MOST_VALUES


def stored_profiles(row: int, variant: Variant) -> StoredProfiles:
    """Reduce a tensor along each of its axes to at most ``POINTS`` points."""
    axes = range(len(variant.view.view_shape))
    found = [profile(variant.view, axis, POINTS) for axis in axes]
    parts = [getattr(each, name) for name in ("minimum", "maximum", "mean") for each in found]
    flags = np.concatenate([each.flags for each in found])
    flagged = bool(flags.any())
    data = shuffled_floats(parts) + (flags.tobytes() if flagged else b"")
    return StoredProfiles(row, parts[0].itemsize == 8, flagged, data)


def profile_columns(found: Sequence[StoredProfiles], places: Sequence[int]) -> dict[str, Any]:
    """Return where and what the profiles are (a row a variant)."""
    return {
        "variant": np.array([each.variant for each in found], np.int32),
        "wide": np.array([each.wide for each in found], np.bool_),
        "flagged": np.array([each.flagged for each in found], np.bool_),
        "at": np.array(places, np.float64),
    }
