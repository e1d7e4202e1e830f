"""Files of one tuning to one log."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from tvmdbg_widgets.formats.parts import Part
from tvmdbg_widgets.formats.tuning.combine import COUNTED, combine, last
from tvmdbg_widgets.formats.tuning.join_messages import join_messages
from tvmdbg_widgets.formats.tuning.metaschedule import StoredWorkload
from tvmdbg_widgets.formats.tuning.record_file import RecordFile
from tvmdbg_widgets.model.base.issues import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.tuning.parts import ConsoleTable, TuningParts
from tvmdbg_widgets.model.tuning.target import Target
from tvmdbg_widgets.model.tuning.task import Task, Tuner
from tvmdbg_widgets.model.tuning.workload import Workload

#: Kinds of parts that this file joins.
KINDS = ("tuning-records", "tuning-output", "tuning-dags")

#: Rules of issues that files of records give, or their lines joined to those of others.
OF_LINES = (
    *COUNTED,
    "cost-without-error",
    "error-with-costs",
    "messages-unjoined",
    "task-differs",
    "workload-missing",
)


def assemble(
    pieces: Sequence[Part],
    issues: Iterable[Issue] = (),
    *,
    title: str = "tuning",
    registered: Iterable[str] = (),
    dags: Mapping[str, str] | None = None,
) -> TuningParts:
    """Join the files of one tuning."""
    files = [each for each in pieces if each.kind == "tuning-records"]
    logs = [log_of(each.value, _workloads(each, files)) for each in files]
    records = combine(logs, title)
    return beside(records, pieces, issues, registered=registered, dags=dags)


def beside(
    log: TuningParts,
    pieces: Iterable[Part],
    issues: Iterable[Issue] = (),
    *,
    registered: Iterable[str] = (),
    dags: Mapping[str, str] | None = None,
) -> TuningParts:
    """Return records with what other files tell of them; parameters as :func:`assemble`."""
    outputs = [each for each in pieces if each.kind == "tuning-output"]
    dumps = [each for each in pieces if each.kind == "tuning-dags"]
    texts: dict[str, str] = {}
    for each in outputs:
        texts |= each.value.dags
    for each in dumps:
        texts |= each.value
    measured = [one for each in outputs for one in each.value.measurements]
    messages = join_messages(measured, log.trials)
    found = [*issues, *(each for each in log.issues if each.rule != "messages-unjoined")]
    if alone := sum(each.row < 0 for each in messages):
        of_all = f"{alone:,} of {counted(len(messages), 'measurement')} in the output"
        found.append(
            Issue(
                "messages-unjoined",
                IssueSeverity.NOTE,
                f"{of_all} {agree(alone, 'fits')} no record, or several"
                if len(log.trials)
                else f"{counted(alone, 'measurement')} in the output, and no record to join: "
                "open the log along",
                file=outputs[0].source.name,
            )
        )
    found += [
        Issue(
            "output-empty",
            IssueSeverity.ERROR,
            "a line as of a tuning's output stands in this text, but no row, measurement or DAG "
            "can be read: are its lines cut? Paste them whole",
            file=each.source.name,
        )
        for each in outputs
        if each.value.is_empty
    ]
    console = last([each.value.console for each in outputs])
    if console is not None and not log.tasks:
        log = replace(log, tuner=console.tuner, tasks=_printed_tasks(console))
    return replace(
        log,
        beside=tuple(each.source for each in (*outputs, *dumps)),
        dags=texts | dict(dags or {}),
        console=console,
        latency=last([each.value.latency for each in outputs]),
        messages=messages,
        glyphs="".join(each.value.glyphs for each in outputs),
        registered=tuple(registered),
        issues=Issues(found),
    )


def _printed_tasks(console: ConsoleTable) -> tuple[Task, ...]:
    """Return the tasks of a table, where no record tells of any."""
    return tuple(
        Task(
            index,
            cast("Tuner", console.tuner),
            Workload(each.description, each.description or f"task {each.id}", None),
            Target.parse(""),
        )
        for index, each in enumerate(console.rows)
    )


def log_of(file: RecordFile, workloads: Sequence[StoredWorkload] = ()) -> TuningParts:
    """Return one file of records as a log of its own."""
    tasks = tuple(_named(each, file, workloads) for each in file.tasks)
    issues = list(file.issues)
    missing = [task for task, number in file.numbered.items() if number >= len(workloads)]
    if missing:
        issues.append(
            Issue(
                "workload-missing",
                IssueSeverity.NOTE,
                f"{len(missing):,} of {counted(len(tasks), 'task')} "
                f"{agree(len(missing), 'names')} workloads that are in "
                "none of the files; open database_workload.json along to see what they compute",
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
