"""The present state of a view and of its session, as a page starts with it."""

from __future__ import annotations

import base64
import json
import math
from typing import Any

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.export.page.options import PageOptions
from tvmdbg_widgets.model.join.refs import node_ref
from tvmdbg_widgets.widgets.view import View

#: Names of the views by the names of their classes.
KINDS = {
    "Debugger": "debugger",
    "GraphView": "graph",
    "TensorInspector": "tensor",
    "Flamechart": "timeline",
    "MemoryView": "memory",
    "ComparisonView": "comparison",
}
#: What a page does not take over: the host's own, and where the pointer happens to be.
_NOT_TAKEN = frozenset(
    {"layout", "tabbable", "tooltip", "hovered", "source"}
    | {"run", "session", "run_b", "session_b"}
)


def kind_of(view: View) -> str:
    """Return the name of a view's kind."""
    for each in type(view).__mro__:
        if each.__name__ in KINDS:
            return KINDS[each.__name__]
    raise TypeError(f"a page shows {', '.join(KINDS)}, not {type(view).__name__}")


def models(view: View, options: PageOptions) -> dict[str, dict[str, Any]]:
    """Return the state of the page's models by their ids."""
    session = _traits(view.session) | {"hovered": None, "source": "python"}
    own = _traits(view)
    if view.has_trait("_color_columns"):
        own["_color_columns"] = _plain(view.color_by.for_page())
    if options.node is not None:
        node = node_ref(options.node, view.debug_run.graph, view.debug_run.tensors)
        session |= {"selected": [node], "entry": [node, 0], "slice": None}
        if "entry" in own:
            own["entry"] = [node, 0]
    title = options.title or view.debug_run.title
    found = {
        "run": {"title": title, "content_hash": "page"},
        "session": session,
        "view": own | {"run": "anywidget:run", "session": "anywidget:session"},
    }
    beside = run_beside(view)
    if beside is not None:
        found["run_b"] = {"title": beside.title, "content_hash": "page b"}
        found["session_b"] = _traits(view.session_b) | {"hovered": None, "source": "python"}
        found["view"] |= {"run_b": "anywidget:run_b", "session_b": "anywidget:session_b"}
    return found


def run_beside(view: Any) -> Derived | None:
    """Return the second run of a comparison; None of other views."""
    found: Derived | None = getattr(view, "run_beside", None)
    return found


def _traits(widget: Any) -> dict[str, Any]:
    """The widget's own traits whose values are plain, in the order of their names."""
    names = sorted(widget.trait_names(sync=True))
    found = {}
    for name in names:
        if name.startswith("_") or name in _NOT_TAKEN:
            continue
        value = _plain(getattr(widget, name))
        found[name] = value
    return found


def _plain(value: Any) -> Any:
    """The value as JSON; a number that JSON cannot write is None, bytes are a text."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode("ascii")}
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    json.dumps(value)
    return value
