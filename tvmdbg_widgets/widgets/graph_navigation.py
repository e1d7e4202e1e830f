"""The shown part of a graph: isolation, hidden nodes, history and bookmarks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import traitlets

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.model.base.slips import fields_of, one_of
from tvmdbg_widgets.model.refs import checked_isolation, listed, node_ref
from tvmdbg_widgets.widgets.traits import named_in, validated

NodeRef: TypeAlias = int | str
NodeRefs: TypeAlias = NodeRef | Sequence[NodeRef] | None

#: Traits of a graph view that a step back restores.
STEP_TRAITS = (
    *("isolate", "hidden", "focus", "hops", "fold_parameters", "direction"),
    *("open_groups", "grouped", "wrapped"),
)

#: Bookmarks also keep colors and label.
_BOOKMARKED = (*STEP_TRAITS, "color_by", "color_limits", "label")


class ShownNodes(traitlets.HasTraits):
    """Checks of the shown part of a graph; see :class:`GraphView`."""

    _facts: RunFacts  # the view's

    _check_isolate = validated(
        "isolate", lambda self, part: checked_isolation(self._facts.graph, part)
    )
    _check_hidden = validated("hidden", lambda _, queries: checked_queries(queries))
    _check_camera = validated("camera", lambda self, camera: checked_camera(self._facts, camera))
    _check_history = validated(
        "history", lambda self, history: checked_history(self._facts, history, STEP_TRAITS)
    )
    _check_bookmarks = validated(
        "bookmarks", lambda self, views: checked_bookmarks(self._facts, views, _BOOKMARKED)
    )


class Navigation:
    """Moves of a graph view that can be undone; nodes are given by id or name."""

    @property
    def _view(self) -> Any:
        return self

    def upstream(self, nodes: NodeRefs = None) -> None:
        """Show only the nodes and all that they depend on.

        ::

            view.upstream("conv2d_3")

        Parameters
        ----------
        nodes : int, str, Group, or several ids, optional
            By default the selected nodes; ``run.select(query)`` and arrays are accepted, too.

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
        """Show only nodes within so many edges; as :meth:`upstream`."""
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
        """Show all nodes again: nothing isolated, nothing hidden."""
        self._step(isolate=None, hops=None, hidden=[])

    def hide(self, *queries: str) -> None:
        """Hide the nodes that match queries; connections through them are drawn as bridges.

        ::

            view.hide("kind:parameter", "op:reshape")

        Parameters
        ----------
        *queries : str or Selection
            Queries of :meth:`tvmdbg_widgets.DebugRun.select`, or its results.

        Raises
        ------
        TypeError, ValueError
            A query that cannot be read, or that finds nothing.
        """
        from tvmdbg_widgets.analysis.selection import select

        added = checked_queries(getattr(query, "query", query) for query in queries)
        for query in added:
            if not select(self._view.shown.queries, query):
                raise ValueError(f"{query!r} finds no node of this graph; {self._kinds(query)}")
        self._step(hidden=list(dict.fromkeys([*self._view.hidden, *added])))

    def show(self, *queries: str) -> None:
        """Remove queries given to :meth:`hide`; all if none is named.

        Raises
        ------
        ValueError
            A query that hides nothing; names close ones.
        """
        for query in queries:
            one_of("hidden query", query, self._view.hidden)
        hidden = self._view.hidden if queries else []
        self._step(hidden=[query for query in hidden if query not in queries])

    def back(self) -> None:
        """Go one step back.

        Raises
        ------
        IndexError
            There is nothing to go back to.
        """
        self._go_by(-1)

    def forward(self) -> None:
        """Redo a step that :meth:`back` undid.

        Raises
        ------
        IndexError
            There is nothing to go forward to.
        """
        self._go_by(1)

    def bookmark(self, name: str) -> None:
        """Save the present view under a name; :meth:`go` returns to it.

        Raises
        ------
        TypeError, ValueError
            No name, or too many bookmarks.
        """
        name = checked_name(name)
        self._view.bookmarks = self._view.bookmarks | {name: self._look(_BOOKMARKED)}

    def forget(self, name: str) -> None:
        """Remove a bookmark.

        Raises
        ------
        KeyError
            There is none of that name; names close ones.
        """
        self._bookmarked(name)
        kept = self._view.bookmarks
        self._view.bookmarks = {other: kept[other] for other in kept if other != name}

    def go(self, name: str) -> None:
        """Show a bookmarked view.

        Raises
        ------
        KeyError
            There is no bookmark of that name; names close ones.
        """
        self._step(**self._bookmarked(name))

    def _bookmarked(self, name: str) -> Bookmark:
        try:
            return dict(self._view.bookmarks[one_of("bookmark", name, self._view.bookmarks)])
        except ValueError as problem:
            raise KeyError(problem.args[0]) from None

    def _isolate(self, kind: str, nodes: NodeRefs, hops: int | None = None) -> None:
        run = self._view.shown
        if nodes is None:
            nodes = list(self._view.session.selected)
            if not nodes:
                raise ValueError(f"nothing is selected; name a node: {kind}(node)")
        fields = {"kind": kind, "nodes": listed(nodes), "hops": hops}
        self._step(isolate=checked_isolation(run.graph, fields), hops=None)

    def _kinds(self, query: str) -> str:
        graph = self._view.shown.graph
        if graph is None:
            return "it has none"
        known = sorted({f"kind={node.op_kind}" for node in graph.nodes})
        try:
            one_of("query", query, known)
        except ValueError as problem:
            return str(problem.args[0].partition("; ")[2])
        return ""

    def _look(self, traits: Sequence[str] = STEP_TRAITS) -> Bookmark:
        known = [name for name in (*traits, "camera") if self._view.has_trait(name)]
        look = {name: getattr(self._view, name) for name in known}
        if "color_by" in look:
            look["color_by"] = str(look["color_by"])
        return look | {"selected": list(self._view.session.selected[-MOST_SELECTED:])}

    def _step(self, **changes: Any) -> None:
        before = self._look()
        with self._view.hold_sync():
            self._set(changes)
            camera = {"camera": changes.get("camera")}
            self._view.history = pushed(self._view.history, before, self._look() | camera)

    def _go_by(self, by: int) -> None:
        left = self._look()
        history = caught_up(self._view.history, left)
        steps, at = history["steps"], history["at"] + by
        if not 0 <= at < len(steps):
            raise IndexError(f"nothing to go {'back' if by < 0 else 'forward'} to")
        with self._view.hold_sync():
            self._set(resolved(steps, at))
            self._view.history = {"steps": steps, "at": at}

    def _set(self, look: Bookmark) -> None:
        for name, value in look.items():
            if name == "selected":
                self._view.session.selected = value
            elif self._view.has_trait(name):
                setattr(self._view, name, value)


