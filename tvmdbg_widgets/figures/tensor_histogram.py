"""The histogram of a tensor, as SVG marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.figures.colors import SPECIAL, SPECIAL_TEXT
from tvmdbg_widgets.figures.svg import LINE_HEIGHT, SMALL, Marks, number
from tvmdbg_widgets.figures.texts import about_text, fit, width
from tvmdbg_widgets.model.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.figures.tensor_facts import TensorFacts


def draw_histogram(
    marks: Marks, facts: TensorFacts, x: float, y: float, *, room: float, tall: float
) -> float:
    """Draw the counts of the finite values, with NaN and the infinities at the right."""
    others = [(name, count) for name, count in facts.specials().items() if count]
    found = facts.statistics.histogram
    counts: Sequence[int] = [] if found is None else np.asarray(found.counts).tolist()
    top = max([1, *counts, *(count for _, count in others)])
    slot = 34.0
    wide = room - slot * len(others) - (8 if others else 0)
    if counts:
        about = "" if found is None or found.exact else "about "
        said = f"histogram of {len(counts)} bins, the highest of {about}"
        said += counted(max(counts), "value")
        marks.text(fit(said, room, SMALL), x, y + 10, fill=marks.theme.muted)
        y += LINE_HEIGHT
    foot, step = number(y + tall), wide / max(1, len(counts))
    bars = "".join(
        f"M{number(x + i * step)} {foot}"
        f"v-{number(max(1.0, tall * count / top))}h{number(step - 0.4)}V{foot}z"
        for i, count in enumerate(counts)
        if count
    )
    if bars:
        marks.path(bars, fill=marks.theme.accent)
    marks.path(f"M{number(x)} {number(y + tall)}h{number(room)}", stroke=marks.theme.line)
    for i, (name, count) in enumerate(others):
        high = max(1.0, tall * count / top)
        at = x + wide + 8 + i * slot
        marks.rect(at + 4, y + tall - high, slot - 8, high, own={"fill": SPECIAL[name]})
        marks.text(SPECIAL_TEXT[name], at + 2, y + tall + 13)
    if found is not None:
        edges = np.asarray(found.edges, np.float64)
        ends = [about_text(float(edges[0])), about_text(float(edges[-1]))]
        marks.text(ends[0], x, y + tall + 13, fill=marks.theme.muted)
        last = ends[1]
        if edges[0] < edges[-1] and width(ends[0] + last, SMALL) + 8 <= wide:
            marks.text(last, x + wide - width(last, SMALL), y + tall + 13, fill=marks.theme.muted)
    return y + tall + 18
