"""What rooms above take of a log: its parts, its weights, and facts that are derived once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from tvmdbg_widgets.analysis.tuning.curves import Curve, task_curve, total_curve
from tvmdbg_widgets.analysis.tuning.gains import Gains
from tvmdbg_widgets.analysis.tuning.records.tasks import TaskLike, task_meant
from tvmdbg_widgets.analysis.tuning.schedules.schedule import Schedule
from tvmdbg_widgets.analysis.tuning.task_table import TaskTable, task_table
from tvmdbg_widgets.formats.tuning.record import read_record
from tvmdbg_widgets.model.tuning.dag import ComputeDag
from tvmdbg_widgets.model.tuning.parts import TuningParts
from tvmdbg_widgets.model.tuning.record import Record
from tvmdbg_widgets.model.tuning.task import Task
from tvmdbg_widgets.model.tuning.trials import Trials


class LogFacts:
    """Facts of one log."""

    def __init__(self, parts: TuningParts, weights: tuple[float, ...] | None = None) -> None:
        self.parts = parts
        self.weights = weights
        self._dags: dict[int, tuple[ComputeDag | None, tuple[str, ...]]] = {}

    def __len__(self) -> int:
        return len(self.parts.trials)

    def __repr__(self) -> str:
        from tvmdbg_widgets.analysis.tuning.records.described import described

        return "\n  ".join([f"TuningLog {self.title!r}", *described(self.parts)])

    @property
    def title(self) -> str:
        """What the log is called."""
        return self.parts.title

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks, by first appearance."""
        return self.parts.tasks

    @property
    def trials(self) -> Trials:
        """The records as columns."""
        return self.parts.trials

    @cached_property
    def known_tasks(self) -> TaskTable:
        """The table of tasks for the log's weights."""
        return self.task_table()

    def task_table(self, weights: Sequence[float] | None = None) -> TaskTable:
        """Return trials, errors, best cost, share and what is left to gain of each task.

        Weights, one a task, stand instead of those the log was opened with; where they do not fit
        the tasks, this is a ValueError.
        """
        return task_table(self.parts, self.weights if weights is None else weights)

    def gains(self, weights: Sequence[float] | None = None) -> Gains:
        """Return what the task scheduler would expect of each task's next round."""
        return self.task_table(weights).gains

    def schedule(self, row: int | Record) -> Schedule:
        """Return how a record's workload is computed: steps in words, loop nest, tiles, Python.

        Parameters
        ----------
        row : int or Record
            A trial's number, negative ones from the end, or its record, as ``log.best(3)`` gives.

        Raises
        ------
        IndexError, FormatError
            There is no such row; the file changed since it was opened.
        """
        from tvmdbg_widgets.analysis.tuning.dags import assumed_for
        from tvmdbg_widgets.analysis.tuning.schedules.schedule import Schedule

        record = row if isinstance(row, Record) else read_record(self.parts, row)
        dag, problems = self._found_dag(record.task.index)
        found = Schedule(record, dag, problems)
        if not found.refused or dag is None or dag.source.is_assumption:
            return found
        assumed = assumed_for(self.parts, record.task)
        why = f"The given DAG does not fit: {found.refused}"
        other = Schedule(record, assumed, (*problems, why))
        return found if assumed is None or other.refused else other

    def dag(self, task: TaskLike) -> ComputeDag | None:
        """Return the compute DAG of a task, None where it is not known.

        Its ``source`` says where it is from, and whether that is an assumption.
        """
        return self._found_dag(task_meant(self.parts, task).index)[0]

    def flop_count(self, task: TaskLike) -> float | None:
        """Return how many floating-point operations a task takes, as TVM counts them.

        None where its DAG is not known, or does not tell.
        """
        from tvmdbg_widgets.analysis.tuning.flops import flop_count

        known = self.dag(task)
        return None if known is None else flop_count(known)

    def curve(self, task: TaskLike | None = None, weights: Sequence[float] | None = None) -> Curve:
        """Return how the best cost fell, over trials and over time.

        Parameters
        ----------
        task : int, str or Task, optional
            Index or name of the task; the weighted total of all where it is left out.
        weights : sequence of float, optional
            One a task, instead of those the log was opened with; the plain sum where there are
            none. The log itself has no weights.

        Raises
        ------
        IndexError, KeyError, TypeError, ValueError
            There is no such task; the weights do not fit the tasks.
        """
        if task is not None:
            return task_curve(self.parts, task)
        return total_curve(self.parts, self.weights if weights is None else weights)

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
