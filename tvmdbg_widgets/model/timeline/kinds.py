"""Op kinds of slices by name: its own, else that of the operators that such slices run for."""

from __future__ import annotations

import re
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.node_words import node_op_kinds
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import op_kind
from tvmdbg_widgets.model.timeline.timeline import Timeline

Ints = npt.NDArray[np.int64]

#: What a list of times alone calls its nodes: hundreds of thousands of names that tell nothing.
_NUMBERED = re.compile(r"node \d+")
_OTHER = "other"
_UNKNOWN = 0


_known: WeakKeyDictionary[Timeline, tuple[Graph | None, list[str]]] = WeakKeyDictionary()


def name_kinds(timeline: Timeline, graph: Graph | None) -> list[str]:
    """Return the op kind of each distinct name of the slices.

    A name that tells no operator, such as that of a kernel, has the kind of the operator that its
    slices lie in, or that an arrow leads to them from. It stays ``"other"`` where that is known of
    less than half of them, or where they run for operators of several kinds.
    """
    known = _known.get(timeline)
    if known is None or known[0] is not graph:
        known = _known[timeline] = (graph, _name_kinds(timeline, graph))
    return known[1].copy()


def _name_kinds(timeline: Timeline, graph: Graph | None) -> list[str]:
    found = [
        _OTHER if _NUMBERED.fullmatch(name) else op_kind(name, NodeKind.OPERATOR)
        for name in timeline.slice_names.unique
    ]
    table = {_OTHER: _UNKNOWN}
    codes = timeline.slice_names.codes.astype(np.int64)
    kinds = np.array([table.setdefault(kind, len(table)) for kind in found], np.int64)[codes]
    if graph is not None and graph.num_nodes:
        of_node = node_op_kinds(graph)
        node = timeline.slice_node
        known = (node >= 0) & (node < graph.num_nodes)
        own = np.array([table.setdefault(kind, len(table)) for kind in of_node.unique], np.int64)
        kinds = np.where(known, own[of_node.codes[np.where(known, node, 0)]], kinds)
    if not kinds.any() or _OTHER not in found:
        return found
    return _agreed(found, codes, _inherited(kinds, timeline), list(table))


def _inherited(kinds: Ints, timeline: Timeline) -> Ints:
    """Return the kind of each slice: its own, else of what is around it, else of what led to it."""
    parent = timeline.rows.parent.astype(np.int64)
    found = _of_outer(kinds, parent)
    flows = timeline.flows
    if not len(flows):
        return found
    led = found[flows.flow_from]
    kept = np.flatnonzero((found[flows.flow_to] == _UNKNOWN) & (led != _UNKNOWN))[::-1]
    found[flows.flow_to[kept]] = led[kept]
    return _of_outer(found, parent)


def _of_outer(kinds: Ints, parent: Ints) -> Ints:
    """Give each slice of no kind that of the nearest around it that has one."""
    found, outer = kinds.copy(), parent.copy()
    while len(open_ := np.flatnonzero((found == _UNKNOWN) & (outer >= 0))):
        around = outer[open_]
        found[open_], outer[open_] = found[around], outer[around]
    return found


def _agreed(found: list[str], codes: Ints, kinds: Ints, words: list[str]) -> list[str]:
    """Return the kinds of names, those of no kind as most of their slices say with one voice."""
    size = len(found)
    count = np.bincount(codes, minlength=size)
    known = kinds != _UNKNOWN
    told = np.bincount(codes[known], minlength=size)
    least, most = np.full(size, len(words)), np.zeros(size, np.int64)
    np.minimum.at(least, codes[known], kinds[known])
    np.maximum.at(most, codes[known], kinds[known])
    one = (least == most) & (2 * told >= count)
    return [
        words[kind] if each == _OTHER and sure else each
        for each, kind, sure in zip(found, least.tolist(), one.tolist(), strict=True)
    ]
