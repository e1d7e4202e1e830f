"""Small timelines to try: nested, overlapping, and of no duration."""

import numpy as np
from hypothesis import strategies as st

from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.timeline.builders import from_events
from tvmdbg_widgets.model.timeline.timeline import Timeline

#: Start, duration and track, nanoseconds.
Span = tuple[float, float, int]


def timeline(
    given: list[Span],
    names: tuple[str, ...] = ("f0", "f1", "f2"),
    tracks: int = 2,
    step: float = 1.0,
) -> Timeline:
    """Slices as they stand in the list, times in steps, with these names in turn."""
    return from_events(
        StringColumn.from_strings(names[i % len(names)] for i in range(len(given))),
        np.array([start for start, _, _ in given], np.float64) * step,
        np.array([length for _, length, _ in given], np.float64) * step,
        np.array([track for _, _, track in given], np.int32),
        tuple(f"thread {i}" for i in range(tracks)),
        graph=None,
        source="t.json",
    )


def spans() -> st.SearchStrategy[list[Span]]:
    """Slices of whole nanoseconds, crowded so that many share time."""
    start = st.integers(0, 60).map(lambda at: 4.0 * at)
    length = st.sampled_from([0.0, 4.0, 8.0, 20.0, 100.0])
    return st.lists(st.tuples(start, length, st.integers(0, 1)), max_size=25)
