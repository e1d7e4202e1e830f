"""What evaluating a query is over anything that has rows: nodes of a graph, trials of a tuning."""

from __future__ import annotations

import functools
import operator
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.query.errors import QueryError
from tvmdbg_widgets.analysis.query.parser import parse
from tvmdbg_widgets.analysis.query.regex import Regex, glob_regex
from tvmdbg_widgets.analysis.query.regex_tree import RegexError
from tvmdbg_widgets.analysis.query.tree import And, Compare, Id, Not, Or, Path, Shape, Text, Word

if TYPE_CHECKING:
    from collections.abc import Callable

    from tvmdbg_widgets.analysis.query.fields import Vocabulary
    from tvmdbg_widgets.analysis.query.tree import Comparison, Mode, Query

Mask = npt.NDArray[np.bool_]


class Masks(ABC):
    """One query over N rows.

    Attributes
    ----------
    unknown : dict of str to int
        By field that was compared: how many rows have no value there, where there are such.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self.unknown: dict[str, int] = {}

    def mask(self, query: Query) -> Mask:
        """Return whether each row is found (bool [N]).

        Raises
        ------
        RegexError
            A regular expression takes too long on these texts.
        """
        match query:
            case Id(row):
                return np.equal(np.arange(self._count), row)
            case Not(part):
                return ~self.mask(part)
            case And(parts):
                return functools.reduce(operator.and_, map(self.mask, parts))
            case Or(parts):
                return functools.reduce(operator.or_, map(self.mask, parts))
            case _:
                return self._term(query)

    @abstractmethod
    def _term(self, term: Word | Text | Compare | Shape | Path) -> Mask:
        """Return the rows that one term finds."""

    def _none(self) -> Mask:
        return np.zeros(self._count, bool)

    def _unless(self, term: Text | Shape, found: Mask, known: Mask) -> Mask:
        return known & ~found if term.differs else known & found

    def _note(self, field: str, known: Mask) -> None:
        unknown = len(known) - int(known.sum())
        if unknown:
            self.unknown[field] = unknown


def rows_found(query: str, masks: Masks, vocabulary: Vocabulary) -> npt.NDArray[np.intp]:
    """Return the rows that a query finds, ascending; none for a query of nothing.

    Raises
    ------
    TypeError
        The query is no str.
    QueryError
        It does not follow the grammar, or takes too long; a ValueError that shows where.
    """
    if not isinstance(query, str):
        name = type(query).__name__
        raise TypeError(f"a query is a str such as {vocabulary.example!r}, not {name}")
    tree = parse(query, vocabulary)
    try:
        return np.flatnonzero([] if tree is None else masks.mask(tree))
    except RegexError as error:
        raise QueryError(query, max(0, query.find("/")), str(error)) from None


def fitting(mode: Mode, text: str) -> Callable[[str], bool]:
    """Return what tells whether a text in lower case fits a pattern."""
    if mode == "has":
        return lambda value: text in value
    if mode == "is":
        return lambda value: text == value
    return Regex(text if mode == "regex" else glob_regex(text)).search


def compared(values: npt.NDArray[np.float64] | float, by: Comparison, value: float) -> Mask:
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
