"""The health of every tensor of a run, as far as it is known."""

from __future__ import annotations

from typing import Any

from tvmdbg_widgets.answers.answering import Context, Reply
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.engine.columns import pack
from tvmdbg_widgets.model.verdicts.health import Health


def health(context: Context, _question: Question) -> Reply:
    """Answer one row an entry, in execution order."""
    search = context.run.search
    state = search.scan.state  # before what is known: "done" must not go with a part of it
    found = search.health()
    columns, buffer = pack(found.columns(), "health")
    return Reply({"state": state, **health_words(found), "columns": columns}, (buffer,))


def health_words(found: Health) -> dict[str, Any]:
    """Return what a view is told of the health of a run beside its columns and the scan's state."""
    return {
        "done": found.looked_at,
        "total": len(found),
        "words": found.words,
        "brief": found.brief,
        "firstNan": found.row(found.first_nan),
        "firstNonfinite": found.row(found.first_nonfinite),
    }
