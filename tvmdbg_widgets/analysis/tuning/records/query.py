"""From the tree of a query to the trials it finds, over columns."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.query.masks import (
    Fits,
    Mask,
    Masks,
    UnknownWordError,
    any_fits,
    compared,
    fitting,
)
from tvmdbg_widgets.analysis.tuning.curves import best_so_far
from tvmdbg_widgets.analysis.tuning.records.choose import best_rows
from tvmdbg_widgets.analysis.tuning.records.columns import (
    duplicated,
    improved,
    num_repeats,
    repeated,
    spread,
)
from tvmdbg_widgets.analysis.tuning.records.fields import STATUSES
from tvmdbg_widgets.analysis.tuning.rounds import round_of
from tvmdbg_widgets.analysis.tuning.sessions import elapsed
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tvmdbg_widgets.analysis.query.parser import Tree
    from tvmdbg_widgets.model.tuning.parts import TuningParts
    from tvmdbg_widgets.model.tuning.task import Task

Floats = npt.NDArray[np.float64]

_NS = 1e9
#: Fields in seconds; queries hold them in nanoseconds.
_DURATIONS = ("cost", "best", "all_cost", "time")


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
        of_task = self._of_tasks(lambda task: (*_names(task), task.target.text), fits)
        return of_task | (self._errors(fits) & self._trials.failed)

    def _text(self, field: str, fits: Fits, *, differs: bool) -> Mask:
        if field == "is":
            found = self._statuses(fits)
            return ~found if differs else found
        if field == "error":
            found = self._errors(fits)
            return ~found if differs else found
        codes: npt.NDArray[np.signedinteger]
        texts: list[tuple[str, ...]]
        if field == "version":
            column = self._trials.version
            codes, texts = column.codes, [(each,) for each in column.unique]
        elif field == "file":
            codes, texts = self._trials.source, [(each.name,) for each in self._parts.sources]
        else:
            codes, texts = self._trials.task, list(map(_TASK_TEXTS[field], self._parts.tasks))
        known = np.array([any(each) for each in texts], bool)[codes]
        self._note(field, known)
        found = any_fits(map(_lowered, texts), fits)[codes]
        return known & ~found if differs else known & found

    def _of_tasks(self, texts: Callable[[Task], Iterable[str]], fits: Fits) -> Mask:
        found = any_fits([_lowered(texts(task)) for task in self._parts.tasks], fits)
        return found[self._trials.task]

    def _errors(self, fits: Fits) -> Mask:
        codes = np.array([*MeasureError])
        return np.isin(self._trials.error, codes[any_fits(map(_error_texts, MeasureError), fits)])

    def _statuses(self, fits: Fits) -> Mask:
        found = self._none()
        for status in itertools.compress(STATUSES, fits(STATUSES)):
            found |= self._status(status)
        return found

    def _status(self, status: str) -> Mask:
        trials = self._trials
        of_status: dict[str, Callable[[], Mask]] = {
            "valid": lambda: ~trials.failed,
            "failed": lambda: trials.failed,
            "best": lambda: np.isin(
                np.arange(len(trials)), best_rows(trials, len(self._parts.tasks))
            ),
            "improved": lambda: improved(trials),
            "repeated": lambda: repeated(trials),
            "duplicate": lambda: duplicated(trials),
        }
        return of_status[status]()

    def _compare(self, field: str, by: str, value: float) -> Mask:
        values = self._numbers(field)
        known = ~np.isnan(values)
        self._note(field, known)
        return known & compared(values, by, value / _NS if field in _DURATIONS else value)

    def _numbers(self, field: str) -> Floats:
        trials = self._trials
        of_field: dict[str, Callable[[], npt.NDArray[np.generic]]] = {
            "task": lambda: trials.task,
            "error": lambda: trials.error,
            "cost": lambda: trials.cost,
            "best": lambda: best_so_far(trials),
            "all_cost": lambda: trials.all_cost,
            "time": lambda: elapsed(trials),
            "timestamp": lambda: trials.timestamp,
            "row": lambda: np.arange(len(trials)),
            "trial": lambda: trials.number,
            "round": lambda: round_of(trials),
            "unroll": lambda: np.where(trials.unroll < 0, np.nan, trials.unroll),
            "repeats": lambda: num_repeats(trials),
            "spread": lambda: spread(trials),
        }
        return of_field[field]().astype(np.float64)


def _names(task: Task) -> tuple[str, ...]:
    return task.name, task.workload.name, task.workload_key


_TASK_TEXTS: dict[str, Callable[[Task], tuple[str, ...]]] = {
    "task": _names,
    "name": _names,
    "target": lambda task: (task.target.text,),
    "kind": lambda task: (task.target.kind,),
    "model": lambda task: (task.target.model,),
    "tuner": lambda task: (task.tuner,),
}


def _lowered(texts: Iterable[str]) -> list[str]:
    return [each.lower() for each in texts]


def _error_texts(error: MeasureError) -> tuple[str, str]:
    return error.label.lower(), error.name.lower()


#: Fields that have few words, all of them known.
_ERRORS = sorted(MeasureError, key=lambda each: each % len(MeasureError))
_CLOSED = {
    "is": STATUSES,
    "error": (*(each.label for each in _ERRORS), *(each.name for each in _ERRORS)),
}
