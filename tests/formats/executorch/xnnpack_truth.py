"""Recorded programs with XNNPACK's delegate, and what the runtime, flatc and the dump say of each.

Nothing here uses the package's readers.
"""

import json
import lzma
import os
import struct
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tvmdbg_widgets.model.executorch import delegate_graph as ours

#: The recorded programs, of which there are none without a corpus, and the small ones in the tree.
FOLDER = Path(os.environ.get("TVMDBG_CORPUS", "")) / "executorch" / "xnnpack_inside"
CASES = tuple(sorted(path.parent.name for path in FOLDER.glob("*/truth.json")))
recorded = pytest.mark.skipif(not CASES, reason="set TVMDBG_CORPUS to the folder of recorded runs")
INSIDE = Path(__file__).parents[2] / "data" / "xnnpack_inside"

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


@cache
def truth(case: str | Path) -> dict[str, Any]:
    """Return what the runtime and flatc said of a case: one of the corpus, or a folder."""
    path = FOLDER / case / "truth.json"
    packed = path.with_name("truth.json.xz")
    raw = path.read_bytes() if path.exists() else lzma.decompress(packed.read_bytes())
    return json.loads(raw)


class Call(NamedTuple):
    """A call of a delegate: its events' names and the nodes that each was of."""

    case: str
    graph: ours.DelegateGraph
    names: tuple[str, ...]
    nodes: tuple[tuple[int, ...], ...]


@cache
def calls() -> tuple[Call, ...]:
    """Return the calls of all cases, those of the same delegate and events once."""
    found: dict[tuple[str, int, tuple[str, ...]], Call] = {}
    for case in CASES:
        graphs = [graph_of(each["graph"]) for each in truth(case)["delegates"]]
        for call in truth(case)["calls"]:
            names = tuple(call["names"])
            nodes = tuple(map(tuple, call["xnodes"]))
            key = case, call["delegate"], names
            found.setdefault(key, Call(case, graphs[call["delegate"]], names, nodes))
    return tuple(found.values())


class Ticks(NamedTuple):
    """A profile event as its file has it; of another event all is empty."""

    name: str
    instruction: int
    operator: str
    start: int
    end: int

    @property
    def ns(self) -> int:
        return self.end - self.start


@cache
def ticks(folder: Path) -> list[list[Ticks]]:
    """Return the events of each block of a dump, by ``etdump_schema_flatcc.fbs`` alone."""
    data = next(folder.glob("*.etdp")).read_bytes()[4:]

    def number(kind: str, at: int, default: int = 0) -> int:
        return int(struct.unpack_from(f"<{kind}", data, at)[0]) if at else default

    def field(table: int, slot: int) -> int:
        vtable = table - number("i", table)
        known = table and 4 + 2 * slot < number("H", vtable)
        offset = number("H", vtable + 4 + 2 * slot) if known else 0
        return table + offset if offset else 0

    def inside(at: int) -> int:
        return at + number("I", at) if at else 0

    def text(at: int) -> str:
        first = inside(at)
        return data[first + 4 : first + 4 + number("I", first)].decode() if first else ""

    def tables(at: int) -> list[int]:
        first = inside(at)
        return [inside(first + 4 + 4 * k) for k in range(number("I", first))]

    def event(at: int) -> Ticks:
        profile = inside(field(at, 0))
        name, _, instruction, _, operator, _, start, end = (
            field(profile, slot) if profile else 0 for slot in range(8)
        )
        return Ticks(
            text(name),
            number("i", instruction, -1),
            text(operator),
            number("Q", start),
            number("Q", end),
        )

    (root,) = struct.unpack_from("<I", data)
    return [[event(each) for each in tables(field(run, 3))] for run in tables(field(root, 1))]


def graph_of(decoded: dict[str, Any]) -> ours.DelegateGraph:
    values = [_value(each) for each in decoded["xvalues"]]
    return ours.DelegateGraph(
        *("XnnpackBackend", "model.pte", "XN01", decoded["version"], {}),
        nodes=tuple(_node(index, each) for index, each in enumerate(decoded["xnodes"])),
        values={value.id: value for value in values},
        num_externs=decoded["num_externs"],
        inputs=tuple(decoded["input_ids"]),
        outputs=tuple(decoded["output_ids"]),
    )


def _plain(held: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in held.items()}


def _value(each: dict[str, Any]) -> ours.DelegateValue:
    own = each["xvalue_union"]
    tensor = own.get("tensor_value", own)
    external = tensor["external_id"]
    return ours.DelegateValue(
        id=tensor["id_out"],
        dtype=tensor["datatype"].removeprefix("xnn_datatype_"),
        shape=tuple(tensor.get("dims", ())),
        constant=tensor["constant_buffer_idx"],
        external_id=None if external == NO_ID else external,
        quantization=_plain(own.get("quant_params", {}) if "tensor_value" in own else {}),
    )


def _node(index: int, each: dict[str, Any]) -> ours.DelegateNode:
    kind, own, handle = each["xnode_union_type"][3:], each["xnode_union"], each["debug_handle"]
    ids = {key: value for key, value in own.items() if key.endswith("_id") and value != NO_ID}
    limits = each.get("output_min_max")
    last = int(kind[-1]) if kind.startswith("Concatenate") else 5
    inputs = {k: v for k, v in ids.items() if k[:6] != "output" and not _is_beyond(k, last)}
    return ours.DelegateNode(
        *(index, kind, TYPES[kind], None if handle == NO_HANDLE else handle),
        inputs=tuple(sorted(inputs.items(), key=_position)),
        outputs=tuple((key, value) for key, value in ids.items() if key.startswith("output")),
        bounds=limits and (float(limits["output_min"]), float(limits["output_max"])),
        fields=_plain(own),
    )


def _position(item: tuple[str, int]) -> tuple[int, str]:
    order = ("input", "query", "key", "value", "filter", "bias", "scale", "mask")
    return next(at for at, word in enumerate(order) if item[0].startswith(word) or at == 7), item[0]


def _is_beyond(key: str, last: int) -> bool:
    number = key.removeprefix("input").removesuffix("_id")
    return number.isdigit() and int(number) > last
