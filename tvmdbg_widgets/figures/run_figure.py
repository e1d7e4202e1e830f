"""A figure of a run, drawn from the answers the live view gets; other timeline charts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.summary import how_to_get
from tvmdbg_widgets.analysis.timeline.longest_path import why_not
from tvmdbg_widgets.analysis.timeline.merged import CallTree, merged
from tvmdbg_widgets.analysis.timeline.repeat_matrix import (
    RepeatMatrix,
    repeat_matrix,
    why_no_repeats,
)
from tvmdbg_widgets.analysis.timeline.roofline import Point, Roofline, roofline_of
from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.answers.tensor import Redact, Reply
from tvmdbg_widgets.figures.engine import Answer, draw_or_tell
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.model.base.numbers import counted, duration_text
from tvmdbg_widgets.model.graph.operators import label
from tvmdbg_widgets.model.timeline.kinds import name_kinds

#: Part of a run: its view, and the view's title if the part is missing.
_MISSING = {
    "graph": ("graph", "No graph"),
    "timeline": ("timeline", "No times"),
    "memory": ("memory", "No memory plan"),
}


class Note(TypedDict):
    """A paragraph of a figure."""

    text: str
    color: str
    most: int


def note(text: str, color: str = "", most: int = 4) -> Note:
    """Return a paragraph for ``js/src/shared/drawing/figure.ts``."""
    return {"text": text, "color": color, "most": most}


@dataclass(frozen=True)
class RunFigure:
    """Questions, data and options from which one figure is drawn."""

    run: RunFacts
    view: str
    questions: Sequence[str | Mapping[str, Any]]
    data: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)
    replies: Callable[[], Mapping[str, Reply]] = dict
    description: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    redact: Redact | None = None
    answer: Answer | None = None

    @classmethod
    def missing(cls, run: RunFacts, part: str, why: str = "") -> RunFigure:
        """Return the figure of a run without the shown part."""
        view, head = _MISSING[part]
        why = why or how_to_get(part, run.parts)
        text = f"{run.title}: {head.lower()}. {why}"
        data = {"view": view, "title": run.title, "head": head, "why": why, "text": text}
        return cls(run, "missing", (), data)

    def figure(self, *, width: float, theme: str) -> Figure:
        """Draw the figure."""
        figure = draw_or_tell(
            self.view,
            self.request_data,
            {},
            self.options,
            text=self.text or str(self.data["text"]),
            width=width,
            theme=theme,
            answers=self.answered,
            answer=self.answer or Answers(self.run, redact=self.redact).answer,
        )
        return replace(figure, description=_merged(self.description, figure.description))

    @property
    def request_data(self) -> dict[str, Any]:
        """Data of the figure with the run's title."""
        return {"title": self.run.title, **self.data}

    def answered(self) -> dict[str, Reply]:
        """Return the run's replies to all questions."""
        answers = Answers(self.run)
        replies = {}
        for question in self.questions:
            message = {"kind": question} if isinstance(question, str) else question
            replies[message["kind"]] = answers.answer(message)
        return replies | dict(self.replies())


def _merged(own: Any, drawn: Any) -> Any:
    """Merge facts of the engine into facts of Python."""
    if isinstance(own, dict) and isinstance(drawn, dict):
        return own | {name: _merged(own.get(name), value) for name, value in drawn.items()}
    if isinstance(own, list) and isinstance(drawn, list):
        return [_merged(*pair) for pair in zip(own, drawn, strict=True)]
    return drawn


_LEAST_SHARE = 1e-3
_MOST_PLACES, _MOST_LEVELS, _LISTED_PLACES = 400, 14, 40
_MOST_ROWS = 24
_LISTED_POINTS = 8
#: As in ``model/timeline/statistics.py``.
_NOISY, _NOISY_FROM = 1.2, 5

Ceilings = tuple[float | None, float | None]


@dataclass(frozen=True)
class OtherChart:
    """A chart as data, text and facts; ``questions`` are those beside the timeline's."""

    data: dict[str, Any]
    text: str
    description: dict[str, Any]
    questions: tuple[str, ...] = field(default=())


def other_chart(run: RunFacts, chart: str, ceilings: Ceilings) -> OtherChart:
    """Return the chart ``"merged"``, ``"folded"``, ``"repeats"`` or ``"roofline"``."""
    if chart == "merged":
        return _merged_charts(run)
    if chart == "roofline":
        return _roofline(run, ceilings)
    why = why_no_repeats(run.parts)
    if why:
        return OtherChart(_none(why), why, {"repeats": {"missing": why}})
    matrix = repeat_matrix(run.parts)
    return (_repeats if chart == "repeats" else _folded)(run, matrix)


def _none(why: str) -> dict[str, Any]:
    return {"kind": "none", "notes": [note(why, "muted", 5)]}


