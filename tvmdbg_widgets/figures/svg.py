"""Building an SVG: marks in groups that share their attributes, panels, and the frame."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.figures.figure import Figure
from tvmdbg_widgets.figures.texts import FONT, escape, width, wrap
from tvmdbg_widgets.figures.theme import THEMES, Paint, Theme

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Style = dict[str, Any]

SMALL, LARGE = 11, 12
MARGIN = 14
LINE_HEIGHT = 15
_TITLE_HEIGHT = 17
_GAP = 10
#: Below this width things stand below each other, or some are left out.
NARROW = 620
#: Text lies above all else.
TEXT_Z = 9
_CLASS = "tvmdbg-figure"
_PAINTED = re.compile(r'[" ]([fs])([0-9a-f]{6})([0-9a-f]{6})(?=[" ])')
_CLASSES = re.compile(r' class="([fs0-9a-f ]+)"')
_COLOR = re.compile(r'(f)ill="#([0-9a-f]{6})"|(s)troke="#([0-9a-f]{6})"')
_PROPERTIES = {"f": "fill", "s": "stroke"}


def number(value: float) -> str:
    """Write a coordinate with at most one decimal."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def attributes(values: Style) -> str:
    """Write attributes; ``_`` in a name stands for ``-``.

    A fill or stroke that is another where dark is preferred also becomes a class; see
    :func:`_with_dark_rules`.
    """
    written = [f'{name.replace("_", "-")}="{_value(value)}"' for name, value in values.items()]
    classes = [
        f"{name[0]}{value[1:]}{value.dark[1:]}"
        for name, value in values.items()
        if isinstance(value, Paint) and value.dark != value
    ]
    if classes:
        written.append(f'class="{" ".join(classes)}"')
    return "".join(f" {each}" for each in written)


def _value(value: object) -> str:
    return number(value) if isinstance(value, float) else escape(str(value))


def _with_dark_rules(body: str) -> str:
    """Return a body with a style sheet for those who prefer dark, where each color has another.

    What knows no such query stays light. Classes are left out of where the light color tells the
    dark one: they would be a tenth of the document.
    """
    pairs = Counter(_PAINTED.findall(body))
    uses = Counter(tuple(filter(None, found)) for found in _COLOR.findall(body))
    told = {pair for pair, count in pairs.items() if uses[pair[:2]] == count}

    def left(classes: re.Match[str]) -> str:
        kept = [each for each in classes[1].split() if (each[0], each[1:7], each[7:]) not in told]
        return f' class="{" ".join(kept)}"' if kept else ""

    rules = []
    for kind, light, dark in sorted(pairs):
        name = _PROPERTIES[kind]
        which = f'[{name}="#{light}"]' if (kind, light, dark) in told else f".{kind}{light}{dark}"
        rules.append(f".{_CLASS} {which}{{{name}:#{dark}}}")
    sheet = f"<style>@media (prefers-color-scheme:dark){{{''.join(rules)}}}</style>"
    return sheet + _CLASSES.sub(left, body)


class Marks:
    """Marks in order of drawing; those of one style lie in one group."""

    def __init__(self, theme: Theme = THEMES["light"]) -> None:
        self.theme = theme
        self._groups: dict[tuple[int, bool, str], list[str]] = {}

    def add(self, mark: str, *, z: int = 0, **style: Any) -> None:
        """Add an element to the group of a style; groups of a higher ``z`` lie above."""
        self._groups.setdefault((z, False, attributes(style)), []).append(mark)

    def rect(
        self,
        x: float,
        y: float,
        wide: float,
        high: float,
        *,
        rx: float = 0,
        own: dict[str, Any] | None = None,
        title: str = "",
        **style: Any,
    ) -> None:
        """Add a rectangle; ``rx`` is the radius of its corners, ``own`` what it alone has."""
        head = (
            f'<rect x="{number(x)}" y="{number(y)}" width="{number(wide)}" height="{number(high)}"'
        )
        head += attributes(({"rx": float(rx)} if rx else {}) | (own or {}))
        end = f"><title>{escape(title)}</title></rect>" if title else "/>"
        self.add(head + end, **style)

    def path(self, data: str, *, z: int = 0, **style: Any) -> None:
        """Add a path; paths of one style become one element."""
        self._groups.setdefault((z, True, attributes(style)), []).append(data)

    def text(
        self, text: str, x: float, y: float, *, aside: str = "", gap: float = 0, **style: Any
    ) -> None:
        """Add a line of text, its baseline at ``y``; what is said aside follows it, muted."""
        if not text:
            return
        said = escape(text)
        if aside:
            look = {"dx": float(gap), "font_size": SMALL, "font_weight": 400}
            paint = attributes({**look, "fill": self.theme.muted})
            said += f"<tspan{paint}>{escape(aside)}</tspan>"
        where = f'<text x="{number(x)}" y="{number(y)}">'
        self.add(f"{where}{said}</text>", z=TEXT_Z, **{"font_size": SMALL, **style})

    def body(self) -> str:
        """Return all groups."""
        return "".join(
            f'<path{style} d="{"".join(items)}"/>'
            if is_path
            else (f"<g{style}>{''.join(items)}</g>" if style else "".join(items))
            for (_, is_path, style), items in sorted(
                self._groups.items(), key=lambda each: each[0][0]
            )
        )


