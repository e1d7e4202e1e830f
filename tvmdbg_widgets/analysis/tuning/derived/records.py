"""Records: one by one, chosen by query, the best, and written again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, overload

from tvmdbg_widgets.analysis.tuning.derived.recorded import Recorded
from tvmdbg_widgets.model.base.numbers import counted

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import pandas as pd

    from tvmdbg_widgets.analysis.tuning.records.applied import Applied
    from tvmdbg_widgets.analysis.tuning.records.selection import TrialSelection
    from tvmdbg_widgets.analysis.tuning.records.tasks import TaskLike
    from tvmdbg_widgets.analysis.tuning.records.weights import Weights
    from tvmdbg_widgets.model.tuning.record import Record
    from tvmdbg_widgets.model.tuning.target import Target


class Records(Recorded):
    """Records."""

    def record(self, row: int) -> Record:
        """Return one record with its steps; negative rows count from the end.

        Raises
        ------
        IndexError
            There is no such row.
        FormatError
            The file changed since it was opened.
        """
        from tvmdbg_widgets.formats.tuning.record import read_record

        return read_record(self.parts, row)

    @overload
    def __getitem__(self, row: int) -> Record: ...
    @overload
    def __getitem__(self, row: slice) -> Self: ...
    def __getitem__(self, row: int | slice) -> Record | Self:
        """Return one record, or some as a log of their own."""
        if not isinstance(row, slice):
            return self.record(row)
        rows = range(len(self))[row]
        return self._of_rows(rows, f"{self.title}, {len(rows):,} of {counted(len(self), 'record')}")

    def __iter__(self) -> Iterator[Record]:
        """Read one record after the other."""
        return map(self.record, range(len(self)))

    @overload
    def best(self) -> tuple[Record, ...]: ...
    @overload
    def best(self, task: TaskLike) -> Record | None: ...
    def best(self, task: TaskLike | None = None) -> tuple[Record, ...] | Record | None:
        """Return the trial of the lowest mean cost, the first of equal ones.

        Parameters
        ----------
        task : int, Task or str, optional
            Index, task, or workload key; without it the best of each task.

        Returns
        -------
        tuple of Record, or Record or None
            In the order of the tasks, of those that have a valid trial; None where this task has
            none.

        Raises
        ------
        IndexError, KeyError
            There is no such task, or several are of this workload key.
        """
        from tvmdbg_widgets.analysis.tuning.records.choose import best_rows
        from tvmdbg_widgets.analysis.tuning.records.tasks import task_meant

        rows = best_rows(self.trials, len(self.tasks)).tolist()
        if task is None:
            return tuple(self.record(row) for row in rows if row >= 0)
        row = rows[task_meant(self.parts, task).index]
        return None if row < 0 else self.record(row)

    def applied(
        self,
        task: TaskLike,
        target: Target | str | None = None,
        *,
        include_compatible: bool = False,
    ) -> Applied:
        """Return the record that TVM would apply for a workload, and why.

        Parameters
        ----------
        task : int, Task or str
            Index, task, or workload key, which the log need not have where a target is given.
        target : Target or str, optional
            What TVM compiles for: ``"cuda -keys=cuda,gpu -model=t4"``; the task's own by default.
        include_compatible : bool
            As ``ApplyHistoryBest(…, include_compatible=True)``: also workloads of the same name
            whose arguments divide those asked for.

        Raises
        ------
        IndexError, KeyError
            There is no such task, or several are of this workload key and no target is given.
        """
        from tvmdbg_widgets.analysis.tuning.records.applied import applied

        return applied(self.parts, task, target, include_compatible=include_compatible)

    def select(self, query: str) -> TrialSelection:
        """Return the trials that a query finds: ``"error:6 task:3"``, ``"cost<2ms is:improved"``.

        The language is that of the search fields (:doc:`/queries`).

        Raises
        ------
        ValueError
            It does not follow the grammar; the message shows where.
        TypeError
            It is no text.
        """
        from tvmdbg_widgets.analysis.tuning.records.selection import select

        return select(self.parts, query)

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per trial, in the order of the log (needs pandas).

        Returns
        -------
        pandas.DataFrame
            By row of the log; :doc:`/queries` says what each column is. Seconds throughout.
        """
        from tvmdbg_widgets.analysis.tuning.records.fields import trials_frame

        frame: pd.DataFrame = trials_frame(self.parts)
        return frame

    def merge(self, *others: Recorded) -> Self:
        """Return this log and others as one; what is in several of them stays in it as often.

        Weights are those of no log: give them again with :meth:`weighted`.
        """
        from tvmdbg_widgets.formats.tuning.combine import combine

        logs: tuple[Recorded, ...] = (self, *others)
        title = " + ".join(dict.fromkeys(log.title for log in logs))
        return type(self)(combine([log.parts for log in logs], title))

    def distill(self, k: int = 1) -> Self:
        """Return the `k` best schedules of each workload and target key, without failed trials.

        With ``k=1`` an Ansor log holds the records, in the order, that TVM's
        ``distill_record_file`` writes.

        Raises
        ------
        ValueError
            `k` is below 1.
        """
        from tvmdbg_widgets.analysis.tuning.records.distill import distilled

        return self._of_rows(distilled(self.parts, k).tolist(), f"{self.title}, best")

    def write(self, path: str | os.PathLike[str], rows: Iterable[int] | None = None) -> Path:
        """Write records to a file that TVM reads, each line as it stands in its own file.

        MetaSchedule's records name workloads by number: keep ``database_workload.json`` beside
        the new file.

        Parameters
        ----------
        path : path
            An existing file is replaced.
        rows : iterable of int, optional
            Only these, in this order; what ``select`` returns is taken, too.

        Raises
        ------
        ValueError
            No reader of TVM would take the records from one file: they are of several tuners, or
            of several MetaSchedule databases.
        IndexError
            There is no such row.
        """
        from tvmdbg_widgets.analysis.tuning.records.writing import refuse_unreadable
        from tvmdbg_widgets.formats.tuning.writer import write_lines

        chosen = range(len(self)) if rows is None else list(rows)
        refuse_unreadable(self.parts, chosen)
        return write_lines(path, self.parts, chosen)

    def weighted(self, weights: Weights) -> Self:
        """Return this log with the number of calls of each task, for the total latency.

        Parameters
        ----------
        weights : sequence or mapping
            One number a task, in the order of ``log.tasks``; or numbers by workload key or index,
            where a task that is not named counts once.

        Raises
        ------
        ValueError
            They do not fit the tasks in number, or one is negative or no finite number.
        KeyError, IndexError
            What is named is no task of the log.
        """
        from tvmdbg_widgets.analysis.tuning.records.weights import weights_of

        return type(self)(self.parts, weights_of(self.parts, weights))

    def _of_rows(self, rows: Sequence[int], title: str) -> Self:
        """Return some records as a log of their own; its tasks keep their weights."""
        from tvmdbg_widgets.analysis.tuning.records.subset import subset

        parts = subset(self.parts, rows, title)
        if self.weights is None:
            return type(self)(parts)
        weight = {
            (task.workload_key, task.target.text): each
            for task, each in zip(self.tasks, self.weights, strict=True)
        }
        kept = tuple(weight[task.workload_key, task.target.text] for task in parts.tasks)
        return type(self)(parts, kept)
