"""A task as callers name it: by index, by itself, by its workload key or name."""

from __future__ import annotations

import operator
from typing import SupportsIndex, TypeAlias

from tvmdbg_widgets.model.base.choice import perhaps
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.parts import TuningParts
from tvmdbg_widgets.model.tuning.task import Task

TaskLike: TypeAlias = SupportsIndex | Task | str

_SHOWN = 6


def task_meant(parts: TuningParts, task: TaskLike) -> Task:
    """Return the task that a caller means."""
    if isinstance(task, str):
        found = tasks_named(parts, task)
        if len(found) > 1:
            told = "; ".join(f"{each.index} on {each.target.text}" for each in found[:_SHOWN])
            raise KeyError(
                f"{counted(len(found), 'task')} are called {one_line(task)!r}: give the index of "
                f"one: {one_line(told)}"
            )
        if found:
            return found[0]
        close = perhaps(task, (one_line(each.name) for each in parts.tasks))
        raise KeyError(f"no task is called {one_line(task)!r}{close}; the log has {_all_of(parts)}")
    if isinstance(task, Task):
        for each in parts.tasks:
            if (each.workload_key, each.target.text) == (task.workload_key, task.target.text):
                return each
        raise KeyError(f"{task!r} is not of this log, which has {_all_of(parts)}")
    try:
        index = operator.index(task)
    except TypeError:
        name = type(task).__name__
        raise TypeError(f"a task is an index, a Task or a workload key, not {name}") from None
    if not -len(parts.tasks) <= index < len(parts.tasks):
        raise IndexError(f"there is no task {index}; the log has {_all_of(parts)}")
    return parts.tasks[index]


def tasks_named(parts: TuningParts, text: str) -> list[Task]:
    """Return the tasks of a workload key; where none has it, those of a function name or hash."""
    by_key = [task for task in parts.tasks if task.workload_key == text]
    return by_key or [task for task in parts.tasks if text in (task.workload.name, task.name)]


def _all_of(parts: TuningParts) -> str:
    if not parts.tasks:
        return "no tasks"
    names = ", ".join(f"{task.index} ({one_line(task.name)})" for task in parts.tasks[:_SHOWN])
    more = f" and {len(parts.tasks) - _SHOWN:,} more" if len(parts.tasks) > _SHOWN else ""
    return f"{counted(len(parts.tasks), 'task')}: {names}{more}"
