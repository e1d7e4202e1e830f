"""The times of two runs as a figure: their slices one above the other, and what differs most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.analysis.compare_times import Verdict
from tvmdbg_widgets.analysis.compare_times.words import change_text, p_text, ratio_text
from tvmdbg_widgets.figures.choices import SHOWN, one_of, usable_width
from tvmdbg_widgets.figures.slice_paint import SlicePaint
from tvmdbg_widgets.figures.svg import LINE_HEIGHT, MARGIN, NARROW, SMALL, Panel, number
from tvmdbg_widgets.figures.texts import fit
from tvmdbg_widgets.figures.texts import width as text_width
from tvmdbg_widgets.figures.theme import theme_of
from tvmdbg_widgets.figures.timeline_chart import Chart, Range, whole_range
from tvmdbg_widgets.model.base.numbers import duration_text
from tvmdbg_widgets.model.base.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.analysis.compare_times import TimeChange, TimeComparison
    from tvmdbg_widgets.figures.figure import Figure

_TOP = 16
_ROW = 17.0
#: How far the bar of the greatest difference reaches, px.
_BAR = 26.0
_SIGNS = {
    Verdict.SLOWER: "▲",
    Verdict.FASTER: "▼",
    Verdict.NOISE: "≈",
    Verdict.UNKNOWN: "?",
    Verdict.ONLY_A: "−",
    Verdict.ONLY_B: "+",
}
_LOSSES, _SAVINGS = (Verdict.SLOWER, Verdict.ONLY_B), (Verdict.FASTER, Verdict.ONLY_A)


def time_comparison_figure(
    compared: TimeComparison,
    *,
    show: str = "both",
    time_range: Range | None = None,
    selected: Sequence[int] = (),
    width: float = 720,
    theme: str = "light",
) -> Figure:
    """Draw the slices of two runs, each from its own time zero, and list what differs most.

    Parameters
    ----------
    compared : TimeComparison
    show : str
        ``"chart"``, ``"table"`` or ``"both"``.
    time_range : (float, float) or None
        Nanoseconds that the axis spans; all where left out.
    selected : sequence of int
        Nodes of the first run that are marked.
    width : float
        px.
    theme : str
        ``"light"``, ``"dark"`` or ``"auto"``.

    Raises
    ------
    ValueError
        A value that is none of these.
    """
    one_of("show", show, SHOWN)
    panel = Panel(
        usable_width(width), f"Times, {compared.title}", compared.sentence, theme_of(theme)
    )
    look, timeline = panel.theme, compared.timeline
    y = panel.heading("Times", compared.title)
    y = panel.paragraph(compared.sentence, y, lines=4, fill=look.text)
    for said in compared.caption[2:]:
        y = panel.paragraph(said, y, lines=4, fill=look.muted)
    if timeline.synthetic:
        laid = "synthetic timeline: mean node times back to back; total is not model latency"
        y = panel.paragraph(laid, y, lines=2, fill=look.warning)
    if show != "table" and timeline.num_slices:
        shown = time_range or whole_range(timeline)
        graph, words = compared.matching.graph_a, compared.slice_words
        paint = SlicePaint(look, timeline, graph, None)
        chart = Chart(panel, timeline, graph, shown, tuple(selected), paint=paint, others=words)
        y = chart.draw(y + 4)
    if show != "chart":
        y = _table(panel, compared, y, frozenset(selected))
    panel.height = y + MARGIN
    panel.text = repr(compared)
    panel.description = _description(compared)
    return panel.figure()


def _table(panel: Panel, compared: TimeComparison, y: float, selected: frozenset[int]) -> float:
    """Write operator, both times, the difference with a bar to either side, and the verdict."""
    marks, end, look = panel.marks, panel.width - MARGIN, panel.theme
    wide = panel.width >= NARROW
    verdict = end - (120 if wide else 16)
    ratio = verdict - 62
    change = ratio - 72
    bar = change - (2 * _BAR + 12 if wide else 8)
    second = bar - 62
    first = second - 62
    label = MARGIN + 16.0
    y += LINE_HEIGHT + 4
    heads = [(label, "operator"), (first, "A"), (second, "B"), (change, "B − A"), (ratio, "Δ %")]
    if wide:
        heads.append((verdict, "verdict, corrected p"))
    for x, said in heads:
        marks.text(said, x, y - 4, fill=look.muted)
    marks.path(f"M{MARGIN} {number(y)}H{number(end)}", stroke=look.line)
    rows = compared[:_TOP]
    changes = compared.columns.change_ns
    most = float(np.nanmax(np.abs(changes), initial=0)) if len(changes) else 0.0
    for row in rows:
        y += _ROW
        base = y - 4
        told = row.verdict not in (Verdict.NOISE, Verdict.UNKNOWN)
        ink = look.text if told else look.muted
        sign = look.error if row.verdict in _LOSSES else look.accent
        if selected.intersection(row.a):
            marks.rect(2, base - 11, 4, 14, fill=look.accent)
        marks.text(_SIGNS[row.verdict], MARGIN, base, fill=sign if told else look.muted)
        marks.rect(label, base - 9, 10, 10, own={"fill": look.kind(row.kind)})
        mark = (
            " (match?)" if row.certainty is not None and row.certainty.label == "possible" else ""
        )
        ids = f" {row.brief_nodes if wide else f'#{(row.a or row.b)[-1]}'}{mark}"
        room = first - label - 24
        said = fit(one_line(row.label), room - text_width(ids, SMALL), SMALL) + ids
        shaped = f"{said} {row.shape}"
        said = shaped if wide and text_width(shaped, SMALL) <= room else said
        marks.text(said, label + 16, base, fill=ink)
        for x, nodes, ns in ((first, row.a, row.ns_a), (second, row.b, row.ns_b)):
            marks.text(duration_text(ns) if nodes else "–", x, base, fill=ink)
        if wide and most > 0 and not np.isnan(row.change_ns):
            middle, size = bar + _BAR, _BAR * abs(row.change_ns) / most
            left = middle if row.change_ns > 0 else middle - size
            fill = sign if told else look.muted
            marks.rect(left, base - 9, size, 10, own={"fill": fill}, fill_opacity=0.6)
        marks.text(change_text(row.change_ns), change, base, fill=ink)
        marks.text(ratio_text(row.ratio) if row.a and row.b else "–", ratio, base, fill=ink)
        if wide:
            p = "" if np.isnan(row.q) else f" {p_text(row.q)}"
            marks.text(f"{row.verdict.label}{p}", verdict, base, fill=look.muted)
    if len(compared) > len(rows):
        more = f"… and {len(compared) - len(rows):,} more"
        y = panel.paragraph(more, y + 2, fill=look.muted)
    return y


def _description(compared: TimeComparison) -> dict[str, Any]:
    return {
        "view": "time comparison",
        "title": compared.title,
        "sentence": compared.sentence,
        "said": list(compared.caption[2:]),
        "tracks": list(compared.timeline.tracks),
        "counts": compared.counts(),
        "rows": [_told(row) for row in compared[:_TOP]],
    }


def _told(row: TimeChange) -> dict[str, Any]:
    return {
        "label": row.label,
        "nodes": row.nodes,
        "a": duration_text(row.ns_a),
        "b": duration_text(row.ns_b),
        "change": change_text(row.change_ns),
        "ratio": ratio_text(row.ratio),
        "verdict": row.verdict.label,
        "why": row.why,
    }
