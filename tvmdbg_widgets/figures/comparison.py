"""Two graphs side by side with their differences as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tvmdbg_widgets.analysis.compare import Comparison
from tvmdbg_widgets.analysis.compare_times.result import NAME as CHANGE
from tvmdbg_widgets.analysis.compare_times.result import SPEED
from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.answers.answers import Answers
from tvmdbg_widgets.answers.comparison import comparison_answer
from tvmdbg_widgets.answers.few_names import MOST_NODES, has_many
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.figures.engine import draw_view
from tvmdbg_widgets.figures.graph import graph_options
from tvmdbg_widgets.figures.options import GraphOptions
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.figures.texts import usable_width

#: px from which both graphs fit.
_NARROW = 620
#: Bytes of a graph in a requested figure, and in a saved notebook.
_MOST_BYTES, _MOST_SAVED_BYTES = 180 * 1024, 18 * 1024
#: Colors that come from the comparison.
_OWN = ("match", SPEED, CHANGE)


def comparison_figure(
    runs: tuple[RunFacts, RunFacts],
    comparison: Comparison,
    *,
    color_by: str | None = None,
    kind: str | None = None,
    selected: tuple[Sequence[int], Sequence[int]] = ((), ()),
    width: float = 720,
    theme: str = "light",
    saved: bool = False,
    **options: Any,
) -> Figure:
    """Draw two graphs side by side, and list their differences below.

    As in the live view groups are closed and matched boxes are level. A narrow figure, and one of
    very large graphs, has only the table.
    """
    by = color_by or ("match" if comparison.times is None else SPEED)
    many = any(map(has_many, runs))
    graphs = all(run.graph is not None and run.graph.num_nodes for run in runs)
    most = _MOST_SAVED_BYTES if saved else _MOST_BYTES
    sides = []
    if usable_width(width) >= _NARROW and graphs and not many:
        for run, nodes in zip(runs, selected, strict=True):
            color = "kind" if by in _OWN else by
            own = GraphOptions(color_by=color, selected=nodes, open_groups=(), **options)
            sides.append(graph_options(run, own, most_bytes=most))
    given = {
        "color_by": by,
        "kind": kind,
        "graphs": sides,
        "runs": [run.title for run in runs],
        "most_nodes": MOST_NODES if many else None,
    }
    answers = {"ab"[side]: Answers(run).answer for side, run in enumerate(runs)}

    def answer(question: dict[str, Any]) -> Reply:
        if "run" in question:
            return answers[question["run"]](question)
        return comparison_answer(comparison, question)

    return draw_view(
        "comparison",
        comparison.title,
        given,
        answer,
        text=lambda: repr(comparison),
        width=width,
        theme=theme,
    )
