"""Roles of nodes that nothing computes, and what they rest on, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.trust import Trust

if TYPE_CHECKING:
    from tvmdbg_widgets.model.graph.columns import GraphColumns

_BASES: Final = {Trust.BY_ORDER: "structure", Trust.BY_NAME: "name", Trust.ABSENT: "unknown"}
_PROGRAMS: Final = ("program", "edge")
_PARAMETER: Final = 1


def role_of(graph: GraphColumns, node: int) -> str:
    """Return the role of a node; empty for what runs."""
    if graph.kinds[node] > _PARAMETER:
        return ""
    planned = graph.planned_memory
    if planned is not None and node in planned.kept:
        return "mutable buffer"
    if planned is not None and node in planned.scratch:
        return "buffer without a start value"
    return "parameter" if graph.kinds[node] == _PARAMETER else "input"


def basis_of(graph: GraphColumns, node: int) -> str:
    """Return what the role of a node rests on; empty for what runs."""
    if graph.kinds[node] > _PARAMETER:
        return ""
    known = "program" if graph.form in _PROGRAMS else "params file"
    return _BASES.get(Trust(int(graph.parameter_trust[node])), known)


def roles_text(graph: GraphColumns) -> str:
    """Say what telling inputs from parameters rests on; empty where a file tells it, or one is all.

    ``"no params file tells inputs from parameters: 70 roles by structure, 1 unknown"``.
    """
    given = graph.parameter_trust[graph.kinds <= _PARAMETER]
    if len(given) == 1:
        return ""
    counts = {text: int((given == trust).sum()) for trust, text in _BASES.items()}
    if not any(counts.values()):
        return ""
    first, *rest = (
        f"{text}" if text == "unknown" else f"by {text}" for text, count in counts.items() if count
    )
    numbers = [count for count in counts.values() if count]
    told = [f"{counted(numbers[0], 'role')} {first}"]
    told += [f"{number:,} {text}" for number, text in zip(numbers[1:], rest, strict=True)]
    said = f"no params file tells inputs from parameters: {', '.join(told)}"
    if counts["unknown"]:
        said += ", counted as input"
    return said
