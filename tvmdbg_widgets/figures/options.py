"""Options of a tensor's figure, and the plane, region and axis they choose."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.layouts import KnownLayout, known_layouts, laid_out
from tvmdbg_widgets.model.base.choice import one_of
from tvmdbg_widgets.model.findings import Findings
from tvmdbg_widgets.model.pictures import (
    ChannelPictures,
    Picture,
    Profile,
    channels,
    picture,
    profile,
)
from tvmdbg_widgets.model.tensors.layouts import Layout, checked_sizes
from tvmdbg_widgets.model.tensors.planes import Plane, axis_along, default_axes
from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.model.tensors.values import ArrayView, Unfolded

Axes: TypeAlias = tuple[int | None, int | None]
#: Row, column, rows and columns of a region in a plane, in values.
Region: TypeAlias = tuple[int, int, int, int]
ColorRange: TypeAlias = str | tuple[float, float]

TENSOR_SHOWS = ("picture", "channels", "profile")
COLOR_MAPS = ("auto", "sequential", "diverging")
COLOR_SCALES = ("auto", "linear", "log", "symlog")
COLOR_RANGES = ("auto", "tensor", "plane", "robust")
#: Statistics that color a cell of several values.
CELLS = ("mean", "least", "largest", "extreme")


@dataclass(frozen=True)
class TensorFigureOptions:
    """Options of a tensor's figure; same names as traits of ``TensorInspector``."""

    entry: tuple[int, int] | None = None
    axes: Axes | None = None
    index: Sequence[int] | None = None
    color_scale: str = "auto"
    color_map: str = "auto"
    color_range: ColorRange = "auto"
    data_layout: str | None = None
    reading: str | None = None
    show: str = "picture"
    region: Region | None = None
    data_sizes: Mapping[str, int] | None = None
    cells: str = "mean"
    along: int | None = None

    def __post_init__(self) -> None:
        """Refuse what no tensor can be shown with."""
        one_of("color_scale", self.color_scale, COLOR_SCALES)
        one_of("color_map", self.color_map, COLOR_MAPS)
        one_of("show", self.show, TENSOR_SHOWS)
        one_of("cells", self.cells, CELLS)
        if isinstance(self.color_range, str):
            one_of("color_range", self.color_range, COLOR_RANGES)
        elif not _is_range(self.color_range):
            raise ValueError(f"color_range is (low, high), found {self.color_range!r}")
        if self.data_layout:
            Layout.parse(self.data_layout)
        if self.data_sizes is not None:
            checked_sizes(self.data_sizes, self.data_layout)
        if self.along is not None and (isinstance(self.along, bool) or self.along < 0):
            raise ValueError(f"along is the number of an axis, found {self.along!r}")
        if self.region is not None and not _is_region(self.region):
            raise ValueError(f"region is (row, col, rows, cols), found {self.region!r}")


def _is_range(pair: Sequence[float]) -> bool:
    return len(pair) == 2 and all(map(math.isfinite, pair)) and pair[0] <= pair[1]


def _is_region(numbers: Sequence[int]) -> bool:
    return len(numbers) == 4 and min(numbers[:2]) >= 0 and min(numbers[2:]) >= 1


#: Values of a plane above which its picture is made of a sample.
MOST_EXACT = 1 << 26


