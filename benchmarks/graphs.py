"""Graphs of a given size in TVM's own JSON, made of the stages real networks are made of.

Deterministic. Parameters are nodes, as TVM has them, read once each: about 1.3 edges a node.
"""

from __future__ import annotations

import json
import random
import zlib
from dataclasses import dataclass, field
from math import prod
from typing import Any

Shape = tuple[int, ...]
Entry = tuple[int, int]

_FUSED = "tvmgen_default_fused_"
_LAYOUT = {"data_layout": "NCHW", "kernel_layout": "OIHW", "out_layout": ""}


def network(nodes: int, seed: int = 1) -> str:
    """Return the graph JSON of a network with about so many nodes.

    Residual, inception, transformer and mixture-of-experts stages of two to eight blocks follow
    each other in a random order, each in shapes of its own; two masks are read by every transformer
    block; storage is shared as TVM's planner shares it.
    """
    chance = random.Random(seed)
    built = _Graph()
    masks = [built.variable(name, (1, 1, 128, 128)) for name in ("attention_mask", "head_mask")]
    tokens = built.variable("data", (1, 128, 256))
    x = built.op("layout_transform", [tokens], (1, 64, 32, 32))
    picture = True
    while len(built.nodes) < nodes:
        stage = chance.choice(["residual", "inception", "transformer", "experts"])
        wide = 32 * chance.randint(1, 8)
        if (stage in ("residual", "inception")) != picture:
            picture = not picture
            x = built.op("reshape", [x], built.shape(x))
        shape: Shape = (1, wide, 32, 32) if picture else (1, 128, wide)
        x = _enter(built, x, shape)
        for _ in range(chance.randint(2, 8)):
            if len(built.nodes) >= nodes:
                break
            if stage == "residual":
                x = _residual(built, x, shape)
            elif stage == "inception":
                x = _inception(built, x, shape)
            elif stage == "transformer":
                x = _transformer(built, x, shape, masks)
            else:
                x = _experts(built, x, shape)
    return built.json(x)


def residual_graph(nodes: int) -> str:
    """Return the graph JSON of a network of equal residual blocks with about so many nodes."""
    built = _Graph()
    shape = (1, 64, 56, 56)
    stem = built.convolution(built.variable("data", shape), shape)
    while len(built.nodes) + 7 <= nodes:
        second = built.convolution(built.convolution(stem, shape), shape)
        stem = built.op("add_nn_relu", [second, stem], shape)
    return built.json(stem)


@dataclass
class _Graph:
    nodes: list[dict[str, Any]] = field(default_factory=list)
    shapes: list[list[Shape]] = field(default_factory=list)
    functions: dict[tuple[str, ...], str] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    repeats: dict[str, int] = field(default_factory=dict)
    parameters: int = 0

    def shape(self, entry: Entry) -> Shape:
        return self.shapes[entry[0]][entry[1]]

    def variable(self, name: str, shape: Shape) -> Entry:
        self.nodes.append({"op": "null", "name": name, "inputs": []})
        self.shapes.append([shape])
        return len(self.nodes) - 1, 0

    def parameter(self, *shape: int) -> Entry:
        self.parameters += 1
        return self.variable(f"p{self.parameters - 1}", shape)

    def op(self, kind: str, inputs: list[Entry], *shapes: Shape, **attrs: str) -> Entry:
        """Add an op; one function for each kind and set of shapes, as TVM's compiler has it."""
        key = (kind, *map(str, shapes), *(str(self.shape(each)) for each in inputs))
        function = "__nop" if kind == "reshape" else self.functions.get(key)
        if function is None:
            count = self.used.get(kind, 0)
            self.used[kind] = count + 1
            function = f"{_FUSED}{kind}" + (f"_{count}" if count else "")
            self.functions[key] = function
        stem = "reshape_nop" if kind == "reshape" else function
        name, again = stem, self.repeats.get(stem, 0)
        while name in self.names:
            again += 1
            name = f"{stem}{again}"
        self.repeats[stem] = again
        self.names.add(name)
        self.nodes.append(
            {
                "op": "tvm_op",
                "name": name,
                "attrs": {
                    "num_outputs": str(len(shapes)),
                    "num_inputs": str(len(inputs)),
                    "flatten_data": "0",
                    "func_name": function,
                    "hash": f"{zlib.crc32(' '.join(key).encode()):016x}",
                    **attrs,
                },
                "inputs": [[node, output, 0] for node, output in inputs],
            }
        )
        self.shapes.append(list(shapes))
        return len(self.nodes) - 1, 0

    def convolution(
        self, x: Entry, shape: Shape, kernel: int = 3, kind: str = "nn_conv2d_add_nn_relu"
    ) -> Entry:
        weight = self.parameter(shape[1], self.shape(x)[1], kernel, kernel)
        bias = self.parameter(1, shape[1], 1, 1)
        return self.op(kind, [x, weight, bias], shape, **_LAYOUT)

    def dense(self, x: Entry, shape: Shape, kind: str = "nn_batch_matmul") -> Entry:
        return self.op(kind, [x, self.parameter(1, shape[-1], self.shape(x)[-1])], shape)

    def storage(self) -> list[int]:
        """Plan: variables own their storage, reshapes share it, what is dead is reused."""
        readers: dict[Entry, int] = {}
        for node in self.nodes:
            for source, output, _ in node["inputs"]:
                readers[source, output] = readers.get((source, output), 0) + 1
        free: dict[int, list[int]] = {}
        slot: dict[Entry, int] = {}
        left: list[int] = []
        for i, node in enumerate(self.nodes):
            inputs = [(source, output) for source, output, _ in node["inputs"]]
            for output, shape in enumerate(self.shapes[i]):
                waiting = free.get(prod(shape)) if inputs else None
                if node.get("attrs", {}).get("func_name") == "__nop":
                    slot[i, output] = slot[inputs[0]]
                elif waiting:
                    slot[i, output] = waiting.pop()
                else:
                    slot[i, output] = len(left)
                    left.append(0 if inputs else len(self.nodes))
                left[slot[i, output]] += readers.get((i, output), 0)
            for entry in inputs:
                left[slot[entry]] -= 1
                if left[slot[entry]] == 0:
                    free.setdefault(prod(self.shape(entry)), []).append(slot[entry])
        return [
            slot[i, output] for i, each in enumerate(self.shapes) for output in range(len(each))
        ]

    def json(self, head: Entry) -> str:
        row_ptr = [0]
        for each in self.shapes:
            row_ptr.append(row_ptr[-1] + len(each))
        return json.dumps(
            {
                "nodes": self.nodes,
                "arg_nodes": [i for i, node in enumerate(self.nodes) if node["op"] == "null"],
                "heads": [[*head, 0]],
                "node_row_ptr": row_ptr,
                "attrs": {
                    "dltype": ["list_str", ["float32"] * row_ptr[-1]],
                    "storage_id": ["list_int", self.storage()],
                    "shape": [
                        "list_shape",
                        [list(shape) for each in self.shapes for shape in each],
                    ],
                },
            }
        )


