"""Graphs for the tests, and a plain walk over their JSON that shares no code with the reader."""

import copy
import json
from typing import Any

import numpy as np

from tests.graph_json import document, null, operator
from tvmdbg_widgets.formats.tvm.graph.graph_json import read_graph
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.graph.graph import Graph, NodeKind
from tvmdbg_widgets.sources.byte_source import BytesSource


def read(content: Any, raw: Graph | None = None) -> Graph:
    """Read bytes, text, or an object to be written as JSON."""
    if isinstance(content, str):
        content = content.encode()
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return read_graph(BytesSource(data, "graph.json"), raw)


_VALID = document(
    [
        null("x"),
        null("p0"),
        operator("split", "fused_split", [0], 2),
        operator("add", "fused_add", [[2, 1, 0], 1]),
        operator("reshape_nop", "__nop", [3]),
    ],
    heads=[4, 2],
    shapes=[[4, 3], [2, 3], [2, 3], [2, 3], [2, 3], [6]],
    storage=[0, 1, 2, 3, 4, 4],
)
_VALID["attrs"]["device_index"] = ["list_int", [1] * 6]


def valid() -> dict[str, Any]:
    """Return a graph that breaks no rule: two null nodes, a split, an add, a __nop."""
    return copy.deepcopy(_VALID)


def mutate(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the graph as the debugger of v0.12 to v0.19 dumps it."""
    dump = copy.deepcopy(raw)
    for nid, node in enumerate(dump["nodes"]):
        entry = raw["node_row_ptr"][nid]
        kind = {"T": f"type: {raw['attrs']['dltype'][1][entry]}"}
        if node["op"] == "null":
            node["op"], node["attrs"] = "param", kind
        else:
            node["op"] = node["attrs"]["func_name"]
            node["attrs"].update(kind)
            node["inputs"] = [raw["nodes"][source]["name"] for source, *_ in node["inputs"]]
        node["shape"] = raw["attrs"]["shape"][1][entry]
    return dump


def edges_of(graph: Graph) -> list[tuple[int, int, int, int]]:
    columns = (graph.edge_source, graph.edge_output, graph.edge_target, graph.edge_position)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def assert_is(graph: Graph, raw: dict[str, Any], *, edges: bool = True) -> None:
    """Assert that every column says what the raw graph's JSON says."""
    nodes = raw["nodes"]
    assert list(graph.names) == [node["name"] for node in nodes]
    funcs = [node["attrs"]["func_name"] if node["op"] != "null" else "" for node in nodes]
    assert list(graph.func_names) == funcs
    null = [node["op"] == "null" for node in nodes]
    assert [kind <= NodeKind.PARAMETER for kind in graph.kinds.tolist()] == null
    assert [dict(a) for a in graph.attrs] == [node.get("attrs", {}) for node in nodes]
    assert graph.entry_offsets.tolist() == raw["node_row_ptr"]
    if edges:
        assert edges_of(graph) == [
            (source, output, nid, position)
            for nid, node in enumerate(nodes)
            for position, (source, output, _) in enumerate(node["inputs"])
        ]
        assert set(graph.edge_trust.tolist()) <= {Trust.EXACT}
    assert graph.heads.tolist() == [head[:2] for head in raw["heads"]]
    assert graph.arg_nodes.tolist() == raw["arg_nodes"]
    attrs = {key: values for key, (_, values) in raw["attrs"].items()}
    entries = [(n, j) for n in range(len(nodes)) for j in range(graph.nodes[n].num_outputs)]
    assert [list(graph.shape(n, j) or ()) for n, j in entries] == attrs["shape"]
    assert graph.shape_known.all()
    assert list(graph.dtypes) == attrs["dltype"]
    assert graph.storage_ids.tolist() == attrs["storage_id"]
    if "device_index" in attrs:
        assert graph.device_types.tolist() == attrs["device_index"]
    else:
        assert graph.device_types is None


def assert_consistent(graph: Graph) -> None:
    """Assert what holds for every graph, however broken its file."""
    for name in Graph.__dataclass_fields__:
        column = getattr(graph, name)
        if isinstance(column, np.ndarray):
            assert not column.flags.writeable, name
    nodes, entries = graph.num_nodes, graph.num_entries
    assert len(graph.entry_offsets) == nodes + 1
    assert len(graph.shape_offsets) == len(graph.dtypes) + 1 == entries + 1
    owned = np.diff(graph.entry_offsets).tolist()
    for source, output, target, _ in edges_of(graph):
        assert 0 <= target < nodes
        assert source == -1 or 0 <= output < owned[source]
    dangling = graph.edge_source == -1
    assert ((graph.edge_trust == Trust.ABSENT) == dangling).all()
    for edge, candidates in graph.edge_candidates.items():
        assert graph.edge_trust[edge] in (Trust.AMBIGUOUS, Trust.ABSENT)
        assert all(0 <= node < nodes for node in candidates)
    assert sorted(graph.topological_order.tolist()) == list(range(nodes))
    assert len(graph.nodes) == nodes
    for text in (repr(graph), repr(graph.nodes), repr(graph.issues)):
        text.encode()
    for node in graph.nodes:
        repr(node).encode()
    if nodes:
        graph.ancestors(nodes - 1, include_ambiguous=True)
