"""Graph JSON as TVM writes it, from its nodes and what each of them reads."""

import json
from collections.abc import Sequence
from typing import Any

Node = dict[str, Any]


def null(name: str) -> Node:
    return {"op": "null", "name": name, "inputs": []}


def operator(
    name: str, func: str, reads: Sequence[int | list[int]], outputs: int = 1, **attrs: Any
) -> Node:
    """Return an operator that reads the first outputs of nodes, or entries of the file."""
    counts = {"num_outputs": str(outputs), "num_inputs": str(len(reads)), "flatten_data": "0"}
    inputs = [[each, 0, 0] if isinstance(each, int) else each for each in reads]
    attrs = {**counts, "func_name": func, **attrs}
    return {"op": "tvm_op", "name": name, "attrs": attrs, "inputs": inputs}


def document(
    nodes: Sequence[Node],
    *,
    heads: Sequence[int] | None = None,
    shapes: Sequence[Any] = (1, 4),
    dtypes: str | Sequence[str] = "float32",
    storage: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Return a graph, whose last node is the head; one shape or dtype is that of all entries."""
    rows = [0]
    for node in nodes:
        rows.append(rows[-1] + int(node.get("attrs", {}).get("num_outputs", 1)))
    one = not shapes or isinstance(shapes[0], int)
    ids = range(rows[-1]) if storage is None else storage
    last = [len(nodes) - 1] if nodes else []
    return {
        "nodes": [*nodes],
        "arg_nodes": [at for at, node in enumerate(nodes) if node["op"] == "null"],
        "heads": [[at, 0, 0] for at in (last if heads is None else heads)],
        "node_row_ptr": rows,
        "attrs": {
            "shape": ["list_shape", [[*each] for each in ([shapes] * rows[-1] if one else shapes)]],
            "dltype": ["list_str", [dtypes] * rows[-1] if isinstance(dtypes, str) else [*dtypes]],
            "storage_id": ["list_int", [*ids]],
        },
    }


def graph_json(nodes: Sequence[Node], **how: Any) -> bytes:
    return json.dumps(document(nodes, **how)).encode()


def chain(names: Sequence[str], func: str = "fused_add", **how: Any) -> bytes:
    """Return the JSON of one input and operators in a row."""
    nodes = [null(names[0]), *(operator(name, func, [at]) for at, name in enumerate(names[1:]))]
    return graph_json(nodes, **how)
