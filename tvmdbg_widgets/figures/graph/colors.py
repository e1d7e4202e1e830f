"""A column over nodes or entries as the colors of a figure, those of the live graph."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from tvmdbg_widgets.figures.colors import ColorScale
from tvmdbg_widgets.figures.theme import CLASS_COLORS
from tvmdbg_widgets.model.base.number_text import short_text
from tvmdbg_widgets.model.base.numbers import bytes_text, duration_text, percent, speed_text
from tvmdbg_widgets.model.graph.nodes import NodeKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from tvmdbg_widgets.figures.theme import Paint, Ramp, Theme
    from tvmdbg_widgets.model.graph.graph import Graph
    from tvmdbg_widgets.model.graph.node_columns import NodeColumn

Part: TypeAlias = "tuple[Paint, float]"

_OWN = 2 * CLASS_COLORS
_NAMED = 2
_LOG_DECADES = 6
_TOGETHER = {"largest": "largest magnitude", "sum": "sum", "mean": "mean", "ratio": "ratio of sums"}


class Colors(Protocol):
    """What a column says of some nodes, drawn as one box."""

    column: NodeColumn
    unknown: int

    def fill(self, theme: Theme, nodes: Sequence[int]) -> Paint | None:
        """Return the fill behind text; None where nothing is known."""

    def is_unknown(self, nodes: Sequence[int]) -> bool:
        """Whether to hatch: nothing is known, or what is told so."""

    def parts(self, theme: Theme, nodes: Sequence[int]) -> list[Part] | None:
        """Return what the stripe is made of; None for the op kind."""

    def said(self, nodes: Sequence[int]) -> str:
        """Return it in words."""

    def describe(self) -> dict[str, Any]:
        """Return the legend as JSON-able facts."""


def colors_of(
    graph: Graph,
    column: NodeColumn,
    limits: tuple[float, float] | None = None,
    boxes: Iterable[Sequence[int]] = (),
) -> Colors:
    """Return the colors of a column.

    Parameters
    ----------
    limits
        Between which values the colors lie.
    boxes
        Nodes of each box that stands for several: their sums have a place on the scale, too.
    """
    if column.values is None:
        return ClassColors(graph, column)
    return NumberColors(graph, column, limits, boxes)


def value_text(value: float, unit: str) -> str:
    """Write a value with its unit: ``"3.214 ms"``, ``"16.0 KiB"``, ``"31.2 dB"``."""
    if unit == "ns":
        return duration_text(value)
    if unit == "×":
        return speed_text(2**value)
    if unit == "B":
        return bytes_text(math.floor(value + 0.5)).partition(" (")[0]
    return f"{short_text(value)} {unit}".rstrip()


def _ratio(terms: Iterable[npt.NDArray[np.float64]], nodes: Sequence[int]) -> float:
    """Return the ratio of the sums of some nodes, as a binary logarithm."""
    divisor, dividend = (each[list(nodes)] for each in terms)
    known = ~np.isnan(divisor) & ~np.isnan(dividend)
    below, above = float(divisor[known].sum()), float(dividend[known].sum())
    return math.log2(above / below) if above > 0 and below > 0 else math.nan


class _Rows:
    """Which rows of a column are of a node."""

    def __init__(self, graph: Graph, column: NodeColumn) -> None:
        self.graph, self.column = graph, column
        #: Whether a row is a node's.
        self.is_plain = column.of == "nodes" or bool(np.all(np.diff(graph.entry_offsets) == 1))

    def rows(self, nodes: Sequence[int]) -> npt.NDArray[Any]:
        """Values or codes of some nodes, those that are known."""
        rows = self.column.rows
        if self.is_plain:
            found = rows[list(nodes)]
        else:
            ends = self.graph.entry_offsets
            found = np.concatenate([rows[ends[node] : ends[node + 1]] for node in nodes] or [rows])
        known = ~np.isnan(found) if self.column.values is not None else found >= 0
        return found[known]


class NumberColors(_Rows):
    """By numbers: of several nodes by what they have together."""

    def __init__(
        self,
        graph: Graph,
        column: NodeColumn,
        limits: tuple[float, float] | None,
        boxes: Iterable[Sequence[int]],
    ) -> None:
        super().__init__(graph, column)
        each = column.values if self.is_plain else None
        if each is None:
            each = np.array([self.value((node,)) for node in range(graph.num_nodes)])
        known = each[~np.isnan(each)]
        together = () if column.together == "sum" else (self.value(nodes) for nodes in boxes)
        shown = np.array([*known, *together])
        finite = shown[np.isfinite(shown)]
        # Inputs and parameters are not run: their times are not missing.
        awaited = graph.kinds >= NodeKind.OPERATOR if column.unit == "×" else slice(None)
        self.unknown = int(np.isnan(each[awaited]).sum())
        self.total = float(known[known > 0].sum()) if column.together == "sum" else 0.0
        self.low, self.high = self._ends(finite)
        low, high = limits or column.range or (self.low, self.high)
        self.scale = self._scale(low, high, finite)
        both = column.scale == "diverging" or self.low < 0 < self.high
        self.ramp: Ramp = "diverging" if both else "sequential"
        self.under = int(np.count_nonzero(known < self.scale.low))
        self.over = int(np.count_nonzero(known > self.scale.high))

    def value(self, nodes: Sequence[int]) -> float:
        """Return what some nodes have together; NaN where nothing is known."""
        if self.column.terms is not None and len(nodes) > 1:
            return _ratio(self.column.terms, nodes)
        known = self.rows(nodes)
        if not len(known):
            return math.nan
        if self.column.together == "largest":
            return float(known[np.argmax(np.abs(known))])
        return float(known.sum() if self.column.together == "sum" else known.mean())

    def color(self, theme: Theme, value: float) -> Paint:
        """Return the color of a value."""
        return theme.ramp(self.ramp, float(self.scale.share(value)))

    def fill(self, theme: Theme, nodes: Sequence[int]) -> Paint | None:
        """Return the fill behind text; None for a sum, and where nothing is known."""
        value = self.value(nodes)
        return None if math.isnan(value) or self.is_sum(nodes) else self.color(theme, value)

    def is_sum(self, nodes: Sequence[int]) -> bool:
        """Whether it is the sum of several nodes, which the scale of single nodes does not show."""
        return self.column.together == "sum" and len(nodes) > 1

    def is_unknown(self, nodes: Sequence[int]) -> bool:
        """Whether nothing is known."""
        return math.isnan(self.value(nodes))

    def parts(self, theme: Theme, nodes: Sequence[int]) -> list[Part] | None:
        """Return None: the stripe tells the op kind."""

    def said(self, nodes: Sequence[int]) -> str:
        """Return the value, and its share of the sum where there is one."""
        value = self.value(nodes)
        if math.isnan(value):
            return f"{self.column.name} unknown"
        text = value_text(value, self.column.unit)
        shared = self.total > 0 and value > 0
        return f"{text} · {percent(value / self.total)}" if shared else text

    def describe(self) -> dict[str, Any]:
        """Return the legend as JSON-able facts."""
        column = self.column
        return {
            "name": column.name,
            "unit": column.unit,
            "scale": column.scale,
            "together": _TOGETHER[column.together],
            "low": self.scale.low,
            "high": self.scale.high,
            "below": self.under,
            "above": self.over,
            "unknown": self.unknown,
        }

    def _ends(self, finite: npt.NDArray[np.float64]) -> tuple[float, float]:
        if not len(finite):
            return 0.0, 1.0
        low, high = float(finite.min()), float(finite.max())
        if self.column.scale == "log" and high > 0:
            return float(finite[finite > 0].min()), high
        if self.column.scale == "diverging" or low < 0 < high:
            return -max(abs(low), abs(high)), max(abs(low), abs(high))
        return (0.0, high) if self.column.together == "sum" and low >= 0 else (low, high)

    def _scale(self, low: float, high: float, finite: npt.NDArray[np.float64]) -> ColorScale:
        if self.column.scale == "log" and high > 0:
            if low <= 0:
                least = min(finite[finite > 0].min(initial=high), high)
                low = max(float(least), high / 10**_LOG_DECADES)
            return ColorScale(low, high, "sequential", "log")
        scale = {"diverging": "linear", "log": "symlog"}.get(self.column.scale, self.column.scale)
        return ColorScale(low, high, "sequential", scale)


class ClassColors(_Rows):
    """By class: of several nodes by the most frequent."""

    def __init__(self, graph: Graph, column: NodeColumn) -> None:
        super().__init__(graph, column)
        counts: Counter[int] = Counter()
        self.unknown = 0
        for node in range(0 if self.is_plain else graph.num_nodes):
            codes = set(self.rows((node,)).tolist())
            counts.update(codes)
            self.unknown += not codes
        if self.is_plain:
            counts.update(column.rows.tolist())
            self.unknown = counts.pop(-1, 0)
        order = sorted(counts, key=lambda code: (0 if column.ordered else -counts[code], code))
        alone = column.name == "storage"
        told = [code for code in order if counts[code] > 1] if alone else order
        self._place = {code: code if column.ordered else place for place, code in enumerate(order)}
        self._own = min(_OWN, len(column.classes) if column.ordered else len(told))
        #: Label, nodes, code; the last row is of all that have no color of their own.
        self.legend = [(column.classes[code], counts[code], code) for code in order[: self._own]]
        rest = order[self._own :]
        if rest:
            others = f"{len(rest):,} other{'' if len(rest) == 1 else 's'}"
            label = f"{len(rest):,} used once" if len(told) < len(order) else others
            self.legend.append((label, sum(counts[code] for code in rest), rest[0]))

    def color(self, theme: Theme, code: int) -> Paint:
        """Return the color of a class."""
        place = self._place[code]
        if place >= self._own:
            return theme.muted
        return theme.class_color(place % CLASS_COLORS, faded=place >= CLASS_COLORS)

    def fill(self, theme: Theme, nodes: Sequence[int]) -> Paint | None:
        """Return the fill behind text; None where nothing is known."""
        shares = self._shares(nodes)
        return theme.tinted(self.color(theme, shares[0][0])) if shares else None

    def is_unknown(self, nodes: Sequence[int]) -> bool:
        """Whether nothing is known, or most is of the hatched class."""
        shares = self._shares(nodes)
        return not shares or shares[0][0] == self.column.hatched

    def parts(self, theme: Theme, nodes: Sequence[int]) -> list[Part] | None:
        """Return the shares of the classes."""
        shares = self._shares(nodes)
        total = sum(count for _, count in shares)
        return [(self.color(theme, code), count / total) for code, count in shares]

    def said(self, nodes: Sequence[int]) -> str:
        """Return the classes, the most frequent first."""
        shares = self._shares(nodes)
        if not shares:
            return f"{self.column.name} unknown"
        if len(shares) == 1:
            return self.column.classes[shares[0][0]]
        told = [f"{self.column.classes[code]} {count:,}" for code, count in shares[:_NAMED]]
        more = len(shares) - len(told)
        return ", ".join(told) + (f", +{more}" if more else "")

    def describe(self) -> dict[str, Any]:
        """Return the legend as JSON-able facts."""
        return {
            "name": self.column.name,
            "classes": [{"label": label, "nodes": nodes} for label, nodes, _ in self.legend],
            "unknown": self.unknown,
        }

    def _shares(self, nodes: Sequence[int]) -> list[tuple[int, int]]:
        counts = Counter(self.rows(nodes).tolist())
        return sorted(counts.items(), key=lambda each: (-each[1], self._place[each[0]]))
