"""The graph of a run as a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.figures.figure import Figure
from tvmdbg_widgets.figures.graph.options import Direction, GraphFigureOptions
from tvmdbg_widgets.figures.graph.request import MOST_BYTES, MOST_SAVED_BYTES, graph_request
from tvmdbg_widgets.model.graph.label_template import checked_template
from tvmdbg_widgets.model.graph.node_columns import NodeColumn, checked_range, node_column


def graph_figure(
    run: Derived,
    *,
    color_by: str | NodeColumn | Any = "kind",
    fold_parameters: bool = True,
    direction: str = "down",
    focus: int | str | None = None,
    hops: int | None = None,
    search: str = "",
    selected: Sequence[int] = (),
    isolate: Mapping[str, Any] | None = None,
    hidden: Sequence[str] = (),
    color_limits: tuple[float, float] | None = None,
    label: str = "",
    open_groups: Sequence[int] | None = None,
    grouped: bool = True,
    whole: bool = False,
    camera: Mapping[str, Any] | None = None,
    height: float = 420,
    width: float = 720,
    theme: str = "light",
    saved: bool = False,
) -> Figure:
    """Draw the graph of a run; where it is too large, condensed to groups of its nodes.

    Of more than 100,000 nodes, without `isolate` or `open_groups`, each box stands for many
    operators: the figure says which options have no effect on that.
    """
    if not isinstance(color_by, str | NodeColumn) and run.graph is not None:
        color_by = node_column(run.graph, color_by)
    options = GraphFigureOptions(
        color_by,
        fold_parameters,
        cast("Direction", direction),
        focus,
        hops,
        search,
        tuple(selected),
        None if isolate is None else dict(isolate),
        tuple(hidden),
        checked_range(color_limits),
        checked_template(label),
        None if open_groups is None else tuple(open_groups),
        grouped,
        whole,
    )
    most = MOST_SAVED_BYTES if saved else MOST_BYTES
    request = graph_request(run, options, most_bytes=most, camera=camera, height=height)
    return request.figure(width=width, theme=theme)
