"""One axis of a tensor, all others reduced."""

from __future__ import annotations

from tvmdbg_widgets.answers.answering import Context, Reply
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.answers.tensor.cells import packed_cells
from tvmdbg_widgets.answers.tensor.tensor_query import MOST_SIDE, asked
from tvmdbg_widgets.model.pictures import profile as profile_of


def profile(context: Context, question: Question) -> Reply:
    """Answer bounds, mean and flags along one axis."""
    about = asked(context, question)
    about.require_pictures()
    axis = question.integer("axis", 0, 63)
    points = question.integer("points", 1, MOST_SIDE)
    found = profile_of(about.values, axis, points, context.watch)
    columns, buffer = packed_cells(found)
    told = {"axis": found.axis, "length": found.length, "step": found.step, "columns": columns}
    return Reply(told, (buffer,))
