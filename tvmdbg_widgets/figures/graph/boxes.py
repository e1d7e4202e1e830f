"""How large boxes are and where they stand, so that a graph fits into a notebook's output."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Literal

from tvmdbg_widgets.figures.graph.cuts import HEADER_BAND
from tvmdbg_widgets.figures.graph.fold import Folded, fold
from tvmdbg_widgets.figures.graph.scene import Scene, badge
from tvmdbg_widgets.figures.layout import FrameInput, Layout, Spacing, layout
from tvmdbg_widgets.figures.svg import LARGE, SMALL
from tvmdbg_widgets.figures.texts import width
from tvmdbg_widgets.figures.theme import TOKENS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tvmdbg_widgets.figures.graph.label import Labels
    from tvmdbg_widgets.figures.graph.nesting import GroupWords

Direction = Literal["down", "right"]

_NODE: dict[str, int] = TOKENS["node"]
STRIPE, PADDING, RADIUS = _NODE["stripe"], _NODE["padding"], _NODE["radius"]
TEXT_START = STRIPE + PADDING - 2
GAP, BADGE_PADDING = 8, 4
#: Room for what the colors say beside the title of a compact box, as in
#: js/src/graph/placed/compact_words.ts.
VALUE = 84.0
#: Room for the letters of a group's kind; what the sheets of a run of blocks take.
TAG, SHEETS = float(TOKENS["group"]["tag"]), 2.0 * TOKENS["group"]["stack"]
#: Height of the header of a frame, and the room inside its border.
HEADER, FRAME_PADDING = HEADER_BAND, 9.0
_MOST_STRETCHES = {"down": 8, "right": 16}
#: To the right, wide boxes would leave room for no more than two in a row.
_WIDEST_RIGHT = 172.0
_COLUMN_GAP = 26
_SPARE = (0, 16, 32, 50, 70, 90, 110, 130, 150)
#: Larger graphs are tried with fewer widths.
_LARGE, _MANY_EDGES, _LARGE_SPARE = 60, 600, (0, 32, 90)

Detail = Literal["group", "full", "low", "compact"]


@dataclass(frozen=True)
class BoxSizes:
    """Boxes of one size class: their heights, how wide each would be, and how wide it may be.

    Of ``widest``, narrower limits leave room for boxes that share a layer; ``headers`` is what the
    header of each frame would take.
    """

    detail: Detail
    heights: list[float]
    least: float
    widest: tuple[float, ...]
    spacing: Spacing
    wanted: list[float]
    headers: list[float]


def box_sizes(scene: Scene, labels: Labels, words: GroupWords) -> list[BoxSizes]:
    """Return boxes with two lines of text, and with one."""
    full, low = (
        [_wanted(scene, labels, words, box, detail) for box in range(len(scene.nodes))]
        for detail in ("full", "low")
    )
    headers = frame_headers(scene, words)
    roomy = Spacing(node_gap=14, line_gap=9, track_gap=7, layer_gap=14, component_gap=24)
    tight = Spacing(node_gap=10, line_gap=8, track_gap=6, layer_gap=13, component_gap=18)
    roomy, tight = (
        replace(each, frame_header=HEADER, frame_padding=FRAME_PADDING) for each in (roomy, tight)
    )

    def heights(high: float) -> list[float]:
        return [high + (SHEETS if group >= 0 else 0) for group in scene.group]

    widest = (220.0, 200.0, 184.0)
    return [
        BoxSizes("full", heights(36.0), 104.0, widest, roomy, full, headers),
        BoxSizes("low", heights(22.0), 84.0, (220.0,), tight, low, headers),
    ]


def frame_headers(scene: Scene, words: GroupWords) -> list[float]:
    """Return the room that the title of each frame takes."""
    return [TAG + 2 * BADGE_PADDING + width(words.title(group), SMALL) for group, _ in scene.frames]


@dataclass(frozen=True)
class Arrangement:
    """Boxes of one size class and where they stand.

    ``detail`` is ``"group"``, ``"full"`` (two lines of text), ``"low"`` (one) or ``"compact"``
    (one without the id).
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
        if sum(size.heights) * size.least > room * tall:
            continue
        found = _arrange(scene, towards, (room, tall), size)
        if found is not None:
            return found
    return None


