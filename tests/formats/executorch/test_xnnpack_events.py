"""XNNPACK's events beside the nodes of its graph: recorded, damaged, of other releases, made up."""

import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle, islice
from math import inf
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.formats.executorch.xnnpack_truth import TYPES, Call, calls
from tvmdbg_widgets.formats.executorch.delegates.event_order import NEVER, SKIP, OrderStep, in_order
from tvmdbg_widgets.formats.executorch.delegates.xnnpack import BINARY, NAMES, UNARY
from tvmdbg_widgets.formats.executorch.delegates.xnnpack_events import align, explain_name
from tvmdbg_widgets.formats.executorch.delegates.xnnpack_events import split_name as parts_of
from tvmdbg_widgets.model.executorch.delegate_graph import Alignment, DelegateGraph
from tvmdbg_widgets.model.executorch.delegate_graph import DelegateNode as Node
from tvmdbg_widgets.model.executorch.delegate_graph import DelegateValue as Value
from tvmdbg_widgets.model.executorch.etdump import xnnpack_family

recorded = pytest.mark.usefixtures("corpus")
TESTS = Path(__file__).parents[2]

# What an event of a list is of; None for one that is none of the graph's.
Events = list[tuple[str, tuple[int, ...] | None]]

FOREIGN = "Depth To Space (NHWC, X32) #1"
INSERTED = (
    *(FOREIGN, "Sigmoid (NC) #1", "Transpose (ND, X32) #1", "Convert (NC, F32, QD8) #1"),
    *("Clamp (NC) #1", "Copy (NC, X32) #1", "Static Reshape (NC) #1"),
)


def numbered(names: Sequence[str]) -> list[str]:
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        bare = name.partition(" #")[0]
        seen[bare] += 1
        found.append(f"{bare} #{seen[bare]}")
    return found


def told(found: Alignment) -> list[tuple[str, tuple[int, ...]]]:
    return [(event.match, event.nodes) for event in found.events]


# Recorded ------------------------------------------------------------------------------------


@recorded
def test_every_event_matches_its_true_nodes() -> None:
    known = calls()
    assert sum(len(call.names) for call in known) == 183
    for call in known:
        found = align(call.graph, call.names)
        assert told(found) == [("exact", nodes) for nodes in call.nodes], call.case
        assert (found.cost, found.fits, found.missing, found.idle) == (0, True, (), ())
        for index, into in found.taken_in.items():
            covering = {event.main for event in found.events if index in event.nodes}
            assert covering == {*into}, call.case
        mains = [event.main for event in found.events if event.main is not None]
        assert mains == sorted(mains), call.case


@recorded
def test_events_of_other_programs_rarely_fit() -> None:
    known = calls()
    seen: Counter[bool] = Counter()
    for call in known:
        for names in {other.names for other in known} - {call.names}:
            found = align(call.graph, names)
            assert "exact" not in {event.match for event in found.events}
            seen[found.fits] += 1
            if not found.fits:
                assert {event.match for event in found.events} == {"none"}
    assert seen[False] > 50 * seen[True]


def damaged(call: Call) -> Iterator[tuple[str, Events]]:
    """Yield lists that the runtime did not write."""
    events: Events = list(zip(call.names, call.nodes, strict=True))
    for at, (name, _) in enumerate(events):
        yield "drop", events[:at] + events[at + 1 :]
        yield "double", [*events[: at + 1], (name, None), *events[at + 1 :]]
        yield "rename", [*events[:at], (FOREIGN, None), *events[at + 1 :]]
        if at:
            yield "cut", events[:at]
            yield "swap", [*events[: at - 1], events[at], events[at - 1], *events[at + 1 :]]
    for at in range(len(events) + 1):
        for name in INSERTED:
            yield "insert", [*events[:at], (name, None), *events[at:]]