def _merged_charts(run: RunFacts) -> OtherChart:
    tree = merged(run.parts, lambda: run.groups)
    total = float(tree.total_ns[tree.depth == 0].sum())
    share = tree.total_ns / total if total else np.zeros(len(tree))
    shown = np.flatnonzero((share >= _LEAST_SHARE) & (tree.depth < _MOST_LEVELS))
    if len(shown) > _MOST_PLACES:
        shown = np.sort(shown[np.argsort(-share[shown], kind="stable")[:_MOST_PLACES]])
    text = f"total {duration_text(total)}, merged by path ({tree.said}), heaviest first"
    left = len(tree) - len(shown)
    more = f"{counted(left, 'more path')} too small to be drawn"
    data = {
        "kind": "merged",
        "notes": [note(f"{text}, not in order of time.", "muted", 3)],
        "below": [note(more, "muted")] if left else [],
        "whole": total,
        "names": _names(run, tree.node[shown], [tree.names[at] for at in shown.tolist()]),
        "group": (tree.group[shown] >= 0).tolist(),
        "depth": tree.depth[shown].tolist(),
        "start": tree.start_ns[shown].tolist(),
        "total": tree.total_ns[shown].tolist(),
        "self": tree.self_ns[shown].tolist(),
        "count": tree.count[shown].tolist(),
    }
    return OtherChart(data, repr(tree), {"merged": _described_tree(tree, total)})


def _names(run: RunFacts, nodes: npt.NDArray[Any], names: list[str]) -> dict[str, Any]:
    """Return nodes, names, labels and op kinds of rows."""
    timeline = run.timeline
    short: dict[str, str] = {}
    kinds: dict[str, str] = {}
    if timeline is not None:
        short = dict(timeline.slice_labels)
        own = name_kinds(timeline, run.graph)
        kinds = dict(zip(timeline.slice_names.unique, own, strict=True))
    return {
        "node": nodes.tolist(),
        "name": names,
        "label": [short.get(name, name) for name in names],
        "kind": [kinds.get(name, "other") for name in names],
    }


def _described_tree(tree: CallTree, whole: float) -> dict[str, Any]:
    largest = np.argsort(-tree.total_ns, kind="stable")[:_LISTED_PLACES]
    return {
        "said": tree.said,
        "total_ns": whole,
        "paths": len(tree),
        "places": [
            {
                "path": list(tree.path(at)),
                "node": int(tree.node[at]),
                "total_ns": float(tree.total_ns[at]),
                "self_ns": float(tree.self_ns[at]),
                "slices": int(tree.count[at]),
                "start_ns": float(tree.start_ns[at]),
            }
            for at in largest.tolist()
        ],
    }


def _repeats(run: RunFacts, matrix: RepeatMatrix) -> OtherChart:
    notes = []
    drawn = _shown_rows(matrix)
    if len(drawn) < len(matrix):
        of = "only names with several slices" if matrix.of_slices else "in execution order"
        notes.append(note(f"Drawn: the slowest {len(drawn)} of {len(matrix):,}, {of}.", "muted"))
    data = {
        "kind": "repeats",
        "notes": [note(_matrix_said(matrix), "muted")],
        "below": notes,
        **_matrix(run, matrix, drawn),
    }
    return OtherChart(data, repr(matrix), {"repeats": _described_matrix(matrix)})


def _folded(run: RunFacts, matrix: RepeatMatrix) -> OtherChart:
    folded = matrix.folded()
    data = {
        "kind": "folded",
        "notes": [note(folded.said, "muted")],
        "below": [note(_folded_said(matrix), "muted")],
        **_matrix(run, matrix, np.arange(len(matrix))),
    }
    text = f"{folded!r}\n({folded.said})"
    return OtherChart(data, text, {"repeats": _described_matrix(matrix)})


def _matrix(run: RunFacts, matrix: RepeatMatrix, rows: npt.NDArray[np.int64]) -> dict[str, Any]:
    folded = matrix.folded()
    ns = matrix.ns[rows]
    known = np.isfinite(ns)
    means = np.where(known, ns, 0).sum(axis=1) / np.maximum(1, known.sum(axis=1))
    noisy = (known.sum(axis=1) >= _NOISY_FROM) & (folded.p90[rows] > _NOISY * folded.p10[rows])
    return {
        "names": _names(run, matrix.nodes[rows], [matrix.names[at] for at in rows.tolist()]),
        # JSON has no NaN.
        "ns": [[time if np.isfinite(time) else None for time in row] for row in ns.tolist()],
        "p10": folded.p10[rows].tolist(),
        "median": folded.p50[rows].tolist(),
        "p90": folded.p90[rows].tolist(),
        "mean": means.tolist(),
        "noisy": noisy.tolist(),
        "totals": matrix.totals.tolist(),
        "warm": matrix.warm_up.cut,
        "ofSlices": matrix.of_slices,
        "repeats": matrix.repeats,
    }


