"""Times of some nodes as an execution trace that is read back with the same values.

Format and its reader's arithmetic: :mod:`tvmdbg_widgets.formats.tvm.trace`.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from tvmdbg_widgets.export.extract_graph import ExtractedPart, SmallGraphNode
from tvmdbg_widgets.formats.decimals import nanoseconds
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.timeline.timeline import Timeline

_STEPS = 64


def trace_of(parts: RunParts, chosen: ExtractedPart) -> tuple[dict[str, Any] | None, str]:
    """Make the trace of a part of a run.

    Slices stay where they were, so that nothing is rounded anew; where nodes left outside ran
    there are gaps. Without slices in node order, nodes are back to back.
    """
    timeline = parts.timeline
    if timeline is None:
        return None, ""
    operators = [place for place in chosen.places if not chosen.is_null(place)]
    unknown = [place.node for place in operators if math.isnan(timeline.node_ns[place.node])]
    if unknown:
        named = ", ".join(map(str, unknown[:8]))
        return None, f"There is no trace: the time of node {named} is not known."
    events: list[dict[str, Any]] = []
    end, inexact = 0.0, 0
    for place in chosen.places:
        duration = 0.0 if chosen.is_null(place) else float(timeline.node_ns[place.node])
        start = max(end, _start(timeline, place, end))
        first, last, exact = _pair(start, duration)
        inexact += not exact
        end = last * 1e3
        events += [_event(chosen, place, first, "B"), _event(chosen, place, last, "E")]
    problem = (
        f"{counted(inexact, 'time')} {agree(inexact, 'differs')} in their last digit."
        if inexact
        else ""
    )
    return {"displayTimeUnit": "ns", "traceEvents": events}, problem


def _start(timeline: Timeline, place: SmallGraphNode, end: float) -> float:
    """Where the node's only slice started, in nanoseconds; ``end`` where there is no such one."""
    slices = timeline.slices_of(place.node)
    if len(slices) != 1 or not timeline.synthetic:
        return end
    return float(timeline.slice_start_ns[slices[0]])


def _pair(start: float, duration: float) -> tuple[float, float, bool]:
    """Microseconds of a B and an E event, and whether their difference is read as the duration."""
    first, last = start / 1e3, (start + duration) / 1e3
    for steps in (2, _STEPS):
        begins, ends = _near(first, 2), _near(last, steps)
        read = nanoseconds([*begins, *ends])
        rest = np.zeros(len(read.whole)) if read.rest is None else read.rest
        at = len(begins)
        lasts = read.whole[at:] - read.whole[:at, None] + (rest[at:] - rest[:at, None])
        off = np.abs(lasts - duration)
        begin, end = divmod(int(off.argmin()), len(ends))
        if off[begin, end] == 0:
            return begins[begin], ends[end], True
    return begins[begin], ends[end], False


def _near(value: float, steps: int) -> list[float]:
    """The value and its neighbors, the nearest first."""
    found = [value]
    up = down = value
    for _ in itertools.repeat(None, steps):
        up, down = math.nextafter(up, math.inf), math.nextafter(down, -math.inf)
        found += [up, down] if down >= 0 else [up]
    return found


def _event(
    chosen: ExtractedPart, place: SmallGraphNode, time_us: float, phase: str
) -> dict[str, Any]:
    return {"ts": time_us, "tid": 1, "pid": 1, "name": chosen.name(place), "ph": phase}
