"""Query language to select nodes, the same in Python and in the search fields of the views.

::

    query   = [ either ] ;                            (* nothing finds nothing *)
    either  = all { ( "or" | "|" ) all } ;
    all     = negated { [ "and" ] negated } ;         (* a space is "and" *)
    negated = { "not" | "-" } path ;
    path    = step { ( "->" | "->>" ) step } ;        (* read by; somewhere downstream *)
    step    = "(" either ")" | term ;
    term    = word | "#" id | sizes                   (* (1, 64, 8, 8): that shape *)
            | text ( ":" | "=" | "!=" ) word
            | "shape" ( ":" | "=" | "!=" ) sizes
            | number ( ":" | "=" | "!=" | "<" | "<=" | ">" | ">=" ) amount [ unit ] ;
    word    = characters without spaces, "(", ")", "|" and "->"
            | quoted                                  (* anything, in " or ' *)
            | glob                                    (* with * and ?: fits the entire text *)
            | "/" regular expression "/" ;            (* without spaces *)
    text    = "name" | "op" | "func" | "kind" | "dtype" | "device" | "layout" | "group"
            | "attr." key ;                           (* also compared, where it is a number *)
    number  = "id" | "time" | "share" | "bytes" | "storage" | "rank"
            | "inputs" | "outputs" | "consumers" | "depth" ;
    sizes   = size { ( "," | "x" | "×" ) size } ;     (* in brackets or not *)
    size    = digits with * and ? | "..." ;           (* *: one of any size; ...: any number *)
    unit    = "ns" | "us" | "ms" | "s" | "%" | "B" | "KB" | "KiB" | "MB" | "MiB" | … ;

A word matches a node's name, function, operators, kind, dtypes or shapes; after ``:`` it is
part of the field, after ``=`` all of it. Case is ignored. Conditions on
shape, dtype, device, layout, bytes, rank and storage hold for any output of the node; ``!=`` is
any value and none that is equal. Unknown values fit no comparison, so ``not time<1ms``
also selects nodes without a time. A path selects all nodes on it, along edges of data.

Trials of a tuning log have fields of their own, and neither sizes, attributes nor paths; a field
that is text and number, such as ``error``, is a number where an integer follows.
"""

from __future__ import annotations

import difflib
import functools
import itertools
import json
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.view_columns import fact_columns, graph_columns, group_columns
from tvmdbg_widgets.engine import call
from tvmdbg_widgets.model.graph.graph import Graph, device_names
from tvmdbg_widgets.model.graph.groups import Groups
from tvmdbg_widgets.model.timeline.timeline import Timeline

_AROUND = 40


class QueryError(ValueError):
    """A query that does not follow the grammar.

    Attributes
    ----------
    text : str
        The query.
    position : int
        The character where it goes wrong, counted from 0.
    message : str
        The expected and the actual text there.
    """

    def __init__(self, text: str, position: int, message: str) -> None:
        self.text, self.position, self.message = text, position, message
        start = max(0, position - _AROUND)
        around = text[start : position + _AROUND]
        shown = "".join(character if character.isprintable() else " " for character in around)
        super().__init__(f"{message}\n  {shown}\n  {' ' * (position - start)}^")

    def __reduce__(self) -> tuple[type[QueryError], tuple[str, int, str]]:
        return QueryError, (self.text, self.position, self.message)


Part: TypeAlias = Literal["nodes", "groups", "facts"]

_keys = itertools.count()


class Facts:
    """Graph of N nodes and their times, as queries see them."""

    def __init__(
        self, graph: Graph, timeline: Timeline | None, groups: Callable[[], Groups]
    ) -> None:
        self.graph = graph
        self.key = str(next(_keys))
        self._timeline = timeline
        self.rounding_ns = 0.0 if timeline is None else timeline.rounding_ns
        self._groups = groups

    @cached_property
    def node_ns(self) -> npt.NDArray[np.float64]:
        """Mean times in nanoseconds, NaN where unknown (float64 [N])."""
        if self._timeline is None:
            return np.full(self.graph.num_nodes, np.nan)
        return self._timeline.node_ns

    def columns(self, part: Part) -> dict[str, Any]:
        """Return the columns of nodes, of groups, or of rarely queried facts."""
        if part == "nodes":
            return graph_columns(self.graph, self._timeline)
        if part == "groups":
            return group_columns(self._groups(), self._timeline)
        return fact_columns(self.graph)

    @property
    def devices(self) -> dict[str, str]:
        """Names of devices by their type."""
        return device_names(self.graph)


Mask = npt.NDArray[np.bool_]
Fits = Callable[[Sequence[str]], Mask]
"""Tells which of some texts, in lower case, fit a pattern."""