@recorded
@pytest.mark.parametrize("renumber", [False, True])
def test_damaged_event_lists_never_match_exactly(renumber: bool) -> None:
    claims: Counter[str] = Counter()
    for call in calls():
        for how, events in damaged(call):
            names = [name for name, _ in events]
            if renumber:
                if how == "swap":
                    # Two of the same name are then as before.
                    continue
                names = numbered(names)
            found = align(call.graph, names)
            for (_, true), event in zip(events, found.events, strict=True):
                assert event.match != "exact", (call.case, names)
                if event.match == "order":
                    right = event.nodes == true
                    # Renumbered, it cannot be seen which of two is the other's double.
                    claims["right" if right else f"wrong {how}"] += 1
    wrong = sum(count for claim, count in claims.items() if claim.startswith("wrong"))
    assert claims["right"] > 2000
    assert wrong <= claims["right"] * 0.004, claims


# Other releases, written by rule from the recorded graphs ----------------------------------------

_GENERIC = dict.fromkeys(UNARY, "Unary Elementwise (NC)") | dict.fromkeys(
    BINARY, "Binary Elementwise (ND)"
)
_TYPED = {"qint8": "QS8", "quint8": "QU8", "qdint8": "QD8", "fp16": "F16"}


def older(call: Call, habit: str) -> Events:
    """Return the events of a call as another release would have named them."""
    graph = call.graph
    covered = {node.index: {node.index} for node in graph.nodes}
    if habit != "nothing merged":
        for nodes in call.nodes:
            for index in nodes:
                if graph.nodes[index].type == "Clamp" and index != min(nodes):
                    covered[min(nodes)] |= covered.pop(index)
    events = [
        (name, tuple(sorted(nodes)))
        for index, nodes in covered.items()
        for name in older_names(graph, graph.nodes[index], habit)
    ]
    names = numbered([name for name, _ in events])
    return [(name, nodes) for name, (_, nodes) in zip(names, events, strict=True)]


def older_names(graph: DelegateGraph, node: Node, habit: str) -> list[str]:
    kind = _TYPED.get(graph.values[node.reads[0]].dtype, "F32")
    name = f"{NAMES[node.type][-1 if habit == '0.4' else 0]} (NC, {kind})"
    if graph.values[node.writes[0]].dtype == "qdint8":
        name = "Convert (NC, F32, QD8)"
    elif habit == "0.5" and node.type in _GENERIC:
        name = _GENERIC[node.type]
    elif habit != "nothing merged" and node.type == "StaticReshape":
        name = "Copy (NC)"
    bounded = node.bounds not in {None, (-inf, inf)}
    if bounded and habit != "0.4" and node.type in {*BINARY, "GlobalAvgPooling2d"}:
        return [name, "Unary Elementwise (NC)" if habit == "0.5" else "Clamp (NC)"]
    return [name]


@recorded
@pytest.mark.parametrize("habit", ["0.4", "0.5", "nothing merged"])
def test_events_of_other_releases_are_aligned(habit: str) -> None:
    for call in calls():
        events = older(call, habit)
        found = align(call.graph, [name for name, _ in events])
        assert [event.nodes for event in found.events] == [n for _, n in events], call.case
        assert {event.match for event in found.events} <= {"exact", "order"}
        assert found.fits


# Made up, for what no recorded graph has ---------------------------------------------------------


class Made:
    """A graph of one line after another; values are made as they are named."""

    def __init__(self, inputs: int = 1, values: Sequence[dict[str, Any]] = ()) -> None:
        self.nodes: list[Node] = []
        self.values: dict[int, Value] = {}
        self.inputs = tuple(self.value(external_id=at) for at in range(inputs))
        self.own = tuple(self.value(**each) for each in values)

    def value(self, dtype: str = "fp32", shape: Sequence[int] = (1, 4, 4, 4), **own: Any) -> int:
        new = len(self.values)
        self.values[new] = Value(new, dtype, tuple(shape), **own)
        return new

    def add(self, kind: str, *reads: int, dtype: str = "fp32", **own: Any) -> int:
        bounds, writes = own.pop("bounds", None), self.value(dtype)
        self.nodes.append(made_node(len(self.nodes), kind, reads, (writes,), bounds, own))
        return writes

    def graph(self, *outputs: int) -> DelegateGraph:
        count, nodes = len(self.inputs) + len(outputs), tuple(self.nodes)
        head: Any = ("XnnpackBackend", "model.pte", "XN01", "0", {})
        return DelegateGraph(*head, nodes, self.values, count, self.inputs, outputs)

    def aligned(self, names: str, *outputs: int) -> Alignment:
        return align(self.graph(*outputs), numbered(names.split("; ")))

    def named(self, names: str) -> list[int]:
        """Return the values of names such as ``i0``, ``v0`` and, of node 0, ``0``."""
        known = {f"i{at}": value for at, value in enumerate(self.inputs)}
        known |= {f"v{at}": value for at, value in enumerate(self.own)}
        known |= {str(node.index): node.writes[0] for node in self.nodes}
        return [known[name] for name in names.split()]


