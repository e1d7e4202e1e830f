"""The times of two runs as a figure: their slices one above the other, and what differs most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.compare_times import TimeChange, TimeComparison, TimeVerdict
from tvmdbg_widgets.analysis.compare_times.change_texts import change_text, p_text, ratio_text
from tvmdbg_widgets.answers.answering import Reply
from tvmdbg_widgets.answers.change import change_of_slices
from tvmdbg_widgets.figures.choices import SHOWN
from tvmdbg_widgets.figures.few_names import few_of_timeline, has_many
from tvmdbg_widgets.figures.figure import Figure
from tvmdbg_widgets.figures.run_figure import RunFigure, note
from tvmdbg_widgets.figures.timeline.figure import Range, seen_nodes
from tvmdbg_widgets.model.base.choice import one_of
from tvmdbg_widgets.model.base.text import one_line

_TOP = 16
_SIGNS = {
    TimeVerdict.SLOWER: "▲",
    TimeVerdict.FASTER: "▼",
    TimeVerdict.NOISE: "≈",
    TimeVerdict.UNKNOWN: "?",
    TimeVerdict.ONLY_A: "−",
    TimeVerdict.ONLY_B: "+",
}
_LOSSES = (TimeVerdict.SLOWER, TimeVerdict.ONLY_B)


def time_comparison_figure(
    compared: TimeComparison,
    *,
    show: str = "both",
    time_range: Range | None = None,
    selected: Sequence[int] = (),
    width: float = 720,
    theme: str = "light",
) -> Figure:
    """Draw the slices of two runs, each from its own time zero, and list what differs most."""
    one_of("show", show, SHOWN)
    laid = "synthetic timeline: mean node times back to back; total is not model latency"
    notes = [note(compared.sentence), *(note(said, "muted") for said in compared.caption[2:])]
    if compared.timeline.synthetic:
        notes.append(note(laid, "warning", 2))
    charted = show != "table" and compared.timeline.num_slices > 0
    description = _description(compared)
    data = {
        "title": "Times",
        "detail": compared.title,
        "name": f"Times, {compared.title}",
        "words": compared.sentence,
        "text": repr(compared),
        "notes": notes,
        "selected": list(selected),
        "chart": {"kind": "time", "notes": []} if charted else None,
        "table": None,
        "changes": _table(compared) if show != "chart" else None,
    }
    shown = None if time_range is None else list(time_range)
    options = {"slice_color": "kind", "time_range": shown}
    run, timeline = compared.run, compared.timeline

    def few() -> dict[str, Reply]:
        named = seen_nodes(timeline, time_range)
        return {"change": change_of_slices(compared), **few_of_timeline(run, timeline, named)}

    many = has_many(run)
    questions = () if many else ("timeline", "graph", "change")
    found = RunFigure(
        run,
        "timeline",
        questions,
        data,
        options,
        replies=few if many else dict,
        description=description,
    )
    return found.figure(width=width, theme=theme)


def _table(compared: TimeComparison) -> dict[str, Any]:
    """Return operator, both times, the difference, and the verdict of what differs most."""
    rows = compared[:_TOP]
    changes = compared.columns.change_ns
    most = float(np.nanmax(np.abs(changes), initial=0)) if len(changes) else 0.0
    left = len(compared) - len(rows)
    return {
        "rows": [_row(row, most) for row in rows],
        "below": [note(f"… and {left:,} more", "muted")] if left else [],
    }


def _row(row: TimeChange, most: float) -> dict[str, Any]:
    possible = row.certainty is not None and row.certainty.label == "possible"
    verdict = row.verdict.label
    return {
        "sign": _SIGNS[row.verdict],
        "color": "error" if row.verdict in _LOSSES else "accent",
        "certain": row.verdict not in (TimeVerdict.NOISE, TimeVerdict.UNKNOWN),
        "nodes": list(row.a),
        "label": one_line(row.label),
        "ids": row.brief_nodes,
        "id": f"#{(row.a or row.b)[-1]}",
        "mark": " (match?)" if possible else "",
        "shape": row.shape,
        "kind": row.kind,
        "a": row.texts[0] if row.a else "–",
        "b": row.texts[1] if row.b else "–",
        "change": change_text(row.change_ns),
        "ratio": ratio_text(row.ratio) if row.a and row.b else "–",
        "verdict": verdict if np.isnan(row.q) else f"{verdict} {p_text(row.q)}",
        "bar": 0.0 if np.isnan(row.change_ns) or not most else row.change_ns / most,
    }


def _description(compared: TimeComparison) -> dict[str, Any]:
    return {
        "view": "time comparison",
        "title": compared.title,
        "sentence": compared.sentence,
        "said": list(compared.caption[2:]),
        "tracks": list(compared.timeline.tracks),
        "counts": compared.counts(),
        "rows": [_change_json(row) for row in compared[:_TOP]],
    }


def _change_json(row: TimeChange) -> dict[str, Any]:
    return {
        "label": row.label,
        "nodes": row.nodes,
        "a": row.texts[0],
        "b": row.texts[1],
        "change": change_text(row.change_ns),
        "ratio": ratio_text(row.ratio),
        "verdict": row.verdict.label,
        "why": row.why,
    }
