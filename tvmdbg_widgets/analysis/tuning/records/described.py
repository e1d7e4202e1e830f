"""A log in some lines."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Final

import numpy as np

from tvmdbg_widgets.analysis.tuning.error_tables import shown_glyphs
from tvmdbg_widgets.analysis.tuning.sessions import seconds_text, utc
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.model.tuning.parts import (
    ConsoleTable,
    ConsoleTask,
    LatencyCurve,
    TuningParts,
)
from tvmdbg_widgets.model.tuning.trials import Trials

_ROWS = 12
_GLYPHS = {
    ".": "built",
    ".E": "build failed",
    ".T": "build timed out",
    "*": "ran",
    "*E": "run failed",
    "*T": "run timed out",
}
TUNERS: Final = {
    "ansor": "Ansor",
    "autotvm": "AutoTVM",
    "metaschedule": "MetaSchedule",
    "mixed": "several tuners",
}
"""Names of the tuners, as people write them."""


def described(parts: TuningParts) -> Iterator[str]:
    """Yield what a log holds, a line each: tuner, counts, time, and what was not read."""
    trials = parts.trials
    versions = [each for each in trials.version.unique if each]
    yield one_line(" ".join([TUNERS.get(parts.tuner, "no records"), *sorted(versions)]))
    failed = int(np.count_nonzero(trials.failed))
    share = f" ({percent(failed / len(trials))})" if failed else ""
    counts = [counted(len(parts.tasks), "task"), counted(len(trials), "trial")]
    yield f"{', '.join(counts)}, {failed:,} failed{share}"
    yield _span(trials)
    if parts.console is not None:
        yield _printed(parts.console)
    if not len(trials):
        yield from _of_output(parts)
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


def _printed(table: ConsoleTable) -> str:
    """Say what the task scheduler printed last; its total has the weights of the network."""
    trials = "" if table.trials is None else f" after {counted(table.trials, 'trial')}"
    used = "" if table.used_s is None else f" and {seconds_text(table.used_s)}"
    tasks = counted(len(table.rows), "task")
    return f"printed by TVM: {tasks}, total latency {_total(table.total_ms)}{trials}{used}"


def _of_output(parts: TuningParts) -> Iterator[str]:
    """Yield what output tells without records, and what is missing."""
    rows = () if parts.console is None else parts.console.rows
    for each in rows[:_ROWS]:
        yield one_line(f"task {each.id}: {', '.join(_cells(each))}")
    if len(rows) > _ROWS:
        yield f"and {counted(len(rows) - _ROWS, 'more task')}: log.console.rows"
    shown = shown_glyphs(parts.glyphs)
    if any(shown.values()):
        told = [
            f"{count:,} × {glyph} ({_GLYPHS[glyph]})" for glyph, count in shown.items() if count
        ]
        yield f"shown while it ran: {', '.join(told)}"
    if parts.messages:
        errors = Counter(MeasureError(each.error).label for each in parts.messages)
        told = [f"{count:,} × {label}" for label, count in errors.most_common()]
        yield f"{counted(len(parts.messages), 'measurement')} printed: {', '.join(told)}"
    if rows or parts.glyphs or parts.messages:
        yield "schedules, costs and times of the trials are missing: they are in the log alone"


def _cells(each: ConsoleTask) -> Iterator[str]:
    yield each.description or "no name"
    unknown = "no latency"
    yield unknown if each.latency_ms is None else duration_text(each.latency_ms * 1e6)
    if each.gflops is not None:
        yield f"{each.gflops:,.6g} GFLOPS"
    if each.trials is not None:
        yield counted(each.trials, "trial")


def _curve(curve: LatencyCurve) -> str:
    last = float(curve.latency_ms[-1])
    trials = counted(int(curve.trials[-1]), "trial")
    rounds = counted(len(curve.trials), "round")
    return f"total_latency.tsv: {rounds}, total latency {_total(last)} after {trials}"


def _total(milliseconds: float | None) -> str:
    """Write a total; TVM has none while a task has no valid trial."""
    if milliseconds is None or math.isnan(milliseconds):
        return "unknown"
    return duration_text(milliseconds * 1e6)


def _refused(parts: TuningParts) -> str:
    if not parts.num_refused:
        return "0 lines refused"
    first = f": line {parts.refused[0].line:,}, {parts.refused[0].why}" if parts.refused else ""
    return one_line(f"{counted(parts.num_refused, 'line')} refused{first}")
