"""Matching against what is known without it: bytes of tensors, names of layers, permutations."""

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from formats.tvm.graph_truth import read
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from benchmarks.graphs import network, residual_graph
from tests.graph_json import document as graph_document
from tests.graph_json import null, operator
from tvmdbg_widgets.analysis.matching import Certainty, Matching, Reason, match
from tvmdbg_widgets.model.graph.graph import Graph

PLAIN = "resnet20_cifar"
Document = dict[str, Any]


def opened(corpus: Path, case: str) -> Graph:
    graph = tvmdbg.open(corpus / "tvm" / case).graph
    assert graph is not None
    return graph


def tensors(corpus: Path, case: str) -> dict[int, str]:
    """SHA-256 of the tensor of each node, as TVM's own reader found it."""
    index = json.loads((corpus / "tvm" / case / "output_tensors.index.json").read_text())
    return {each["node"]: each["sha256"] for each in index.values()}


def layers(corpus: Path, case: str) -> dict[int, str]:
    """The layer of each operator, by who made the dumps."""
    folder = corpus / "tvm" / case
    names = json.loads((folder / "meta.json").read_text())["layer_of_node"]
    nodes = json.loads((folder / "graph.json").read_text())["nodes"]
    return {i: names[node["name"]] for i, node in enumerate(nodes) if node["op"] == "tvm_op"}


def parameters(corpus: Path, case: str) -> dict[tuple[str, int], int]:
    """Parameters by the layer that reads them and their place among what it reads."""
    folder = corpus / "tvm" / case
    nodes = json.loads((folder / "graph.json").read_text())["nodes"]
    found = {}
    for i, layer in layers(corpus, case).items():
        sources = [entry[0] for entry in nodes[i]["inputs"]]
        own = [each for each in sources if nodes[each]["op"] == "null" and each != 0]
        for place, source in enumerate(own):
            found[layer, place] = source
    return found


@pytest.mark.parametrize(
    "case",
    [
        "resnet20_cifar_unfused",
        "resnet20_cifar_v0.8",
        "resnet20_cifar_own_storage_v0.6",
        "resnet20_two_devices",
    ],
)
def test_nodes_with_identical_value_bytes_are_matched(corpus: Path, case: str) -> None:
    matching = match(opened(corpus, PLAIN), opened(corpus, case))
    mine, theirs = tensors(corpus, PLAIN), tensors(corpus, case)
    once = {each for each, count in Counter(mine.values()).items() if count == 1}
    by_value: dict[str, set[int]] = {}
    for node, value in theirs.items():
        by_value.setdefault(value, set()).add(node)
    compared = 0
    for node, value in mine.items():
        if value in once and value in by_value:
            compared += 1
            assert by_value[value] & set(matching.b_of(node)), node
    assert compared >= 69  # reshape and flatten leave the bytes as they are
    assert not len(matching.only_a)


@pytest.mark.parametrize(
    ("case", "alone"),
    [
        ("resnet20_cifar_nchw8c", {"pack", "unpack"}),
        ("resnet20_cifar_fp16", {"cast_in", "cast_out"}),
        ("resnet20_cifar_fp16_overflow", {"cast_in", "cast_out"}),
        ("resnet20_cifar_v0.6", set()),
        ("resnet20_cifar_unfused", set()),
    ],
)
def test_layers_are_matched(corpus: Path, case: str, alone: set[str]) -> None:
    mine, theirs = layers(corpus, PLAIN), layers(corpus, case)
    matching = match(opened(corpus, PLAIN), opened(corpus, case))
    for node, layer in mine.items():
        others = {node for node, each in theirs.items() if each.partition("/")[0] == layer}
        found = set(matching.b_of(node))
        assert others <= found, layer
        block = layer.rpartition(".")[0]
        assert {theirs[each].rpartition(".")[0] for each in found - others} <= {block}
    left = [node for node in matching.only_b.tolist() if node in theirs]
    assert len(left) == len(alone)
    assert not {theirs[node] for node in left} & set(mine.values())


