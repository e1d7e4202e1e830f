"""What the colors of a tensor mean, as SVG marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.colors import OVER, SPECIAL_TEXT, UNDER, ColorScale
from tvmdbg_widgets.figures.svg import LINE_HEIGHT, SMALL, Marks
from tvmdbg_widgets.figures.tensor_marks import draw_chevron, draw_special
from tvmdbg_widgets.figures.texts import fit, width, wrap
from tvmdbg_widgets.model.base.number_text import about_text, short_text

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.tensor_facts import TensorFacts
    from tvmdbg_widgets.figures.tensor_picture import Box

_BAR, _BAR_STEPS = 108.0, 27
_SIGN = 14.0
_OUTSIDE = {"under": UNDER, "over": OVER}


def draw_color_bar(marks: Marks, facts: TensorFacts, scale: ColorScale | None, box: Box) -> float:
    """Say what the colors mean, in as many lines as it takes; return the y below them."""
    x, room = box.x, box.room
    middle, at = box.y + 8, x
    if scale is not None and scale.low == scale.high:
        at = _swatch(
            marks, scale.color(0.5), f"all {about_text(scale.low, facts.dtype)}", at, middle
        )
    elif scale is not None:
        at = _bar(marks, facts, scale, at, middle)
        for line in wrap(_scale_words(scale, facts), room, SMALL, 3):
            at, middle = x, middle + LINE_HEIGHT
            marks.text(line, x, middle + 4, fill=marks.theme.muted)
        if at == x:
            middle += LINE_HEIGHT
    swatches = [] if scale is None else list(facts.outside(scale).items())
    for name, count in facts.specials().items():
        if count:
            swatches.append((name, f"{SPECIAL_TEXT[name]} ({count:,})"))
    if not swatches and at == x:
        return middle - 5
    for name, text in swatches:
        said = fit(text, room - _SIGN - 4, SMALL)
        if at > x and at + _SIGN + 4 + width(said, SMALL) > x + room:
            at, middle = x, middle + LINE_HEIGHT + 1
        at = _sign(marks, name, said, at, middle)
    return middle + 10


def _bar(marks: Marks, facts: TensorFacts, scale: ColorScale, x: float, middle: float) -> float:
    """Draw the colors between their ends; return the x behind them."""
    low, high = (about_text(each, facts.dtype) for each in (scale.least, scale.most))
    marks.text(low, x, middle + 4, fill=marks.theme.muted)
    at = x + width(low, SMALL) + 5
    step = _BAR / _BAR_STEPS
    first, last = scale.share([scale.least, scale.most]).tolist()
    for i in range(_BAR_STEPS):
        fill = {"fill": scale.color(first + (last - first) * (i + 0.5) / _BAR_STEPS)}
        marks.rect(at + step * i, middle - 5, step + (i < _BAR_STEPS - 1) * 0.3, 10, own=fill)
    marks.rect(at, middle - 5, _BAR, 10, fill="none", stroke=marks.theme.line, stroke_width=0.5)
    marks.text(high, at + _BAR + 5, middle + 4, fill=marks.theme.muted)
    return at + _BAR + 5 + width(high, SMALL) + 14


def _scale_words(scale: ColorScale, facts: TensorFacts) -> str:
    """What is to be said of a scale that is not linear."""
    if scale.scale == "log":
        return "logarithmic"
    if scale.scale != "symlog":
        return ""
    said = f"symlog: linear within ±{short_text(scale.threshold)}, logarithmic beyond"
    no_log = "; no positive values, so not log" if facts.options.color_scale == "log" else ""
    return said + no_log


def _sign(marks: Marks, name: str, said: str, x: float, middle: float) -> float:
    """Draw what stands for values without a place on the scale, and say which; as the cells."""
    place = (x, middle - _SIGN / 2, _SIGN, _SIGN)
    if name in _OUTSIDE:
        marks.rect(*place, own={"fill": _OUTSIDE[name]})
        draw_chevron(marks, name, (x - 3, middle - 10, 20, 20))
    else:
        draw_special(marks, name, place)
    marks.text(said, x + _SIGN + 4, middle + 4)
    return x + _SIGN + 18 + width(said, SMALL)


def _swatch(marks: Marks, color: str, said: str, x: float, middle: float) -> float:
    marks.rect(x, middle - 5, 10, 10, own={"fill": color})
    marks.text(said, x + 14, middle + 4)
    return x + 28 + width(said, SMALL)
