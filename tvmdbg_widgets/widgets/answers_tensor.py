"""Pictures, statistics and exact values of one tensor, for the tensor inspector."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.model.array_values import READINGS, ArrayValues
from tvmdbg_widgets.model.number_text import number_text
from tvmdbg_widgets.model.planes import Plane, picture
from tvmdbg_widgets.model.statistics import Statistics, statistics

if TYPE_CHECKING:
    from tvmdbg_widgets.model.tensors import Tensor
    from tvmdbg_widgets.run import DebugRun
    from tvmdbg_widgets.widgets.messages import Question

_MOST_CELLS = 1 << 20
_MOST_VALUES = 64 * 64


def tensor_picture(
    run: DebugRun, question: Question
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return header, statistics and histogram of a tensor, and the columns of one picture of it."""
    tensor = _tensor(run, question)
    reading = question.choice("reading", READINGS)
    rows, cols = question.integer("rows", 1, 8192), question.integer("cols", 1, 8192)
    if rows * cols > _MOST_CELLS:
        raise ValueError(f"a picture has at most {_MOST_CELLS} cells, asked for {rows} x {cols}")
    values = tensor.record.values(reading)
    found = _statistics(tensor, reading, question.integer("bins", 1, 1024))
    shape = values.view_shape
    plane = _known_plane(shape, question) if math.prod(shape) and found.applicable else None
    header: dict[str, Any] = {
        "entry": [tensor.node, tensor.output],
        "name": tensor.name,
        "key": tensor.key,
        "dtype": tensor.dtype.name,
        "shape": list(tensor.shape),
        "viewShape": list(shape),
        "nbytes": tensor.nbytes,
        "offset": tensor.offset,
        "file": tensor.file,
        "trust": tensor.trust.label,
        "notes": list(tensor.notes),
        "readings": list(READINGS) if _has_readings(tensor) else [],
        "reading": reading or values.reading if _has_readings(tensor) else None,
        "axes": list(plane.axes) if plane else [None, None],
        "index": list(plane.index) if plane else [0] * len(shape),
        "statistics": _statistics_json(found, values) if found.applicable else None,
        "histogram": _histogram_json(found),
        "tile": None,
    }
    if plane is None:
        return header, None
    shown = picture(lambda selection: tensor.window(selection, reading), plane, rows, cols)
    header["tile"] = {
        "rows": shown.rows,
        "cols": shown.cols,
        "rowStep": shown.row_step,
        "colStep": shown.col_step,
        "planeRows": plane.rows,
        "planeCols": plane.cols,
    }
    columns = {
        "minimum": shown.minimum,
        "maximum": shown.maximum,
        "mean": shown.mean,
        "flags": shown.flags,
    }
    return header, columns


def tensor_values(run: DebugRun, question: Question) -> dict[str, Any]:
    """Return a window of exact values as text, row by row."""
    tensor = _tensor(run, question)
    reading = question.choice("reading", READINGS)
    shape = tensor.record.values(reading).view_shape
    if not math.prod(shape):
        return {"row": 0, "col": 0, "rows": 0, "cols": 0, "text": []}
    plane = _plane(shape, question)
    row = min(question.integer("row"), plane.rows - 1)
    col = min(question.integer("col"), plane.cols - 1)
    rows = min(question.integer("rows", 1, 4096), plane.rows - row)
    cols = min(question.integer("cols", 1, 4096), plane.cols - col)
    if rows * cols > _MOST_VALUES:
        raise ValueError(f"at most {_MOST_VALUES} values at a time, asked for {rows} x {cols}")
    window = plane.oriented(
        tensor.window(plane.selection(slice(row, row + rows), slice(col, col + cols)), reading)
    )
    return {
        "row": row,
        "col": col,
        "rows": rows,
        "cols": cols,
        "text": [number_text(value) for value in window.ravel()],
    }


def _tensor(run: DebugRun, question: Question) -> Tensor:
    if run.tensors is None:
        raise KeyError("this run has no tensors")
    node, output = question.integers("entry", 2)
    return run.tensors[node, output]


def _plane(shape: tuple[int, ...], question: Question) -> Plane:
    return Plane.of(shape, question.axes("axes"), question.integers("index"))


def _known_plane(shape: tuple[int, ...], question: Question) -> Plane:
    """Return the plane asked for; the last axes where the page knew the declared shape alone."""
    if len(question.integers("index")) == len(shape):
        return _plane(shape, question)
    across = len(shape) - 1 if shape else None
    down = len(shape) - 2 if len(shape) > 1 else None
    return Plane.of(shape, (down, across), [0] * len(shape))


def _has_readings(tensor: Tensor) -> bool:
    return tensor.dtype.is_packed and tensor.dtype.numpy_dtype is not None


def _statistics(tensor: Tensor, reading: Any, bins: int) -> Statistics:
    if reading is None or not _has_readings(tensor):
        return tensor.statistics(bins)
    return statistics(tensor.record.values(reading).chunks, bins=bins)


def _statistics_json(found: Statistics, values: ArrayValues) -> dict[str, Any]:
    return {
        "size": found.size,
        "finite": found.finite,
        "nan": found.nan,
        "posInf": found.pos_inf,
        "negInf": found.neg_inf,
        "zero": found.zero,
        "negative": found.negative,
        "minimum": _exact(found.minimum),
        "maximum": _exact(found.maximum),
        "mean": _exact(None if math.isnan(found.mean) else found.mean),
        "std": _exact(None if math.isnan(found.std) else found.std),
        "argmin": _index(found.argmin, values.view_shape),
        "argmax": _index(found.argmax, values.view_shape),
    }


def _histogram_json(found: Statistics) -> dict[str, Any] | None:
    if found.histogram is None:
        return None
    return {
        "counts": np.asarray(found.histogram.counts).tolist(),
        "edges": np.asarray(found.histogram.edges, np.float64).tolist(),
    }


def _exact(value: Any) -> dict[str, Any]:
    if value is None:
        return {"text": "none", "value": None}
    number = float(value)
    return {"text": number_text(value), "value": number if math.isfinite(number) else None}


def _index(flat: int | None, shape: tuple[int, ...]) -> list[int] | None:
    if flat is None:
        return None
    return [int(each) for each in np.unravel_index(flat, shape)] if shape else []