class Masks(ABC):
    """Evaluation of one query over N rows."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.unknown: dict[str, int] = {}

    def mask(self, query: Tree) -> Mask:
        """Return the rows that a query selects (bool [N])."""
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
        """Return the rows that one term selects."""

    def _none(self) -> Mask:
        return np.zeros(self._count, bool)

    def _note(self, field: str, known: Mask) -> None:
        unknown = len(known) - int(known.sum())
        if unknown:
            self.unknown[field] = unknown


def rows_found(query: str, masks: Masks, vocabulary: Vocabulary) -> npt.NDArray[np.intp]:
    """Return the rows that a query selects, ascending; none for an empty query."""
    tree = parse(query, vocabulary)
    try:
        return np.flatnonzero([] if tree is None else masks.mask(tree))
    except RegexError as error:
        raise QueryError(query, max(0, query.find("/")), str(error)) from None
    except UnknownWordError as error:
        at = max(0, query.lower().find(error.text))
        raise QueryError(query, at, f"{error} at {at}{error.hint}") from None


class UnknownWordError(ValueError):
    """An unknown word for a field of few words; `text` is in lower case."""

    def __init__(self, field: str, text: str, known: Sequence[str]) -> None:
        self.text = text
        of_lower = {word.lower(): word for word in reversed(known)}
        close = [of_lower[word] for word in difflib.get_close_matches(text, of_lower, n=3)]
        hint = f"did you mean {' or '.join(close)}?" if close else f"known are {', '.join(known)}"
        self.hint = f"; {hint}"
        super().__init__(f"no word of '{field}' is '{text}'")


def fitting(mode: str, text: str) -> Fits:
    """Return a function that marks the lower-case texts that fit a pattern."""
    if mode == "has":
        return lambda texts: np.array([text in candidate for candidate in texts], bool)
    if mode == "is":
        return lambda texts: np.array([text == candidate for candidate in texts], bool)
    return lambda texts: search(text, texts, is_glob=mode == "glob")


def any_fits(several: Iterable[Sequence[str]], fits: Fits) -> Mask:
    """Return which groups of lower-case texts have one that fits (bool [N])."""
    groups = list(several)
    of_text = fits(list(itertools.chain(*groups)))
    any_of = np.zeros(len(groups), bool)
    any_of[np.repeat(np.arange(len(groups)), list(map(len, groups)))[of_text]] = True
    return any_of


_COMPARE: Final[Mapping[str, Callable[[Any, float], Any]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}


def compared(values: npt.NDArray[np.float64] | float, by: str, value: float) -> Mask:
    """Return which values satisfy a comparison; NaN differs from any number."""
    return np.asarray(_COMPARE[by](values, value))


Tree: TypeAlias = list[Any]
"""``Query`` of the parser: ``["not", ["compare", "time", ">", 1e6]]``; infinity is a str."""


def parse(text: str, vocabulary: Vocabulary | None = None) -> Tree | None:
    """Parse a query."""
    check_type(text, vocabulary)
    if not text:
        return None
    request = {"text": text, "vocabulary": vocabulary and vocabulary.plain()}
    reply = call("readQuery", json.dumps(request), failure="the query could not be read")
    answer = json.loads(reply)
    if "error" in answer:
        raise QueryError(text, answer["at"], answer["error"])
    tree: Tree | None = answer["tree"]
    return tree


def check_type(text: object, vocabulary: Vocabulary | None = None) -> None:
    """Raise a TypeError where a query is no str."""
    if not isinstance(text, str):
        example = vocabulary.example if vocabulary else "time>1ms op:conv"
        raise TypeError(f"a query is a str such as {example!r}, not {type(text).__name__}")


_BLOCK = 10_000_000  # characters searched per call: 2 s of the 10 s limit


class RegexError(ValueError):
    """An invalid regular expression; `at` is the position of the fault."""

    def __init__(self, at: int, message: str) -> None:
        super().__init__(message)
        self.at = at


def search(pattern: str, texts: Sequence[str], *, is_glob: bool = False) -> npt.NDArray[np.bool_]:
    """Return which texts have a match anywhere (bool [T])."""
    sizes = np.cumsum([len(candidate) for candidate in texts], dtype=np.int64)
    ends = [*np.flatnonzero(np.diff(sizes // _BLOCK)) + 1, len(texts)]
    blocks = itertools.pairwise([0, *ends])
    matches = [_search(pattern, texts[first:end], is_glob=is_glob) for first, end in blocks]
    return np.concatenate(matches)


def _search(pattern: str, texts: Sequence[str], *, is_glob: bool) -> npt.NDArray[np.bool_]:
    request = {"pattern": pattern, "isGlob": is_glob, "texts": texts}
    failure = "the texts could not be searched"
    answer = json.loads(call("searchTexts", json.dumps(request), failure=failure))
    if "error" in answer:
        raise RegexError(answer["at"], answer["error"])
    matches: npt.NDArray[np.bool_] = np.frombuffer(answer["found"].encode(), np.uint8) == ord("1")
    return matches


@dataclass(frozen=True)
class Units:
    """Units of a field of numbers."""

    factors: Mapping[str, float]
    hint: str
    needed: bool = False


@dataclass(frozen=True)
class Vocabulary:
    """Fields that queries of one kind of row can use."""

    texts: tuple[str, ...]
    numbers: tuple[str, ...]
    fields: tuple[str, ...]
    example: str
    units: Mapping[str, Units] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """Return the vocabulary as the parser reads it."""
        units = {
            name: {**vars(unit), "factors": dict(unit.factors), "anyCase": False}
            for name, unit in self.units.items()
        }
        words = {"texts": self.texts, "numbers": self.numbers, "fields": self.fields}
        return {**words, "units": units, "paths": False}


TIMES: Final = {"ns": 1.0, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9}
"""Factors to nanoseconds."""
