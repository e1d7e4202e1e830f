"""The inspector of one tensor as a figure."""

from __future__ import annotations

import math
from typing import Any

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.answers.counts import (
    distribution_json,
    percentiles_json,
    spread_json,
    statistics_json,
)
from tvmdbg_widgets.answers.tensor import Reply, layout_json, packed_cells
from tvmdbg_widgets.figures.facts import TensorFacts, default_entry, description
from tvmdbg_widgets.figures.options import Redact, ShownValues, TensorFigureOptions
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.figures.run_figure import RunFigure
from tvmdbg_widgets.model.base.text import FormatError, one_line
from tvmdbg_widgets.model.pictures import ChannelPictures, Picture, Profile

_PIXELS, _SAVED_PIXELS = 60_000, 9_000


#: Most columns and rows of a picture, points of a line, channels and cells of a channel's side.
_WIDEST, _TALLEST = 640, 220


_POINTS = 160
_TRAITS = ("color_scale", "color_map", "color_range", "cells")


_MOST_CHANNELS, _LARGEST_CHANNEL = 64, 144


def tensor_figure(
    run: RunFacts,
    *,
    width: float = 720,
    theme: str = "light",
    saved: bool = False,
    redact: Redact | None = None,
    **more: Any,
) -> Figure:
    """Draw one tensor: health, statistics, histogram, and a picture of two axes."""
    options = TensorFigureOptions(**more)
    request = tensor_request(run, options, most_pixels=most_pixels(saved), redact=redact)
    return request.figure(width=width, theme=theme)


def most_pixels(saved: bool) -> int:
    """Return the pixel limit of a tensor's picture."""
    return _SAVED_PIXELS if saved else _PIXELS


def tensor_request(
    run: RunFacts, options: TensorFigureOptions, *, most_pixels: int, redact: Redact | None = None
) -> RunFigure:
    """Return the data and options of a tensor's figure."""
    entry = options.entry or default_entry(run)
    if not run.tensors or entry is None:
        why = "" if run.tensors is None else "This run's params file has no tensors."
        return RunFigure.missing(run, "tensors", why)
    if entry not in run.tensors:
        why = f"This run has no tensor for node {entry[0]}, output {entry[1]}."
        return RunFigure.missing(run, "tensors", why)
    facts = TensorFacts.of(run, run.tensors[entry], options)
    why, counts_only = ("", False) if redact is None else redact(facts.tensor)
    if why:
        facts = facts.without_values(why, counts_only=counts_only)
    facts, drawn = _drawn(facts, most_pixels)
    return RunFigure(
        run,
        "tensor",
        (),
        _data(run.title, facts, is_drawn=bool(drawn)),
        {name: getattr(options, name) for name in _TRAITS},
        lambda: {"statistics": _statistics(facts)} | drawn,
        description(facts, run.title),
        text=_text(run.title, facts),
    )


def _data(title: str, facts: TensorFacts, *, is_drawn: bool) -> dict[str, Any]:
    tensor, shown = facts.tensor, facts.shown
    values = tensor.values(shown.reading)
    return {
        "tensor": {
            "title": facts.title,
            "dtype": tensor.dtype.name,
            "shape": tensor.shape,
            "nbytes": tensor.nbytes,
            "trust": tensor.trust.label,
            "captured": tensor.captured,
            "reading": shown.reading,
            "layout": shown.layout,
            "layouts": [layout_json(layout) for layout in shown.known],
            "missingLanes": values.is_missing_lanes,
        },
        "text": _headline(title, facts),
        "warnings": list(tensor.notes),
        "redacted": facts.redacted,
        "unread": facts.unread,
        "misfit": shown.misfit,
        "caption": shown.words,
        "picture": _picture(facts) if is_drawn else None,
        "dtype": facts.dtype.name,
    }


