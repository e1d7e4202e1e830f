"""One record, read again from its line, and written as it stands."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.tuning.ansor import steps_of
from tvmdbg_widgets.formats.tuning.json_line import decode
from tvmdbg_widgets.formats.tuning.lines import (
    MEASURED,
    LineProblem,
)
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.base.writing import replacing
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError, Record
from tvmdbg_widgets.model.tuning.parts import TuningParts
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
            f"rows are integers, not {at.dtype}: np.flatnonzero(mask) gives those of a mask"
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
