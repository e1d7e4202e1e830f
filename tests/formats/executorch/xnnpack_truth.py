"""Programs of fixtures/executorch/xnnpack_inside, with what XNNPACK's runtime really did."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from tvmdbg_widgets.model.executorch.delegate_graph import (
    DelegateGraph,
    DelegateNode,
    DelegateValue,
)

if TYPE_CHECKING:
    from pathlib import Path

NO_ID = 0xFFFFFFFF
NO_HANDLE = 65535
_TYPES = """
Add FullyConnected Softmax Sigmoid StaticTranspose Clamp Conv2d Div StaticResizeBilinear2D
StaticConstantPad AvgPooling2d Minimum DepthwiseConv2d MaxPooling2d Multiply Subtract Floor Convert
GlobalAvgPooling2d StaticReshape ArgMaxPooling2d SquareRoot Ceiling Hardswish LeakyReLU Maximum
Negate Square ELU Abs PReLU Concatenate2 Concatenate3 Concatenate4 StaticSlice
ScaledDotProductAttention BatchMatrixMultiply Concatenate5 ConvTranspose2d ReciprocalSquareRoot Log
Gelu Tanh Exp Sin Copy Cos
"""
#: Number of each type of node in the union.
TYPES = {name: number for number, name in enumerate(_TYPES.split(), 1)}


class Call(NamedTuple):
    """A call of a delegate: its events' names and the nodes that each was of."""

    case: str
    graph: DelegateGraph
    names: tuple[str, ...]
    nodes: tuple[tuple[int, ...], ...]


@cache
def calls(corpus: Path) -> tuple[Call, ...]:
    """Return the calls of all cases, those of the same delegate and events once."""
    found: dict[tuple[str, int, tuple[str, ...]], Call] = {}
    for path in sorted(corpus.glob("executorch/xnnpack_inside/*/truth.json")):
        truth = json.loads(path.read_bytes())
        graphs = [graph_of(each["graph"]) for each in truth["delegates"]]
        for call in truth["calls"]:
            names = tuple(call["names"])
            key = path.parent.name, call["delegate"], names
            nodes = tuple(map(tuple, call["xnodes"]))
            found.setdefault(key, Call(key[0], graphs[call["delegate"]], names, nodes))
    return tuple(found.values())


def graph_of(decoded: dict[str, Any]) -> DelegateGraph:
    """Return the graph that flatc printed."""
    values = [_value(each) for each in decoded["xvalues"]]
    return DelegateGraph(
        backend="XnnpackBackend",
        file="model.pte",
        identifier="XN01",
        version=decoded["version"],
        header={},
        nodes=tuple(_node(index, each) for index, each in enumerate(decoded["xnodes"])),
        values={value.id: value for value in values},
        num_externs=decoded["num_externs"],
        inputs=tuple(decoded["input_ids"]),
        outputs=tuple(decoded["output_ids"]),
    )


def _value(each: dict[str, Any]) -> DelegateValue:
    own = each["xvalue_union"]
    tensor = own.get("tensor_value", own)
    quantization = own.get("quant_params", {}) if "tensor_value" in own else {}
    return DelegateValue(
        id=tensor["id_out"],
        dtype=tensor["datatype"].removeprefix("xnn_datatype_"),
        shape=tuple(tensor.get("dims", ())),
        constant=tensor["constant_buffer_idx"],
        external_id=None if tensor["external_id"] == NO_ID else tensor["external_id"],
        quantization={
            key: tuple(value) if isinstance(value, list) else value
            for key, value in quantization.items()
        },
    )


def _node(index: int, each: dict[str, Any]) -> DelegateNode:
    kind = each["xnode_union_type"].removeprefix("XNN")
    own = each["xnode_union"]
    ids = {key: value for key, value in own.items() if key.endswith("_id") and value != NO_ID}
    limits = each.get("output_min_max")
    last = int(kind[-1]) if kind.startswith("Concatenate") else 5
    return DelegateNode(
        index=index,
        type=kind,
        type_number=TYPES[kind],
        handle=None if each["debug_handle"] == NO_HANDLE else each["debug_handle"],
        inputs=tuple(
            (key, value)
            for key, value in sorted(ids.items(), key=_position)
            if not key.startswith("output") and not _is_beyond(key, last)
        ),
        outputs=tuple((key, value) for key, value in ids.items() if key.startswith("output")),
        bounds=limits and (float(limits["output_min"]), float(limits["output_max"])),
        fields={
            key: tuple(value) if isinstance(value, list) else value for key, value in own.items()
        },
    )


def _position(item: tuple[str, int]) -> tuple[int, str]:
    order = ("input", "query", "key", "value", "filter", "bias", "scale", "mask")
    return next(at for at, word in enumerate(order) if item[0].startswith(word) or at == 7), item[0]


def _is_beyond(key: str, last: int) -> bool:
    number = key.removeprefix("input").removesuffix("_id")
    return number.isdigit() and int(number) > last
