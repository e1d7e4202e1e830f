"""Tables and measurements in the printed output of a tuning."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from tvmdbg_widgets.formats.family import Kind
from tvmdbg_widgets.formats.tuning.dag_text import key_hash, text_md5
from tvmdbg_widgets.formats.tuning.lines import BOM, blocks
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.model.tuning.parts import ConsoleTable, ConsoleTask, LatencyCurve
from tvmdbg_widgets.sources.byte_source import ByteSource

NUMBER = "[0-9.]{1,30}"

# PrintTableInfo, python/tvm/auto_scheduler/task_scheduler.py; with a description since v0.9.
_HEADER = re.compile(
    r"\W*\| +ID +\|(?: +Task Description +\|)? Latency \(ms\) \| Speed \(GFLOPS\) \| Trials \|\s*"
)
_ROW = re.compile(
    rf"\W*\| +([0-9]+) \|(?:(.*)\|)? +({NUMBER}|-) \| +(-?{NUMBER}|-) \| +([0-9]+) \|\s*"
)
_TOTAL = re.compile(
    rf"\W*(?:Estimated total|Total) latency: ({NUMBER}|-) ms\s+Trials: ([0-9]+)\s+"
    rf"Used time : ({NUMBER}) s\b.*"
)
# TaskSchedulerNode::TuningStatistics, src/meta_schedule/task_scheduler/task_scheduler.cc.
META_HEADER = r"\W*ID \| +Name \| +FLOP \| +Weight \| +Speed \(GFLOPS\) \| +Latency \(us\) \|"
_META_HEADER = re.compile(rf"{META_HEADER}.{{0,200}}")
_META_TOTAL = re.compile(rf"\W*Total (trials|latency \(us\)): ({NUMBER}(?:e[+-]?[0-9]{{1,3}})?)\s*")
# progress_bar, python/tvm/autotvm/tuner/callback.py; numbers of the task are the tutorials' own.
PROGRESS = rf"Current/Best: +{NUMBER}/ *{NUMBER} [kMGT]?FLOPS \| Progress: \("
_PROGRESS = re.compile(
    rf"(?:([^|\r]{{0,200}}?)(?<! ) +)?Current/Best: +{NUMBER}/ *({NUMBER}) ([kMGT]?)FLOPS \| "
    rf"Progress: \(([0-9]{{1,9}})/[0-9]{{1,9}}\) \| ({NUMBER}) s(?: Done\.)?.{{0,200}}"
)
_GIGA = {"": 1e-9, "k": 1e-6, "M": 1e-3, "G": 1.0, "T": 1e3}
_TASK_NUMBER = re.compile(r"\[Task +([0-9]{1,6})/ *[0-9]{1,6}\]")
# Tuner.tune, python/tvm/autotvm/tuner/tuner.py, of MeasureResult.
_OF_AUTOTVM = re.compile(
    r"\W*(?:DEBUG:autotvm:)?No: ([0-9]{1,9})\s+\wFLOPS: \S+\s+result: MeasureResult\("
    r"costs=\((.*)\), error_no=(?:<?MeasureErrorNo\.\w{1,30}: )?([0-8])>?, "
    r"all_cost=([0-9.e+-]{1,30}), timestamp=([0-9.e+-]{1,30})\).*"
)
# ProgramMeasurerNode::Measure and the printer of MeasureResult, src/auto_scheduler/measure.cc.
MEASURED = r"\s*No: ([0-9]{1,9})\s+GFLOPS: \S+(?: / \S+)?\s+results: MeasureResult\("
_MEASURED = re.compile(rf"{MEASURED}(.*)")
_COSTS = re.compile(
    r"cost:\[([^\]]*)\], error_no:([0-8]), all_cost:([0-9.e+-]+), Tstamp:([0-9.e+-]+)\)\s*"
)
_FAILED = re.compile(r"error_type:(\w+), error_msg:(.*)", re.DOTALL)
_END = re.compile(r"(?:(.*), )?all_cost:([0-9.e+-]+), Tstamp:([0-9.e+-]+)\)\s*", re.DOTALL)
_BEGIN = re.compile(r"Get [0-9]+ programs (?:to|for) measure.*")
# LocalBuilder and LocalRunner, python/tvm/auto_scheduler/measure.py.
_GLYPHS = re.compile(r"((?:[.*][ET]?)+)=*\s*")
_GLYPH = re.compile(r"[.*][ET]?")
_ERRORS = {each.label: each for each in MeasureError}
_MOST_TEXT = 64 << 10
_META_COLUMNS = 9


class _SchedulerTables:
    """The task scheduler's tables; the last is kept."""

    def __init__(self) -> None:
        self._rows: list[ConsoleTask] = []
        self._inside = False
        self._complete: ConsoleTable | None = None
        self._of_meta = False
        self._meta_trials: int | None = None
        self._bars: dict[str, ConsoleTask] = {}
        self._bar_seconds: dict[str, float] = {}

    def add(self, line: str) -> None:
        if "|" in line:
            if _HEADER.fullmatch(line):
                self._rows, self._inside, self._of_meta = [], True, False
            elif _META_HEADER.fullmatch(line):
                self._rows, self._inside, self._of_meta = [], True, True
                self._meta_trials = None
            elif self._of_meta and self._inside:
                self._add_meta(line)
            elif bar := _PROGRESS.fullmatch(line):
                self._add_progress(*bar.groups())
            elif self._inside and (row := _ROW.fullmatch(line)):
                number, description, latency, speed, trials = row.groups()
                self._rows.append(
                    ConsoleTask(
                        int(number[:9]),
                        (description or "").strip(),
                        _number(latency),
                        _number(speed),
                        int(trials[:15]),
                    )
                )
        elif self._inside and (printed := _META_TOTAL.fullmatch(line)):
            self._add_meta_total(*printed.groups())
        elif self._inside and (total := _TOTAL.fullmatch(line)):
            latency, trials, used = total.groups()
            self._complete = ConsoleTable(
                tuple(self._rows), _number(latency), int(trials[:15]), _number(used)
            )
            self._inside = False

    def last(self) -> ConsoleTable | None:
        """Return the last table; a cut one only if there is no other."""
        if self._complete is None and self._rows:
            tuner = "metaschedule" if self._of_meta else "ansor"
            return ConsoleTable(tuple(self._rows), trials=self._meta_trials, tuner=tuner)
        if self._complete is None and self._bars:
            bars = tuple(self._bars.values())
            return ConsoleTable(
                bars,
                trials=sum(bar.trials or 0 for bar in bars),
                used_s=sum(self._bar_seconds.values()),
                tuner="autotvm",
            )
        return self._complete

    def _add_meta(self, line: str) -> None:
        cells = [cell.strip() for cell in line.removeprefix("|").split("|")]
        # A name may have "|" in it; the columns beside it have none.
        if len(cells) < _META_COLUMNS or not cells[0].isdecimal():
            return
        flop, weight, speed, latency, _, trials = cells[-7:-1]
        latency_us = _number(latency)
        self._rows.append(
            ConsoleTask(
                int(cells[0][:9]),
                " | ".join(cells[1:-7]),
                None if latency_us is None else latency_us / 1e3,
                _number(speed),
                int(trials[:15]) if trials.isdecimal() else None,
                _number(flop),
                _number(weight),
            )
        )

    def _add_meta_total(self, what: str, value: str) -> None:
        total = _number(value)
        if what == "trials":
            self._meta_trials = None if total is None else int(total)
            return
        # TVM sums the known latencies: 0 without any.
        known = bool(self._rows) and all(row.latency_ms is not None for row in self._rows)
        total_ms = total / 1e3 if known and total is not None else None
        self._complete = ConsoleTable(
            tuple(self._rows), total_ms, self._meta_trials, tuner="metaschedule"
        )
        self._inside = False

    def _add_progress(
        self, prefix: str | None, best: str, unit: str, done: str, seconds: str
    ) -> None:
        name = (prefix or "").strip()
        number = _TASK_NUMBER.search(name)
        key = number[0] if number else name
        at = int(number[1]) - 1 if number else len(self._bars)
        gflops = (_number(best) or 0.0) * _GIGA[unit] or None
        at = self._bars[key].id if key in self._bars else at
        self._bars[key] = ConsoleTask(at, name, None, gflops, int(done))
        self._bar_seconds[key] = _number(seconds) or 0.0


