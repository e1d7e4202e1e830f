"""Two runs compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tvmdbg_widgets.model.base.slips import public
from tvmdbg_widgets.run.debug_run import DebugRun

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.compare import Comparison
    from tvmdbg_widgets.analysis.compare_times import TimeComparison


@public
def compare(a: DebugRun, b: DebugRun, titles: Sequence[str] | None = None) -> Comparison:
    """Compare two runs of one network: what differs between their graphs, and both times.

    ::

        comparison = tvmdbg.compare(tvmdbg.open("plain"), tvmdbg.open("unfused"))
        comparison                     # ranked and grouped by kind
        comparison.matching.b_of(12)
        tvmdbg.ComparisonView(a, b)    # side by side, linked

    Times are two numbers; :func:`tvmdbg_widgets.compare_times` tells which differ by more than
    noise.

    Parameters
    ----------
    a, b : DebugRun
    titles : two str, optional
        What to call them; their own titles where left out, with the folders that tell them apart
        where these are the same.

    Raises
    ------
    ValueError
        One of them has no graph, or there are not two titles.
    TypeError
        One of them is no run.
    """
    from tvmdbg_widgets.analysis.compare import compare as of_parts

    _runs(a, b)
    return of_parts(a.parts, b.parts, titles)


@public
def compare_times(
    a: DebugRun, b: DebugRun, titles: Sequence[str] | None = None, *, warm_up: int = 0
) -> TimeComparison:
    """Compare the times of two runs of one network, operator by operator.

    ::

        a, b = tvmdbg.open("plain"), tvmdbg.open("unfused")
        times = tvmdbg.compare_times(a, b)
        times                          # by how much B is slower, and where
        times.by("kind")
        times[0].why                   # p value, repeats, or why nothing can be said
        tvmdbg.Flamechart(times)       # the slices of both, one above the other
        tvmdbg.GraphView(a).color_by(times)

    Operators are aligned as by :func:`tvmdbg_widgets.compare`: a fused function is compared with
    the sum of its parts, repeat by repeat. Whether a difference is more than noise is tested with
    the Mann-Whitney test on the repeats (exact for small samples), corrected for the number of
    operators by Benjamini and Hochberg; where the repeats can show nothing, that is said and
    nothing is claimed. Where a run has no graph (a table, a trace of any program), operators are
    aligned by their names, and that is said: of a trace the slices of a name are its repeats. All
    rows add up to the difference of the sums of both runs.

    Parameters
    ----------
    a, b : DebugRun
        Both with times.
    titles : two str, optional
        As of :func:`tvmdbg_widgets.compare`.
    warm_up : int
        Leave out so many of the first repeats of every node, on both sides.

    Raises
    ------
    ValueError
        One of them has no times (the message says how to get them), no name is in both where one
        has no graph, or there are not two titles.
    TypeError
        One of them is no run.
    """
    _runs(a, b)
    return a.compare_times(b, titles, warm_up=warm_up)


def _runs(*runs: object) -> None:
    for run in runs:
        if not isinstance(run, DebugRun):
            problem = f"runs are compared, not {type(run).__name__}: pass tvmdbg_widgets.open(path)"
            raise TypeError(problem)
