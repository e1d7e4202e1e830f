"""Nodes that a search finds, for a figure."""

from __future__ import annotations

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.analysis.query.errors import QueryError
from tvmdbg_widgets.analysis.query.selection import select
from tvmdbg_widgets.model.base.text import one_line


def search(run: Derived, query: str) -> tuple[list[int], str]:
    """Return node ids in ascending order, and what is to be said of the search.

    That is what is wrong with the query, or what it compares and is not known of all nodes; empty
    where all is well.
    """
    if run.graph is None:
        return [], ""
    try:
        found = select(run.facts, query)
    except QueryError as error:
        return [], f"“{query.strip()[:80]}”: {error.message}"
    except (RuntimeError, MemoryError) as error:  # of the engine
        return [], f"“{query.strip()[:80]}”: {one_line(str(error))}"
    return list(found), "; ".join(found.notes) + "." if found.notes else ""
