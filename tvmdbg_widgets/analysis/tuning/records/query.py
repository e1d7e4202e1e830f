"""From the tree of a query to the trials it finds, over columns."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.query.masks import Fits, Mask, Masks, any_fits, compared, fitting
from tvmdbg_widgets.analysis.query.tree import Compare, Text, Word
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
    from collections.abc import Callable, Iterable, Sequence

    from tvmdbg_widgets.analysis.query.tree import Path, Shape
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

    def _term(self, term: Word | Text | Compare | Shape | Path) -> Mask:
        match term:
            case Word(mode, text):
                return self._word(fitting(mode, text))
            case Text():
                return self._text(term)
            case Compare():
                return self._compare(term)
        raise AssertionError(term)

    def _word(self, fits: Fits) -> Mask:
        of_task = self._of_tasks(lambda task: (*_names(task), task.target.text), fits)
        return of_task | (self._errors(fits) & self._trials.failed)

    def _text(self, term: Text) -> Mask:
        fits = fitting(term.mode, term.text)
        if term.field == "is":
            return self._unless(term, self._statuses(fits), ~self._none())
        if term.field == "error":
            return self._unless(term, self._errors(fits), ~self._none())
        if term.field == "version":
            column = self._trials.version
            return self._of_column(term, column.codes, [(each,) for each in column.unique], fits)
        if term.field == "file":
            names = [(source.name,) for source in self._parts.sources]
            return self._of_column(term, self._trials.source, names, fits)
        texts = [_TASK_TEXTS[term.field](task) for task in self._parts.tasks]
        return self._of_column(term, self._trials.task, texts, fits)

    def _of_column(
        self,
        term: Text,
        codes: npt.NDArray[np.signedinteger],
        texts: Sequence[Iterable[str]],
        fits: Fits,
    ) -> Mask:
        known = np.array([any(each) for each in texts], bool)[codes]
        self._note(term.field, known)
        return self._unless(term, any_fits(map(_lowered, texts), fits)[codes], known)

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

    def _compare(self, term: Compare) -> Mask:
        values = self._numbers(term.field)
        known = ~np.isnan(values)
        self._note(term.field, known)
        value = term.value / _NS if term.field in _DURATIONS else term.value
        return known & compared(values, term.by, value)

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
