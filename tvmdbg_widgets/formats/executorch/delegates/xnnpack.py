"""Reader of XNNPACK's payloads: the graph that its runtime builds its operators from.

``backends/xnnpack/runtime/XNNHeader.h``, ``XNNCompiler.cpp`` and the schema @ v1.4.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import numpy as np

from tvmdbg_widgets.formats.executorch.delegates.payload import (
    MOST_ID,
    Links,
    Noted,
    Payload,
    SchemaField,
    columns,
    joined,
    known_ids,
    read_fields,
    read_payload,
    root_ids,
)
from tvmdbg_widgets.formats.executorch.program.unions import members
from tvmdbg_widgets.formats.flatbuffer import FlatTables
from tvmdbg_widgets.formats.registry import collector_paused
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.executorch.delegate_graph import (
    DelegateConstant,
    DelegateGraph,
    DelegateNode,
    DelegateValue,
    Field,
)
from tvmdbg_widgets.model.executorch.program import FileSpan
from tvmdbg_widgets.sources.byte_source import ByteSource

#: ``XNN_INVALID_VALUE_ID``: no value, or one that stays inside.
NONE: Final = 0xFFFFFFFF
#: ``DEFAULT_DEBUG_HANDLE``: of nodes that come from no operator of the edge graph.
NO_HANDLE: Final = 65535
_HEADER: Final = (
    "header_length",
    "flatbuffer_offset",
    "flatbuffer_size",
    "constant_data_offset",
    "constant_data_size",
)

_UNARY = columns("input_id output_id flags")
_BINARY = columns("input1_id input2_id output_id flags")
_CONCATENATE = columns("axis input1_id input2_id input3_id input4_id output_id flags input5_id")
_PADDING = "padding_top padding_right padding_bottom padding_left"
_CONVOLUTION = columns(
    f"{_PADDING} kernel_height kernel_width subsampling_height subsampling_width dilation_height "
    "dilation_width group_input_channels group_output_channels groups adjustment_height "
    "adjustment_width input1_id filter_id bias_id output_id flags"
)
_POOLING = columns(
    f"{_PADDING} pooling_height pooling_width stride_height stride_width dilation_height "
    "dilation_width input_id output_id flags"
)

#: Name and fields of each type of node by its number in the union.
NODES: Final[dict[int, tuple[str, tuple[SchemaField, ...]]]] = {
    1: ("Add", _BINARY),
    2: ("FullyConnected", columns("input1_id filter_id bias_id output_id flags")),
    3: ("Softmax", _UNARY),
    4: ("Sigmoid", _UNARY),
    5: ("StaticTranspose", columns("num_dims perm:[u4] input_id output_id flags")),
    6: ("Clamp", _UNARY),
    7: ("Conv2d", _CONVOLUTION),
    8: ("Div", _BINARY),
    9: ("StaticResizeBilinear2D", columns("new_height new_width input_id output_id flags")),
    10: (
        "StaticConstantPad",
        columns("pre_paddings:[u4] post_paddings:[u4] padding_value:f4 input_id output_id flags"),
    ),
    11: ("AvgPooling2d", _POOLING),
    12: ("Minimum", _BINARY),
    13: ("DepthwiseConv2d", _CONVOLUTION),
    14: ("MaxPooling2d", _POOLING),
    15: ("Multiply", _BINARY),
    16: ("Subtract", _BINARY),
    17: ("Floor", _UNARY),
    18: ("Convert", _UNARY),
    19: ("GlobalAvgPooling2d", _UNARY),
    20: ("StaticReshape", columns("num_dims new_shape:[u4] input_id output_id flags")),
    21: (
        "ArgMaxPooling2d",
        columns(
            f"{_PADDING} pooling_height pooling_width input_id output_value_id output_index_id "
            "flags"
        ),
    ),
    22: ("SquareRoot", _UNARY),
    23: ("Ceiling", _UNARY),
    24: ("Hardswish", _UNARY),
    25: ("LeakyReLU", columns("negative_slope:f4 input_id output_id flags")),
    26: ("Maximum", _BINARY),
    27: ("Negate", _UNARY),
    28: ("Square", _UNARY),
    29: ("ELU", columns("alpha:f4 input_id output_id flags")),
    30: ("Abs", _UNARY),
    31: ("PReLU", _BINARY),
    32: ("Concatenate2", _CONCATENATE),
    33: ("Concatenate3", _CONCATENATE),
    34: ("Concatenate4", _CONCATENATE),
    35: ("StaticSlice", columns("num_dims offsets:[u4] sizes:[u4] input_id output_id flags")),
    36: (
        "ScaledDotProductAttention",
        columns("query_id key_id value_id scale_id mask_id output_id flags"),
    ),
    37: ("BatchMatrixMultiply", _BINARY),
    38: ("Concatenate5", _CONCATENATE),
    39: ("ConvTranspose2d", _CONVOLUTION),
    40: ("ReciprocalSquareRoot", _UNARY),
    41: ("Log", _UNARY),
    42: ("Gelu", _UNARY),
    43: ("Tanh", _UNARY),
    44: ("Exp", _UNARY),
    45: ("Sin", _UNARY),
    46: ("Copy", _UNARY),
    47: ("Cos", _UNARY),
}
#: Types that share a table are read together: which table each has, 0 for types not known.
_TABLES: Final = list(dict.fromkeys(fields for _, fields in NODES.values()))
_TABLE_OF: Final = np.zeros(256, np.uint8)
_TABLE_OF[list(NODES)] = [1 + _TABLES.index(fields) for _, fields in NODES.values()]


def read_xnnpack(
    source: ByteSource, payload: FileSpan, backend: str, *, file: str
) -> DelegateGraph:
    """Read the graph in a payload; its constants are not read."""
    what = f"payload of {backend} at byte {payload.offset}"
    with collector_paused():
        held = read_payload(
            source, payload, b"XH00", (b"XN00", b"XN01"), _HEADER, what=what, file=file
        )
        root = FlatTables.root(held.buffer, "XNNGraph")
        noted = Noted(what, file)
        externs = int(root.scalar(3, np.uint32, 0, "num_externs")[0])
        constants = _constants(root, held, noted)
        values = _values(root, max(1, len(constants)), externs, noted)
        return DelegateGraph(
            backend=backend,
            file=file,
            identifier=held.identifier,
            version=root.strings(0, "version").column[0],
            header=held.header,
            nodes=_nodes(root, values, noted),
            values=values,
            num_externs=externs,
            inputs=known_ids(root_ids(root, 4, "input_ids"), values, "input_ids", noted),
            outputs=known_ids(root_ids(root, 5, "output_ids"), values, "output_ids", noted),
            constants=constants,
            issues=noted.issues(),
        )


def _constants(root: FlatTables, held: Payload, noted: Noted) -> tuple[DelegateConstant, ...]:
    _, data = root.children(8, "ConstantDataOffset", "constant_data")
    if not len(data):  # 0.1 has them in the flatbuffer
        _, buffers = root.children(6, "Buffer", "constant_buffer")
        places = zip(*(each.tolist() for each in buffers.spans(0, "storage")), strict=True)
        return tuple(
            DelegateConstant(max(0, start), size, "", FileSpan(held.buffer.base + start, size))
            if index and size
            else DelegateConstant(max(0, start), size, "")
            for index, (start, size) in enumerate(places)
        )
    found = []
    offsets = data.scalar(0, np.uint64, 0, "offset").tolist()
    sizes = data.scalar(1, np.uint64, 0, "size").tolist()
    keys = data.strings(2, "named_key").column
    for index, (offset, size, key) in enumerate(zip(offsets, sizes, keys, strict=True)):
        span = None
        if index and not key:
            if offset + size <= held.constants.size:
                span = FileSpan(held.constants.offset + offset, size)
            else:
                where = f"[{index}] of {counted(size, 'byte')} at {offset}"
                noted.add("constants", "constant outside of the payload, left out", where)
        found.append(DelegateConstant(offset, size, key, span))
    return tuple(found)


def _values(
    root: FlatTables, constants: int, externs: int, noted: Noted
) -> dict[int, DelegateValue]:
    _, xvalues = root.children(2, "XValue", "xvalues")
    kinds = xvalues.scalar(0, np.uint8, 0, "xvalue_union_type")
    plain, tensors = members(xvalues, kinds, 1, "XNNTensorValue", "xvalue_union")
    rows, quantized = members(xvalues, kinds, 2, "XNNQuantizedTensorValue", "xvalue_union")
    inner, there = quantized.child(0, "XNNTensorValue", "tensor_value")
    places = np.concatenate((tensors.places, inner.places))
    own = read_fields(FlatTables(root.buffer, places, "XNNTensorValue"), TENSOR)
    fields_of = dict(zip([*plain, *(rows[each] for each in there.tolist())], own, strict=True))
    quantization = dict(zip(rows, _quantization(quantized), strict=True))
    found: dict[int, DelegateValue] = {}
    for row, kind in enumerate(kinds.tolist()):
        fields = fields_of.get(row)
        if fields is None:
            noted.add("values", "value of a kind without an id, left out", f"[{row}], kind {kind}")
            continue
        value = _value(row, fields, quantization.get(row, {}), (constants, externs), noted)
        if value.id > MOST_ID:
            noted.add("values", "value with an id above 2³¹, left out", f"[{row}]: {value.id}")
        elif found.setdefault(value.id, value) is not value:
            noted.add(
                "values", "value with the id of another one, left out", f"[{row}]: {value.id}"
            )
    return found


def _quantization(tables: FlatTables) -> list[dict[str, Field]]:
    kinds = tables.scalar(1, np.uint8, 0, "quant_params_type")
    found: list[dict[str, Field]] = [
        {"kind": f"quant_params {kind}"} if kind else {} for kind in kinds.tolist()
    ]
    for number in QUANTIZATION.keys() & kinds.tolist():
        name, fields = QUANTIZATION[number]
        rows, own = members(tables, kinds, number, name, "quant_params", id_=2)
        for row, each in zip(rows, read_fields(own, fields), strict=True):
            found[row] = {"kind": name, **each}
    return found


def _value(
    row: int,
    fields: Mapping[str, Any],
    quantization: Mapping[str, Field],
    limits: tuple[int, int],
    noted: Noted,
) -> DelegateValue:
    """Return a value; what it refers to must be among so many constants and arguments."""
    constants, externs = limits
    dtype, shape, constant = fields["datatype"], fields["dims"], fields["constant_buffer_idx"]
    external = None if fields["external_id"] == NONE else fields["external_id"]
    if fields["num_dims"] != len(shape):
        where = f"[{row}]: {fields['num_dims']}, not {len(shape)}"
        noted.add("shapes", "value with other num_dims than dims", where)
    if constant >= constants:
        noted.add("constants", "index of a constant that is not there", f"[{row}]: {constant}")
        constant = 0
    scales = cast("int", quantization.get("scale_buffer_idx", 0))
    if scales >= constants:
        noted.add("constants", "index of scales that are not there", f"[{row}]: {scales}")
    if external is not None and external >= externs:
        where = f"[{row}]: {external} of {externs}"
        noted.add("externs", "value tied to an argument that is not there", where)
        external = None
    return DelegateValue(
        fields["id_out"],
        DTYPES[dtype] if 0 <= dtype < len(DTYPES) else f"datatype {dtype}",
        shape,
        constant,
        external,
        quantization,
        fields,
    )


def _nodes(
    root: FlatTables, values: Mapping[int, DelegateValue], noted: Noted
) -> tuple[DelegateNode, ...]:
    _, xnodes = root.children(1, "XNode", "xnodes")
    kinds = xnodes.scalar(0, np.uint8, 0, "xnode_union_type")
    handles = xnodes.scalar(2, np.uint32, 0, "debug_handle").tolist()
    limits, rows = xnodes.child(3, "OutputMinMax", "output_min_max")
    both = read_fields(limits, columns("output_min:f4 output_max:f4"))
    bounds = {
        row: cast("tuple[float, float]", tuple(each.values()))
        for row, each in zip(rows.tolist(), both, strict=True)
    }
    fields: list[dict[str, Field]] = [{} for _ in handles]
    tables = _TABLE_OF[kinds]
    for table in np.unique(tables[tables > 0]).tolist():
        first = NODES[int(kinds[np.argmax(tables == table)])][0]
        found, own = members(xnodes, tables, table, f"XNN{first}", "xnode_union")
        for row, each in zip(found, read_fields(own, _TABLES[table - 1]), strict=True):
            fields[row] = each
    numbers = kinds.tolist()
    names = [NODES[kind][0] if kind in NODES else f"type {kind}" for kind in numbers]
    links = joined(names, _links(numbers, fields), values, noted)
    nodes = []
    for index, (number, handle, name) in enumerate(zip(numbers, handles, names, strict=True)):
        if number not in NODES:
            noted.add("types", "node of a type that is not known here", f"#{index}: {number}")
        fields[index]["debug_handle"] = handle
        own_handle = None if handle == NO_HANDLE else handle
        nodes.append(
            DelegateNode(
                index, name, number, own_handle, *links[index], bounds.get(index), fields[index]
            )
        )
    return tuple(nodes)


def _links(numbers: Sequence[int], fields: Sequence[Mapping[str, Any]]) -> list[Links]:
    found: list[Links] = []
    for number, own in zip(numbers, fields, strict=True):
        inputs, outputs = LINKS.get(number, ((), ()))
        found.append(
            (
                tuple((name, own[name]) for name in inputs if own[name] != NONE),
                tuple((name, own[name]) for name in outputs if own[name] != NONE),
            )
        )
    return found


TENSOR: Final = columns(
    "datatype:i2 num_dims dims:[u4] constant_buffer_idx external_id flags id_out dq_datatype:i2"
)
#: Name and fields of each kind of quantization by its number in the union.
QUANTIZATION: Final[dict[int, tuple[str, tuple[SchemaField, ...]]]] = {
    1: ("PerChannelQuant", columns("scale:[f4] channel_dim:i4 scale_buffer_idx num_scales")),
    2: ("PerTensorQuant", columns("scale:f4 zero_point:i4")),
    3: ("PerTokenDynamicQuant", columns("num_nonbatch_dims:i4")),
    4: (
        "PerChannelGroupQuant",
        columns(
            "scale:[f4] channel_dim:i4 group_size:i4 scale_bf16:[u2] scale_buffer_idx num_scales"
        ),
    ),
}
#: As serialized, which is not XNNPACK's own numbering.
DTYPES: Final = tuple(
    column.name
    for column in columns(
        "invalid fp32 fp16 qint8 quint8 qint32 qcint8 qcint32 qcint4 qdint8 qbint4 qpint8 int32 "
        "pfp32 bf16"
    )
)


def _links_xnnpack_schema(number: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    name, fields = NODES[number]
    ids = [field.name for field in fields if field.name.endswith("_id")]
    inputs = [each for each in ids if not each.startswith("output")]
    # One table serves all concatenations, so it has more inputs than most use.
    if name.startswith("Concatenate"):
        inputs = inputs[: int(name[-1])]
    return tuple(inputs), tuple(each for each in ids if each.startswith("output"))


#: Fields of each type of node that are ids of values: its inputs and its outputs.
LINKS: Final = {number: _links_xnnpack_schema(number) for number in NODES}