@dataclass(frozen=True)
class Measurement:
    """One printed measurement; numbers are texts with the printed digits."""

    number: int
    error: int
    costs: tuple[str, ...] = ()
    all_cost: str = ""
    timestamp: str = ""
    message: str = ""
    glyphs: str = ""


class _Measurements:
    """The measurements of verbose output, and the glyphs of builds and runs."""

    def __init__(self) -> None:
        self._glyphs: list[str] = []
        self._measurements: list[Measurement] = []
        self._failed: tuple[int, str, list[str]] | None = None
        self._batch: list[str] = []
        self._batch_at = 0
        self._measuring = False
        self._dots = ""

    @property
    def glyphs(self) -> str:
        return "".join(self._glyphs)

    def add(self, line: str) -> None:
        numbered = "No: " in line
        if numbered and (of_autotvm := _OF_AUTOTVM.fullmatch(line)):
            self._end_failed("")
            self._add_autotvm(*of_autotvm.groups())
        elif numbered and (measured := _MEASURED.fullmatch(line)):
            self._end_failed("")
            self._begin(int(measured[1]), measured[2])
        elif self._failed is not None:
            self._go_on(line)
        elif _BEGIN.fullmatch(line):
            self._measuring = True
        elif glyphs := _GLYPHS.fullmatch(line):
            if self._measuring or "*" in line or "E" in line or "T" in line:
                self._add_glyphs(self._dots + glyphs[1])
                self._dots = ""
            else:  # dots alone may be another program's
                self._dots = glyphs[1]
        elif line.strip():
            self._dots = ""

    def all(self) -> tuple[Measurement, ...]:
        self._end_failed("")
        self._end_batch()
        return tuple(self._measurements)

    def _begin(self, number: int, result: str) -> None:
        if costs := _COSTS.fullmatch(result):
            parts = tuple(text.strip() for text in costs[1].split(","))
            self._measurements.append(Measurement(number, int(costs[2]), parts, costs[3], costs[4]))
        elif failed := _FAILED.fullmatch(result):
            self._failed = number, failed[1], []
            self._go_on(failed[2])

    def _add_autotvm(self, number: str, costs: str, error: str, all_cost: str, at: str) -> None:
        failed = int(error) != 0
        parts = () if failed else tuple(text.strip() for text in costs.split(",") if text.strip())
        message = costs.strip().rstrip(",")[:_MOST_TEXT] if failed else ""
        self._measurements.append(
            Measurement(int(number), int(error), parts, all_cost, at, message)
        )

    def _go_on(self, line: str) -> None:
        """Add a line of an error text, the last of which ends with the two times."""
        if self._failed is None:
            return
        lines = self._failed[2]
        if end := _END.fullmatch(line):
            if end[1] is not None:
                lines.append(end[1])
            self._end_failed(end[2], end[3])
        else:
            lines.append(line)

    def _end_failed(self, all_cost: str, timestamp: str = "") -> None:
        if self._failed is None:
            return
        number, name, lines = self._failed
        self._failed = None
        error = _ERRORS.get(name, MeasureError.UNKNOWN_ERROR)
        message = "\n".join(lines).strip()[:_MOST_TEXT]
        self._measurements.append(Measurement(number, int(error), (), all_cost, timestamp, message))

    def _add_glyphs(self, line: str) -> None:
        if len(self._measurements) > self._batch_at:
            self._end_batch()
        self._glyphs.append(line)
        self._batch.append(line)

    def _end_batch(self) -> None:
        """Give a batch's glyphs, ``.`` per build and ``*`` per run, to its measurements."""
        measured = self._measurements[self._batch_at :]
        batch = _GLYPH.findall("".join(self._batch)) if measured else []
        builds = [item for item in batch if item[0] == "."]
        runs = [item for item in batch if item[0] == "*"]
        if len(builds) == len(measured) and builds.count(".") == len(runs):
            left = iter(runs)
            self._measurements[self._batch_at :] = [
                replace(item, glyphs=next(left) if build == "." else build)
                for item, build in zip(measured, builds, strict=True)
            ]
        self._batch, self._batch_at = [], len(self._measurements)


