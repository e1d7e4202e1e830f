"""One slice of a timeline."""

from __future__ import annotations

from dataclasses import dataclass

from tvmdbg_widgets.model.base.numbers import duration_text
from tvmdbg_widgets.model.base.trust import Trust


@dataclass(frozen=True, slots=True)
class Slice:
    """One timed interval. Times in nanoseconds; ``node`` is -1 where it is unknown."""

    index: int
    name: str
    node: int
    occurrence: int
    start_ns: float
    duration_ns: float
    track: str
    trust: Trust
    rounding_ns: float = 0.0

    @property
    def end_ns(self) -> float:
        """``start_ns + duration_ns``."""
        return self.start_ns + self.duration_ns

    def __repr__(self) -> str:
        node = "no node" if self.node < 0 else f"node {self.node} ({self.trust.label})"
        took = duration_text(self.duration_ns, self.rounding_ns)
        return (
            f"Slice {self.index}: {self.name!r}, {took} from {duration_text(self.start_ns)} "
            f"on {self.track}; {node}"
        )
