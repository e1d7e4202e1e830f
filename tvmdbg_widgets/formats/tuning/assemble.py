"""Files of one tuning joined to one log."""

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
from tvmdbg_widgets.formats.tuning.record_file import KIND as RECORDS
from tvmdbg_widgets.formats.tuning.record_file import MOST_REFUSED, RecordFile, read_file, tuner_of
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import Issue, IssueLog, Issues, IssueSeverity
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

#: Rules of issues that are counted again over all logs.
COUNTED = ("lines-refused", "log-cut", "not-decoded")

#: Rules of issues that come from lines of records, alone or joined to others.
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
    files = [piece for piece in pieces if piece.kind == "tuning-records"]
    logs = [log_of(piece.value, _workloads(piece, files)) for piece in files]
    return beside(combine(logs, options.title), pieces, issues, registered=registered)


def beside(
    log: TuningParts,
    pieces: Iterable[Part],
    issues: Iterable[Issue] = (),
    *,
    registered: Iterable[str] = (),
    dags: Mapping[str, str] | None = None,
) -> TuningParts:
    """Join records with the other files of a tuning; parameters as :func:`assemble`."""
    outputs = [piece for piece in pieces if piece.kind == "tuning-output"]
    dumps = [piece for piece in pieces if piece.kind == "tuning-dags"]
    texts: dict[str, str] = {}
    for piece in outputs:
        texts |= piece.value.dags
    for piece in dumps:
        texts |= piece.value
    measured = [one for piece in outputs for one in piece.value.measurements]
    messages = join_messages(measured, log.trials)
    other_issues = [*issues, *(piece for piece in log.issues if piece.rule != "messages-unjoined")]
    if alone := sum(piece.row < 0 for piece in messages):
        of_all = f"{alone:,} of {counted(len(messages), 'measurement')} in the output"
        text = f"{of_all} {agree(alone, 'fits')} no record, or several"
        if not len(log.trials):
            text = f"{counted(alone, 'measurement')} in the output, and no record to join: "
            text += "open the log along"
        name = outputs[0].source.name
        other_issues.append(Issue("messages-unjoined", IssueSeverity.NOTE, text, file=name))
    text = "a line as of a tuning's output stands in this text, but no row, measurement or DAG "
    text += "can be read: are its lines cut? Paste complete lines"
    other_issues += [
        Issue("output-empty", IssueSeverity.ERROR, text, file=piece.source.name)
        for piece in outputs
        if piece.value.is_empty
    ]
    console = last([piece.value.console for piece in outputs])
    if console is not None and not log.tasks:
        log = replace(log, tuner=console.tuner, tasks=_printed_tasks(console))
    return replace(
        log,
        beside=tuple(piece.source for piece in (*outputs, *dumps)),
        dags=texts | dict(dags or {}),
        console=console,
        latency=last([piece.value.latency for piece in outputs]),
        messages=messages,
        glyphs="".join(piece.value.glyphs for piece in outputs),
        registered=tuple(registered),
        issues=Issues(other_issues),
    )


def _printed_tasks(console: ConsoleTable) -> tuple[Task, ...]:
    """Return the tasks of a printed table, if no record has any."""
    return tuple(
        Task(
            index,
            cast("Tuner", console.tuner),
            Workload(row.description, row.description or f"task {row.id}", None),
            Target.parse(""),
        )
        for index, row in enumerate(console.rows)
    )


def log_of(file: RecordFile, workloads: Sequence[StoredWorkload] = ()) -> TuningParts:
    """Return one file of records as a log of its own."""
    log = file.log
    issues = IssueLog(log.title, log.issues)
    missing = [task for task, number in file.numbered.items() if number >= len(workloads)]
    if missing:
        text = (
            f"{len(missing):,} of {counted(len(log.tasks), 'task')} "
            f"{agree(len(missing), 'names')} workloads that are in none of the files; open "
            "database_workload.json along to see what they compute"
        )
        issues.note("workload-missing", text)
    tasks = tuple(_named(task, file, workloads) for task in log.tasks)
    return replace(log, tasks=tasks, issues=Issues(issues))


