"""Answers about one tensor: header, picture, channels, values, and its health."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.layouts import KnownLayout, laid_out
from tvmdbg_widgets.answers.kept_timeline import KeptTimeline
from tvmdbg_widgets.answers.messages import Question, StatisticsJobs
from tvmdbg_widgets.engine import pack
from tvmdbg_widgets.model.base.number_text import is_integer
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.graph.graph import tensor_title
from tvmdbg_widgets.model.health import Health
from tvmdbg_widgets.model.pictures import Part, Picture, Pictures, Profile, is_cheap
from tvmdbg_widgets.model.pictures import channels as channels_of
from tvmdbg_widgets.model.tensors.planes import ArrayValues, Plane, default_axes
from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.model.tensors.values import ArrayView, Unfolded


@dataclass(frozen=True)
class Reply:
    """One answer: a JSON value and the buffers that go with it."""

    result: Any
    buffers: tuple[bytes, ...] = ()

    @classmethod
    def of(cls, answer: str, columns: Mapping[str, Any], info: Any = None) -> Reply:
        """Answer columns, and what is told beside them."""
        headers, buffer = pack(columns, answer)
        return cls({"columns": headers, "info": info}, (buffer,))


@dataclass(frozen=True)
class Context:
    """What an answer is made with."""

    run: RunFacts
    layouts: Callable[[tuple[int, int]], tuple[KnownLayout, ...]]
    pictures: Pictures
    statistics_jobs: StatisticsJobs
    timeline: KeptTimeline | None
    watch: Callable[[], None]

    @property
    def kept_timeline(self) -> KeptTimeline:
        """The timeline; LookupError where the run has none."""
        if self.timeline is None:
            raise LookupError("this run has no timeline")
        return self.timeline


def health(context: Context, _question: Question) -> Reply:
    """Answer one row an entry, in execution order."""
    search = context.run.search
    state = search.scan.state  # before what is known: "done" must not go with a part of it
    found = search.health()
    columns, buffer = pack(found.columns(), "health")
    return Reply({"state": state, **health_words(found), "columns": columns}, (buffer,))


def health_words(found: Health) -> dict[str, Any]:
    """Return what a view is told of the health of a run beside its columns and the scan's state."""
    return {
        "done": found.looked_at,
        "total": len(found),
        "words": found.words,
        "brief": found.brief,
        "firstNan": found.row(found.first_nan),
        "firstNonfinite": found.row(found.first_nonfinite),
    }


_MOST_CHANNELS = 4096


def channels(context: Context, question: Question) -> Reply:
    """Answer one picture for each index of an axis."""
    count = question.integer("count", 1, _MOST_CHANNELS)
    rows, cols = asked_cells(question, count)
    about = asked(context, question)
    about.require_pictures()
    plane = asked_plane(about, question)
    axis, first = question.integer("axis", 0, 63), question.integer("first")
    found = channels_of(about.values, plane, axis, first, count, rows, cols, context.watch)
    columns, buffer = packed_cells(found)
    return Reply(
        {
            "axis": found.axis,
            "first": found.first,
            "count": found.count,
            "length": found.length,
            **_grid(found, plane),
            "columns": columns,
        },
        (buffer,),
    )


def _grid(found: Picture, plane: Plane) -> dict[str, int]:
    """Return how many cells there are, of how many values, and how large the plane is."""
    return {
        "rows": found.rows,
        "cols": found.cols,
        "rowStep": found.row_step,
        "colStep": found.col_step,
        "planeRows": plane.rows,
        "planeCols": plane.cols,
    }


#: Bytes of one answer.
MOST_BYTES = 1 << 20
_PIECE = 1 << 17


def data(context: Context, question: Question) -> Reply:
    """Answer as many whole rows of a plane as one message may carry."""
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
        **_grid(shown, plane),
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


def packed_cells(found: Picture | Profile) -> tuple[list[dict[str, Any]], bytes]:
    """Return headers and buffer of mean, minimum, maximum and flags.

    Bounds that are the mean to the bit, as those of cells of one value, are left out, and so are
    flags where none is set; ``js/src/shared/client/tensor_client.ts`` puts them in.
    """
    bounds = {"minimum": found.minimum, "maximum": found.maximum}
    word = np.dtype(f"u{found.mean.itemsize}")
    bits = found.mean.view(word)
    columns: dict[str, Any] = {"mean": found.mean}
    columns |= {
        name: each for name, each in bounds.items() if not np.array_equal(each.view(word), bits)
    }
    if found.flags.any():
        columns["flags"] = found.flags
    return pack(columns, "cells")


