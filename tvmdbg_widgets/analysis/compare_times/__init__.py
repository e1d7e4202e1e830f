"""Comparison of the times of two runs, operator by operator."""

from __future__ import annotations

from collections.abc import Sequence

from tvmdbg_widgets.analysis.compare_times.by_name import by_name
from tvmdbg_widgets.analysis.compare_times.changes import TimeChange, TimeChanges
from tvmdbg_widgets.analysis.compare_times.result import TimeComparison
from tvmdbg_widgets.analysis.compare_times.verdicts import TimeVerdict
from tvmdbg_widgets.analysis.differences import checked_titles
from tvmdbg_widgets.analysis.matching import match
from tvmdbg_widgets.analysis.summary import how_to_get
from tvmdbg_widgets.model.parts import RunParts

__all__ = ["TimeChange", "TimeChanges", "TimeComparison", "TimeVerdict", "compare_times"]


def compare_times(
    a: RunParts, b: RunParts, titles: Sequence[str] | None = None, *, warm_up: int = 0
) -> TimeComparison:
    """Compare the times of two runs; see :func:`tvmdbg_widgets.compare_times`."""
    if a.timeline is None or b.timeline is None:
        lacking = a if a.timeline is None else b
        raise ValueError(f"{lacking.title}: {how_to_get('timeline', lacking)}")
    if warm_up < 0:
        raise ValueError(f"warm_up is a number of repeats, found {warm_up}")
    titles = checked_titles(a, b, titles)
    if a.graph is not None and b.graph is not None:
        matching = match(a.graph, b.graph)
        return TimeComparison(a, b, matching, titles, warm_up=warm_up)
    aligned = by_name(a, b)
    return TimeComparison(
        aligned.a,
        aligned.b,
        aligned.matching,
        titles,
        warm_up=warm_up,
        times=(aligned.times_a, aligned.times_b),
        aligned_by=aligned.aligned_by,
        hidden=any(each.shared and each.shared.hidden for each in (a.timeline, b.timeline)),
    )