def _matrix_said(matrix: RepeatMatrix) -> str:
    """Describe the matrix in a sentence or two."""
    if matrix.of_slices:
        return (
            "No repeats are known: each row holds the slices of one name in order of start, so a "
            "column is not one pass."
        )
    size = f"{counted(len(matrix), 'operator')} in {counted(matrix.repeats, 'repeat')}"
    why = matrix.warm_up.why
    return f"{size}, each over the median of its operator. {why[:1].upper()}{why[1:]}."


def _folded_said(matrix: RepeatMatrix) -> str:
    text = f"Sum of the medians {duration_text(matrix.folded().total_ns)}."
    if len(matrix.totals):
        ends = matrix.totals.min(), matrix.totals.max()
        low, high = (duration_text(float(end)) for end in ends)
        repeats = counted(len(matrix.totals), "repeat")
        text += f" All operators together took {low} to {high} in {repeats}."
    if matrix.warm_up:
        steady = duration_text(matrix.steady().folded().total_ns)
        text += (
            f" This includes the warm-up ({matrix.warm_up.why}); without it the medians add up to "
            f"{steady}."
        )
    return text


def _shown_rows(matrix: RepeatMatrix) -> npt.NDArray[np.int64]:
    """Return the slowest rows in execution order; of a trace, only those with several slices."""
    order = np.argsort(-matrix.median, kind="stable")
    if matrix.of_slices:
        order = order[np.isfinite(matrix.ns[order]).sum(axis=1) > 1]
    return np.sort(order[:_MOST_ROWS])


def _described_matrix(matrix: RepeatMatrix) -> dict[str, Any]:
    folded = matrix.folded()
    return {
        "operators": len(matrix),
        "repeats": matrix.repeats,
        "totals_ns": matrix.totals.tolist(),
        "warm_up": {"cut": matrix.warm_up.cut, "why": matrix.warm_up.why},
        "of_slices": matrix.of_slices,
        "folded_ns": folded.total_ns,
        "rows": [
            {
                "node": int(matrix.nodes[at]),
                "label": matrix.names[at],
                "ns": [None if np.isnan(time) else time for time in matrix.ns[at].tolist()],
                "start_ns": float(folded.start_ns[at]),
                "p10_ns": float(folded.p10[at]),
                "p50_ns": float(folded.p50[at]),
                "p90_ns": float(folded.p90[at]),
            }
            for at in _shown_rows(matrix).tolist()
        ],
    }


def _roofline(run: RunFacts, ceilings: Ceilings) -> OtherChart:
    why = why_not(run.parts).replace("critical path", "roofline")
    if why:
        return OtherChart(_none(why), why, {"roofline": {"missing": why}})
    roofline = roofline_of(run.parts, lambda: run.work, *ceilings)
    data = {
        "kind": "roofline",
        "notes": [note(line, "muted", 3) for line in roofline.said],
        "below": _not_drawn(roofline),
        "flops": roofline.peak_flops,
        "bytes": roofline.bandwidth,
    }
    facts = {"roofline": {"missing": "", **_described_points(run, roofline)}}
    return OtherChart(data, repr(roofline), facts, ("roofline",))


def _not_drawn(roofline: Roofline) -> list[Note]:
    left = [point for point in roofline if not (point.intensity > 0 and point.flops_per_s > 0)]
    left.sort(key=lambda point: -np.nan_to_num(point.time_ns))
    notes = [note(_why_not_drawn(roofline, point), "muted", 2) for point in left[:_LISTED_POINTS]]
    if len(left) > _LISTED_POINTS:
        more = counted(len(left) - _LISTED_POINTS, "operator")
        notes.append(note(f"… and {more} more", "muted"))
    return notes


def _why_not_drawn(roofline: Roofline, point: Point) -> str:
    name = label(roofline.work.graph.func_names[point.node]) or point.name
    why = "; ".join(point.why) or "no arithmetic: 0 operations"
    time = duration_text(point.time_ns, roofline.rounding_ns)
    return f"not in the chart: {name[:200]} #{point.node}, {time}: {why}"


def _described_points(run: RunFacts, roofline: Roofline) -> dict[str, Any]:
    def known(value: float) -> float | None:
        return None if math.isnan(value) else value

    return {
        "title": run.title,
        "said": list(roofline.said),
        "peak_flops": roofline.peak_flops,
        "bandwidth": roofline.bandwidth,
        "points": [
            {
                "node": point.node,
                "op_kind": point.op_kind,
                **{name: known(getattr(point, name)) for name in ("time_ns", "flops", "bytes")},
                "bound": point.bound,
                "why": list(point.why),
            }
            for point in roofline[:1000]
        ],
    }
