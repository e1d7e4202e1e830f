"""The graph of a run as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from tvmdbg_widgets.figures.graph.options import GraphOptions
from tvmdbg_widgets.figures.graph.request import MOST_BYTES, MOST_SAVED_BYTES, graph_request
from tvmdbg_widgets.model.graph.label_template import checked_template
from tvmdbg_widgets.model.graph.node_columns import NodeColumn, checked_range, node_column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tvmdbg_widgets.analysis.derived.derived import Derived
    from tvmdbg_widgets.figures.figure import Figure
    from tvmdbg_widgets.figures.graph.options import Direction


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

    Parameters
    ----------
    color_by : str, NodeColumn, array_like or mapping
        A name as of ``GraphView``, or data as of
        :func:`tvmdbg_widgets.model.graph.node_columns.node_column`. Of ``"health"`` what was looked
        at is shown; ``run.figure`` looks at all values.
    fold_parameters : bool
        Draw parameters as a count on what reads them; a condensed graph always does.
    direction : str
        ``"down"`` or ``"right"``.
    focus : int, str or None
        Node (id or name) that is marked; a graph that does not fit is shown around it.
    hops : int or None
        Show only what is within so many edges of the focus.
    search : str
        Query; what it finds is marked, see :meth:`tvmdbg_widgets.DebugRun.select`.
    selected : sequence of int
        Nodes that are marked.
    isolate : mapping or None
        Part that alone is shown, as of ``GraphView``: ``{"kind": "upstream", "nodes": [12]}``.
    hidden : sequence of str
        Queries; the nodes they find are left out.
    color_limits : (float, float), optional
        Between which values the colors lie.
    label : str
        Template of the labels, as of ``GraphView``.
    open_groups : sequence of int, optional
        Numbers of the groups of ``run.groups`` that are drawn by what is inside, in a frame; the
        others are one box each. Where left out, only what is too large to be drawn is closed,
        since nobody can open a group in a figure.
    grouped : bool
        Draw groups at all.
    whole : bool
        Draw every box at a scale at which it can be read, however wide and high that makes the
        figure; where there are more than 2,000, groups are closed until there are not.
    camera : mapping or None
        Of a whole graph what is seen from there alone, as of ``GraphView``: ``{"node", "dx",
        "dy", "scale"}``, in a figure of ``width`` x ``height``.
    height : float
        px, of what a camera sees.
    width : float
        px.
    theme : str
        ``"light"``, ``"dark"`` or ``"auto"``.
    saved : bool
        Take no more than 40 KiB, as a saved notebook has room for.

    Raises
    ------
    ValueError
        A value that is none of these.
    KeyError, IndexError, TypeError
        Nodes that the graph does not have.
    """
    if not isinstance(color_by, str | NodeColumn) and run.graph is not None:
        color_by = node_column(run.graph, color_by)
    options = GraphOptions(
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
