"""One tensor of a run as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.figures import colors
from tvmdbg_widgets.figures.missing import missing_panel
from tvmdbg_widgets.figures.svg import LINE_HEIGHT, MARGIN, NARROW, SMALL, Panel
from tvmdbg_widgets.figures.tensor_facts import Axes, TensorFacts, default_entry
from tvmdbg_widgets.figures.tensor_picture import draw_color_bar, draw_histogram, draw_plane
from tvmdbg_widgets.figures.texts import about_text, fit, width, wrap
from tvmdbg_widgets.model.trust import Trust

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.figures.figure import Figure
    from tvmdbg_widgets.run import DebugRun

_STATISTICS = 300.0
_TALL = 220.0
_HISTOGRAM = 84.0
_BARS = 12
_BAR_LENGTH = 40


def tensor_figure(
    run: DebugRun,
    *,
    entry: tuple[int, int] | None = None,
    axes: Axes | None = None,
    index: Sequence[int] | None = None,
    width: float = 720,
) -> Figure:
    """Draw one tensor: its health, statistics, histogram, and two of its axes in colours.

    Parameters
    ----------
    entry : (int, int) or None
        Node and output; the first output of the last operator where left out.
    axes : (int or None, int) or None
        Axes down and across; as the live view opens where left out.
    index : sequence of int or None
        Index at which every other axis is held.
    width : float
        px.
    """
    return tensor_panel(run, entry, float(width), axes, index).figure()


def tensor_panel(
    run: DebugRun,
    entry: tuple[int, int] | None,
    width: float,
    axes: Axes | None = None,
    index: Sequence[int] | None = None,
) -> Panel:
    """Return one tensor as a panel."""
    entry = entry or default_entry(run)
    if not run.tensors or entry is None:
        why = "" if run.tensors is None else "The run's params file holds no tensor."
        return missing_panel(run, "tensors", width, why)
    if entry not in run.tensors:
        why = f"The run holds no tensor of node {entry[0]}, output {entry[1]}."
        return missing_panel(run, "tensors", width, why)
    return _panel(run.title, TensorFacts.of(run.tensors[entry], axes, index), width)


def _panel(title: str, facts: TensorFacts, width: float) -> Panel:
    tensor = facts.tensor
    said = f"Tensor {facts.entry_text} {tensor.name}: {', '.join(facts.head)}; {facts.verdict}"
    panel = Panel(width, said, ". ".join([said, *facts.health, *tensor.notes]))
    panel.description = facts.description(title)
    panel.text = tensor_text(title, facts)
    y = panel.heading(f"{facts.entry_text} {tensor.name}", " · ".join(facts.head[:3]))
    if tensor.trust is not Trust.EXACT:
        note = f"The values were matched to this node {tensor.trust.label}."
        y = panel.paragraph(note, y, lines=2, fill=colors.WARNING)
    for note in tensor.notes:
        y = panel.paragraph(f"Warning: {note}", y, lines=3, fill=colors.WARNING)
    y = _health(panel, facts, y)
    if not facts.statistics.applicable or facts.plane is None:
        panel.height = y + MARGIN
        return panel
    top = y + 8
    narrow = width < NARROW
    left = width - 2 * MARGIN - (0 if narrow else _STATISTICS + 20)
    marks = panel.marks
    bottom = top
    for line in wrap(facts.plane_text, left, SMALL, lines=3):
        bottom += LINE_HEIGHT
        marks.text(line, MARGIN, bottom - 3, fill=colors.MUTED)
    bottom = draw_plane(marks, facts, MARGIN, bottom + 4, room=left, tall=_TALL)
    bottom = draw_color_bar(marks, facts, MARGIN, bottom + 6, left)
    x = float(MARGIN) if narrow else width - MARGIN - _STATISTICS
    below = _statistics(panel, facts, x, bottom if narrow else top)
    below = draw_histogram(marks, facts, x, below + 8, room=_STATISTICS, tall=_HISTOGRAM)
    panel.height = max(bottom, below) + MARGIN
    return panel


def _health(panel: Panel, facts: TensorFacts, y: float) -> float:
    """Write the verdict and the counts."""
    bad = facts.verdict == "not finite"
    x, baseline = float(MARGIN), y + LINE_HEIGHT - 2
    ink = colors.ERROR if bad else colors.TEXT
    panel.marks.text(facts.verdict, x, baseline, font_weight=600, fill=ink)
    x += width(facts.verdict, SMALL, bold=True) + 10
    for text in facts.health:
        if x + width(text, SMALL) > panel.width - MARGIN:
            x, baseline = float(MARGIN), baseline + LINE_HEIGHT
        loud = {"fill": colors.ERROR, "font_weight": 600}
        special = any(text.endswith(f" {name}") for name in colors.SPECIAL_TEXT.values())
        style = loud if special and not text.startswith("0 ") else {"fill": colors.MUTED}
        panel.marks.text(text, x, baseline, **style)
        x += width(text, SMALL, bold=style is loud) + 12
    return baseline + 4


def _statistics(panel: Panel, facts: TensorFacts, x: float, y: float) -> float:
    """Write the statistics as a table; the texts are exact."""
    for name, text, place in facts.rows:
        y += LINE_HEIGHT
        panel.marks.text(name, x, y, fill=colors.MUTED)
        room = _STATISTICS - 62
        shown = fit(text, room, SMALL)
        panel.marks.text(shown, x + 62, y)
        at = x + 62 + width(shown, SMALL) + 8
        panel.marks.text(fit(place, x + _STATISTICS - at, SMALL), at, y, fill=colors.MUTED)
    if facts.statistics.finite < facts.statistics.size:
        y += LINE_HEIGHT
        panel.marks.text("of the finite values only", x, y, fill=colors.MUTED)
    return y


def tensor_text(title: str, facts: TensorFacts) -> str:
    """Return header, counts, statistics and a histogram of characters."""
    tensor, found = facts.tensor, facts.statistics
    lines = [f"{title}: {facts.entry_text} {tensor.name}; {'; '.join(facts.head)}"]
    lines += [f"  warning: {note}" for note in tensor.notes]
    lines.append("  " + "; ".join([facts.verdict, *facts.health]))
    lines += [f"  {name:8}{text} {place}".rstrip() for name, text, place in facts.rows]
    if found.histogram is not None:
        counts = np.asarray(found.histogram.counts)
        edges = np.asarray(found.histogram.edges, np.float64)
        step = -(-len(counts) // _BARS)
        sums = np.add.reduceat(counts, np.arange(0, len(counts), step)).tolist()
        starts = [about_text(float(edge)) for edge in edges[:-1:step]]
        wide = max(map(len, starts))
        for start, count in zip(starts, sums, strict=True):
            bar = "#" * max(1 if count else 0, round(_BAR_LENGTH * count / max(sums)))
            lines.append(f"  {start:>{wide}} |{bar} {count:,}")
    return "\n".join(lines)