Bookmark: TypeAlias = dict[str, Any]
#: Fields that every step of the history holds, even if unchanged.
ALWAYS = ("camera", "selected")
#: As in js/src/graph/options.ts.
MOST_STEPS = 50
MOST_SELECTED = 100
MOST_BOOKMARKS = 200
NAME_LENGTH = 200
_SCALES = (1e-4, 3.0)
_CAMERA = ("node", "dx", "dy", "scale")


def checked_camera(run: RunFacts, given: object) -> dict[str, Any] | None:
    """Return the checked camera: node, offset in px of the graph, scale."""
    if given is None:
        return None
    fields = fields_of(given, "camera", _CAMERA)
    camera: dict[str, Any] = {"node": node_ref(fields.get("node"), *named_in(run))}
    for name, default in (("dx", 0.0), ("dy", 0.0), ("scale", 1.0)):
        value = fields.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(f"{name} of a camera must be a number, not {value!r}")
        if not math.isfinite(value):
            raise ValueError(f"{name} of a camera must be finite, not {value!r}")
        camera[name] = float(value)
    camera["scale"] = min(_SCALES[1], max(_SCALES[0], camera["scale"]))
    return camera


def checked_queries(given: Iterable[object]) -> list[str]:
    """Return distinct hiding queries, stripped."""
    from tvmdbg_widgets.analysis.opening import checked_query

    return list(dict.fromkeys(map(checked_query, given)))


