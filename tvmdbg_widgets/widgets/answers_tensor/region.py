"""What the values of a part of a plane are, all of them counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.model.statistics import statistics
from tvmdbg_widgets.widgets.answering import Reply
from tvmdbg_widgets.widgets.answers_tensor.asked import asked, asked_part, asked_plane
from tvmdbg_widgets.widgets.answers_tensor.numbers import computed_number, exact_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from tvmdbg_widgets.model.planes import Plane
    from tvmdbg_widgets.model.values import Values
    from tvmdbg_widgets.widgets.answering import Context
    from tvmdbg_widgets.widgets.messages import Question

BINS = 24
#: Values that are read at once.
_PIECE = 1 << 17
_FAR_PIECE = 1 << 22


def region(context: Context, question: Question) -> Reply:
    """Answer counts, bounds, mean and histogram of a part of a plane."""
    about = asked(context, question)
    about.require_pictures()
    plane = asked_plane(about, question)
    part = asked_part(plane, question) or (0, 0, plane.rows, plane.cols)
    values, most = about.values, _FAR_PIECE if about.stored.source.far else _PIECE
    found = statistics(lambda: _pieces(values, plane, part, most), bins=BINS, watch=context.watch)
    bars = found.histogram
    row, col, rows, cols = part
    return Reply(
        {
            "part": [row, col, rows, cols],
            "size": found.size,
            "nan": found.nan,
            "posInf": found.pos_inf,
            "negInf": found.neg_inf,
            "zero": found.zero,
            "minimum": exact_number(found.minimum),
            "maximum": exact_number(found.maximum),
            "mean": computed_number(found.mean),
            "histogram": bars
            and {
                "counts": bars.counts.tolist(),
                "edges": bars.edges.tolist(),
                "exact": bars.exact,
            },
            "cells": None,
        }
    )


def _pieces(
    values: Values, plane: Plane, part: tuple[int, int, int, int], most: int
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
