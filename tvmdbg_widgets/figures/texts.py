"""Widths and line breaks of texts in figures; common options."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Sequence

from tvmdbg_widgets.figures.theme import TOKENS
from tvmdbg_widgets.model.base.text import cut

#: Fonts of papers and slides first, then those with Chinese, Japanese, Korean and emoji.
FONT: str = TOKENS["fontFamily"]
#: Advance of a letter in em: of most, and of East Asian ones and emoji.
_USUAL, _WIDE = 0.62, 1.1

#: Characters that XML 1.0 forbids, and controls of text direction.
_ILLEGAL = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
    "|[\u200e\u200f\u2028-\u202e\u2066-\u2069\ufdd0-\ufdef]"
)
#: Words in right-to-left scripts, with the characters between them.
_LEFTWARDS = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff\U0001e800-\U0001efff]"
    "(?:[^A-Za-z0-9&]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe\U00010800-\U00010fff"
    "\U0001e800-\U0001efff])*"
)
_SPACES = re.compile("[\t\n\r]+")
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


def clean(text: str) -> str:
    """Return text as one line, with U+FFFD for characters that XML forbids."""
    return _SPACES.sub(" ", _ILLEGAL.sub("\ufffd", text))


def escape(text: str) -> str:
    """Escape text for an SVG.

    A mark after right-to-left words keeps following numbers in place.
    """
    return _LEFTWARDS.sub("\\g<0>\u200e", clean(text).translate(_ESCAPES))


def width(text: str, size: float) -> float:
    """Return about what a line takes, in px; TypeScript measures the texts of figures."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return size * (_USUAL * (len(text) - wide) + _WIDE * wide)


def _letters(text: str, room: float, size: float) -> int:
    return max(1, int(room * len(text) / max(width(text, size), 1)))


def fit(text: str, room: float, size: float) -> str:
    """Return as much of a text as takes about ``room`` px."""
    return cut(clean(text), _letters(text, room, size))


def wrap(text: str, room: float, size: float, lines: int = 12) -> list[str]:
    """Break text into lines of about ``room`` px; the last one is cut if text is left."""
    letters = _letters(text, room, size)
    found = textwrap.wrap(clean(text)[: letters * lines + 1], letters)
    kept = found[:lines]
    return kept if kept == found else [*kept[:-1], f"{kept[-1][: letters - 1]}…"]


def index_text(index: Sequence[int]) -> str:
    """``"[0, 3]"``."""
    return f"[{', '.join(map(str, index))}]"


LEAST_WIDTH, MOST_WIDTH = 300, 2000
DIRECTIONS = ("down", "right")


def usable_width(width: object) -> float:
    """Return the width as a float."""
    if not isinstance(width, (int, float)) or not LEAST_WIDTH <= width <= MOST_WIDTH:
        raise ValueError(
            f"a figure is {LEAST_WIDTH} to {MOST_WIDTH} px wide, found {width!r}; "
            "an SVG may be drawn at any size, and a PNG has a scale"
        )
    return float(width)
