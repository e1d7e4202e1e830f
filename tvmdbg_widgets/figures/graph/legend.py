"""What colors and lines of a graph mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.figures.graph.colors import ClassColors, NumberColors, value_text
from tvmdbg_widgets.figures.graph.faults import BADGE, Fault, Faults, draw_badge, draw_fault
from tvmdbg_widgets.figures.graph.health import NodeHealth, fill, is_unknown, sign
from tvmdbg_widgets.figures.graph.marks import DASHES, hatch
from tvmdbg_widgets.figures.graph.scene import AMBIGUOUS, BRIDGE, CONTROL, Scene
from tvmdbg_widgets.figures.svg import LINE_HEIGHT, MARGIN, SMALL, Marks, Panel, number
from tvmdbg_widgets.figures.texts import fit, width
from tvmdbg_widgets.model.base.numbers import duration_text, percent
from tvmdbg_widgets.model.graph.nodes import NodeKind

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.graph.colors import Colors
    from tvmdbg_widgets.figures.graph.times import Times
    from tvmdbg_widgets.model.graph.graph import Graph

KindSums = list[tuple[str, int, float]]

_SWATCH = 10
_SIGN = 14
_RAMP = 72
_STEPS = 12
_LINES = {
    AMBIGUOUS: "ambiguous: the file does not name the producer",
    CONTROL: "runs before",
    BRIDGE: "through hidden nodes",
}


def kind_sums(graph: Graph, times: Times) -> KindSums:
    """Op kinds with the number of their nodes and the sum of their times (ns), longest first."""
    sums: dict[str, tuple[int, float]] = {}
    known = np.where(times.ns > 0, times.ns, 0.0)
    keys = graph.func_names.codes.astype(np.int64) * len(NodeKind) + graph.kinds
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    counts, totals = np.bincount(group), np.bincount(group, known)
    for at in np.argsort(first).tolist():
        kind = graph.nodes[int(first[at])].op_kind
        nodes, total = sums.get(kind, (0, 0.0))
        sums[kind] = (nodes + int(counts[at]), total + float(totals[at]))
    rows = [(kind, nodes, ns) for kind, (nodes, ns) in sums.items()]
    return sorted(rows, key=lambda row: (-row[2], -row[1]))


def draw_legend(
    panel: Panel,
    y: float,
    times: Times,
    *,
    sums: KindSums,
    scene: Scene,
    color_by: str,
    hottest: tuple[float, str] | None = None,
    health: NodeHealth | None = None,
    colors: Colors | None = None,
    faults: Faults | None = None,
    counts_parameters: bool = True,
) -> float:
    """Write the legend from ``y`` down, in as many lines as it takes; return the y below it.

    ``hottest`` is the time (ns) that has the last color, and what takes so long.
    """
    flow = _Flow(panel, y)
    if health is not None:
        _verdicts(flow, health)
    elif color_by == "time":
        _scale(flow, times, hottest or (times.largest, "slowest"))
    if isinstance(colors, NumberColors):
        _numbers(flow, colors)
    elif isinstance(colors, ClassColors):
        _classes(flow, colors)
    for kind, nodes, ns in [] if isinstance(colors, ClassColors) else sums:
        share = percent(ns / times.total) if ns > 0 else f"{nodes:,}"
        x, middle = flow.take(_SWATCH + 4 + width(f"{kind}{share}", SMALL) + 4)
        panel.marks.rect(x, middle - 5, _SWATCH, _SWATCH, own={"fill": flow.theme.kind(kind)})
        start = x + _SWATCH + 4
        panel.marks.text(kind, start, middle + 4, aside=share, gap=4)
    if faults is not None:
        _faults(flow)
    for style, said in _LINES.items():
        if style in scene.style:
            _line(flow, DASHES[style], said)
    if counts_parameters and any(scene.folded):
        x, middle = flow.take(width("+2: parameters inside", SMALL))
        panel.marks.text("+2: parameters inside", x, middle + 4, fill=flow.theme.muted)
    return flow.y + LINE_HEIGHT


class _Flow:
    """Items one after the other, and into the next line where one does not fit."""

    def __init__(self, panel: Panel, y: float) -> None:
        self.marks: Marks = panel.marks
        self.theme = panel.theme
        self.y, self._x, self._end = y, float(MARGIN), panel.width - MARGIN

    @property
    def room(self) -> float:
        """The longest item that fits."""
        return self._end - MARGIN

    def take(self, wide: float) -> tuple[float, float]:
        """Return left end and middle line of the next item."""
        if self._x > MARGIN and self._x + wide > self._end:
            self._x, self.y = float(MARGIN), self.y + LINE_HEIGHT
        at = self._x
        self._x += wide + 12
        return at, self.y + LINE_HEIGHT / 2


def _verdicts(flow: _Flow, health: NodeHealth) -> None:
    """What the fills say of the values of nodes, and how many nodes there are of each."""
    if not len(health.health):
        said = "the run holds no tensors"
        x, middle = flow.take(width(said, SMALL))
        flow.marks.text(said, x, middle + 4)
        return
    for label, count in health.counted():
        number_ = f"{count:,}"
        x, middle = flow.take(_SIGN + 4 + width(f"{label}{number_}", SMALL) + 4)
        paint = fill(flow.theme, label)
        box = (x, middle - _SIGN / 2, float(_SIGN), float(_SIGN))
        flow.marks.rect(*box, own={"fill": paint}, stroke=flow.theme.edge, rx=2.0)
        if is_unknown(label):
            hatch(flow.marks, box, z=2)
        ink = flow.theme.ink_on(paint) if label in ("suspicious", "faulty") else flow.theme.text
        flow.marks.text(
            sign(label), x + _SIGN / 2, middle + 4, fill=ink, text_anchor="middle", font_weight=600
        )
        flow.marks.text(label, x + _SIGN + 4, middle + 4, aside=number_, gap=4)


def _scale(flow: _Flow, times: Times, hottest: tuple[float, str]) -> None:
    if not times.ranked:
        said = "the run has no times"
        x, middle = flow.take(width(said, SMALL))
        flow.marks.text(said, x, middle + 4)
        return
    before, after = "time 0", f"{duration_text(hottest[0])} ({hottest[1]})"
    first = width(before, SMALL) + 4
    x, middle = flow.take(first + _RAMP + 4 + width(after, SMALL))
    flow.marks.text(before, x, middle + 4)
    step = _RAMP / _STEPS
    for i in range(_STEPS):
        fill = {"fill": flow.theme.heat((i + 0.5) / _STEPS)}
        flow.marks.rect(x + first + i * step, middle - 5, step + 0.2, _SWATCH, own=fill)
    flow.marks.text(after, x + first + _RAMP + 4, middle + 4)


def _numbers(flow: _Flow, colors: NumberColors) -> None:
    """The bar of a column of numbers, and how many nodes are beside it."""
    column, scale = colors.column, colors.scale
    text = [value_text(each, column.unit) for each in (scale.low, scale.high)]
    before = f"{column.name} {text[0]}"
    of = _together(colors)
    after = f"{text[1]}{of}"
    first = width(before, SMALL) + 4
    x, middle = flow.take(first + _RAMP + 4 + width(after, SMALL))
    flow.marks.text(before, x, middle + 4)
    step = _RAMP / _STEPS
    for i in range(_STEPS):
        paint = colors.color(flow.theme, scale.value((i + 0.5) / _STEPS))
        box = (x + first + i * step, middle - 5, step + 0.2, float(_SWATCH))
        flow.marks.rect(*box, own={"fill": paint})
    flow.marks.text(after, x + first + _RAMP + 4, middle + 4)
    for count, side in ((colors.under, "below"), (colors.over, "above")):
        if count:
            said = f"{count:,} {side}"
            x, middle = flow.take(width(said, SMALL))
            flow.marks.text(said, x, middle + 4)
    _unknown(flow, colors.unknown)
    if column.note:
        said = fit(column.note, flow.room, SMALL)
        x, middle = flow.take(width(said, SMALL))
        flow.marks.text(said, x, middle + 4, fill=flow.theme.muted)


def _together(colors: NumberColors) -> str:
    several = colors.column.of == "entries"
    return f" ({colors.describe()['together']} of outputs)" if several else ""


def _classes(flow: _Flow, colors: ClassColors) -> None:
    """The classes with how many nodes have each."""
    x, middle = flow.take(width(colors.column.name, SMALL))
    flow.marks.text(colors.column.name, x, middle + 4, fill=flow.theme.muted)
    for label, nodes, code in colors.legend:
        count = f"{nodes:,}"
        shown = fit(label, flow.room - _SWATCH - 60, SMALL)
        x, middle = flow.take(_SWATCH + 4 + width(f"{shown}{count}", SMALL) + 4)
        paint = colors.color(flow.theme, code)
        flow.marks.rect(x, middle - 5, _SWATCH, _SWATCH, own={"fill": paint})
        flow.marks.text(shown, x + _SWATCH + 4, middle + 4, aside=count, gap=4)
    _unknown(flow, colors.unknown)


def _unknown(flow: _Flow, count: int) -> None:
    if not count:
        return
    said = f"{count:,} unknown"
    x, middle = flow.take(_SWATCH + 4 + width(said, SMALL))
    box = (x, middle - 5, float(_SWATCH), float(_SWATCH))
    flow.marks.rect(*box, fill="none", stroke=flow.theme.line)
    hatch(flow.marks, box)
    flow.marks.text(said, x + _SWATCH + 4, middle + 4)


def _faults(flow: _Flow) -> None:
    """How boxes are marked that have a fault."""
    said = Fault.ORIGIN.words
    x, middle = flow.take(2 * BADGE + 4 + width(said, SMALL))
    draw_badge(flow.marks, x + BADGE, middle)
    flow.marks.text(said, x + 2 * BADGE + 4, middle + 4)
    said = Fault.SPREAD.words
    x, middle = flow.take(_SIGN + 4 + width(said, SMALL))
    box = (x, middle - _SIGN / 2, float(_SIGN), float(_SIGN))
    draw_fault(flow.marks, Fault.SPREAD, box, "")
    flow.marks.text(said, x + _SIGN + 4, middle + 4)


def _line(flow: _Flow, dashes: str, said: str) -> None:
    if 26 + width(said, SMALL) > flow.room:
        said = said.partition(":")[0]
    x, middle = flow.take(26 + width(said, SMALL))
    line = f"M{number(x)} {number(middle)}h22"
    flow.marks.path(
        line, fill="none", stroke=flow.theme.edge, stroke_width=1.2, stroke_dasharray=dashes
    )
    flow.marks.text(said, x + 26, middle + 4, fill=flow.theme.muted)
