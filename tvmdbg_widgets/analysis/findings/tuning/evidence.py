"""Rules on tuning logs, their evidence, and wording for it."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.findings.tuning import remedies
from tvmdbg_widgets.analysis.findings.tuning.lost_builds import LostBuilds
from tvmdbg_widgets.analysis.tuning.curves import round_of
from tvmdbg_widgets.analysis.tuning.sessions import TuningSession, sessions
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import cut, one_line
from tvmdbg_widgets.model.findings import Confidence, Finding, Premise
from tvmdbg_widgets.model.tuning.parts import TuningParts
from tvmdbg_widgets.model.tuning.trials import Trials

_LISTED = 5
_NAME = 48


class LogEvidence:
    """A tuning log with facts for rules."""

    def __init__(self, parts: TuningParts) -> None:
        self.parts = parts

    @property
    def trials(self) -> Trials:
        """The records as columns."""
        return self.parts.trials

    @cached_property
    def rounds(self) -> npt.NDArray[np.int32]:
        """Round by row."""
        return round_of(self.trials)

    @cached_property
    def sessions(self) -> tuple[TuningSession, ...]:
        """The sessions of the log."""
        return sessions(self.trials)

    @cached_property
    def builds(self) -> LostBuilds:
        """Builds that timed out."""
        return LostBuilds(self.trials, self.rounds, self.parts.tuner)

    def task(self, index: int) -> str:
        """Return ``"task 3 (matmul_add 1024 1024 1024)"``."""
        return f"task {index} ({cut(one_line(self.parts.tasks[index].name), _NAME)})"

    def tasks_of(self, rows: npt.NDArray[np.bool_]) -> list[int]:
        """Return the tasks of some rows, ascending."""
        return [int(task) for task in np.unique(self.trials.task[rows])]

    def tuners_of(self, rows: npt.NDArray[np.bool_]) -> list[str]:
        """Return the tuners of some rows, in the order of their tasks."""
        return list(dict.fromkeys(self.parts.tasks[task].tuner for task in self.tasks_of(rows)))

    def remedy(self, rows: npt.NDArray[np.bool_], make: Callable[..., str], *facts: float) -> str:
        """Return the remedies for the tuners of some rows."""
        return remedies.for_each(self.tuners_of(rows), lambda tuner: make(tuner, *facts))

    def in_tasks(self, tasks: Sequence[int]) -> str:
        """Return ``"in task 0 (…), task 3 (…) and 4 more tasks"``."""
        return f"in {self.listed([self.task(task) for task in tasks], 'task')}"

    def listed(self, texts: Sequence[str], noun: str) -> str:
        """Join the first few texts, and count the rest."""
        rest = len(texts) - _LISTED
        first = ", ".join(texts[:_LISTED])
        return f"{first} and {counted(rest, f'more {noun}')}" if rest > 0 else first

    def rows(self, chosen: npt.NDArray[np.bool_]) -> tuple[int, ...]:
        """Return the rows of a mask, for ``Finding.trials``."""
        return tuple(np.flatnonzero(chosen).tolist())


def runs_of(numbers: Iterable[int]) -> str:
    """Format ascending numbers as ranges: ``"3–7, 9"``."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    texts = [f"{a:,}" if a == b else f"{a:,}–{b:,}" for a, b in ranges[:_LISTED]]
    rest = len(ranges) - _LISTED
    return ", ".join(texts) + (f" and {counted(rest, 'more range')}" if rest > 0 else "")


_FEW = 0.01


class LogBasis(enum.Enum):
    """Premises of a rule: lines that were read, shares of them, or every line."""

    LINES = "lines"
    SHARES = "shares"
    EVERY = "every line"


@dataclass(frozen=True)
class LogRule:
    """One kind of finding on a tuning log."""

    name: str
    find: Callable[[LogEvidence], Iterable[Finding]]
    rests_on: LogBasis

    def findings(self, evidence: LogEvidence) -> Iterator[Finding]:
        """Yield the findings, none surer than its weakest premise."""
        doubts = list(self._doubts(evidence))
        for finding in self.find(evidence):
            yield replace(finding, rule=self.name).resting_on(doubts)

    def _doubts(self, evidence: LogEvidence) -> Iterator[Premise]:
        parts = evidence.parts
        unread = parts.num_refused + sum(parts.undecoded.values())
        few = 0.0 if self.rests_on is LogBasis.EVERY else _FEW * len(parts.trials)
        if self.rests_on is not LogBasis.LINES and unread > few:
            yield Premise(Confidence.MEDIUM, f"{counted(unread, 'line')} could not be read")


def log_rule(
    name: str, rests_on: LogBasis
) -> Callable[[Callable[[LogEvidence], Iterable[Finding]]], LogRule]:
    """Make a function that yields findings a rule on logs."""
    return lambda find: LogRule(name, find, rests_on)
