"""Small graphs for tests of groups: written by hand, and drawn at random."""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import networkx as nx
from hypothesis import strategies as st

from tests.graph_json import document, null, operator
from tvmdbg_widgets.formats.tvm.graph.graph_json import read_graph
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.groups import Group, Groups, GroupSource
from tvmdbg_widgets.sources.byte_source import BytesSource

Entry = tuple[int, int]


@dataclass
class Draft:
    """A graph to be: nodes with their function (None for inputs and parameters) and operands."""

    nodes: list[tuple[str | None, tuple[Entry, ...], tuple[int, ...], int]] = field(
        default_factory=list
    )
    attrs: dict[int, dict[str, str]] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)

    def null(self, *shape: int) -> Entry:
        self.nodes.append((None, (), shape, 1))
        return len(self.nodes) - 1, 0

    def op(
        self, func: str, *inputs: Entry, shape: tuple[int, ...] = (1, 8), outputs: int = 1
    ) -> Entry:
        self.nodes.append((func, inputs, shape, outputs))
        return len(self.nodes) - 1, 0

    def conv(self, x: Entry, shape: tuple[int, ...] = (1, 8)) -> Entry:
        """Add a convolution with a weight of its own."""
        return self.op("fused_nn_conv2d_add", x, self.null(8, 8, 3, 3), shape=shape)

    def residual(self, x: Entry) -> Entry:
        """Add conv → relu → conv → add of `x` → relu."""
        y = self.op("fused_nn_relu", self.conv(x))
        return self.op("fused_nn_relu", self.op("fused_add", self.conv(y), x))

    def graph(self, chance: random.Random | None = None) -> Graph:
        """Return the graph; by `chance` with random names and in another order of its nodes."""
        return read_graph(BytesSource(self.json(chance).encode(), "graph.json"))

    def json(self, chance: random.Random | None = None) -> str:
        ids = list(range(len(self.nodes)))
        if chance is not None:
            ids = self._other_order(chance)
        place = {node: at for at, node in enumerate(ids)}
        read = {source for _, inputs, _, _ in self.nodes for source, _ in inputs}
        heads = [
            [place[node], 0, 0]
            for node, (func, *_) in enumerate(self.nodes)
            if func is not None and node not in read
        ]
        written: list[dict[str, Any]] = []
        shapes: list[list[int]] = []
        for node in ids:
            func, inputs, shape, outputs = self.nodes[node]
            name = self.names.get(node, f"{'p' if func is None else 'op_'}{node}")
            if chance is not None:
                name = f"{chance.getrandbits(64):016x}"
            reads = [[place[source], output, 0] for source, output in inputs]
            attrs = self.attrs.get(node, {})
            written.append(
                null(name) if func is None else operator(name, func, reads, outputs, **attrs)
            )
            shapes += [list(shape)] * outputs
        return json.dumps(document(written, shapes=shapes) | {"heads": heads})

    def _other_order(self, chance: random.Random) -> list[int]:
        """Return the nodes in another order, producers first."""
        waiting = {node: {source for source, _ in each[1]} for node, each in enumerate(self.nodes)}
        found: list[int] = []
        while waiting:
            ready = [node for node, before in waiting.items() if not before & waiting.keys()]
            found.append(chance.choice(ready))
            del waiting[found[-1]]
        return found


@st.composite
def random_drafts(draw: st.DrawFn, most: int = 40) -> Draft:
    """Any graph: few kinds of operators, operands from anywhere before."""
    draft = Draft()
    entries = [draft.null(1, 8) for _ in range(draw(st.integers(1, 3)))]
    for _ in range(draw(st.integers(0, most))):
        func = draw(st.sampled_from(["fused_add", "fused_nn_relu", "fused_nn_conv2d", "__nop"]))
        inputs = [entries[-1 - draw(st.integers(0, min(5, len(entries) - 1)))]]
        if draw(st.booleans()):
            inputs.append(draw(st.sampled_from(entries)))
        if draw(st.integers(0, 3)) == 0:
            inputs.append(draft.null(8, 8))
        entries.append(draft.op(func, *inputs))
    return draft


@st.composite
def networks(draw: st.DrawFn) -> Draft:
    """Stages of equal random blocks, in a row or side by side, some blocks with runs inside.

    Now and then a weight is shared, and the first block reads the input itself.
    """
    draft = Draft()
    x, mask, tied = (draft.null(1, 8) for _ in range(3))
    if draw(st.booleans()):
        x = draft.op("fused_stem", x)
    if draw(st.booleans()):
        mask = draft.op("fused_mask", mask)
    ties = draw(st.sets(st.integers(0, 30), max_size=4))
    for stage in range(draw(st.integers(1, 3))):
        template = draw(_templates(depth=1))
        stamp = Stamp(draft, mask, tied, ties)
        count = draw(st.integers(1, 5))
        if draw(st.booleans()):
            for _ in range(count):
                x = stamp.put(template, x)
        else:
            x = draft.op("fused_concatenate", *[stamp.put(template, x) for _ in range(count)])
        x = draft.op(f"fused_enter_{chr(97 + stage)}", x, draft.null(8))
    return draft


Template = list[tuple[str, list[int], bool, "tuple[int, Template] | None"]]


