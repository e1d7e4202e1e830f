"""The histogram of a tensor, as SVG marks and in letters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.svg import LINE_HEIGHT, SMALL, Marks, number
from tvmdbg_widgets.figures.tensor_labels import Labels
from tvmdbg_widgets.figures.tensor_marks import draw_special
from tvmdbg_widgets.figures.tensor_picture import Box
from tvmdbg_widgets.figures.tensor_spread import SLOT_TEXT, Spread
from tvmdbg_widgets.figures.texts import width, wrap
from tvmdbg_widgets.model.base.number_text import about_text, screen_text, short_text
from tvmdbg_widgets.model.base.numbers import counted

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.tensor_bins import SpreadBar
    from tvmdbg_widgets.figures.tensor_facts import TensorFacts

#: Width of what has no place along the axis, of its bar, and the gap before it, px.
_SLOT, _SLOT_BAR, _SLOT_GAP = 36.0, 26.0, 8.0
_WIDEST_CODE = 14.0
_TICK, _TICK_ROOM = 4.0, 48.0
_LINES, _LINE_LENGTH = 12, 40
_NAMES = {"nan": "nan", "negInf": "neg_inf", "posInf": "pos_inf"}


def draw_histogram(
    marks: Marks, facts: TensorFacts, x: float, y: float, *, room: float, tall: float
) -> float:
    """Draw the counts of the values, with zeros, NaN and the infinities at the right."""
    spread = facts.spread
    if spread is None:
        return y
    theme = marks.theme
    for_slots = _slot_width(spread, room)
    wide = room - len(spread.slots) * for_slots - (_SLOT_GAP if spread.slots else 0)
    said = "; ".join(filter(None, (histogram_words(spread), facts.adapted)))
    for line in wrap(said, room, SMALL, 2):
        marks.text(line, x, y + 10, fill=theme.muted)
        y += LINE_HEIGHT
    labels = Labels(marks, x, x + room)
    above = y + SMALL / 2 + 1
    if spread.slots or spread.limits:
        y += LINE_HEIGHT
    foot = y + tall
    bars = "".join(
        f"M{number(start)} {number(foot)}v-{number(max(1.0, tall * bar.likely / spread.top))}"
        f"h{number(max(1.0, end - start - 0.4))}V{number(foot)}z"
        for bar, (start, end) in zip(spread.bars, _extents(spread, x, wide), strict=True)
        if bar.likely
    )
    if bars:
        marks.path(bars, fill=theme.accent)
    if spread.bars:
        marks.path(f"M{number(x)} {number(foot)}h{number(wide)}", stroke=theme.line)
    elif not spread.slots.keys() & {"zero", "negative", "positive"}:
        labels.write("no finite value", x + wide / 2, y + tall / 2, align="center")
    for at, (name, count) in enumerate(spread.slots.items()):
        left = x + wide + _SLOT_GAP + at * for_slots
        high = min(tall, max(4.0, tall * count / spread.top))
        place = (left + (for_slots - _SLOT_BAR) / 2, foot - high, _SLOT_BAR, high)
        if name not in _NAMES:
            marks.rect(*place, fill=theme.muted)
        else:
            draw_special(marks, _NAMES[name], place)
        if count > spread.top:
            _cut(marks, place)
        middle = left + for_slots / 2
        labels.write(slot_text(name, spread), middle, foot + 10, align="center", fill=theme.text)
        labels.write(f"{count:,}", middle, foot - high - 8, align="center", fill=theme.text)
    axis = Box(x, y, wide, tall)
    _limits(labels, spread, axis, above)
    _ticks(labels, spread, axis)
    return foot + 18


def histogram_words(spread: Spread) -> str:
    """What the bars are, and how high."""
    if not spread.bars:
        return "histogram"
    about = "" if all(bar.least == bar.most for bar in spread.bars) else "about "
    top = max(round(bar.likely) for bar in spread.bars)
    if spread.only is not None:
        only = screen_text(spread.only)
        return f"histogram: {about}{counted(top, 'value')} of {only}" if top else "histogram"
    each = "one bar per value" if spread.codes else counted(len(spread.bars), "bar")
    return f"histogram: {each}, max count {about}{top:,}"


def histogram_lines(spread: Spread) -> list[str]:
    """The histogram in letters, a line for some bars each."""
    groups: list[tuple[str, float]] = []
    step = -(-len(spread.bars) // _LINES)
    for at in range(0, len(spread.bars), max(1, step)):
        part = spread.bars[at : at + step]
        groups.append(
            (about_text(_first(part[0], spread), spread.dtype), sum(bar.likely for bar in part))
        )
    top = max([1.0, *(likely for _, likely in groups)])
    groups = [group for group in groups if len(groups) > 1 or group[1]]
    slots = [(slot_text(name, spread), float(count)) for name, count in spread.slots.items()]
    wide = max([0, *(len(name) for name, _ in [*groups, *slots])])
    lines = []
    for name, count in [*groups, *slots]:
        length = max(1 if count else 0, round(_LINE_LENGTH * min(1.0, count / top)))
        more = ">" if count > top else ""
        lines.append(f"  {name:>{wide}} |{'#' * length}{more} {round(count):,}")
    return lines


def _first(bar: SpreadBar, spread: Spread) -> float:
    """The least value that a bar may hold."""
    return float(math.ceil(bar.start)) if spread.whole else bar.start


def slot_text(name: str, spread: Spread) -> str:
    """What a slot holds, as its values are written."""
    return "False" if name == "zero" and spread.dtype.kind == "b" else SLOT_TEXT[name]


def _slot_width(spread: Spread, room: float) -> float:
    """As wide as the counts, unless the bars would be left too little room."""
    wanted = max([_SLOT, *(width(f"{count:,}", SMALL) + 6 for count in spread.slots.values())])
    return wanted if len(spread.slots) * wanted <= room / 2 else _SLOT


def _extents(spread: Spread, x: float, wide: float) -> list[tuple[float, float]]:
    """Left and right end of each bar; single values take the room to their neighbors."""

    def at(value: float) -> float:
        return x + min(1.0, max(0.0, spread.axis.share(value))) * wide

    half = 0.5 if spread.whole else 0.0
    places = [
        (at(bar.start - half), at(bar.end + half))
        if bar.start == bar.end
        else (at(bar.start), at(bar.end))
        for bar in spread.bars
    ]
    found = []
    for k, (start, end) in enumerate(places):
        if spread.whole or spread.bars[k].start != spread.bars[k].end:
            found.append((start, max(end, start + 1)))
            continue
        gaps = [start - places[k - 1][0]] if k else []
        gaps += [places[k + 1][0] - start] if k + 1 < len(places) else []
        side = max(1.0, min(_WIDEST_CODE, *gaps)) if gaps else _WIDEST_CODE
        left = min(max(x, start - side / 2), x + wide - side)
        found.append((left, left + side))
    return found


def _cut(marks: Marks, place: tuple[float, float, float, float]) -> None:
    """Say of a bar that it is higher than there is room for."""
    x, y, wide, _ = place
    for down in (8, 12):
        marks.rect(x - 1, y + down, wide + 2, 1.5, z=3, fill=marks.theme.background)


def _limits(labels: Labels, spread: Spread, plot: Box, above: float) -> None:
    """Mark the ends of the type that the values reach or come near to."""
    marks, theme = labels.marks, labels.marks.theme
    for limit in spread.limits:
        ink = theme.warning if limit.count else theme.muted
        at = plot.x + min(1.0, max(0.0, spread.axis.share(limit.value))) * plot.room
        line = f"M{number(at)} {number(plot.y - 4)}v{number(plot.tall + 4)}"
        marks.path(line, z=1, stroke=ink, stroke_dasharray="3 3", fill="none")
        end = about_text(limit.value, spread.dtype)
        text = f"limit {end}" if limit.count is None else f"{limit.count:,} saturated ({end})"
        if at < plot.x + plot.room / 2:
            labels.write(text, plot.x + 3, above, fill=ink)
        else:
            labels.write(text, plot.x + plot.room - 3, above, align="right", fill=ink)


def _ticks(labels: Labels, spread: Spread, plot: Box) -> None:
    """Write round numbers below the axis, zero first; of a single value what it is."""
    marks, foot = labels.marks, plot.y + plot.tall
    if spread.only is not None and spread.bars:
        labels.write(screen_text(spread.only), plot.x + plot.room / 2, foot + 10, align="center")
        return
    ticks = spread.ticks(plot.room / _TICK_ROOM)
    for value in sorted(ticks, key=lambda tick: tick != 0):
        at = plot.x + spread.axis.share(value) * plot.room
        text = about_text(value, spread.dtype) if spread.whole else short_text(value)
        if labels.write(text, at, foot + 10, align="center"):
            ink = marks.theme.text if value == 0 else marks.theme.muted
            marks.path(f"M{number(at)} {number(foot)}v{number(_TICK)}", stroke=ink)
