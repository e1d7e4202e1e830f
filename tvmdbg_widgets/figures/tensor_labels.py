"""Texts in a plot, each only where it has room, as ``js/src/tensor/labels.ts`` writes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tvmdbg_widgets.figures.svg import SMALL, TEXT_Z, Marks, Style, number
from tvmdbg_widgets.figures.texts import escape, width

if TYPE_CHECKING:
    from tvmdbg_widgets.figures.theme import Paint

_ANCHORS = {"center": "middle", "right": "end"}
_HALF = SMALL / 2 + 1
_APART = 3.0
#: From the middle of a line of text down to its baseline.
_BASELINE = 4.0


@dataclass
class Labels:
    """Writes texts within left and right, and none where it would touch another."""

    marks: Marks
    left: float
    right: float
    _boxes: list[tuple[float, float, float, float]] = field(default_factory=list)

    def write(
        self,
        text: str,
        x: float,
        y: float,
        *,
        align: Literal["left", "center", "right"] = "left",
        fill: Paint | None = None,
    ) -> bool:
        """Write a text with its line centered on ``y``; tell whether there was room."""
        wide = width(text, SMALL)
        before = {"left": 0.0, "center": wide / 2, "right": wide}[align]
        if not self._take(x - before, y - _HALF, wide, 2 * _HALF):
            return False
        style: Style = {"fill": self.marks.theme.muted if fill is None else fill}
        if align in _ANCHORS:
            style["text_anchor"] = _ANCHORS[align]
        self.marks.text(text, x, y + _BASELINE, **style)
        return True

    def turned(self, text: str, x: float, y: float, tall: float) -> bool:
        """Write a text upwards that ends at ``y``, centered on ``x``, if ``tall`` px hold it."""
        wide = width(text, SMALL)
        if wide > tall or not self._take(x - _HALF, y, 2 * _HALF, wide):
            return False
        place = f"{number(x + _BASELINE)} {number(y)}"
        head = f'<text x="{number(x + _BASELINE)}" y="{number(y)}" transform="rotate(-90 {place})">'
        style: Style = {"font_size": SMALL, "fill": self.marks.theme.muted, "text_anchor": "end"}
        self.marks.add(f"{head}{escape(text)}</text>", z=TEXT_Z, **style)
        return True

    def _take(self, x: float, y: float, wide: float, tall: float) -> bool:
        if x < self.left or x + wide > self.right:
            return False
        for left, top, other_wide, other_tall in self._boxes:
            beside = x >= left + other_wide + _APART or left >= x + wide + _APART
            if not beside and y < top + other_tall and top < y + tall:
                return False
        self._boxes.append((x, y, wide, tall))
        return True
