"""Figures as SVG, HTML and PNG."""

from __future__ import annotations

import html
import math
import os
import re
import unicodedata
import warnings
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from urllib.parse import quote

from tvmdbg_widgets.figures.texts import FONT
from tvmdbg_widgets.model.base.slips import public_class
from tvmdbg_widgets.model.base.writing import replacing

_MOST_PIXELS = 100_000_000
_TEXT = re.compile(r"<text ([^<>]*+)>((?:[^<]++|<tspan[^<>]*+>|</tspan>)*+)</text>")
#: A character that no font has; it is drawn as the glyph for missing characters.
_NO_LETTER = "\U0010fffd"
_TAG = re.compile(r"<[^<>]*>")
_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
#: resvg tries only the first installed font of a list, so East Asian text names its own.
_EAST = (
    "'PingFang SC', 'Hiragino Sans', 'Apple SD Gothic Neo', 'Microsoft YaHei', 'Yu Gothic', "
    "'Malgun Gothic', 'Noto Sans CJK SC', 'Noto Sans SC', 'Source Han Sans SC', "
) + FONT
_NO_FONT = (
    "none of the fonts of a figure is installed: all text would be missing from the "
    f"picture: {FONT}. Install one (on Debian: apt-get install fonts-dejavu-core), or put its "
    "file into ~/.local/share/fonts"
)


def rasterise(svg: str, scale: object) -> bytes:
    """Draw a figure as PNG."""
    if not isinstance(scale, (int, float)) or not 0 < scale < math.inf:
        raise ValueError(f"scale is a positive number, found {scale!r}")
    resvg = _resvg()
    size_match = _SIZE.search(svg)
    sides = size_match.groups() if size_match else (0, 0)
    wide, high = (float(side) * scale for side in sides)
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


def _with_eastern_font(match: re.Match[str]) -> str:
    style, text = match.groups()
    if not any(map(_is_eastern, text)):
        return match.group()
    return f'<text {style}><tspan font-family="{_EAST}">{text}</tspan></text>'


def _require_glyphs(text: str) -> None:
    """Raise if no font is installed; warn of characters that no font has."""
    if not text.strip():
        return
    if not _has_glyph("x"):
        raise RuntimeError(_NO_FONT)
    odd = {char for char in text if char > "\x7f" and unicodedata.category(char)[0] not in "ZMC"}
    missing = "".join(sorted(char for char in odd if not _has_glyph(char)))
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


#: Characters of one output in a saved notebook.
_MOST_OF_A_CELL = 100_000
#: Characters that may stand in a data URL inside double quotes as they are.
_PLAIN_IN_A_URL = " =:/;,.()!*'"


class Hover(NamedTuple):
    """A box of a picture and its tooltip."""

    x: float
    y: float
    width: float
    height: float
    text: str

    @property
    def html(self) -> str:
        """Transparent element over an image."""
        place = ("left", self.x), ("top", self.y), ("width", self.width), ("height", self.height)
        style = ";".join(f"{name}:{100 * share:.2f}%" for name, share in place)
        title = html.escape(self.text, quote=True)
        return f'<span title="{title}" style="position:absolute;{style}"></span>'


@public_class
@dataclass(frozen=True)
class Figure:
    """One view as a static picture, as text, and as the facts behind both.

    Attributes
    ----------
    svg : str
        A complete SVG document without scripts or references to other files.
    text : str
        The same to be read without a picture.
    description : dict
        What is shown, as JSON: the same nodes, order, labels, kinds and numbers as in
        the live view.
    hover : tuple of Hover
        Texts under the pointer, where the picture has any.
    asked : tuple of dict
        Questions that drawing asked Python; a saved page records their answers.
    """

    svg: str
    text: str
    description: dict[str, Any]
    hover: tuple[Hover, ...] = ()
    asked: tuple[dict[str, Any], ...] = ()

    @property
    def html(self) -> str:
        """The picture as an image element.

        JupyterLab takes inline SVG out of a notebook it does not trust, and leaves its words; of an
        image map it takes the name. It leaves the elements that lie over the picture here.
        """
        # A quotation mark in the attribute would take three characters.
        data = quote(self.svg.replace('"', "'"), safe=_PLAIN_IN_A_URL)
        title = html.escape(str(self.description.get("title", "")), quote=True)
        source = f'alt="{title}" src="data:image/svg+xml,{data}"'
        if not self.hover:
            return f"<img {source}>"
        image = f'<img style="display:block" {source}>'
        over = "".join(box.html for box in self.hover)
        return f'<div style="position:relative;display:inline-block">{image}{over}</div>'

    def bundle(self, text: str, more_html: str = "") -> dict[str, str]:
        """Return the picture as outputs of a notebook cell, with more HTML below it.

        The SVG goes beside the HTML, for sites that show no HTML, where both together take no more
        than a cell should.
        """
        outputs = {"text/plain": text, "text/html": self.html + more_html}
        if sum(map(len, outputs.values())) + len(self.svg) <= _MOST_OF_A_CELL:
            outputs["image/svg+xml"] = self.svg
        return outputs

    def _repr_mimebundle_(self, **_kwargs: Any) -> dict[str, str]:
        return {"text/plain": self.text, "text/html": self.html, "image/svg+xml": self.svg}

    def png(self, scale: float = 2) -> bytes:
        """Return the picture as PNG; it needs ``pip install "tvmdbg-widgets[png]"``.

        A figure of ``theme="auto"`` is drawn light.

        Parameters
        ----------
        scale : float
            Pixels for one px: 2 gives a figure of width 720 a picture 1,440 pixels wide.

        Raises
        ------
        ImportError
            The rasteriser is not installed.
        RuntimeError
            None of the fonts is installed: the picture would have no text.
        ValueError
            The scale is no positive number, or gives more than 100 million pixels.

        Warns
        -----
        UserWarning
            No installed font has some of the characters.
        """
        return rasterise(self.svg, scale)

    def svg_file(self) -> bytes:
        """Return the picture as the bytes of an ``.svg`` file."""
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{self.svg}\n'.encode()

    def save(self, path: str | os.PathLike[str], scale: float | None = None) -> Path:
        """Write the picture to a file; an existing one is replaced atomically.

        Parameters
        ----------
        path
            Ends in ``.svg`` or ``.png``.
        scale : float or None
            Of a PNG, pixels for one px: 2 where left out.

        Raises
        ------
        ValueError
            For another ending, or a scale for an SVG, which has none.
        ImportError, RuntimeError
            As :meth:`png`.
        OSError
            The folder is missing or cannot be written to.
        """
        target = Path(path)
        ending = target.suffix.lower()
        if ending == ".png":
            data = self.png(2 if scale is None else scale)
        elif ending == ".svg":
            if scale is not None:
                raise ValueError("an SVG is drawn at any size; scale is for .png")
            data = self.svg_file()
        else:
            raise ValueError(f"a figure is saved as .svg or .png, found {target.name!r}")
        with replacing(target) as file:
            file.write(data)
        return target

    def __repr__(self) -> str:
        size = len(self.svg.encode()) / 1024
        title = self.description.get("title", "")
        return (
            f"<Figure: {self.description.get('view')} of {title!r}, SVG of {size:.1f} KiB; "
            "save(path), .png(scale), .text, .description>"
        )
