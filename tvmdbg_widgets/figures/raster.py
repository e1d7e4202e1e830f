"""Figures as PNG files, by resvg."""

from __future__ import annotations

import math
import re
import unicodedata
import warnings
from functools import lru_cache
from html import unescape
from types import ModuleType

from tvmdbg_widgets.figures.texts import FONT

_MOST_PIXELS = 100_000_000
_TEXT = re.compile(r"<text ([^<>]*+)>((?:[^<]++|<tspan[^<>]*+>|</tspan>)*+)</text>")
#: A character that no font has; what is drawn for it is what stands for all such.
_NO_LETTER = "\U0010fffd"
_TAG = re.compile(r"<[^<>]*>")
_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
#: resvg asks no font of the list but the first it knows for a letter which that one lacks.
_EAST = (
    "'PingFang SC', 'Hiragino Sans', 'Apple SD Gothic Neo', 'Microsoft YaHei', 'Yu Gothic', "
    "'Malgun Gothic', 'Noto Sans CJK SC', 'Noto Sans SC', 'Source Han Sans SC', "
) + FONT
_NO_FONT = (
    "none of the fonts of a figure is installed, so that all text would be missing from the "
    f"picture: {FONT}. Install one (on Debian: apt-get install fonts-dejavu-core), or put its "
    "file into ~/.local/share/fonts"
)


def rasterise(svg: str, scale: object) -> bytes:
    """Draw a figure into a PNG."""
    if not isinstance(scale, (int, float)) or not 0 < scale < math.inf:
        raise ValueError(f"scale is a positive number, found {scale!r}")
    resvg = _resvg()
    found = _SIZE.search(svg)
    wide, high = (float(each) * scale for each in found.groups()) if found else (0.0, 0.0)
    if wide * high > _MOST_PIXELS:
        raise ValueError(
            f"scale {scale:g} gives {wide:,.0f} x {high:,.0f} pixels; "
            f"at most {_MOST_PIXELS:,} are drawn: use a smaller scale"
        )
    _require_glyphs("".join(unescape(_TAG.sub("", text)) for _, text in _TEXT.findall(svg)))
    document = _TEXT.sub(_with_eastern_font, svg)
    size = {"width": max(1, round(wide)), "height": max(1, round(high))}
    return bytes(resvg.svg_to_bytes(svg_string=document, **size))


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
    return f'<text {style}><tspan font-family="{_EAST}">{text}</tspan></text>'


def _require_glyphs(text: str) -> None:
    """Raise without any font; warn of characters that none has."""
    if not text.strip():
        return
    if not _has_glyph("x"):
        raise RuntimeError(_NO_FONT)
    odd = {each for each in text if each > "\x7f" and unicodedata.category(each)[0] not in "ZMC"}
    missing = "".join(sorted(each for each in odd if not _has_glyph(each)))
    if missing:
        warnings.warn(
            f"no installed font has {missing!r}: these characters are blank or boxes in the "
            "picture; install a font that has them "
            "(on Debian: fonts-noto-cjk, fonts-noto-color-emoji)",
            stacklevel=4,
        )


@lru_cache(maxsize=4096)
def _has_glyph(char: str) -> bool:
    return _drawn(char) not in (_drawn(""), _drawn(_NO_LETTER))


def _drawn(text: str) -> bytes:
    document = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 32">'
        f'<text x="8" y="24" font-size="16" font-family="{FONT}">{text}</text></svg>'
    )
    return bytes(_resvg().svg_to_bytes(svg_string=document))
