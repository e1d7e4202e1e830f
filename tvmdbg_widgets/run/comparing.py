"""What a run answers of itself and another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.run.whole import Whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.analysis.compare_times import TimeComparison
    from tvmdbg_widgets.run.compared_run import ComparedRun
    from tvmdbg_widgets.run.debug_run import DebugRun


class Comparing(Whole):
    """Questions about two runs."""

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
