import random
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tests.unit.graph.block_graphs import Draft, isomorphic, networks, random_drafts, require_sound
from tvmdbg_widgets.analysis.blocks import groups
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.graph.groups import Groups, GroupSource
from tvmdbg_widgets.model.graph.nodes import NodeKind

drafts = st.one_of(random_drafts(), networks())


@given(drafts, st.lists(st.booleans(), min_size=1, max_size=7), st.randoms())
def test_groups_nest_and_close_without_a_cycle(
    draft: Draft, closed: list[bool], chance: random.Random
) -> None:
    for graph in (draft.graph(), draft.graph(chance)):
        require_sound(graph, groups(graph), closed)


places = st.integers(0, 999)


@settings(max_examples=60)
@given(drafts, st.lists(st.tuples(places, places), max_size=3))
def test_nodes_behind_a_control_cycle_are_ordered_last(
    draft: Draft, pairs: list[tuple[int, int]]
) -> None:
    graph = draft.graph()
    operators = np.flatnonzero(graph.kinds >= NodeKind.OPERATOR)
    ends = np.array(pairs, np.int32).reshape(-1, 2) % max(1, len(operators))
    ends = operators[ends].astype(np.int32) if len(operators) else ends[:0]
    graph = replace(graph, control_source=ends[:, 0], control_target=ends[:, 1])
    known = nx.DiGraph([*zip(graph.edge_source.tolist(), graph.edge_target.tolist(), strict=True)])
    known.add_edges_from(ends.tolist())
    behind: set[int] = set()
    for nodes in nx.strongly_connected_components(known):
        node = next(iter(nodes))
        if len(nodes) > 1 or known.has_edge(node, node):
            behind |= nodes | nx.descendants(known, node)
    found = groups(graph)
    assert found.order[graph.num_nodes - len(behind) :].tolist() == sorted(behind)
    assert not behind.intersection(node for group in found for node in group.nodes.tolist())
    place = np.argsort(found.order)
    for source, target in ends.tolist():
        assert target in behind or place[source] < place[target]


@given(drafts)
def test_groups_with_equal_number_are_isomorphic(draft: Draft) -> None:
    graph = draft.graph()
    found = groups(graph)
    first: dict[int, int] = {}
    for group in found:
        other = first.setdefault(int(found.alike[group.id]), group.id)
        assert isomorphic(graph, found[other], group), (found[other].nodes, group.nodes)


def test_blocks_with_unequal_parameter_counts_get_separate_classes() -> None:
    draft = Draft()
    x, shared = draft.null(1, 8), draft.null(1, 8)
    ends = []
    for reads_shared in (False, True, False):
        y = draft.op("fused_add", x, shared if reads_shared else draft.null(1, 8))
        for at in range(3):
            own = shared if reads_shared and at == 1 else draft.null(1, 8)
            inner = draft.op("fused_add", y, own)
            for _ in range(2):
                draft.op("fused_add", y)
            y = draft.op("fused_add", inner)
        ends.append(y)
    draft.op("fused_concatenate", *ends)
    found = groups(draft.graph())
    sizes: dict[int, set[int]] = {}
    for group in found:
        sizes.setdefault(int(found.alike[group.id]), set()).add(len(group))
    assert len(sizes) > 1
    assert all(len(each) == 1 for each in sizes.values()), sizes


@given(drafts, st.randoms())
def test_node_names_do_not_affect_groups(draft: Draft, chance: random.Random) -> None:
    plain = groups(draft.graph())
    draft.names = {node: f"{chance.getrandbits(64):016x}" for node in range(len(draft.nodes))}
    other = groups(draft.graph())
    for column in ("order", "start", "end", "parent", "alike", "source", "repeats"):
        assert np.array_equal(getattr(plain, column), getattr(other, column)), column
    assert plain.names == other.names


@given(st.integers(2, 9), st.randoms())
def test_a_stage_is_found_in_any_order_of_its_nodes(count: int, chance: random.Random) -> None:
    draft = Draft()
    x = draft.op("fused_stem", draft.null(1, 8))
    planted: list[set[int]] = []
    for _ in range(count):
        first = len(draft.nodes)
        x = draft.residual(x)
        planted.append(set(range(first, len(draft.nodes))))
    draft.op("fused_nn_softmax", x)
    found = groups(draft.graph())
    assert [(group.title, len(group)) for group in found.top] == [
        (f"residual block × {count}", 7 * count)
    ]
    assert [set(child.nodes.tolist()) for child in found[0].children] == planted
    shuffled = groups(draft.graph(chance))
    for column in ("start", "end", "parent", "alike", "source", "repeats"):
        assert np.array_equal(getattr(found, column), getattr(shuffled, column)), column


def _named(draft: Draft, scope: str, first: int) -> None:
    draft.names |= {node: f"{scope}/op{node}" for node in range(first, len(draft.nodes))}


def test_name_scopes_contain_repeated_blocks() -> None:
    draft = Draft()
    x = draft.op("fused_nn_conv2d", draft.null(1, 8))
    for stage in range(2):
        start = len(draft.nodes)
        for block in range(3):
            first = len(draft.nodes)
            x = draft.residual(x)
            _named(draft, f"layer{stage}/block{block}", first)
        x = draft.op("fused_nn_max_pool2d", x, shape=(stage, 8))
        draft.names[x[0]] = f"layer{stage}/pool"
        assert start < len(draft.nodes)
    found = groups(draft.graph())
    assert [(group.title, group.source.name, group.depth) for group in found][:5] == [
        *(("layer0", "SCOPE", 0), ("residual block × 3", "REPEAT", 1), ("block0", "BLOCK", 2)),
        *(("block1", "BLOCK", 2), ("block2", "BLOCK", 2)),
    ]
    assert [group.name for group in found.top] == ["layer0", "layer1"]


