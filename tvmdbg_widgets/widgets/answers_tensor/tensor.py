"""The header of a tensor and one picture of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.model.planes import picture
from tvmdbg_widgets.widgets.answering import Reply
from tvmdbg_widgets.widgets.answers_tensor.asked import (
    Asked,
    asked,
    asked_cells,
    asked_plane,
    readings_of,
)
from tvmdbg_widgets.widgets.answers_tensor.statistics import former_statistics
from tvmdbg_widgets.widgets.columns import pack

if TYPE_CHECKING:
    from tvmdbg_widgets.model.planes import Plane
    from tvmdbg_widgets.widgets.answering import Context
    from tvmdbg_widgets.widgets.messages import Question


def tensor(context: Context, question: Question) -> Reply:
    """Answer what a tensor is, and show a part of one plane."""
    rows, cols = asked_cells(question)
    about = asked(context.run, question)
    plane = None if about.is_empty else asked_plane(about.shape, question)
    header = _header(about, plane)
    if question.has("bins"):
        header |= former_statistics(about, question.integer("bins", 1, 1024))
    if plane is None:
        return Reply(header)
    context.watch()
    shown = picture(about.window, plane, rows, cols)
    headers, buffer = pack(
        {
            "minimum": shown.minimum,
            "maximum": shown.maximum,
            "mean": shown.mean,
            "flags": shown.flags,
        }
    )
    header["tile"] = {
        "row": 0,
        "col": 0,
        "rows": shown.rows,
        "cols": shown.cols,
        "rowStep": shown.row_step,
        "colStep": shown.col_step,
        "planeRows": plane.rows,
        "planeCols": plane.cols,
        "exact": True,
        "columns": headers,
    }
    return Reply(header, (buffer,))


def _header(about: Asked, plane: Plane | None) -> dict[str, Any]:
    tensor = about.tensor
    return {
        "entry": [tensor.node, tensor.output],
        "name": tensor.name,
        "key": tensor.key,
        "dtype": tensor.dtype.name,
        "shape": list(tensor.shape),
        "nbytes": tensor.nbytes,
        "offset": tensor.offset,
        "file": tensor.file,
        "trust": tensor.trust.label,
        "notes": list(tensor.notes),
        "captured": "unknown",
        "readings": list(readings_of(tensor)),
        "reading": about.reading,
        "layouts": [],
        "layout": about.layout,
        "sizes": about.sizes,
        "viewShape": list(about.shape),
        "axisNames": [],
        "storedShape": list(about.values.view_shape),
        "axes": list(plane.axes) if plane else [None, None],
        "index": list(plane.index) if plane else [0] * len(about.shape),
        "tile": None,
    }
