"""A window of exact values as text."""

from __future__ import annotations

import math
from typing import Any

from tvmdbg_widgets.answers.answering import Context, Reply
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.answers.tensor.tensor_query import asked, asked_plane
from tvmdbg_widgets.model.base.bits import bit_text, fields, hex_text, is_float
from tvmdbg_widgets.model.base.number_text import computed_text, number_text
from tvmdbg_widgets.model.base.ulp import spacing
from tvmdbg_widgets.model.tensors.dequantise import dequantised
from tvmdbg_widgets.model.tensors.values import ArrayView
from tvmdbg_widgets.model.tensors.windows import Selection

FORMATS = ("number", "hex", "bits", "dequantised")
_MOST_VALUES = 64 * 64
_MOST_SIDE = 4096


def values(context: Context, question: Question) -> Reply:
    """Answer the values of a window of one plane, row by row."""
    about = asked(context, question)
    form = question.choice("format", FORMATS) or "number"
    widths = list(fields(about.values.codes.numpy_dtype)) if form == "bits" else []
    if not math.prod(about.shape):
        return Reply({"row": 0, "col": 0, "rows": 0, "cols": 0, "text": [], "fields": widths})
    plane = asked_plane(about, question)
    row = min(question.integer("row"), plane.rows - 1)
    col = min(question.integer("col"), plane.cols - 1)
    rows = min(question.integer("rows", 1, _MOST_SIDE), plane.rows - row)
    cols = min(question.integer("cols", 1, _MOST_SIDE), plane.cols - col)
    if rows * cols > _MOST_VALUES:
        raise ValueError(f"at most {_MOST_VALUES} values at a time, asked for {rows} x {cols}")
    part = plane.selection(slice(row, row + rows), slice(col, col + cols))
    source = about.values.codes if form in ("hex", "bits") else about.values
    shown = plane.oriented(source.window(part)).ravel()
    if form == "hex":
        text = hex_text(shown)
    elif form == "bits":
        text = bit_text(shown)
    elif form == "dequantised":
        zero_point = question.integer("zeroPoint", -(2**53), 2**53)
        if shown.dtype.kind == "c":
            raise ValueError(f"{about.tensor.dtype} values are not quantized")
        text = [
            computed_text(each) for each in dequantised(shown, question.number("scale"), zero_point)
        ]
    else:
        text = [number_text(value) for value in shown]
    place = {"row": row, "col": col, "rows": rows, "cols": cols}
    told = {**place, "text": text, "fields": widths}
    return Reply({**told, "one": _one(about.values, part)} if rows * cols == 1 else told)


def _one(source: ArrayView, part: Selection) -> dict[str, Any]:
    """Return all that there is to say of a single value."""
    value, code = source.window(part).ravel(), source.codes.window(part).ravel()
    step = spacing(value)[0] if is_float(value.dtype) else math.nan
    return {
        "number": number_text(value[0]),
        "hex": hex_text(code)[0],
        "bits": bit_text(code)[0],
        "fields": list(fields(code.dtype)),
        "spacing": computed_text(step) if math.isfinite(step) else "",
    }
