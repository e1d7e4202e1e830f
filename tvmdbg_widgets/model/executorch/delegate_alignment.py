"""Which nodes of a delegate's graph its runtime events are of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

EXACT: Final = "exact"
ORDER: Final = "order"
AMBIGUOUS: Final = "ambiguous"
NONE: Final = "none"


@dataclass(frozen=True, slots=True)
class EventMatch:
    """What one event is of."""

    nodes: tuple[int, ...]
    main: int | None
    match: str
    reason: str
    candidates: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Alignment:
    """The events of one call of a delegate beside the nodes of its graph."""

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
