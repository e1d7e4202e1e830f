"""Building an SVG: marks in groups that share their attributes, panels, and the frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.figures.colors import BACKGROUND, LINE, MUTED, TEXT
from tvmdbg_widgets.figures.figure import Figure
from tvmdbg_widgets.figures.texts import escape, fit, width, wrap

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Style = dict[str, Any]

FONT = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', "
    "'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', sans-serif"
)
SMALL, LARGE = 11, 12
MARGIN = 14
LINE_HEIGHT = 15
#: Below this width things stand below each other, or some are left out.
NARROW = 620
#: Text lies above all else.
TEXT_Z = 9


def number(value: float) -> str:
    """Write a coordinate with at most one decimal."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def attributes(values: Style) -> str:
    """Write attributes; ``_`` in a name stands for ``-``."""
    return "".join(f' {name.replace("_", "-")}="{_value(value)}"' for name, value in values.items())


def _value(value: object) -> str:
    return number(value) if isinstance(value, float) else escape(str(value))


class Marks:
    """Marks in order of drawing; those of one style lie in one group."""

    def __init__(self) -> None:
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
        own: dict[str, Any] | None = None,
        title: str = "",
        **style: Any,
    ) -> None:
        """Add a rectangle; ``own`` are attributes of this one alone."""
        head = (
            f'<rect x="{number(x)}" y="{number(y)}" width="{number(wide)}" height="{number(high)}"'
        )
        head += attributes(own or {})
        end = f"><title>{escape(title)}</title></rect>" if title else "/>"
        self.add(head + end, **style)

    def path(self, data: str, *, z: int = 0, **style: Any) -> None:
        """Add a path; paths of one style become one element."""
        self._groups.setdefault((z, True, attributes(style)), []).append(data)

    def text(self, text: str, x: float, y: float, **style: Any) -> None:
        """Add a line of text, its baseline at ``y``."""
        if text:
            where = f'<text x="{number(x)}" y="{number(y)}">'
            self.add(f"{where}{escape(text)}</text>", z=TEXT_Z, **{"font_size": SMALL, **style})

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
    text: str = ""
    height: float = 0.0
    description: dict[str, Any] = field(default_factory=dict)
    marks: Marks = field(default_factory=Marks)

    def heading(self, title: str, detail: str = "") -> float:
        """Write title and detail on the first line; return the y below it."""
        room = self.width - 2 * MARGIN
        baseline = MARGIN + 10.0
        shown = fit(title, room, LARGE + 1, bold=True)
        taken = width(shown, LARGE + 1, bold=True) + 10
        self.marks.text(shown, MARGIN, baseline, font_size=LARGE + 1, font_weight=600)
        self.marks.text(fit(detail, room - taken, SMALL), MARGIN + taken, baseline, fill=MUTED)
        return baseline + 8

    def paragraph(self, text: str, y: float, lines: int = 12, **style: Any) -> float:
        """Write text over the whole width from ``y`` down; return the y below it."""
        for line in wrap(text, self.width - 2 * MARGIN, SMALL, lines):
            y += LINE_HEIGHT
            self.marks.text(line, MARGIN, y - 4, **style)
        return y

    @property
    def svg(self) -> str:
        """The panel as a document."""
        return frame([self], self.title, self.words)

    def figure(self) -> Figure:
        """The panel as a figure."""
        return Figure(self.svg, self.text, self.description)


def frame(panels: Sequence[Panel], title: str, words: str) -> str:
    """Stack panels in one document on an opaque light ground, so that any page may hold it."""
    wide = max(panel.width for panel in panels)
    high = sum(panel.height for panel in panels)
    size = attributes({"width": wide, "height": high})
    look = attributes({"font_family": FONT, "fill": TEXT, "style": "max-width:100%;height:auto"})
    ground = Marks()
    ground.rect(0.5, 0.5, wide - 1, high - 1, rx=4, fill=BACKGROUND, stroke=LINE)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(wide)} {number(high)}"'
        f'{size} role="img"{look}><title>{escape(title)}</title><desc>{escape(words)}</desc>'
        f"{ground.body()}{''.join(_stacked(panels))}</svg>"
    )


def _stacked(panels: Iterable[Panel]) -> list[str]:
    found: list[str] = []
    top = 0.0
    for panel in panels:
        body = panel.marks.body()
        if top:
            line = f'<path d="M1 {number(top)}H{number(panel.width - 1)}" stroke="{LINE}"/>'
            found.append(f'{line}<g transform="translate(0 {number(top)})">{body}</g>')
        else:
            found.append(body)
        top += panel.height
    return found
