"""The bytes of a plane, for saving."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.widgets.answering import Reply
from tvmdbg_widgets.widgets.answers_tensor.asked import asked, asked_plane

if TYPE_CHECKING:
    from tvmdbg_widgets.widgets.answering import Context
    from tvmdbg_widgets.widgets.messages import Question

_MOST_BYTES = 1 << 20


def data(context: Context, question: Question) -> Reply:
    """Answer as many whole rows of a plane as one message may carry, a part of one at least.

    A row that is longer than that comes in parts: ``col`` says from where on.
    """
    about = asked(context.run, question)
    kept, note = file_dtype(about.values.numpy_dtype)
    told = {"descr": kept.newbyteorder("<").str, "note": note}
    if about.is_empty:
        return Reply({"row": 0, "rows": 0, "col": 0, "cols": 0, **told}, (b"",))
    plane = asked_plane(about.shape, question)
    row = min(question.integer("row"), plane.rows - 1)
    col = min(question.integer("col") if question.has("col") else 0, plane.cols - 1)
    cols = min(plane.cols - col, max(1, _MOST_BYTES // kept.itemsize))
    most = max(1, _MOST_BYTES // (cols * kept.itemsize)) if cols == plane.cols else 1
    rows = min(question.integer("rows", 1), plane.rows - row, most)
    part = plane.selection(slice(row, row + rows), slice(col, col + cols))
    found = plane.oriented(about.window(part)).astype(kept.newbyteorder("<"))
    return Reply({"row": row, "rows": rows, "col": col, "cols": cols, **told}, (found.tobytes(),))


def file_dtype(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], str]:
    """Return the type that numpy's files hold a type's values in, and what to say of it."""
    if dtype.kind in "biufc":
        return dtype, ""
    if dtype.name.startswith(("int", "uint")):
        kept = np.dtype(np.int8 if dtype.name.startswith("int") else np.uint8)
    else:
        kept = np.dtype(np.float32)
    return kept, f"{dtype.name} as {kept.name}, which holds each of its values exactly"
