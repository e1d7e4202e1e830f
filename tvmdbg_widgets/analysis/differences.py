"""Differences between matched nodes of two runs, unmatched nodes, and titles for both runs."""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import PurePath
from typing import NamedTuple

import numpy as np

from tvmdbg_widgets.analysis.matching import Matching
from tvmdbg_widgets.model.base.numbers import counted, duration_text, speed_text
from tvmdbg_widgets.model.base.text import listed, one_line
from tvmdbg_widgets.model.graph.graph import Graph, device_name, node_label
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import label
from tvmdbg_widgets.model.parts import RunParts
from tvmdbg_widgets.model.tensors.dtypes import canonical

#: Attributes that the signature repeats or that change with every build.
_NOT_COMPARED = frozenset({"func_name", "num_inputs", "num_outputs", "flatten_data", "T"})
#: Attributes whose values mean nothing by themselves: they repeat that something else differs.
OPAQUE = frozenset({"hash"})
_NODES_LISTED = 6  # most nodes listed per shared storage


class DifferenceKind(enum.IntEnum):
    """Kinds of differences, in display order."""

    ONLY_A = 0
    ONLY_B = 1
    FUSION = 2
    OPERATORS = 3
    WIRING = 4
    DTYPE = 5
    SHAPE = 6
    ATTRIBUTE = 7
    DEVICE = 8
    STORAGE = 9
    TIME = 10

    @property
    def label(self) -> str:
        """The kind in words."""
        return {self.ONLY_A: "only in A", self.ONLY_B: "only in B"}.get(self, self.name.lower())


class Difference(NamedTuple):
    """One difference of one pair of nodes, or one unmatched node.

    Attributes
    ----------
    kind : DifferenceKind
    a, b : int
        Node ids, -1 where there is none. Of a fused function the last part stands for all.
    what : str
        Output, operand or attribute; for times the ratio; empty where the kind says it.
    in_a, in_b : str
    """

    kind: DifferenceKind
    a: int
    b: int
    what: str
    in_a: str
    in_b: str


def differences(a: RunParts, b: RunParts, matching: Matching) -> Iterator[Difference]:
    """Yield unmatched nodes, then differences by pair in order of the nodes of `a`."""
    graph_a, graph_b = matching.graph_a, matching.graph_b
    yield from _unmatched_nodes(graph_a, matching.only_a.tolist(), DifferenceKind.ONLY_A)
    yield from _unmatched_nodes(graph_b, matching.only_b.tolist(), DifferenceKind.ONLY_B)
    pairs = value_pairs(matching)
    several = _fused_groups(matching)
    for one, other in pairs:
        many_a, many_b = several.get((one, other), ((one,), (other,)))
        found: list[Difference] = []
        if len(many_a) > 1 or len(many_b) > 1:
            calls = _calls(graph_a, many_a), _calls(graph_b, many_b)
            found.append(Difference(DifferenceKind.FUSION, one, other, "", *calls))
        else:
            found += _operators(graph_a, graph_b, one, other)
            found += _operand_differences(matching, one, other)
            found += _attributes(graph_a, graph_b, one, other)
        found += _entry_differences(graph_a, graph_b, one, other)
        telling = [each for each in found if not is_opaque(each)]
        yield from telling or found
    yield from _storage_differences(graph_a, graph_b, pairs)
    yield from _time_differences(a, b, pairs, several)


def _unmatched_nodes(graph: Graph, nodes: list[int], kind: DifferenceKind) -> Iterator[Difference]:
    for node in nodes:
        signature = _signature(graph, node)
        if kind is DifferenceKind.ONLY_A:
            yield Difference(kind, node, -1, "", signature, "")
        else:
            yield Difference(kind, -1, node, "", "", signature)


def is_opaque(difference: Difference) -> bool:
    """Return whether a difference says only that a hash is another one."""
    return difference.kind is DifferenceKind.ATTRIBUTE and difference.what in OPAQUE


def value_pairs(matching: Matching) -> list[tuple[int, int]]:
    """Return the pairs that compute the same value: of a fused function only its last part."""
    order_a, order_b = _places(matching.graph_a), _places(matching.graph_b)
    last_a: dict[int, int] = {}
    last_b: dict[int, int] = {}
    pairs = [(int(one), int(other)) for one, other in matching.pairs.tolist()]
    for one, other in pairs:
        if other not in last_a or order_a[last_a[other]] < order_a[one]:
            last_a[other] = one
        if one not in last_b or order_b[last_b[one]] < order_b[other]:
            last_b[one] = other
    return [(one, other) for one, other in pairs if last_b[one] == other and last_a[other] == one]


def _places(graph: Graph) -> list[int]:
    places = np.empty(graph.num_nodes, np.int64)
    places[graph.topological_order] = np.arange(graph.num_nodes)
    return places.tolist()


