"""Two runs compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.run.debug_run import DebugRun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.analysis.compare import Comparison


def compare(a: DebugRun, b: DebugRun, titles: Sequence[str] | None = None) -> Comparison:
    """Compare two runs of one network: what differs between their graphs, and both times.

    ::

        comparison = tvmdbg.compare(tvmdbg.open("plain"), tvmdbg.open("unfused"))
        comparison                     # ranked and grouped by kind
        comparison.matching.b_of(12)
        tvmdbg.ComparisonView(a, b)    # side by side, linked

    Times are two numbers; whether they differ by more than noise is not said here.

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

    for run in (a, b):
        if not isinstance(run, DebugRun):
            problem = f"runs are compared, not {type(run).__name__}: pass tvmdbg_widgets.open(path)"
            raise TypeError(problem)
    return of_parts(a.parts, b.parts, titles)
