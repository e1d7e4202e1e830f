"""Tasks by first appearance; records are of one task where workload and target are equal."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from tvmdbg_widgets.model.base.issues import Issue, IssueSeverity
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.target import Target
from tvmdbg_widgets.model.tuning.task import Task

_COMPARED = {
    "hardware": "hardware parameters",
    "target_host": "host",
    "layout_rewrite": "layout rewrite option",
    "input_names": "input names",
}


_LONGEST_KEPT = 10_000


class Tasks:
    """A table of tasks."""

    def __init__(self) -> None:
        self.found: list[Task] = []
        self.issues: list[Issue] = []
        self._index: dict[tuple[str, str, str], int] = {}
        self._told: set[tuple[int, str]] = set()

    def add(self, task: Task) -> int:
        """Return the index of a task, which is added where it is new."""
        identity = (task.tuner, task.workload_key, task.target.text)
        index = self._index.setdefault(identity, len(self.found))
        if index == len(self.found):
            self.found.append(replace(task, index=index))
        else:
            self._compare(self.found[index], task)
        return index

    def _compare(self, known: Task, task: Task) -> None:
        for name, words in _COMPARED.items():
            before, now = getattr(known, name), getattr(task, name)
            # An older version says nothing of it.
            if None in (before, now) or before == now or (known.index, name) in self._told:
                continue
            self._told.add((known.index, name))
            self.issues.append(
                Issue(
                    "task-differs",
                    IssueSeverity.NOTE,
                    one_line(
                        f"records of task {known.index} ({known.name}) differ in {words}: "
                        f"first {before}, later {now}; the first is shown"
                    ),
                )
            )


_TARGETS = lru_cache(1_000)(Target.parse)


def target_of(text: str) -> Target:
    """Take a target string apart; the same few stand in most records."""
    return _TARGETS(text) if len(text) <= _LONGEST_KEPT else Target.parse(text)
