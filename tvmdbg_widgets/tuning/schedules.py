"""Schedules: steps in words, loop nests, and two compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.tuning.recorded import Recorded

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.tuning.schedules.comparison import ScheduleComparison
    from tvmdbg_widgets.analysis.tuning.schedules.schedule import Schedule
    from tvmdbg_widgets.model.tuning.record import Record


class Schedules(Recorded):
    """Schedules."""

    def schedule(self, row: int | Record) -> Schedule:
        """Return how a record's workload is computed: steps in words, loop nest, tiles, Python.

        Parameters
        ----------
        row : int or Record
            A trial's number, negative ones from the end, or its record, as ``log.best(3)`` gives.

        Raises
        ------
        IndexError
            There is no such row.
        FormatError
            The file changed since it was opened.
        """
        from tvmdbg_widgets.analysis.tuning.dags import dag_of
        from tvmdbg_widgets.analysis.tuning.schedules.schedule import Schedule
        from tvmdbg_widgets.formats.tuning.record import read_record

        record = read_record(self.parts, row) if isinstance(row, int) else row
        return Schedule(record, dag_of(self.parts, record.task))

    def compare_schedules(self, a: int | Record, b: int | Record) -> ScheduleComparison:
        """Compare two records' schedules, step by step and loop by loop.

        Parameters
        ----------
        a, b : int or Record
            As for `schedule`.
        """
        from tvmdbg_widgets.analysis.tuning.schedules.comparison import compare_schedules

        return compare_schedules(self.schedule(a), self.schedule(b))
