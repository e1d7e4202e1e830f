"""What a run answers of itself and another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.run.recorded import Recorded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.analysis.compare_times import TimeComparison
    from tvmdbg_widgets.run.compared_run import ComparedRun
    from tvmdbg_widgets.run.debug_run import DebugRun


class Comparing(Recorded):
    """Questions about two runs.

    Attributes
    ----------
    compared : TimeComparison or None
        Of what :attr:`TimeComparison.run` gives: the comparison it shows; None of other runs.
    """

    compared: TimeComparison | None = None

    def compare_times(
        self, other: DebugRun, titles: Sequence[str] | None = None, *, warm_up: int = 0
    ) -> TimeComparison:
        """Compare the times of this run (A) and another (B), operator by operator.

        See :func:`tvmdbg_widgets.compare_times`, which says what is raised.
        """
        from tvmdbg_widgets.analysis.compare_times import compare_times
        from tvmdbg_widgets.run.compared_run import ComparedRun

        def both(found: TimeComparison) -> ComparedRun:
            return ComparedRun(found, self._whole, other)

        return compare_times(self.parts, other.parts, titles, warm_up=warm_up, open_run=both)
