"""Looks of a graph view: what is shown and from where, kept to go back to; as plain data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.model.base.choice import fields_of
from tvmdbg_widgets.model.graph.isolation import checked_isolation
from tvmdbg_widgets.model.join.refs import node_ref
from tvmdbg_widgets.widgets.traits import named_in

Bookmark: TypeAlias = dict[str, Any]

#: Traits of a graph view that a step back takes back.
STEP_TRAITS = (
    *("isolate", "hidden", "focus", "hops", "fold_parameters", "direction"),
    *("open_groups", "grouped", "wrapped"),
)
#: What each step of the history tells, also where it is as before.
ALWAYS = ("camera", "selected")
#: js/src/graph/stage/history.ts keeps as many.
MOST_STEPS = 50
MOST_SELECTED = 100
MOST_BOOKMARKS = 200
NAME_LENGTH = 200
_SCALES = (1e-4, 3.0)
_CAMERA = ("node", "dx", "dy", "scale")


def checked_camera(run: Derived, given: object) -> dict[str, Any] | None:
    """Return the checked camera: node, offset in pixels of the graph, scale."""
    if given is None:
        return None
    fields = fields_of(given, "camera", _CAMERA)
    found: dict[str, Any] = {"node": node_ref(fields.get("node"), *named_in(run))}
    for name, default in (("dx", 0.0), ("dy", 0.0), ("scale", 1.0)):
        value = fields.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise TypeError(f"{name} of a camera must be a number, not {value!r}")
        if not math.isfinite(value):
            raise ValueError(f"{name} of a camera must be finite, not {value!r}")
        found[name] = float(value)
    found["scale"] = min(_SCALES[1], max(_SCALES[0], found["scale"]))
    return found


def checked_queries(given: Iterable[object]) -> list[str]:
    """Return queries that hide nodes, each once, without blanks around."""
    from tvmdbg_widgets.analysis.graph.hidden import checked_query

    return list(dict.fromkeys(checked_query(each) for each in given))


def checked_bookmark(run: Derived, given: object, traits: Sequence[str]) -> Bookmark:
    """Return a look with only what it may hold, checked as far as the graph is concerned."""
    look = fields_of(given, "a saved view", (*traits, *ALWAYS))
    if "isolate" in look:
        look["isolate"] = checked_isolation(run.graph, look["isolate"])
    if "camera" in look:
        look["camera"] = checked_camera(run, look["camera"])
    if "hidden" in look:
        look["hidden"] = checked_queries(look["hidden"])
    if "selected" in look:
        look["selected"] = [node_ref(node, *named_in(run)) for node in look["selected"]]
    return look


def checked_bookmarks(run: Derived, given: object, traits: Sequence[str]) -> dict[str, Bookmark]:
    """Return looks by name."""
    if not isinstance(given, Mapping):
        raise TypeError(f"bookmarks must map names to saved views, not {type(given).__name__}")
    if len(given) > MOST_BOOKMARKS:
        raise ValueError(f"at most {MOST_BOOKMARKS} bookmarks, found {len(given)}")
    found = {}
    for name, look in given.items():
        try:
            found[checked_name(name)] = checked_bookmark(run, look, traits)
        except (TypeError, ValueError, LookupError) as problem:
            raise type(problem)(f"bookmark {name!r}: {problem.args[0]}") from None
    return found


def checked_name(name: object) -> str:
    """Return the name of a bookmark without blanks around it."""
    if not isinstance(name, str):
        raise TypeError(f"a bookmark's name must be a str, not {type(name).__name__}")
    found = name.strip()
    if not 0 < len(found) <= NAME_LENGTH:
        raise ValueError(f"a bookmark's name must have 1 to {NAME_LENGTH} characters")
    return found


def checked_history(run: Derived, given: object, traits: Sequence[str]) -> dict[str, Any]:
    """Return ``{"steps", "at"}``: looks, each told as its difference to the one before."""
    fields = fields_of(given, "history", ("steps", "at"))
    steps = [checked_bookmark(run, each, traits) for each in fields.get("steps", ())][-MOST_STEPS:]
    at = fields.get("at", 0)
    if isinstance(at, bool) or not isinstance(at, int) or not 0 <= at < max(1, len(steps)):
        raise ValueError(f"there is no step {at!r} among {len(steps)}")
    return {"steps": steps, "at": at} if steps else {}


def resolved(steps: Sequence[Bookmark], at: int) -> Bookmark:
    """Return the whole look of a step."""
    look: Bookmark = {}
    for step in steps[: at + 1]:
        look |= step
    return look


def pushed(history: Mapping[str, Any], before: Bookmark, now: Bookmark) -> dict[str, Any]:
    """Return the history with one more step, those that were gone back from left out."""
    steps = list(history.get("steps", ()))[: history.get("at", 0) + 1]
    if steps:
        whole = resolved(steps, len(steps) - 1)
        steps[-1] = steps[-1] | {k: v for k, v in before.items() if v != whole.get(k, _NONE)}
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
    """Return the history with what is seen now as its present step, as a new one where it must."""
    steps, at = list(history.get("steps", ())), history.get("at", 0)
    if not steps:
        return {"steps": [now], "at": 0}
    seen = resolved(steps, at)
    if any(value != seen.get(name) for name, value in now.items() if name not in ALWAYS):
        return pushed(history, seen, now)
    steps[at] = steps[at] | {name: now[name] for name in ALWAYS}
    return {"steps": steps, "at": at}


_NONE = object()