def _enter(built: _Graph, x: Entry, shape: Shape) -> Entry:
    """Bring the activation into the shape of the next stage."""
    if len(shape) == 4:
        return built.convolution(x, shape, 1)
    return built.dense(x, shape, "nn_dense_add")


def _residual(built: _Graph, x: Entry, shape: Shape) -> Entry:
    y = built.convolution(x, shape)
    y = built.convolution(y, shape, kind="nn_conv2d_add")
    return built.op("add_nn_relu", [y, x], shape)


def _inception(built: _Graph, x: Entry, shape: Shape) -> Entry:
    quarter = (1, shape[1] // 4, *shape[2:])
    a = built.convolution(x, quarter, 1)
    b = built.convolution(built.convolution(x, quarter, 1), quarter)
    c = built.convolution(built.convolution(built.convolution(x, quarter, 1), quarter), quarter)
    d = built.convolution(built.op("nn_max_pool2d", [x], shape, layout="NCHW"), quarter, 1)
    return built.op("concatenate", [a, b, c, d], shape)


def _norm(built: _Graph, x: Entry, shape: Shape) -> Entry:
    one = (*shape[:-1], 1)
    centered = built.op("subtract", [x, built.op("mean", [x], one)], shape)
    deviation = built.op("power_mean_add_sqrt", [centered], one)
    scale, shift = built.parameter(shape[-1]), built.parameter(shape[-1])
    return built.op("divide_multiply_add", [centered, deviation, scale, shift], shape)


def _transformer(built: _Graph, x: Entry, shape: Shape, masks: list[Entry]) -> Entry:
    heads = (4, 128, shape[-1] // 4)
    square = (1, 4, 128, 128)
    normed = _norm(built, x, shape)
    q, k, v = (
        built.op("transpose", [built.op("reshape", [built.dense(normed, shape)], shape)], heads)
        for _ in range(3)
    )
    scores = built.op("nn_batch_matmul_multiply_add", [q, k, masks[0]], square)
    mixed = built.op("nn_softmax_multiply", [scores, masks[1]], square)
    context = built.op("nn_batch_matmul_1", [mixed, v], heads)
    merged = built.op("reshape", [built.op("transpose", [context], shape)], shape)
    y = built.op("add", [built.dense(merged, shape), x], shape)
    wide = (*shape[:-1], 4 * shape[-1])
    hidden = built.dense(_norm(built, y, shape), wide, "nn_batch_matmul_add_gelu")
    return built.op("add", [built.dense(hidden, shape), y], shape)


def _experts(built: _Graph, x: Entry, shape: Shape) -> Entry:
    normed = _norm(built, x, shape)
    routed = built.dense(normed, (*shape[:-1], 8), "nn_batch_matmul_nn_softmax")
    chosen, _ = built.op("topk", [routed], (*shape[:-1], 2), (*shape[:-1], 2))
    wide = (*shape[:-1], 4 * shape[-1])
    parts: list[Entry] = []
    for _ in range(8):
        picked = built.op("where_take", [normed, (chosen, 1)], shape)
        hidden = built.dense(picked, wide, "nn_batch_matmul_add_gelu")
        parts.append(built.op("multiply", [built.dense(hidden, shape), (chosen, 0)], shape))
    return built.op("add", [built.op("concatenate_sum", parts, shape), x], shape)
