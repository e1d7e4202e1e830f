"""What a Chrome trace holds beside intervals: counters, flows, and counts of all the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt

    from tvmdbg_widgets.model.strings import StringColumn


@dataclass(frozen=True, eq=False)
class TraceExtras:
    """Events that the flamechart does not draw.

    Attributes
    ----------
    counter_names : StringColumn[C]
        One row a counter event (phase C).
    counter_ns : float64[C]
        Its time, counted as the slices' starts are.
    counter_values : tuple of mapping of str to float
        Its series.
    flow_ids : tuple of str
        One a flow event (phases s, t, f): category and id.
    flow_phases : tuple of str
    flow_ns : float64[F]
    flow_tracks : tuple of str
    counts : mapping of str to int
        Events of the file by phase, all of them.
    """

    counter_names: StringColumn
    counter_ns: npt.NDArray[np.float64]
    counter_values: tuple[Mapping[str, float], ...]
    flow_ids: tuple[str, ...]
    flow_phases: tuple[str, ...]
    flow_ns: npt.NDArray[np.float64]
    flow_tracks: tuple[str, ...]
    counts: Mapping[str, int]

    def __repr__(self) -> str:
        told = ", ".join(f"{count:,} {phase}" for phase, count in sorted(self.counts.items()))
        return (
            f"TraceExtras: {len(self.counter_values):,} counter and {len(self.flow_ids):,} flow "
            f"events; events by phase: {told or 'none'}"
        )
