"""A tuning task: what is computed, for which target, on which hardware."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.hardware import HardwareParams
from tvmdbg_widgets.model.tuning.target import Target
from tvmdbg_widgets.model.tuning.workload import Workload

#: The tuner that wrote a record.
Tuner: TypeAlias = Literal["ansor", "autotvm", "metaschedule"]


@dataclass(frozen=True)
class Task:
    """One workload for one target; records are of the same task if both are equal.

    Attributes
    ----------
    index : int
        Place among the tasks of a log, by first appearance: ``log.tasks[index]``.
    tuner : str
        ``"ansor"``, ``"autotvm"`` or ``"metaschedule"``.
    workload : Workload
        The parsed workload key (AutoTVM: task name and arguments; MetaSchedule: structural hash).
    target : Target
    hardware : HardwareParams or None
        None where the log's version has none (Ansor v0.1, v0.2; other tuners).
    target_host : Target or None
        None where the log says nothing, or that there is none.
    layout_rewrite : int or None
        0 no rewrite, 1 insert a transform stage, 2 rewrite for pre-transformed; None where the
        version has no such field.
    input_names : tuple of str or None
        Inputs with special data (sparse tasks); None where the version has no such field.
    fields : int
        Length of the task array of the first record (2 to 6).
    """

    index: int
    tuner: Tuner
    workload: Workload
    target: Target
    hardware: HardwareParams | None = None
    target_host: Target | None = None
    layout_rewrite: int | None = None
    input_names: tuple[str, ...] | None = None
    fields: int = 0

    @property
    def workload_key(self) -> str:
        """The key as it stands in the log."""
        return self.workload.key

    @property
    def name(self) -> str:
        """A short name: ``"matmul_add 1024×1024×1024"``, or ``"05ea4bc9 [64, 16, 512, 512] …"``."""
        return self.workload.title

    def __repr__(self) -> str:
        return one_line(f"Task {self.index}: {self.name} on {self.target.kind}")