def made_node(at: int, kind: str, reads: Any, writes: Any, *more: Any) -> Node:
    inputs = tuple((f"input{place}_id", value) for place, value in enumerate(reads, 1))
    outputs = tuple((f"output{place}_id", value) for place, value in enumerate(writes))
    return Node(at, kind, TYPES.get(kind, 77), None, inputs, outputs, *more)


CONV = {"kernel_height": 3, "kernel_width": 3, "groups": 1, "group_input_channels": 4}
POINT = dict.fromkeys(("kernel_height", "kernel_width", "groups"), 1)
POINT |= dict.fromkeys(("subsampling_height", "subsampling_width"), 1)
POINT |= dict.fromkeys(("group_input_channels", "group_output_channels"), 4)
PAD = {"pre_paddings": (0, 1, 1, 0), "post_paddings": (0, 1, 1, 0), "padding_value": 0.0}
FIELDS: dict[str, Any] = {"conv": CONV, "point": POINT, "pad": PAD}
GRAPHS = tomllib.loads((TESTS / "data" / "xnnpack_alignments.toml").read_text("utf-8"))["graph"]


def plain(held: Any) -> Any:
    """Return keys as numbers and lists as tuples: TOML has neither."""
    if isinstance(held, dict):
        return {int(key): plain(value) for key, value in held.items()}
    return tuple(held) if isinstance(held, list) else held


@pytest.mark.parametrize("case", GRAPHS, ids=lambda each: each["name"])
def test_events_of_made_up_graphs(case: dict[str, Any]) -> None:
    made = Made(case.get("inputs", 1), case.get("values", ()))
    for kind, reads, *attributes in case["nodes"]:
        own: dict[str, Any] = {}
        for each in attributes:
            own |= FIELDS[each] if isinstance(each, str) else each
        made.add(kind, *made.named(reads), **{name: plain(value) for name, value in own.items()})
    outputs = made.named(case.get("outputs", str(len(made.nodes) - 1)))
    for names, matches, *besides in case["calls"]:
        found = made.aligned(names, *outputs)
        parts = [each.split() for each in matches.split("; ")]
        assert told(found) == [(match, tuple(map(int, nodes))) for match, *nodes in parts]
        more = {name: value for each in besides for name, value in each.items()}
        reason = more.pop("reason", "")
        assert all(reason in each.reason for each in found.events if each.match == "none")
        for name, value in more.items():
            assert getattr(found, name) == plain(value), name


@pytest.mark.parametrize("kind", sorted({*NAMES} - {"Clamp", "Conv2d"}))
def test_every_node_type_matches_every_event_name(kind: str) -> None:
    made = Made(inputs=2)
    out = made.add(kind, 0, 1)
    for name in NAMES[kind]:
        assert told(made.aligned(f"{name} (NC)", out)) == [("exact", (0,))]


def test_ambiguous_events_list_their_candidates() -> None:
    made = Made()
    value = 0
    for _ in range(6):
        value = made.add("Sigmoid", value)
    found = made.aligned("; ".join(["Sigmoid (NC)"] * 5), value)
    assert {event.match for event in found.events} == {"ambiguous"}
    first = found.events[0]
    assert (first.candidates, first.reason) == ((0, 1), "one of Sigmoid_0, Sigmoid_1")
    assert (found.cost, found.fits, found.events_of) == (SKIP, True, {})


