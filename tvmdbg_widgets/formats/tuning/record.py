"""One record, read again from its line."""

from __future__ import annotations

from typing import Any

from tvmdbg_widgets.formats.tuning.ansor import steps_of
from tvmdbg_widgets.formats.tuning.json_line import decode
from tvmdbg_widgets.formats.tuning.lines import LineProblem
from tvmdbg_widgets.formats.tuning.result import MEASURED
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.model.tuning.parts import TuningParts
from tvmdbg_widgets.model.tuning.record import Record
from tvmdbg_widgets.model.tuning.steps import AnyStep
from tvmdbg_widgets.model.tuning.trials import Trials
from tvmdbg_widgets.sources.byte_source import ByteSource


def read_line(parts: TuningParts, row: int) -> bytes:
    """Return the line of a record as it stands in its file, without its end."""
    trials = parts.trials
    if not hasattr(row, "__index__"):
        raise TypeError(f"a record is taken by its row, an int, not by {row!r:.80}")
    if not -len(trials) <= row < len(trials):
        raise no_such_row(row, trials)
    source: ByteSource = parts.sources[trials.source[row]]
    return source.read(int(trials.offset[row]), int(trials.length[row]))


def no_such_row(row: int, trials: Trials) -> IndexError:
    """Return what to raise for a row that the log has not."""
    return IndexError(f"row {row}: the log has {counted(len(trials), 'record')}, numbered from 0")


def read_record(parts: TuningParts, row: int) -> Record:
    """Return one record with its steps."""
    line = read_line(parts, row)
    trials = parts.trials
    row %= len(trials)
    task = parts.tasks[trials.task[row]]
    try:
        steps = steps_of(line) if task.tuner == "ansor" else ()
        config = None if task.tuner == "ansor" else _config(task.tuner, decode(line))
    except (LineProblem, LookupError, TypeError) as problem:
        raise _changed(parts, row, problem) from None
    begin, end = trials.run_offsets[row : row + 2]
    measured = {name: getattr(trials, name)[row].item() for name in MEASURED}
    return Record(
        row=row,
        task=task,
        line=line,
        costs=tuple(trials.run_costs[begin:end].tolist()),
        version=trials.version[row],
        steps=steps,
        config=config,
        where=f"{parts.sources[trials.source[row]].name}, line {trials.line[row]:,}",
        **measured | {"error": MeasureError(measured["error"])},
    )


def read_steps(parts: TuningParts, row: int) -> tuple[AnyStep, ...]:
    """Return the steps of a record alone, quicker than with all else; other tuners have none."""
    line = read_line(parts, row)
    if parts.tasks[parts.trials.task[row]].tuner != "ansor":
        return ()
    try:
        return steps_of(line)
    except (LineProblem, LookupError, TypeError) as problem:
        raise _changed(parts, row, problem) from None


def _config(tuner: str, document: Any) -> Any:
    """Return the config of an AutoTVM record, or the trace of MetaSchedule's."""
    if tuner == "metaschedule":
        return document[1][0]
    return document["config"] if "config" in document else document["i"][5]


def _changed(parts: TuningParts, row: int, problem: Exception) -> FormatError:
    return FormatError(
        f"line {parts.trials.line[row]:,} is not the record that was read before",
        file=parts.sources[parts.trials.source[row]].name,
        offset=int(parts.trials.offset[row]),
        found=problem,
        hint="Open the log again.",
    )
