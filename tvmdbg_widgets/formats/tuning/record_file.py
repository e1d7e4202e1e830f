"""A file of tuning records, of any tuner, line by line."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tqdm.auto import tqdm

from tvmdbg_widgets.formats.tuning import autotvm, metaschedule
from tvmdbg_widgets.formats.tuning.ansor import AnsorReader
from tvmdbg_widgets.formats.tuning.columns import TrialColumns
from tvmdbg_widgets.formats.tuning.json_line import decode, is_other
from tvmdbg_widgets.formats.tuning.lines import (
    BOM,
    COMMENT,
    LONGEST,
    InWords,
    LineBlock,
    LineProblem,
    blocks,
    pickled,
)
from tvmdbg_widgets.formats.tuning.metaschedule import StoredWorkload
from tvmdbg_widgets.formats.tuning.tasks import Tasks
from tvmdbg_widgets.model.base.issues import Issue, IssueSeverity
from tvmdbg_widgets.model.tuning.parts import RefusedLine
from tvmdbg_widgets.model.tuning.task import Task
from tvmdbg_widgets.model.tuning.trials import Trials
from tvmdbg_widgets.model.tuning.workload import Workload
from tvmdbg_widgets.sources.byte_source import ByteSource

#: Refused lines that are kept, with their reasons; all are counted.
MOST_REFUSED = 10_000
_LONGEST_RECORD = 4 << 20


@dataclass(frozen=True)
class RecordFile:
    """What a file of records holds."""

    source: ByteSource
    tasks: tuple[Task, ...]
    trials: Trials
    refused: tuple[RefusedLine, ...] = ()
    num_refused: int = 0
    undecoded: Counter[str] = field(default_factory=Counter)
    cut: bool = False
    workloads: tuple[StoredWorkload, ...] = ()
    numbered: dict[int, int] = field(default_factory=dict)
    issues: tuple[Issue, ...] = ()
    offset: int = 0
    line: int = 1


def read_file(
    source: ByteSource, *, offset: int = 0, line: int = 1, progress: bool = False
) -> RecordFile:
    """Read the records of a file, from a line on.

    A line that is no record is refused, and the others are read.
    """
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
            found = InWords(f"{block.too_long:,}")
            problem = LineProblem("line", f"at most {LONGEST:,} bytes", found)
            self._refuse(block.offset, block.number, problem)
            length = block.too_long + block.ended
            self._next = block.offset + length, block.number + 1
            return length
        offset, number = block.offset, block.number
        last = number + len(block.lines) - 1
        # Only the first line may begin in an earlier chunk, and be longer than one.
        usual = len(block.lines[0]) <= _LONGEST_RECORD
        for whole in block.lines:
            line = whole[:-1] if whole[-1:] == b"\r" else whole
            if not usual or not self._ansor.add_usual(line, offset, number):
                self._other(line, offset, number, ended=block.ended or number < last)
                usual = True
            elif self._ansor.odd:
                self._note(self._ansor.odd, number)
            offset += len(whole) + 1
            number += 1
        self._next = (offset, number) if block.ended else (block.offset, block.number)
        return offset - block.offset

    def file(self, offset: int, line: int) -> RecordFile:
        """Return all that was read."""
        at, number = self._next or (offset, line)
        return RecordFile(
            self._source,
            tuple(self._tasks.found),
            self._columns.trials(),
            tuple(self._refused),
            self._num_refused,
            self._undecoded,
            self._cut,
            tuple(self._workloads),
            {task: workload for (workload, _), task in self._numbered.items()},
            (*self._tasks.issues, *self._odd.values()),
            at,
            number,
        )

    def _other(self, line: bytes, offset: int, number: int, *, ended: bool) -> None:
        """Read a line that is no Ansor record in the spacing of TVM."""
        if offset == 0 and line.startswith(BOM):
            offset, line = len(BOM), line[len(BOM) :]
        if not line.strip() or line[:1] in COMMENT:
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
            found = InWords(f"{len(line):,}")
            raise LineProblem("line", f"at most {_LONGEST_RECORD:,} bytes", found)
        document = decode(line)
        if isinstance(document, dict) and autotvm.is_record(document):
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
        task, config, result, version = autotvm.parse(document)
        index = self._tasks.add(task)
        schedule = autotvm.digest(task, config), autotvm.unroll_of(config)
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