def _fused_groups(
    matching: Matching,
) -> dict[tuple[int, int], tuple[tuple[int, ...], tuple[int, ...]]]:
    of_a: dict[int, list[int]] = defaultdict(list)
    of_b: dict[int, list[int]] = defaultdict(list)
    for one, other in matching.pairs.tolist():
        of_a[one].append(other)
        of_b[other].append(one)
    fused = {one: others for one, others in of_a.items() if len(others) > 1}
    groups: dict[tuple[int, int], tuple[tuple[int, ...], tuple[int, ...]]] = {
        (one, other): ((one,), tuple(some)) for one, some in fused.items() for other in some
    }
    for other, ones in of_b.items():
        if len(ones) > 1:
            groups |= {(one, other): (tuple(ones), (other,)) for one in ones}
    return groups


def _operators(a: Graph, b: Graph, one: int, other: int) -> Iterator[Difference]:
    if a.nodes[one].parts != b.nodes[other].parts:
        names = label_of(a, one), label_of(b, other)
        if names[0] == names[1]:
            names = _call(a, one), _call(b, other)
        yield Difference(DifferenceKind.OPERATORS, one, other, "", *names)


def _operand_differences(matching: Matching, one: int, other: int) -> Iterator[Difference]:
    reads = _reads(matching.graph_a, one), _reads(matching.graph_b, other)
    for at, (from_a, from_b) in enumerate(zip_longest(*reads)):
        if from_a is not None and from_b is not None:
            if from_a[0] < 0 and from_b[0] < 0:
                continue
            same = from_a[0] >= 0 and from_b[0] in matching.b_of(from_a[0])
            if same and from_a[1] == from_b[1]:
                continue
        sources = _source(matching.graph_a, from_a), _source(matching.graph_b, from_b)
        yield Difference(DifferenceKind.WIRING, one, other, f"operand {at}", *sources)


def _reads(graph: Graph, node: int) -> list[tuple[int, int]]:
    edges = graph.in_edges(node)
    sources, outputs = graph.edge_source[edges], graph.edge_output[edges]
    return list(zip(sources.tolist(), outputs.tolist(), strict=True))


def _source(graph: Graph, entry: tuple[int, int] | None) -> str:
    if entry is None:
        return "nothing"
    if entry[0] < 0:
        return "unknown"
    output = f":{entry[1]}" if entry[1] else ""
    return f"#{entry[0]}{output} {label_of(graph, entry[0])}"


def _attributes(a: Graph, b: Graph, one: int, other: int) -> Iterator[Difference]:
    mine, theirs = a.attrs[one], b.attrs[other]
    if mine == theirs:
        return
    for name in sorted({*mine, *theirs} - _NOT_COMPARED):
        in_a, in_b = mine.get(name), theirs.get(name)
        if in_a == in_b:
            continue
        values = [
            "absent" if value is None else "differs" if name in OPAQUE else one_line(value)
            for value in (in_a, in_b)
        ]
        if values[0] != "differs" or values[1] != "differs":
            values = ["there" if value == "differs" else value for value in values]
        yield Difference(DifferenceKind.ATTRIBUTE, one, other, one_line(name), *values)


def _entry_differences(a: Graph, b: Graph, one: int, other: int) -> Iterator[Difference]:
    entries_a, entries_b = a.entry_range(one), b.entry_range(other)
    if len(entries_a) != len(entries_b):
        words = counted(len(entries_a), "output"), counted(len(entries_b), "output")
        yield Difference(DifferenceKind.SHAPE, one, other, "outputs", *words)
    for at in range(min(len(entries_a), len(entries_b))):
        what = f"output {at}" if len(entries_a) > 1 else ""
        dtypes = a.dtype(one, at) or "?", b.dtype(other, at) or "?"
        if canonical(dtypes[0]) != canonical(dtypes[1]):
            words = one_line(dtypes[0]), one_line(dtypes[1])
            yield Difference(DifferenceKind.DTYPE, one, other, what, *words)
        shapes = a.shape(one, at), b.shape(other, at)
        if shapes[0] != shapes[1]:
            words = _shape(shapes[0]), _shape(shapes[1])
            yield Difference(DifferenceKind.SHAPE, one, other, what, *words)
        if a.device_types is not None and b.device_types is not None:
            devices = int(a.device_types[entries_a[at]]), int(b.device_types[entries_b[at]])
            if devices[0] != devices[1]:
                words = device_name(devices[0]), device_name(devices[1])
                yield Difference(DifferenceKind.DEVICE, one, other, what, *words)


def _storage_differences(a: Graph, b: Graph, pairs: list[tuple[int, int]]) -> Iterator[Difference]:
    if a.storage_ids is None or b.storage_ids is None:
        return
    to_b: dict[int, int] = {}
    to_a: dict[int, int] = {}
    ids_a, ids_b = a.storage_ids.tolist(), b.storage_ids.tolist()
    differing = []
    for one, other in pairs:
        for entry_a, entry_b in zip(a.entry_range(one), b.entry_range(other), strict=False):
            id_a, id_b = ids_a[entry_a], ids_b[entry_b]
            if id_a < 0 or id_b < 0:
                continue
            if to_b.setdefault(id_a, id_b) != id_b or to_a.setdefault(id_b, id_a) != id_a:
                differing.append((one, other, id_a, id_b))
    if not differing:
        return
    sharing_a, sharing_b = _nodes_by_storage(a, ids_a), _nodes_by_storage(b, ids_b)
    for one, other, id_a, id_b in differing:
        words = _shared(id_a, sharing_a[id_a]), _shared(id_b, sharing_b[id_b])
        yield Difference(DifferenceKind.STORAGE, one, other, "storage_id", *words)