@pytest.mark.parametrize("case", ["resnet20_cifar_nchw8c", "resnet20_cifar_fp16"])
def test_parameters_of_a_layer_are_matched_in_their_order(corpus: Path, case: str) -> None:
    matching = match(opened(corpus, PLAIN), opened(corpus, case))
    theirs = parameters(corpus, case)
    for key, node in parameters(corpus, PLAIN).items():
        assert matching.b_of(node) == (theirs[key],), key


def test_quantised_layers_are_matched(corpus: Path) -> None:
    case = "resnet20_cifar_int8"
    mine, theirs = layers(corpus, PLAIN), layers(corpus, case)
    matching = match(opened(corpus, PLAIN), opened(corpus, case))
    for node, layer in mine.items():
        found = {theirs[other] for other in matching.b_of(node)}
        assert layer in found, layer
        # What ends a block is an operator of its own there.
        assert found <= {layer, f"{layer.rpartition('.')[0]}.out"}, layer
    weights, others = parameters(corpus, PLAIN), parameters(corpus, case)
    for (layer, place), node in weights.items():
        assert matching.b_of(node) == (others[layer, place],)
    kinds = {each.certainty for each in matching}
    assert kinds == {Certainty.EXACT, Certainty.LIKELY, Certainty.POSSIBLE}


def test_fused_functions_are_matched_to_their_parts_both_ways(corpus: Path) -> None:
    plain, unfused = opened(corpus, PLAIN), opened(corpus, "resnet20_cifar_unfused")
    there, back = match(plain, unfused), match(unfused, plain)
    assert there.b_of(3) == (2, 4, 5)
    assert there.a_of(4) == (3,)
    assert {(b, a) for a, b in back.pairs.tolist()} == set(map(tuple, there.pairs.tolist()))
    assert {each.reason for each in there.of_a(3)} == {Reason.PARTS}
    assert all(each.certainty is Certainty.LIKELY for each in there.of_a(3))


def test_different_networks_have_few_matches_and_none_exact(corpus: Path) -> None:
    matching = match(opened(corpus, PLAIN), opened(corpus, "transformer_encoder"))
    assert len(matching) < 10
    assert not (matching.certainty == Certainty.EXACT).any()