def _number(text: str) -> float | None:
    with contextlib.suppress(ValueError):
        return number if math.isfinite(number := float(text)) else None
    return None


# LogEstimatedLatency, python/tvm/auto_scheduler/task_scheduler.py.
_LATENCY = re.compile(
    rf"ElapsedTime\(s\)\s+({NUMBER})\s+EstimatedLatency\(ms\)\s+({NUMBER}|N/A)\s+"
    r"Trials\s+([0-9]{1,15})\s*"
)
# The tutorials of auto_scheduler print this above each DAG.
_TASK = re.compile(r"=+ Task [0-9]+ +\(workload key: (.+)\) =+")
# ComputeDAG::PrintDAG, src/auto_scheduler/compute_dag.cc.
_PLACEHOLDER = re.compile(r"[^\s(=]+ = PLACEHOLDER\b.*")
_COMPUTE = re.compile(r"[^\s(=]+\([^()=]*\)(?:\.v[0-9]+)? (?:\+=|max=|min=|=|select\().*")
#: Matched without leading blanks: two patterns of blanks in a row take quadratic time.
_TOLD = re.compile(
    r"(?:"
    r"\| +ID +\|(?:.*\|)? Latency \(ms\) \|.*\| Trials \|"
    r"|(?:Estimated total|Total) latency: \S+ ms\s+Trials: "
    rf"|{MEASURED}|{META_HEADER}|[^|\r]{{0,200}}?{PROGRESS}"
    r"|(?:DEBUG:autotvm:)?No: [0-9]{1,9}\s+\wFLOPS: \S+\s+result: MeasureResult\(costs="
    r"|(?:[.*][ET]?){7}(?:[.*][ET]?)*=*\s*$"
    r"|Get [0-9]+ programs (?:to|for) measure"
    rf"|{_LATENCY.pattern}$|{_TASK.pattern}|[^\s(=]+ = PLACEHOLDER(?: \[[^\[\]]*\]| ?)$)"
)
_LONGEST = 1 << 20