def test_events_numbered_out_of_sequence_and_empty_lists() -> None:
    made = Made()
    graph = made.graph(made.add("Sigmoid", made.add("Sigmoid", 0)))
    assert told(align(graph, ["Sigmoid (NC) #2", "Sigmoid (NC) #1"])) == [
        ("order", (1,)),
        ("order", (0,)),
    ]
    assert told(align(graph, ["Sigmoid (NC) #1", "Sigmoid (NC) #3"]))[0] == ("order", (0,))
    assert align(graph, ["Sigmoid (NC)", "Sigmoid (NC)"]).events[0].match == "order"
    made = Made()
    found = align(made.graph(made.add("Sigmoid", 0)), [])
    assert (found.events, found.fits, found.missing) == ((), True, (0,))
    empty = Made().graph()
    assert align(empty, []).cost == 0
    assert not align(empty, ["Sigmoid (NC) #1"]).fits


def chain(length: int) -> tuple[DelegateGraph, list[str]]:
    made, value, names = Made(), 0, []
    kinds = {"FullyConnected": "Fully Connected (NC, F32) GEMM", "Softmax": "Softmax (NC, F32)"}
    kinds |= {"Sigmoid": "Sigmoid (NC)", "StaticReshape": "Static Reshape (NC)"}
    for kind, name in islice(cycle(kinds.items()), length):
        value = made.add(kind, value)
        names.append(name)
    return made.graph(value), numbered(names)


def test_lists_too_long_to_compare_are_not_aligned() -> None:
    graph, names = chain(2400)
    assert align(graph, names).cost == 0
    found = align(graph, names[1:])
    assert {event.match for event in found.events} == {"none"}
    assert "too many" in found.events[0].reason
    assert found.cost > 0


@pytest.mark.slow
def test_2000_events_are_aligned_within_0_3_seconds() -> None:
    graph, names = chain(2000)
    for each in (names, names[:700] + names[701:]):
        before = time.process_time()
        align(graph, each)
        assert time.process_time() - before < 0.3


ids = st.integers(0, 9)
bounds = st.sampled_from([None, (0.0, inf), (-inf, inf), (float("nan"), 1.0)])
odd = {"perm": 3, "pre_paddings": 1.0}
fields = st.sampled_from([POINT, CONV, PAD, {"perm": (1, 0)}, odd])
kinds_of = st.sampled_from([*NAMES, "type 77"])
lines = st.tuples(kinds_of, st.lists(ids, max_size=3), st.lists(ids, max_size=2), bounds, fields)
dtypes = st.sampled_from(["fp32", "fp16", "qint8", "qdint8", "datatype 77"])
shapes = st.sampled_from([(1,), (), (1, 2, 3, 4)])
some_values = st.builds(
    Value, ids, dtypes, shapes, st.integers(0, 2), st.sampled_from([None, None, 1])
)
some_names = st.sampled_from([*[n for names in NAMES.values() for n in names], "Pack LH", "New"])


@given(
    st.lists(lines, max_size=8), st.dictionaries(ids, some_values), st.lists(some_names, max_size=8)
)
def test_random_graphs_are_aligned_consistently(
    nodes: list[Any], values: dict[int, Value], names: list[str]
) -> None:
    made = tuple(made_node(index, *each) for index, each in enumerate(nodes))
    graph = replace(Made().graph(), values=values, nodes=made)
    found = align(graph, numbered([f"{name} (NC)" for name in names]))
    assert len(found.events) == len(names)
    mains = [event.main for event in found.events if event.main is not None]
    silent = {*found.taken_in, *found.idle, *found.missing}
    assert silent.isdisjoint(mains)
    for event in found.events:
        assert (event.match in {"exact", "order"}) == (event.main is not None)
        assert event.match != "exact" or (found.cost == 0 and not event.reason)
        assert event.main is None or event.main in event.nodes
    for into in found.taken_in.values():
        assert {*found.taken_in, *found.idle}.isdisjoint(into)


# Against plain enumeration -----------------------------------------------------------------------

KINDS = 3
costs = st.tuples(*[st.sampled_from([0, 0, 1, 3, NEVER, NEVER])] * KINDS)
step = st.builds(
    OrderStep, st.sampled_from([0, 1, SKIP]), costs, st.none() | st.tuples(costs, costs)
)
kind_lists = st.lists(st.integers(0, KINDS - 1), max_size=5)
Given = tuple[tuple[int, int], ...]


