"""Fields of trials for queries and data frames, and the best trials of a task."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.query import (
    TIMES,
    Fits,
    Mask,
    Masks,
    Tree,
    Units,
    UnknownWordError,
    Vocabulary,
    any_fits,
    compared,
    fitting,
)
from tvmdbg_widgets.analysis.tuning.curves import best_so_far, improvements, round_of
from tvmdbg_widgets.analysis.tuning.sessions import elapsed
from tvmdbg_widgets.model.base.text import data_frame
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.model.tuning.parts import TuningParts
from tvmdbg_widgets.model.tuning.trials import FIELDS as RECORDED
from tvmdbg_widgets.model.tuning.trials import Trials

Rows = npt.NDArray[np.int64]


def ranked(trials: Trials) -> tuple[Rows, Rows]:
    """Return the valid trials per task by mean cost, the first of equal ones first."""
    valid = np.flatnonzero(~trials.failed & ~np.isnan(trials.cost))
    order = np.lexsort((valid, trials.cost[valid], trials.task[valid]))
    rows = valid[order]
    return rows, trials.task[rows].astype(np.int64)


def best_rows(trials: Trials, num_tasks: int) -> Rows:
    """Return the best row per task (int64 [num_tasks]), -1 without a valid one."""
    rows, tasks = ranked(trials)
    best = np.full(num_tasks, -1, np.int64)
    first = np.flatnonzero(np.diff(tasks, prepend=-1))
    best[tasks[first]] = rows[first]
    return best


class TrialMasks(Masks):
    """One query over the trials of a log."""

    def __init__(self, parts: TuningParts) -> None:
        super().__init__(len(parts.trials))
        self._parts = parts
        self._trials = parts.trials

    def _term(self, term: Tree) -> Mask:
        match term:
            case ["word", mode, text]:
                return self._word(fitting(mode, text))
            case ["text", field, mode, text, differs]:
                fits = fitting(mode, text)
                if field in _CLOSED and not fits(_lowered(_CLOSED[field])).any():
                    raise UnknownWordError(field, text, _CLOSED[field])
                return self._text(field, fits, differs=differs)
            case ["compare", field, by, value]:
                return self._compare(field, by, float(value))
        raise AssertionError(term)

    def _word(self, fits: Fits) -> Mask:
        codes, texts = _of_task(*_NAMES, "target.text")(self._parts)
        of_task = any_fits(map(_lowered, texts), fits)[codes]
        return of_task | (self._text("error", fits, differs=False) & self._trials.failed)

    def _text(self, field: str, fits: Fits, *, differs: bool) -> Mask:
        if field == "is":
            fitting = self._statuses(fits)
            return ~fitting if differs else fitting
        codes, texts = TEXTS[field](self._parts)
        known = np.array([any(text) for text in texts], bool)[codes]
        self._note(field, known)
        fitting = any_fits(map(_lowered, texts), fits)[codes]
        return np.asarray(known & (fitting != differs))

    def _statuses(self, fits: Fits) -> Mask:
        trials, rows = self._trials, np.arange(self._count)
        of_status: dict[str, Callable[[], Mask]] = {
            "valid": lambda: ~trials.failed,
            "failed": lambda: trials.failed,
            "best": lambda: np.isin(rows, best_rows(trials, len(self._parts.tasks))),
            "improved": lambda: np.isin(rows, improvements(trials)),
            "repeated": lambda: repeated(trials),
            "duplicate": lambda: duplicated(trials),
        }
        asked = [of_status[status]() for status in itertools.compress(STATUSES, fits(STATUSES))]
        return functools.reduce(operator.or_, asked, self._none())

    def _compare(self, name: str, by: str, value: float) -> Mask:
        field = BY_NAME[name]
        values = field.compared(self._parts)
        known = ~np.isnan(values)
        self._note(name, known)
        return known & compared(values, by, field.in_its_unit(value))


def _lowered(texts: Iterable[str]) -> list[str]:
    return [text.lower() for text in texts]


#: Fields with few, fixed words.
_ERRORS = sorted(MeasureError, key=lambda each: each % len(MeasureError))

STATUSES: Final = ("valid", "failed", "best", "improved", "repeated", "duplicate")
"""What a trial can be, as ``is:best`` asks for it."""
_CLOSED = {
    "is": STATUSES,
    "error": (*(error.label for error in _ERRORS), *(error.name for error in _ERRORS)),
}

Values: TypeAlias = Callable[["TuningParts"], npt.NDArray[Any]]
#: A code per trial, and the texts of the codes.
Texts: TypeAlias = Callable[["TuningParts"], tuple[npt.NDArray[Any], Sequence[tuple[str, ...]]]]

_RUN_TIME: Final = Units(TIMES, "ns, us, ms or s", needed=True)
_WALL_TIME: Final = Units(
    {**TIMES, "min": 60e9, "h": 3600e9}, "ns, us, ms, s, min or h", needed=True
)
_UNITS: Final = {"run time": _RUN_TIME, "wall time": _WALL_TIME}


@dataclass(frozen=True)
class TrialField:
    """A field; empty `name` if not queryable, empty `column` if not in data frames."""

    name: str
    column: str
    text: str
    values: Values | None = None
    texts: Texts | None = None
    units: Units | None = None
    unknown: int | None = None

    def compared(self, parts: TuningParts) -> npt.NDArray[np.float64]:
        """Return the values, NaN where unknown."""
        values = np.asarray(self.values and self.values(parts))
        known = np.ones(len(values), bool) if self.unknown is None else values != self.unknown
        return np.where(known, values, np.nan)

    def in_its_unit(self, value: float) -> float:
        """Convert a query's number to the unit of the values; queries give times in nanoseconds."""
        return value / 1e9 if self.units in (_RUN_TIME, _WALL_TIME) else value

    def of_frame(self, parts: TuningParts) -> Any:
        """Return the column of a data frame; equal texts are one category."""
        if self.texts is None or self.values is not None:
            return self.values and self.values(parts)
        import pandas as pd

        codes, texts = self.texts(parts)
        place = {text: at for at, text in enumerate(dict.fromkeys(first for first, *_ in texts))}
        places = np.array([place[first] for first, *_ in texts], np.int64)
        return pd.Categorical.from_codes(places[codes], categories=list(place))


