"""Files of records: which are such, and their trials, tasks and refused lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import msgspec
from tqdm.auto import tqdm

from tvmdbg_widgets.formats.family import Kind
from tvmdbg_widgets.formats.tuning import lines as metaschedule
from tvmdbg_widgets.formats.tuning.ansor import AnsorReader, check_keys
from tvmdbg_widgets.formats.tuning.json_line import Tasks, TrialColumns, decode, is_other, target_of
from tvmdbg_widgets.formats.tuning.lines import (
    BOM,
    COMMENT,
    LONGEST,
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
from tvmdbg_widgets.model.base.text import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.tuning.measure_errors import AUTOTVM_FAILED_COST
from tvmdbg_widgets.model.tuning.parts import RefusedLine, Task, TuningParts, Workload
from tvmdbg_widgets.sources.byte_source import ByteSource

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
