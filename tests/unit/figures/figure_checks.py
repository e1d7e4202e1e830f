"""What must hold for every figure, whatever it shows."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import Any
from xml.etree import ElementTree as ET

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.figures.choose import view_figure
from tvmdbg_widgets.figures.options import Redaction
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.figures.theme import TOKENS
from tvmdbg_widgets.model.base.options import RUN_VIEWS

NAMESPACE = "{http://www.w3.org/2000/svg}"
HARMLESS = {"svg", "title", "desc", "g", "rect", "path", "text", "tspan", "image", "clipPath"}


def width(text: str, size: float, bold: bool = False) -> float:
    """An upper bound of a line's width in px, for any font of a figure."""
    return sum(map(_em, text)) * size * (TOKENS["letters"]["bold"] if bold else 1)


@cache
def _em(char: str) -> float:
    letters, code = TOKENS["letters"], ord(char)
    if " " <= char <= "~":
        return letters["ascii"][code - 0x20]
    if char in letters["narrow"]:
        return letters["narrow"][char]
    if char in letters["joiners"]:
        return 0.0
    if unicodedata.category(char) in ("Mn", "Me") and char not in letters["wideMarks"]:
        return 0.0
    wide = (em for first, last, em in letters["wide"] if first <= code <= last)
    return next(wide, letters["other"])


@dataclass(frozen=True)
class Line:
    """One line of text and the box it needs at most."""

    text: str
    x: float
    y: float
    width: float
    height: float

    def touches(self, other: Line) -> bool:
        return (
            self.x < other.x + other.width
            and other.x < self.x + self.width
            and self.y < other.y + other.height
            and other.y < self.y + self.height
        )


def root_of(figure: Figure) -> ET.Element:
    return ET.fromstring(figure.svg)  # noqa: S314 (our own)


def drawn(
    run: RunFacts,
    view: str,
    *,
    width: float = 720,
    theme: str = "light",
    saved: bool = False,
    redaction: Redaction | None = None,
    **options: Any,
) -> Figure:
    """Draw the figure of a view with these options, and defaults for the others."""
    how: Any = {"saved": saved, "redaction": redaction}
    return view_figure(run, RUN_VIEWS[view](**options), width=width, theme=theme, **how)


def assert_sound(figure: Figure, most_bytes: int = 40 * 1024) -> None:
    """Well-formed, small, without script or reference, legible, and told in text and JSON."""
    root = root_of(figure)
    assert root.get("role") == "img"
    assert root.findtext(f"{NAMESPACE}title")
    assert root.findtext(f"{NAMESPACE}desc")
    assert {element.tag.removeprefix(NAMESPACE) for element in root.iter()} <= HARMLESS
    for element in root.iter():
        for name, value in element.attrib.items():
            assert not name.lower().startswith("on"), name
            assert name != "href" or value.startswith("data:image/png;base64,"), value[:40]
            assert "url(" not in value.replace("url(#tvmdbg-clip-", "")
    assert len(figure.svg.encode()) <= most_bytes
    assert all(ord(char) >= 0x20 for char in figure.svg)
    assert figure.text.strip()
    json.dumps(figure.description, allow_nan=False)
    assert_legible(root)


def assert_legible(root: ET.Element) -> None:
    """Every text has 11 px or more, lies inside the picture and apart from every other."""
    wide, high = (float(root.attrib[name]) for name in ("width", "height"))
    lines = list(_lines(root, (0.0, 0.0), {}))
    for line in lines:
        assert line.x >= 0, line
        assert line.x + line.width <= wide, line
        assert line.y >= 0, line
        assert line.y + line.height <= high, line
    lines.sort(key=lambda line: line.y)
    for at, line in enumerate(lines):
        for other in lines[at + 1 :]:
            if other.y >= line.y + line.height:
                break
            assert not line.touches(other), (line, other)


def lines_of(figure: Figure) -> list[Line]:
    """Every line of text with its box."""
    return list(_lines(root_of(figure), (0.0, 0.0), {}))


def _lines(element: ET.Element, corner: tuple[float, float], style: dict[str, str]) -> Any:
    style = {**style, **element.attrib}
    shift = re.match(r"translate\(([\d.]+) ([\d.]+)\)", element.attrib.get("transform", ""))
    left, top = corner
    if shift:
        left, top = left + float(shift[1]), top + float(shift[2])
    if element.tag == f"{NAMESPACE}text":
        size = float(style["font-size"])
        assert size >= 11
        text = element.text or ""
        wide = width(text, size, bold=style.get("font-weight") == "600")
        for aside in element:
            assert float(aside.attrib["font-size"]) >= 11
            text += aside.text or ""
            wide += float(aside.attrib["dx"])
            wide += width(aside.text or "", float(aside.attrib["font-size"]))
        before = {"middle": wide / 2, "end": wide}.get(style.get("text-anchor", ""), 0.0)
        x, y = left + float(style["x"]), top + float(style["y"])
        if "rotate(-90 " in style.get("transform", ""):
            yield Line(text, x - size * 0.8, y - wide + before, size, wide)
        else:
            yield Line(text, x - before, y - size * 0.8, wide, size)
        return
    for child in element:
        yield from _lines(child, (left, top), style)


def texts(figure: Figure) -> list[str]:
    return ["".join(each.itertext()) for each in root_of(figure).iter(f"{NAMESPACE}text")]