def _arrange(
    scene: Scene, direction: Direction, limits: tuple[float, float], size: BoxSizes
) -> Arrangement | None:
    count, wanted = len(scene.nodes), size.wanted
    if direction == "right":
        wanted = [min(each, _WIDEST_RIGHT) for each in wanted]
    plain = laid_out(scene, wanted, size, direction)
    room, tall = limits
    length = float(plain.layer_bottom[-1] - plain.layer_top[0]) if plain.layers else 0.0
    large = count > _LARGE or len(scene.source) > _MANY_EDGES
    spares = _LARGE_SPARE if large else _SPARE
    tried = [*product(spares, size.widest)] if direction == "down" else [(0, 0.0)]
    fewest = max(1, math.ceil(length / (tall if direction == "down" else room)))
    known: dict[tuple[tuple[float, ...], ...], Layout] = {}
    for columns in range(fewest, _MOST_STRETCHES[direction] + 1):
        cut: Arrangement | None = None
        folded: set[tuple[tuple[float, ...], ...]] = set()
        for spare, widest in tried:
            widths, headers = wanted, size.headers
            if direction == "down":
                own = (room - _COLUMN_GAP * (columns - 1)) / columns - spare
                cap = capped(scene, plain, size, own, widest)
                if min(cap, default=999.0) < size.least:
                    break
                widths = [min(each, most) for each, most in zip(wanted, cap, strict=True)]
                headers = [min(each, max(TAG, own / 2 - TAG)) for each in headers]
            across = (tuple(widths), tuple(headers))
            if across in folded:
                continue
            folded.add(across)
            placed = known.get(across)
            placed = placed or laid_out(scene, widths, replace(size, headers=headers), direction)
            known[across] = placed
            sized = widths, size.heights, headers
            for through, found in _folded(scene, placed, sized, columns, limits):
                made = Arrangement(size.detail, direction, widths, size.heights, found)
                if not through:
                    return made
                cut = cut or made
        if cut is not None:
            return cut
    return None


def _folded(
    scene: Scene,
    placed: Layout,
    sizes: tuple[list[float], list[float], list[float]],
    columns: int,
    limits: tuple[float, float],
) -> Iterator[tuple[bool, Folded]]:
    """Return what fits, and whether frames are cut in it."""
    for through in (False, True) if scene.frames else (False,):
        found = fold(scene, placed, sizes, columns, through)
        if found.width <= limits[0] and found.height <= limits[1]:
            yield through, found


def capped(scene: Scene, plain: Layout, size: BoxSizes, own: float, widest: float) -> list[float]:
    """Return how wide each box may be in a stretch of ``own`` px, with those beside it."""
    beside = Counter(plain.layer.tolist())
    inside = [own - 2 * FRAME_PADDING * each for each in _frames_around(scene)]
    gap = size.spacing.node_gap
    return [
        min(widest, (inside[frame] - gap * (beside[at] - 1)) / beside[at])
        for at, frame in zip(plain.layer.tolist(), scene.frame_of, strict=True)
    ]


def _frames_around(scene: Scene) -> list[int]:
    """Return how many frames there are inside of each, itself included; the last is for none."""
    depth: list[int] = []
    for _, parent in scene.frames:
        depth.append(1 if parent < 0 else depth[parent] + 1)
    return [*depth, 0]


def laid_out(scene: Scene, widths: list[float], size: BoxSizes, direction: Direction) -> Layout:
    """Lay out boxes of these widths, before anything is folded."""
    frames = FrameInput(
        scene.frame_of,
        [parent for _, parent in scene.frames],
        size.headers,
        [HEADER] * len(scene.frames),
    )
    return layout(
        len(scene.nodes),
        widths,
        size.heights,
        scene.source,
        scene.target,
        source_slot=scene.slot,
        frames=frames if scene.frames else None,
        direction=direction,
        spacing=size.spacing,
    )


def _wanted(scene: Scene, labels: Labels, words: GroupWords, box: int, detail: str) -> float:
    node, group = scene.nodes[box], scene.group[box]
    if group >= 0:
        title, held = words.title(group), (len(scene.members[box]), scene.outside[box])
        taken = max(width(title, LARGE), width(words.timed(group, *held), SMALL))
        if detail == "low":
            taken = width(f"{title}  {words.time(group)}", SMALL)
        return float(SHEETS + min(TOKENS["group"]["maxWidth"], TAG + 2 * PADDING + taken))
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
