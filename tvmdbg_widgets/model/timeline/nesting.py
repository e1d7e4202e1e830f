"""Slices inside other slices of their track: what of a slice's time is its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.timeline.columns import TimelineColumns
from tvmdbg_widgets.model.timeline.rows import RowKind, TimelineRows


@dataclass(frozen=True, eq=False)
class Nesting:
    """How the slices of a timeline lie in each other; see :class:`TimelineRows`."""

    self_ns: npt.NDArray[np.float64]
    nested: tuple[bool, ...]
    overlapping: tuple[bool, ...]


def nesting(timeline: TimelineColumns, rows: TimelineRows) -> Nesting:
    """Tell what lies in what, by track."""
    nested = np.zeros(len(timeline.tracks), np.bool_)
    nested[timeline.slice_track[rows.parent >= 0]] = True
    overlapping = np.zeros(len(timeline.tracks), np.bool_)
    overlapping[rows.track[rows.kind == RowKind.OVERLAP]] = True
    return Nesting(rows.self_ns, tuple(nested.tolist()), tuple(overlapping.tolist()))