_LONGEST_LAYOUT = 100
_LONGEST_READING = 100
#: Cells of one answer.
MOST_CELLS = 1 << 20
MOST_SIDE = 8192


@dataclass(frozen=True)
class TensorQuery:
    """A tensor as one question wants to see it."""

    tensor: Tensor
    reading: str | None
    stored: ArrayValues
    values: ArrayView
    layout: str = ""
    sizes: dict[str, int] = field(default_factory=dict)
    axis_names: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape that axes and index speak of."""
        return self.values.view_shape

    @property
    def key(self) -> tuple[Any, ...]:
        """Names the values among those of one run."""
        entry = (self.tensor.node, self.tensor.output)
        return (*entry, self.reading, self.layout, *sorted(self.sizes.items()))

    @property
    def has_pictures(self) -> bool:
        """Whether there are values that have an order."""
        return self.stored.is_ordered and math.prod(self.shape) > 0

    @property
    def is_unordered(self) -> bool:
        """Whether there are values to be read one by one that have no order: complex ones."""
        stored = self.stored
        return not (stored.is_raw or stored.is_ordered) and math.prod(self.shape) > 0

    def require_pictures(self) -> None:
        """Raise where there are none."""
        if not self.has_pictures:
            raise ValueError(
                f"{self.tensor.name}: {self.tensor.dtype}{list(self.shape)} has no heatmap"
            )


def asked_tensor(run: RunFacts, question: Question) -> Tensor:
    """Return the tensor that a question names."""
    if run.tensors is None:
        raise KeyError("this run has no tensors")
    node, output = question.integers("entry", 2)
    return run.tensors[node, output]


def asked_reading(tensor: Tensor, question: Question) -> str | None:
    """Return the reading that is meant, None where the tensor has one only."""
    known = tensor.readings
    if not known:
        question.text("reading", _LONGEST_READING)
        return None
    return question.choice("reading", known) or known[0]


def asked(context: Context, question: Question) -> TensorQuery:
    """Return what a question is about."""
    tensor = asked_tensor(context.run, question)
    reading = asked_reading(tensor, question)
    stored = tensor.values(reading)
    text = question.text("layout", _LONGEST_LAYOUT)
    sizes = question.sizes("sizes") if question.has("sizes") else None
    known = context.layouts((tensor.node, tensor.output)) if text != "" else ()
    unfolded = laid_out(stored, known, text, sizes)
    about = TensorQuery(tensor, reading, stored, stored, axis_names=stored.axis_names)
    return about if unfolded is None else _unfolded(about, unfolded)


def _unfolded(about: TensorQuery, unfolded: Unfolded) -> TensorQuery:
    layout = unfolded.layout
    whole = layout.logical_shape(about.stored.view_shape)
    hiding = {
        name: size
        for name, size, most in zip(unfolded.axis_names, unfolded.shape, whole, strict=True)
        if size < most
    }
    return replace(
        about,
        values=unfolded if hiding or layout.is_packed else about.stored,
        layout=layout.text,
        sizes=hiding,
        axis_names=unfolded.axis_names,
    )


def asked_plane(about: TensorQuery, question: Question) -> Plane:
    """Return the plane that is meant; the last axes at index 0 where that is left open."""
    shape = about.shape
    index = question.integers("index") if question.has("index") else [0] * len(shape)
    if len(index) != len(shape):
        return Plane.of(shape, default_axes(shape), [0] * len(shape))
    axes = question.axes("axes") if question.has("axes") else default_axes(shape)
    return Plane.of(shape, axes, index)


def asked_cells(question: Question, pictures: int = 1) -> tuple[int, int]:
    """Return the most rows and columns that so many pictures may have."""
    rows, cols = question.integer("rows", 1, MOST_SIDE), question.integer("cols", 1, MOST_SIDE)
    if rows * cols * pictures > MOST_CELLS:
        found = f"{rows} x {cols}" if pictures == 1 else f"{pictures} of {rows} x {cols}"
        raise ValueError(f"an answer has at most {MOST_CELLS} cells, asked for {found}")
    return rows, cols


def asked_part(plane: Plane, question: Question) -> Part | None:
    """Return the part of a plane that is wanted, cut where the plane ends; None for all of it."""
    if not question.has("part"):
        return None
    row, col, rows, cols = question.integers("part", 4)
    if not rows or not cols:
        raise ValueError(f"part has no values: {rows} x {cols}")
    row, col = min(row, plane.rows - 1), min(col, plane.cols - 1)
    return row, col, min(rows, plane.rows - row), min(cols, plane.cols - col)
