"""From the tree of a query to the trials it finds, over columns."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterable

import numpy as np

from tvmdbg_widgets.analysis.query.masks import (
    Fits,
    Mask,
    Masks,
    UnknownWordError,
    any_fits,
    compared,
    fitting,
)
from tvmdbg_widgets.analysis.query.parser import Tree
from tvmdbg_widgets.analysis.tuning.records.choose import best_rows
from tvmdbg_widgets.analysis.tuning.records.columns import duplicated, improved, repeated
from tvmdbg_widgets.analysis.tuning.records.fields import BY_NAME, STATUSES, TEXTS, names
from tvmdbg_widgets.model.tuning.measure_errors import MeasureError
from tvmdbg_widgets.model.tuning.parts import TuningParts


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
        texts = [_lowered((*names(task), task.target.text)) for task in self._parts.tasks]
        of_task = any_fits(texts, fits)[self._trials.task]
        return of_task | (self._text("error", fits, differs=False) & self._trials.failed)

    def _text(self, field: str, fits: Fits, *, differs: bool) -> Mask:
        if field == "is":
            found = self._statuses(fits)
            return ~found if differs else found
        codes, texts = TEXTS[field](self._parts)
        known = np.array([any(each) for each in texts], bool)[codes]
        self._note(field, known)
        found = any_fits(map(_lowered, texts), fits)[codes]
        return np.asarray(known & (found != differs))

    def _statuses(self, fits: Fits) -> Mask:
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
        asked = [of_status[each]() for each in itertools.compress(STATUSES, fits(STATUSES))]
        return functools.reduce(operator.or_, asked, self._none())

    def _compare(self, name: str, by: str, value: float) -> Mask:
        field = BY_NAME[name]
        values = field.compared(self._parts)
        known = ~np.isnan(values)
        self._note(name, known)
        return known & compared(values, by, field.in_its_unit(value))


def _lowered(texts: Iterable[str]) -> list[str]:
    return [each.lower() for each in texts]


#: Fields that have few words, all of them known.
_ERRORS = sorted(MeasureError, key=lambda each: each % len(MeasureError))
_CLOSED = {
    "is": STATUSES,
    "error": (*(each.label for each in _ERRORS), *(each.name for each in _ERRORS)),
}
