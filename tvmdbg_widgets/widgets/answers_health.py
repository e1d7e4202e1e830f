"""The health of every tensor of a run, as far as it is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.widgets.answering import Reply
from tvmdbg_widgets.widgets.columns import pack

if TYPE_CHECKING:
    import numpy as np

    from tvmdbg_widgets.model.health import Health
    from tvmdbg_widgets.run import DebugRun
    from tvmdbg_widgets.widgets.answering import Context
    from tvmdbg_widgets.widgets.messages import Question


def health(context: Context, _question: Question) -> Reply:
    """Answer one row an entry, in execution order."""
    result, columns = health_answer(context.run)
    headers, buffer = pack(columns)
    return Reply({**result, "columns": headers}, (buffer,))


def health_answer(run: DebugRun) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """Return what a view is told of the health of a run, and its columns.

    Parameters
    ----------
    run : DebugRun
        Its scan is neither started nor waited for.

    Returns
    -------
    result : dict
        ``HealthAnswer`` of ``js/src/shared/tensor_questions.ts`` without its columns.
    columns : dict of str to array
        ``HealthColumns``.
    """
    state = run.search.scan.state  # first: what is known afterwards is not less
    known: Health = run.search.health(newest=state != "scanning")
    result = {
        "state": state,
        "done": known.looked_at,
        "total": len(known),
        "words": [each.words for each in known],
        "brief": [each.brief for each in known],
        "firstNan": known.row(known.first_nan),
        "firstNonfinite": known.row(known.first_nonfinite),
    }
    return result, known.columns()
