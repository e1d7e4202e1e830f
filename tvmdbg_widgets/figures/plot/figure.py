"""A bokeh figure without a browser: drawn where it can be, else its first rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.figures.figure import Figure
from tvmdbg_widgets.figures.plot.axis import UndrawnError
from tvmdbg_widgets.figures.plot.chart import (
    WIDTH,
    chart_panel,
    is_plot,
    theme_of_plot,
    titles_of,
)
from tvmdbg_widgets.figures.svg import LINE_HEIGHT, MARGIN, SMALL, Panel, frame, number
from tvmdbg_widgets.figures.texts import fit
from tvmdbg_widgets.figures.theme import THEMES
from tvmdbg_widgets.model.base.number_text import short_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.figures.theme import Theme

#: More bytes are left to the browser.
_MOST_BYTES = 48 * 1024
_ROWS, _COLUMNS = 12, 4
ALONE = "Drawn in a live notebook alone; its first rows:"


def plot_figure(made: Any, source: Any, nodes: str) -> Figure:
    """Draw a bokeh figure, or a layout of figures.

    Bars, dots, segments and lines on axes of numbers or names are drawn in the colors that they
    have; where there is anything else, the first rows are listed.
    """
    plots = [each for each in made.references() if is_plot(each)]
    plots.sort(key=lambda each: str(each.id))
    title = next((titles_of(each)[0] for each in plots if titles_of(each)), "Bokeh figure")
    text = "\n".join(
        [*(line for each in plots for line in titles_of(each)), *row_texts(source, nodes)]
    )
    description = {"view": "plot", "title": title, "drawn": True, "plots": len(plots)}
    try:
        panels = [chart_panel(each) for each in plots]
        svg = frame(panels, title, title)
        if panels and len(svg) <= _MOST_BYTES:
            return Figure(svg, text, description)
    except UndrawnError:
        pass
    theme = theme_of_plot(plots[0]) if plots else THEMES["light"]
    panel = _table(title, source, nodes, theme)
    return Figure(panel.svg, text, description | {"drawn": False})


def row_texts(source: Any, nodes: str) -> list[str]:
    """Return the first rows of a data source, each in words."""
    named = "operator" if "operator" in source.column_names else nodes
    names = [named, *(name for name in source.column_names if name.endswith("_text"))]
    rows = list(zip(*(source.data[name] for name in names), strict=True))
    lines = []
    for name, *texts in rows[:_ROWS]:
        values = ", ".join(str(text) for text in texts if text)
        lines.append(f"{name}: {values}" if values else str(name))
    return lines + _more(rows)


def _more(rows: Sequence[Any]) -> list[str]:
    return [f"… and {len(rows) - _ROWS:,} more"] if len(rows) > _ROWS else []


def _table(title: str, source: Any, nodes: str, theme: Theme) -> Panel:
    """List the first rows of what is not drawn."""
    named = "operator" if "operator" in source.column_names else nodes
    others = [name for name in source.column_names if name != named]
    names = [named, *[*(each for each in others if each.endswith("_text")), *others]]
    names = [*dict.fromkeys(names)][:_COLUMNS]
    panel = Panel(WIDTH, title, f"{title}. {ALONE}", theme)
    y = panel.paragraph(ALONE, panel.heading(title), fill=theme.muted) + LINE_HEIGHT + 4
    room = (panel.width - 2 * MARGIN) / len(names)
    rows = list(zip(*(source.data[name] for name in names), strict=True))
    for at, name in enumerate(names):
        panel.marks.text(fit(name, room - 8, SMALL), MARGIN + at * room, y - 4, fill=theme.muted)
    end = number(panel.width - MARGIN)
    panel.marks.path(f"M{MARGIN} {number(y)}H{end}", stroke=theme.line)
    for row in rows[:_ROWS]:
        y += LINE_HEIGHT
        for at, value in enumerate(row):
            panel.marks.text(fit(_cell(value), room - 8, SMALL), MARGIN + at * room, y - 4)
    for line in _more(rows):
        y = panel.paragraph(line, y, fill=theme.muted)
    panel.height = y + MARGIN
    return panel


def _cell(value: Any) -> str:
    return short_text(float(value)) if isinstance(value, float | np.floating) else str(value)
