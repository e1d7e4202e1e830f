"""One record, read again from its line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.formats.tuning.json_line import decode
from tvmdbg_widgets.formats.tuning.lines import LineProblem
from tvmdbg_widgets.formats.tuning.steps import parse_steps
from tvmdbg_widgets.model.errors import FormatError
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.model.tuning.record import Record

if TYPE_CHECKING:
    from tvmdbg_widgets.model.sources import ByteSource
    from tvmdbg_widgets.model.tuning.parts import TuningParts
    from tvmdbg_widgets.model.tuning.steps import AnyStep


def read_line(parts: TuningParts, row: int) -> bytes:
    """Return the line of a record as it stands in its file, without its end.

    Raises
    ------
    IndexError
        There is no such row.
    FormatError
        The file changed, other than by growing, since it was opened.
    """
    trials = parts.trials
    if not -len(trials) <= row < len(trials):
        raise IndexError(f"row {row}: the log has {len(trials):,} records, numbered from 0")
    source: ByteSource = parts.sources[trials.source[row]]
    return source.read(int(trials.offset[row]), int(trials.length[row]))


def read_record(parts: TuningParts, row: int) -> Record:
    """Return one record with its steps.

    Parameters
    ----------
    parts
    row
        Trial number; negative ones count from the end.

    Raises
    ------
    IndexError
        There is no such row.
    FormatError
        The file changed since it was opened.
    """
    line = read_line(parts, row)
    trials = parts.trials
    row %= len(trials)
    task = parts.tasks[trials.task[row]]
    file, number = parts.sources[trials.source[row]].name, int(trials.line[row])
    try:
        steps, config = _schedule(task.tuner, decode(line))
    except (LineProblem, LookupError, TypeError, AttributeError) as problem:
        raise FormatError(
            f"line {number:,} is not the record that was read when the log was opened",
            file=file,
            offset=int(trials.offset[row]),
            found=problem,
            hint="Open the log again.",
        ) from None
    begin, end = trials.run_offsets[row : row + 2]
    return Record(
        row=row,
        task=task,
        line=line,
        costs=tuple(trials.run_costs[begin:end].tolist()),
        cost=float(trials.cost[row]),
        error=MeasureError(int(trials.error[row])),
        all_cost=float(trials.all_cost[row]),
        timestamp=float(trials.timestamp[row]),
        version=trials.version[row],
        steps=steps,
        config=config,
        where=f"{file}, line {number:,}",
    )


def _schedule(tuner: str, document: Any) -> tuple[tuple[AnyStep, ...], Any]:
    """Return the steps of an Ansor record, or the config or trace of another."""
    if tuner == "ansor":
        return parse_steps(document["i"][1][1]), None
    if tuner == "metaschedule":
        return (), document[1][0]
    return (), document["config"] if "config" in document else document["i"][5]
