"""The same plane at several indices of one more axis."""

from __future__ import annotations

from tvmdbg_widgets.answers.answering import Context, Reply
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.answers.tensor.cells import packed_cells
from tvmdbg_widgets.answers.tensor.tensor_query import asked, asked_cells, asked_plane
from tvmdbg_widgets.model.pictures import channels as channels_of

_MOST_CHANNELS = 4096


def channels(context: Context, question: Question) -> Reply:
    """Answer one picture for each index of an axis."""
    count = question.integer("count", 1, _MOST_CHANNELS)
    rows, cols = asked_cells(question, count)
    about = asked(context, question)
    about.require_pictures()
    plane = asked_plane(about, question)
    axis, first = question.integer("axis", 0, 63), question.integer("first")
    found = channels_of(about.values, plane, axis, first, count, rows, cols, context.watch)
    columns, buffer = packed_cells(found)
    return Reply(
        {
            "axis": found.axis,
            "first": found.first,
            "count": found.count,
            "length": found.length,
            "rows": found.rows,
            "cols": found.cols,
            "rowStep": found.row_step,
            "colStep": found.col_step,
            "planeRows": plane.rows,
            "planeCols": plane.cols,
            "columns": columns,
        },
        (buffer,),
    )