def _nodes_by_storage(graph: Graph, storage_ids: list[int]) -> dict[int, list[int]]:
    by_storage: dict[int, list[int]] = defaultdict(list)
    for node in range(graph.num_nodes):
        for storage_id in dict.fromkeys(storage_ids[entry] for entry in graph.entry_range(node)):
            by_storage[storage_id].append(node)
    return by_storage


def _shared(storage_id: int, nodes: list[int]) -> str:
    if len(nodes) == 1:
        return f"{storage_id} (of #{nodes[0]} alone)"
    ids = listed([f"#{node}" for node in nodes], most=_NODES_LISTED)
    return f"{storage_id} (shared by {ids})"


def _time_differences(
    a: RunParts,
    b: RunParts,
    pairs: list[tuple[int, int]],
    several: dict[tuple[int, int], tuple[tuple[int, ...], tuple[int, ...]]],
) -> Iterator[Difference]:
    if a.timeline is None or b.timeline is None or a.graph is None:
        return
    times_a, times_b = a.timeline.node_ns, b.timeline.node_ns
    differing = []
    for one, other in pairs:
        if a.graph.kinds[one] < NodeKind.OPERATOR:
            continue
        many_a, many_b = several.get((one, other), ((one,), (other,)))
        took = float(times_a[list(many_a)].sum()), float(times_b[list(many_b)].sum())
        if np.isfinite(took).all() and took[0] != took[1]:
            speed = speed_text(took[1] / took[0]) if took[0] > 0 else ""
            in_a = duration_text(took[0], a.timeline.rounding_ns)
            in_b = duration_text(took[1], b.timeline.rounding_ns)
            each = Difference(DifferenceKind.TIME, one, other, speed, in_a, in_b)
            differing.append((-abs(took[1] - took[0]), each))
    yield from (difference for _rank, difference in sorted(differing))


def label_of(graph: Graph, node: int) -> str:
    """Return a node's label without its id: ``"conv2d + add + relu"``, or its name."""
    return one_line(node_label(graph, node))


def _call(graph: Graph, node: int) -> str:
    return " + ".join(map(one_line, graph.nodes[node].parts)) or _kind(graph, node)


def _calls(graph: Graph, nodes: tuple[int, ...]) -> str:
    name = label_of(graph, nodes[0]) if len(nodes) == 1 else counted(len(nodes), "node")
    ids = ", ".join(f"#{node}" for node in nodes[:6]) + (" …" if len(nodes) > 6 else "")
    return name if len(nodes) == 1 else f"{name}: {ids}"


def _kind(graph: Graph, node: int) -> str:
    return NodeKind(int(graph.kinds[node])).name.lower()


def _signature(graph: Graph, node: int) -> str:
    outputs = ", ".join(
        f"{one_line(dtype or '?')}{_shape(shape)}"
        for dtype, shape in zip(graph.nodes[node].dtypes, graph.nodes[node].shapes, strict=True)
    )
    return (
        f"{label(graph.func_names[node], graph.module_prefixes) or _kind(graph, node)} -> {outputs}"
    )


def _shape(shape: tuple[int, ...] | None) -> str:
    return "?" if shape is None else str(list(shape))


def checked_titles(
    a: RunParts, b: RunParts, titles: Sequence[str] | None = None
) -> tuple[str, str]:
    """Return the given titles of two runs, or their own titles made distinct."""
    if titles is None:
        return _distinct_titles(a, b)
    pair = () if isinstance(titles, str) else tuple(titles)
    if len(pair) != 2 or "" in pair:
        raise ValueError(f"titles are two texts, one for each run, found {titles!r:.80}")
    return pair[0], pair[1]


def _distinct_titles(a: RunParts, b: RunParts) -> tuple[str, str]:
    if a.title != b.title:
        return a.title, b.title
    folders_a, folders_b = (_folder_names(parts) for parts in (a, b))
    for up in range(1, 1 + min(len(folders_a), len(folders_b))):
        if folders_a[-up] != folders_b[-up]:
            one, other = (folders[len(folders) - up :] for folders in (folders_a, folders_b))
            return "/".join(one), "/".join(other)
    return a.title, b.title


def _folder_names(parts: RunParts) -> tuple[str, ...]:
    for file in parts.files:
        path = getattr(file.source, "path", None)
        if isinstance(path, PurePath):
            below = len(PurePath(file.path).parts)
            return path.parts[1:-below]
    return ()
