"""A delegate's own graph as nodes, entries and edges, like the graph of any other run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np

from tvmdbg_widgets.formats.executorch.delegates.families import ConstantBytes
from tvmdbg_widgets.formats.executorch.program.tensors import NamedFile, allowed_tensors
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.base.number_text import screen_text, value_text
from tvmdbg_widgets.model.base.numbers import Trust, agree, counted
from tvmdbg_widgets.model.base.text import Issue, IssueLog, IssueSeverity
from tvmdbg_widgets.model.executorch.delegate_graph import (
    DelegateGraph,
    DelegateNode,
    DelegateValue,
    Field,
)
from tvmdbg_widgets.model.executorch.program import Program
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.sources.byte_source import ByteSource

#: Element types by the delegate's spelling: quantized values are shown as stored.
DTYPES: Final = {
    **dict.fromkeys(("fp32", "pfp32"), "float32"),
    **dict.fromkeys(("qint8", "qcint8", "qdint8", "qpint8"), "int8"),
    **dict.fromkeys(("qint32", "qcint32", "int32"), "int32"),
    **dict.fromkeys(("qcint4", "qbint4"), "uint4"),
    "fp16": "float16",
    "bf16": "bfloat16",
    "quint8": "uint8",
    # Vulkan's spelling.
    **{
        name: name.lower()
        for name in ["BOOL", "UINT8", "INT8", "INT32", "INT64", "FLOAT16", "FLOAT32", "FLOAT64"]
    },
}
#: Titles and sides of parameters that are split over fields.
_BOTH: Final = ("height", "width")
_SIDES: Final = {
    "padding": ("padding", ("top", "right", "bottom", "left")),
    "kernel": ("kernel size", _BOTH),
    "subsampling": ("stride", _BOTH),
    "stride": ("stride", _BOTH),
    "dilation": ("dilation", _BOTH),
    "pooling": ("pooling window", _BOTH),
    "adjustment": ("output padding", _BOTH),
    "new": ("new size", _BOTH),
}
_ADDRESSES: Final = ("num_dims", "debug_handle", "output_min", "output_max")
_TO_NHWC: Final = (0, 2, 3, 1)
_MOST_ITEMS: Final = 6
_FLOAT: Final = np.dtype(np.float32)


def graph_of(inside: DelegateGraph) -> Graph:
    """Return the graph of a delegate: operators by number, then inputs and constants."""
    values, layouts = inside.values, layouts_of(inside)

    def position(value: int) -> int:
        held = values.get(value)
        return -1 if held is None or held.external_id is None else held.external_id

    rows = [
        _DelegateGraphRow(node.name, node.type, NodeKind.OPERATOR, node.writes,
             node_attrs(inside, node, layouts))
        for node in inside.nodes
    ]  # fmt: skip
    entry = {
        value: (node.index, output)
        for node in inside.nodes
        for output, value in enumerate(node.writes)
        if inside.producers.get(value) == node.index
    }
    for value in sorted(inside.inputs, key=position):
        entry[value] = (len(rows), 0)
        attrs = _value_attrs(values[value])
        rows.append(
            _DelegateGraphRow(f"input_{position(value)}", "", NodeKind.INPUT, (value,), attrs)
        )
    for node in inside.nodes:
        for role, value in node.inputs:
            if value in values and values[value].constant and value not in entry:
                entry[value] = (len(rows), 0)
                attrs = _value_attrs(values[value])
                if 0 < values[value].constant < len(inside.constants):
                    constant = inside.constants[values[value].constant]
                    attrs["bytes"] = counted(constant.size, "byte")
                    if constant.key:
                        attrs["named data"] = constant.key
                # ``filter`` of ``filter_id``, and ``constant`` of plain inputs.
                name = role.removesuffix("_id").rstrip("0123456789")
                name = f"{'constant' if name == 'input' else name}_{value}"
                rows.append(_DelegateGraphRow(name, "", NodeKind.PARAMETER, (value,), attrs))
    columns = np.array(
        [
            (*entry.get(value, (-1, 0)), node.index, at)
            for node in inside.nodes
            for at, value in enumerate(node.reads)
        ],
        np.int32,
    ).reshape(-1, 4)
    kinds = np.array([row.kind for row in rows], np.uint8)
    held = [values.get(value) for row in rows for value in row.values]
    shapes = [None if tensor is None else tensor.shape for tensor in held]
    heads = [entry[value] for value in sorted(inside.outputs, key=position) if value in entry]
    return Graph(
        names=StringColumn.from_strings(row.name for row in rows),
        func_names=StringColumn.from_strings(row.func_name for row in rows),
        kinds=kinds,
        parameter_trust=np.where(kinds <= NodeKind.PARAMETER, Trust.EXACT, Trust.ABSENT).astype(
            np.uint8
        ),
        entry_offsets=np.cumsum([0, *(len(row.values) for row in rows)], dtype=np.int64),
        edge_source=columns[:, 0],
        edge_output=columns[:, 1],
        edge_target=columns[:, 2],
        edge_position=columns[:, 3],
        edge_trust=np.where(columns[:, 0] < 0, Trust.ABSENT, Trust.EXACT).astype(np.uint8),
        heads=np.array(heads, np.int32).reshape(-1, 2),
        arg_nodes=np.flatnonzero(kinds != NodeKind.OPERATOR).astype(np.int32),
        shape_offsets=np.cumsum([0, *(len(tensor or ()) for tensor in shapes)], dtype=np.int64),
        shape_dims=np.array([dim for tensor in shapes for dim in tensor or ()], np.int64),
        shape_known=np.array([tensor is not None for tensor in shapes], np.bool_),
        dtypes=StringColumn.from_strings(
            "" if tensor is None else DTYPES.get(tensor.dtype, "") for tensor in held
        ),
        attrs=tuple(MappingProxyType(row.attrs) for row in rows),
        form="delegate",
        issues=inside.issues,
        file=inside.file,
    )


class _DelegateGraphRow(NamedTuple):
    name: str
    func_name: str
    kind: NodeKind
    values: tuple[int, ...]
    attrs: Mapping[str, str]


def layouts_of(inside: DelegateGraph) -> Mapping[int, str]:
    """Return the values in NHWC, between the transposes that lowering inserted."""
    layouts: dict[int, str] = {}
    for node in inside.nodes:
        moves = node.type in ("StaticTranspose", "StaticReshape")
        begins = moves and node.handle is None and node.fields.get("perm") == _TO_NHWC
        if begins or (not moves and any(value in layouts for value in node.reads)):
            for value in node.writes:
                if value in inside.values and len(inside.values[value].shape) == len(_TO_NHWC):
                    layouts[value] = "NHWC"
    return layouts


def node_attrs(
    inside: DelegateGraph, node: DelegateNode, layouts: Mapping[int, str]
) -> dict[str, str]:
    """Return an operator's attributes in the terms of the field."""
    attrs = {"delegate_node": node.name}
    if node.inserted:
        attrs["inserted"] = "by lowering: no operator of the edge program asked for it"
    elif node.handle is not None:
        attrs["debug_handle"] = str(node.handle)
    ports = {name for name, _ in (*node.inputs, *node.outputs)}
    left = {
        name: value
        for name, value in node.fields.items()
        if name not in ports and name not in _ADDRESSES and not (name == "flags" and value == 0)
        if not name.endswith("_id")
    }
    for start, (title, sides) in _SIDES.items():
        names = [f"{start}_{side}" for side in sides]
        if all(name in left for name in names):
            texts = [_text(left.pop(name)) for name in names]
            attrs[title] = " × ".join(texts) if len(sides) == 2 else ", ".join(texts)
            if len(sides) > 2:
                attrs[title] += f" ({', '.join(sides)})"
    if node.type != "ConvTranspose2d":
        attrs.pop("output padding", None)
    attrs |= {name.replace("_", " "): _text(value) for name, value in left.items()}
    if node.bounds is not None:
        low, high = node.bounds
        named = {(0.0, math.inf): "relu, ", (0.0, 6.0): "relu6, "}.get(node.bounds, "")
        label = "bounds" if node.type == "Clamp" else "fused activation"
        attrs[label] = f"{named}{_text(low)} to {_text(high)}"
    attrs |= dict(_quantized(inside, node))
    if any(layouts.get(value) for value in node.writes):
        attrs["layout"] = "NHWC"
    return attrs


