"""Two runs as one: what every view shows of a comparison of times."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.run.debug_run import DebugRun

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.compare_times import TimeComparison
    from tvmdbg_widgets.widgets.session import Session


class ComparedRun(DebugRun):
    """Graph and tensors of one run, and the slices of two.

    Its views follow those of the first run, whose nodes they show.

    Parameters
    ----------
    compared : TimeComparison
    a, b : DebugRun
        The runs it was made of.

    Attributes
    ----------
    compared : TimeComparison
    run_a, run_b : DebugRun
    """

    def __init__(self, compared: TimeComparison, a: DebugRun, b: DebugRun) -> None:
        self.compared: TimeComparison = compared
        self.run_a, self.run_b = a, b
        title = "{} and {}".format(*compared.titles)
        graph, timeline = compared.a.graph, compared.timeline
        super().__init__(replace(a.parts, title=title, graph=graph, timeline=timeline))

    @cached_property
    def session(self) -> Session:
        """The session of the first run."""
        return self.run_a.session

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.run_a, self.run_b, self.compared.titles, self.compared.warm_up)


def _again(a: DebugRun, b: DebugRun, titles: tuple[str, str], warm_up: int) -> DebugRun:
    from tvmdbg_widgets.run.comparison import compare_times

    return compare_times(a, b, titles, warm_up=warm_up).run
