"""Which tensor a question is about, and how it wants the bytes understood."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.analysis.layouts.layouts import laid_out
from tvmdbg_widgets.answers.answering import Context
from tvmdbg_widgets.answers.messages import Question
from tvmdbg_widgets.model.pictures import Part
from tvmdbg_widgets.model.tensors.array_values import ArrayValues
from tvmdbg_widgets.model.tensors.planes import Plane, default_axes
from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.model.tensors.unfolded import Unfolded
from tvmdbg_widgets.model.tensors.values import ArrayView

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


def asked_tensor(run: Derived, question: Question) -> Tensor:
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
    """Return the plane that is meant; the last axes at index 0 where that is left open.

    An index of another rank leaves it open, too: a page may know the declared shape alone.
    """
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
