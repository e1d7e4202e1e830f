"""The health of a run as a small strip of SVG in a notebook, legible on light and dark pages."""

from __future__ import annotations

import html
from collections.abc import Sequence

_CELLS = 300
_WIDE = 600
_HIGH = 24
_CELL = 'style="text-align: left"'
# color, opacity, share of the height: no verdict is told by its color alone
_LOOKS = {
    "not scanned": ("currentColor", 0.08, 0.15),
    "OK": ("currentColor", 0.35, 0.35),
    "unknown": ("#8a6bbf", 0.9, 0.5),
    "suspicious": ("#d28a00", 1.0, 0.7),
    "faulty": ("#d1242f", 1.0, 1.0),
}
_WORST_LAST = tuple(_LOOKS)


def health_html(
    heading: str, verdicts: Sequence[str], listed: Sequence[tuple[str, str, str]], rest: str
) -> str:
    """Return heading, strip and the worst entries; whatever stands in their names is text."""
    rows = "".join(
        "<tr>" + "".join(f"<td {_CELL}>{html.escape(cell)}</td>" for cell in cells) + "</tr>"
        for cells in listed
    )
    table = f"<table>{rows}</table>" if rows else ""
    more = f"<p>{html.escape(rest)}</p>" if rest else ""
    return f"<div>{html.escape(heading)}</div>{_strip(heading, verdicts)}{table}{more}"


def _strip(heading: str, verdicts: Sequence[str]) -> str:
    """Draw a cell for each entry, or for the worst of those that share one."""
    cells = min(len(verdicts), _CELLS)
    if not cells:
        return ""
    worst = [0] * cells
    for row, verdict in enumerate(verdicts):
        cell = row * cells // len(verdicts)
        worst[cell] = max(worst[cell], _WORST_LAST.index(verdict))
    wide = min(_WIDE, 24 * cells) / cells
    marks = []
    start = 0
    for cell in range(1, cells + 1):
        if cell < cells and worst[cell] == worst[start]:
            continue
        color, opacity, share = _LOOKS[_WORST_LAST[worst[start]]]
        high = _HIGH * share
        marks.append(
            f'<rect x="{start * wide:g}" y="{_HIGH - high:g}" width="{(cell - start) * wide:g}" '
            f'height="{high:g}" fill="{color}" fill-opacity="{opacity}"/>'
        )
        start = cell
    size = f'width="{cells * wide:g}" height="{_HIGH}" viewBox="0 0 {cells * wide:g} {_HIGH}"'
    said = html.escape(heading, quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{said}" '
        f'style="max-width:100%;display:block;margin:4px 0">{"".join(marks)}</svg>'
    )
