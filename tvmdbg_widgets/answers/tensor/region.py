"""What the values of a part of a plane are, all of them counted."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.answers.answering import Context, Reply
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.answers.tensor.statistics import distribution_json, part_json, spread_json
from tvmdbg_widgets.answers.tensor.tensor_query import asked, asked_part, asked_plane
from tvmdbg_widgets.model.statistics import statistics
from tvmdbg_widgets.model.statistics.compute import ArrayPasses
from tvmdbg_widgets.model.statistics.contrast import contrast
from tvmdbg_widgets.model.statistics.passes import Watched
from tvmdbg_widgets.model.tensors.planes import Plane
from tvmdbg_widgets.model.tensors.values import ArrayView

if TYPE_CHECKING:
    import numpy as np


#: Values that are read at once.
_PIECE = 1 << 17
_FAR_PIECE = 1 << 22


def region(context: Context, question: Question) -> Reply:
    """Answer counts, bounds, mean and distribution of a part of a plane."""
    about = asked(context, question)
    about.require_pictures()
    plane = asked_plane(about, question)
    part = asked_part(plane, question) or (0, 0, plane.rows, plane.cols)
    values, most = about.values, _FAR_PIECE if about.stored.source.far else _PIECE
    pieces = partial(_pieces, values, plane, part, most)
    found = statistics(pieces, watch=context.watch)
    adapted = contrast(found, ArrayPasses.over(pieces), Watched(context.watch))
    told = {
        **spread_json(found, values.numpy_dtype, adapted),
        "statistics": part_json(found),
        "state": "exact",
        "part": list(part),
        "bounds": None,
        "cells": None,
    }
    if adapted is None:
        return Reply(told)
    told["distribution"], buffer = distribution_json(adapted)
    return Reply(told, (buffer,))


def _pieces(
    values: ArrayView, plane: Plane, part: tuple[int, int, int, int], most: int
) -> Iterator[np.ndarray[Any, Any]]:
    """Yield the values of a part, some rows at a time; of long rows a stretch at a time."""
    row, col, rows, cols = part
    wide = min(cols, most)
    high = max(1, most // wide)
    for top in range(row, row + rows, high):
        for left in range(col, col + cols, wide):
            down = slice(top, min(top + high, row + rows))
            across = slice(left, min(left + wide, col + cols))
            yield values.window(plane.selection(down, across)).ravel()
