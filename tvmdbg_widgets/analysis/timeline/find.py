"""Which slices a search finds, by their names and those of their nodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.query.masks import Fits, fitting
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.node_words import node_labels, node_op_kinds
from tvmdbg_widgets.model.timeline.timeline import Timeline

Flags = npt.NDArray[np.bool_]

#: A word, or several in quotes.
_WORD = re.compile(r'"([^"]+)"?|[^\s"]+')
_NODE = re.compile(r"(#?)([0-9]{1,9})", re.ASCII)
#: Texts that are looked at between two moments at which an answer may be called off.
_BLOCK = 20_000


@dataclass(frozen=True, eq=False)
class Hits:
    """The slices that a search finds."""

    numbers: npt.NDArray[np.int64]
    self_ns: float


def matching(
    graph: Graph | None,
    timeline: Timeline,
    text: str,
    *,
    regex: bool = False,
    watch: Callable[[], None] = lambda: None,
) -> Hits:
    """Find the slices whose names hold all words: their own, or label, name, function or op kind.

    Words in quotes are sought as they stand there. ``#12`` finds the slices of node 12; ``12``
    finds them, too. Upper and lower case are alike.
    """
    rows = timeline.rows
    if not text:
        return Hits(np.zeros(0, np.int64), 0.0)
    node = None if regex else _NODE.fullmatch(text)
    found = np.zeros(timeline.num_slices, np.bool_)
    if node is None or not node[1]:
        sought = _sought(text, regex=regex)
        found[:] = bool(sought)
        for has in sought:
            found &= _that(graph, timeline, has, watch)
    if node is not None:
        found |= timeline.slice_node == int(node[2])
    watch()
    numbers = np.flatnonzero(found[rows.order])
    return Hits(numbers, float(rows.self_ns[rows.order[numbers]].sum()))


def _sought(text: str, *, regex: bool) -> list[Fits]:
    """Return what tells of each word which texts have it."""
    if regex:
        return [fitting("regex", text)]
    return [fitting("has", each[1] or each[0]) for each in _WORD.finditer(text.lower())]


def _that(
    graph: Graph | None,
    timeline: Timeline,
    has: Fits,
    watch: Callable[[], None],
) -> Flags:
    """Return which slices have a word in one of their names (bool [slices])."""
    names = timeline.slice_names.unique
    short = [timeline.slice_labels[name] for name in names]
    fits = _searched(names, has, watch) | _searched(short, has, watch)
    found: Flags = fits[timeline.slice_names.codes]
    if graph is not None:
        of_node = np.zeros(timeline.num_nodes + 1, np.bool_)
        for column in (node_labels(graph), graph.names, graph.func_names, node_op_kinds(graph)):
            of_node[: graph.num_nodes] |= _searched(column.unique, has, watch)[column.codes]
        found |= of_node[timeline.slice_node]
    return found


def _searched(texts: Sequence[str], has: Fits, watch: Callable[[], None]) -> Flags:
    found = np.zeros(len(texts), np.bool_)
    for first in range(0, len(texts), _BLOCK):
        watch()
        block = texts[first : first + _BLOCK]
        found[first : first + len(block)] = has([each.lower() for each in block])
    return found
