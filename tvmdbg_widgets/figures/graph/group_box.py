"""Closed groups as boxes, as the live view draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.graph.boxes import PADDING, RADIUS, SHEETS, TAG
from tvmdbg_widgets.figures.graph.frames import draw_tag, whole
from tvmdbg_widgets.figures.graph.health import sign
from tvmdbg_widgets.figures.graph.marks import draw_compact, hatch
from tvmdbg_widgets.figures.svg import LARGE, SMALL, Marks
from tvmdbg_widgets.figures.texts import fit, width

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.graph.picture import Picture

_FOOT = 4.0


def draw_group(picture: Picture, marks: Marks, box: int, left: float, top: float) -> None:
    """Add the box of a closed group, a stack of sheets where it is a run of blocks."""
    theme, words, arrangement = marks.theme, picture.words, picture.arrangement
    group, nodes = picture.scene.group[box], picture.scene.members[box]
    x, y = arrangement.folded.x[box] + left, arrangement.folded.y[box] + top
    wide, high = arrangement.widths[box], arrangement.heights[box]
    radius = float(RADIUS)
    if words.is_run(group):
        for away in (SHEETS, SHEETS / 2):
            sheet = (x + away, y + away, wide - SHEETS, high - SHEETS)
            marks.rect(*sheet, z=0, fill=theme.surface, stroke=theme.edge, rx=radius)
        wide, high = wide - SHEETS, high - SHEETS
    found = picture.fill(theme, box)
    fill = theme.plain if found is None else found
    front = (x, y, wide, high)
    title = f"{words.header(group)}: #{nodes[0]} … #{nodes[-1]}" if picture.titled else ""
    marks.rect(*front, own={"fill": fill}, title=title, z=1, stroke=theme.edge, rx=radius)
    if picture.is_unknown(box):
        hatch(marks, front)
    at = x
    for paint, share in picture.parts(theme, box):
        part = (at, y + high - _FOOT, wide * share, _FOOT)
        marks.rect(*part, own={"fill": paint}, z=2)
        at += wide * share
    draw_tag(marks, (x, y, TAG, high), words.tag(group), theme.group(words.kinds[group]))
    picture.ring(marks, box, front)
    ink = theme.text if found is None else theme.ink_on(fill)
    start, room = x + TAG + PADDING, wide - TAG - 1.5 * PADDING
    named = f"{sign(picture.verdict(box)[0])} {words.title(group)}".strip()
    if arrangement.detail == "compact":
        line = start, room, y + high / 2 + 4
        draw_compact(marks, (named, picture.value(box)), line, ink, ink)
        return
    second = picture.second(box)
    if arrangement.detail == "full":
        shown = fit(named, room, LARGE)
        marks.text(shown, start, y + high * 0.31 + 4.3, fill=ink, font_size=LARGE, font_weight=500)
        marks.text(whole(second, room), start, y + high * 0.69 + 4, fill=ink)
        return
    brief = second.split(" · ")[0]
    taken = width(brief, SMALL) + PADDING if width(named, SMALL) < room / 2 else 0.0
    marks.text(fit(named, room - taken, SMALL), start, y + high / 2 + 4, fill=ink)
    if taken:
        marks.text(brief, start + room - width(brief, SMALL), y + high / 2 + 4, fill=ink)
