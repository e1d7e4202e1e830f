"""Random timelines on a grid of steps, and the truth about them by looking at every step."""

import math
from collections import defaultdict

import numpy as np
from hypothesis import strategies as st

from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.timeline.builders import from_events
from tvmdbg_widgets.model.timeline.timeline import Timeline

#: Times are multiples of this, far above the tolerance for rounding.
STEP = 10.0
TRACKS = 3

Span = tuple[int, int, int, int]

#: Start, length, track and name of slices: they nest, overlap, and some have no duration.
spans = st.lists(
    st.tuples(
        st.integers(0, 24), st.integers(0, 12), st.integers(0, TRACKS - 1), st.integers(0, 4)
    ),
    max_size=24,
)
ranges = st.tuples(st.integers(-2, 30), st.integers(1, 20)).map(lambda r: (r[0], r[0] + r[1]))


def timeline(given: list[Span]) -> Timeline:
    """Slices by start, the longer first."""
    rows = sorted(given, key=lambda each: (each[0], -each[1]))
    return from_events(
        StringColumn(tuple(f"f{i}" for i in range(5)), [name for *_, name in rows]),
        np.array([start for start, *_ in rows], np.float64) * STEP,
        np.array([length for _, length, *_ in rows], np.float64) * STEP,
        np.array([track for _, _, track, _ in rows], np.int32),
        tuple(f"thread {i}" for i in range(TRACKS)),
        graph=None,
        source="t.json",
    )


def parts(found: Timeline | None) -> RunParts:
    """A run of a timeline alone."""
    return RunParts(title="t", timeline=found)


class Steps:
    """Every slice as the set of steps in which it runs and none inside it."""

    def __init__(self, found: Timeline) -> None:
        self.found = found
        count = found.num_slices
        self.begin = (found.slice_start_ns / STEP).astype(int).tolist()
        length = (found.slice_duration_ns / STEP).astype(int).tolist()
        self.end = [a + b for a, b in zip(self.begin, length, strict=True)]
        self.own = [set(range(self.begin[i], self.end[i])) for i in range(count)]
        for i, outer in enumerate(found.rows.parent.tolist()):
            if outer >= 0:
                self.own[outer] -= set(range(self.begin[i], self.end[i]))

    def touching(self, low: int, high: int) -> list[int]:
        """Slices that share a step with [low, high), or lie in it without any."""
        return [
            i
            for i in range(self.found.num_slices)
            if (self.begin[i] < high and self.end[i] > low and self.end[i] > self.begin[i])
            or (self.begin[i] == self.end[i] and low <= self.begin[i] <= high)
        ]

    def own_in(self, slice_: int, low: int, high: int) -> float:
        """Nanoseconds of the slice's own steps in the range."""
        return STEP * len(self.own[slice_] & set(range(low, high)))

    def whole(self, low: int, high: int) -> list[float]:
        """Durations of the slices that lie in the range and have one."""
        return [STEP * (self.end[i] - self.begin[i]) for i in self.inside(low, high)]

    def inside(self, low: int, high: int) -> list[int]:
        """Slices that lie in the range and have a duration."""
        return [i for i in self.touching(low, high) if low <= self.begin[i] < self.end[i] <= high]

    def by_name(self, low: int, high: int) -> dict[str, tuple[int, float, list[float]]]:
        """Slices, own time, and whole durations of each name."""
        count: dict[str, int] = defaultdict(int)
        own: dict[str, float] = defaultdict(float)
        whole: dict[str, list[float]] = defaultdict(list)
        for i in self.touching(low, high):
            name = self.found.slice_names[i]
            count[name] += 1
            own[name] += self.own_in(i, low, high)
        for i in self.inside(low, high):
            whole[self.found.slice_names[i]].append(STEP * (self.end[i] - self.begin[i]))
        return {name: (count[name], own[name], whole[name]) for name in count}

    def busy(self, track: int, low: int, high: int) -> list[bool]:
        """Whether something runs on a track, step by step."""
        return [
            any(
                self.begin[i] <= step < self.end[i]
                for i in range(self.found.num_slices)
                if self.found.slice_track[i] == track
            )
            for step in range(low, high)
        ]


def same(found: float, expected: float) -> bool:
    """Equal, or neither is a number."""
    return found == expected or (math.isnan(found) and math.isnan(expected))
