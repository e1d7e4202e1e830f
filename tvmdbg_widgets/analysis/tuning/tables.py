"""Tables as text and HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence

from tvmdbg_widgets.model.base.tables import text_lines
from tvmdbg_widgets.model.base.text import one_line

_LINES_SHOWN = 40
_LEFT = 'style="text-align: left; white-space: nowrap"'


def table_text(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table for a terminal: the first column to the left, numbers to the right."""
    cells = [[one_line(cell) for cell in line] for line in (heads, *lines[:_LINES_SHOWN])]
    return "\n".join([*text_lines(cells, right=True), *_rest(lines)])


def table_html(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return the same table for a notebook."""

    def row(cells: Sequence[str], tag: str) -> str:
        first, *others = (html.escape(one_line(cell)) for cell in cells)
        rest = "".join(f"<{tag}>{cell}</{tag}>" for cell in others)
        return f"<tr><{tag} {_LEFT}>{first}</{tag}>{rest}</tr>"

    body = "".join(row(line, "td") for line in lines[:_LINES_SHOWN])
    more = "".join(f"<p>{text}</p>" for text in _rest(lines))
    return f"<table><thead>{row(heads, 'th')}</thead><tbody>{body}</tbody></table>{more}"


def _rest(lines: Sequence[object]) -> list[str]:
    more = len(lines) - _LINES_SHOWN
    return [f"… and {more:,} more: to_dataframe() has all"] if more > 0 else []