def ways(
    steps: Sequence[OrderStep], kinds: Sequence[int], skips: Sequence[int], at: int = 0
) -> Iterator[tuple[int, Given]]:
    """Yield all alignments: the cost, and (nodes left, event) of each event; -1 for no node."""
    left = len(steps)
    if not left and at == len(kinds):
        yield 0, ()
    moves: list[tuple[int, int, int]] = []
    if at < len(kinds):
        moves.append((skips[kinds[at]], 1, 0))
    if left:
        here = steps[0]
        moves.append((here.nothing, 0, 1))
        if at < len(kinds):
            moves.append((here.one[kinds[at]], 1, 1))
        if here.two is not None and at + 1 < len(kinds):
            moves.append((here.two[0][kinds[at]] + here.two[1][kinds[at + 1]], 2, 1))
    for cost, events, nodes in moves:
        mine = tuple((left if nodes else -1, at + each) for each in range(events))
        for rest, given_there in ways(steps[nodes:], kinds, skips, at + events):
            yield cost + rest, mine + given_there


def enumerated(
    steps: Sequence[OrderStep], kinds: Sequence[int], skips: Sequence[int]
) -> tuple[int, list[int], int]:
    known = list(ways(steps, kinds, skips))
    best = min(cost for cost, _ in known)
    cheapest = {each for cost, pairs in known if cost == best for each in pairs}
    bits = [0] * len(steps)
    for left, event in cheapest:
        if left > 0:
            bits[len(steps) - left] |= 1 << event
    return best, bits, sum(1 << event for left, event in cheapest if left < 0)


@given(st.lists(step, max_size=4), kind_lists, st.tuples(*[st.sampled_from([1, SKIP])] * KINDS))
def test_in_order_finds_all_cheapest_alignments(
    steps: list[OrderStep], kinds: list[int], skips: tuple[int, ...]
) -> None:
    found = in_order(steps, kinds, skips)
    assert (found.cost, [*found.given], found.free) == enumerated(steps, kinds, skips)
    assert bool(found.bad) <= bool(found.cost)


# Names -------------------------------------------------------------------------------------------


QUANTIZED = "Fully Connected", ("NC", "QDU8", "F32", "QC8W"), "GEMM", 2
POOLING = "Average Pooling", ("NHWC", "F32"), "Average Pooling", 1
LONG = "Add (ND) #" + "9" * 5000


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("Fully Connected (NC, QDU8, F32, QC8W) GEMM #2", QUANTIZED),
        ("Average Pooling (NHWC, F32) Average Pooling #1", POOLING),
        ("Add (ND) #12", ("Add", ("ND",), "", 12)),
        ("Mean (ND) Reduce2", ("Mean", ("ND",), "Reduce2", None)),
        ("Pack LH (X32) #1", ("Pack LH", ("X32",), "", 1)),
        ("Copy #3", ("Copy", (), "", 3)),
        ("odd (", ("odd (", (), "", None)),
        ("", ("", (), "", None)),
        (LONG, (LONG, (), "", None)),
    ],
)
def test_parts_of_names(name: str, parts: tuple[Any, ...]) -> None:
    assert parts_of(name) == parts


@recorded
def test_every_part_of_names_is_explained() -> None:
    for name in {name for call in calls() for name in call.names}:
        parts = parts_of(name)
        expected = [*parts.types, *([parts.kernel] if parts.kernel else [])]
        assert [part for part, _ in explain_name(name)] == expected
        if parts.base not in {"Slice", "Resize Bilinear"}:
            assert xnnpack_family(name) is not None, name


def test_parts_are_explained() -> None:
    explained = explain_name("Convolution (NHWC, QC8) IGEMM #1")
    assert [part for part, _ in explained] == ["NHWC", "QC8", "IGEMM"]
    assert "CPU's choice" in dict(explain_name("Fully Connected (NC, QD8, F32, QC4W)"))["QD8"]
    assert explain_name("anything") == ()
