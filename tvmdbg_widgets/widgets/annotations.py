"""What a session is told of its run by hand: nodes by id or name, notes, the steps of a tour."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.model.base.choice import meant, one_of
from tvmdbg_widgets.model.join.refs import entry_ref, node_ref
from tvmdbg_widgets.widgets.traits import named_in

NodeRef: TypeAlias = int | str
StepLike: TypeAlias = (
    tuple[NodeRef | tuple[NodeRef, int] | list[NodeRef], str] | Mapping[str, object]
)

#: Longest text of a note, and of a step of a tour, in characters.
NOTE_LENGTH = 2_000
STEP_LENGTH = 10_000
MOST_NOTES = 10_000
MOST_STEPS = 1_000
_VIEWS = ("findings", "graph", "tensor", "timeline")
_FIELDS = ("text", "node", "nodes", "entry", "slice", "time_range", "view")


def plain_text(text: object, most: int) -> str:
    """Return a text without blanks around it."""
    if not isinstance(text, str):
        raise TypeError(f"a text must be a str, not {type(text).__name__}")
    found = text.strip()
    if len(found) > most:
        raise ValueError(f"a text has at most {most:,} characters, this one has {len(found):,}")
    return found


def checked_notes(run: Derived | None, notes: object) -> dict[str, str]:
    """Return notes by node id as text, in node order; empty ones are left out."""
    if not isinstance(notes, Mapping):
        raise TypeError(f"notes must map nodes to texts, not {type(notes).__name__}")
    if len(notes) > MOST_NOTES:
        raise ValueError(f"at most {MOST_NOTES:,} notes, not {len(notes):,}")
    found: dict[int, str] = {}
    for node, text in notes.items():
        plain = isinstance(node, str) and node.isascii() and node.isdecimal()
        checked = plain_text(text, NOTE_LENGTH)
        if checked:
            found[node_ref(int(node) if plain else node, *named_in(run))] = checked
    return {str(node): found[node] for node in sorted(found)}


def checked_tour(run: Derived | None, steps: object) -> list[dict[str, Any]]:
    """Return checked steps: ``{"text", "nodes", "entry", "slice", "time_range", "view"}``."""
    if isinstance(steps, str | bytes | Mapping) or not isinstance(steps, Iterable):
        raise TypeError('a tour is a list of steps such as (38, "The first Inf.")')
    given = list(steps)
    if len(given) > MOST_STEPS:
        raise ValueError(f"a tour has at most {MOST_STEPS:,} steps, this one has {len(given):,}")
    found = []
    for number, step in enumerate(given, 1):
        try:
            found.append(_step(run, step))
        except (TypeError, ValueError, LookupError) as problem:
            told = problem.args[0] if problem.args else problem
            raise type(problem)(f"step {number} of {len(given)}: {told}") from None
    return found


def _step(run: Derived | None, step: object) -> dict[str, Any]:
    fields = dict(step) if isinstance(step, Mapping) else _of_pair(step)
    unknown = [str(name) for name in fields if name not in _FIELDS]
    if unknown:
        raise TypeError(f"a step has no field {unknown[0]!r:.80}{meant(unknown[0], _FIELDS)}")
    if "text" not in fields:
        raise TypeError('no text; a step says something: dict(text="…", node=38)')
    text = plain_text(fields["text"], STEP_LENGTH)
    given = fields.get("entry")
    entry = (given, 0) if isinstance(given, int | str) else _pair(given, "entry", "(node, output)")
    piece = _pair(fields.get("slice"), "slice", "(node, occurrence)")
    checked_entry = None if entry is None else entry_ref(entry, *named_in(run))
    checked_slice = None if piece is None else _slice(run, *piece)
    nodes = [
        node_ref(node, *named_in(run)) for node in _several(fields.get("nodes"), fields.get("node"))
    ]
    for pair in (checked_slice, checked_entry):
        if pair is not None and pair[0] not in nodes:
            nodes.append(pair[0])
    view = fields.get("view")
    if view is not None:
        one_of("view", view, _VIEWS)
    if checked_entry is None and nodes:
        checked_entry = (nodes[-1], 0)
    return {
        "text": text,
        "nodes": list(dict.fromkeys(nodes)),
        "entry": None if checked_entry is None else list(checked_entry),
        "slice": None if checked_slice is None else list(checked_slice),
        "time_range": _range(fields.get("time_range")),
        "view": view,
    }


def _of_pair(step: object) -> dict[str, object]:
    if isinstance(step, str):
        return {"text": step}
    if not isinstance(step, tuple | list) or len(step) != 2:
        raise TypeError(
            f'{step!r} is not a step; write (38, "text"), ((38, 1), "text") or '
            'dict(text="text", node=38, view="tensor")'
        )
    what, text = step
    if isinstance(what, tuple):
        return {"text": text, "entry": what}
    return {"text": text, "nodes": what if isinstance(what, list) else [what]}


def _several(nodes: object, node: object) -> list[object]:
    found: list[object] = []
    for each in (nodes, node):
        if isinstance(each, list | tuple | set | frozenset | range):
            found.extend(each)
        elif each is not None:
            found.append(each)
    return found


def _pair(value: object, name: str, form: str) -> tuple[object, object] | None:
    if value is None:
        return None
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
        raise TypeError(f"{name} must be {form}, not {value!r}")
    return value[0], value[1]


def _slice(run: Derived | None, node: object, occurrence: object) -> tuple[int, int]:
    if isinstance(occurrence, bool) or not hasattr(occurrence, "__index__"):
        raise TypeError(f"a slice must be (node, occurrence), not ({node!r}, {occurrence!r})")
    found = (node_ref(node, *named_in(run)), operator.index(occurrence))
    timeline = run.timeline if run is not None else None
    if timeline is not None:
        count = len(timeline.slices_of(found[0]))
        if not 0 <= found[1] < count:
            raise IndexError(f"no slice {found[1]} of node {found[0]}, which has {count}")
    return found


def _range(value: object) -> list[float] | None:
    pair = _pair(value, "time_range", "(start, end) in nanoseconds")
    if pair is None:
        return None
    if not all(isinstance(each, int | float) and math.isfinite(each) for each in pair):
        raise TypeError(f"time_range must be two numbers in nanoseconds, not {value!r}")
    start, end = float(pair[0]), float(pair[1])  # type: ignore[arg-type]
    if not start < end:
        raise ValueError(f"time_range must end after it starts, not {value!r}")
    return [start, end]
