"""Files of one tuning to one log."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from tvmdbg_widgets.formats.tuning.combine import combine
from tvmdbg_widgets.model.issues import Issue, Issues, Severity
from tvmdbg_widgets.model.tuning.parts import TuningParts
from tvmdbg_widgets.model.tuning.workload import Workload

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tvmdbg_widgets.formats.sources.file import Part
    from tvmdbg_widgets.formats.tuning.metaschedule import StoredWorkload
    from tvmdbg_widgets.formats.tuning.records import RecordFile
    from tvmdbg_widgets.model.tuning.task import Task

#: Kinds of parts that this file joins.
KINDS = ("tuning-records",)


def assemble(
    pieces: Sequence[Part],
    issues: Iterable[Issue] = (),
    *,
    title: str = "tuning",
    registered: Iterable[str] = (),
    dags: Mapping[str, str] | None = None,
) -> TuningParts:
    """Join the files of one tuning.

    Parameters
    ----------
    pieces : sequence of Part
        What the readers of :data:`KINDS` gave, in the order in which rows shall follow.
    issues
        What was found while reading.
    title
        What to call the log.
    registered
        Sources of Python modules with registered workloads.
    dags
        More DAG texts, by workload key or md5.
    """
    files = [each for each in pieces if each.kind == "tuning-records"]
    logs = [_log(each, _workloads(each, files)) for each in files]
    found = combine(logs, title)
    return replace(
        found,
        issues=Issues((*issues, *found.issues)),
        dags={**found.dags, **(dags or {})},
        registered=(*found.registered, *registered),
    )


def _log(piece: Part, workloads: Sequence[StoredWorkload]) -> TuningParts:
    """Return one file of records as a log of its own."""
    file: RecordFile = piece.value
    tasks = tuple(_named(each, file, workloads) for each in file.tasks)
    issues = list(file.issues)
    missing = [task for task, number in file.numbered.items() if number >= len(workloads)]
    if missing:
        issues.append(
            Issue(
                "workload-missing",
                Severity.NOTE,
                f"{len(missing):,} of {len(tasks):,} tasks name workloads that are in none of the "
                "files; open database_workload.json along to see what they compute",
                file=file.source.name,
            )
        )
    tuners = {each.tuner for each in tasks}
    return TuningParts(
        file.source.name,
        tuners.pop() if len(tuners) == 1 else "mixed" if tuners else "",
        tasks,
        file.trials,
        (file.source,),
        ((file.offset, file.line),),
        refused=file.refused,
        num_refused=file.num_refused,
        undecoded=file.undecoded,
        cut=file.cut,
        issues=Issues(issues),
    )


def _workloads(piece: Part, files: Sequence[Part]) -> tuple[StoredWorkload, ...]:
    """Return the workloads that the records of a file are numbered by.

    Its own, else those beside it, else those of the only file that has any.
    """
    file: RecordFile = piece.value
    if file.workloads or not file.numbered:
        return file.workloads
    others = [each for each in files if each.value.workloads]
    beside = [each for each in others if _folder(each) == _folder(piece)] or others
    return beside[0].value.workloads if len(beside) == 1 else ()


def _folder(piece: Part) -> str:
    return piece.source.name.rpartition("/")[0]


def _named(task: Task, file: RecordFile, workloads: Sequence[StoredWorkload]) -> Task:
    """Return a task with the workload that its number stands for."""
    number = file.numbered.get(task.index, math.inf)
    if number >= len(workloads):
        return task
    found = workloads[int(number)]
    workload = Workload(found.hash, found.name or found.hash, task.workload.args)
    return replace(task, workload=workload)
