"""The values of a plane as bytes, for saving."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tvmdbg_widgets.answers.answering import Context, Reply
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.answers.tensor.tensor_query import asked, asked_plane
from tvmdbg_widgets.model.base.bits import is_integer

#: Bytes of one answer.
MOST_BYTES = 1 << 20
_PIECE = 1 << 17


def data(context: Context, question: Question) -> Reply:
    """Answer as many whole rows of a plane as one message may carry.

    Where not even one row fits, a part of it from ``col`` on.
    """
    about = asked(context, question)
    kept, note = file_dtype(about.values.numpy_dtype)
    told: dict[str, Any] = {"descr": kept.str, "note": note}
    if not math.prod(about.shape):
        return Reply({"row": 0, "rows": 0, "col": 0, "cols": 0, **told}, (b"",))
    plane = asked_plane(about, question)
    most = MOST_BYTES // kept.itemsize
    row = min(question.integer("row"), plane.rows - 1)
    col = min(question.integer("col"), plane.cols - 1) if question.has("col") else 0
    cols = min(plane.cols - col, most)
    rows = min(question.integer("rows", 1), plane.rows - row, most // cols)
    if cols < plane.cols:
        rows = 1
    # One large read of far values; of others pieces, between which one can stop.
    high = rows if about.stored.source.far else max(1, _PIECE // (cols * kept.itemsize))
    pieces = []
    for top in range(row, row + rows, high):
        context.watch()
        part = plane.selection(slice(top, min(top + high, row + rows)), slice(col, col + cols))
        pieces.append(plane.oriented(about.values.window(part)).astype(kept).tobytes())
    told |= {"row": row, "rows": rows, "col": col, "cols": cols}
    return Reply(told, (b"".join(pieces),))


def file_dtype(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], str]:
    """Return the type that numpy's files hold a type's values in, and what to say of it."""
    if dtype.kind in "biufc":
        return dtype.newbyteorder("<"), ""
    whole = "|u1" if dtype.name.startswith("u") else "|i1"
    kept: np.dtype[Any] = np.dtype(whole if is_integer(dtype) else "<f4")
    return kept, f"{dtype.name} saved as {kept.name}, which is exact"
