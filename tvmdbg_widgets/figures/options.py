"""Options of a tensor's figure, and replacements in a figure for others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tvmdbg_widgets.answers.tensor import Redact
from tvmdbg_widgets.model.base.choice import one_of
from tvmdbg_widgets.model.findings import Findings
from tvmdbg_widgets.model.tensors.layouts import Layout, checked_sizes

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


@dataclass(frozen=True)
class Redaction:
    """Replacements in a figure that is saved for others."""

    redact: Redact
    findings: Findings | None = None
    selected: tuple[int, ...] = ()
    entry: tuple[int, int] | None = None


PARTS = ("findings", "graph", "tensor", "timeline")
