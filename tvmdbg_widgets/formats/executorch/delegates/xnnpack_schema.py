"""Tables of XNNPACK's payloads, in the order of field ids.

``backends/xnnpack/serialization/runtime_schema.fbs`` of v0.1.0 to v1.4.1 and what main has more in
August 2026: fields and types were only appended.
"""

from __future__ import annotations

from typing import Final

from tvmdbg_widgets.formats.executorch.delegates.payload import SchemaField, columns

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


def _links(number: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    name, fields = NODES[number]
    ids = [field.name for field in fields if field.name.endswith("_id")]
    inputs = [each for each in ids if not each.startswith("output")]
    # One table serves all concatenations, so it has more inputs than most use.
    if name.startswith("Concatenate"):
        inputs = inputs[: int(name[-1])]
    return tuple(inputs), tuple(each for each in ids if each.startswith("output"))


#: Fields of each type of node that are ids of values: its inputs and its outputs.
LINKS: Final = {number: _links(number) for number in NODES}
