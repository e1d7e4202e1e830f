"""Counters along the timeline beside slices: memory in use, and counters of a trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.memory.planned import MemoryPlan, why_not
from tvmdbg_widgets.analysis.summary import how_to_get
from tvmdbg_widgets.model.base.numbers import bytes_text, counted, duration_text
from tvmdbg_widgets.model.base.slips import meant
from tvmdbg_widgets.model.base.text import data_frame
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.timeline.timeline import Timeline
from tvmdbg_widgets.model.timeline.words import (
    MEMORY_LEAVES_OUT,
    MEMORY_ON_SYNTHETIC,
    MEMORY_ON_WALL,
)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MEMORY = "memory in use"
BYTES = "B"


@dataclass(frozen=True, eq=False)
class Counter:
    """One quantity along the timeline: V steps.

    Attributes
    ----------
    name : str
    unit : str
        ``"B"`` for bytes; empty where the trace does not say.
    ns, values : float64 [V]
        A value holds from its time to that of the next.
    said : str
        Meaning and limits of the counter.
    nodes : int64 [V] or None
        Of memory in use: the node that runs from a time on, -1 at the end; else None.
    """

    name: str
    unit: str
    ns: Floats
    values: Floats
    said: str
    nodes: Ints | None = None

    def __len__(self) -> int:
        return len(self.ns)

    def at(self, ns: float) -> float:
        """Return the value at a time, NaN before the first."""
        place = int(np.searchsorted(self.ns, ns, side="right")) - 1
        return float(self.values[place]) if place >= 0 else float("nan")

    def __repr__(self) -> str:
        if not len(self):
            return f"Counter {self.name!r}: no values"
        low, high = self._text(float(self.values.min())), self._text(float(self.values.max()))
        first, last = duration_text(float(self.ns[0])), duration_text(float(self.ns[-1]))
        return (
            f"Counter {self.name!r}: {counted(len(self), 'value')} from {low} to {high}, "
            f"{first} to {last}"
        )

    def _text(self, value: float) -> str:
        return bytes_text(int(value)) if self.unit == BYTES else f"{value:.6g} {self.unit}".strip()


class RunCounters(Sequence[Counter]):
    """The counters of a run.

    Attributes
    ----------
    missing : str
        Why memory is not among them and how to get it; empty where it is.
    """

    def __init__(self, counters: Sequence[Counter], missing: str) -> None:
        self._counters = tuple(counters)
        self.missing = missing

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the counters."""
        return tuple(counter.name for counter in self)

    def __len__(self) -> int:
        return len(self._counters)

    @overload
    def __getitem__(self, index: int | str) -> Counter: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Counter, ...]: ...
    def __getitem__(self, index: int | str | slice) -> Counter | tuple[Counter, ...]:
        if not isinstance(index, str):
            return self._counters[index]
        named = next((counter for counter in self if counter.name == index), None)
        if named is None:
            raise KeyError(f"no counter is named {index!r:.80}{meant(index, self.names)}")
        return named

    def to_dataframe(self) -> Any:
        """Return one row per value as a ``pandas.DataFrame``."""
        nothing = np.zeros(0)
        return data_frame(
            {
                "name": [counter.name for counter in self for _ in range(len(counter))],
                "unit": [counter.unit for counter in self for _ in range(len(counter))],
                "ns": np.concatenate([nothing, *(counter.ns for counter in self)]),
                "value": np.concatenate([nothing, *(counter.values for counter in self)]),
            }
        )

    def __repr__(self) -> str:
        lines = [f"{counted(len(self), 'counter')} along the timeline"]
        for counter in self:
            lines.append(f"  {counter!r}")
            lines += [f"    {counter.said}"] if counter.said else []
        return "\n".join([*lines, *([f"  memory: {self.missing}"] if self.missing else [])])


def counters(run: RunParts, plan: Callable[[], MemoryPlan]) -> RunCounters:
    """Return memory in use by the storage plan, and the counters of a trace."""
    timeline = run.timeline
    if timeline is None:
        raise ValueError(how_to_get("timeline", run))
    series: list[Counter] = []
    missing = why_not(run)
    if not missing:
        memory = _memory_in_use(timeline, plan())
        if memory is None:
            missing = "No slice belongs to a node that runs: when memory is in use is unknown."
        else:
            series.append(memory)
    return RunCounters([*series, *_trace_counters(timeline)], missing)


def _memory_in_use(timeline: Timeline, plan: MemoryPlan) -> Counter | None:
    step = np.full(max(timeline.num_nodes, plan.graph.num_nodes) + 1, -1)
    step[plan.order] = np.arange(len(plan.order))
    own = timeline.track_run[timeline.slice_track] == 0  # of two runs the graph is the first's
    drawn = np.isfinite(timeline.rows.self_ns) & own
    slices = np.flatnonzero(drawn & (step[timeline.slice_node] >= 0))
    if not len(slices):
        return None
    slices = slices[np.argsort(timeline.slice_start_ns[slices], kind="stable")]
    ends = (timeline.slice_start_ns + timeline.slice_duration_ns)[slices]
    values = plan.live[step[timeline.slice_node[slices]]].astype(np.float64)
    meaning = MEMORY_ON_SYNTHETIC if timeline.synthetic else MEMORY_ON_WALL
    return Counter(
        MEMORY,
        BYTES,
        np.concatenate((timeline.slice_start_ns[slices], [ends.max()])),
        np.concatenate((values, values[-1:])),
        f"{meaning} {MEMORY_LEAVES_OUT}",
        np.concatenate((timeline.slice_node[slices].astype(np.int64), [-1])),
    )


def _trace_counters(timeline: Timeline) -> Iterator[Counter]:
    if timeline.extras is None:
        return
    given = timeline.extras.counters
    several = len({device for device in given.devices if device}) > 1
    series: dict[tuple[str, str], int] = {}
    for pair in zip(given.devices, given.names, strict=True):
        series[pair] = series.get(pair, 0) + 1
    for k, (device, name) in enumerate(zip(given.devices, given.names, strict=True)):
        first, last = int(given.offsets[k]), int(given.offsets[k + 1])
        called = f"{name}: {given.series[k]}" if series[device, name] > 1 else name
        yield Counter(
            f"{device} · {called}" if several and device else called,
            "",
            given.ns[first:last],
            given.values[first:last],
            "",
        )
