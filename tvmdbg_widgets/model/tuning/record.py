"""One record of a tuning log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tvmdbg_widgets.model.base.numbers import counted, duration_text
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.model.tuning.steps import AnyStep
from tvmdbg_widgets.model.tuning.task import Task


@dataclass(frozen=True)
class Record:
    """One measured trial, made on access: ``log.record(12)``.

    Attributes
    ----------
    row : int
        Trial number in the log.
    task : Task
    line : bytes
        The line as it stands in the file, without its end.
    costs : tuple of float
        Seconds, one a repeat; empty where the trial failed.
    cost : float
        Their mean, NaN where the trial failed.
    error : MeasureError
    all_cost, timestamp : float
        NaN where the tuner writes none.
    version : str
    steps : tuple of steps
        Ansor's; empty for other tuners.
    config : object
        AutoTVM: the config entity as JSON; MetaSchedule: ``[insts, decisions]``; else None.
    where : str
        ``"file.json, line 12"``.
    """

    row: int
    task: Task
    line: bytes
    costs: tuple[float, ...]
    cost: float
    error: MeasureError
    all_cost: float
    timestamp: float
    version: str
    steps: tuple[AnyStep, ...]
    config: Any
    where: str

    def __repr__(self) -> str:
        result = self.error.label if self.error else duration_text(self.cost * 1e9)
        steps = f", {counted(len(self.steps), 'step')}" if self.steps else ""
        told = f"Record {self.row}: task {self.task.index} ({self.task.name}), {result}{steps}"
        return one_line(f"{told}; {self.where}")
