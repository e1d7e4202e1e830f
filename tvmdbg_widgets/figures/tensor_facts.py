"""What is shown of one tensor: its plane, its statistics in words, and all of it as JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.figures.colors import SPECIAL_TEXT, ColorScale
from tvmdbg_widgets.figures.texts import bytes_text, index_text, shape_text
from tvmdbg_widgets.model.nodes import NodeKind
from tvmdbg_widgets.model.number_text import number_text
from tvmdbg_widgets.model.numbers import fixed
from tvmdbg_widgets.model.planes import Plane, default_axes
from tvmdbg_widgets.model.trust import Trust

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.model.statistics import Statistics
    from tvmdbg_widgets.model.tensors import Tensor
    from tvmdbg_widgets.run import DebugRun

Axes = tuple[int | None, int | None]

BINS = 64


def plane_of(shape: tuple[int, ...], axes: Axes | None, index: Sequence[int] | None) -> Plane:
    """Return the plane that was asked for as far as the shape has it, the default where not."""
    usable = axes is not None and _valid(shape, axes)
    at = [0] * len(shape)
    if index is not None and len(index) == len(shape):
        at = [max(0, min(size - 1, each)) for each, size in zip(index, shape, strict=True)]
    return Plane(shape, axes if axes is not None and usable else default_axes(shape), tuple(at))


def _valid(shape: tuple[int, ...], axes: Axes) -> bool:
    down, across = axes
    if any(axis is not None and not 0 <= axis < len(shape) for axis in axes):
        return False
    return (down is None and not shape) if across is None else down != across


def default_entry(run: DebugRun) -> tuple[int, int] | None:
    """Return the entry shown where none is asked for: the first output of the last operator.

    Without a graph, or where that has no tensor, the last tensor that is no input or parameter,
    else the last one.
    """
    tensors, graph = run.tensors, run.graph
    if not tensors:
        return None
    entries = list(tensors)
    if graph is not None:
        kinds = graph.kinds
        own = [e for e in entries if e[0] < len(kinds) and kinds[e[0]] >= NodeKind.OPERATOR]
        entries = own or entries
    last = entries[-1][0]
    return next(entry for entry in entries if entry[0] == last)


@dataclass(frozen=True)
class TensorFacts:
    """One tensor as it is shown."""

    tensor: Tensor
    statistics: Statistics
    plane: Plane | None
    color_scale: str = "linear"
    color_map: str = "auto"
    withheld: str = ""

    @classmethod
    def of(
        cls,
        tensor: Tensor,
        axes: Axes | None = None,
        index: Sequence[int] | None = None,
        *,
        color_scale: str = "linear",
        color_map: str = "auto",
    ) -> TensorFacts:
        """Read the statistics and choose the plane; None where there is nothing to draw."""
        found = tensor.statistics(BINS)
        shape = tensor.view_shape
        drawn = math.prod(shape) > 0 and found.applicable
        plane = plane_of(shape, axes, index) if drawn else None
        return cls(tensor, found, plane, color_scale, color_map)

    def without_values(self, why: str, *, counts_only: bool) -> TensorFacts:
        """Return the same without the picture, and without bounds where ``counts_only``."""
        found = self.statistics.counts_only() if counts_only else self.statistics
        return replace(self, statistics=found, plane=None, withheld=why)

    @property
    def scale(self) -> ColorScale | None:
        """The colours over the finite values of the tensor; None where it has none."""
        low, high = self.statistics.minimum, self.statistics.maximum
        if low is None or high is None:
            return None
        return ColorScale.of(float(low), float(high), self.color_scale, self.color_map)

    @property
    def entry_text(self) -> str:
        """``"71:0"``."""
        return f"{self.tensor.node}:{self.tensor.output}"

    @property
    def head(self) -> list[str]:
        """dtype, shape, bytes and how the values were matched to the node."""
        tensor = self.tensor
        sure = tensor.trust is Trust.EXACT
        matched = "exact" if sure else f"matched {tensor.trust.label}"
        return [tensor.dtype.name, shape_text(tensor.shape), bytes_text(tensor.nbytes), matched]

    @property
    def verdict(self) -> str:
        """Whether all values are finite."""
        found = self.statistics
        if not found.applicable:
            return f"not counted: {found.reason}"
        if not found.size:
            return "no values"
        return "all finite" if found.finite == found.size else "not finite"

    @property
    def health(self) -> list[str]:
        """Counts of what is not finite, of zeros, negatives and finite values."""
        found = self.statistics
        if not found.applicable or not found.size:
            return []
        share = [
            f"{count:,} {noun} ({fixed(100 * count / found.size, 1)} %)"
            for count, noun in ((found.zero, "zero"), (found.negative, "negative"))
        ]
        specials = [f"{count:,} {SPECIAL_TEXT[name]}" for name, count in self.specials().items()]
        specials.sort(key=lambda text: text.startswith("0 "))
        return [*specials, *share, f"{found.finite:,} finite of {found.size:,}"]

    def specials(self) -> dict[str, int]:
        """Counts of NaN, +Inf and -Inf."""
        found = self.statistics
        return {"nan": found.nan, "pos_inf": found.pos_inf, "neg_inf": found.neg_inf}

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """Name, exact text and place of each statistic."""
        found = self.statistics
        if not found.applicable or not found.size or (self.withheld and found.minimum is None):
            return []
        return [
            ("minimum", _exact(found.minimum), self._at(found.argmin)),
            ("maximum", _exact(found.maximum), self._at(found.argmax)),
            ("mean", _exact(None if math.isnan(found.mean) else found.mean), ""),
            ("std", _exact(None if math.isnan(found.std) else found.std), ""),
        ]

    def _at(self, flat: int | None) -> str:
        index = self._index(flat)
        return f"at {index_text(index)}" if index else ""

    def _index(self, flat: int | None) -> list[int] | None:
        if flat is None:
            return None
        shape = self.tensor.view_shape
        return [int(each) for each in np.unravel_index(flat, shape)] if shape else []

    @property
    def plane_text(self) -> str:
        """Which axes are shown, and where the others are held."""
        if self.plane is None:
            return ""
        (down, across), index = self.plane.axes, self.plane.index
        if across is None:
            return "a single value"
        sizes = self.plane.shape
        shown = f"axis {across} ({sizes[across]:,}) across"
        if down is not None:
            shown = f"axis {down} ({sizes[down]:,}) down, {shown}"
        fixed_at = [
            f"axis {axis} at {index[axis]} of {size:,}"
            for axis, size in enumerate(sizes)
            if axis not in (down, across) and size > 1
        ]
        return "; ".join([shown, *fixed_at])

    def description(self, title: str) -> dict[str, Any]:
        """Return all of it as JSON."""
        tensor, found, plane = self.tensor, self.statistics, self.plane
        counts = found.histogram
        return {
            "view": "tensor",
            "title": title,
            "entry": [tensor.node, tensor.output],
            "name": tensor.name,
            "dtype": tensor.dtype.name,
            "shape": list(tensor.shape),
            "nbytes": tensor.nbytes,
            "trust": tensor.trust.label,
            "notes": list(tensor.notes),
            "axes": list(plane.axes) if plane else None,
            "index": list(plane.index) if plane else None,
            "color_scale": self.color_scale,
            "color_map": self.scale.map if self.scale is not None else None,
            "verdict": self.verdict,
            "counts": {
                "size": found.size,
                "finite": found.finite,
                "nan": found.nan,
                "posInf": found.pos_inf,
                "negInf": found.neg_inf,
                "zero": found.zero,
                "negative": found.negative,
            }
            if found.applicable
            else None,
            "statistics": {
                "minimum": _exact(found.minimum),
                "maximum": _exact(found.maximum),
                "mean": _exact(None if math.isnan(found.mean) else found.mean),
                "std": _exact(None if math.isnan(found.std) else found.std),
                "argmin": self._index(found.argmin),
                "argmax": self._index(found.argmax),
            }
            if found.applicable
            else None,
            "histogram": None
            if counts is None
            else {
                "counts": np.asarray(counts.counts).tolist(),
                "edges": np.asarray(counts.edges, np.float64).tolist(),
            },
        }


def _exact(value: Any) -> str:
    return "none" if value is None else number_text(value)
