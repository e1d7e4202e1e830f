"""How large boxes are and where they stand, so that a graph fits into a notebook's output."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Literal

from tvmdbg_widgets.figures.graph_fold import Folded, fold
from tvmdbg_widgets.figures.graph_scene import Labels, Scene, badge
from tvmdbg_widgets.figures.layout import Layout, Spacing, layout
from tvmdbg_widgets.figures.svg import LARGE, SMALL
from tvmdbg_widgets.figures.texts import width
from tvmdbg_widgets.figures.theme import TOKENS

if TYPE_CHECKING:
    from collections.abc import Sequence

Direction = Literal["down", "right"]

_NODE: dict[str, int] = TOKENS["node"]
STRIPE, PADDING, RADIUS = _NODE["stripe"], _NODE["padding"], _NODE["radius"]
TEXT_START = STRIPE + PADDING - 2
GAP, BADGE_PADDING = 8, 4
_MOST_STRETCHES = {"down": 8, "right": 16}
#: To the right, wide boxes would leave room for no more than two in a row.
_WIDEST_RIGHT = 172.0
_COLUMN_GAP = 26
_SPARE = (0, 16, 32, 50, 70, 90, 110, 130, 150)
#: Larger graphs are tried with fewer widths.
_LARGE, _LARGE_SPARE = 60, (0, 32, 90)

Detail = Literal["group", "full", "low"]


@dataclass(frozen=True)
class BoxSizes:
    """Boxes of one size class: their height, how wide each would be, and how wide it may be.

    Of ``widest``, narrower limits leave room for boxes that share a layer.
    """

    detail: Detail
    high: float
    least: float
    widest: tuple[float, ...]
    spacing: Spacing
    wanted: list[float]


def node_sizes(scene: Scene, labels: Labels) -> list[BoxSizes]:
    """Return boxes with two lines of text, and with one."""
    full, low = (
        [_wanted(scene, labels, box, detail) for box in range(len(scene.nodes))]
        for detail in ("full", "low")
    )
    roomy = Spacing(node_gap=14, line_gap=9, track_gap=7, layer_gap=14, component_gap=24)
    tight = Spacing(node_gap=10, line_gap=8, track_gap=6, layer_gap=13, component_gap=18)
    return [
        BoxSizes("full", 36.0, 104.0, (220.0, 200.0, 184.0), roomy, full),
        BoxSizes("low", 22.0, 84.0, (220.0,), tight, low),
    ]


@dataclass(frozen=True)
class Arrangement:
    """Boxes of one size class and where they stand.

    ``detail`` is ``"group"``, ``"full"`` (two lines of text) or ``"low"`` (one).
    """

    detail: Detail
    direction: Direction
    widths: list[float]
    heights: list[float]
    folded: Folded


def arrange(
    scene: Scene, sizes: Sequence[BoxSizes], direction: Direction, room: float, tall: float
) -> Arrangement | None:
    """Place the boxes within ``room`` x ``tall`` px as large as can be; None if nothing fits.

    Where they do not fit in the direction that is asked for, the other is tried.
    """
    other: Direction = "right" if direction == "down" else "down"
    for towards, size in product((direction, other), sizes):
        if len(scene.nodes) * size.least * size.high > room * tall:
            continue
        found = _arrange(scene, towards, (room, tall), size)
        if found is not None:
            return found
    return None


def _arrange(
    scene: Scene, direction: Direction, limits: tuple[float, float], size: BoxSizes
) -> Arrangement | None:
    count = len(scene.nodes)
    heights = [size.high] * count
    wanted = size.wanted
    if direction == "right":
        wanted = [min(each, _WIDEST_RIGHT) for each in wanted]
    plain = _layout(scene, wanted, heights, direction, size.spacing)
    beside = Counter(plain.layer.tolist())
    room, tall = limits
    length = float(plain.layer_bottom[-1] - plain.layer_top[0]) if plain.layers else 0.0
    spares = _SPARE if count <= _LARGE else _LARGE_SPARE
    for columns in range(1, _MOST_STRETCHES[direction] + 1):
        if length / columns > (tall if direction == "down" else room):
            continue
        for spare, widest in product(spares, size.widest):
            widths = wanted
            if direction == "down":
                own = (room - _COLUMN_GAP * (columns - 1)) / columns - spare
                gap = size.spacing.node_gap
                cap = [
                    min(widest, (own - gap * (beside[at] - 1)) / beside[at])
                    for at in plain.layer.tolist()
                ]
                if min(cap, default=999.0) < size.least:
                    break
                widths = [min(each, most) for each, most in zip(wanted, cap, strict=True)]
            placed = _layout(scene, widths, heights, direction, size.spacing)
            found = fold(scene, placed, widths, heights, columns)
            if found.width <= room and found.height <= tall:
                return Arrangement(size.detail, direction, widths, heights, found)
            if direction == "right":
                break
    return None


def _layout(
    scene: Scene, widths: list[float], heights: list[float], direction: Direction, spacing: Spacing
) -> Layout:
    return layout(
        len(scene.nodes),
        widths,
        heights,
        scene.source,
        scene.target,
        source_slot=scene.slot,
        direction=direction,
        spacing=spacing,
    )


def _wanted(scene: Scene, labels: Labels, box: int, detail: str) -> float:
    node = scene.nodes[box]
    if detail == "low":
        line = width(f"#{node} {labels.title(node)}  {labels.time(node)}", SMALL)
        return float(min(_NODE["maxWidth"], max(_NODE["minWidth"], TEXT_START + line + PADDING)))
    mark, inside = labels.mark(node), badge(len(scene.folded[box]))
    second = max(
        width(f"#{node} · {text}", SMALL) for text in (labels.shape(node), labels.time(node))
    )
    lines = (width(labels.title(node), LARGE) + pill_width(mark), second + pill_width(inside))
    return float(min(_NODE["maxWidth"], max(_NODE["minWidth"], TEXT_START + max(lines) + PADDING)))


def pill_width(text: str) -> float:
    """Return the room that a pill and the gap before it take."""
    return GAP + 2 * BADGE_PADDING + width(text, SMALL) if text else 0.0