def test_run_match_summarizes_its_result(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm" / PLAIN)
    matching = run.match(tvmdbg.open(corpus / "tvm/resnet20_two_devices"))
    said = "72 of 72 nodes matched: 26 exact, 46 likely; 3 of 75 only in B"
    assert matching.sentence == said
    assert repr(matching).startswith(f"Matching: {said}\n")
    assert "only in B" in matching._repr_html_()
    assert run.match(run.graph).counts() == {"exact": 72, "likely": 0, "possible": 0}
    with pytest.raises(IndexError, match="no node 72; ids are 0 to 71"):
        matching.b_of(72)
    with pytest.raises(TypeError, match="not str"):
        run.match("resnet")  # type: ignore[arg-type]


# Graphs made here: a list of functions, each with the nodes it reads.

FUNCTIONS = ("fused_nn_conv2d_add", "fused_nn_relu", "fused_add", "fused_concatenate")


def document(nodes: list[tuple[str, list[int]]], heads: list[int]) -> Document:
    """A graph as TVM writes it; ``""`` is an input, ``"p"`` a parameter."""
    written = [
        operator(f"{function}{i}", function, sources)
        if len(function) > 1
        else null(f"{function or 'data'}{i}")
        for i, (function, sources) in enumerate(nodes)
    ]
    return graph_document(written, heads=heads)


def graph_of(written: Document) -> Graph:
    return read(json.dumps(written).encode())


def permuted(written: Document, order: list[int]) -> Document:
    """Node ``i`` becomes node ``order[i]``, and every name is another one."""
    count = len(order)
    back = [0] * count
    for old, new in enumerate(order):
        back[new] = old
    nodes = []
    for new in range(count):
        node = dict(written["nodes"][back[new]])
        node["name"] = f"n{hash((new, 7)) & 0xFFFF}_{new}"
        node["inputs"] = [[order[source], *rest] for source, *rest in node["inputs"]]
        nodes.append(node)
    attrs = {
        name: [tag, [values[back[new]] for new in range(count)]]
        for name, (tag, values) in written["attrs"].items()
    }
    return {
        **written,
        "nodes": nodes,
        "arg_nodes": sorted(order[node] for node in written["arg_nodes"]),
        "heads": [[order[head], *rest] for head, *rest in written["heads"]],
        "attrs": attrs,
    }


@st.composite
def graphs(draw: st.DrawFn) -> Document:
    nodes: list[tuple[str, list[int]]] = [("", [])]
    for _ in range(draw(st.integers(2, 24))):
        function = draw(st.sampled_from((*FUNCTIONS, "p")))
        sources: list[int] = []
        if len(function) > 1:
            wanted = 1 if function == "fused_nn_relu" else 2
            sources = [draw(st.integers(0, len(nodes) - 1)) for _ in range(wanted)]
        nodes.append((function, sources))
    read_by = {source for _, sources in nodes for source in sources}
    heads = [i for i, (function, _) in enumerate(nodes) if i not in read_by and len(function) > 1]
    return document(nodes, heads or [0])


def refined(graph: Graph) -> list[int]:
    """What a node is, and all around it, however far; equal for nodes that nothing tells apart."""
    heads = {
        node: tuple(np.flatnonzero(graph.heads[:, 0] == node)) for node in range(len(graph.names))
    }
    colors: list[Any] = [
        (int(graph.kinds[i] >= 2), graph.nodes[i].parts, heads[i]) for i in range(graph.num_nodes)
    ]
    for _ in range(graph.num_nodes):
        seen: dict[Any, int] = {}
        edges = list(zip(graph.edge_source, graph.edge_target, graph.edge_position, strict=True))
        told = [
            (
                colors[i],
                tuple((int(at), colors[s]) for s, t, at in edges if t == i),
                tuple(sorted((repr(colors[t]), int(at)) for s, t, at in edges if s == i)),
            )
            for i in range(graph.num_nodes)
        ]
        numbered = [seen.setdefault(each, len(seen)) for each in told]
        if len(set(numbered)) == len(set(map(repr, colors))):
            return numbered
        colors = numbered
    return colors


@given(graphs(), st.randoms(use_true_random=False))
def test_permutation_is_recovered_for_distinct_nodes(written: Document, chance: Any) -> None:
    order = list(range(len(written["nodes"])))
    chance.shuffle(order)
    graph = graph_of(written)
    matching = match(graph, graph_of(permuted(written, order)))
    colors = refined(graph)
    counts = Counter(colors)
    back = {new: old for old, new in enumerate(order)}
    for each in matching:
        assert colors[each.a] == colors[back[each.b]]
        if counts[colors[each.a]] > 1 and each.certainty is Certainty.EXACT:
            # Exact only beside a node that was chosen among several alike.
            assert each.reason is Reason.NEIGHBORS
    for node, color in enumerate(colors):
        if counts[color] == 1:
            assert matching.b_of(node) == (order[node],)
    if len(counts) == len(colors):
        assert set(matching.certainty.tolist()) == {Certainty.EXACT}


@given(graphs(), st.randoms(use_true_random=False))
def test_matching_is_symmetric(written: Document, chance: Any) -> None:
    order = list(range(len(written["nodes"])))
    chance.shuffle(order)
    a, b = graph_of(written), graph_of(permuted(written, order))
    there, back = match(a, b), match(b, a)
    assert len(there) == len(back)
    sure = {
        tuple(pair)
        for pair, how in zip(there.pairs.tolist(), there.certainty, strict=True)
        if how == 0
    }
    turned = {
        (y, x) for (x, y), how in zip(back.pairs.tolist(), back.certainty, strict=True) if how == 0
    }
    assert sure == turned


def chain(functions: list[str]) -> Document:
    nodes: list[tuple[str, list[int]]] = [("", [])]
    for function in functions:
        nodes.append(("p", []))
        nodes.append((function, [len(nodes) - 2, len(nodes) - 1]))
    return document(nodes, [len(nodes) - 1])


LONG = ["fused_nn_conv2d_add", "fused_add", "fused_multiply", "fused_nn_dense"] * 6


@given(st.integers(1, len(LONG) - 2), st.integers(1, len(LONG) - 2))
def test_inserted_nodes_are_only_in_b(first: int, second: int) -> None:
    edited = list(LONG)
    for at in sorted({first, second}, reverse=True):
        edited.insert(at, "fused_sigmoid")
    a, b = graph_of(chain(LONG)), graph_of(chain(edited))
    matching = match(a, b)
    added = {2 * (i + 1) for i, function in enumerate(edited) if function == "fused_sigmoid"}
    assert set(matching.only_b.tolist()) == added | {node - 1 for node in added}
    assert not len(matching.only_a)
    kept = [i for i, function in enumerate(edited) if function != "fused_sigmoid"]
    for i, j in enumerate(kept):
        assert matching.b_of(2 * (i + 1)) == (2 * (j + 1),)
        assert matching.b_of(2 * (i + 1) - 1) == (2 * (j + 1) - 1,)


@given(st.integers(1, len(LONG) - 2))
def test_replaced_node_is_matched_by_place(at: int) -> None:
    edited = [*LONG[:at], "fused_sigmoid", *LONG[at + 1 :]]
    matching = match(graph_of(chain(LONG)), graph_of(chain(edited)))
    node = 2 * (at + 1)
    assert [(each.b, each.certainty, each.reason) for each in matching.of_a(node)] == [
        (node, Certainty.POSSIBLE, Reason.PLACE)
    ]
    assert all(matching.b_of(each) == (each,) for each in range(2 * len(LONG) + 1))
    unsure = {each.a for each in matching if each.certainty is not Certainty.EXACT}
    assert unsure <= {node - 2, node - 1, node, node + 2}


def test_match_among_equal_blocks_is_only_possible() -> None:
    block = ["fused_nn_conv2d_add", "fused_nn_relu"]
    a, b = graph_of(chain(block * 3)), graph_of(chain(block * 4))
    matching = match(a, b)
    middle = [each for each in matching if 0 < each.a < 11]
    assert middle
    assert all(each.certainty is Certainty.POSSIBLE for each in middle)


def branched(lengths: list[int]) -> Document:
    """Rows of equal convolutions beside each other, each of so many, joined in their order."""
    nodes: list[tuple[str, list[int]]] = [("", [])]
    ends = []
    for length in lengths:
        last = 0
        for _ in range(length):
            nodes.append(("p", []))
            nodes.append(("fused_nn_conv2d_add", [last, len(nodes) - 1]))
            last = len(nodes) - 1
        ends.append(last)
    nodes.append(("fused_concatenate", ends))
    return document(nodes, [len(nodes) - 1])


@pytest.mark.parametrize(("before", "after"), [(3, 2), (2, 3), (4, 2), (6, 7)])
def test_match_among_equal_nodes_of_changed_branch_is_only_possible(
    before: int, after: int
) -> None:
    matching = match(graph_of(branched([2, before, 2])), graph_of(branched([2, after, 2])))
    changed = range(5, 5 + 2 * before)
    sure = [each for each in matching if each.certainty is not Certainty.POSSIBLE]
    assert not [each for each in sure if each.a in changed]
    behind = 2 * (after - before)
    assert {(each.a, each.b) for each in sure if each.a not in changed} == {
        *((node, node) for node in range(5)),
        *((node, node + behind) for node in range(changed.stop, changed.stop + 5)),
    }


def test_names_decide_between_otherwise_identical_nodes() -> None:
    nodes: list[tuple[str, list[int]]] = [("", []), ("p", []), ("p", []), ("fused_nn_relu", [0])]
    first, second = document(nodes, [3]), document(nodes, [3])
    second["nodes"][1]["name"], second["nodes"][2]["name"] = "p2", "p1"
    matching = match(graph_of(first), graph_of(second))
    assert [each.b for each in matching] == [0, 2, 1, 3]
    assert [each.reason for each in matching][1:3] == [Reason.NAME, Reason.NAME]
    second["nodes"][1]["name"], second["nodes"][2]["name"] = "q1", "q2"
    unsure = match(graph_of(first), graph_of(second))
    assert [each.certainty for each in unsure][1:3] == [Certainty.POSSIBLE] * 2


@pytest.mark.parametrize("heads", [[], [0]])
def test_cyclic_graph_matches_only_correct_pairs(heads: list[int]) -> None:
    nodes = [("", []), ("fused_add", [0, 2]), ("fused_nn_relu", [1]), ("fused_nn_conv2d", [0, 0])]
    written = document(nodes, heads)
    matching = match(graph_of(written), graph_of(permuted(written, [2, 0, 3, 1])))
    assert isinstance(matching, Matching)
    assert {tuple(pair) for pair in matching.pairs.tolist()} <= {(0, 2), (1, 0), (2, 3), (3, 1)}


def test_empty_graphs() -> None:
    empty, full = graph_of(document([], [])), graph_of(chain(LONG))
    assert len(match(empty, empty)) == 0
    assert len(match(empty, full).only_b) == full.num_nodes


def renamed(text: str) -> Graph:
    written = json.loads(text)
    for i, node in enumerate(written["nodes"]):
        node["name"] = f"x{i * 7919 % 1_000_003}"
    return graph_of(written)


@pytest.mark.slow
@pytest.mark.parametrize("make", [network, residual_graph])
def test_matching_time_is_roughly_linear_in_nodes(make: Any) -> None:
    took = []
    for count in (2_000, 8_000):
        text = make(count)
        a, b = graph_of(json.loads(text)), renamed(text)
        best = float("inf")
        for _ in range(3):
            begun = time.process_time()
            matching = match(a, b)
            best = min(best, time.process_time() - begun)
        took.append(best / a.num_nodes)
        assert (matching.pairs[:, 0] == matching.pairs[:, 1]).all()
        read = {*a.edge_source.tolist(), *a.edge_target.tolist()}
        assert all(each.certainty is Certainty.EXACT for each in matching if each.a in read)
    assert took[1] < 4 * took[0]


def of_module(folder: Path, module: str) -> tvmdbg.DebugRun:
    """Open the sample's graph and trace as a compiler writes them for a module of that name."""
    folder.mkdir()
    for path in (tvmdbg.samples.resnet20_cifar / "_tvmdbg_device_CPU_0").glob("*.json"):
        text = path.read_text("utf-8").replace("tvmgen_default_", f"tvmgen_{module}_")
        (folder / path.name).write_text(text, "utf-8")
    return tvmdbg.open(folder)


@pytest.mark.parametrize("module", ["x", "my_fused_net", "fused", "net2", "détection"])
def test_graphs_match_across_module_names(tmp_path: Path, module: str) -> None:
    plain, other = tvmdbg.open(tvmdbg.samples.resnet20_cifar), of_module(tmp_path / "a", module)
    found = match(plain.graph, other.graph)
    assert len(found.pairs) == plain.graph.num_nodes
    assert [row.op_kind for row in other.table()] == [row.op_kind for row in plain.table()]
    assert other.provenance.releases == "TVM v0.8 to v0.19"
    short = next(node.name for node in other.graph.nodes if "softmax" in node.name)
    assert other.graph.node(short.rpartition("fused_")[2]).name == short