def _quantized(inside: DelegateGraph, node: DelegateNode) -> Iterator[tuple[str, str]]:
    for name, value in (*node.inputs, *node.outputs):
        held = inside.values.get(value)
        if held is not None and held.quantization:
            yield f"{name.removesuffix('_id')} quantization", quantization_text(held)


def quantization_text(value: DelegateValue) -> str:
    """Describe the quantization of a value: ``"qint8, per tensor: scale 0.0213, zero point 3"``."""
    fields = dict(value.quantization)
    kind = str(fields.pop("kind", ""))
    words = {
        "PerTensorQuant": "per tensor",
        "PerChannelQuant": "per channel",
        "PerTokenDynamicQuant": "per token, at run time",
        "PerChannelGroupQuant": "per group of channels",
    }
    constant, count = fields.pop("scale_buffer_idx", 0), fields.pop("num_scales", 0)
    parts = [
        f"{name.replace('_', ' ')} {_text(field)}"
        for name, field in fields.items()
        if name not in ("scale", "scale_bf16") or field or isinstance(field, float)
    ]
    if constant:
        parts.append(f"{count:,} scales in constant {constant}")
    return f"{value.dtype}, {words.get(kind, kind)}: {', '.join(parts)}"


def _value_attrs(value: DelegateValue) -> dict[str, str]:
    attrs = {"delegate_value": str(value.id), "delegate_dtype": value.dtype}
    if value.external_id is not None:
        attrs["argument"] = str(value.external_id)
    if value.quantization:
        attrs["quantization"] = quantization_text(value)
    return attrs


