"""What part of the graph is shown, from where, and how one came there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import traitlets

from tvmdbg_widgets.model.base.choice import one_of
from tvmdbg_widgets.model.graph.isolation import checked_isolation
from tvmdbg_widgets.model.join.refs import listed
from tvmdbg_widgets.widgets import view_state
from tvmdbg_widgets.widgets.shown_run import ShownRun
from tvmdbg_widgets.widgets.traits import as_trait_error

NodeRef: TypeAlias = int | str
NodeRefs: TypeAlias = NodeRef | Sequence[NodeRef] | None

#: Bookmarks keep the colors too.
_BOOKMARKED = (*view_state.STEP_TRAITS, "color_by", "color_limits", "label")


class ShownNodes(traitlets.HasTraits):
    """Traits that say what part of a graph is shown; see :class:`GraphView`."""

    isolate = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
    hidden = traitlets.List(traitlets.Unicode()).tag(sync=True)
    camera = traitlets.Dict(allow_none=True, default_value=None).tag(sync=True)
    history = traitlets.Dict().tag(sync=True)
    bookmarks = traitlets.Dict().tag(sync=True)

    _debug_run: ShownRun  # the view's

    @traitlets.validate("isolate")
    def _part_of_the_graph(self, proposal: dict[str, Any]) -> dict[str, Any] | None:
        with as_trait_error("isolate"):
            return checked_isolation(self._debug_run.graph, proposal["value"])

    @traitlets.validate("hidden")
    def _readable(self, proposal: dict[str, Any]) -> list[str]:
        with as_trait_error("hidden"):
            return view_state.checked_queries(proposal["value"])

    @traitlets.validate("camera")
    def _above_the_graph(self, proposal: dict[str, Any]) -> dict[str, Any] | None:
        with as_trait_error("camera"):
            return view_state.checked_camera(self._debug_run, proposal["value"])

    @traitlets.validate("history")
    def _steps(self, proposal: dict[str, Any]) -> dict[str, Any]:
        with as_trait_error("history"):
            return view_state.checked_history(
                self._debug_run, proposal["value"], view_state.STEP_TRAITS
            )

    @traitlets.validate("bookmarks")
    def _looks(self, proposal: dict[str, Any]) -> dict[str, Any]:
        with as_trait_error("bookmarks"):
            return view_state.checked_bookmarks(self._debug_run, proposal["value"], _BOOKMARKED)


class Navigation:
    """Moves of a graph view that can be taken back; nodes are told by id or name."""

    @property
    def _view(self) -> Any:
        """The view that is moved."""
        return self

    def upstream(self, nodes: NodeRefs = None) -> None:
        """Show only the nodes and all that they depend on.

        ::

            view.upstream("conv2d_3")

        Parameters
        ----------
        nodes : int, str, Group, or several ids, optional
            What is selected where left out; ``run.select(query)`` and arrays may be given, too.

        Raises
        ------
        KeyError, IndexError, TypeError, ValueError
            Nodes that the run does not have; names close ones.
        """
        self._isolate("upstream", nodes)

    def downstream(self, nodes: NodeRefs = None) -> None:
        """Show only the nodes and all that depends on them; as :meth:`upstream`."""
        self._isolate("downstream", nodes)

    def around(self, nodes: NodeRefs = None, hops: int = 1) -> None:
        """Show only what is within so many edges of the nodes; as :meth:`upstream`."""
        self._isolate("around", nodes, hops)

    def path(self, start: NodeRef, end: NodeRef) -> None:
        """Show only the nodes on any path between two nodes, whichever comes first.

        Raises
        ------
        ValueError
            There is no path, in either direction.
        KeyError, IndexError, TypeError
            A node that the run does not have; names close ones.
        """
        self._isolate("path", [start, end])

    def everything(self) -> None:
        """Show the whole graph again: nothing isolated, nothing hidden."""
        self._step(isolate=None, hops=None, hidden=[])

    def hide(self, *queries: str) -> None:
        """Leave out the nodes that queries find; what they connected is drawn as a bridge.

        ::

            view.hide("kind:parameter", "op:reshape")

        Parameters
        ----------
        *queries : str or Selection
            As :meth:`tvmdbg_widgets.DebugRun.select` takes them, or what it returned.

        Raises
        ------
        TypeError, ValueError
            A query that cannot be read, or that finds nothing.
        """
        from tvmdbg_widgets.analysis.graph.hidden import hidden_nodes

        asked = view_state.checked_queries(getattr(each, "query", each) for each in queries)
        for query in asked:
            if not hidden_nodes(self._view.debug_run, [query]).any():
                raise ValueError(f"{query!r} finds no node of this graph; {self._kinds(query)}")
        self._step(hidden=list(dict.fromkeys([*self._view.hidden, *asked])))

    def show(self, *queries: str) -> None:
        """Take queries back that :meth:`hide` was given; all where none is named.

        Raises
        ------
        ValueError
            A query that hides nothing; names close ones.
        """
        for query in queries:
            one_of("hidden query", query, self._view.hidden)
        kept = [each for each in self._view.hidden if each not in queries] if queries else []
        self._step(hidden=kept)

    def back(self) -> None:
        """Show again what was shown before.

        Raises
        ------
        IndexError
            There is nothing to go back to.
        """
        self._go_by(-1)

    def forward(self) -> None:
        """Show again what :meth:`back` went away from.

        Raises
        ------
        IndexError
            There is nothing to go forward to.
        """
        self._go_by(1)

    def bookmark(self, name: str) -> None:
        """Keep what is shown now under a name; :meth:`go` comes back to it.

        Raises
        ------
        TypeError, ValueError
            No name, or too many bookmarks.
        """
        name = view_state.checked_name(name)
        self._view.bookmarks = self._view.bookmarks | {name: self._look(_BOOKMARKED)}

    def forget(self, name: str) -> None:
        """Take a bookmark away.

        Raises
        ------
        KeyError
            There is none of that name; names close ones.
        """
        self._bookmarked(name)
        kept = self._view.bookmarks
        self._view.bookmarks = {each: kept[each] for each in kept if each != name}

    def go(self, name: str) -> None:
        """Show what was kept under a name.

        Raises
        ------
        KeyError
            There is no bookmark of that name; names close ones.
        """
        self._step(**self._bookmarked(name))

    def _bookmarked(self, name: str) -> view_state.Bookmark:
        try:
            return dict(self._view.bookmarks[one_of("bookmark", name, self._view.bookmarks)])
        except ValueError as problem:
            raise KeyError(problem.args[0]) from None

    def _isolate(self, kind: str, nodes: NodeRefs, hops: int | None = None) -> None:
        run = self._view.debug_run
        if nodes is None:
            nodes = list(self._view.session.selected)
            if not nodes:
                raise ValueError(f"nothing is selected; name a node: {kind}(node)")
        fields = {"kind": kind, "nodes": listed(nodes), "hops": hops}
        self._step(isolate=checked_isolation(run.graph, fields), hops=None)

    def _kinds(self, query: str) -> str:
        graph = self._view.debug_run.graph
        if graph is None:
            return "it has none"
        known = sorted({f"kind={node.op_kind}" for node in graph.nodes})
        try:
            one_of("query", query, known)
        except ValueError as problem:
            return str(problem.args[0].partition("; ")[2])
        return ""

    def _look(self, traits: Sequence[str] = view_state.STEP_TRAITS) -> view_state.Bookmark:
        known = [name for name in (*traits, "camera") if self._view.has_trait(name)]
        look = {name: getattr(self._view, name) for name in known}
        if "color_by" in look:
            look["color_by"] = str(look["color_by"])
        return look | {"selected": list(self._view.session.selected[-view_state.MOST_SELECTED :])}

    def _step(self, **changes: Any) -> None:
        before = self._look()
        with self._view.hold_sync():
            self._set(changes)
            camera = {"camera": changes.get("camera")}
            self._view.history = view_state.pushed(
                self._view.history, before, self._look() | camera
            )

    def _go_by(self, by: int) -> None:
        left = self._look()
        history = view_state.caught_up(self._view.history, left)
        steps, at = history["steps"], history["at"] + by
        if not 0 <= at < len(steps):
            raise IndexError(f"nothing to go {'back' if by < 0 else 'forward'} to")
        with self._view.hold_sync():
            self._set(view_state.resolved(steps, at))
            self._view.history = {"steps": steps, "at": at}

    def _set(self, look: view_state.Bookmark) -> None:
        for name, value in look.items():
            if name == "selected":
                self._view.session.selected = value
            elif self._view.has_trait(name):
                setattr(self._view, name, value)
