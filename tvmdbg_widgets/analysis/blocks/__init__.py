"""Groups of the nodes of a graph, from its structure: names label them, never find them."""

from __future__ import annotations

from tvmdbg_widgets.analysis.blocks.find import groups

__all__ = ["groups"]
