"""One axis, all others reduced."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.model.planes import Plane, picture
from tvmdbg_widgets.widgets.answering import Reply
from tvmdbg_widgets.widgets.answers_tensor.asked import MOST_SIDE, asked
from tvmdbg_widgets.widgets.columns import pack

if TYPE_CHECKING:
    from tvmdbg_widgets.widgets.answering import Context
    from tvmdbg_widgets.widgets.messages import Question


def profile(context: Context, question: Question) -> Reply:
    """Answer bounds, mean and flags along one axis."""
    about = asked(context.run, question)
    points = question.integer("points", 1, MOST_SIDE)
    axis = question.integer("axis", 0, max(0, len(about.shape) - 1))
    length = about.shape[axis] if about.shape else 1
    context.watch()
    whole = np.moveaxis(about.window(...), axis, 0) if about.shape else about.window(...)
    flat = whole.reshape(length, -1)
    step = max(1, -(-length // points))
    cells = [flat[i : i + step].reshape(1, -1) for i in range(0, length, step)]
    shown = [
        picture(lambda part, each=each: each[part], Plane.of(each.shape, (0, 1), [0, 0]), 1, 1)  # type: ignore[misc]
        for each in cells
        if each.size
    ]
    headers, buffer = pack(
        {
            name: np.concatenate([getattr(each, name) for each in shown] or [np.zeros(0, dtype)])
            for name, dtype in (
                ("minimum", np.float32),
                ("maximum", np.float32),
                ("mean", np.float32),
                ("flags", np.uint8),
            )
        }
    )
    return Reply({"axis": axis, "length": length, "step": step, "columns": headers}, (buffer,))
