"""Figures as PNG files, by resvg."""

from __future__ import annotations

import math
import os
import re
import unicodedata
import warnings
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import unescape

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

_MOST_PIXELS = 100_000_000
_TEXT = re.compile(r"<text ([^>]*)>((?:[^<]|<tspan[^>]*>|</tspan>)*)</text>")
_TAG = re.compile(r"<[^>]*>")
_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
#: resvg asks no font of the list but the first it knows for a letter which that one lacks.
_EAST = (
    "'PingFang SC', 'Hiragino Sans', 'Apple SD Gothic Neo', 'Microsoft YaHei', 'Yu Gothic', "
    "'Malgun Gothic', 'Noto Sans CJK SC', 'Noto Sans SC', 'Source Han Sans SC', sans-serif"
)
_NO_FONT = (
    "no font was found, so that all text would be missing from the picture: install one "
    "(on Debian: apt-get install fonts-dejavu-core), or name font files: "
    "figure.png(fonts=['/path/to/Font.ttf'])"
)


def rasterise(svg: str, scale: object, fonts: Iterable[str | os.PathLike[str]] = ()) -> bytes:
    """Draw a figure into a PNG.

    Parameters
    ----------
    svg : str
        A figure's document.
    scale : float
        Pixels of the picture for one px of the figure.
    fonts
        Font files beside the installed ones; the families they hold are used for all text.

    Raises
    ------
    ImportError
        resvg-py is not installed.
    ValueError
        The scale is no positive number, or the picture would have more than 100 million pixels.
    RuntimeError
        No font is installed.
    FileNotFoundError
        One of the font files is not there.

    Warns
    -----
    UserWarning
        No font has some of the characters.
    """
    if not isinstance(scale, (int, float)) or not 0 < scale < math.inf:
        raise ValueError(f"scale is a positive number, found {scale!r}")
    resvg = _resvg()
    found = _SIZE.search(svg)
    wide, high = (float(each) for each in found.groups()) if found else (0.0, 0.0)
    if wide * high * scale**2 > _MOST_PIXELS:
        raise ValueError(
            f"scale {scale:g} gives {wide * scale:,.0f} x {high * scale:,.0f} pixels; "
            f"at most {_MOST_PIXELS:,} are drawn: use a smaller scale"
        )
    files = tuple(os.fspath(each) for each in fonts)
    for file in files:
        Path(file).stat()
    texts = [unescape(_TAG.sub("", text)) for _, text in _TEXT.findall(svg)]
    _require_glyphs("".join(texts), files)
    document = _TEXT.sub(_with_eastern_font, svg)
    size = {"width": max(1, round(wide * scale)), "height": max(1, round(high * scale))}
    return bytes(resvg.svg_to_bytes(svg_string=document, font_files=list(files), **size))


def _resvg() -> ModuleType:
    try:
        import resvg_py
    except ImportError as problem:
        raise ImportError(
            'PNG figures are drawn by resvg-py: pip install "tvmdbg-widgets[png]"; '
            "SVG figures need nothing"
        ) from problem
    return resvg_py


def _is_eastern(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WF" and not "\U0001f000" <= char <= "\U0001faff"


def _with_eastern_font(found: re.Match[str]) -> str:
    style, text = found.groups()
    if not any(map(_is_eastern, text)):
        return found.group()
    return f'<text {style} font-family="{_EAST}">{text}</text>'


def _require_glyphs(text: str, fonts: tuple[str, ...]) -> None:
    """Raise without any font; warn of characters that none of them has."""
    if not text.strip():
        return
    if not _has_glyph("x", fonts):
        raise RuntimeError(_NO_FONT)
    odd = {each for each in text if each > "\x7f" and unicodedata.category(each)[0] not in "ZMC"}
    missing = "".join(sorted(each for each in odd if not _has_glyph(each, fonts)))
    if missing:
        warnings.warn(
            f"no font here has {missing!r}; these characters are missing from the picture: "
            "install a font that has them, or name its file: figure.png(fonts=[…])",
            stacklevel=4,
        )


@lru_cache(maxsize=4096)
def _has_glyph(char: str, fonts: tuple[str, ...]) -> bool:
    return _drawn(char, fonts) != _drawn("", fonts)


def _drawn(text: str, fonts: tuple[str, ...]) -> bytes:
    document = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 32">'
        f'<text x="8" y="24" font-size="16" font-family="sans-serif">{text}</text></svg>'
    )
    return bytes(_resvg().svg_to_bytes(svg_string=document, font_files=list(fonts)))
