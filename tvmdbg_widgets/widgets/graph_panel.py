"""The graph of a view that shows more than a graph."""

from __future__ import annotations

from typing import Any

from tvmdbg_widgets.widgets.graph_folding import Folding, GroupRefs
from tvmdbg_widgets.widgets.graph_navigation import Navigation


class GraphPanel(Navigation):
    """The graph of a view that shows more than a graph: the moves of a GraphView, made there.

    ::

        debugger.graph.hide("kind=parameter")
        debugger.graph.path(3, 62)

    What they change are traits of that view: ``debugger.hidden``, ``debugger.bookmarks``.
    """

    def __init__(self, view: Folding) -> None:
        self._panel_of = view

    @property
    def _view(self) -> Any:
        return self._panel_of

    def expand(self, what: GroupRefs = None) -> None:
        """Open groups; as :meth:`tvmdbg_widgets.widgets.graph_folding.Folding.expand`."""
        self._panel_of.expand(what)

    def collapse(self, what: GroupRefs = None) -> None:
        """Close groups; all where none is named."""
        self._panel_of.collapse(what)

    def __repr__(self) -> str:
        return f"<graph of {self._panel_of!r}>"
