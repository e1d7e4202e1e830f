"""The answer that queries need beyond the graph: attributes, layouts and sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.answers.answering import Context, Reply
from tvmdbg_widgets.answers.columns import pack
from tvmdbg_widgets.model.base.strings import StringColumn

if TYPE_CHECKING:
    from collections.abc import Callable

    from tvmdbg_widgets.analysis.derived.derived import Derived
    from tvmdbg_widgets.answers.messages import Question


def fact_columns(run: Derived, clean: Callable[[str], str] = str) -> dict[str, Any]:
    """Return ``FactColumns`` (js/src/shared/client/run_client.ts) of a run with a graph.

    Parameters
    ----------
    run : Derived
    clean : callable
        What is done to the values of attributes before they are handed on.
    """
    facts = run.facts
    attrs = facts.graph.attrs
    return {
        "attrOffsets": np.cumsum([0, *map(len, attrs)]).astype(np.int32),
        "attrNames": StringColumn.from_strings(name for each in attrs for name in each),
        "attrValues": StringColumn.from_strings(
            clean(str(value)) for each in attrs for value in each.values()
        ),
        "entryBytes": facts.bytes,
        "layouts": facts.layouts,
    }


def facts(context: Context, _question: Question) -> Reply:
    """Answer what a query may ask of the nodes that the graph's columns do not have."""
    if context.run.graph is None:
        return Reply(None)
    headers, buffer = pack(fact_columns(context.run))
    return Reply({"columns": headers, "info": None}, (buffer,))
