"""What a trace holds beside intervals: counters, ends of flows, and counts of all events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.frames import data_frame
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.strings import StringColumn


@dataclass(frozen=True, eq=False)
class Counters:
    """K series of V values in time, as columns."""

    names: tuple[str, ...]
    series: tuple[str, ...]
    devices: tuple[str, ...]
    offsets: npt.NDArray[np.int64]
    ns: npt.NDArray[np.float64]
    values: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Counters: {counted(len(self.values), 'value')} of {counted(len(self), 'series')}"

    def to_dataframe(self) -> Any:
        """One row per value (``pandas.DataFrame``); ImportError without pandas."""
        each = np.repeat(np.arange(len(self)), np.diff(self.offsets)).tolist()
        return data_frame(
            {
                "name": [self.names[k] for k in each],
                "series": [self.series[k] for k in each],
                "device": [self.devices[k] for k in each],
                "ns": self.ns,
                "value": self.values,
            }
        )


@dataclass(frozen=True, eq=False)
class FlowEnds:
    """F events that arrows between slices begin, pass and end at, in the order of time."""

    flow: npt.NDArray[np.int32]
    phase: npt.NDArray[np.uint8]
    ns: npt.NDArray[np.float64]
    track: npt.NDArray[np.int32]
    encloses: npt.NDArray[np.bool_]
    names: StringColumn
    slices: npt.NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self.flow)

    @cached_property
    def from_slice(self) -> npt.NDArray[np.bool_]:
        """Which ends a slice tells of itself (bool[F])."""
        if self.slices is None:
            return np.zeros(len(self), np.bool_)
        return self.slices >= 0


@dataclass(frozen=True, eq=False)
class TraceExtras:
    """What a trace holds beside its slices."""

    counters: Counters
    flow_ends: FlowEnds
    counts: Mapping[str, int]

    @cached_property
    def flows(self) -> int:
        """How many flows there are."""
        return len(np.unique(self.flow_ends.flow))

    def __repr__(self) -> str:
        told = ", ".join(f"{count:,} {phase}" for phase, count in sorted(self.counts.items()))
        return (
            f"TraceExtras: {counted(len(self.counters.values), 'value')} of "
            f"{counted(len(self.counters), 'counter series')}, {counted(self.flows, 'flow')}; "
            f"events by phase: {told or 'none'}"
        )
