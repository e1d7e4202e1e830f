"""Which entry each stored array belongs to, and how sure that is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tvmdbg_widgets.model.base.issues import Issue, IssueSeverity
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord

_SHOWN = 20


class KeyedArray(NamedTuple):
    """An array and what its key in the file says of it; ``node`` is None where the key has none."""

    record: ArrayRecord
    name: str
    node: int | None
    output: int


class Placed(NamedTuple):
    """An array, the entry it was given, and how far that is trusted."""

    array: KeyedArray
    node: int
    output: int
    trust: Trust
    notes: tuple[str, ...] = ()

    @property
    def entry(self) -> tuple[int, int]:
        """``(node, output)``."""
        return self.node, self.output


def place(
    graph: Graph | None, arrays: Sequence[KeyedArray], file: str
) -> tuple[list[Placed], list[Issue]]:
    """Give every array its entry, by the rule of the keys' style.

    Keys with a topo-index say the entry (TVM v0.9 to v0.19). Older files are written in node
    order: if every key names its node they are placed by order, else by name. In v0.8 a later
    node of the same name overwrote an earlier one, so the array left is the last one's.
    """
    if graph is None:
        return _without_graph(arrays), []
    if all(array.node is not None for array in arrays):
        return _by_index(graph, arrays, file)
    entries = [(i, k) for i in range(graph.num_nodes) for k in range(len(graph.entry_range(i)))]
    in_order = [(graph.names[node], output) for node, output in entries]
    if in_order[: len(arrays)] == [(array.name, array.output) for array in arrays]:
        placed = [
            Placed(array, *entry, Trust.BY_ORDER)
            for array, entry in zip(arrays, entries, strict=False)
        ]
        return placed, []
    return _by_name(graph, arrays, file)


def _without_graph(arrays: Sequence[KeyedArray]) -> list[Placed]:
    if all(array.node is not None for array in arrays):
        return [Placed(a, a.node or 0, a.output, Trust.EXACT) for a in arrays]
    ids: dict[str, int] = {}
    return [Placed(a, ids.setdefault(a.name, len(ids)), a.output, Trust.BY_ORDER) for a in arrays]


def _by_index(
    graph: Graph, arrays: Sequence[KeyedArray], file: str
) -> tuple[list[Placed], list[Issue]]:
    placed, outside, renamed = [], [], []
    names, widths = list(graph.names), np.diff(graph.entry_offsets).tolist()
    for array in arrays:
        node = array.node if array.node is not None else -1
        if not 0 <= node < len(names) or array.output >= widths[node]:
            outside.append(array)
            continue
        same = names[node] == array.name
        if not same:
            renamed.append(array)
        notes = () if same else (f"its key names {array.name!r}, node {node} is {names[node]!r}",)
        placed.append(
            Placed(array, node, array.output, Trust.EXACT if same else Trust.AMBIGUOUS, notes)
        )
    issues = []
    if outside:
        first = outside[0]
        issues.append(
            Issue(
                "tensor-outside-graph",
                IssueSeverity.ERROR,
                f"{counted(len(outside), 'tensor')} {agree(len(outside), 'belongs')} to no entry "
                f"of the graph{agree(len(outside), ':', ', the first is')} {first.record.key!r}; "
                "the graph has "
                f"{counted(graph.num_nodes, 'node')}. The dump may be of another graph",
                file=file,
            )
        )
    if renamed:
        first = renamed[0]
        issues.append(
            Issue(
                "tensor-names",
                IssueSeverity.ERROR,
                f"{counted(len(renamed), 'tensor')} {agree(len(renamed), 'names')} another node "
                f"than the graph has at {agree(len(renamed), 'its')} index: "
                f"{first.name!r} at node {first.node}, which is {graph.names[first.node or 0]!r}. "
                "The dump may be of another graph or of an older run",
                nodes=tuple(array.node or 0 for array in renamed[:_SHOWN]),
                file=file,
            )
        )
    return placed, issues


def _by_name(
    graph: Graph, arrays: Sequence[KeyedArray], file: str
) -> tuple[list[Placed], list[Issue]]:
    owners: dict[tuple[str, int], list[int]] = defaultdict(list)
    for node, name in enumerate(graph.names):
        for output in range(len(graph.entry_range(node))):
            owners[name, output].append(node)
    alike: dict[tuple[str, int], list[KeyedArray]] = defaultdict(list)
    for array in arrays:
        alike[array.name, array.output].append(array)
    placed, unknown, surplus = [], [], []
    lost: set[int] = set()
    for key, group in alike.items():
        nodes = owners.get(key)
        if not nodes:
            unknown.extend(group)
            continue
        surplus.extend(group[: -len(nodes)])
        if len(group) < len(nodes):
            lost.update(nodes[: -len(group)])
        placed += _namesakes(group[max(0, len(group) - len(nodes)) :], nodes)
    issues = []
    if unknown:
        issues.append(
            Issue(
                "tensor-names",
                IssueSeverity.ERROR,
                f"{counted(len(unknown), 'tensor')} {agree(len(unknown), 'names')} no node of the "
                f"graph{agree(len(unknown), ':', ', the first is')} {unknown[0].record.key!r}. "
                "The dump may be of another graph",
                file=file,
            )
        )
    if surplus:
        issues.append(
            Issue(
                "tensor-repeated",
                IssueSeverity.WARNING,
                f"{counted(len(surplus), 'tensor')} of a name that fewer nodes of the graph "
                f"have{agree(len(surplus), ':', ', the first is')} {surplus[0].record.key!r}; the "
                "last of each name are shown",
                file=file,
            )
        )
    if lost:
        issues.append(
            Issue(
                "tensor-overwritten",
                IssueSeverity.WARNING,
                f"the tensors of {counted(len(lost), 'node')} {agree(len(lost), 'is')} lost: a "
                "later node has the same name, and TVM v0.8 writes one tensor a name",
                nodes=tuple(sorted(lost)),
                file=file,
            )
        )
    return placed, issues


def _namesakes(group: list[KeyedArray], nodes: list[int]) -> list[Placed]:
    """Place arrays of one key at the last nodes of that name, in their order."""
    if len(nodes) == 1:
        return [Placed(group[0], nodes[0], group[0].output, Trust.BY_NAME)]
    what = f"{counted(len(nodes), 'node')} are named {group[0].name!r}"
    trust = Trust.BY_ORDER
    note = f"{what}; they are told apart by their order"
    if len(group) < len(nodes):
        trust = Trust.BY_NAME if len(group) == 1 else Trust.AMBIGUOUS
        note = (
            f"{what}; TVM v0.8 keeps only the last one's tensor, so this is taken to be node "
            f"{nodes[-1]}'s"
            if len(group) == 1
            else f"{what} and {counted(len(group), 'tensor')}; they are taken to be the last ones'"
        )
    placed = zip(group, nodes[len(nodes) - len(group) :], strict=True)
    return [Placed(array, node, array.output, trust, (note,)) for array, node in placed]
