"""One record, read again from its line; files of records."""

from __future__ import annotations

import itertools
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
from tqdm.auto import tqdm

from tvmdbg_widgets.formats.family import Kind
from tvmdbg_widgets.formats.tuning import lines as metaschedule
from tvmdbg_widgets.formats.tuning.ansor import AnsorReader, check_keys, steps_of
from tvmdbg_widgets.formats.tuning.json_line import Tasks, TrialColumns, decode, is_other, target_of
from tvmdbg_widgets.formats.tuning.lines import (
    BOM,
    COMMENT,
    LONGEST,
    MEASURED,
    InWords,
    LineBlock,
    LineProblem,
    Result,
    StoredWorkload,
    array,
    blocks,
    pickled,
    read_result,
    text,
)
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError, Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.base.writing import replacing
from tvmdbg_widgets.model.tuning.measure_errors import AUTOTVM_FAILED_COST, MeasureError, Record
from tvmdbg_widgets.model.tuning.parts import RefusedLine, Task, TuningParts, Workload
from tvmdbg_widgets.model.tuning.steps import AnyStep
from tvmdbg_widgets.model.tuning.trials import Trials
from tvmdbg_widgets.sources.byte_source import ByteSource


def read_line(parts: TuningParts, row: int) -> bytes:
    """Return the raw line of a record without its end."""
    trials = parts.trials
    if isinstance(row, bool | np.bool_) or not hasattr(row, "__index__"):
        raise TypeError(f"a record is taken by its row, an int, not by {row!r:.80}")
    if not -len(trials) <= row < len(trials):
        raise _no_such_row(row, trials)
    source: ByteSource = parts.sources[trials.source[row]]
    return source.read(int(trials.offset[row]), int(trials.length[row]))


def row_numbers(rows: Iterable[int], trials: Trials) -> npt.NDArray[np.intp]:
    """Return rows as an array; refuse missing ones, masks and fractions."""
    at = np.asarray(rows if isinstance(rows, np.ndarray) else list(rows))
    if len(at) and at.dtype.kind not in "iu":
        raise TypeError(
            f"rows are whole numbers, not {at.dtype}: np.flatnonzero(mask) gives those of a mask"
        )
    for row in at[(at < -len(trials)) | (at >= len(trials))].tolist():
        raise _no_such_row(row, trials)
    return at.astype(np.intp)


def _no_such_row(row: int, trials: Trials) -> IndexError:
    return IndexError(f"row {row}: the log has {counted(len(trials), 'record')}, numbered from 0")


def read_record(parts: TuningParts, row: int) -> Record:
    """Return one record with its steps."""
    line, steps, config = _reread(
        parts, row, lambda tuner, line: (line, _steps(tuner, line), _config(tuner, line))
    )
    trials = parts.trials
    row %= len(trials)
    begin, end = trials.run_offsets[row : row + 2]
    measured = {name: getattr(trials, name)[row].item() for name in MEASURED}
    return Record(
        row=row,
        task=parts.tasks[trials.task[row]],
        line=line,
        costs=tuple(trials.run_costs[begin:end].tolist()),
        version=trials.version[row],
        steps=steps,
        config=config,
        where=f"{parts.sources[trials.source[row]].name}, line {trials.line[row]:,}",
        **measured | {"error": MeasureError(measured["error"])},
    )


def read_steps(parts: TuningParts, row: int) -> tuple[AnyStep, ...]:
    """Return the steps of a record alone, which is faster; other tuners have none."""
    return _reread(parts, row, _steps)


def read_schedule(parts: TuningParts, row: int) -> bytes:
    """Return the JSON of a record's steps, config or trace."""
    return _reread(parts, row, _schedule)


T = TypeVar("T")


def _reread(parts: TuningParts, row: int, read: Callable[[str, bytes], T]) -> T:
    line, trials = read_line(parts, row), parts.trials
    try:
        return read(parts.tasks[trials.task[row]].tuner, line)
    except (LineProblem, LookupError, TypeError) as problem:
        raise FormatError(
            f"line {trials.line[row]:,} is not the record that was read before",
            file=parts.sources[trials.source[row]].name,
            offset=int(trials.offset[row]),
            found=problem,
            hint="Open the log again.",
        ) from None