@st.composite
def _templates(draw: st.DrawFn, depth: int) -> Template:
    """Operators that read what is before them: 0 is what comes in, -1 what all blocks read."""
    found: Template = []
    for at in range(draw(st.integers(1, 6))):
        func = draw(
            st.sampled_from(["fused_add", "fused_nn_relu", "fused_nn_conv2d", "fused_take"])
        )
        inputs = [draw(st.integers(max(0, at - 2), at))]
        if draw(st.booleans()):
            inputs.append(draw(st.integers(-1, at)))
        inner = None
        if depth and draw(st.integers(0, 3)) == 0:
            inner = draw(st.integers(2, 4)), draw(_templates(depth=depth - 1))
        found.append((func, inputs, draw(st.booleans()), inner))
    return found


@dataclass
class Stamp:
    """Adds copies of a template; the weights of some numbers are one and the same."""

    draft: Draft
    mask: Entry
    tied: Entry
    ties: set[int]
    weights: int = 0

    def put(self, template: Template, x: Entry) -> Entry:
        """Add a copy that reads `x`; return what comes out."""
        values = [x]
        for func, inputs, weight, inner in template:
            read = [self.mask if each < 0 else values[each] for each in inputs]
            if weight:
                self.weights += 1
                read.append(self.tied if self.weights in self.ties else self.draft.null(1, 8))
            y = self.draft.op(func, *read)
            if inner:
                count, within = inner
                for _ in range(count):
                    y = self.put(within, y)
            values.append(y)
        return values[-1]


def require_sound(graph: Graph, groups: Groups, closed: Sequence[bool]) -> None:
    """Fail where groups do not nest, the order is none, or closing some makes a cycle."""
    assert sorted(groups.order.tolist()) == list(range(graph.num_nodes))
    place = {node: at for at, node in enumerate(groups.order.tolist())}
    cyclic = {node for cycle in graph.order.cycles for node in cycle}
    behind = cyclic | graph.descendants(cyclic, include_ambiguous=True)
    for source, target in zip(graph.edge_source.tolist(), graph.edge_target.tolist(), strict=True):
        assert source < 0 or target in behind or place[source] < place[target]
    for group in groups:
        nodes = set(group.nodes.tolist())
        assert len(nodes) == len(group) >= 2
        assert not nodes & behind
        if group.parent is not None:
            assert nodes <= set(group.parent.nodes.tolist())
            assert group.parent.id < group.id
        for one, other in combinations(group.children, 2):
            assert not set(one.nodes.tolist()) & set(other.nodes.tolist())
        if group.source is GroupSource.REPEAT and group.children:
            assert len(group.children) == group.repeats
            assert {child.source for child in group.children} == {GroupSource.BLOCK}
            assert len({child.groups.alike[child.id] for child in group.children}) == 1
            assert sum(map(len, group.children)) <= len(group)
    _require_acyclic(graph, groups, closed, behind)


def _require_acyclic(
    graph: Graph, groups: Groups, closed: Sequence[bool], behind: frozenset[int] | set[int]
) -> None:
    """Draw the outermost of the closed groups as one box each."""
    box = {node: node for node in range(graph.num_nodes)}
    for group in reversed(groups):
        if closed and closed[group.id % len(closed)]:
            box.update(dict.fromkeys(group.nodes.tolist(), graph.num_nodes + group.id))
    drawn = nx.DiGraph()
    for source, target in zip(graph.edge_source.tolist(), graph.edge_target.tolist(), strict=True):
        if source >= 0 and not {source, target} & behind and box[source] != box[target]:
            drawn.add_edge(box[source], box[target])
    assert nx.is_directed_acyclic_graph(drawn)


def isomorphic(graph: Graph, one: Group, other: Group) -> bool:
    """Return whether two groups have the same structure, by trying (algorithm VF2)."""
    drawn = _drawn(graph, one), _drawn(graph, other)
    for each in drawn:
        _tell_apart(each)
    return bool(
        nx.is_isomorphic(
            *drawn,
            node_match=lambda a, b: a["is"] == b["is"],
            edge_match=lambda a, b: (
                {tuple(sorted(each.items())) for each in a.values()}
                == {tuple(sorted(each.items())) for each in b.values()}
            ),
        )
    )


def _tell_apart(drawn: nx.MultiDiGraph) -> None:
    """Say of each node what is around it: many alike would be tried in any order."""
    for _ in drawn:
        before = {each["is"] for _, each in drawn.nodes(data=True)}
        around: dict[Any, list[Any]] = {node: [] for node in drawn}
        for source, target, edge in drawn.edges(data=True):
            said = tuple(sorted(edge.items()))
            around[source].append((1, said, hash(drawn.nodes[target]["is"])))
            around[target].append((0, said, hash(drawn.nodes[source]["is"])))
        told = {
            node: hash((drawn.nodes[node]["is"], tuple(sorted(around[node])))) for node in drawn
        }
        nx.set_node_attributes(drawn, told, "is")
        if len(set(told.values())) == len(before):
            break


def _drawn(graph: Graph, group: Group) -> nx.MultiDiGraph:
    """Return a group with what it reads from outside as nameless nodes, one for each entry."""
    found = nx.MultiDiGraph()
    inside = set(group.nodes.tolist())
    for id_ in inside:
        node = graph.nodes[id_]
        attrs = {key: text for key, text in node.attrs.items() if key != "func_name"}
        found.add_node(
            id_, **{"is": (node.parts, node.shapes, node.dtypes, tuple(sorted(attrs.items())))}
        )
        for position, (source, output) in enumerate(node.inputs):
            if source in inside:
                found.add_edge(source, id_, position=position, output=output)
            else:
                found.add_node(("outside", source, output), **{"is": None})
                found.add_edge(("outside", source, output), id_, position=position, output=-1)
    return found
