"""Graphs of NNVM's age: type flags, and networks that were not compiled."""

import copy
import json
from typing import Any

import pytest
from formats.tvm.graph_truth import assert_consistent, edges_of, read, valid

from tvmdbg_widgets.formats.tvm.graph.entries import FLAGS
from tvmdbg_widgets.formats.tvm.graph.graph_json import sniff
from tvmdbg_widgets.model.base.text import IssueSeverity
from tvmdbg_widgets.model.graph.graph import NodeKind

pytestmark = pytest.mark.spec_only  # NNVM's and MXNet's writers: no file of theirs is at hand

SYMBOL: dict[str, Any] = {
    "nodes": [
        {
            "op": "null",
            "name": "data",
            "attrs": {"__shape__": "(1, 3, 8, 8)", "__dtype__": "2"},
            "inputs": [],
        },
        {"op": "null", "name": "conv0_weight", "inputs": []},
        {
            "op": "Convolution",
            "name": "conv0",
            "attr": {"kernel": "(3, 3)", "num_filter": "8"},
            "inputs": [[0, 0, 0], [1, 0, 0]],
            "control_deps": [0],
        },
        {
            "op": "SliceChannel",
            "name": "split",
            "param": {"num_outputs": "2"},
            "attr": {"ctx_group": "a"},
            "inputs": [[2, 0]],
            "backward_source_id": -1,
        },
        {"op": "elemwise_add", "name": "add", "inputs": [[3, 0, 0], [3, 1, 0]], "subgraphs": []},
    ],
    "arg_nodes": [0, 1],
    "heads": [[4, 0, 0]],
}


def symbol(**more: Any) -> dict[str, Any]:
    return {**copy.deepcopy(SYMBOL), **more}


def test_uncompiled_network_is_read() -> None:
    assert sniff(json.dumps(SYMBOL).encode())
    graph = read(symbol())
    assert_consistent(graph)
    assert graph.form == "symbol"
    assert {issue.rule: issue.severity for issue in graph.issues} == {
        "graph-not-compiled": IssueSeverity.NOTE
    }
    assert "Convolution, SliceChannel, elemwise_add" in graph.issues[0].message
    assert list(graph.func_names) == ["", "", "Convolution", "SliceChannel", "elemwise_add"]
    assert graph.kinds[2:].tolist() == [NodeKind.OPERATOR] * 3
    assert edges_of(graph) == [(0, 0, 2, 0), (1, 0, 2, 1), (2, 0, 3, 0), (3, 0, 4, 0), (3, 1, 4, 1)]
    assert [node.num_outputs for node in graph.nodes] == [1, 1, 1, 2, 1]
    assert (graph.control_source.tolist(), graph.control_target.tolist()) == ([0], [2])
    assert dict(graph.nodes[3].attrs) == {"num_outputs": "2", "ctx_group": "a"}
    assert graph.storage_ids is None


def test_known_shapes_and_dtypes_are_read_and_others_stay_unknown() -> None:
    graph = read(symbol())
    assert [node.shapes for node in graph.nodes][:3] == [((1, 3, 8, 8),), (None,), (None,)]
    assert list(graph.dtypes)[:2] == ["float16", ""]
    shapes = ["list_shape", [[1, 3, 8, 8], [], [1, 8, 6, 6], [1, 0], [4], [4]]]
    attrs = {"shape": shapes, "dtype": ["list_int", [0, -1, 2, 6, 7, 11]]}
    graph = read(symbol(attrs={**attrs, "mxnet_version": ["int", 10400]}))
    assert [n.shapes for n in graph.nodes] == [
        ((1, 3, 8, 8),),
        (None,),
        ((1, 8, 6, 6),),
        (None, (4,)),
        ((4,),),
    ]
    # MXNet's 7 is bool, NNVM's int16: what the file does not settle is not guessed.
    assert list(graph.dtypes) == ["float32", "", "float16", "int64", "", ""]
    assert [i.rule for i in graph.issues] == [
        "graph-not-compiled",
        "attr-dropped",
        "dtype-flag-unknown",
        "dtype-flag-unknown",
    ]


@pytest.mark.parametrize(
    "text", ["(1,", "(0, 3)", "(-1, 3)", "None", "(a)", "(" + "1," * 5000 + ")"]
)
def test_odd_shapes_of_variables_stay_unknown(text: str) -> None:
    raw = symbol()
    raw["nodes"][0]["attrs"]["__shape__"] = text
    assert read(raw).nodes[0].shapes == (None,)


def test_type_flags_replace_missing_dltype() -> None:
    raw = valid()
    del raw["attrs"]["dltype"]
    raw["attrs"]["dtype"] = ["list_int", [0, 4, 2, 7, 11, 99]]
    graph = read(raw)
    assert list(graph.dtypes) == ["float32", "int32", "float16", "int16", "uint1", ""]
    (issue,) = graph.issues.by_rule("graph-attr-missing")
    assert "attrs.dtype, NNVM's type flags" in issue.message
    (issue,) = graph.issues.by_rule("dtype-flag-unknown")
    assert "attrs.dtype[1][5]" in issue.message
    assert len(FLAGS) == 12


def test_dltype_overrides_disagreeing_type_flags() -> None:
    raw = valid()
    raw["attrs"]["dtype"] = ["list_int", [0, 0, 0, 0, 0, 4]]
    graph = read(raw)
    assert list(graph.dtypes) == ["float32"] * 6
    (issue,) = graph.issues
    assert (issue.rule, issue.severity) == ("dtype-flag-disagrees", IssueSeverity.WARNING)
    assert "int32" in issue.message
