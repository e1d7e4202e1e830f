"""Data of the graph's figure; its counterpart is ``js/src/graph/figure/sheet.ts``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.analysis.layouts import known_layouts
from tvmdbg_widgets.analysis.node_columns import KNOWN_COLUMNS, known_column
from tvmdbg_widgets.analysis.query import QueryError
from tvmdbg_widgets.analysis.selection import select
from tvmdbg_widgets.answers.few_names import has_many
from tvmdbg_widgets.figures.run_figure import RunFigure, note
from tvmdbg_widgets.figures.shown_part import GraphFigureOptions, part_of
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import agree, counted, duration_text, time_share
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.graph.graph import Graph, node_label, node_labels, node_op_kinds
from tvmdbg_widgets.model.graph.node_columns import NodeColumn
from tvmdbg_widgets.model.graph.nodes import NodeKind, held_texts, roles_text
from tvmdbg_widgets.model.timeline.timeline import Timeline
from tvmdbg_widgets.model.timeline.words import timeline_words

#: SVG bytes of a requested figure, and of one in a saved notebook.
MOST_BYTES, MOST_SAVED_BYTES = 400 * 1024, 40 * 1024
_MOST_BOXES, _MOST_SAVED_BOXES = 300, 120
_MOST_WHOLE_BOXES, _MOST_WHOLE_BYTES = 2_000, 16 * 1024 * 1024
#: Columns that the view computes itself.
_OWN = ("kind", "time", "health", "dtype", "device", "storage", "bytes")


def graph_request(
    run: RunFacts,
    options: GraphFigureOptions,
    *,
    most_bytes: int = MOST_BYTES,
    camera: Mapping[str, Any] | None = None,
    height: float = 420,
    condensed: bool = True,
) -> RunFigure:
    """Return the data and options of a graph's figure."""
    graph = run.graph
    if graph is None:
        return RunFigure.missing(run, "graph")
    if not graph.num_nodes:
        return RunFigure.missing(run, "graph", "The graph has no nodes.")
    wrong = [group for group in options.open_groups or () if not 0 <= group < len(run.groups)]
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
        return _condensed(run, graph, name, (marked, hits), list(filter(None, notes)))
    wire, columns = _wire(column)
    data = {
        "text": f"{run.title}: {graph!r}",
        "part": part.note,
        "health": run.search.health().summary() if judged else "",
        "notes": [note(text, "muted", 6) for text in notes if text],
        "only": None if part.only is None else sorted(part.only),
        "bridges": [
            {"source": bridge.source, "target": bridge.target, "through": bridge.through}
            for bridge in part.bridges
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
    names = ("color_limits", "direction", "fold_parameters", "label", "open_groups", "grouped")
    traits = {"color_by": name, **{trait: getattr(options, trait) for trait in names}}
    questions = ["graph"]
    # The marks of faulty nodes come from this answer.
    if judged or run.search.scan.state == "done":
        questions.append("health")
    description = {
        "view": "graph",
        "title": run.title,
        "color_by": name,
        **{option: getattr(options, option) for option in ("fold_parameters", "direction")},
        "focus": focus,
        **{option: getattr(options, option) for option in ("hops", "isolate")},
        "hidden": list(options.hidden),
        "search": options.search,
        "hits": len(hits),
        "selected": list(options.selected),
    }
    return RunFigure(
        run, "graph", questions, data, traits, description=description, columns=columns
    )


def _condensed(
    run: RunFacts, graph: Graph, name: str, marked: tuple[list[int], list[int]], notes: list[str]
) -> RunFigure:
    """Return the figure of a graph with too many nodes for the engine."""
    timeline = run.timeline
    together = "" if timeline is None else timeline_words(timeline, graph=True).together
    groups = stretches(graph, timeline, *marked, together)
    if name not in ("kind", "time"):
        notes = [*notes, f"Colors show kinds of operators, not {name}: the graph is condensed."]
    data = {**groups, "by_time": name == "time", "text": stretches_text(run.title, groups)}
    data["notes"] = [note(text, "muted", 6) for text in [*notes, groups["note"]]]
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
    """Return a sentence on options that a condensed graph ignores, or ""."""
    plain = GraphFigureOptions()
    names = ("label", "direction", "color_limits", "fold_parameters", "grouped", "whole")
    given = [name for name in names if getattr(options, name) != getattr(plain, name)]
    given += ["camera"] if camera is not None else []
    if not given:
        return ""
    return f"Without effect here, where each box stands for many operators: {', '.join(given)}."


def column_of(run: RunFacts, color_by: str | NodeColumn) -> str | NodeColumn:
    """Return the color column; a name if the view computes it."""
    if isinstance(color_by, str) and color_by in KNOWN_COLUMNS and color_by not in _OWN:
        return known_column(run.parts, color_by)
    return color_by


def _wire(column: str | NodeColumn) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Return a column as JSON for the view, and its rows."""
    if isinstance(column, str):
        return None, {}
    wire = column.to_wire()
    del wire["data"]
    columns = {"rows": column.rows.astype(np.float64 if column.values is not None else np.int32)}
    if wire.pop("terms", None) is not None and column.terms is not None:
        columns |= dict(zip(("divisor", "dividend"), column.terms, strict=True))
    return wire, columns


def _layouts(run: RunFacts, graph: Graph) -> list[str]:
    """Return the layouts of the nodes' first outputs, "" if unknown."""
    layouts = []
    for node in range(graph.num_nodes):
        known = next(iter(known_layouts(run.parts, (node, 0))), None)
        likely = known is not None and known.certainty != "stated"
        layouts.append("" if known is None else known.layout.text + " (likely)" * likely)
    return layouts


def _search_note(query: str, hits: list[int], doubt: str) -> str:
    query = query.strip()
    if not query:
        return ""
    if doubt.startswith("“"):
        return f"The search {doubt}"
    verb = agree(len(hits), "matches")
    text = f"{counted(len(hits), 'node')} {verb} “{query}” (dashed ring)."
    return f"{text} {doubt[:1].upper()}{doubt[1:]}".rstrip()


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


def search(run: RunFacts, query: str) -> tuple[list[int], str]:
    """Return matching node ids, ascending, and a note.

    The note is the error of the query, or which compared values are unknown; else "".
    """
    if run.graph is None:
        return [], ""
    try:
        selection = select(run.queries, query)
    except QueryError as error:
        return [], f"“{query.strip()[:80]}”: {error.message}"
    except (RuntimeError, MemoryError) as error:  # of the engine
        return [], f"“{query.strip()[:80]}”: {one_line(str(error))}"
    return list(selection), "; ".join(selection.notes) + "." if selection.notes else ""


Ints = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.float64]

_STRETCHES = 24
#: Names in the title of a stretch.
_NAMED = 3


def stretches(
    graph: Graph,
    timeline: Timeline | None,
    selected: Sequence[int],
    hits: Sequence[int],
    together: str = "",
) -> dict[str, Any]:
    """Return sums over groups of consecutive operators, for ``stretches_figure.ts``."""
    runs = graph.kinds > NodeKind.PARAMETER
    order = graph.topological_order
    order = order[runs[order]]
    parts = [nodes for nodes in np.array_split(order, _STRETCHES) if len(nodes)]
    place = np.full(graph.num_nodes, -1, np.int32)
    for at, nodes in enumerate(parts):
        place[nodes] = at
    ns = np.full(graph.num_nodes, np.nan) if timeline is None else timeline.node_ns
    shares = ns if timeline is None else timeline.account.node_shares(graph.num_nodes)
    rounding = 0.0 if timeline is None else timeline.rounding_ns
    labels, kinds = node_labels(graph), node_op_kinds(graph)
    read_at = _read_at(graph, place)
    marked = [_by_part(read_at, nodes, len(parts)) for nodes in (selected, hits)]
    rows = []
    for at, nodes in enumerate(parts):
        known = ~np.isnan(ns[nodes])
        took = float(ns[nodes][known].sum()) if known.any() else math.nan
        named, of_kind = (_most(column, nodes, ns) for column in (labels, kinds))
        more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        rows.append(
            {
                "title": ", ".join(named[:_NAMED]) + more,
                "kind": of_kind[0],
                "nodes": len(nodes),
                "first": int(nodes.min()),
                "last": int(nodes.max()),
                "time_ns": None if math.isnan(took) else took,
                "time_text": _time(
                    took, float(np.nansum(shares[nodes])), int((~known).sum()), rounding
                ),
                "unknown": int((~known).sum()),
                "selected": int(marked[0][at]),
                "hits": int(marked[1][at]),
            }
        )
    total = math.nan
    summed = "no times known"
    if timeline is not None and not np.isnan(ns).all():
        total = timeline.account.whole_ns
        summed = f"{duration_text(total)} {together or 'summed over nodes'}"
    drawn = f"{counted(len(order), 'operator')} in {counted(len(rows), 'group')}"
    note = (
        f"Condensed: {drawn} of consecutive operators in execution order; times and shares are "
        "sums of single nodes. Lines are edges between groups, one for all of the same two."
    )
    note += _given_note(graph, read_at, np.union1d(_distinct(selected), _distinct(hits)))
    totals = ", ".join(held_texts(graph)), roles_text(graph), summed
    return {
        "totals": "; ".join(filter(None, totals)),
        "note": note,
        "stretches": rows,
        "edges": _edges(graph, place, len(parts)),
        "legend": _legend(kinds, ns, timeline),
        "total_ns": None if math.isnan(total) else total,
    }


def stretches_text(title: str, groups: Mapping[str, Any]) -> str:
    """Return the groups as text, one line per group."""
    lines = [f"{title}: {groups['totals']}", groups["note"]]
    for row in groups["stretches"]:
        nodes = f"{counted(row['nodes'], 'node')} #{row['first']} … #{row['last']}"
        lines.append("  " + "; ".join([nodes, row["title"], row["time_text"], *_marks(row)]))
    return "\n".join(lines)


def _marks(row: Mapping[str, Any]) -> list[str]:
    counts = [(row["selected"], "selected"), (row["hits"], "found")]
    return [f"{count:,} {what}" for count, what in counts if count]


def _read_at(graph: Graph, place: Ints) -> Ints:
    """Return the groups of nodes; inputs and parameters count to their first reader, else -1."""
    nowhere = np.iinfo(place.dtype).max
    first = np.full(graph.num_nodes, nowhere, place.dtype)
    known = (graph.edge_source >= 0) & (place[graph.edge_target] >= 0)
    np.minimum.at(first, graph.edge_source[known], place[graph.edge_target[known]])
    first[first == nowhere] = -1
    return np.where(place >= 0, place, first)


def _given_note(graph: Graph, read_at: Ints, marked: Ints) -> str:
    """Return a sentence on where marked inputs and parameters count, or ""."""
    given = marked[graph.kinds[marked] <= NodeKind.PARAMETER]
    unread = int((read_at[given] < 0).sum())
    lost = f"; {counted(unread, 'marked one')} that none reads in no group" if unread else ""
    text = f" Marked inputs and parameters count to the group that reads them first{lost}."
    return text if len(given) else ""


def _distinct(nodes: Sequence[int]) -> Ints:
    return np.unique(np.asarray(nodes, np.int64))


def _by_part(read_at: Ints, nodes: Sequence[int], count: int) -> Ints:
    at = read_at[_distinct(nodes)]
    return np.bincount(at[at >= 0], minlength=count)


def _most(column: StringColumn, nodes: Ints, ns: Floats) -> list[str]:
    """Return the distinct words of nodes: longest time first, then most frequent."""
    codes, at, counts = np.unique(column.codes[nodes], return_inverse=True, return_counts=True)
    took = np.bincount(at, np.nan_to_num(ns[nodes]), len(codes))
    return [column.unique[code] for code in codes[np.lexsort((codes, -counts, -took))].tolist()]


def _time(ns: float, share: float, unknown: int, rounding_ns: float) -> str:
    if math.isnan(ns):
        return "time unknown"
    text = time_share(ns, share, between=" · ") if ns > 0 else duration_text(0, rounding_ns)
    return f"{text} + {unknown:,} unknown" if unknown else text


def _edges(graph: Graph, place: Ints, count: int) -> list[list[int]]:
    """Return [source, target, count] of edges between groups."""
    known = graph.edge_source >= 0
    source, target = place[graph.edge_source[known]], place[graph.edge_target[known]]
    between = (source >= 0) & (target >= 0) & (source != target)
    pairs, counts = np.unique(
        source[between].astype(np.int64) * count + target[between], return_counts=True
    )
    return [
        [pair // count, pair % count, edges]
        for pair, edges in zip(pairs.tolist(), counts.tolist(), strict=True)
    ]


def _legend(kinds: StringColumn, ns: Floats, timeline: Timeline | None) -> list[dict[str, Any]]:
    """Return op kinds with node counts and times, longest first."""
    nodes = np.bincount(kinds.codes, minlength=len(kinds.unique)).tolist()
    took = np.bincount(kinds.codes, np.nan_to_num(ns), len(kinds.unique)).tolist()
    sums = {
        kind: {"kind": kind, "nodes": count, "time_ns": time}
        for kind, count, time in zip(kinds.unique, nodes, took, strict=True)
        if count
    }
    if timeline is not None and timeline.shared is not None:
        for kind, time in zip(timeline.shared.kinds, timeline.shared.own_ns, strict=True):
            if time > 0:
                row = sums.setdefault(kind, {"kind": kind, "nodes": 0, "time_ns": 0.0})
                row["time_ns"] += float(time)
    return sorted(sums.values(), key=lambda row: (-row["time_ns"], -row["nodes"]))