def _workloads(piece: Part, files: Sequence[Part]) -> tuple[StoredWorkload, ...]:
    """Return the workloads that a file's records number: its own, else its folder's or the only."""
    file: RecordFile = piece.value
    if file.workloads or not file.numbered:
        return file.workloads
    others = [other for other in files if other.value.workloads]
    beside = [other for other in others if _folder(other) == _folder(piece)] or others
    return beside[0].value.workloads if len(beside) == 1 else ()


def _folder(piece: Part) -> str:
    return piece.source.name.rpartition("/")[0]


def _named(task: Task, file: RecordFile, workloads: Sequence[StoredWorkload]) -> Task:
    """Return a task with the workload of its number."""
    number = file.numbered.get(task.index, math.inf)
    if number >= len(workloads):
        return task
    stored = workloads[int(number)]
    workload = Workload(stored.hash, stored.name or stored.hash, task.workload.args)
    return replace(task, workload=workload)


class FollowedParts:
    """The parts of a log while its files grow; rewritten files are read again."""

    def __init__(self, parts: TuningParts) -> None:
        self.parts = parts
        self._texts: list[Part] | None = None

    def poll(self) -> bool:
        """Read new lines; False if there are none."""
        parts = self.parts
        records = [_change(change) for change in parts.sources]
        texts = [_change(change) for change in parts.beside]
        if all(change is Change.NONE for change in (*records, *texts)):
            return False
        databases = any(task.tuner == "metaschedule" for task in parts.tasks)
        if Change.REWRITTEN in records or (databases and Change.GROWN in records):
            pieces = [_read(item, RECORDS) for item in self.parts.sources]
            kept = [item for item in self.parts.issues if item.rule not in OF_LINES]
            log = assemble(pieces, kept, JoinOptions(self.parts.title))
        else:
            log = _with_new_lines(parts, [i for i, c in enumerate(records) if c is Change.GROWN])
        if self._texts is None or any(change is not Change.NONE for change in texts):
            self._texts = [_read(change) for change in parts.beside]
        self.parts = beside(log, self._texts, registered=parts.registered, dags=parts.dags)
        return True


def _change(source: ByteSource) -> Change:
    return source.change() if isinstance(source, GrowingFile) else Change.NONE


def _read(source: ByteSource, kind: Kind | None = None) -> Part:
    """Read the current content of a file."""
    if isinstance(source, GrowingFile):
        source = source.again()
    if kind is None:
        kind = identify(source, FAMILY.kinds) or OUTPUT
    candidate = FileCandidate(source, kind)
    return candidate.read(progress=False) if kind is RECORDS else candidate.read()


def _with_new_lines(parts: TuningParts, grown: Sequence[int]) -> TuningParts:
    """Return a log with the new lines of some of its files."""
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
    """Return a log without its unfinished last lines, which are read again."""
    trials = parts.trials
    begin = np.array([offset for offset, _ in parts.positions], np.int64)
    again = np.isin(trials.source, grown)
    again[again] = trials.offset[again] >= begin[trials.source[again]]
    last_lines = [
        read_file(source, offset=offset, line=line).log
        for source, (offset, line) in zip(parts.sources, parts.positions, strict=True)
    ]
    return replace(
        parts,
        trials=trials.take(np.flatnonzero(~again)) if again.any() else trials,
        refused=tuple(
            line
            for line in parts.refused
            if line.source not in grown or line.offset < begin[line.source]
        ),
        num_refused=parts.num_refused - sum(last_lines[at].num_refused for at in grown),
        undecoded=Counter(parts.undecoded)
        - sum((Counter(last_lines[at].undecoded) for at in grown), Counter()),
        cut=any(line.cut for at, line in enumerate(last_lines) if at not in grown),
    )


T = TypeVar("T")

_SHOWN = 5


