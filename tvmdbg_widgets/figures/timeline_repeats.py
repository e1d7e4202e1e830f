"""Repeats as marks of an SVG: operators by repeats, and all repeats folded into one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.figures.svg import LINE_HEIGHT, MARGIN, SMALL, Panel, number
from tvmdbg_widgets.figures.texts import fit, width
from tvmdbg_widgets.figures.timeline_names import numbered, titled
from tvmdbg_widgets.model.base.numbers import counted, duration_text, percent

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from tvmdbg_widgets.analysis.timeline.repeat_matrix import RepeatMatrix
    from tvmdbg_widgets.figures.slice_paint import SlicePaint

Floats = npt.NDArray[np.float64]

_ROWS = 24
_COLUMNS = 50
_CELL = 13.0
_WIDEST = 60.0
_TOTALS = 50.0
#: Colors reach their ends where so much of all cells is nearer to the median, and 2 % at least.
_HELD, _LEAST_SPREAD = 0.9, 0.02
_BAR = 30.0
_WHISKER_FROM = 5.0
_LABEL_FROM = 30


def draw_repeats(
    panel: Panel,
    matrix: RepeatMatrix,
    y: float,
    selected: Collection[int] = (),
    *,
    short: Mapping[str, str],
) -> float:
    """Draw totals and a row for each of the slowest operators; return the y below them."""
    marks, theme, end = panel.marks, panel.theme, panel.width - MARGIN
    y = panel.paragraph(matrix_said(matrix), y, lines=4, fill=theme.muted) + 4
    rows = shown_rows(matrix)
    cells, each = _columns(matrix.relative[rows])
    left = MARGIN + min(230.0, 0.42 * (end - MARGIN))
    wide = min(_WIDEST, (end - left) / max(1, cells.shape[1]))
    if len(matrix.totals):
        y = _totals(panel, matrix, left, wide * cells.shape[1], y)
    spread = scale(matrix)
    for i, row in enumerate(rows.tolist()):
        top = y + i * _CELL
        median = duration_text(float(matrix.median[row]))
        room = left - MARGIN - width(median, SMALL) - 16
        if matrix.nodes[row] in selected and matrix.nodes[row] >= 0:
            marks.rect(2, top + 1, 4, _CELL - 2, fill=theme.accent)
        name = short.get(matrix.names[row], matrix.names[row])
        marks.text(numbered(int(matrix.nodes[row]), name, room), MARGIN, top + 10)
        marks.text(median, left - width(median, SMALL) - 8, top + 10, fill=theme.muted)
        for column, value in enumerate(cells[i].tolist()):
            if np.isnan(value):
                continue
            fill = theme.ramp("diverging", 0.5 + (value - 1) / (2 * spread))
            x = left + column * wide
            marks.path(
                f"M{number(x)} {number(top)}h{number(wide - 0.5)}v{number(_CELL - 0.5)}"
                f"h{number(0.5 - wide)}z",
                fill=fill,
            )
    y += len(rows) * _CELL
    cut = matrix.warm_up.cut
    if cut and each == 1:
        x = left + cut * wide
        start = y - len(rows) * _CELL - (_TOTALS if len(matrix.totals) else 0)
        line = f"M{number(x)} {number(start)}V{number(y)}"
        marks.path(line, z=4, stroke=theme.warning, stroke_width=2, stroke_dasharray="4 3")
    return _key(panel, matrix, spread, each, y + 6)


def matrix_said(matrix: RepeatMatrix) -> str:
    """What the matrix shows, in a sentence or two."""
    if matrix.of_slices:
        return (
            "No repeats are known: each row holds the slices of one name in order of start, so a "
            "column is not one pass."
        )
    size = f"{counted(len(matrix), 'operator')} in {counted(matrix.repeats, 'repeat')}"
    why = matrix.warm_up.why
    return f"{size}, each over the median of its operator. {why[:1].upper()}{why[1:]}."


def shown_rows(matrix: RepeatMatrix) -> npt.NDArray[np.int64]:
    """Return the slowest rows, in the order of execution; of a trace those of several slices."""
    order = np.argsort(-matrix.median, kind="stable")
    if matrix.of_slices:
        order = order[np.isfinite(matrix.ns[order]).sum(axis=1) > 1]
    return np.sort(order[:_ROWS])


def scale(matrix: RepeatMatrix) -> float:
    """Return how far from the median the colors reach, as a share of it."""
    apart = np.abs(matrix.relative - 1)
    apart = np.sort(apart[np.isfinite(apart)])
    held = float(apart[int(np.ceil(len(apart) * _HELD)) - 1]) if len(apart) else 0.0
    return min(1.0, max(_LEAST_SPREAD, held))


def _columns(relative: Floats) -> tuple[Floats, int]:
    """Cells that fit, and how many repeats each is the mean of."""
    each = -(-relative.shape[1] // _COLUMNS)
    if each == 1:
        return relative, 1
    size = -(-relative.shape[1] // each)
    padded = np.full((len(relative), size * each), np.nan)
    padded[:, : relative.shape[1]] = relative
    parts = padded.reshape(len(relative), size, each)
    known = np.isfinite(parts)
    with np.errstate(invalid="ignore"):
        means: Floats = np.where(known, parts, 0).sum(axis=2) / known.sum(axis=2)
    return means, each


def _totals(panel: Panel, matrix: RepeatMatrix, left: float, wide: float, y: float) -> float:
    """A bar for the sum of each repeat."""
    marks, theme, totals = panel.marks, panel.theme, matrix.totals
    most = float(totals.max()) or 1.0
    step = wide / len(totals)
    ground = y + _TOTALS - 6
    for i, total in enumerate(totals.tolist()):
        high = (_TOTALS - 10 - LINE_HEIGHT) * total / most
        fill = theme.warning if i < matrix.warm_up.cut else theme.edge
        title = f"repeat {i}: {duration_text(total)}"
        wide_ = max(0.6, step - (0.5 if step > 2 else 0))
        marks.rect(left + i * step, ground - high, wide_, high, title=title, fill=fill)
        said = duration_text(total)
        if width(said, SMALL) <= step - 4:
            marks.text(said, left + i * step, y + 10, fill=theme.muted)
    room = left - MARGIN - 8
    usual = f"median {duration_text(float(np.median(totals)))}"
    marks.text(fit("all operators, by repeat", room, SMALL), MARGIN, y + 16)
    marks.text(fit(usual, room, SMALL), MARGIN, y + 16 + LINE_HEIGHT, fill=theme.muted)
    return y + _TOTALS


def _key(panel: Panel, matrix: RepeatMatrix, spread: float, each: int, y: float) -> float:
    marks, theme = panel.marks, panel.theme
    low, high = f"-{percent(spread)}", f"+{percent(spread)} or more"
    x = MARGIN + width(low, SMALL) + 6
    marks.text(low, MARGIN, y + 10)
    for i in range(24):
        marks.rect(x + i * 4, y, 4, 12, fill=theme.ramp("diverging", i / 23))
    marks.text(high, x + 102, y + 10)
    y += 14
    notes = []
    drawn = len(shown_rows(matrix))
    if len(matrix) > drawn:
        of = "only names with several slices" if matrix.of_slices else "in execution order"
        notes.append(f"The {drawn} slowest of {len(matrix):,} are drawn, {of}.")
    if each > 1:
        noun = "slices" if matrix.of_slices else "repeats"
        notes.append(f"A column is the mean of {each} {noun}.")
    return panel.paragraph(" ".join(notes), y, lines=2, fill=theme.muted) if notes else y


def draw_folded(
    panel: Panel,
    matrix: RepeatMatrix,
    y: float,
    selected: Collection[int],
    paint: SlicePaint,
) -> float:
    """Draw medians back to back, with whiskers from p10 to p90; return the y below them."""
    marks, theme, room = panel.marks, panel.theme, panel.width - 2 * MARGIN
    folded = matrix.folded()
    y = panel.paragraph(folded.said, y, lines=4, fill=theme.muted) + 4
    whole = max(folded.total_ns, float((folded.start_ns + folded.p90).max(initial=0.0))) or 1.0
    unit = room / whole
    y += 14
    for i, node in enumerate(folded.nodes.tolist()):
        start, wide = MARGIN + float(folded.start_ns[i]) * unit, float(folded.p50[i]) * unit
        if wide < 0.2:
            continue
        name = folded.names[i]
        fill = paint.node(node)
        spread = f"{duration_text(float(folded.p10[i]))} … {duration_text(float(folded.p90[i]))}"
        median = duration_text(float(folded.p50[i]))
        title = f"{titled(node, name)}: median {median}, p10 … p90 {spread}"
        bar = max(0.6, wide - (0.6 if wide > 3 else 0))
        marks.rect(start, y, bar, _BAR, title=title, fill=fill)
        if node in selected and node >= 0:
            accent = theme.accent
            marks.rect(start, y, bar, _BAR, z=3, fill="none", stroke=accent, stroke_width=2)
        if wide > _LABEL_FROM:
            ink = theme.ink_on(fill)
            marks.text(numbered(node, name, wide - 6), start + 3, y + _BAR / 2 + 4, fill=ink)
        if wide >= _WHISKER_FROM:
            low, high = (start + float(each[i]) * unit for each in (folded.p10, folded.p90))
            middle = y - 6
            marks.path(
                f"M{number(low)} {number(middle - 3)}v6M{number(low)} {number(middle)}"
                f"H{number(high)}M{number(high)} {number(middle - 3)}v6",
                stroke=theme.text,
            )
    y += _BAR + 4
    return _summary(panel, matrix, y)


def _summary(panel: Panel, matrix: RepeatMatrix, y: float) -> float:
    said = f"Sum of the medians {duration_text(matrix.folded().total_ns)}."
    if len(matrix.totals):
        totals = matrix.totals
        low, high = duration_text(float(totals.min())), duration_text(float(totals.max()))
        said += f" All operators together took {low} to {high} in {len(totals)} repeats."
    if matrix.warm_up:
        steady = matrix.steady().folded()
        said += (
            f" This includes the warm-up ({matrix.warm_up.why}); without it the medians add up to "
            f"{duration_text(steady.total_ns)}."
        )
    return panel.paragraph(said, y, lines=4, fill=panel.theme.muted)


def described(matrix: RepeatMatrix) -> dict[str, Any]:
    """Return the rows that are drawn as facts."""
    folded = matrix.folded()
    return {
        "operators": len(matrix),
        "repeats": matrix.repeats,
        "totals_ns": matrix.totals.tolist(),
        "warm_up": {"cut": matrix.warm_up.cut, "why": matrix.warm_up.why},
        "of_slices": matrix.of_slices,
        "folded_ns": folded.total_ns,
        "scale": scale(matrix),
        "rows": [
            {
                "node": int(matrix.nodes[i]),
                "label": matrix.names[i],
                "ns": [None if np.isnan(each) else each for each in matrix.ns[i].tolist()],
                "start_ns": float(folded.start_ns[i]),
                "p10_ns": float(folded.p10[i]),
                "p50_ns": float(folded.p50[i]),
                "p90_ns": float(folded.p90[i]),
            }
            for i in shown_rows(matrix).tolist()
        ],
    }
