"""Roles of null nodes without a params file: first by their readers, then by name.

A weight is the second operand of a convolution or a dense layer, a fed tensor the first; an operand
of a fused function after its weight has the size of its channels. Nodes computed from null nodes
alone, such as a weight in another layout, pass on how they are read.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.model.graph.graph import Graph, looks_like_input, looks_like_parameter
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.graph.operators import bare, family, parts


class OperandUse(enum.IntEnum):
    """The role that an operand's place in a function implies."""

    NOTHING = 0
    BESIDE = 1
    WEIGHT = 2
    FED = 3


class _FusedFunction(NamedTuple):
    """The first operator of a function that does more than move its operand."""

    name: str
    family: str
    alone: bool
    layer: bool
    decides: bool


_MOVING = frozenset({"layout/copy", "reshape"})
_BEFORE = frozenset({"pad", "constant_pad", "expand_dims", "squeeze", "transpose", "cast"})
_EMBEDS = frozenset({"embedding", "take", "gather", "embedding_bag"})
_NORMS = frozenset(
    {
        *("batch_norm", "layer_norm", "group_norm", "instance_norm", "rms_norm"),
        *("batchnorm", "layernorm", "groupnorm", "instancenorm", "batch_norm_inference"),
    }
)
_WEIGHTED = frozenset({"prelu", "bias_add", "leakyrelu", *_NORMS})
_QUANTIZED = frozenset({"quantize", "dequantize", "requantize"})
_CONVOLUTIONS = frozenset({"convolution", "deconvolution"})
_DENSE = frozenset({"fullyconnected", "dense", "dense_pack", "linear", "matmul", "sparse_dense"})


def with_roles(graph: Graph) -> Graph:
    """Return the graph with null nodes as inputs or parameters, with ``parameter_trust``."""
    null = np.flatnonzero(graph.kinds <= NodeKind.PARAMETER).tolist()
    if len(null) == 1:
        trust = np.full(graph.num_nodes, Trust.ABSENT, np.uint8)
        trust[null] = Trust.BY_ORDER
        return dataclasses.replace(graph, parameter_trust=trust)
    kinds, trust = graph.kinds.copy(), np.full(graph.num_nodes, Trust.ABSENT, np.uint8)
    uses = _uses(graph)
    for node in null:
        use, name = uses[node], graph.names[node]
        named = looks_like_parameter(name)
        fed = not named and looks_like_input(name)
        if use is OperandUse.BESIDE and fed:
            use = OperandUse.NOTHING
        kinds[node] = NodeKind.INPUT
        if use in (OperandUse.WEIGHT, OperandUse.FED, OperandUse.BESIDE):
            trust[node] = Trust.BY_ORDER
            kinds[node] = NodeKind.INPUT if use is OperandUse.FED else NodeKind.PARAMETER
        elif named or fed:
            trust[node] = Trust.BY_NAME
            kinds[node] = NodeKind.PARAMETER if named else NodeKind.INPUT
    if null and not any(kinds[node] == NodeKind.INPUT for node in null):
        # Something is fed: the first node that may be is an input.
        read = set(graph.edge_source.tolist())
        likely = [node for node in null if uses[node] is not OperandUse.WEIGHT and node in read]
        if likely:
            kinds[likely[0]], trust[likely[0]] = NodeKind.INPUT, Trust.BY_ORDER
    return dataclasses.replace(graph, kinds=kinds, parameter_trust=trust)


def _uses(graph: Graph) -> list[OperandUse]:
    """Return the use of each node by its readers, last nodes first."""
    rows = _GraphLists.of(graph)
    sources = rows.sources
    ends = np.searchsorted(graph.edge_target, np.arange(graph.num_nodes + 1)).tolist()
    codes = graph.func_names.codes.tolist()
    functions = [_function(name) for name in graph.func_names.unique]
    order = graph.topological_order
    light = (graph.kinds <= NodeKind.PARAMETER).tolist()
    for node in order.tolist():
        if not light[node] and not functions[codes[node]].decides:
            read = sources[ends[node] : ends[node + 1]]
            light[node] = bool(read) and all(reader >= 0 and light[reader] for reader in read)
    lit = np.zeros(graph.num_nodes, np.bool_)
    lit[
        graph.edge_target[(graph.edge_source >= 0) & np.array(light, np.bool_)[graph.edge_source]]
    ] = True
    uses = [OperandUse.NOTHING] * graph.num_nodes
    for node in order[lit[order]][::-1].tolist():
        reads = range(ends[node], ends[node + 1])
        function = functions[codes[node]]
        own = [_operand_use(rows, edge, node, function, reads) for edge in reads]
        passed = uses[node]
        if not light[node] or own.count(OperandUse.NOTHING) != 1 or passed is OperandUse.BESIDE:
            passed = OperandUse.NOTHING
        for edge, use in zip(reads, own, strict=True):
            if sources[edge] >= 0:
                uses[sources[edge]] = max(uses[sources[edge]], use or passed)
    return uses


