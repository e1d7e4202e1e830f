"""From the text of a query to its tree, by the views' own parser, js/src/graph/query/parser.ts."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

from tvmdbg_widgets.analysis.query.errors import QueryError
from tvmdbg_widgets.analysis.query.vocabulary import Vocabulary
from tvmdbg_widgets.engine.host import call

Tree: TypeAlias = list[Any]
"""``Query`` of the parser: ``["not", ["compare", "time", ">", 1e6]]``; infinity is a str."""


def parse(text: str, vocabulary: Vocabulary | None = None) -> Tree | None:
    """Read a query."""
    check_type(text, vocabulary)
    if not text:
        return None
    request = {"text": text, "vocabulary": vocabulary and vocabulary.plain()}
    answer = json.loads(
        call("readQuery", json.dumps(request), failure="the query could not be read")
    )
    if "error" in answer:
        raise QueryError(text, answer["at"], answer["error"])
    tree: Tree | None = answer["tree"]
    return tree


def check_type(text: object, vocabulary: Vocabulary | None = None) -> None:
    """Raise a TypeError where a query is no str."""
    if not isinstance(text, str):
        example = vocabulary.example if vocabulary else "time>1ms op:conv"
        raise TypeError(f"a query is a str such as {example!r}, not {type(text).__name__}")
