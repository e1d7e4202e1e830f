"""From the text of a query to its tree, by the views' own parser, js/src/graph/query/parser.ts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.analysis.query.errors import QueryError
from tvmdbg_widgets.analysis.query.tree import (
    And,
    Compare,
    Id,
    Not,
    Or,
    Path,
    Query,
    Shape,
    Text,
    Word,
)
from tvmdbg_widgets.engine.host import call

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.query.vocabulary import Vocabulary


def parse(text: str, vocabulary: Vocabulary | None = None) -> Query | None:
    """Read a query.

    Parameters
    ----------
    text : str
    vocabulary : Vocabulary, optional
        The fields there are, and their units; those of a graph where left out.

    Returns
    -------
    Query or None
        None for a query of nothing, which finds nothing.

    Raises
    ------
    QueryError
        It does not follow the grammar, or is longer or nested deeper than any good one.
    EngineMissingError
        There is nothing here that runs the views' own code.
    """
    if not text:
        return None
    request = {"text": text, "vocabulary": vocabulary and vocabulary.plain()}
    answer = json.loads(
        call("readQuery", json.dumps(request), failure="the query could not be read")
    )
    if "error" in answer:
        raise QueryError(text, answer["at"], answer["error"])
    return None if answer["tree"] is None else _query(answer["tree"])


def _query(tree: list[Any]) -> Query:
    match tree:
        case ["word", mode, text]:
            return Word(mode, text)
        case ["id", node]:
            return Id(node)
        case ["text", field, mode, text, differs]:
            return Text(field, mode, text, differs)
        case ["compare", field, by, value]:
            return Compare(field, by, float(value))
        case ["shape", sizes, differs]:
            return Shape(tuple(sizes), differs)
        case ["not", part]:
            return Not(_query(part))
        case ["and", *parts]:
            return And(tuple(map(_query, parts)))
        case ["or", *parts]:
            return Or(tuple(map(_query, parts)))
        case ["path", arrows, *steps]:
            return Path(tuple(map(_query, steps)), tuple(arrows))
    raise AssertionError(tree)
