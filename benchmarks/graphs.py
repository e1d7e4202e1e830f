"""Graphs of a given size in TVM's own JSON: residual stages, parameters as nodes."""

from __future__ import annotations

import json
from typing import Any


def residual_graph(nodes: int) -> str:
    """Return the graph JSON of a network with about so many nodes (1.3 edges a node)."""
    built: list[dict[str, Any]] = [{"op": "null", "name": "data", "inputs": []}]
    shapes: list[list[int]] = [[1, 64, 56, 56]]
    stem = _conv(built, shapes, 0)
    while len(built) + 7 <= nodes:
        first = _conv(built, shapes, stem)
        second = _conv(built, shapes, first)
        stem = _op(built, shapes, "tvmgen_default_fused_add_nn_relu", [second, stem])
    count = len(built)
    return json.dumps(
        {
            "nodes": built,
            "arg_nodes": [i for i, node in enumerate(built) if node["op"] == "null"],
            "heads": [[count - 1, 0, 0]],
            "node_row_ptr": list(range(count + 1)),
            "attrs": {
                "dltype": ["list_str", ["float32"] * count],
                "storage_id": ["list_int", list(range(count))],
                "shape": ["list_shape", shapes],
            },
        }
    )


def _conv(built: list[dict[str, Any]], shapes: list[list[int]], source: int) -> int:
    inputs = [source]
    for shape in ([64, 64, 3, 3], [1, 64, 1, 1]):
        inputs.append(len(built))
        built.append({"op": "null", "name": f"p{len(built)}", "inputs": []})
        shapes.append(shape)
    return _op(built, shapes, "tvmgen_default_fused_nn_conv2d_add_nn_relu", inputs)


def _op(built: list[dict[str, Any]], shapes: list[list[int]], name: str, inputs: list[int]) -> int:
    built.append(
        {
            "op": "tvm_op",
            "name": f"{name}_{len(built)}",
            "attrs": {
                "num_outputs": "1",
                "num_inputs": str(len(inputs)),
                "flatten_data": "0",
                "func_name": name,
            },
            "inputs": [[each, 0, 0] for each in inputs],
        }
    )
    shapes.append([1, 64, 56, 56])
    return len(built) - 1
