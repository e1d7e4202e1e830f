"""What a tuning prints, and the small files beside its log.

The text may be any mixture of: the task scheduler's tables, measurements of verbose output, lines
of ``total_latency.tsv``, and DAG texts, alone or below ``Task 0  (workload key: …)``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tvmdbg_widgets.formats.tuning.console import (
    MEASURED,
    META_HEADER,
    NUMBER,
    PROGRESS,
    Measurement,
    Measurements,
    SchedulerTables,
)
from tvmdbg_widgets.formats.tuning.dags.hashes import key_hash
from tvmdbg_widgets.formats.tuning.lines import BOM, blocks
from tvmdbg_widgets.model.tuning.parts import ConsoleTable, LatencyCurve
from tvmdbg_widgets.sources.byte_source import ByteSource

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
#: Of a line without the blanks before it: two patterns of blanks in a row cost squares.
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
    """What was found in a text."""

    console: ConsoleTable | None = None
    measurements: tuple[Measurement, ...] = ()
    glyphs: str = ""
    latency: LatencyCurve | None = None
    dags: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether no row, total, measurement or DAG was found."""
        has_rows = self.console is not None and (
            bool(self.console.rows) or self.console.total_ms is not None
        )
        return not (has_rows or self.measurements or self.glyphs or self.latency or self.dags)


def read_output(source: ByteSource) -> Output:
    """Read a text that a tuning printed; what is none of the above is passed over."""
    tables, measurements, dags = SchedulerTables(), Measurements(), _Dags()
    rounds: list[tuple[float, float, float]] = []
    for block in blocks(source):
        for raw in block.lines:
            if len(raw) > _LONGEST:
                continue
            line = raw.removeprefix(BOM).decode("utf-8", "replace").rstrip("\r")
            if "ElapsedTime" in line and (found := _LATENCY.fullmatch(line)):
                elapsed, latency, trials = found.groups()
                rounds.append((_number(elapsed), _number(latency), float(trials)))
            for part in line.split("\r"):  # progress bars write over themselves
                tables.add(part)
            measurements.add(line)
            dags.add(line)
    curve = None
    if rounds:
        curve = LatencyCurve(*np.array(rounds, np.float64).T)
    return Output(tables.last(), measurements.all(), measurements.glyphs, curve, dags.all())


def hashes_of(text: str) -> dict[str, str]:
    """Return a DAG text by the hashes that a workload key may name it by.

    Keys hash a text with inputs without shapes; that of the text as it stands is added.
    """
    return {key_hash(text): text, _md5(text): text}


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(errors="replace"), usedforsecurity=False).hexdigest()


class _Dags:
    """Lines of DAG texts, one text after the other."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._key: str | None = None
        self._found: dict[str, str] = {}

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
        """Return the texts so far."""
        self._end()
        return self._found

    def _end(self) -> None:
        lines, self._lines = self._lines, []
        if not any(map(_PLACEHOLDER.fullmatch, lines)):
            return
        text = "".join(f"{line}\n" for line in lines)
        self._found.update(hashes_of(text))
        if self._key is not None:
            self._found[self._key] = text
            self._key = None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan
