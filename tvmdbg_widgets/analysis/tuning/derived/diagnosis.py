"""How the tuning went: curves, rounds, errors, findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tvmdbg_widgets.analysis.tuning.derived.recorded import Recorded

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from tvmdbg_widgets.analysis.tuning.curves import Curve
    from tvmdbg_widgets.analysis.tuning.error_tables import ErrorTable
    from tvmdbg_widgets.analysis.tuning.gains import Gains
    from tvmdbg_widgets.analysis.tuning.sessions import Session
    from tvmdbg_widgets.analysis.tuning.task_table import TaskTable
    from tvmdbg_widgets.model.tuning.parts import ConsoleTable
    from tvmdbg_widgets.model.tuning.task import Task
    from tvmdbg_widgets.model.verdicts.findings import Findings


class Diagnosis(Recorded):
    """How the tuning went."""

    _known_tasks: tuple[tuple[float, ...] | None, TaskTable] | None = None

    def findings(self) -> Findings:
        """Return ranked statements about the log, each with evidence, confidence and remedy.

        ``Finding.tasks`` and ``Finding.trials`` name the tasks and rows concerned.
        """
        from tvmdbg_widgets.analysis.findings.tuning import find
        from tvmdbg_widgets.analysis.findings.tuning.evidence import LogEvidence

        return find(LogEvidence(self.parts))

    def curve(
        self, task: int | str | Task | None = None, weights: Sequence[float] | None = None
    ) -> Curve:
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
        IndexError, KeyError, TypeError
            There is no such task.
        ValueError
            The weights do not fit the tasks.
        """
        from tvmdbg_widgets.analysis.tuning.curves import task_curve, total_curve

        if task is not None:
            return task_curve(self.parts, task)
        return total_curve(self.parts, self.weights if weights is None else weights)

    @property
    def rounds(self) -> npt.NDArray[np.int32]:
        """Which round of the task scheduler each row belongs to, from 0 (int32 [N])."""
        from tvmdbg_widgets.analysis.tuning.rounds import round_of

        return round_of(self.trials)

    @property
    def sessions(self) -> tuple[Session, ...]:
        """The sessions of the log: more than one where it was resumed."""
        from tvmdbg_widgets.analysis.tuning.sessions import sessions

        return sessions(self.trials)

    def task_table(self, weights: Sequence[float] | None = None) -> TaskTable:
        """Return trials, errors, best cost, share and what is left to gain of each task.

        Parameters
        ----------
        weights : sequence of float, optional
            One a task, instead of those the log was opened with.

        Raises
        ------
        ValueError
            The weights do not fit the tasks.
        """
        from tvmdbg_widgets.analysis.tuning.task_table import task_table

        return task_table(self.parts, self.weights if weights is None else weights)

    @property
    def known_tasks(self) -> TaskTable:
        """What :meth:`task_table` returns for the log's weights; kept, and not to be changed."""
        if self._known_tasks is None or self._known_tasks[0] is not self.weights:
            self._known_tasks = self.weights, self.task_table()
        return self._known_tasks[1]

    def gains(self, weights: Sequence[float] | None = None) -> Gains:
        """Return what the task scheduler would expect of each task's next round."""
        return self.task_table(weights).gains

    def errors_by(
        self,
        by: Literal["task", "round", "session", "unroll", "threads"],
        rows: npt.ArrayLike | None = None,
        *,
        progress: bool = True,
    ) -> ErrorTable:
        """Return the errors by task, round, session, unroll setting or threads of a block.

        ::

            log.errors_by("unroll", log.select("task:3"))

        Parameters
        ----------
        by : str
            ``"threads"`` reads the steps of every record.
        rows : int [M], optional
            The trials that are counted, as of :meth:`select`; all by default.
        progress : bool
            Whether to show a bar where this takes more than a second.

        Raises
        ------
        ValueError
            It is none of these.
        FormatError
            A file changed since it was opened.
        """
        from tvmdbg_widgets.analysis.tuning.errors_by import errors_by

        return errors_by(self.parts, by, rows, progress=progress)

    @property
    def effective_trials(self) -> int:
        """How many trials have a measurement."""
        return len(self.trials) - int(self.trials.failed.sum())

    @property
    def wasted_seconds(self) -> float:
        """Seconds of builds that timed out; builds run in parallel, so not wall time."""
        from tvmdbg_widgets.analysis.tuning.error_tables import wasted_seconds

        return wasted_seconds(self.trials)

    @property
    def glyph_counts(self) -> dict[str, int]:
        """How often the console showed ``.``, ``.E``, ``.T``, ``*``, ``*E`` and ``*T``.

        Counted in its output where that has them, else told from the errors of the records.
        """
        from tvmdbg_widgets.analysis.tuning.error_tables import glyph_counts, shown_glyphs

        if self.parts.glyphs:
            return shown_glyphs(self.parts.glyphs)
        return glyph_counts(self.trials)

    @property
    def console(self) -> ConsoleTable | None:
        """The last table of tasks that the output has; None where it has none."""
        return self.parts.console
