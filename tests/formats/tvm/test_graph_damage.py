"""Whatever the bytes: FormatError, or a graph whose columns fit each other."""

import json
import time

import pytest
from formats.tvm.graph_truth import assert_consistent, mutate, read, valid

from tvmdbg_widgets.formats.tvm.graph.graph_json import sniff
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.graph.graph import Graph


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
def test_non_graph_is_refused(content: bytes, told: str) -> None:
    with pytest.raises(FormatError, match=told):
        read(content)


def test_sniff_accepts_graph_with_late_nodes() -> None:
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
    assert graph.edge_source.tolist() == list(range(10_001))
    assert len(graph.edge_candidates[10_000]) == 64