def _recorded(name: str) -> TrialField:
    field = RECORDED[name]
    column = f"{name}_{field.unit}" if field.unit else name
    units = _UNITS.get(field.query)
    return TrialField(
        name, column, field.text, lambda parts: np.asarray(getattr(parts.trials, name)), None, units
    )


def _of_task(*attributes: str) -> Texts:
    getters = list(map(operator.attrgetter, attributes))
    return lambda parts: (
        parts.trials.task,
        [tuple(get(task) for get in getters) for task in parts.tasks],
    )


_NAMES: Final = ("name", "workload.name", "workload_key")


def _errors(parts: TuningParts) -> tuple[npt.NDArray[Any], list[tuple[str, ...]]]:
    codes = np.array(MeasureError)
    return codes.searchsorted(parts.trials.error), [
        (error.label, error.name) for error in MeasureError
    ]


#: In the order of the data frame.
TRIAL_FIELDS: Final = (
    TrialField(
        "task",
        "task",
        "index of the task, or part of its name, function or key",
        lambda parts: parts.trials.task,
        _of_task(*_NAMES),
    ),
    TrialField("name", "name", "name of the task", texts=_of_task(*_NAMES)),
    TrialField("target", "target", "text of the target", texts=_of_task("target.text")),
    TrialField("kind", "", "its kind, `cuda`", texts=_of_task("target.kind")),
    TrialField("model", "", "its `-model`", texts=_of_task("target.model")),
    TrialField("tuner", "tuner", "`ansor`, `autotvm` or `metaschedule`", texts=_of_task("tuner")),
    TrialField("row", "", "number in the log, from 0", lambda parts: np.arange(len(parts.trials))),
    TrialField("trial", "trial", "number in its task, from 0", lambda parts: parts.trials.number),
    TrialField(
        "round", "round", "round of the task scheduler, from 0", lambda p: round_of(p.trials)
    ),
    _recorded("cost"),
    TrialField("", "min_cost_s", "lowest of the repeats", lambda p: extremes(p.trials)[0]),
    TrialField("", "max_cost_s", "highest of the repeats", lambda p: extremes(p.trials)[1]),
    TrialField(
        "repeats", "repeats", "how many times were measured", lambda p: num_repeats(p.trials)
    ),
    TrialField(
        "spread",
        "",
        "highest minus lowest of the repeats over their mean",
        lambda parts: spreads(parts.trials),
        units=Units({"%": 0.01}, "%", needed=True),
    ),
    TrialField(
        "best",
        "best_s",
        "lowest cost of the task so far",
        lambda parts: best_so_far(parts.trials),
        units=_RUN_TIME,
    ),
    TrialField(
        "error",
        "error",
        "number, name as TVM prints it (`BuildTimeoutError`) or as Python has it (`BUILD_TIMEOUT`)",
        lambda parts: parts.trials.error,
        _errors,
    ),
    TrialField("", "error_name", "name as TVM prints it", texts=_errors),
    *(_recorded(field.name) for field in RECORDED.values() if field.query and field.name != "cost"),
    TrialField(
        "time",
        "elapsed_s",
        "tuning time since the first record, without the gaps of a resumed log",
        lambda parts: elapsed(parts.trials),
        units=_WALL_TIME,
    ),
    replace(_recorded("unroll"), unknown=-1),
    TrialField(
        "version",
        "version",
        RECORDED["version"].text,
        texts=lambda p: (
            p.trials.version.codes,
            [(version,) for version in p.trials.version.unique],
        ),
    ),
    TrialField(
        "file",
        "file",
        "the file that has the record",
        texts=lambda parts: (parts.trials.source, [(source.name,) for source in parts.sources]),
    ),
    replace(_recorded("line"), name=""),
)