def sniff(head: bytes) -> bool:
    """Whether a file that starts with these bytes is text that a tuning printed."""
    if b"\0" in head:
        return False
    lines = {*head.removeprefix(BOM).decode("utf-8", "replace").splitlines()}
    return any(_TOLD.match(line.strip().removeprefix("#").lstrip()) for line in lines)


@dataclass(frozen=True)
class Output:
    """The contents of a printed text."""

    console: ConsoleTable | None = None
    measurements: tuple[Measurement, ...] = ()
    glyphs: str = ""
    latency: LatencyCurve | None = None
    dags: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Return whether the text has no row, total, measurement or DAG."""
        has_rows = self.console is not None and (
            bool(self.console.rows) or self.console.total_ms is not None
        )
        return not (has_rows or self.measurements or self.glyphs or self.latency or self.dags)


def read_output(source: ByteSource) -> Output:
    """Read the printed text of a tuning; other lines are skipped."""
    tables, measurements, dags = _SchedulerTables(), _Measurements(), _Dags()
    rounds: list[tuple[float, float, float]] = []
    for block in blocks(source):
        for raw in block.lines:
            if len(raw) > _LONGEST:
                continue
            line = raw.removeprefix(BOM).decode("utf-8", "replace").rstrip("\r")
            if "ElapsedTime" in line and (match := _LATENCY.fullmatch(line)):
                elapsed, latency, trials = match.groups()
                rounds.append((_seconds(elapsed), _seconds(latency), float(trials)))
            for part in line.split("\r"):  # progress bars write over themselves
                tables.add(part)
            measurements.add(line)
            dags.add(line)
    curve = None
    if rounds:
        curve = LatencyCurve(*np.array(rounds, np.float64).T)
    return Output(tables.last(), measurements.all(), measurements.glyphs, curve, dags.all())


def hashes_of(text: str) -> dict[str, str]:
    """Return a DAG text by its possible hashes in workload keys, with and without input shapes."""
    return {key_hash(text): text, text_md5(text): text}


class _Dags:
    """Lines of DAG texts, one text after the other."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._key: str | None = None
        self._measurements: dict[str, str] = {}

    def add(self, line: str) -> None:
        if "=" in line and (_PLACEHOLDER.fullmatch(line) or _COMPUTE.fullmatch(line)):
            self._lines.append(line)
            if any(line.count(opened) != line.count(closed) for opened, closed in ("()", "[]")):
                self._lines.clear()  # the line is cut, and the text no DAG's
            return
        if self._lines:
            self._end()
        if line.startswith("=") and (task := _TASK.fullmatch(line)):
            self._key = task[1]

    def all(self) -> dict[str, str]:
        self._end()
        return self._measurements

    def _end(self) -> None:
        lines, self._lines = self._lines, []
        if not any(map(_PLACEHOLDER.fullmatch, lines)):
            return
        text = "".join(f"{line}\n" for line in lines)
        self._measurements.update(hashes_of(text))
        if self._key is not None:
            self._measurements[self._key] = text
            self._key = None


def _seconds(text: str) -> float:
    number = _number(text)
    return np.nan if number is None else number


KIND = Kind(
    "tuning-output", "output of a tuning", sniff, read_output, rank=1, pasted=True, grows=True
)
