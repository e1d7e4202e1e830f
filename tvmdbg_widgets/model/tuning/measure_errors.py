"""Error numbers of a measured trial (``MeasureErrorNO``, include/tvm/auto_scheduler/measure.h)."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from tvmdbg_widgets.model.base.numbers import counted, duration_text
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.parts import Task
from tvmdbg_widgets.model.tuning.steps import AnyStep

#: Cost of a failed trial in an Ansor log, in seconds (``MAX_FLOAT``, measure.py).
ANSOR_FAILED_COST = 1e10
#: The same in an AutoTVM log.
AUTOTVM_FAILED_COST = 1e9


class MeasureError(enum.IntEnum):
    """Error of a trial without a cost; Ansor and AutoTVM use the same numbers.

    ``UNRECORDED`` is ours: MetaSchedule writes that a trial failed, not why.
    """

    UNRECORDED = -1
    NO_ERROR = 0
    INSTANTIATION_ERROR = 1
    COMPILE_HOST = 2
    COMPILE_DEVICE = 3
    RUNTIME_DEVICE = 4
    WRONG_ANSWER = 5
    BUILD_TIMEOUT = 6
    RUN_TIMEOUT = 7
    UNKNOWN_ERROR = 8

    @property
    def label(self) -> str:
        """The name TVM prints: ``"BuildTimeoutError"``."""
        if self is MeasureError.UNRECORDED:
            return "an error without a code"
        return f"{self.name.removesuffix('_ERROR').title().replace('_', '')}Error"


@dataclass(frozen=True)
class Record:
    """One measured trial, made on access: ``log.record(12)``.

    Attributes
    ----------
    row : int
        Trial number in the log.
    task : Task
    line : bytes
        The line of the file, without its end.
    costs : tuple of float
        Seconds, one per repeat; empty where the trial failed.
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
        text = f"Record {self.row}: task {self.task.index} ({self.task.name}), {result}{steps}"
        return one_line(f"{text}; {self.where}")
