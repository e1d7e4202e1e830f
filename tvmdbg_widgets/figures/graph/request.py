"""What the figure of a graph is made of; ``js/src/graph/figure/request.ts`` is its counterpart."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.analysis.graph.node_columns import KNOWN_COLUMNS, known_column
from tvmdbg_widgets.analysis.layouts.layouts import known_layouts
from tvmdbg_widgets.figures.few_names import has_many
from tvmdbg_widgets.figures.graph.options import GraphFigureOptions
from tvmdbg_widgets.figures.graph.part import part_of
from tvmdbg_widgets.figures.graph.search import search
from tvmdbg_widgets.figures.graph.stretches import stretches, stretches_text
from tvmdbg_widgets.figures.run_figure import RunFigure, note
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.node_columns import NodeColumn
from tvmdbg_widgets.model.graph.node_words import node_label
from tvmdbg_widgets.model.timeline.words import timeline_words

#: A figure that is asked for; one that a saved notebook carries.
MOST_BYTES, MOST_SAVED_BYTES = 400 * 1024, 40 * 1024
_MOST_BOXES, _MOST_SAVED_BOXES = 300, 120
_MOST_WHOLE_BOXES, _MOST_WHOLE_BYTES = 2_000, 16 * 1024 * 1024
#: What the views know of a graph by themselves.
_OWN = ("kind", "time", "health", "dtype", "device", "storage", "bytes")


def graph_request(
    run: Derived,
    options: GraphFigureOptions,
    *,
    most_bytes: int = MOST_BYTES,
    camera: Mapping[str, Any] | None = None,
    height: float = 420,
    condensed: bool = True,
) -> RunFigure:
    """Return what the figure of a graph is made of."""
    graph = run.graph
    if graph is None:
        return RunFigure.missing(run, "graph")
    if not graph.num_nodes:
        return RunFigure.missing(run, "graph", "The graph has no nodes.")
    wrong = [each for each in options.open_groups or () if not 0 <= each < len(run.groups)]
    if wrong:
        raise ValueError(f"no group {wrong[0]}: open_groups takes ids below {len(run.groups)}")
    focus, problem = _focus(graph, options.focus)
    part = part_of(run, graph, options, focus, lambda node: node_label(graph, node))
    hits, doubt = search(run, options.search)
    column = column_of(run, options.color_by)
    name = column.name if isinstance(column, NodeColumn) else column
    judged = name == "health"
    notes = [part.note, problem, _search_note(options.search, hits, doubt)]
    boxes = _MOST_BOXES if most_bytes > MOST_SAVED_BYTES else _MOST_SAVED_BOXES
    if options.whole:
        boxes, most_bytes = _MOST_WHOLE_BOXES, _MOST_WHOLE_BYTES
    if condensed and has_many(run) and part.only is None and not options.open_groups:
        marked = [*options.selected, *([] if focus is None else [focus])]
        notes.append(_without_effect(options, camera))
        return _condensed(run, graph, name, (marked, hits), [each for each in notes if each])
    wire, columns = _wire(column)
    data = {
        "text": f"{run.title}: {graph!r}",
        "part": part.note,
        "health": run.search.health().summary() if judged else "",
        "notes": [note(each, "muted", 6) for each in notes if each],
        "only": None if part.only is None else sorted(part.only),
        "bridges": [
            {"source": each.source, "target": each.target, "through": each.through}
            for each in part.bridges
        ],
        "focus": -1 if focus is None else focus,
        "selected": list(options.selected),
        "outlined": [],
        "hits": hits,
        "column": wire,
        "layouts": _layouts(run, graph) if "{layout}" in options.label else None,
        "most": {"boxes": boxes, "bytes": most_bytes},
        "whole": options.whole,
        "camera": camera and {"dx": 0.0, "dy": 0.0, "scale": 1.0} | dict(camera),
        "height": height,
    }
    traits = {
        "color_by": name,
        "color_limits": options.color_limits,
        "direction": options.direction,
        "fold_parameters": options.fold_parameters,
        "label": options.label,
        "open_groups": options.open_groups,
        "grouped": options.grouped,
    }
    questions = ["graph"]
    # Where the colors show the health of values, they say what is faulty.
    if judged or run.search.scan.state == "done":
        questions.append("health")
    description = {
        "view": "graph",
        "title": run.title,
        "color_by": name,
        "fold_parameters": options.fold_parameters,
        "direction": options.direction,
        "focus": focus,
        "hops": options.hops,
        "isolate": options.isolate,
        "hidden": list(options.hidden),
        "search": options.search,
        "hits": len(hits),
        "selected": list(options.selected),
    }
    return RunFigure(
        run, "graph", questions, data, traits, description=description, columns=columns
    )


def _condensed(
    run: Derived, graph: Graph, name: str, marked: tuple[list[int], list[int]], notes: list[str]
) -> RunFigure:
    """Return the figure of a graph whose nodes are too many for the engine."""
    timeline = run.timeline
    together = "" if timeline is None else timeline_words(timeline, graph=True).together
    said = stretches(graph, timeline, *marked, together)
    if name not in ("kind", "time"):
        notes = [*notes, f"Colors show kinds of operators, not {name}: the graph is condensed."]
    data = {**said, "by_time": name == "time", "text": stretches_text(run.title, said)}
    data["notes"] = [note(each, "muted", 6) for each in [*notes, said["note"]]]
    selected, hits = marked
    description = {
        "view": "graph",
        "title": run.title,
        "color_by": name,
        "hits": len(hits),
        "selected": selected,
    }
    return RunFigure(run, "stretches", (), data, description=description)


def _without_effect(options: GraphFigureOptions, camera: Mapping[str, Any] | None) -> str:
    """Return which options a condensed graph cannot follow, in a sentence; "" for none."""
    plain = GraphFigureOptions()
    names = ("label", "direction", "color_limits", "fold_parameters", "grouped", "whole")
    given = [each for each in names if getattr(options, each) != getattr(plain, each)]
    given += ["camera"] if camera is not None else []
    if not given:
        return ""
    return f"Without effect here, where each box stands for many operators: {', '.join(given)}."


def column_of(run: Derived, color_by: str | NodeColumn) -> str | NodeColumn:
    """Return what the colors show, as a name where a graph knows it of itself."""
    if isinstance(color_by, str) and color_by in KNOWN_COLUMNS and color_by not in _OWN:
        return known_column(run.parts, color_by)
    return color_by


def _wire(column: str | NodeColumn) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Return a column as a view is told it, and its rows."""
    if isinstance(column, str):
        return None, {}
    wire = column.to_wire()
    del wire["data"]
    columns = {"rows": column.rows.astype(np.float64 if column.values is not None else np.int32)}
    if wire.pop("terms", None) is not None and column.terms is not None:
        columns |= dict(zip(("divisor", "dividend"), column.terms, strict=True))
    return wire, columns


def _layouts(run: Derived, graph: Graph) -> list[str]:
    """Return the layout of what each node computes, as far as it is known."""
    found = []
    for node in range(graph.num_nodes):
        known = next(iter(known_layouts(run.parts, (node, 0))), None)
        likely = known is not None and known.certainty != "stated"
        found.append("" if known is None else known.layout.text + " (likely)" * likely)
    return found


def _search_note(query: str, hits: list[int], doubt: str) -> str:
    query = query.strip()
    if not query:
        return ""
    if doubt.startswith("“"):
        return f"The search {doubt}"
    verb = agree(len(hits), "matches")
    found = f"{counted(len(hits), 'node')} {verb} “{query}” (dashed ring)."
    return f"{found} {doubt[:1].upper()}{doubt[1:]}".rstrip()


def _focus(graph: Graph, focus: int | str | None) -> tuple[int | None, str]:
    """Return the node to mark, and what to say where there is none of that name."""
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
