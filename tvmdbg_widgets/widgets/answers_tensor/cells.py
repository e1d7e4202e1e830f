"""Reduced values as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.widgets.columns import pack

if TYPE_CHECKING:
    from tvmdbg_widgets.model.pictures import Channels, Picture, Profile


def packed_cells(found: Picture | Profile | Channels) -> tuple[list[dict[str, Any]], bytes]:
    """Return headers and buffer of minimum, maximum, mean and flags."""
    return pack(
        {
            "minimum": found.minimum,
            "maximum": found.maximum,
            "mean": found.mean,
            "flags": found.flags,
        }
    )