def _text(value: Field) -> str:
    if isinstance(value, tuple):
        shown = [_text(item) for item in value[:_MOST_ITEMS]]
        more = f", … {len(value):,} in all" if len(value) > _MOST_ITEMS else ""
        return f"[{', '.join(shown)}{more}]"
    return screen_text(value_text(value, _FLOAT)) if isinstance(value, float) else str(value)


#: How 4-bit weights are stored (``node_visitor.py`` @ v1.4.1, ``convert_to_qc4w``).
_FOUR_BITS: Final = "two values a byte, low bits first, each plus 8: a stored 8 is 0"
_STORED: Final = "as the delegate stores it: its layout need not be that of the state dict"


def delegate_tensors(
    graph: Graph,
    insides: Mapping[str, DelegateGraph],
    program: Program,
    source: ByteSource,
    named: Sequence[NamedFile] = (),
) -> tuple[list[Tensor], list[Issue]]:
    """Return the constants of the delegates in a graph."""
    where = ConstantBytes(program, source, named)
    tensors: list[tuple[Tensor, ByteSource]] = []
    lost: list[int] = []
    other: list[int] = []
    for node, attrs in enumerate(graph.attrs):
        inside = insides.get(attrs.get("instruction", "")) if "delegate_value" in attrs else None
        value = None if inside is None else inside.values.get(int(attrs["delegate_value"]))
        if inside is None or value is None or not 0 < value.constant < len(inside.constants):
            continue
        held = where.of(inside.constants[value.constant])
        if held is None:
            lost.append(node)
            continue
        file, span = held
        record = _record(value, graph.names[node], file, span.offset, span.size)
        if record is None:
            other.append(node)
            continue
        name, notes = graph.names[node], (_STORED,)
        tensor = Tensor(record, node, 0, name=name, trust=Trust.EXACT, notes=notes, captured="file")
        tensors.append((tensor, file))
    issues = _issues(program.file, lost, other)
    return allowed_tensors(tensors, issues), issues


def _record(
    value: DelegateValue, key: str, file: ByteSource, offset: int, size: int
) -> ArrayRecord | None:
    """Return a constant's array, or None if its size does not fit its shape."""
    dtype = DTYPES.get(value.dtype)
    if dtype is None:
        return None
    shape, notes = value.shape, [quantization_text(value)] if value.quantization else []
    kind = DataType.parse(dtype)
    if kind.bits == 4:
        notes.append(_FOUR_BITS)
        if shape and shape[-1] % 2:
            shape = (*shape[:-1], shape[-1] + 1)
            notes.append("the last dimension is padded to an even size")
    if math.prod(shape) * kind.bits != 8 * size:
        return None
    return ArrayRecord(key, kind, shape, size, offset, file, tuple(notes))


def _issues(file: str, lost: list[int], other: list[int]) -> list[Issue]:
    issues = IssueLog(file)
    if lost:
        text = (
            f"none of the files has the bytes of {counted(len(lost), 'constant')} of delegates: "
            "open the .ptd that was exported with the program too"
        )
        issues.append(
            Issue("named-data-missing", IssueSeverity.NOTE, text, tuple(lost[:20]), file=file)
        )
    if other:
        text = (
            f"{counted(len(other), 'constant')} of delegates {agree(len(other), 'has', 'have')} "
            "other sizes than the bytes stored for them, and are not shown"
        )
        issues.append(
            Issue("delegate-constant", IssueSeverity.WARNING, text, tuple(other[:20]), file=file)
        )
    return issues
