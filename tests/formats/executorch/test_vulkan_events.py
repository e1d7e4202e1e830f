"""Vulkan's events: what their names say, and the nodes of its graph that they are of."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.executorch.delegate_payloads import read
from tests.formats.executorch.test_edge_nodes import program_of
from tests.formats.executorch.vulkan_files import PHASES, Runtime, chain_payload
from tvmdbg_widgets.formats.executorch.delegates.edge_nodes import edge_nodes
from tvmdbg_widgets.formats.executorch.delegates.event_order import align
from tvmdbg_widgets.formats.executorch.delegates.graph import graph_of
from tvmdbg_widgets.model.executorch import vulkan_names
from tvmdbg_widgets.model.executorch.delegate_graph import DelegateGraph, EdgeNode
from tvmdbg_widgets.model.executorch.etrecord import ExportedProgram
from tvmdbg_widgets.model.executorch.vulkan_names import event_title, explain_name, read_name

pytestmark = pytest.mark.spec_only

CONV, RELU = "aten.convolution.default", "aten.relu.default"
ADD, TAN = "aten.add.Tensor", "aten.tan.default"
OPERATORS = (CONV, RELU, ADD, RELU)
CONVOLUTION = """{
  "operator": {"name": "aten.convolution.default", "delegate_node_id": 4, "args": [
    {"type": "TENSOR", "value_ref": 1, "dtype": "Float", "sizes": [1, 8, 4, 4],
     "storage": "TEXTURE_3D", "packed_dim": 2},
    {"type": "INTLIST", "value_ref": 2, "values": [1, 1]},
    {"type": "BOOL", "value_ref": 3, "value": 0},
    {"type": "NONE", "value_ref": 4}]},
  "kernel_name": "conv2d_dw_output_tile_3x3", "operator_id": 7, "dispatch_id": 12
}"""


def chain(*names: str, ids: tuple[int, ...] | None = None) -> DelegateGraph:
    return read(chain_payload(names, ids), vulkan=True)


def test_names_of_shaders_are_parsed_and_explained() -> None:
    shader = "conv2d_dw_output_tile_3x3"
    assert event_title(CONVOLUTION) == f"{CONV} · {shader} #12"
    assert read_name(CONVOLUTION) == (shader, CONV, 4, 7, 12)
    assert explain_name(CONVOLUTION) == (
        (CONV, "operator of the delegate's graph"),
        (shader, "shader"),
        ("arguments", "Float [1, 8, 4, 4] in TEXTURE_3D, [1, 1], 0, NONE"),
        ("#12", "number of the dispatch in the delegate"),
    )
    # The copy of an input does not show the operator before.
    name = CONVOLUTION.replace(shader, "nchw_to_image_texture3d_float")
    assert event_title(name) == "staging · nchw_to_image_texture3d_float #12"
    assert explain_name(name)[0][1] == "shader that copies an input or output of the delegate"
    for word in ("inf", "-inf", "nan", "-nan"):
        name = CONVOLUTION.replace('"value": 0}', f'"value": {word}}}')
        assert word in name
        assert read_name(name) == read_name(CONVOLUTION)
    long = json.dumps({"kernel_name": "k" * 9_000, "operator": {"name": "n" * 9_000}})
    assert len(event_title(long)) < 300
    assert max(len(part) for part, _ in explain_name(long)) < 200


def test_other_event_names_are_kept_unchanged() -> None:
    for name in ("conv2d_12", "ETVK_EXECUTE", "Add (ND) #1", "", "{", "{}", '{"operator": 1}'):
        assert event_title(name) == name
    shaders = [vulkan_names.is_shader(name) for name in ("conv2d_dw_12", "Add (ND) #1")]
    assert shaders == [True, False]
    assert explain_name("conv2d_12") == (("conv2d", "shader"), ("12", "number of the dispatch"))
    assert explain_name("ETVK_EXECUTE")[0][1].startswith("the whole call")
    assert explain_name("other") == ()


@pytest.mark.parametrize(
    "name",
    [
        '{"kernel_name": "k", "x": ' + "[" * 90_000 + "]" * 90_000 + "}",
        '{"kernel_name": "k", "operator": {"name": "n", "args": ' + '{"a":' * 30_000,
        '{"kernel_name": "' + "k" * 300_000 + '"}',
        '{"kernel_name": "k", "operator_id": -1}',
        '{"kernel_name": "k", "operator_id": 1e99}',
        '{"kernel_name": "k", "operator": {"name": "n", "delegate_node_id": 4294967296}}',
        '{"kernel_name": ["k"]}',
    ],
)
def test_malformed_json_names_are_not_parsed(name: str) -> None:
    assert (read_name(name), event_title(name), explain_name(name)) == (None, name, ())


def test_dispatches_are_matched_to_their_operators() -> None:
    names, nodes = Runtime().names(OPERATORS, (2, 0, 1, 1))
    found = align(chain(*OPERATORS), [*PHASES, *names, "ETVK_COPY_OUTPUTS"])
    matches = found.events[len(PHASES) : -1]
    assert [each.main for each in matches] == [None if at < 0 else at for at in nodes]
    assert {each.match for each, at in zip(matches, nodes, strict=True) if at >= 0} == {"exact"}
    reasons = {each.reason for each in found.events[: len(PHASES)]}
    assert reasons == {"a phase of the call, of no operator"}
    assert found.events[-1].match == "none"
    assert matches[0].reason == "a copy of an input or output, of no operator of the graph"
    assert found.events_of == {0: (4, 5), 2: (6,), 3: (7,)}
    assert (found.idle, found.cost, found.fits) == ((1,), 0, True)


@pytest.mark.parametrize("with_ids", [True, False])
def test_events_of_later_delegates_in_a_process_are_aligned(with_ids: bool) -> None:
    runtime = Runtime(count=40, with_ids=with_ids)
    runtime.names(OPERATORS, (1, 1, 1, 1))
    for operators in (OPERATORS, OPERATORS[:1], (ADD,) * 3):
        for _ in range(2):
            names, nodes = runtime.names(operators, (1,) * len(operators))
            found = align(chain(*operators), names)
            assert [-1 if each.main is None else each.main for each in found.events] == nodes
            assert found.events[1].match == ("exact" if with_ids else "order")


def test_dispatches_without_ids_are_matched_by_order() -> None:
    names, _ = Runtime(count=9, with_ids=False).names((ADD,) * 3, (0, 1, 0))
    (only,) = [each for each in names if "add_0" in each]
    # Operators at the ends may have no dispatch.
    (match,) = align(chain(ADD, ADD, ADD), [only]).events
    assert (match.match, match.candidates) == ("ambiguous", (0, 1, 2))
    (match,) = align(chain(RELU, ADD, "aten.sub.Tensor"), [only]).events
    assert (match.match, match.nodes) == ("order", (1,))
    names, nodes = Runtime(with_ids=False).names(OPERATORS, (1, 1, 1, 1))
    said = [json.loads(name) for name, at in zip(names, nodes, strict=True) if at >= 0]
    unusual = [json.dumps(each | {"operator_id": 5 * each["operator_id"]}) for each in said]
    events = align(chain(*OPERATORS), unusual).events
    assert [(each.match, each.nodes) for each in events] == [("order", (at,)) for at in range(4)]


def test_events_of_another_graph_or_of_shaders_match_nothing() -> None:
    names, _ = Runtime().names(OPERATORS, (1, 1, 1, 1))
    found = align(chain("aten.bmm.default", TAN), names)
    assert not found.fits
    assert found.cost > 0
    assert {each.match for each in found.events} == {"none"}
    assert align(chain("aten.bmm.default"), ["a", "conv2d_3"]).fits
    found = align(chain(*OPERATORS), ["nchw_to_image_0", "conv2d_1", "?"])
    shader = "this release names the shader, not the operator"
    other = "its name is none that Vulkan's runtime writes"
    assert [each.reason for each in found.events] == [shader, shader, other]
    assert found.cost == 0


kinds = st.sampled_from((ADD, RELU, "et_vk.x.default"))
chains = st.lists(st.tuples(kinds, st.integers(0, 2)), min_size=1, max_size=8)


@given(chains, st.integers(0, 50), st.booleans(), st.data())
def test_exact_matches_are_never_wrong(
    operators: list[tuple[str, int]], count: int, with_ids: bool, data: st.DataObject
) -> None:
    runtime = Runtime(count, {"name": ADD} if count else None, with_ids)
    kinds = [kind for kind, _ in operators]
    names, nodes = runtime.names(kinds, [times for _, times in operators])
    kept = data.draw(st.lists(st.sampled_from(range(len(names))), max_size=12))
    found = align(chain(*kinds), [names[at] for at in kept])
    for at, match in zip(kept, found.events, strict=True):
        if match.match == "exact":
            assert match.nodes == (nodes[at],)
        if match.match == "ambiguous" and nodes[at] >= 0:
            assert nodes[at] in match.candidates
    whole = align(chain(*kinds), names)
    assert all(match.main in (None, at) for match, at in zip(whole.events, nodes, strict=True))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
keys = st.sampled_from(
    ("operator", "name", "args", "delegate_node_id", "kernel_name", "operator_id", "dispatch_id")
)
objects = st.dictionaries(keys, json_values | st.dictionaries(keys, json_values))


@given(st.text() | objects.map(json.dumps))
def test_any_event_name_has_a_title_and_a_match(name: str) -> None:
    assert event_title(name)[:1] == name[:1] or read_name(name) is not None
    assert all(isinstance(part, str) for pair in explain_name(name) for part in pair)
    (match,) = align(chain(ADD), [name]).events
    assert match.match in {"exact", "ambiguous", "none", "order"}


def test_long_chains_take_linear_time() -> None:
    kinds = [ADD] * 4_000
    names, nodes = Runtime(with_ids=False).names(kinds, [1] * len(kinds))
    found = align(chain(*kinds), names)
    assert [-1 if each.main is None else each.main for each in found.events] == nodes
    few = align(chain(*kinds), [names[0], *names[1000:3000], names[-1]])
    assert [each.main for each in few.events] == [None, *range(999, 2999), None]
    copies = align(chain(*kinds), [names[0], names[-1]])
    assert copies.fits
    assert {each.match for each in copies.events} == {"none"}


def in_line(first: int, *operators: str) -> ExportedProgram:
    """Return a program of operators with handles from the first on, one behind the other."""
    named = enumerate(operators, first)
    calls = ((f"n{at}", each, at, (2,), f"n{at - 1}" * (at > first)) for at, each in named)
    return program_of(*calls)


def test_debug_map_links_operators_to_edge_nodes() -> None:
    program = in_line(3, "convolution", "relu", "add", "add")
    graph = chain("et_vk.conv_with_clamp.default", ADD, ids=(7, 9))
    told = {0: {"7": (3, 4), "9": (5,)}}
    found = edge_nodes({0: graph}, program, {0: [3, 4, 5], 1: 6}, told)
    assert found.of == {(0, 0): EdgeNode(0, 2), (0, 1): EdgeNode(2)}
    assert found.nodes_of(0, 0) == (0, 1)


def test_debug_map_with_other_numbers_is_ignored() -> None:
    program = in_line(1, "add", "relu", "add", "tan")
    graphs = {0: chain(ADD, RELU, ADD, TAN)}

    def matched(*told: Any) -> Any:
        return edge_nodes(graphs, program, {0: [1, 2, 3, 4]}, *told).of

    expected = (EdgeNode(0, 2), EdgeNode(1), EdgeNode(2, 2), EdgeNode(3))
    by_handle = {(0, at): each for at, each in enumerate(expected)}
    # As numbered in the delegate's own program, behind its inputs.
    for handle in (0, 2):
        assert matched({0: {str(at): (at + handle,) for at in range(4)}}) == by_handle
    exact = matched({0: {str(at): (at + 1,) for at in range(4)}})
    assert {each.alternatives for each in exact.values()} == {1}
    assert matched() == by_handle


def test_graph_operators_are_not_marked_inserted() -> None:
    graph = graph_of(chain(*OPERATORS))
    assert not any("inserted" in attrs or "debug_handle" in attrs for attrs in graph.attrs)
    assert set(graph.dtypes) == {"float32"}
