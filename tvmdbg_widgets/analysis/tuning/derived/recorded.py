"""What all that a log tells rests on: its parts, and what its caller added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tvmdbg_widgets.model.base.issues import Issues
    from tvmdbg_widgets.model.tuning.parts import TuningParts
    from tvmdbg_widgets.model.tuning.task import Task
    from tvmdbg_widgets.model.tuning.trials import Trials


class Recorded:
    """A log's parts."""

    def __init__(self, parts: TuningParts, weights: tuple[float, ...] | None = None) -> None:
        self.parts = parts
        self.weights = weights

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.parts, self.weights)

    @property
    def title(self) -> str:
        """What the log is called: its file's name."""
        return self.parts.title

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks, by first appearance."""
        return self.parts.tasks

    @property
    def trials(self) -> Trials:
        """The records as columns."""
        return self.parts.trials

    @property
    def issues(self) -> Issues:
        """What was found while reading."""
        return self.parts.issues

    def __len__(self) -> int:
        return len(self.parts.trials)