@dataclass(frozen=True)
class ShownValues:
    """The part of a tensor's values that a figure shows."""

    reading: str | None
    values: ArrayView
    layout: str
    sizes: dict[str, int]
    axis_names: tuple[str, ...]
    known: tuple[KnownLayout, ...]
    misfit: str
    plane: Plane | None
    region: Region | None
    show: str
    axis: int | None

    @classmethod
    def of(cls, run: RunFacts, tensor: Tensor, options: TensorFigureOptions) -> ShownValues:
        """Apply options to a tensor; those it cannot follow fall back to the default."""
        readings = tensor.readings
        reading = options.reading if options.reading in readings else None
        reading = reading or (readings[0] if readings else None)
        stored = tensor.values(reading)
        known = known_layouts(run.parts, (tensor.node, tensor.output))
        unfolded, misfit = None, ""
        try:
            unfolded = laid_out(stored, known, options.data_layout, options.data_sizes)
        except ValueError as problem:
            misfit = str(problem)
        opened = stored if unfolded is None else unfolded
        shape = opened.view_shape
        plane = plane_of(shape, options.axes, options.index) if stored.is_ordered else None
        plane = plane if math.prod(shape) else None
        names = stored.axis_names if unfolded is None else unfolded.axis_names
        axis = None
        if plane is not None and options.show != "picture":
            pictured = plane.axes if options.show == "channels" else ()
            axis = axis_along(shape, names, pictured, options.along)
        return cls(
            reading,
            opened,
            "" if unfolded is None else unfolded.layout.text,
            {} if unfolded is None else _hiding(unfolded),
            names,
            known,
            misfit,
            plane,
            None if plane is None else _part(plane, options.region),
            options.show,
            axis,
        )

    @property
    def drawn(self) -> Plane:
        """The plane, of values that can be drawn."""
        assert self.plane is not None  # noqa: S101 (only used if there is something to draw)
        return self.plane

    @property
    def rows(self) -> int:
        """Drawn values per column."""
        return self.drawn.rows if self.region is None else self.region[2]

    @property
    def cols(self) -> int:
        """Drawn values per row."""
        return self.drawn.cols if self.region is None else self.region[3]

    @property
    def is_line(self) -> bool:
        """Whether one row of several values is drawn."""
        return self.rows == 1 and self.cols > 1

    def picture(self, rows: int, cols: int) -> Picture:
        """Return a picture; of very many values, a picture of a sample."""
        many = self.rows * self.cols > MOST_EXACT
        return picture(self.values, self.drawn, rows, cols, part=self.region, sample=many)

    def channels(self, count: int, rows: int, cols: int) -> ChannelPictures:
        """Return pictures of the first indices of :attr:`axis`."""
        assert self.axis is not None  # noqa: S101
        return channels(self.values, self.drawn, self.axis, 0, count, rows, cols)

    def profile(self, points: int) -> Profile:
        """Return the profile along :attr:`axis`."""
        assert self.axis is not None  # noqa: S101
        return profile(self.values, self.axis, points)

    def axis_name(self, axis: int) -> str:
        """``"C"``, or ``"axis 1"`` for an axis without a name."""
        return self.axis_names[axis] if self.axis_names else f"axis {axis}"

    def axis_text(self, axis: int) -> str:
        """``"C (16)"``, or ``"axis 1 (16)"`` for an axis without a name."""
        return f"{self.axis_name(axis)} ({self.values.view_shape[axis]:,})"

    @property
    def names(self) -> tuple[str, str]:
        """Names of the vertical and horizontal axis; "" for none."""
        down, across = ("" if axis is None else self.axis_name(axis) for axis in self.drawn.axes)
        return down, across

    @property
    def words(self) -> str:
        """Sentence on which axes are shown, and the indices of the others."""
        if self.plane is None:
            return ""
        (down, across), index = self.plane.axes, self.plane.index
        axis = self.axis
        if self.show == "profile" and axis is not None:
            return f"along {self.axis_text(axis)}, over all other axes"
        if across is None:
            return "a single value"
        shown = f"columns: {self.axis_text(across)}"
        if down is not None:
            shown = f"rows: {self.axis_text(down)}, {shown}"
        if self.region is not None:
            row, col, rows, cols = self.region
            part = f"rows {row:,} to {row + rows - 1:,}, columns {col:,} to {col + cols - 1:,}"
            shown += f"; zoomed to {part}"
        tiled = axis if self.show == "channels" else None
        parts = [shown]
        if self.show == "channels":
            left = None if tiled is None else f"tiled by {self.axis_text(tiled)}"
            parts = [left or "no axis is left to tile by", shown]
        parts += [
            f"{self.axis_name(at)} at {index[at]} of {size:,}"
            for at, size in enumerate(self.plane.shape)
            if at not in (down, across, tiled) and size > 1
        ]
        return "; ".join(parts)


def plane_of(shape: tuple[int, ...], axes: Axes | None, index: Sequence[int] | None) -> Plane:
    """Return the requested plane; parts that do not fit the shape get defaults."""
    usable = axes is not None and _valid(shape, axes)
    at = [0] * len(shape)
    if index is not None and len(index) == len(shape):
        at = [max(0, min(size - 1, place)) for place, size in zip(index, shape, strict=True)]
    return Plane(shape, axes if axes is not None and usable else default_axes(shape), tuple(at))


def _part(plane: Plane, region: Region | None) -> Region | None:
    """Clip a region to the plane; None if it covers the plane."""
    if region is None:
        return None
    row, col = min(region[0], plane.rows - 1), min(region[1], plane.cols - 1)
    rows, cols = min(region[2], plane.rows - row), min(region[3], plane.cols - col)
    return None if (rows, cols) == (plane.rows, plane.cols) else (row, col, rows, cols)


def _hiding(unfolded: Unfolded) -> dict[str, int]:
    """Return the sizes of axes that hide padding."""
    logical = unfolded.layout.logical_shape(unfolded.values.view_shape)
    shown = zip(unfolded.axis_names, unfolded.shape, logical, strict=True)
    return {name: size for name, size, most in shown if size < most}


def _valid(shape: tuple[int, ...], axes: Axes) -> bool:
    down, across = axes
    if any(axis is not None and not 0 <= axis < len(shape) for axis in axes):
        return False
    return (down is None and not shape) if across is None else down != across


#: Gives the reason why a tensor's values are hidden ("" if shown), and if only counts are shown.
Redact: TypeAlias = "Callable[[Tensor], tuple[str, bool]]"


@dataclass(frozen=True)
class Redaction:
    """Replacements in a figure that is saved for others."""

    redact: Redact
    findings: Findings | None = None
    selected: tuple[int, ...] = ()
    entry: tuple[int, int] | None = None


PARTS = ("findings", "graph", "tensor", "timeline")
