"""The same plane at several indices of one more axis."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.model.planes import picture
from tvmdbg_widgets.widgets.answering import Reply
from tvmdbg_widgets.widgets.answers_tensor.asked import asked, asked_cells, asked_plane
from tvmdbg_widgets.widgets.columns import pack

if TYPE_CHECKING:
    from tvmdbg_widgets.widgets.answering import Context
    from tvmdbg_widgets.widgets.messages import Question

_MOST_CHANNELS = 4096


def channels(context: Context, question: Question) -> Reply:
    """Answer one picture for each index of an axis."""
    about = asked(context.run, question)
    if about.is_empty:
        raise ValueError("this tensor has no values")
    plane = asked_plane(about.shape, question)
    axis = question.integer("axis", 0, max(0, len(about.shape) - 1))
    if axis in plane.axes or not about.shape:
        raise ValueError(f"axis {axis} is shown in each picture already")
    length = about.shape[axis]
    first = min(question.integer("first"), length - 1)
    count = min(question.integer("count", 1, _MOST_CHANNELS), length - first)
    rows, cols = asked_cells(question, count)
    shown = []
    for at in range(first, first + count):
        context.watch()
        index = (*plane.index[:axis], at, *plane.index[axis + 1 :])
        shown.append(picture(about.window, replace(plane, index=index), rows, cols))
    headers, buffer = pack(
        {
            name: np.concatenate([getattr(each, name) for each in shown])
            for name in ("minimum", "maximum", "mean", "flags")
        }
    )
    return Reply(
        {
            "axis": axis,
            "first": first,
            "count": count,
            "length": length,
            "rows": shown[0].rows,
            "cols": shown[0].cols,
            "rowStep": shown[0].row_step,
            "colStep": shown[0].col_step,
            "planeRows": plane.rows,
            "planeCols": plane.cols,
            "columns": headers,
        },
        (buffer,),
    )
