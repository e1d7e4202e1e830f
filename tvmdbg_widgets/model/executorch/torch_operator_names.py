"""Names of PyTorch's operators by family, where the others have none, or another, by that name.

Without name space, overload, the ``_`` of in-place and internal ones, and ``_copy``
(``exir/dialects/edge/edge.yaml`` @ v1.4.1, and ``quantized_decomposed``).
"""

from __future__ import annotations

from typing import Final

TORCH_FAMILIES: Final = {
    "convolution": """
        convolution conv_transpose1d conv_transpose2d conv_transpose3d conv_depthwise2d slow_conv2d
    """,
    "matmul": "mm addmm mv addmv baddbmm addbmm scaled_dot_product_attention",
    "normalization": """
        native_batch_norm native_batch_norm_legit native_batch_norm_legit_no_training
        native_layer_norm native_group_norm fused_rms_norm safe_softmax
    """,
    "pooling/reduction": """
        max_pool2d_with_indices max_pool3d_with_indices amax amin var var_mean linalg_vector_norm
        norm
    """,
    "activation": "hardtanh glu native_dropout log_sigmoid_forward",
    "cast/quantize": """
        to to_dim_order type_as quantize_per_tensor quantize_per_channel quantize_per_token
        quantize_affine dequantize_per_tensor dequantize_per_channel dequantize_per_token
        dequantize_affine choose_qparams choose_qparams_affine
    """,
    "elementwise": """
        eq ne lt le gt ge neg clamp rsub remainder fmod sgn expm1 addcmul addcdiv masked_fill
        scalar_tensor bitwise_left_shift bitwise_right_shift
    """,
    "gather/split": """
        cat chunk split_with_sizes unbind narrow select select_scatter slice_scatter index
        index_put masked_select
    """,
    "layout/copy": """
        permute t expand repeat_interleave clone_dim_order constant_pad_nd reflection_pad1d
        reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d replication_pad3d
        upsample_nearest2d upsample_bilinear2d pixel_shuffle pixel_unshuffle unfold as_strided
        col2im grid_sampler_2d lift_fresh
    """,
    "reshape": "unsqueeze unsafe_view alias detach et_view",
}
"""Operator names by family, separated by white space."""
