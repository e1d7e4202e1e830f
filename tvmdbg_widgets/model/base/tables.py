"""Short tables for the end of a notebook cell: as text and as HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

_LEFT = "text-align: left"
#: So wide a column is at most: the rows of a table do not all grow by one long cell.
_WIDEST = 200


def text_lines(rows: Sequence[Sequence[str]], *, right: bool = False) -> list[str]:
    """Return a line for each row, its cells under those of the row above."""
    widths = [min(_WIDEST, max(map(len, column))) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if right and place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def html_table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    caption: str = "",
    below: Iterable[str] = (),
    style: str = "white-space: nowrap",
) -> str:
    """Return a table with paragraphs below it; all is text, whatever stands in it."""
    above = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    look = f'style="{_LEFT}{f"; {style}" if style else ""}"'

    def row(cells: Sequence[str], tag: str) -> str:
        return "".join(f"<{tag} {look}>{html.escape(cell)}</{tag}>" for cell in cells)

    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in rows)
    thead = f"<thead><tr>{row(head, 'th')}</tr></thead>"
    told = "".join(f"<p>{html.escape(each)}</p>" for each in below)
    return f"<table>{above}{thead}<tbody>{body}</tbody></table>{told}"


def more_text(count: int, shown: int) -> list[str]:
    """``["… and 1,200 more"]``; nothing where all are shown."""
    return [f"… and {count - shown:,} more"] if count > shown else []
