"""Widths and line breaks of texts in figures; common options."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

#: Fonts of papers and slides first, then those with Chinese, Japanese, Korean and emoji.
FONT = (
    "Helvetica, Arial, 'Liberation Sans', 'Nimbus Sans', 'Noto Sans', 'DejaVu Sans', "
    "'PingFang SC', 'Hiragino Sans', 'Apple SD Gothic Neo', 'Microsoft YaHei', 'Yu Gothic', "
    "'Malgun Gothic', 'Noto Sans CJK SC', 'Noto Sans SC', 'Apple Color Emoji', 'Segoe UI Emoji', "
    "'Noto Color Emoji', sans-serif"
)
#: Advance of U+0020 … U+007E in hundredths of an em: the wider of DejaVu Sans and Helvetica.
_ASCII = (
    *(32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36, 32, 34),
    *(64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 56),
    *(102, 68, 69, 72, 77, 67, 61, 78, 75, 29, 50, 67, 56, 86, 75, 79),
    *(67, 79, 72, 67, 61, 73, 68, 99, 69, 67, 69, 39, 34, 39, 84, 56),
    *(50, 61, 63, 55, 63, 62, 35, 63, 63, 28, 28, 58, 28, 97, 63, 61),
    *(63, 63, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84),
)
_NARROW = {"·": 0.32, "µ": 0.64, "–": 0.56, "≈": 0.84, "−": 0.84, "×": 0.84}
#: First and last character of a range, and its widest advance in em.
_WIDE = (
    (0x80, 0x3FF, 0.92),
    (0x900, 0xDFF, 1.9),  # Indic letters
    (0xF00, 0x10FF, 1.5),
    (0x1780, 0x1CFF, 1.9),
    (0xFDF0, 0xFDFC, 4.0),  # words in one character
    (0xFDFD, 0xFDFD, 12.0),
    (0x12000, 0x1254F, 5.0),
    (0x1F000, 0x1FAFF, 1.4),  # emoji
)
#: Joiners, soft hyphen, variation selectors.
_JOINERS = "\u00ad\u200b\u200e\u200c\u200d\u2060\ufe0e\ufe0f\ufeff"
#: Chinese and Japanese marks that are as wide as a letter.
_WIDE_MARKS = "\u302a\u302b\u302c\u302d\u3099\u309a\U00016fe4"
_OTHER = 1.1
#: Width of bold text relative to regular.
_BOLD = 1.16
#: Advance of U+0020 … U+007E in a font of one width.
_MONO = 0.61
_ELLIPSIS = "…"

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


@lru_cache(maxsize=4096)
def _em(char: str) -> float:
    code = ord(char)
    if 0x20 <= code <= 0x7E:
        return _ASCII[code - 0x20] / 100
    if char in _NARROW:
        return _NARROW[char]
    if joins(char):
        return 0.0
    return next((em for first, last, em in _WIDE if first <= code <= last), _OTHER)


def joins(char: str) -> bool:
    """Whether a character combines with the one before it."""
    if char in _WIDE_MARKS:
        return False
    return char in _JOINERS or unicodedata.category(char) in ("Mn", "Me")


def width_tables() -> dict[str, Any]:
    """Return the width tables for ``js/src/shared/drawing/text_widths.ts``."""
    return {
        "font": FONT,
        "ascii": [hundredths / 100 for hundredths in _ASCII],
        "narrow": _NARROW,
        "wide": _WIDE,
        "other": _OTHER,
        "joiners": _JOINERS,
        "wideMarks": _WIDE_MARKS,
        "bold": _BOLD,
        "mono": _MONO,
    }


def clusters(text: str) -> Iterator[str]:
    """Split text where it may be cut: not between a letter and its marks or inside an emoji."""
    start = 0
    flags = 0
    for at, char in enumerate(text):
        flags = flags + 1 if _is_flag(char) else 0
        together = (
            joins(char)
            or unicodedata.category(char) == "Mc"
            or "\U0001f3fb" <= char <= "\U0001f3ff"
            or (at > 0 and text[at - 1] == "\u200d")
            or (flags and flags % 2 == 0)
        )
        if at > start and not together:
            yield text[start:at]
            start = at
    if text:
        yield text[start:]


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def width(text: str, size: float, bold: bool = False) -> float:
    """Return an upper bound of a line's width in px, for any of the fonts."""
    return sum(map(_em, text)) * size * (_BOLD if bold else 1)


def fit(text: str, room: float, size: float, bold: bool = False) -> str:
    """Return as much text as fits, cut with an ellipsis; "" if nothing fits."""
    text = clean(text)
    if width(text, size, bold) <= room:
        return text
    kept = _head(text, room - width(_ELLIPSIS, size, bold), size, bold)
    return kept.rstrip() + _ELLIPSIS if kept else ""


def _head(text: str, room: float, size: float, bold: bool) -> str:
    """Return the longest beginning that fits."""
    kept = 0
    for cluster in clusters(text):
        room -= width(cluster, size, bold)
        if room < 0:
            break
        kept += len(cluster)
    return text[:kept]


def wrap(text: str, room: float, size: float, lines: int = 12, bold: bool = False) -> list[str]:
    """Break text into lines of at most ``room`` px, preferably at spaces.

    A word longer than a line is broken; the last line is cut if text is left.
    """
    rest = clean(text).strip(" ")
    broken: list[str] = []
    while rest:
        if len(broken) + 1 == lines or width(rest, size, bold) <= room:
            broken.append(fit(rest, room, size, bold))
            break
        line = _head(rest, room, size, bold)
        if not line:
            break
        if rest[len(line)] != " ":
            line = line[: _break(line)]
        broken.append(line.rstrip())
        rest = rest[len(line) :].lstrip(" ")
    return [line for line in broken if line]


def _break(line: str) -> int:
    """Return the best place to end a line."""
    space = line.rfind(" ")
    if space > len(line) / 2:
        return space
    mark = max(map(line.rfind, "_/.:-"))
    return mark + 1 if mark > len(line) / 2 else space if space > 0 else len(line)


def index_text(index: Sequence[int]) -> str:
    """``"[0, 3]"``."""
    return f"[{', '.join(map(str, index))}]"


Ints = npt.NDArray[np.integer[Any]]


Direction = Literal["down", "right"]


LEAST_WIDTH, MOST_WIDTH = 300, 2000
SHOWN = ("both", "chart", "table")
SORTS = ("time", "order")
CHARTS = ("time", "merged", "folded", "repeats", "roofline")
TABLES_BY = ("node", "kind", "part", "group", "module", "device", "name", "callers", "change")
SLICE_COLORS = ("auto", "kind", "block", "share", "change")
DIRECTIONS = ("down", "right")


def usable_width(width: object) -> float:
    """Return the width as a float."""
    if not isinstance(width, (int, float)) or not LEAST_WIDTH <= width <= MOST_WIDTH:
        raise ValueError(
            f"a figure is {LEAST_WIDTH} to {MOST_WIDTH} px wide, found {width!r}; "
            "an SVG may be drawn at any size, and a PNG has a scale"
        )
    return float(width)
