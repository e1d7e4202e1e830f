"""Several logs as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.tuning.columns import TrialColumns
from tvmdbg_widgets.formats.tuning.record_file import MOST_REFUSED
from tvmdbg_widgets.formats.tuning.tasks import Tasks
from tvmdbg_widgets.model.base.issues import Issue, Issues, IssueSeverity
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.strings import StringColumn
from tvmdbg_widgets.model.tuning.parts import TuningParts
from tvmdbg_widgets.model.tuning.trials import FIELDS, Trials
from tvmdbg_widgets.sources.byte_source import ByteSource

T = TypeVar("T")

_SHOWN = 5

#: Rules of issues that are told anew of all logs together.
COUNTED = ("lines-refused", "log-cut", "not-decoded")


def combine(logs: Sequence[TuningParts], title: str) -> TuningParts:
    """Return several logs as one: the rows of each follow those of the one before.

    Tasks are one where workload key and target are equal. Sources that are the same object are
    one. Of console table and latency curve the last is kept.
    """
    tasks = Tasks()
    sources: list[ByteSource] = []
    positions: list[tuple[int, int]] = []
    columns = []
    refused = []
    messages = []
    first_row = 0
    for log in logs:
        index = np.array([tasks.add(each) for each in log.tasks], np.int32)
        places = _places(log, sources, positions)
        trials = log.trials
        columns.append(
            replace(
                trials,
                task=index[trials.task] if len(index) else trials.task,
                source=places[trials.source] if len(places) else trials.source,
            )
        )
        refused += [replace(each, source=int(places[each.source])) for each in log.refused]
        messages += [
            each if each.row < 0 else replace(each, row=each.row + first_row)
            for each in log.messages
        ]
        first_row += len(trials)
    tuners = {each.tuner for each in logs if each.tuner}
    whole = TuningParts(
        title,
        tuners.pop() if len(tuners) == 1 else "mixed" if tuners else "",
        tuple(tasks.found),
        concatenate(columns),
        tuple(sources),
        tuple(positions),
        tuple(source for log in logs for source in log.beside),
        tuple(refused[:MOST_REFUSED]),
        sum(log.num_refused for log in logs),
        sum((Counter(log.undecoded) for log in logs), Counter()),
        any(log.cut for log in logs),
        {key: text for log in logs for key, text in log.dags.items()},
        last([log.console for log in logs]),
        last([log.latency for log in logs]),
        tuple(messages),
        "".join(log.glyphs for log in logs),
        tuple(text for log in logs for text in log.registered),
    )
    given = [each for log in logs for each in log.issues if each.rule not in COUNTED]
    return replace(whole, issues=Issues(dict.fromkeys((*given, *tasks.issues, *_counted(whole)))))


def concatenate(trials: Sequence[Trials]) -> Trials:
    """Return the rows of several tables of trials, one after the other."""
    if len(trials) == 1:
        return trials[0]
    tables = [TrialColumns().trials(), *trials]
    columns = {
        name: np.concatenate([getattr(table, name) for table in tables])
        for name in FIELDS
        if name not in ("version", "run_offsets")
    }
    runs = np.concatenate([np.diff(each.run_offsets) for each in tables])
    names = {name: None for each in tables for name in each.version.unique}
    code = {name: i for i, name in enumerate(names)}
    codes = [
        np.array([code[name] for name in each.version.unique], np.int32)[each.version.codes]
        for each in tables
    ]
    return Trials(
        **columns,
        run_offsets=np.concatenate([[0], np.cumsum(runs)]),
        version=StringColumn(tuple(names), np.concatenate(codes)),
    )


def _places(
    log: TuningParts, sources: list[ByteSource], positions: list[tuple[int, int]]
) -> npt.NDArray[np.int16]:
    """Return where the sources of a log lie among all of them; new ones are added."""
    places = []
    for source, position in zip(log.sources, log.positions, strict=True):
        at = next((i for i, each in enumerate(sources) if each is source), len(sources))
        if at == len(sources):
            sources.append(source)
            positions.append(position)
        positions[at] = position
        places.append(at)
    return np.array(places, np.int16)


def last(values: Sequence[T | None]) -> T | None:
    """Return the last value that is not None."""
    return next((each for each in reversed(values) if each is not None), None)


def _counted(log: TuningParts) -> list[Issue]:
    """Return the issues that say how many lines were not read."""
    found = []
    for each in log.refused:
        message = f"line {each.line:,} at byte {each.offset:,} skipped: {each.why}"
        file = log.sources[each.source].name
        found.append(Issue("lines-refused", IssueSeverity.ERROR, message, file=file))
    more = log.num_refused - len(log.refused)
    if more > 0:
        message = f"{counted(more, 'more line')} skipped; the first {MOST_REFUSED:,} are listed"
        found.append(Issue("lines-refused", IssueSeverity.ERROR, message))
    if log.undecoded:
        most = sorted(log.undecoded.items(), key=lambda item: -item[1])
        told = ", ".join(f"{what} ({count:,})" for what, count in most[:_SHOWN])
        told += f" and {counted(len(most) - _SHOWN, 'more kind')}" if len(most) > _SHOWN else ""
        message = f"lines that only running code could decode are left alone: {told}"
        found.append(Issue("not-decoded", IssueSeverity.NOTE, message))
    if log.cut:
        message = "the last line ends too early, as where tuning was killed or still runs"
        found.append(Issue("log-cut", IssueSeverity.NOTE, message))
    return found
