"""Graphs of delegates as flatc decoded their payloads, from the recorded programs' truth."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tvmdbg_widgets.model.executorch.delegate_graph import (
    DelegateGraph,
    DelegateNode,
    DelegateValue,
    Field,
)

FOLDER = Path(os.environ.get("TVMDBG_CORPUS", "")) / "executorch" / "xnnpack_inside"
CASES = tuple(sorted(path.parent.name for path in FOLDER.glob("*/truth.json")))
_NONE = 0xFFFFFFFF


def truth(case: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / case / "truth.json").read_bytes())
    return found


def graph_of_truth(told: dict[str, Any]) -> DelegateGraph:
    """Return the graph of an item of ``delegates``."""
    graph = told["graph"]
    values = [_value(each["xvalue_union"]) for each in graph["xvalues"]]
    return DelegateGraph(
        backend=told["backend"],
        file="model.pte",
        identifier=told["header"]["identifier"],
        version=graph["version"],
        header=told["header"],
        nodes=tuple(
            _node(index, each, short)
            for index, (each, short) in enumerate(zip(graph["xnodes"], told["nodes"], strict=True))
        ),
        values={value.id: value for value in values},
        num_externs=graph["num_externs"],
        inputs=tuple(graph["input_ids"]),
        outputs=tuple(graph["output_ids"]),
    )


def _value(told: dict[str, Any]) -> DelegateValue:
    told = told.get("tensor_value", told)
    external = told["external_id"] if told["flags"] & 3 else None
    return DelegateValue(
        told["id_out"],
        told["datatype"].removeprefix("xnn_datatype_"),
        tuple(told.get("dims") or ()),
        external_id=external,
    )


def _node(index: int, told: dict[str, Any], short: dict[str, Any]) -> DelegateNode:
    union = told["xnode_union"]
    kind = short["type"]
    fields: dict[str, Field] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in union.items()
    }
    ids = [(name, value) for name, value in union.items() if name.endswith("_id")]
    if kind.startswith("Concatenate"):
        most = int(kind[-1])
        ids = [each for each in ids if each[0][:5] != "input" or int(each[0][5]) <= most]
    ids = [each for each in ids if each[1] != _NONE]
    return DelegateNode(
        index,
        kind,
        0,
        short["debug_handle"],
        tuple(each for each in ids if not each[0].startswith("output")),
        tuple(each for each in ids if each[0].startswith("output")),
        fields=fields,
    )
