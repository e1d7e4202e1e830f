"""The inspector of one tensor as a figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
from tvmdbg_widgets.figures.options import (
    Axes,
    ColorRange,
    Redact,
    Region,
    ShownValues,
    TensorFigureOptions,
)
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.figures.run_figure import RunFigure
from tvmdbg_widgets.model.base.text import FormatError, one_line
from tvmdbg_widgets.model.pictures import ChannelPictures, Picture, Profile

_PIXELS, _SAVED_PIXELS = 60_000, 9_000


#: Cells of a plane that its picture has room for, points of a line, channels and cells of one.
_WIDEST, _TALLEST = 640, 220


_POINTS = 160


_MOST_CHANNELS, _LARGEST_CHANNEL = 64, 144


def tensor_figure(
    run: RunFacts,
    *,
    entry: tuple[int, int] | None = None,
    axes: Axes | None = None,
    index: Sequence[int] | None = None,
    color_scale: str = "auto",
    color_map: str = "auto",
    color_range: ColorRange = "auto",
    data_layout: str | None = None,
    reading: str | None = None,
    show: str = "picture",
    region: Region | None = None,
    data_sizes: Mapping[str, int] | None = None,
    cells: str = "mean",
    along: int | None = None,
    width: float = 720,
    theme: str = "light",
    saved: bool = False,
    redact: Redact | None = None,
) -> Figure:
    """Draw one tensor: its health, statistics, histogram, and two of its axes in colors."""
    options = TensorFigureOptions(
        entry=entry,
        axes=axes,
        index=index,
        color_scale=color_scale,
        color_map=color_map,
        color_range=color_range,
        data_layout=data_layout,
        reading=reading,
        show=show,
        region=region,
        data_sizes=data_sizes,
        cells=cells,
        along=along,
    )
    request = tensor_request(run, options, most_pixels=most_pixels(saved), redact=redact)
    return request.figure(width=width, theme=theme)


def most_pixels(saved: bool) -> int:
    """Return how many pixels the picture of a tensor may have."""
    return _SAVED_PIXELS if saved else _PIXELS


def tensor_request(
    run: RunFacts,
    options: TensorFigureOptions,
    *,
    most_pixels: int,
    redact: Redact | None = None,
) -> RunFigure:
    """Return what the figure of a tensor is made of; its picture has at most so many pixels."""
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
        _traits(options),
        lambda: {"statistics": _statistics(facts)} | drawn,
        description(facts, run.title),
        text=_text(run.title, facts),
    )


def _traits(options: TensorFigureOptions) -> dict[str, Any]:
    return {
        "color_scale": options.color_scale,
        "color_map": options.color_map,
        "color_range": options.color_range,
        "cells": options.cells,
    }


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
            "layouts": [layout_json(each) for each in shown.known],
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
    """Return what the live view is told of the values, as far as it may be told."""
    found, dtype = facts.statistics, facts.dtype
    adapted = facts.contrast
    shape = facts.tensor.values(facts.shown.reading).view_shape
    told: dict[str, Any] = {
        **spread_json(found, dtype, adapted),
        "statistics": statistics_json(found, shape),
        "state": "exact" if found.exact else "sampled",
        "reason": found.reason,
        "done": found.size,
        "total": found.size,
        "percentiles": percentiles_json([each for _, each in facts.percentiles], dtype),
    }
    if adapted is None:
        return Reply(told)
    distribution, buffer = distribution_json(adapted)
    return Reply({**told, **distribution, "distribution": True}, (buffer,))


def _drawn(facts: TensorFacts, most_pixels: int) -> tuple[TensorFacts, dict[str, Reply]]:
    """Return what is drawn, nothing where there is nothing, and what is then to be told."""
    if not facts.statistics.applicable or facts.shown.plane is None:
        return facts, {}
    try:
        return facts, _values(facts.shown, most_pixels)
    except (FormatError, OSError) as problem:
        return facts.without_picture(problem), {}


def _values(shown: ShownValues, most_pixels: int) -> dict[str, Reply]:
    """Return the values to be drawn: a plane where the tensor has no axis for the other two."""
    if shown.axis is not None and shown.show == "profile":
        return {"profile": _reply(shown.profile(_POINTS))}
    plane = shown.plane
    size = {} if plane is None else {"planeRows": plane.rows, "planeCols": plane.cols}
    if shown.axis is not None and shown.show == "channels":
        count = min(shown.values.view_shape[shown.axis], _MOST_CHANNELS)
        side = max(1, min(_LARGEST_CHANNEL, math.isqrt(most_pixels // count)))
        found = shown.channels(count, min(side, shown.rows), min(side, shown.cols))
        return {"channels": _reply(found, count=found.count, first=found.first, **size)}
    rows, cols = (1, _POINTS) if shown.is_line else _cells(shown, most_pixels)
    picture = shown.picture(rows, min(cols, shown.cols))
    told = {"row": picture.row, "col": picture.col, "exact": picture.exact}
    return {"tile": _reply(picture, **told, **size)}


def _cells(shown: ShownValues, most_pixels: int) -> tuple[int, int]:
    """Return as many rows and columns of cells as can be seen and may be drawn."""
    rows, cols = min(shown.rows, _TALLEST), min(shown.cols, _WIDEST)
    over = math.sqrt(rows * cols / most_pixels)
    return (max(1, int(rows / over)), max(1, int(cols / over))) if over > 1 else (rows, cols)


def _reply(found: Picture | ChannelPictures | Profile, **told: Any) -> Reply:
    columns, buffer = packed_cells(found)
    if isinstance(found, Profile):
        told |= {"axis": found.axis, "length": found.length, "step": found.step}
    else:
        told |= {
            "rows": found.rows,
            "cols": found.cols,
            "rowStep": found.row_step,
            "colStep": found.col_step,
        }
    if isinstance(found, ChannelPictures):
        told |= {"axis": found.axis, "length": found.length}
    return Reply({**told, "columns": columns}, (buffer,))


def _headline(title: str, facts: TensorFacts) -> str:
    return one_line(f"{title}: {facts.title}")


def _text(title: str, facts: TensorFacts) -> str:
    """Return what is said where nothing draws figures; no counts where values are not shown."""
    counts = "" if facts.redacted or not facts.statistics.applicable else repr(facts.statistics)
    return "\n".join(filter(None, (_headline(title, facts), facts.redacted, facts.unread, counts)))
