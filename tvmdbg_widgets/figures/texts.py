"""Text in a picture: what may stand in it, how wide it is, numbers as the live views write them."""

from __future__ import annotations

import math
import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from tvmdbg_widgets.model.numbers import fixed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
#: Bold is so much wider.
_BOLD = 1.16
_ELLIPSIS = "…"

#: What XML 1.0 does not allow, and controls that turn the direction of the text around them.
_ILLEGAL = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
    "|[\u200e\u200f\u2028-\u202e\u2066-\u2069\ufdd0-\ufdef]"
)
_SPACES = re.compile("[\t\n\r]+")
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


def clean(text: str) -> str:
    """Return text in one line, with U+FFFD for what may not stand in XML."""
    return _SPACES.sub(" ", _ILLEGAL.sub("\ufffd", text))


def escape(text: str) -> str:
    """Return text as it stands in an element or an attribute of an SVG."""
    return clean(text).translate(_ESCAPES)


@lru_cache(maxsize=4096)
def _em(char: str) -> float:
    code = ord(char)
    if 0x20 <= code <= 0x7E:
        return _ASCII[code - 0x20] / 100
    if char in _NARROW:
        return _NARROW[char]
    if unicodedata.combining(char) and unicodedata.east_asian_width(char) not in "WF":
        return 0.0
    # CJK and emoji take an em; a full em is also enough for most of the rest.
    return 0.8 if code < 0x400 else 1.1


def width(text: str, size: float, bold: bool = False) -> float:
    """Return an upper estimate of the width of a line in px, whatever font is at hand."""
    return sum(map(_em, text)) * size * (_BOLD if bold else 1)


def fit(text: str, room: float, size: float, bold: bool = False) -> str:
    """Return what the room (px) holds of the text, cut with an ellipsis; ``""`` if nothing."""
    text = clean(text)
    if width(text, size, bold) <= room:
        return text
    left = room - width(_ELLIPSIS, size, bold)
    kept = 0
    for char in text:
        left -= width(char, size, bold)
        if left < 0:
            break
        kept += 1
    return text[:kept].rstrip() + _ELLIPSIS if kept else ""


def wrap(text: str, room: float, size: float, lines: int = 12) -> list[str]:
    """Break text at spaces into lines of at most ``room`` px; the last is cut if more is left."""
    words = clean(text).split(" ")
    found: list[str] = []
    line = ""
    for at, word in enumerate(words):
        longer = f"{line} {word}" if line else word
        if width(longer, size) <= room:
            line = longer
            continue
        if len(found) + 1 == lines:
            return [*found, fit(" ".join([line, *words[at:]]).strip(), room, size)]
        if line:
            found.append(line)
        line = fit(word, room, size)
    return [*found, line] if line else found


def bytes_text(count: int) -> str:
    """Bytes with the exact count where a unit rounds it: ``"16.0 KiB (16,384)"``."""
    if count < 1024:
        return f"{count} B"
    power = min(4, (count.bit_length() - 1) // 10)
    unit = ("KiB", "MiB", "GiB", "TiB")[power - 1]
    return f"{fixed(count / 1024**power, 1)} {unit} ({count:,})"


def shape_text(shape: Iterable[int]) -> str:
    """Write a shape as Python does: ``"(1, 64)"``, ``"(10,)"``."""
    return str(tuple(int(size) for size in shape))


def index_text(index: Sequence[int]) -> str:
    """``"[0, 3]"``."""
    return f"[{', '.join(map(str, index))}]"


def short_text(value: float) -> str:
    """At most four significant digits, with a true minus sign: ``"1.5e-7"``, ``"−2"``."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "−Inf"
    if value == 0:
        return "0"
    rounded = float(f"{value:.4g}")
    if 1e-3 <= abs(rounded) < 1e6:
        text = f"{rounded:.10g}"
    else:
        mantissa, exponent = f"{rounded:.3e}".split("e")
        mantissa = mantissa.rstrip("0").rstrip(".")
        text = f"{mantissa}e{int(exponent)}"
    return text.replace("-", "−")


def about_text(value: float) -> str:
    """Return the number where it is short, else four digits marked as rounded."""
    text = short_text(value)
    exact = not math.isfinite(value) or float(f"{value:.4g}") == value
    return text if exact else f"≈ {text}"
