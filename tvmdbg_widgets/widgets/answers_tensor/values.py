"""A window of exact values as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.model.number_text import number_text
from tvmdbg_widgets.widgets.answering import Reply
from tvmdbg_widgets.widgets.answers_tensor.asked import asked, asked_plane

if TYPE_CHECKING:
    from tvmdbg_widgets.widgets.answering import Context
    from tvmdbg_widgets.widgets.messages import Question

FORMATS = ("number", "hex", "bits", "dequantised")
_MOST_VALUES = 64 * 64
_MOST_SIDE = 4096
_MOST_ZERO_POINT = 2**53


def values(context: Context, question: Question) -> Reply:
    """Answer the values of a window of one plane, row by row."""
    about = asked(context.run, question)
    form = question.choice("format", FORMATS) or "number"
    if about.is_empty:
        return Reply({"row": 0, "col": 0, "rows": 0, "cols": 0, "text": [], "fields": []})
    plane = asked_plane(about.shape, question)
    row = min(question.integer("row"), plane.rows - 1)
    col = min(question.integer("col"), plane.cols - 1)
    rows = min(question.integer("rows", 1, _MOST_SIDE), plane.rows - row)
    cols = min(question.integer("cols", 1, _MOST_SIDE), plane.cols - col)
    if rows * cols > _MOST_VALUES:
        raise ValueError(f"at most {_MOST_VALUES} values at a time, asked for {rows} x {cols}")
    part = plane.selection(slice(row, row + rows), slice(col, col + cols))
    shown = plane.oriented(about.window(part)).ravel()
    return Reply(
        {
            "row": row,
            "col": col,
            "rows": rows,
            "cols": cols,
            "text": _texts(shown, form, question),
            "fields": [],
        }
    )


def _texts(shown: np.ndarray[Any, Any], form: str, question: Question) -> list[str]:
    if form == "dequantised":
        scale = question.number("scale")
        zero_point = question.integer("zeroPoint", -_MOST_ZERO_POINT, _MOST_ZERO_POINT)
        real = (shown.astype(np.float64) - zero_point) * scale
        return [number_text(value) for value in real]
    if form in ("hex", "bits"):
        size = shown.dtype.itemsize
        words = [int.from_bytes(value.tobytes(), "little") for value in shown]
        digits, base = (2 * size, "x") if form == "hex" else (8 * size, "b")
        return [format(word, f"0{digits}{base}") for word in words]
    return [number_text(value) for value in shown]
