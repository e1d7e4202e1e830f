"""Schedules: steps in words, loop nests, and two compared."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.tuning.derived.recorded import Recorded

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.tuning.schedules.comparison import ScheduleComparison
    from tvmdbg_widgets.analysis.tuning.schedules.schedule import Schedule
    from tvmdbg_widgets.model.tuning.dag import ComputeDag
    from tvmdbg_widgets.model.tuning.parts import TuningParts
    from tvmdbg_widgets.model.tuning.record import Record
    from tvmdbg_widgets.model.tuning.task import Task


class Schedules(Recorded):
    """Schedules."""

    def __init__(self, parts: TuningParts, weights: tuple[float, ...] | None = None) -> None:
        super().__init__(parts, weights)
        self._dags: dict[int, tuple[ComputeDag | None, tuple[str, ...]]] = {}

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
        from tvmdbg_widgets.analysis.tuning.dags import assumed_for
        from tvmdbg_widgets.analysis.tuning.schedules.schedule import Schedule
        from tvmdbg_widgets.formats.tuning.record import read_record
        from tvmdbg_widgets.model.tuning.record import Record

        record = row if isinstance(row, Record) else read_record(self.parts, row)
        dag, problems = self._found_dag(record.task.index)
        found = Schedule(record, dag, problems)
        if not found.refused or dag is None or dag.source.is_assumption:
            return found
        assumed = assumed_for(self.parts, record.task)
        other = Schedule(
            record, assumed, (*problems, f"The given DAG does not fit: {found.refused}")
        )
        return found if assumed is None or other.refused else other

    def dag(self, task: int | str | Task) -> ComputeDag | None:
        """Return the compute DAG of a task, None where it is not known.

        Its ``source`` says where it is from, and whether that is an assumption.

        Parameters
        ----------
        task : int, str or Task
            Its index or name.
        """
        from tvmdbg_widgets.analysis.tuning.records.tasks import task_meant

        return self._found_dag(task_meant(self.parts, task).index)[0]

    def _found_dag(self, task: int) -> tuple[ComputeDag | None, tuple[str, ...]]:
        """Return a task's DAG, and why what was given for it cannot be used."""
        from tvmdbg_widgets.analysis.tuning.dags import find_dag

        if task not in self._dags:
            self._dags[task] = find_dag(self.parts, self.tasks[task], lambda: self._texts)
        return self._dags[task]

    @cached_property
    def _texts(self) -> dict[str, str]:
        """The log's DAG texts by hash."""
        from tvmdbg_widgets.analysis.tuning.dags import texts_by_hash

        return texts_by_hash(self.parts.dags)

    def flop_count(self, task: int | str | Task) -> float | None:
        """Return how many floating-point operations a task takes, as TVM counts them.

        None where its DAG is not known, or does not tell.
        """
        from tvmdbg_widgets.analysis.tuning.flops import flop_count

        known = self.dag(task)
        return None if known is None else flop_count(known)

    def compare_schedules(self, a: int | Record, b: int | Record) -> ScheduleComparison:
        """Compare two records' schedules, step by step and loop by loop.

        Parameters
        ----------
        a, b : int or Record
            As for `schedule`.
        """
        from tvmdbg_widgets.analysis.tuning.schedules.comparison import compare_schedules

        return compare_schedules(self.schedule(a), self.schedule(b))