def _picture(facts: TensorFacts) -> dict[str, Any]:
    shown = facts.shown
    plane = shown.plane
    return {
        "planeRows": 1 if plane is None else plane.rows,
        "planeCols": 1 if plane is None else plane.cols,
        "names": list(shown.names),
        "along": "" if shown.axis is None else shown.axis_text(shown.axis),
        "region": None if shown.region is None else list(shown.region),
    }


def _statistics(facts: TensorFacts) -> Reply:
    """Return statistics as the live view gets them, without redacted ones."""
    statistics, dtype = facts.statistics, facts.dtype
    adapted = facts.contrast
    shape = facts.tensor.values(facts.shown.reading).view_shape
    answer: dict[str, Any] = {
        **spread_json(statistics, dtype, adapted),
        "statistics": statistics_json(statistics, shape),
        "state": "exact" if statistics.exact else "sampled",
        "reason": statistics.reason,
        "done": statistics.size,
        "total": statistics.size,
        "percentiles": percentiles_json([bounds for _, bounds in facts.percentiles], dtype),
    }
    if adapted is None:
        return Reply(answer)
    distribution, buffer = distribution_json(adapted)
    return Reply({**answer, **distribution, "distribution": True}, (buffer,))


def _drawn(facts: TensorFacts, most_pixels: int) -> tuple[TensorFacts, dict[str, Reply]]:
    """Return replies with the drawn values; none if values cannot be read."""
    if not facts.statistics.applicable or facts.shown.plane is None:
        return facts, {}
    try:
        return facts, _values(facts.shown, most_pixels)
    except (FormatError, OSError) as problem:
        return facts.without_picture(problem), {}


def _values(shown: ShownValues, most_pixels: int) -> dict[str, Reply]:
    """Return the values to draw; a plane if the tensor has no third axis."""
    if shown.axis is not None and shown.show == "profile":
        return {"profile": _reply(shown.profile(_POINTS))}
    plane = shown.plane
    size = {} if plane is None else {"planeRows": plane.rows, "planeCols": plane.cols}
    if shown.axis is not None and shown.show == "channels":
        count = min(shown.values.view_shape[shown.axis], _MOST_CHANNELS)
        side = max(1, min(_LARGEST_CHANNEL, math.isqrt(most_pixels // count)))
        pictures = shown.channels(count, min(side, shown.rows), min(side, shown.cols))
        return {"channels": _reply(pictures, count=pictures.count, first=pictures.first, **size)}
    rows, cols = (1, _POINTS) if shown.is_line else _cells(shown, most_pixels)
    picture = shown.picture(rows, min(cols, shown.cols))
    header = {"row": picture.row, "col": picture.col, "exact": picture.exact}
    return {"tile": _reply(picture, **header, **size)}


def _cells(shown: ShownValues, most_pixels: int) -> tuple[int, int]:
    """Return rows and columns of cells, limited by room and pixels."""
    rows, cols = min(shown.rows, _TALLEST), min(shown.cols, _WIDEST)
    over = math.sqrt(rows * cols / most_pixels)
    return (max(1, int(rows / over)), max(1, int(cols / over))) if over > 1 else (rows, cols)


def _reply(drawn: Picture | ChannelPictures | Profile, **header: Any) -> Reply:
    columns, buffer = packed_cells(drawn)
    if isinstance(drawn, Profile):
        header |= {"axis": drawn.axis, "length": drawn.length, "step": drawn.step}
    else:
        header |= {
            "rows": drawn.rows,
            "cols": drawn.cols,
            "rowStep": drawn.row_step,
            "colStep": drawn.col_step,
        }
    if isinstance(drawn, ChannelPictures):
        header |= {"axis": drawn.axis, "length": drawn.length}
    return Reply({**header, "columns": columns}, (buffer,))


def _headline(title: str, facts: TensorFacts) -> str:
    return one_line(f"{title}: {facts.title}")


def _text(title: str, facts: TensorFacts) -> str:
    """Return the figure as text; redacted values have no counts."""
    counts = "" if facts.redacted or not facts.statistics.applicable else repr(facts.statistics)
    return "\n".join(filter(None, (_headline(title, facts), facts.redacted, facts.unread, counts)))
