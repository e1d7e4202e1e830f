"""``TuningLog``: records of one tuning, and every question about them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload

from tvmdbg_widgets.analysis.tuning import (
    curves,
    error_tables,
    identity,
    links,
    pairs,
    selection,
    sessions,
    trial_queries,
    writing,
)
from tvmdbg_widgets.analysis.tuning.curves import (
    TaskLike,
    Weights,
    kept_weights,
    task_meant,
    weights_of,
)
from tvmdbg_widgets.analysis.tuning.facts import LogFacts
from tvmdbg_widgets.analysis.tuning.pairs import subset
from tvmdbg_widgets.analysis.tuning.trial_queries import trials_frame
from tvmdbg_widgets.export import rerun
from tvmdbg_widgets.formats.tuning.assemble import combine
from tvmdbg_widgets.formats.tuning.record import read_record
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.slips import asks, public_class
from tvmdbg_widgets.tuning.following import Follower

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    from tvmdbg_widgets.analysis.facts import OpenedRun
    from tvmdbg_widgets.analysis.tuning.comparison import MachineComparison
    from tvmdbg_widgets.analysis.tuning.links import TaskTable
    from tvmdbg_widgets.analysis.tuning.schedules.comparison import ScheduleComparison
    from tvmdbg_widgets.figures.raster import Figure
    from tvmdbg_widgets.model.base.text import Issues
    from tvmdbg_widgets.model.findings import Findings
    from tvmdbg_widgets.model.graph.node_columns import NodeColumn
    from tvmdbg_widgets.model.tuning.measure_errors import Record
    from tvmdbg_widgets.model.tuning.parts import ConsoleTable, Task, TuningParts
    from tvmdbg_widgets.model.tuning.trials import Trials
    from tvmdbg_widgets.widgets.tuning import TuningView


_PARTS, _FACTS = attrgetter("parts"), attrgetter("facts")


@public_class
class TuningLog:
    """The records of one tuning: tasks, trials, schedules, and every question about them.

    At the end of a notebook cell it shows its view. Made by :func:`tvmdbg_widgets.open` or
    :func:`tvmdbg_widgets.open_tuning`.
    """

    def __init__(self, parts: TuningParts, weights: tuple[float, ...] | None = None) -> None:
        self.parts = parts
        self.weights = weights
        self.facts = LogFacts(parts, weights)
        self._view: TuningView | None = None
        self._view_lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.parts, self.weights)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__()} - {"facts"})  # facts are for the package itself

    def __len__(self) -> int:
        return len(self.parts.trials)

    def __repr__(self) -> str:
        return repr(self.facts)

    @property
    def title(self) -> str:
        """Name of the log's file."""
        return self.parts.title

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks, in order of first appearance."""
        return self.parts.tasks

    @property
    def trials(self) -> Trials:
        """The records as columns."""
        return self.parts.trials

    @property
    def issues(self) -> Issues:
        """Issues of reading the files."""
        return self.parts.issues

    def record(self, row: int) -> Record:
        """Return one record with its steps; negative rows count from the end.

        Raises
        ------
        IndexError, FormatError
            There is no such row; the file changed since it was opened.
        """
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
        """Return the trial with the lowest mean cost, the first if several are equal.

        Parameters
        ----------
        task : int, Task or str, optional
            Index, task, or workload key, None where it has no valid trial; without it the best of
            each task that has one.

        Raises
        ------
        IndexError, KeyError
            There is no such task, or several are of this workload key.
        """
        rows = trial_queries.best_rows(self.trials, len(self.tasks)).tolist()
        if task is None:
            return tuple(self.record(row) for row in rows if row >= 0)
        row = rows[task_meant(self.parts, task).index]
        return None if row < 0 else self.record(row)

    applied = asks(_PARTS, identity.applied)
    select = asks(_PARTS, selection.select)

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per trial, in the order of the log (needs pandas).

        The index is the row of the log; :doc:`/queries` describes the columns.
        """
        return trials_frame(self.parts)

    def merge(self, *others: TuningLog) -> Self:
        """Return this log and others as one; repeated records are kept.

        The result has no weights: give them again with :meth:`weighted`.
        """
        logs: tuple[TuningLog, ...] = (self, *others)
        title = " + ".join(dict.fromkeys(log.title for log in logs))
        return type(self)(combine([log.parts for log in logs], title))

    def distill(self, k: int = 1) -> Self:
        """Return the `k` best schedules of each workload and target key, without failed trials.

        With ``k=1`` an Ansor log has the same records in the same order as TVM's
        ``distill_record_file``.

        Raises
        ------
        ValueError
            `k` is below 1.
        """
        return self._of_rows(pairs.distilled(self.parts, k).tolist(), f"{self.title}, best")

    write = asks(_PARTS, writing.write)

    def weighted(self, weights: Weights) -> Self:
        """Return this log with the number of calls per task, for the total latency.

        Parameters
        ----------
        weights : sequence or mapping
            One number a task, in the order of ``log.tasks``; or numbers by workload key or index,
            where a task that is not named counts once.

        Raises
        ------
        ValueError, KeyError, IndexError
            They do not fit the tasks in number, or one is negative or no finite number; what is
            named is no task of the log.
        """
        return type(self)(self.parts, weights_of(self.parts, weights))

    def _of_rows(self, rows: Sequence[int], title: str) -> Self:
        """Return some records as a log; its tasks keep their weights."""
        parts = subset(self.parts, rows, title)
        return type(self)(parts, kept_weights(self.tasks, self.weights, parts.tasks))

    schedule = asks(_FACTS, LogFacts.schedule)
    dag = asks(_FACTS, LogFacts.dag)
    flop_count = asks(_FACTS, LogFacts.flop_count)

    def compare_schedules(self, a: int | Record, b: int | Record) -> ScheduleComparison:
        """Compare two schedules, as of :meth:`schedule`, step by step and loop by loop."""
        from tvmdbg_widgets.analysis.tuning.schedules.comparison import compare_schedules

        return compare_schedules(self.schedule(a), self.schedule(b))

    def findings(self) -> Findings:
        """Return ranked findings about the log, with evidence, confidence and remedy.

        ``Finding.tasks`` and ``Finding.trials`` name the affected tasks and rows.
        """
        from tvmdbg_widgets.analysis.findings.tuning import find
        from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence

        return find(LogEvidence(self.parts))

    curve = asks(_FACTS, LogFacts.curve)

    @property
    def rounds(self) -> npt.NDArray[np.int32]:
        """Round of the task scheduler per row, from 0 (int32 [N])."""
        return curves.round_of(self.trials)

    @property
    def sessions(self) -> tuple[sessions.TuningSession, ...]:
        """Sessions of the log: several if tuning was resumed."""
        return sessions.sessions(self.trials)

    task_table = asks(_FACTS, LogFacts.task_table)
    gains = asks(_FACTS, LogFacts.gains)

    @property
    def known_tasks(self) -> TaskTable:
        """Cached result of :meth:`task_table` for the log's weights; read only."""
        return self.facts.known_tasks

    errors_by = asks(_PARTS, selection.errors_by)

    @property
    def effective_trials(self) -> int:
        """Number of trials with a measurement."""
        return len(self.trials) - int(self.trials.failed.sum())

    @property
    def wasted_seconds(self) -> float:
        """Seconds of builds that timed out; builds run in parallel, so not wall time."""
        return error_tables.wasted_seconds(self.trials)

    @property
    def glyph_counts(self) -> dict[str, int]:
        """Counts of ``.``, ``.E``, ``.T``, ``*``, ``*E`` and ``*T`` on the console.

        They are counted in its output if given, else derived from the errors of the records.
        """
        glyphs = self.parts.glyphs
        return (
            error_tables.shown_glyphs(glyphs) if glyphs else error_tables.glyph_counts(self.trials)
        )

    @property
    def console(self) -> ConsoleTable | None:
        """Last table of tasks in the console output; None if there is none."""
        return self.parts.console

    def link(self, run: OpenedRun) -> links.TaskLinks:
        """Return the nodes of a run's graph that tasks tuned, with confidence."""
        return links.link_tasks(self.parts, links.graph_of(run))

    def node_status(self, run: OpenedRun) -> NodeColumn:
        """Return the tuning status of nodes, for ``GraphView(run, color_by=…)``.

        It is tuned, no valid schedule, or fallback: a convolution or matrix product without a
        task.
        """
        return self.link(run).status(links.graph_of(run), self.task_table())

    def node_gain(self, run: OpenedRun) -> NodeColumn:
        """Return the expected gain of another round per node, for ``color_by`` of a graph."""
        return self.link(run).gain(links.graph_of(run), self.task_table())

    def follow(self, seconds: float = 1.0) -> Follower[Self]:
        """Poll the files of this log while a tuning appends to them.

        ::

            for log in tvmdbg.open_tuning("ansor.json").follow():
                print(len(log))

        This log does not change: every change yields another log, with new rows at the end. An
        incomplete last line waits for its end; a file that another process truncates and rewrites
        is read again.

        Raises
        ------
        ValueError
            No file of the log is one on disk, or the seconds between two looks are not above 0.
        """
        return Follower(self, seconds)

    def view(self, run: OpenedRun | None = None, **traits: Any) -> TuningView:
        """Return a view of the log; with a run, tasks and nodes select each other.

        ::

            log.view(task=3, along="time")

        Traits are the initial state, as of :class:`~tvmdbg_widgets.TuningView`.
        """
        from tvmdbg_widgets.widgets.tuning import TuningView

        return TuningView(self, run, **traits)

    def figure(self, width: float = 720, theme: str = "light", **traits: Any) -> Figure:
        """Return the log as a static figure, made without a browser.

        Width and theme are as of :meth:`tvmdbg_widgets.TuningView.figure`, traits of :meth:`view`.
        """
        view = self.view(**traits)
        try:
            return view.figure(width, theme)
        finally:
            view.close()

    def save_html(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        theme: str = "auto",
        budget: int = 5_000_000,
        of: TuningView | None = None,
    ) -> Path:
        """Write the view as one HTML file that works offline, without a kernel.

        Parameters
        ----------
        path : path-like
            Ends in ``.html`` or ``.htm``; replaced atomically.
        title, theme : str
            The log's title where left out; ``"auto"`` follows the system, ``"light"``, ``"dark"``.
        budget : int
            Bytes that the file should not exceed: all trials come first, then the schedules of
            the best trials; the page says what was left out.
        of : TuningView, optional
            The view to save; a new one where left out.

        Raises
        ------
        ValueError, OSError
            Another ending or theme; the folder is missing or cannot be written to.
        """
        from tvmdbg_widgets.export.tuning_page import save_page

        view = of or self.view()
        try:
            return save_page(view, path, title=title, theme=theme, budget=budget)
        finally:
            if of is None:
                view.close()

    def _ipython_display_(self) -> None:
        with self._view_lock:
            if self._view is None or self._view.comm is None:
                self._view = self.view()
        self._view._ipython_display_()

    reuse = asks(_PARTS, rerun.reuse)

    def compare(self, other: TuningLog, *, progress: bool = True) -> MachineComparison:
        """Compare with a log of the same schedules from another machine, the new one.

        Schedules are equal if workload and all steps are; the target may differ.

        ::

            compared = log.compare(tvmdbg.open_tuning("rerun.json"))
            compared                          # per task: rank correlation, regret, failures
            compared.correlation              # 0.87 (95 % CI 0.71 … 0.95)
            compared.to_dataframe()           # one row per schedule

        Raises
        ------
        TypeError, FormatError
            The other is no tuning log; a file changed since it was opened.
        """
        from tvmdbg_widgets.analysis.tuning.comparison import compare_machines

        if not isinstance(other, TuningLog):
            raise TypeError(f"compare takes a tuning log, found {type(other).__name__}")
        return compare_machines(self.parts, other.parts, progress=progress)