@pytest.mark.parametrize(
    "stack",
    [
        '{{"L__self__": "", "a": ["encoder.{0}", "torch.nn.Module"]}}',
        "{{'L__self___encoder': (\"L['self'].encoder.{0}\", <class 'Layer'>)}}",
        "encoder.{0}",
    ],
)
def test_stacks_of_modules_are_scopes(stack: str) -> None:
    draft = Draft()
    x = draft.op("fused_take", draft.null(1, 8))
    for layer in range(2):
        for func in ("fused_nn_dense", f"fused_nn_relu{'xy'[layer]}", "fused_add"):
            x = draft.op(func, x)
            draft.attrs[x[0]] = {"nn_module_stack": stack.format(layer)}
    found = groups(draft.graph())
    assert [(group.name, group.source, len(group)) for group in found if group.depth == 1] == [
        ("0", GroupSource.MODULE, 3),
        ("1", GroupSource.MODULE, 3),
    ]
    assert [group.name for group in found.top] == ["encoder"]


def test_interleaved_parallel_experts_form_one_repeated_group() -> None:
    draft = Draft()
    x = draft.op("fused_mean", draft.null(1, 8))
    steps = ["fused_nn_batch_matmul", "fused_nn_gelu", "fused_nn_batch_matmul", "fused_multiply"]
    experts = [x] * 8
    for func in steps:
        experts = [draft.op(func, each) for each in experts]
    draft.op("fused_nn_softmax", draft.op("fused_concatenate", *experts))
    found = groups(draft.graph())
    assert [group.title for group in found.top] == ["expert × 8"]
    assert [len(child) for child in found[0].children] == [4] * 8


def test_parameters_belong_to_the_only_group_that_reads_them() -> None:
    draft = Draft()
    x = data = draft.null(1, 8)
    tied = draft.null(8, 8)
    own: list[int] = []
    for _ in range(4):
        first = draft.conv(x)
        own += [first[0] - 1]
        x = draft.op("fused_add", draft.op("fused_nn_dense", first, tied), x)
    found = groups(draft.graph())
    assert [group.title for group in found.top] == ["residual block × 4"]
    assert [found.of(node)[0].source.name for node in own] == ["BLOCK"] * 4
    assert (found.of(data[0]), found.of(tied[0])) == ((), (found[0],))


NETWORKS = {
    "resnet20_cifar": ["residual block × 3", "residual block × 2", "residual block × 2"],
    "resnet20_cifar_fp16": ["residual block × 3", "residual block × 2", "residual block × 2"],
    "resnet20_cifar_int8": ["residual block × 3", "residual block × 2", "residual block × 2"],
    "resnet20_cifar_nchw8c": ["residual block × 3", "residual block × 2", "residual block × 2"],
    "resnet20_cifar_unfused": ["residual block × 3", "residual block × 2", "residual block × 2"],
    "resnet20_cifar_v0.6": ["residual block × 3", "residual block × 2", "residual block × 2"],
    "resnet20_cifar_v0.8": ["residual block × 3", "residual block × 2", "residual block × 2"],
    "resnet20_two_devices": ["residual block × 3", "residual block × 2", "residual block × 2"],
    "transformer_encoder": ["transformer block × 2"],
}


@pytest.mark.parametrize("name", NETWORKS)
def test_recorded_networks_show_known_repeated_blocks(corpus: Path, name: str) -> None:
    run = tvmdbg.open(corpus / "tvm" / name)
    found = run.groups
    require_sound(run.graph, found, [True, False, True])
    assert [group.title for group in found.top if group.repeats > 1] == NETWORKS[name]
    alone = [group for group in found.top if group.repeats == 1 and group.name == "residual block"]
    assert len(alone) == (2 if name.startswith("resnet") else 0)
    for group in found:
        assert all(isomorphic(run.graph, group, other) for other in group.alike[:3])


def test_groups_are_found_by_name() -> None:
    draft = Draft()
    x = draft.null(1, 8)
    for _ in range(3):
        x = draft.residual(x)
    found = groups(draft.graph())
    assert [group.id for group in found.find("Residual Block")] == [0, 1, 2, 3]
    assert [group.id for group in found.find("residual block × 3")] == [0]
    with pytest.raises(
        KeyError, match="no group is named 'residul block'; did you mean 'residual block'"
    ):
        found.find("residul block")
    with pytest.raises(TypeError, match="by its name, not int"):
        found.find(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"by name: groups\.find\('residual block'\)"):
        found["residual block"]  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="node ids are numbers, not 'n1'"):
        found.of("n1")  # type: ignore[arg-type]
    assert repr(found) == ("4 groups of 21 of 22 nodes\n  0 residual block × 3: 21 nodes")
    assert repr(found[0]) == "<Group 0 'residual block × 3': 21 nodes, holds 3 of residual block>"


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"start": [0], "end": [1], "parent": [-1]}, "at least two"),
        ({"start": [0, 1], "end": [3, 4], "parent": [-1, 0]}, "within its parent"),
        ({"start": [0, 1], "end": [3, 4], "parent": [-1, -1]}, "share no node"),
        ({"start": [0], "end": [3], "parent": [0]}, "before its children"),
    ],
)
def test_groups_that_do_not_nest_are_refused(columns: dict[str, list[int]], said: str) -> None:
    count = len(columns["start"])
    rest = {"alike": [0] * count, "source": [0] * count, "repeats": [1] * count}
    names = StringColumn.from_strings(["block"] * count)
    with pytest.raises(ValueError, match=said):
        Groups(order=range(4), names=names, **columns, **rest)