def combine(logs: Sequence[TuningParts], title: str) -> TuningParts:
    """Return several logs as one; tasks of equal key and target are merged."""
    tasks = Tasks()
    sources: list[ByteSource] = []
    positions: list[tuple[int, int]] = []
    columns = []
    refused = []
    messages = []
    first_row = 0
    for log in logs:
        index = np.array([tasks.add(item) for item in log.tasks], np.int32)
        places = _places(log, sources, positions)
        trials = log.trials
        columns.append(
            replace(
                trials,
                task=index[trials.task] if len(index) else trials.task,
                source=places[trials.source] if len(places) else trials.source,
            )
        )
        refused += [replace(item, source=int(places[item.source])) for item in log.refused]
        messages += [
            item if item.row < 0 else replace(item, row=item.row + first_row)
            for item in log.messages
        ]
        first_row += len(trials)
    result = TuningParts(
        title,
        tuner_of(log.tuner for log in logs),
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
    given = [item for log in logs for item in log.issues if item.rule not in COUNTED]
    return replace(result, issues=Issues(dict.fromkeys((*given, *tasks.issues, *_counted(result)))))


def concatenate(trials: Sequence[Trials]) -> Trials:
    """Concatenate tables of trials."""
    if len(trials) == 1:
        return trials[0]
    tables = [TrialColumns().trials(), *trials]
    columns = {
        name: np.concatenate([getattr(table, name) for table in tables])
        for name in FIELDS
        if name not in ("version", "run_offsets")
    }
    runs = np.concatenate([np.diff(part.run_offsets) for part in tables])
    names = {name: None for part in tables for name in part.version.unique}
    code = {name: i for i, name in enumerate(names)}
    codes = [
        np.array([code[name] for name in part.version.unique], np.int32)[part.version.codes]
        for part in tables
    ]
    return Trials(
        **columns,
        run_offsets=np.concatenate([[0], np.cumsum(runs)]),
        version=StringColumn(tuple(names), np.concatenate(codes)),
    )


def _places(
    log: TuningParts, sources: list[ByteSource], positions: list[tuple[int, int]]
) -> npt.NDArray[np.int16]:
    """Return the places of a log's sources among all; new ones are added."""
    places = []
    for source, position in zip(log.sources, log.positions, strict=True):
        at = next((i for i, known in enumerate(sources) if known is source), len(sources))
        if at == len(sources):
            sources.append(source)
            positions.append(position)
        positions[at] = position
        places.append(at)
    return np.array(places, np.int16)


def last(values: Sequence[T | None]) -> T | None:
    """Return the last value that is not None."""
    return next((value for value in reversed(values) if value is not None), None)


def _counted(log: TuningParts) -> list[Issue]:
    """Return the issues that count unread lines."""
    issues = []
    for line in log.refused:
        message = f"line {line.line:,} at byte {line.offset:,} skipped: {line.why}"
        file = log.sources[line.source].name
        issues.append(Issue("lines-refused", IssueSeverity.ERROR, message, file=file))
    more = log.num_refused - len(log.refused)
    if more > 0:
        message = f"{counted(more, 'more line')} skipped; the first {MOST_REFUSED:,} are listed"
        issues.append(Issue("lines-refused", IssueSeverity.ERROR, message))
    if log.undecoded:
        most = sorted(log.undecoded.items(), key=lambda item: -item[1])
        kinds = ", ".join(f"{what} ({count:,})" for what, count in most[:_SHOWN])
        kinds += f" and {counted(len(most) - _SHOWN, 'more kind')}" if len(most) > _SHOWN else ""
        message = f"lines that only running code could decode are left alone: {kinds}"
        issues.append(Issue("not-decoded", IssueSeverity.NOTE, message))
    if log.cut:
        message = "the last line ends too early, as where tuning was killed or still runs"
        issues.append(Issue("log-cut", IssueSeverity.NOTE, message))
    return issues


FAMILY = Family("tuning", (RECORDS, DAGS, OUTPUT), assemble)
