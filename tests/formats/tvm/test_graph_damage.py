"""Whatever the bytes: FormatError, or a graph whose columns fit each other."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest
from formats.tvm.graph_truth import assert_consistent, mutate, read, valid
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.formats.tvm.graph.graph_json import sniff
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.graph.graph import Graph

DATA = Path(__file__).parents[2] / "data"
FORMS = {
    "raw": json.dumps(valid()).encode(),
    "string": json.dumps(json.dumps(valid())).encode(),
    "mutated": json.dumps(mutate(valid())).encode(),
    "commented": (DATA / "graph/commented.json").read_bytes(),
    "nnvm": (DATA / "graph/nnvm.json").read_bytes(),
}


def survive(data: bytes, raw: Graph | None = None) -> Graph | None:
    sniff(data)
    refused = ""
    try:
        graph = read(data, raw)
    except FormatError as error:
        refused = str(error)
    if refused:
        assert b"graph.json" in refused.encode()
        return None
    assert_consistent(graph)
    return graph


@pytest.mark.parametrize("form", FORMS)
def test_cut_at_every_byte(form: str) -> None:
    data = FORMS[form].rstrip()
    assert survive(data) is not None
    for length in range(len(data)):
        assert survive(data[:length]) is None


@pytest.mark.parametrize("form", FORMS)
def test_one_byte_changed(form: str) -> None:
    chance = random.Random(7)
    for _ in range(400):
        data = bytearray(FORMS[form])
        for _ in range(chance.choice((1, 1, 2, 5))):
            data[chance.randrange(len(data))] = chance.randrange(256)
        survive(bytes(data))


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.integers(-2, 7)
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["x", "p0", "split", "null", "tvm_op", "param", "__nop", "list_int"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys: Any = ()
    if isinstance(value, dict):
        keys = list(value)
    elif isinstance(value, list):
        keys = range(len(value))
    return [path, *(deeper for key in keys for deeper in places(value[key], (*path, key)))]


PLACES = {form: places(make(valid())) for form, make in (("raw", lambda v: v), ("mutated", mutate))}


@given(st.data(), st.sampled_from(["raw", "mutated"]), st.booleans())
def test_any_value_anywhere(data: st.DataObject, form: str, with_raw: bool) -> None:
    document: Any = valid() if form == "raw" else mutate(valid())
    for _ in range(data.draw(st.integers(1, 4))):
        *path, last = data.draw(st.sampled_from(PLACES[form][1:]))
        spot = document
        try:
            for key in path:
                spot = spot[key]
            action = data.draw(st.sampled_from(["set", "delete", "double"]))
            if action == "set":
                spot[last] = data.draw(json_values)
            elif action == "delete":
                del spot[last]
            else:
                spot.insert(last, spot[last])
        except (LookupError, TypeError, AttributeError):
            continue
    survive(json.dumps(document).encode(), read(valid()) if with_raw else None)


@given(json_values)
def test_any_json(value: Any) -> None:
    survive(json.dumps(value).encode())
    survive(json.dumps({"nodes": value, "attrs": value, "node_row_ptr": value}).encode())
    survive(json.dumps({**valid(), "attrs": {"shape": value, "dltype": value}}).encode())


@given(st.binary(max_size=60))
def test_any_bytes(data: bytes) -> None:
    survive(data)


@pytest.mark.parametrize("opening", ["[", '{"a":', '{"nodes":[', '{"nodes":[{"inputs":[['])
def test_deep_nesting(opening: str) -> None:
    with pytest.raises(FormatError):
        read(opening * 200_000)
    closing = "]" * 100_000
    text = json.dumps({**valid(), "metadata": 0}).replace('"metadata": 0', '"metadata": ')
    with pytest.raises(FormatError, match="nested too deeply"):
        read(text[:-1] + "[" * 100_000 + closing + "}")


def test_endless_number() -> None:
    with pytest.raises(FormatError, match="number too long"):
        read('{"nodes": [' + "9" * 10_000 + "]}")


@pytest.mark.slow
@pytest.mark.parametrize("text", ['"', '\\"', "\\", "#,", ", ", '#"', "\\ud800"])
def test_lenient_reading_takes_linear_time(text: str) -> None:
    start = time.process_time()
    with pytest.raises(FormatError):
        read('["a", #' + text * 300_001)
    with pytest.raises(FormatError):
        read('["a", ' + text * 300_001)
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "empty"),
        (b" \n\0", "empty"),
        (b"[]", "a JSON list"),
        (b"3", "a JSON number"),
        (b'"3"', "a JSON number"),
        (b"{}", "an empty object"),
        (b'{"nodes": {}}', "a JSON object"),
        (b'{"traceEvents": []}', "execution trace"),
        (b'{"calls": []}', "profiling report"),
        (b'{"nodes": [}', "line 1, column 12"),
    ],
)
def test_what_is_no_graph(content: bytes, told: str) -> None:
    with pytest.raises(FormatError, match=told):
        read(content)


def test_an_empty_graph() -> None:
    empty = {"nodes": [], "arg_nodes": [], "heads": [], "node_row_ptr": [0], "attrs": {}}
    graph = survive(json.dumps(empty).encode())
    assert graph is not None
    assert graph.num_nodes == graph.num_entries == 0
    assert repr(graph).startswith("Graph: 0 nodes")


@pytest.mark.parametrize("form", FORMS)
def test_sniff(form: str) -> None:
    assert sniff(FORMS[form])
    assert not sniff(b"\xb7\x9c\x04\x05")
    assert not sniff(b'{"displayTimeUnit": "ns", "traceEvents": []}')
    assert not sniff(b"Node Name  Ops  Time(us)")


def test_sniff_where_nodes_come_late() -> None:
    raw = valid()
    raw["nodes"] = raw.pop("nodes") * 5000
    assert sniff(json.dumps({k: raw[k] for k in ("attrs", "heads", "nodes")}).encode()[:300])


@pytest.mark.slow
def test_a_name_of_ten_thousand_nodes_costs_linear_time() -> None:
    node = mutate(valid())["nodes"][4]
    first = {"op": "param", "name": "x", "inputs": [], "attrs": {"T": "type: float32"}, "shape": []}
    dump = {"nodes": [first, {**node, "inputs": ["x"]}]}
    dump["nodes"] += [{**node, "inputs": ["reshape_nop"]} for _ in range(10_000)]
    start = time.process_time()
    graph = survive(json.dumps(dump).encode())
    assert time.process_time() - start < 10
    assert graph is not None
    assert graph.edge_source.tolist() == list(range(10_001))
    assert len(graph.edge_candidates[10_000]) == 64