def _steps(tuner: str, line: bytes) -> tuple[AnyStep, ...]:
    return steps_of(line) if tuner == "ansor" else ()


def _config(tuner: str, line: bytes) -> Any:
    """Return the config of an AutoTVM record, or MetaSchedule's trace."""
    if tuner == "ansor":
        return None
    document = decode(line)
    if tuner == "metaschedule":
        return document[1][0]
    return document["config"] if "config" in document else document["i"][5]


class _RawAnsorRecord(msgspec.Struct):
    i: tuple[msgspec.Raw, tuple[msgspec.Raw, msgspec.Raw]]


_READ_ANSOR = msgspec.json.Decoder(_RawAnsorRecord).decode


def _schedule(tuner: str, line: bytes) -> bytes:
    if tuner != "ansor":
        return msgspec.json.encode(_config(tuner, line))
    try:
        return bytes(_READ_ANSOR(line).i[1][1])
    except msgspec.DecodeError:
        return msgspec.json.encode(decode(line)["i"][1][1])


_SNIFFED_LINES = 50
_NUMBER = rb"\s*-?[0-9]+\s*"
_STARTS = (
    re.compile(rb'\{\s*"[irv]"\s*:'),
    re.compile(rb'\{\s*"(input|config|result|version|tvm_version)"\s*:'),
    re.compile(rb"\[" + _NUMBER + rb",\s*\[\s*\[\s*\["),
    re.compile(rb'\[\s*"[0-9]{1,20}"\s*,\s*"[A-Za-z0-9+/=]{12}'),
)
_NEEDED = ((b'"i"', b'"r"', b'"v"'), (b'"input"', b'"config"', b'"result"'))


def sniff(head: bytes) -> bool:
    """Whether a file that starts with these bytes holds tuning records."""
    lines = head.removeprefix(BOM).split(b"\n")
    records = [line for line in lines if line.strip() and line[:1] not in COMMENT]
    return any(map(_is_record, records[:_SNIFFED_LINES]))


def _is_record(line: bytes) -> bool:
    if pickled(line.rstrip(b"\r")) is not None:
        return True
    for start, needed in zip(_STARTS, (*_NEEDED, (), ()), strict=True):
        if start.match(line):
            # The end of a long line lies behind the head.
            return all(key in line for key in needed) or not line.rstrip().endswith(b"}")
    return False


_MOST_LINES = 1_000


def write_lines(path: str | os.PathLike[str], parts: TuningParts, rows: Iterable[int]) -> Path:
    """Write the raw lines of records to a file."""
    with replacing(path) as file:
        for source, offset, length in _stretches(parts, rows):
            file.write(source.read(offset, length) + b"\n")
    return Path(path)