def checked_bookmark(run: RunFacts, given: object, traits: Sequence[str]) -> Bookmark:
    """Return a saved view with only allowed fields, checked against the graph."""
    fields = fields_of(given, "a saved view", (*traits, *ALWAYS))
    if "isolate" in fields:
        fields["isolate"] = checked_isolation(run.graph, fields["isolate"])
    if "camera" in fields:
        fields["camera"] = checked_camera(run, fields["camera"])
    if "hidden" in fields:
        fields["hidden"] = checked_queries(fields["hidden"])
    if "selected" in fields:
        fields["selected"] = [node_ref(node, *named_in(run)) for node in fields["selected"]]
    return fields


def checked_bookmarks(run: RunFacts, given: object, traits: Sequence[str]) -> dict[str, Bookmark]:
    """Return checked saved views by name."""
    if not isinstance(given, Mapping):
        raise TypeError(f"bookmarks must map names to saved views, not {type(given).__name__}")
    if len(given) > MOST_BOOKMARKS:
        raise ValueError(f"at most {MOST_BOOKMARKS} bookmarks, found {len(given)}")
    bookmarks = {}
    for name, look in given.items():
        try:
            bookmarks[checked_name(name)] = checked_bookmark(run, look, traits)
        except (TypeError, ValueError, LookupError) as problem:
            raise type(problem)(f"bookmark {name!r}: {problem.args[0]}") from None
    return bookmarks


def checked_name(name: object) -> str:
    """Return the stripped name of a bookmark."""
    if not isinstance(name, str):
        raise TypeError(f"a bookmark's name must be a str, not {type(name).__name__}")
    stripped = name.strip()
    if not 0 < len(stripped) <= NAME_LENGTH:
        raise ValueError(f"a bookmark's name must have 1 to {NAME_LENGTH} characters")
    return stripped


def checked_history(run: RunFacts, given: object, traits: Sequence[str]) -> dict[str, Any]:
    """Return ``{"steps", "at"}``; a step is the difference to the one before."""
    fields = fields_of(given, "history", ("steps", "at"))
    steps = [checked_bookmark(run, step, traits) for step in fields.get("steps", ())][-MOST_STEPS:]
    at = fields.get("at", 0)
    if isinstance(at, bool) or not isinstance(at, int) or not 0 <= at < max(1, len(steps)):
        raise ValueError(f"there is no step {at!r} among {len(steps)}")
    return {"steps": steps, "at": at} if steps else {}


def resolved(steps: Sequence[Bookmark], at: int) -> Bookmark:
    """Return all fields of a step."""
    look: Bookmark = {}
    for step in steps[: at + 1]:
        look |= step
    return look


def pushed(history: Mapping[str, Any], before: Bookmark, now: Bookmark) -> dict[str, Any]:
    """Return the history with one more step; undone steps are dropped."""
    steps = list(history.get("steps", ()))[: history.get("at", 0) + 1]
    if steps:
        last = resolved(steps, len(steps) - 1)
        steps[-1] = steps[-1] | {k: v for k, v in before.items() if v != last.get(k, _NONE)}
    else:
        steps = [before]
    step = {k: v for k, v in now.items() if k in ALWAYS or v != before.get(k, _NONE)}
    if all(k in ALWAYS for k in step) and step.get("selected") == before.get("selected"):
        return {"steps": steps, "at": len(steps) - 1}
    steps.append(step)
    while len(steps) > MOST_STEPS:
        steps[:2] = [steps[0] | steps[1]]
    return {"steps": steps, "at": len(steps) - 1}


def caught_up(history: Mapping[str, Any], now: Bookmark) -> dict[str, Any]:
    """Return the history with the present view as its current step, or as a new one."""
    steps, at = list(history.get("steps", ())), history.get("at", 0)
    if not steps:
        return {"steps": [now], "at": 0}
    seen = resolved(steps, at)
    if any(value != seen.get(name) for name, value in now.items() if name not in ALWAYS):
        return pushed(history, seen, now)
    steps[at] = steps[at] | {name: now[name] for name in ALWAYS}
    return {"steps": steps, "at": at}


_NONE = object()
