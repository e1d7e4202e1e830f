"""What queries find among rows that Python has as columns: trials, slices.

Those over the nodes of a graph are evaluated by the views' own ``js/src/graph/query``.
"""

from __future__ import annotations

import difflib
import functools
import itertools
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.query.errors import QueryError
from tvmdbg_widgets.analysis.query.parser import Tree, parse
from tvmdbg_widgets.analysis.query.regex import RegexError, search
from tvmdbg_widgets.analysis.query.vocabulary import Vocabulary

Mask = npt.NDArray[np.bool_]
Fits = Callable[[Sequence[str]], Mask]
"""Tells which of some texts, in lower case, fit a pattern."""


class Masks(ABC):
    """One query over N rows."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.unknown: dict[str, int] = {}

    def mask(self, query: Tree) -> Mask:
        """Return whether each row is found (bool [N])."""
        match query:
            case ["id", row]:
                return np.equal(np.arange(self._count), row)
            case ["not", part]:
                return ~self.mask(part)
            case ["and", *parts]:
                return functools.reduce(operator.and_, map(self.mask, parts))
            case ["or", *parts]:
                return functools.reduce(operator.or_, map(self.mask, parts))
            case _:
                return self._term(query)

    @abstractmethod
    def _term(self, term: Tree) -> Mask:
        """Return the rows that one term finds."""

    def _none(self) -> Mask:
        return np.zeros(self._count, bool)

    def _note(self, field: str, known: Mask) -> None:
        unknown = len(known) - int(known.sum())
        if unknown:
            self.unknown[field] = unknown


def rows_found(query: str, masks: Masks, vocabulary: Vocabulary) -> npt.NDArray[np.intp]:
    """Return the rows that a query finds, ascending; none for a query of nothing."""
    tree = parse(query, vocabulary)
    try:
        return np.flatnonzero([] if tree is None else masks.mask(tree))
    except RegexError as error:
        raise QueryError(query, max(0, query.find("/")), str(error)) from None
    except UnknownWordError as error:
        at = max(0, query.lower().find(error.text))
        raise QueryError(query, at, f"{error} at {at}{error.hint}") from None


class UnknownWordError(ValueError):
    """A text that a field with few words never has; `text` is in lower case."""

    def __init__(self, field: str, text: str, known: Sequence[str]) -> None:
        self.text = text
        of_lower = {each.lower(): each for each in reversed(known)}
        close = [of_lower[each] for each in difflib.get_close_matches(text, of_lower, n=3)]
        hint = f"did you mean {' or '.join(close)}?" if close else f"known are {', '.join(known)}"
        self.hint = f"; {hint}"
        super().__init__(f"no word of '{field}' is '{text}'")


def fitting(mode: str, text: str) -> Fits:
    """Return what tells which texts in lower case fit a pattern."""
    if mode == "has":
        return lambda texts: np.array([text in each for each in texts], bool)
    if mode == "is":
        return lambda texts: np.array([text == each for each in texts], bool)
    return lambda texts: search(text, texts, is_glob=mode == "glob")


def any_fits(several: Iterable[Sequence[str]], fits: Fits) -> Mask:
    """Return of each of some groups of texts in lower case whether any of them fits (bool [N])."""
    groups = list(several)
    of_text = fits(list(itertools.chain(*groups)))
    found = np.zeros(len(groups), bool)
    found[np.repeat(np.arange(len(groups)), list(map(len, groups)))[of_text]] = True
    return found


def compared(values: npt.NDArray[np.float64] | float, by: str, value: float) -> Mask:
    """Return which values compare with a number as asked; NaN differs from any number."""
    found: Mask
    if by == "<":
        found = np.asarray(values < value)
    elif by == "<=":
        found = np.asarray(values <= value)
    elif by == ">":
        found = np.asarray(values > value)
    elif by == ">=":
        found = np.asarray(values >= value)
    else:
        found = np.asarray((values == value) == (by == "="))
    return found