def _stretches(parts: TuningParts, rows: Iterable[int]) -> Iterator[tuple[ByteSource, int, int]]:
    """Yield source, offset and length of lines, consecutive ones as one."""
    trials = parts.trials
    at = row_numbers(rows, trials)
    source, begin = trials.source[at], trials.offset[at]
    end = begin + trials.length[at]
    # One byte between two lines is a line feed.
    apart = (source[1:] != source[:-1]) | (begin[1:] != end[:-1] + 1)
    apart |= np.diff(np.arange(len(at)) // _MOST_LINES) > 0
    bounds = np.concatenate([[0], np.flatnonzero(apart) + 1, [len(at)]]) if len(at) else at
    for first, after in itertools.pairwise(bounds.tolist()):
        offset = int(begin[first])
        yield parts.sources[source[first]], offset, int(end[after - 1]) - offset


#: Refused lines that are kept, with their reasons; all are counted.
MOST_REFUSED = 10_000
_LONGEST_RECORD = 4 << 20


@dataclass(frozen=True)
class RecordFile:
    """A file of records as a log; a database's workloads, and their numbers by task."""

    log: TuningParts
    workloads: tuple[StoredWorkload, ...]
    numbered: dict[int, int]


def tuner_of(tuners: Iterable[str]) -> str:
    """Return the one tuner, ``"mixed"``, or ``""`` if there is none."""
    known = {tuner for tuner in tuners if tuner}
    return known.pop() if len(known) == 1 else "mixed" if known else ""


def read_file(
    source: ByteSource, *, offset: int = 0, line: int = 1, progress: bool = False
) -> RecordFile:
    """Read the records of a file from a line on; other lines are refused."""
    reader = _RecordFileReader(source)
    bar = tqdm(
        desc="reading records",
        total=source.size - offset,
        unit="B",
        unit_scale=True,
        delay=1,
        leave=False,
        disable=not progress,
    )
    with bar:
        for block in blocks(source, offset, line):
            bar.update(reader.read(block))
    return reader.file(offset, line)


class _RecordFileReader:
    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self._tasks, self._columns = Tasks(), TrialColumns()
        self._ansor = AnsorReader(self._tasks, self._columns)
        self._refused: list[RefusedLine] = []
        self._num_refused = 0
        self._undecoded: Counter[str] = Counter()
        self._cut = False
        self._workloads: list[StoredWorkload] = []
        self._numbered: dict[tuple[int, str], int] = {}
        self._odd: dict[str, Issue] = {}
        self._next: tuple[int, int] | None = None

    def read(self, block: LineBlock) -> int:
        """Read the lines of a block; return its bytes."""
        if block.too_long:
            size = InWords(f"{block.too_long:,}")
            problem = LineProblem("line", f"at most {LONGEST:,} bytes", size)
            self._refuse(block.offset, block.number, problem)
            length = block.too_long + block.ended
            at = length * block.ended
            self._next = block.offset + at, block.number + block.ended
            return length
        offset, number = block.offset, block.number
        last = number + len(block.lines) - 1
        # Only the first line may begin in an earlier chunk, and be longer than one.
        usual = len(block.lines[0]) <= _LONGEST_RECORD
        for raw in block.lines:
            line = raw[:-1] if raw[-1:] == b"\r" else raw
            if not usual or not self._ansor.add_usual(line, offset, number):
                self._other(line, offset, number, ended=block.ended or number < last)
                usual = True
            elif self._ansor.odd:
                self._note(self._ansor.odd, number)
            offset += len(raw) + 1
            number += 1
        self._next = (offset, number) if block.ended else (block.offset, block.number)
        return offset - block.offset

    def file(self, offset: int, line: int) -> RecordFile:
        at, number = self._next or (offset, line)
        tasks = tuple(self._tasks.found)
        log = TuningParts(
            self._source.name,
            tuner_of(task.tuner for task in tasks),
            tasks,
            self._columns.trials(),
            (self._source,),
            ((at, number),),
            refused=tuple(self._refused),
            num_refused=self._num_refused,
            undecoded=self._undecoded,
            cut=self._cut,
            issues=Issues((*self._tasks.issues, *self._odd.values())),
        )
        numbered = {task: workload for (workload, _), task in self._numbered.items()}
        return RecordFile(log, tuple(self._workloads), numbered)

    def _other(self, line: bytes, offset: int, number: int, *, ended: bool) -> None:
        """Read a line that is no Ansor record in TVM's spacing."""
        if offset == 0 and line.startswith(BOM):
            offset, line = len(BOM), line[len(BOM) :]
        # A record behind blanks is a comment of Ansor alone.
        indented = line[:1] == b" " and any(start.match(line.lstrip()) for start in _STARTS[1:])
        if not line.strip() or (line[:1] in COMMENT and not indented):
            return
        if ended and self._num_refused >= MOST_REFUSED and line.count(b"\t") < 3 and is_other(line):
            self._num_refused += 1  # nobody asks for its words
            return
        try:
            self._add(line, offset, number)
        except LineProblem as problem:
            if problem.unfinished and not ended:
                self._cut = True
            else:
                self._refuse(offset, number, problem)

    def _add(self, line: bytes, offset: int, number: int) -> None:
        if line[:1] not in b"{[" and (what := pickled(line)) is not None:
            self._undecoded[what] += 1
            return
        if len(line) > _LONGEST_RECORD and not line.startswith(b'["'):
            size = InWords(f"{len(line):,}")
            raise LineProblem("line", f"at most {_LONGEST_RECORD:,} bytes", size)
        document = decode(line)
        if isinstance(document, dict) and is_record(document):
            self._autotvm(document, (offset, len(line), number))
        elif isinstance(document, dict):
            self._ansor.add(document, line, offset, number)
            if self._ansor.odd:
                self._note(self._ansor.odd, number)
        elif isinstance(document, list) and document and isinstance(document[0], str):
            self._workloads.append(metaschedule.read_workload(document))
        elif isinstance(document, list):
            self._metaschedule(document, (offset, len(line), number))
        else:
            raise LineProblem("line", "a tuning record", document)

    def _autotvm(self, document: dict[str, Any], at: tuple[int, int, int]) -> None:
        task, config, result, version = parse(document)
        index = self._tasks.add(task)
        encoded = msgspec.json.encode([task.target.text, task.workload_key, config])
        schedule = blake2b(encoded, digest_size=8).digest(), unroll_of(config)
        self._columns.add(index, result, version, schedule, at)
        if result.odd:
            self._note(result.odd, at[2])

    def _metaschedule(self, document: list[Any], at: tuple[int, int, int]) -> None:
        record = metaschedule.read_record(document)
        key = record.workload, record.target.text
        if key not in self._numbered:
            name = f"workload {record.workload} (not in the files)"
            workload = Workload(name, name, record.shapes)
            self._numbered[key] = self._tasks.add(Task(0, "metaschedule", workload, record.target))
        self._columns.add(self._numbered[key], record.result, "", (record.digest(), -1), at)

    def _refuse(self, offset: int, number: int, problem: LineProblem) -> None:
        self._num_refused += 1
        if len(self._refused) < MOST_REFUSED:
            self._refused.append(RefusedLine(0, number, offset, str(problem)))

    def _note(self, odd: str, number: int) -> None:
        rule = "cost-without-error" if odd.startswith("no error") else "error-with-costs"
        if rule not in self._odd:
            message = f"line {number:,} has {odd}; it is the first such line"
            self._odd[rule] = Issue(rule, IssueSeverity.WARNING, message, file=self._source.name)


_KEYS = ("input", "config", "result", "version", "tvm_version")
_UNROLL = "auto_unroll_max_step"


def is_record(document: dict[str, Any]) -> bool:
    """Return whether a document is meant as a record of either version."""
    if "v" in document:
        return type(document["v"]) in (int, float)
    return "input" in document or "result" in document


def parse(document: dict[str, Any]) -> tuple[Task, Any, Result, str]:
    """Return task, config, result and version of a record."""
    old = "v" in document
    field, result, version = names = ("i", "r", "v") if old else ("input", "result", "version")
    check_keys(document, names if old else _KEYS)
    target, name, args, *rest = array(document[field], field, 6 if old else 4)
    named, given = text(name, f"{field}[1]"), array(args, f"{field}[2]")
    key = msgspec.json.encode([named, *given]).decode()
    workload = Workload(key, named, tuple(given))
    task = Task(0, "autotvm", workload, target_of(text(target, f"{field}[0]")))
    measured = read_result(document[result], result, AUTOTVM_FAILED_COST)
    if type(document[version]) not in (int, float):
        raise LineProblem(version, "a number", document[version])
    return task, rest[-1] if old else document["config"], measured, str(document[version])


def unroll_of(config: Any) -> int:
    """Return the knob ``auto_unroll_max_step`` of a config, or -1."""
    entity = config.get("entity", config.get("e")) if isinstance(config, dict) else None
    for knob in entity if isinstance(entity, list) else ():
        if isinstance(knob, list) and len(knob) == 3 and knob[0] == _UNROLL:
            value = knob[2]
            return value if type(value) is int and 0 <= value < 2**31 else -1
    return -1


KIND = Kind("tuning-records", "tuning log", sniff, read_file, grows=True, pasted=True)