class _GraphLists(NamedTuple):
    """Columns of a graph as lists, which Python reads ten times faster."""

    sources: list[int]
    outputs: list[int]
    positions: list[int]
    kinds: list[int]
    first_entry: list[int]
    shapes: Sequence[tuple[int, ...] | None]
    dtypes: StringColumn
    multiplies: list[bool]

    @classmethod
    def of(cls, graph: Graph) -> _GraphLists:
        batched = np.array(["batch_matmul" in name for name in graph.func_names.unique], np.bool_)
        return cls(
            graph.edge_source.tolist(),
            graph.edge_output.tolist(),
            graph.edge_position.tolist(),
            graph.kinds.tolist(),
            graph.entry_offsets.tolist(),
            graph.entry_shapes,
            graph.dtypes,
            batched[graph.func_names.codes].tolist() if len(batched) else [],
        )

    def entry(self, node: int, output: int) -> int:
        """Return the place of an entry, or -1."""
        entry = self.first_entry[node] + output
        return entry if output >= 0 and entry < self.first_entry[node + 1] else -1

    def shape(self, node: int, output: int) -> tuple[int, ...] | None:
        """Return the shape of an entry, or None."""
        entry = self.entry(node, output)
        return None if entry < 0 else self.shapes[entry]


def _function(func_name: str) -> _FusedFunction:
    operators = [(bare(part).lower(), _family(part)) for part in parts(func_name)]
    alone = len(operators) == 1
    while len(operators) > 1 and (operators[0][0] in _BEFORE or operators[0][1] in _MOVING):
        operators.pop(0)
    name, kind = operators[0] if operators else ("", "other")
    layer = kind == "convolution" or name in _WEIGHTED | _QUANTIZED | _DENSE
    return _FusedFunction(name, kind, alone, layer, layer or name in _EMBEDS)


def _family(part: str) -> str:
    name = bare(part).lower()
    if name in _CONVOLUTIONS:
        return "convolution"
    return "matmul" if name in _DENSE else family(part)


def _operand_use(
    rows: _GraphLists, edge: int, target: int, function: _FusedFunction, reads: range
) -> OperandUse:
    """Return the use that the place of one operand implies."""
    source = rows.sources[edge]
    if source < 0:
        return OperandUse.NOTHING
    own = rows.shape(source, rows.outputs[edge])
    if function.name.endswith("weight_transform") and "without" not in function.name:
        return OperandUse.WEIGHT
    if function.layer:
        return _of_layer(rows, edge, function, own)
    if function.name in _EMBEDS:
        return _of_embedding(rows, edge, own)
    if function.family != "elementwise" or len(reads) < 2 or own is None or not _per_channel(own):
        return OperandUse.NOTHING
    # A mask is added to a product of two computed matrices.
    others = rows.sources[reads.start : reads.stop]
    masks = any(other_ not in (-1, source) and rows.multiplies[other_] for other_ in others)
    out = rows.shape(target, 0)
    beside = out is not None and len(out) > 1 and math.prod(own) < math.prod(out)
    return OperandUse.BESIDE if beside and not masks else OperandUse.NOTHING


def _of_layer(
    rows: _GraphLists, edge: int, function: _FusedFunction, own: tuple[int, ...] | None
) -> OperandUse:
    """Return the use of an operand of a layer, which reads a tensor first and its weights after."""
    place = rows.positions[edge]
    if place == 0:
        return OperandUse.FED
    if place == 1 and function.name == "matmul":
        first = rows.sources[edge - 1]
        weight = first >= 0 and rows.kinds[first] >= NodeKind.OPERATOR
        weight = weight and own is not None and len(own) == 2
        return OperandUse.WEIGHT if weight else OperandUse.NOTHING
    if place == 1 or own is None:
        return OperandUse.WEIGHT
    blocked = function.name.endswith("nchwc")
    return OperandUse.WEIGHT if function.alone or _per_channel(own, blocked) else OperandUse.NOTHING


def _of_embedding(rows: _GraphLists, edge: int, own: tuple[int, ...] | None) -> OperandUse:
    """Return the use of an operand of a look-up, whose table and indices differ in type."""
    dtype = rows.dtypes[rows.entry(rows.sources[edge], rows.outputs[edge])]
    if dtype.startswith(("int", "uint")):
        return OperandUse.FED
    return OperandUse.WEIGHT if dtype and own is not None and len(own) == 2 else OperandUse.NOTHING


def _per_channel(shape: tuple[int, ...], blocked: bool = False) -> bool:
    """Return whether at most one size is not 1: two if channels lie in blocks."""
    wide = [at for at, size in enumerate(shape) if size != 1]
    return len(wide) <= 1 or (blocked and len(wide) == 2 and wide[-1] == len(shape) - 1)