@dataclass
class Panel:
    """One view's marks in a box of its own, its text form and its facts."""

    width: float
    title: str
    words: str
    theme: Theme = THEMES["light"]
    text: str = ""
    height: float = 0.0
    description: dict[str, Any] = field(default_factory=dict)
    marks: Marks = field(init=False)

    def __post_init__(self) -> None:
        """Take the theme for all marks."""
        self.marks = Marks(self.theme)

    def heading(self, title: str, detail: str = "") -> float:
        """Write title and detail, on one line if they fit; return the y below them."""
        size = LARGE + 1
        room = self.width - 2 * MARGIN
        baseline = MARGIN + 10.0
        lines = wrap(title, room, size, 4, bold=True)
        taken = width(lines[-1], size, bold=True) + _GAP if lines else 0.0
        beside = bool(lines) and width(detail, SMALL) <= room - taken
        for at, line in enumerate(lines):
            last = at == len(lines) - 1
            self.marks.text(
                line,
                MARGIN,
                baseline + at * _TITLE_HEIGHT,
                aside=detail if last and beside else "",
                gap=_GAP,
                font_size=size,
                font_weight=600,
            )
        baseline += max(0, len(lines) - 1) * _TITLE_HEIGHT
        if beside:
            return baseline + 8
        return self.paragraph(detail, baseline + 5, fill=self.theme.muted)

    def paragraph(
        self, text: str, y: float, lines: int = 12, indent: float = 0, **style: Any
    ) -> float:
        """Write text over the whole width from ``y`` down; return the y below it."""
        bold = style.get("font_weight", 400) >= 600
        for line in wrap(text, self.width - 2 * MARGIN - indent, SMALL, lines, bold=bold):
            y += LINE_HEIGHT
            self.marks.text(line, MARGIN + indent, y - 4, **style)
        return y

    @property
    def svg(self) -> str:
        """The panel as a document."""
        return frame([self], self.title, self.words)

    def figure(self) -> Figure:
        """The panel as a figure."""
        return Figure(self.svg, self.text, self.description)


def frame(panels: Sequence[Panel], title: str, words: str) -> str:
    """Stack panels in one document on an opaque ground, so that any page may hold it."""
    theme = panels[0].theme
    wide = max(panel.width for panel in panels)
    high = float(math.ceil(sum(panel.height for panel in panels)))
    size = attributes({"width": wide, "height": high})
    look = attributes({"font_family": FONT, "style": "max-width:100%;height:auto"})
    ground = Marks(theme)
    ground.rect(0.5, 0.5, wide - 1, high - 1, rx=4, fill=theme.background, stroke=theme.line)
    body = f"<g{attributes({'fill': theme.text})}>{ground.body()}{''.join(_stacked(panels))}</g>"
    if theme.name == "auto":
        body = _with_dark_rules(body)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{_CLASS}" '
        f'viewBox="0 0 {number(wide)} {number(high)}"{size} role="img"{look}>'
        f"<title>{escape(title)}</title><desc>{escape(words)}</desc>{body}</svg>"
    )


def _stacked(panels: Iterable[Panel]) -> list[str]:
    found: list[str] = []
    top = 0.0
    for panel in panels:
        body = panel.marks.body()
        if top:
            line = attributes({"stroke": panel.theme.line})
            found.append(f'<path d="M1 {number(top)}H{number(panel.width - 1)}"{line}/>')
            found.append(f'<g transform="translate(0 {number(top)})">{body}</g>')
        else:
            found.append(body)
        top += panel.height
    return found
