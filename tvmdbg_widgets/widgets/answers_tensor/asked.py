"""Which tensor a question is about, and how it wants the bytes understood."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.model.array_values import READINGS, ArrayValues
from tvmdbg_widgets.model.planes import Plane
from tvmdbg_widgets.model.windows import Selection, read_window

if TYPE_CHECKING:
    import numpy as np

    from tvmdbg_widgets.model.tensors import Tensor
    from tvmdbg_widgets.run import DebugRun
    from tvmdbg_widgets.widgets.messages import Question

_LONGEST_LAYOUT = 64
#: Cells of one answer.
MOST_CELLS = 1 << 20
MOST_SIDE = 8192


@dataclass(frozen=True)
class Asked:
    """A tensor as one question wants to see it.

    Attributes
    ----------
    tensor : Tensor
    values : ArrayValues
    reading : str or None
        None where the type has one reading only.
    layout : str
        What is unfolded; empty where the axes are as stored.
    sizes : dict of str to int
        Logical sizes that hide padding.
    """

    tensor: Tensor
    values: ArrayValues
    reading: str | None
    layout: str
    sizes: dict[str, int]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape that axes and index speak of."""
        return self.values.view_shape

    @property
    def is_empty(self) -> bool:
        """Whether there is no value to show."""
        return math.prod(self.shape) == 0

    def window(self, selection: Selection) -> np.ndarray[Any, Any]:
        """Read a part of the values."""
        return read_window(self.values, selection)


def asked_tensor(run: DebugRun, question: Question) -> Tensor:
    """Return the tensor that a question names.

    Raises
    ------
    KeyError
        The run has no such tensor.
    """
    if run.tensors is None:
        raise KeyError("this run has no tensors")
    node, output = question.integers("entry", 2)
    return run.tensors[node, output]


def readings_of(tensor: Tensor) -> tuple[str, ...]:
    """Return the readings of a tensor, empty where there is but one."""
    several = tensor.dtype.is_packed and tensor.dtype.numpy_dtype is not None
    return READINGS if several else ()


def asked(run: DebugRun, question: Question) -> Asked:
    """Return what a question is about.

    Raises
    ------
    KeyError
        The run has no such tensor.
    ValueError
        It has no such reading, or the layout does not fit it.
    """
    tensor = asked_tensor(run, question)
    reading = asked_reading(tensor, question)
    values = tensor.record.values(reading)  # type: ignore[arg-type]
    if question.text("layout", _LONGEST_LAYOUT):
        raise ValueError("layouts are not unfolded yet")
    question.sizes("sizes")
    return Asked(tensor, values, reading, "", {})


def asked_reading(tensor: Tensor, question: Question) -> str | None:
    """Return the reading that is meant, None where the tensor has one only."""
    known = readings_of(tensor)
    if not known:
        question.choice("reading", READINGS)
        return None
    return question.choice("reading", known) or known[0]


def asked_plane(shape: tuple[int, ...], question: Question) -> Plane:
    """Return the plane that is meant; the last axes at index 0 where that is left open.

    An index of another rank leaves it open, too: a page may know the declared shape alone.
    """
    index = question.integers("index") if question.has("index") else [0] * len(shape)
    if len(index) != len(shape):
        return Plane.of(shape, _default_axes(shape), [0] * len(shape))
    axes = question.axes("axes") if question.has("axes") else _default_axes(shape)
    return Plane.of(shape, axes, index)


def asked_cells(question: Question, pictures: int = 1) -> tuple[int, int]:
    """Return the most rows and columns that so many pictures may have."""
    rows, cols = question.integer("rows", 1, MOST_SIDE), question.integer("cols", 1, MOST_SIDE)
    if rows * cols * pictures > MOST_CELLS:
        found = f"{rows} x {cols}" if pictures == 1 else f"{pictures} of {rows} x {cols}"
        raise ValueError(f"an answer has at most {MOST_CELLS} cells, asked for {found}")
    return rows, cols


def _default_axes(shape: tuple[int, ...]) -> tuple[int | None, int | None]:
    across = len(shape) - 1 if shape else None
    down = len(shape) - 2 if len(shape) > 1 else None
    return down, across
