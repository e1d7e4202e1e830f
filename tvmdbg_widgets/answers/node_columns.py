"""Columns that color a graph: those of the run, and those that a view was given."""

from __future__ import annotations

import itertools
import weakref
from typing import Any

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.node_columns import KNOWN_COLUMNS, known_column
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.answers.tensor import Context, Reply
from tvmdbg_widgets.model.graph.node_columns import NodeColumn


class _Held:
    """Columns by number, as long as somebody else holds them."""

    def __init__(self) -> None:
        self.columns: weakref.WeakValueDictionary[int, NodeColumn] = weakref.WeakValueDictionary()
        self.numbers = itertools.count(1)


def number_of(run: RunFacts, column: NodeColumn) -> int:
    """Return a new number by which views ask for a column, as long as the caller holds it."""
    held: _Held = run.kept.setdefault("columns", _Held())
    number = next(held.numbers)
    held.columns[number] = column
    return number


def node_column(context: Context, question: Question) -> Reply:
    """Answer a column by its number, or one that is computed from the run by its name."""
    return column_reply(asked_column(context.run, question))


def asked_column(run: RunFacts, question: Question) -> NodeColumn:
    """Return the column that a question means."""
    if not question.has("number"):
        name = question.choice("name", KNOWN_COLUMNS) or KNOWN_COLUMNS[0]
        return known_column(run.parts, name)
    held: _Held = run.kept.get("columns") or _Held()
    column = held.columns.get(question.integer("number"))
    if column is None:
        raise LookupError("this column was replaced by a newer one")
    return column


def column_reply(column: NodeColumn) -> Reply:
    """Return a column as views read it."""
    columns: dict[str, Any] = {"values": column.values, "codes": column.codes}
    columns |= zip(("divisor", "dividend"), column.terms or (), strict=False)
    there = {name: rows for name, rows in columns.items() if rows is not None}
    return Reply.of("nodeColumn", there, column_info(column))


def column_info(column: NodeColumn) -> dict[str, Any]:
    """Return what views know of a column beside its rows."""
    about = ("of", "unit", "scale", "range", "together", "classes", "ordered", "hatched", "note")
    return {name: getattr(column, name) for name in about}
