"""Numbers for all that leads to a node and all that follows from it, the same on both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tvmdbg_widgets.analysis.matching.side import Side, Table

_NONE = -1
#: More than there are roles of operands.
_ROLES = 1 << 32


class Cones(NamedTuple):
    """Of each unmatched node, a number that says what its cone looks like (int [N] each).

    A cone ends at matched nodes.
    """

    up: list[int]
    down: list[int]


def cones(side: Side, table: Table) -> Cones:
    """Return the cones of one side; equal cones have equal numbers where the table is shared."""
    nodes = side.unmatched()
    return Cones(_up(side, nodes, table), _down(side, nodes, table))


def _up(side: Side, nodes: list[int], table: Table) -> list[int]:
    # A source of -1, or one that comes later because of a cycle, reads as the last item.
    colors = [*side.anchor, _NONE]
    color_of = colors.__getitem__
    roles, sources, number = side.roles, side.sources, table.setdefault
    for node in nodes:
        told = roles[node], *map(color_of, sources[node])
        colors[node] = number(told, len(table)) + 1
    return colors


def _down(side: Side, nodes: list[int], table: Table) -> list[int]:
    colors = [*side.anchor, _NONE]
    given, readers, number = side.given, side.readers, table.setdefault
    for node in reversed(nodes):
        seen = [colors[reader] * _ROLES + role for reader, role in readers[node]]
        if len(seen) > 1:
            seen.sort()
        told = given[node], *seen
        colors[node] = number(told, len(table)) + 1
    return colors


def once(nodes: Iterable[int], colors: list[int], usable: list[bool]) -> dict[int, int]:
    """Return the node of each color that only one of the nodes has."""
    found: dict[int, int] = {}
    for node in nodes:
        if usable[node]:
            color = colors[node]
            found[color] = node if color not in found else _NONE
    return {color: node for color, node in found.items() if node != _NONE}


def unique_pairs(a: dict[int, int], b: dict[int, int]) -> dict[int, int]:
    """Return for nodes of `a` the node of `b` that has the same color."""
    return {node: b[color] for color, node in a.items() if color in b}
