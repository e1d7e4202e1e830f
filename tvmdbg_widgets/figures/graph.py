"""Options of the graph's figure, as ``js/src/graph/figure/sheet.ts`` reads them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from tvmdbg_widgets.analysis.compare_times import TimeComparison
from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.node_columns import COLOR_NAMES, ERROR, OWN_COLORS
from tvmdbg_widgets.analysis.opening import checked_query
from tvmdbg_widgets.answers.few_names import has_many
from tvmdbg_widgets.answers.node_columns import number_of
from tvmdbg_widgets.figures.engine import ToDraw
from tvmdbg_widgets.figures.options import GraphOptions, Redaction
from tvmdbg_widgets.model.base.options import drawn, naming
from tvmdbg_widgets.model.base.slips import one_of
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.node_columns import NodeColumn, fitting, node_column
from tvmdbg_widgets.model.refs import checked_isolation

#: SVG bytes of a requested figure, and of one in a saved notebook.
MOST_BYTES, MOST_SAVED_BYTES = 400 * 1024, 40 * 1024
_MOST_BOXES, _MOST_SAVED_BOXES = 300, 120
_MOST_WHOLE_BOXES, _MOST_WHOLE_BYTES = 2_000, 16 * 1024 * 1024
#: px of a figure that a debugger contains.
_HEIGHT = 420


def graph_to_draw(
    run: RunFacts, options: GraphOptions, *, saved: bool = False, redaction: Redaction | None = None
) -> ToDraw:
    """Return what the figure of a graph takes; a large graph is condensed to groups of nodes."""
    del redaction
    most = MOST_SAVED_BYTES if saved else MOST_BYTES
    given = graph_options(run, options, most_bytes=most)
    return ToDraw(given, lambda: f"{run.title}: {run.graph!r}")


def graph_options(
    run: RunFacts,
    options: GraphOptions,
    *,
    most_bytes: int = MOST_BYTES,
    complete: bool = False,
) -> dict[str, Any]:
    """Return checked options; ``complete`` asks for all nodes however many they are.

    The view asks for a column to color by, which the caller holds meanwhile.
    """
    graph, camera = run.graph, options.camera
    for group in () if graph is None else options.open_groups or ():
        if not 0 <= group < len(run.groups):
            raise ValueError(f"no group {group}: open_groups takes ids below {len(run.groups)}")
    focus, lost = (None, "") if graph is None else _focus(graph, options.focus)
    with naming("isolate"):
        isolation = None if graph is None else checked_isolation(graph, options.isolate)
    with naming("hidden"):
        hidden = [checked_query(query) for query in options.hidden]
    isolation = isolation and {name: part for name, part in isolation.items() if part is not None}
    color = options.color_by
    name = color.name if isinstance(color, NodeColumn) else one_of("color_by", color, COLOR_NAMES)
    boxes = _MOST_BOXES if most_bytes > MOST_SAVED_BYTES else _MOST_SAVED_BOXES
    if options.whole:
        boxes, most_bytes = _MOST_WHOLE_BOXES, _MOST_WHOLE_BYTES
    near = focus is not None and options.hops is not None
    is_part = isolation is not None or near or bool(options.hidden or options.open_groups)
    many = not complete and has_many(run) and not is_part
    return {
        **drawn(options, GraphOptions),
        "color_by": name,
        "color_number": number_of(run, color) if isinstance(color, NodeColumn) else None,
        "focus": focus,
        "lost": lost,
        "isolate": isolation,
        "hidden": hidden,
        "camera": camera and {"dx": 0.0, "dy": 0.0, "scale": 1.0} | dict(camera),
        "height": _HEIGHT if isinstance(options.height, str) else options.height,
        "most": {"boxes": boxes, "bytes": most_bytes},
        # The marks of faulty nodes come from health, too.
        "judged": graph is not None and (name == "health" or run.search.scan.state == "done"),
        "many": many,
    }


def colored(graph: Graph, color_by: Any) -> str | NodeColumn:
    """Return a name as it is, and a column or data as a column that fits the graph."""
    if isinstance(color_by, str):
        return color_by
    with naming("color_by"):
        return given_column(graph, color_by)


def given_column(graph: Graph, data: Any, **how: Any) -> NodeColumn:
    """Return a column or data as a column that fits the graph, by a name that views leave free."""
    if isinstance(data, TimeComparison):
        data = data.column_of(graph)
    is_column = isinstance(data, NodeColumn)
    if is_column:
        refuse_words(data.name, how)
    elif callable(data):
        how = {"name": getattr(data, "__name__", "values").strip("<>")} | how
        data = [data(node) for node in graph.nodes]
    column: NodeColumn = data if is_column else node_column(graph, data, **how)
    if column.name in (OWN_COLORS if is_column else (*COLOR_NAMES, ERROR)):
        raise ValueError(f"{column.name!r} is the name of a built-in column; choose another")
    return fitting(column, graph)


def refuse_words(name: str, how: dict[str, Any]) -> None:
    """Refuse words on a column that is complete, but for the range of its colors."""
    if words := ", ".join(word for word in how if word != "range"):
        raise TypeError(f"{name!r} takes no {words}")


def _focus(graph: Graph, focus: int | str | None) -> tuple[int | None, str]:
    """Return the node to mark, or a note that it does not exist."""
    if focus is None:
        return None, ""
    if isinstance(focus, str):
        rows = graph.nodes_named(focus)
        if rows:
            return rows[0].id, ""
        with suppress(KeyError):
            return graph.node(focus).id, ""
    elif 0 <= focus < graph.num_nodes:
        return int(focus), ""
    return None, f"The graph has no node {focus!r}."
