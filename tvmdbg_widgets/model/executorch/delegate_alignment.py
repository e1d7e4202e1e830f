"""Which nodes of a delegate's graph its runtime events are of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

EXACT: Final = "exact"
ORDER: Final = "order"
AMBIGUOUS: Final = "ambiguous"
NONE: Final = "none"


@dataclass(frozen=True, slots=True)
class EventMatch:
    """What one event is of.

    Attributes
    ----------
    nodes : tuple of int
        Indexes of the nodes that the event covers, ascending; empty where it is not assigned.
    main : int or None
        The one of them whose operator the event's name says.
    match : str
        ``"exact"``, ``"order"`` (inferred from the order of the events), ``"ambiguous"`` or
        ``"none"``.
    reason : str
        Why it is not exact, in one clause; empty where it is.
    candidates : tuple of int
        The nodes that an ambiguous one may be of.
    """

    nodes: tuple[int, ...]
    main: int | None
    match: str
    reason: str
    candidates: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Alignment:
    """The events of one call of a delegate beside the nodes of its graph.

    Attributes
    ----------
    events : tuple of EventMatch
        One per event, in their order.
    cost : int
        How far the events are from what the graph foretells; 0 where they are as foretold.
    taken_in : Mapping of int to tuple of int
        Node without an event of its own → the nodes whose events it is in.
    idle : tuple of int
        Nodes that have no operator at run time.
    missing : tuple of int
        Nodes that must have an event and have none.
    fits : bool
        False where the events are not those of this graph.
    left_over : int
        Events of no node, and nodes without the event that they must have.
    events_of : Mapping of int to tuple of int
        Node → positions of the events whose main node it is.
    """

    events: tuple[EventMatch, ...]
    cost: int
    taken_in: Mapping[int, tuple[int, ...]]
    idle: tuple[int, ...]
    missing: tuple[int, ...]
    fits: bool
    events_of: Mapping[int, tuple[int, ...]]
    left_over: int = 0

    @classmethod
    def unknown(cls, events: int, reason: str) -> Alignment:
        """Return that of events of which no node is known."""
        return cls((EventMatch((), None, NONE, reason),) * events, 0, {}, (), (), True, {})
