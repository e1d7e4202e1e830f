"""Two logs compared: which schedules keep their rank on another machine, and which fail."""

from __future__ import annotations

import html
import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.analysis.tuning.curves import best_costs
from tvmdbg_widgets.analysis.tuning.tables import table_html, table_text
from tvmdbg_widgets.analysis.tuning.transfer.correlation import RankCorrelation, pooled
from tvmdbg_widgets.analysis.tuning.transfer.pairs import SchedulePairs, common_tasks, matched
from tvmdbg_widgets.analysis.tuning.transfer.task_transfer import TaskTransfer
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.model.tuning.parts import TuningParts

if TYPE_CHECKING:
    import pandas as pd


_HEADS = (
    *("task", "pairs", "rank correlation (95 % CI)", "new/old", "old's best, on new", "regret"),
    *("same of top", "now fail"),
)


@dataclass(frozen=True, eq=False, repr=False)
class MachineComparison:
    """Two logs of the same schedules, of two machines or of two sessions of one.

    Attributes
    ----------
    titles : (str, str)
        Of the old log and of the new one.
    tasks : tuple of TaskTransfer
        The workloads that both logs measured, in the order of the old log.
    pairs : SchedulePairs
        All schedules that both measured.
    old_only, new_only : int
        How many tasks one log alone has.
    """

    titles: tuple[str, str]
    tasks: tuple[TaskTransfer, ...]
    pairs: SchedulePairs
    old_only: int
    new_only: int

    def __len__(self) -> int:
        return len(self.tasks)

    @cached_property
    def correlation(self) -> RankCorrelation:
        """The common rank correlation within tasks; costs of different tasks are not ranked."""
        return pooled([each.correlation for each in self.tasks])

    @property
    def failing(self) -> Counter[MeasureError]:
        """Schedules that ran on the old machine and fail on the new one, by error."""
        return sum((each.failing for each in self.tasks), Counter())

    def slower_by(self, share: float) -> tuple[TaskTransfer, ...]:
        """Return the tasks whose best of the new log is slower by more than a share.

        Parameters
        ----------
        share : float
            0.05 for 5 %. A task without a valid trial in the new log is slower.
        """
        return tuple(
            each
            for each in self.tasks
            if not math.isnan(each.old_best) and not each.new_best <= each.old_best * (1 + share)
        )

    @property
    def caption(self) -> tuple[str, ...]:
        """What is told above the tasks, one sentence each."""
        valid = int(np.count_nonzero(self.pairs.valid))
        both = counted(len(self.pairs), "schedule")
        workloads = counted(len(self.tasks), "workload")
        lines = [
            "old: {}, new: {}".format(*map(one_line, self.titles)),
            f"{both} of {workloads} in both logs, {valid:,} of them valid in both"
            if len(self.pairs)
            else "no schedule is in both logs: workload and all steps must be the same",
        ]
        if self.tasks:
            lines.append(f"rank correlation within tasks (95 % CI): {self.correlation}")
        if failing := self.failing:
            told = ", ".join(f"{count:,} {each.label}" for each, count in failing.most_common())
            lines.append(f"valid in the old log and failing in the new one: {told}")
        if rescued := sum(each.rescued for each in self.tasks):
            lines.append(f"failing in the old log and valid in the new one: {rescued:,}")
        lines += self._unmatched()
        repeated = int(np.count_nonzero((self.pairs.old_count > 1) | (self.pairs.new_count > 1)))
        if repeated:
            lines.append(f"{counted(repeated, 'schedule')} measured repeatedly: the mean counts")
        return tuple(lines)

    def _unmatched(self) -> list[str]:
        sides = (
            ("old", self.old_only, sum(each.old_only for each in self.tasks)),
            ("new", self.new_only, sum(each.new_only for each in self.tasks)),
        )
        return [
            f"only in the {side} log: {counted(tasks, 'task')}, and "
            f"{counted(schedules, 'schedule')} of the common workloads"
            for side, tasks, schedules in sides
            if tasks or schedules
        ]

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row a schedule that both logs measured (needs pandas).

        Returns
        -------
        pandas.DataFrame
            ``task``, ``new_task`` (indexes), ``name``; ``row``, ``new_row`` (first trial of the
            schedule); ``cost_s``, ``new_cost_s`` (means, seconds, NaN for failures), ``ratio``;
            ``error``, ``new_error`` (names, empty for none); ``trials``, ``new_trials``.
        """
        import pandas as pd

        pairs = self.pairs
        names = {each.old.index: each.old.name for each in self.tasks}
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = pairs.new_cost / pairs.old_cost
        return pd.DataFrame(
            {
                "task": pairs.old_task,
                "new_task": pairs.new_task,
                "name": [names[each] for each in pairs.old_task.tolist()],
                "row": pairs.old_row,
                "new_row": pairs.new_row,
                "cost_s": pairs.old_cost,
                "new_cost_s": pairs.new_cost,
                "ratio": ratio,
                "error": [_error(each) for each in pairs.old_error.tolist()],
                "new_error": [_error(each) for each in pairs.new_error.tolist()],
                "trials": pairs.old_count,
                "new_trials": pairs.new_count,
            }
        )

    def cells(self) -> tuple[tuple[str, ...], list[list[str]]]:
        """Return heads and lines of a table with one line a task."""
        return _HEADS, [_cells(each) for each in self.tasks]

    def __repr__(self) -> str:
        table = [table_text(*self.cells())] if self.tasks else []
        return "\n".join([*self.caption, *table])

    def _repr_html_(self) -> str:
        told = "".join(f"<p>{html.escape(each)}</p>" for each in self.caption)
        return told + (table_html(*self.cells()) if self.tasks else "")


def _cells(task: TaskTransfer) -> list[str]:
    top = task.top
    fails = task.fastest is not None and math.isnan(task.transferred)
    return [
        f"{task.old.index} {task.old.name}",
        f"{len(task.pairs):,}",
        str(task.correlation),
        "–" if math.isnan(task.ratio) else f"{task.ratio:.3g} ×",
        "fails" if fails else _duration(task.transferred),
        percent(task.regret) if math.isfinite(task.regret) else "–",
        "–" if top is None else f"{top[0]} of {top[1]}",
        f"{sum(task.failing.values()):,}",
    ]


def _duration(seconds: float) -> str:
    return "–" if math.isnan(seconds) else duration_text(seconds * 1e9)


def _error(number: int) -> str:
    return MeasureError(number).label if number else ""


def compare_machines(
    old: TuningParts, new: TuningParts, *, progress: bool = True
) -> MachineComparison:
    """Compare two logs, schedule by schedule: those of the same workload with the same steps."""
    tasks = common_tasks(old, new)
    pairs, offsets, old_count, new_count = matched(old, new, tasks, progress=progress)
    bests = best_costs(old.trials, len(old.tasks)), best_costs(new.trials, len(new.tasks))
    found = []
    for (one, other), begin, end in zip(tasks, offsets[:-1], offsets[1:], strict=True):
        own = pairs.take(slice(begin, end))
        found.append(
            TaskTransfer(
                old.tasks[one],
                new.tasks[other],
                own,
                old_only=old_count[one] - len(own),
                new_only=new_count[other] - len(own),
                old_best=float(bests[0][one]),
                new_best=float(bests[1][other]),
            )
        )
    return MachineComparison(
        (old.title, new.title),
        tuple(found),
        pairs,
        len(old.tasks) - len({one for one, _ in tasks}),
        len(new.tasks) - len({other for _, other in tasks}),
    )
