"""Two runs compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.run.debug_run import DebugRun

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.compare import Comparison


def compare(a: DebugRun, b: DebugRun) -> Comparison:
    """Compare two runs of one network: what differs between their graphs, and both times.

    ::

        comparison = tvmdbg.compare(tvmdbg.open("plain"), tvmdbg.open("unfused"))
        comparison                     # ranked and grouped by kind
        comparison.matching.b_of(12)
        tvmdbg.ComparisonView(a, b)    # side by side, linked

    Times are two numbers; whether they differ by more than noise is not said here.

    Raises
    ------
    ValueError
        One of them has no graph.
    TypeError
        One of them is no run.
    """
    from tvmdbg_widgets.analysis.compare import compare as of_parts

    for run in (a, b):
        if not isinstance(run, DebugRun):
            problem = f"runs are compared, not {type(run).__name__}: pass tvmdbg_widgets.open(path)"
            raise TypeError(problem)
    return of_parts(a.parts, b.parts)