Floats = npt.NDArray[np.float64]


def num_repeats(trials: Trials) -> Floats:
    """Return the number of costs per trial (float64 [N]); NaN for a failed one."""
    counts = np.diff(trials.run_offsets).astype(np.float64)
    return np.where(counts > 0, counts, np.nan)


def extremes(trials: Trials) -> tuple[Floats, Floats]:
    """Return lowest and highest cost per trial, seconds; NaN for a failed one."""
    lowest, highest = np.full(len(trials), np.nan), np.full(len(trials), np.nan)
    some = np.flatnonzero(np.diff(trials.run_offsets) > 0)
    if len(some):
        starts = trials.run_offsets[some]
        lowest[some] = np.minimum.reduceat(trials.run_costs, starts)
        highest[some] = np.maximum.reduceat(trials.run_costs, starts)
    return lowest, highest


def spreads(trials: Trials) -> Floats:
    """Return the range of costs over their mean per trial; NaN below two repeats, or of zeros."""
    lowest, highest = extremes(trials)
    ratios = np.full(len(trials), np.nan)
    several = (np.diff(trials.run_offsets) > 1) & (trials.cost > 0)
    with np.errstate(over="ignore"):
        np.divide(highest - lowest, trials.cost, out=ratios, where=several)
    return ratios


BY_NAME: Final = {field.name: field for field in TRIAL_FIELDS if field.name}

TEXTS: Final = {name: field.texts for name, field in BY_NAME.items() if field.texts}
_TEXTS: Final = (*TEXTS, "is")
_NUMBERS: Final = tuple(name for name, field in BY_NAME.items() if field.values)
TRIALS: Final = Vocabulary(
    _TEXTS,
    _NUMBERS,
    tuple(dict.fromkeys(_TEXTS + _NUMBERS)),
    "error:6 task:3",
    {name: field.units for name, field in BY_NAME.items() if field.units},
)
"""Of the trials of a tuning: durations in nanoseconds, shares of 1."""


def trials_frame(parts: TuningParts, rows: npt.NDArray[np.intp] | None = None) -> Any:
    """Return one row per trial, in log order (``pandas.DataFrame``)."""
    frame = data_frame(
        {field.column: field.of_frame(parts) for field in TRIAL_FIELDS if field.column}
    )
    frame.index.name = "row"
    return frame if rows is None else frame.loc[rows]


Bools = npt.NDArray[np.bool_]


def repeated(trials: Trials) -> Bools:
    """Return the trials whose schedule was tried before for the task (bool [N])."""
    return _equals_earlier(trials.schedule)


def duplicated(trials: Trials) -> Bools:
    """Return the trials that equal an earlier one: schedule, costs, error and time (bool [N])."""
    cost = np.nan_to_num(trials.cost, nan=-1.0)
    return _equals_earlier(trials.schedule, trials.timestamp, trials.all_cost, cost, trials.error)


def _equals_earlier(*columns: npt.NDArray[np.generic]) -> Bools:
    order = np.lexsort(columns[::-1])
    same = np.ones(max(len(order) - 1, 0), bool)
    for column in columns:
        same &= column[order[1:]] == column[order[:-1]]
    repeats = np.zeros(len(order), bool)
    repeats[order[1:]] = same
    return repeats
