"""Export of log records, and a log and its trials described in text."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from tvmdbg_widgets.analysis.tuning.error_tables import shown_glyphs
from tvmdbg_widgets.analysis.tuning.sessions import TUNERS, seconds_text, utc
from tvmdbg_widgets.formats.tuning.record import row_numbers, write_lines
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.model.tuning.parts import ConsoleTable, ConsoleTask, LatencyCurve, TuningParts
from tvmdbg_widgets.model.tuning.trials import Trials


def write(
    parts: TuningParts, path: str | os.PathLike[str], rows: Iterable[int] | None = None
) -> Path:
    """Write records to a file that TVM reads, with their original lines.

    MetaSchedule's records name workloads by number: keep ``database_workload.json`` beside it.

    Parameters
    ----------
    path : path
        An existing file is replaced.
    rows : iterable of int, optional
        Only these, in this order; what ``select`` returns is taken, too.

    Raises
    ------
    ValueError, IndexError
        The records are of several tuners or databases; there is no such row.
    TypeError
        A mask or fractions are no rows.
    """
    at = row_numbers(range(len(parts.trials)) if rows is None else rows, parts.trials)
    tuners = {parts.tasks[task].tuner for task in np.unique(parts.trials.task[at]).tolist()}
    if len(tuners) > 1:
        named = ", ".join(sorted(TUNERS[tuner] for tuner in tuners))
        query = f"tuner:{min(tuners)}"
        raise ValueError(
            f"these records are of several tuners ({named}), and no reader of TVM takes them from "
            f'one file: write those of each, as log.write(path, log.select("{query}"))'
        )
    files = len(np.unique(parts.trials.source[at]))
    if tuners == {"metaschedule"} and files > 1:
        raise ValueError(
            f"these records are of {counted(files, 'database')} of MetaSchedule, each of which "
            "numbers its workloads on its own: write one file for each"
        )
    return write_lines(path, parts, at)


_ROWS = 12


_GLYPHS = {
    ".": "built",
    ".E": "build failed",
    ".T": "build timed out",
    "*": "ran",
    "*E": "run failed",
    "*T": "run timed out",
}


def described(parts: TuningParts) -> Iterator[str]:
    """Yield the contents of a log, line by line: tuner, counts, time, and unread parts."""
    trials = parts.trials
    versions = [version for version in trials.version.unique if version]
    yield one_line(" ".join([TUNERS.get(parts.tuner, "no records"), *sorted(versions)]))
    failed = int(np.count_nonzero(trials.failed))
    share = f" ({percent(failed / len(trials))})" if failed else ""
    counts = [counted(len(parts.tasks), "task"), counted(len(trials), "trial")]
    yield f"{', '.join(counts)}, {failed:,} failed{share}"
    yield _span(trials)
    if parts.console is not None:
        yield _printed_table(parts.console)
    if not len(trials):
        yield from _of_console_output(parts)
    if parts.latency is not None:
        yield _curve(parts.latency)
    yield _refused(parts)
    for what, count in parts.undecoded.items():
        yield f"{counted(count, 'line')} left undecoded: {one_line(what)}"
    if parts.cut:
        yield "the last line ends too early, as where tuning was killed or still runs"


def _span(trials: Trials) -> str:
    known = trials.timestamp[~np.isnan(trials.timestamp)]
    if not len(known):
        return "no timestamps"
    first, last = float(known.min()), float(known.max())
    return f"{seconds_text(last - first)} from {utc(first).removesuffix(' UTC')} to {utc(last)}"


def _printed_table(table: ConsoleTable) -> str:
    trials = "" if table.trials is None else f" after {counted(table.trials, 'trial')}"
    used = "" if table.used_s is None else f" and {seconds_text(table.used_s)}"
    tasks = counted(len(table.rows), "task")
    return f"printed by TVM: {tasks}, total latency {_total_text(table.total_ms)}{trials}{used}"


def _of_console_output(parts: TuningParts) -> Iterator[str]:
    rows = () if parts.console is None else parts.console.rows
    for row in rows[:_ROWS]:
        yield one_line(f"task {row.id}: {', '.join(_cells(row))}")
    if len(rows) > _ROWS:
        yield f"and {counted(len(rows) - _ROWS, 'more task')}: log.console.rows"
    shown = shown_glyphs(parts.glyphs)
    if any(shown.values()):
        lines = [
            f"{count:,} × {glyph} ({_GLYPHS[glyph]})" for glyph, count in shown.items() if count
        ]
        yield f"shown while it ran: {', '.join(lines)}"
    if parts.messages:
        errors = Counter(MeasureError(message.error).label for message in parts.messages)
        lines = [f"{count:,} × {label}" for label, count in errors.most_common()]
        yield f"{counted(len(parts.messages), 'measurement')} printed: {', '.join(lines)}"
    if rows or parts.glyphs or parts.messages:
        yield "schedules, costs and times of the trials are missing: they are in the log alone"


def _cells(task: ConsoleTask) -> Iterator[str]:
    yield task.description or "no name"
    unknown = "no latency"
    yield unknown if task.latency_ms is None else duration_text(task.latency_ms * 1e6)
    if task.gflops is not None:
        yield f"{task.gflops:,.6g} GFLOPS"
    if task.trials is not None:
        yield counted(task.trials, "trial")


def _curve(curve: LatencyCurve) -> str:
    last = float(curve.latency_ms[-1])
    trials = counted(int(curve.trials[-1]), "trial")
    rounds = counted(len(curve.trials), "round")
    return f"total_latency.tsv: {rounds}, total latency {_total_text(last)} after {trials}"


def _total_text(milliseconds: float | None) -> str:
    if milliseconds is None or math.isnan(milliseconds):
        return "unknown"
    return duration_text(milliseconds * 1e6)


def _refused(parts: TuningParts) -> str:
    if not parts.num_refused:
        return "0 lines skipped"
    first = f": line {parts.refused[0].line:,}, {parts.refused[0].why}" if parts.refused else ""
    return one_line(f"{counted(parts.num_refused, 'line')} skipped{first}")
