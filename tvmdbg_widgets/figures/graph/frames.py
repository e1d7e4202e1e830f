"""Frames around what is in open groups, and their headers, as the live view draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.graph.boxes import BADGE_PADDING, HEADER, PADDING, TAG
from tvmdbg_widgets.figures.svg import SMALL, Marks, Style, number
from tvmdbg_widgets.figures.texts import fit, width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.figures.graph.boxes import Arrangement
    from tvmdbg_widgets.figures.graph.fold import FramePart
    from tvmdbg_widgets.figures.graph.nesting import GroupWords
    from tvmdbg_widgets.figures.theme import Paint

_ROUND = 6.0
_STRIPE = 3.0
_HIGH = 15.0


def whole(words: str, room: float, size: float = SMALL) -> str:
    """As many of the parts between dots as fit: a number is written whole or not at all."""
    while " · " in words and width(words, size) > room:
        words = words.rpartition(" · ")[0]
    return fit(words, room, size)


def draw_frames(
    marks: Marks,
    arrangement: Arrangement,
    groups: Sequence[int],
    words: GroupWords,
    corner: tuple[float, float],
) -> None:
    """Add the frames of some groups, moved by ``corner``."""
    theme, (left, top) = marks.theme, corner
    for part in arrangement.folded.frames:
        x, y, group = part.x + left, part.y + top, groups[part.frame]
        title, tag = words.header(group), words.tag(group)
        ground: Style = {"fill": theme.text, "fill_opacity": 0.035}
        line: Style = {"stroke": theme.line}
        box = x, y, part.width, part.height
        if part.begins and part.ends:
            ground |= {**line, "rx": _ROUND}
        marks.rect(x, y, part.width, part.height, title=title, z=-2, **ground)
        if not (part.begins and part.ends):
            outline = _open_outline(box, part, down=arrangement.direction == "down")
            marks.path(outline, z=-1, fill="none", **line)
        color = theme.group(words.kinds[group])
        marks.rect(x, y + 2, _STRIPE, part.height - 4, own={"fill": color}, z=-1)
        if part.begins:
            room = (x + _STRIPE + 2, y + (HEADER - _HIGH) / 2 + 1, part.width - _STRIPE - PADDING)
            _header(marks, room, title, tag, color)


def _open_outline(box: tuple[float, float, float, float], part: FramePart, *, down: bool) -> str:
    """Return the border of a part of a frame, open where the frame goes on elsewhere."""
    x, y, wide, high = box
    corners = [(x, y + high), (x, y), (x + wide, y), (x + wide, y + high)]
    if not down:
        corners = [(x + wide, y), (x, y), (x, y + high), (x + wide, y + high)]
    if not part.begins:
        corners = [corners[1], corners[0], corners[3], corners[2]]
    one, two, three, four = (f"{number(across)} {number(along)}" for across, along in corners)
    return f"M{one}L{two}{'L' if part.begins or part.ends else 'M'}{three}L{four}"


def _header(
    marks: Marks, at: tuple[float, float, float], words: str, tag: str, color: Paint
) -> None:
    """Write the title on a ground of its own, above the lines that enter the frame."""
    x, y, room = at
    said = whole(words, room - TAG - 2 * BADGE_PADDING)
    ground: Style = {"fill": marks.theme.background, "fill_opacity": 0.88}
    wide = TAG + (2 * BADGE_PADDING + width(said, SMALL) if said else 0.0)
    marks.rect(x, y, wide, _HIGH, z=2, rx=3.0, **ground)
    draw_tag(marks, (x, y, TAG, _HIGH), tag, color)
    marks.text(said, x + TAG + BADGE_PADDING, y + 11.5, fill=marks.theme.text)


def draw_tag(marks: Marks, box: tuple[float, float, float, float], tag: str, color: Paint) -> None:
    """Add the color of a group's kind and, where they fit, its letters."""
    x, y, wide, high = box
    marks.rect(x, y, wide, high, own={"fill": color}, z=3, rx=3.0)
    if width(tag, SMALL, bold=True) <= wide - 1:
        ink = marks.theme.ink_on(color)
        middle = x + wide / 2, y + high / 2 + 4
        marks.text(tag, *middle, fill=ink, text_anchor="middle", font_weight=600)
