"""Files of one tuning to one log."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.family import Family, FileCandidate, JoinOptions, Kind, Part, identify
from tvmdbg_widgets.formats.tuning.console import KIND as OUTPUT
from tvmdbg_widgets.formats.tuning.dag_text import KIND as DAGS
from tvmdbg_widgets.formats.tuning.json_line import Tasks, TrialColumns, join_messages
from tvmdbg_widgets.formats.tuning.lines import StoredWorkload
from tvmdbg_widgets.formats.tuning.record import KIND as RECORDS
from tvmdbg_widgets.formats.tuning.record import MOST_REFUSED, RecordFile, read_file
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.tuning.parts import (
    ConsoleTable,
    Target,
    Task,
    Tuner,
    TuningParts,
    Workload,
)
from tvmdbg_widgets.model.tuning.trials import FIELDS, Trials
from tvmdbg_widgets.sources.byte_source import ByteSource
from tvmdbg_widgets.sources.file_source import Change, GrowingFile

#: Rules of issues that are told anew of all logs together.
COUNTED = ("lines-refused", "log-cut", "not-decoded")

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
    issues: Iterable[Issue],
    options: JoinOptions,
    *,
    registered: Iterable[str] = (),
) -> TuningParts:
    """Join the files of one tuning."""
    files = [each for each in pieces if each.kind == "tuning-records"]
    logs = [log_of(each.value, _workloads(each, files)) for each in files]
    return beside(combine(logs, options.title), pieces, issues, registered=registered)


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


class FollowedParts:
    """The parts of a log, as far as its files have grown.

    Rows of a file that grew are added behind all others. Where a file was cut off and written
    again, or belongs to a MetaSchedule database, all files are read again.
    """

    def __init__(self, parts: TuningParts) -> None:
        self.parts = parts
        self._texts: list[Part] | None = None

    def poll(self) -> bool:
        """Read what is new; False where nothing is."""
        parts = self.parts
        records = [_change(each) for each in parts.sources]
        texts = [_change(each) for each in parts.beside]
        if all(each is Change.NONE for each in (*records, *texts)):
            return False
        databases = any(task.tuner == "metaschedule" for task in parts.tasks)
        if Change.REWRITTEN in records or (databases and Change.GROWN in records):
            log = self._again()
        else:
            log = _with_new_lines(parts, [i for i, c in enumerate(records) if c is Change.GROWN])
        if self._texts is None or any(each is not Change.NONE for each in texts):
            self._texts = [_read(each) for each in parts.beside]
        self.parts = beside(log, self._texts, registered=parts.registered, dags=parts.dags)
        return True

    def _again(self) -> TuningParts:
        """Read all files of records again; issues of other things are kept."""
        pieces = [_read(each, RECORDS) for each in self.parts.sources]
        kept = [each for each in self.parts.issues if each.rule not in OF_LINES]
        return assemble(pieces, kept, JoinOptions(self.parts.title))


def _change(source: ByteSource) -> Change:
    return source.change() if isinstance(source, GrowingFile) else Change.NONE


def _read(source: ByteSource, kind: Kind | None = None) -> Part:
    """Read a file as it is now."""
    if isinstance(source, GrowingFile):
        source = source.again()
    if kind is None:
        kind = identify(source, FAMILY.kinds) or OUTPUT
    found = FileCandidate(source, kind)
    return found.read(progress=False) if kind is RECORDS else found.read()


def _with_new_lines(parts: TuningParts, grown: Sequence[int]) -> TuningParts:
    """Return a log with the lines that were added to some of its files."""
    new: list[TuningParts] = []
    sources = list(parts.sources)
    for at in grown:
        old = sources[at]
        if not isinstance(old, GrowingFile):
            continue
        sources[at] = source = old.again()
        offset, line = parts.positions[at]
        new.append(log_of(read_file(source, offset=offset, line=line)))
    before = replace(_without_last_lines(parts, grown), sources=tuple(sources))
    return combine([before, *new], parts.title)


def _without_last_lines(parts: TuningParts, grown: Sequence[int]) -> TuningParts:
    """Return a log without the lines that had no end yet, and are read again."""
    trials = parts.trials
    begin = np.array([offset for offset, _ in parts.positions], np.int64)
    again = np.isin(trials.source, grown)
    again[again] = trials.offset[again] >= begin[trials.source[again]]
    refused = tuple(
        each
        for each in parts.refused
        if each.source not in grown or each.offset < begin[each.source]
    )
    return replace(
        parts,
        trials=trials.take(np.flatnonzero(~again)) if again.any() else trials,
        refused=refused,
        num_refused=parts.num_refused - len(parts.refused) + len(refused),
        cut=parts.cut and any(_is_cut(parts, at) for at in range(len(begin)) if at not in grown),
    )


def _is_cut(parts: TuningParts, at: int) -> bool:
    """Whether a file ends with a line that was not read."""
    offset = parts.positions[at][0]
    lines = parts.trials.offset[parts.trials.source == at]
    return offset < parts.sources[at].size and offset not in lines


T = TypeVar("T")

_SHOWN = 5


def combine(logs: Sequence[TuningParts], title: str) -> TuningParts:
    """Return several logs as one: the rows of each follow those of the one before.

    Tasks are one where workload key and target are equal. Sources that are the same object are
    one. Of console table and latency curve the last is kept.
    """
    tasks = Tasks()
    sources: list[ByteSource] = []
    positions: list[tuple[int, int]] = []
    columns = []
    refused = []
    messages = []
    first_row = 0
    for log in logs:
        index = np.array([tasks.add(each) for each in log.tasks], np.int32)
        places = _places(log, sources, positions)
        trials = log.trials
        columns.append(
            replace(
                trials,
                task=index[trials.task] if len(index) else trials.task,
                source=places[trials.source] if len(places) else trials.source,
            )
        )
        refused += [replace(each, source=int(places[each.source])) for each in log.refused]
        messages += [
            each if each.row < 0 else replace(each, row=each.row + first_row)
            for each in log.messages
        ]
        first_row += len(trials)
    tuners = {each.tuner for each in logs if each.tuner}
    whole = TuningParts(
        title,
        tuners.pop() if len(tuners) == 1 else "mixed" if tuners else "",
        tuple(tasks.found),
        concatenate(columns),
        tuple(sources),
        tuple(positions),
        tuple(source for log in logs for source in log.beside),
        tuple(refused[:MOST_REFUSED]),
        sum(log.num_refused for log in logs),
        sum((Counter(log.undecoded) for log in logs), Counter()),
        any(log.cut for log in logs),
        {key: text for log in logs for key, text in log.dags.items()},
        last([log.console for log in logs]),
        last([log.latency for log in logs]),
        tuple(messages),
        "".join(log.glyphs for log in logs),
        tuple(text for log in logs for text in log.registered),
    )
    given = [each for log in logs for each in log.issues if each.rule not in COUNTED]
    return replace(whole, issues=Issues(dict.fromkeys((*given, *tasks.issues, *_counted(whole)))))


def concatenate(trials: Sequence[Trials]) -> Trials:
    """Return the rows of several tables of trials, one after the other."""
    if len(trials) == 1:
        return trials[0]
    tables = [TrialColumns().trials(), *trials]
    columns = {
        name: np.concatenate([getattr(table, name) for table in tables])
        for name in FIELDS
        if name not in ("version", "run_offsets")
    }
    runs = np.concatenate([np.diff(each.run_offsets) for each in tables])
    names = {name: None for each in tables for name in each.version.unique}
    code = {name: i for i, name in enumerate(names)}
    codes = [
        np.array([code[name] for name in each.version.unique], np.int32)[each.version.codes]
        for each in tables
    ]
    return Trials(
        **columns,
        run_offsets=np.concatenate([[0], np.cumsum(runs)]),
        version=StringColumn(tuple(names), np.concatenate(codes)),
    )


def _places(
    log: TuningParts, sources: list[ByteSource], positions: list[tuple[int, int]]
) -> npt.NDArray[np.int16]:
    """Return where the sources of a log lie among all of them; new ones are added."""
    places = []
    for source, position in zip(log.sources, log.positions, strict=True):
        at = next((i for i, each in enumerate(sources) if each is source), len(sources))
        if at == len(sources):
            sources.append(source)
            positions.append(position)
        positions[at] = position
        places.append(at)
    return np.array(places, np.int16)


def last(values: Sequence[T | None]) -> T | None:
    """Return the last value that is not None."""
    return next((each for each in reversed(values) if each is not None), None)


def _counted(log: TuningParts) -> list[Issue]:
    """Return the issues that say how many lines were not read."""
    found = []
    for each in log.refused:
        message = f"line {each.line:,} at byte {each.offset:,} skipped: {each.why}"
        file = log.sources[each.source].name
        found.append(Issue("lines-refused", IssueSeverity.ERROR, message, file=file))
    more = log.num_refused - len(log.refused)
    if more > 0:
        message = f"{counted(more, 'more line')} skipped; the first {MOST_REFUSED:,} are listed"
        found.append(Issue("lines-refused", IssueSeverity.ERROR, message))
    if log.undecoded:
        most = sorted(log.undecoded.items(), key=lambda item: -item[1])
        told = ", ".join(f"{what} ({count:,})" for what, count in most[:_SHOWN])
        told += f" and {counted(len(most) - _SHOWN, 'more kind')}" if len(most) > _SHOWN else ""
        message = f"lines that only running code could decode are left alone: {told}"
        found.append(Issue("not-decoded", IssueSeverity.NOTE, message))
    if log.cut:
        message = "the last line ends too early, as where tuning was killed or still runs"
        found.append(Issue("log-cut", IssueSeverity.NOTE, message))
    return found


FAMILY = Family("tuning", (RECORDS, DAGS, OUTPUT), assemble)
