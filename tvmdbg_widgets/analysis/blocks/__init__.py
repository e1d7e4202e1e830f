"""Groups of nodes, derived from the structure of a graph; names only label them."""

from __future__ import annotations

from tvmdbg_widgets.analysis.blocks.find import groups

__all__ = ["groups"]
