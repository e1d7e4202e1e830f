"""What a tensor is, and a picture of one of its planes."""

from __future__ import annotations

from typing import Any

from tvmdbg_widgets.analysis.layouts.layouts import KnownLayout
from tvmdbg_widgets.answers.answering import Context, Reply
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.answers.tensor.cells import packed_cells
from tvmdbg_widgets.answers.tensor.tensor_query import (
    TensorQuery,
    asked,
    asked_cells,
    asked_part,
    asked_plane,
)
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.graph.node_words import tensor_title
from tvmdbg_widgets.model.pictures import is_cheap
from tvmdbg_widgets.model.tensors.planes import Plane


def tensor(context: Context, question: Question) -> Reply:
    """Answer what a tensor is, and show a part of one plane."""
    rows, cols = asked_cells(question)
    about = asked(context, question)
    readable = about.has_pictures or about.is_unordered
    plane = asked_plane(about, question) if readable else None
    header = _header(context, about, plane)
    if plane is None or about.is_unordered:
        return Reply(header)
    part, exact = asked_part(plane, question), question.flag("exact")
    try:
        shown = context.pictures.get(
            about.key, about.values, plane, rows, cols, part, exact, context.watch
        )
    except (FormatError, OSError) as problem:
        return Reply({**header, "trouble": str(problem)})
    columns, buffer = packed_cells(shown)
    header["cheap"] = not about.stored.source.far and is_cheap(about.values, plane)
    header["tile"] = {
        "row": shown.row,
        "col": shown.col,
        "rows": shown.rows,
        "cols": shown.cols,
        "rowStep": shown.row_step,
        "colStep": shown.col_step,
        "planeRows": plane.rows,
        "planeCols": plane.cols,
        "exact": shown.exact,
        "columns": columns,
    }
    return Reply(header, (buffer,))


def _header(context: Context, about: TensorQuery, plane: Plane | None) -> dict[str, Any]:
    tensor = about.tensor
    return {
        "entry": [tensor.node, tensor.output],
        "name": tensor.name,
        "title": tensor_title(tensor, context.run.graph),
        "key": tensor.key,
        "dtype": tensor.dtype.name,
        "valueDtype": about.values.numpy_dtype.name,
        "shape": list(tensor.shape),
        "nbytes": tensor.nbytes,
        "offset": tensor.offset,
        "file": tensor.file,
        "trust": tensor.trust.label,
        "notes": list(tensor.notes),
        "missingLanes": about.stored.is_missing_lanes,
        "captured": tensor.captured,
        "readings": list(tensor.readings),
        "reading": about.reading,
        "layouts": [layout_json(each) for each in context.layouts((tensor.node, tensor.output))],
        "layout": about.layout,
        "sizes": about.sizes,
        "viewShape": list(about.shape),
        "axisNames": list(about.axis_names),
        "storedShape": list(about.stored.view_shape),
        "axes": list(plane.axes) if plane else [None, None],
        "index": list(plane.index) if plane else [0] * len(about.shape),
        "unordered": about.is_unordered,
        "tile": None,
    }


def layout_json(known: KnownLayout) -> dict[str, Any]:
    """Return what is known of a layout as JSON."""
    return {
        "layout": known.layout.text,
        "sizes": known.sizes,
        "source": known.source,
        "certainty": known.certainty,
    }
