"""Names of operators by family: Relay (with name space), NNVM, TOPI and Relax (without)."""

from __future__ import annotations

from typing import Final

FAMILIES: Final = {
    "convolution": """
        nn.conv1d nn.conv2d nn.conv3d nn.conv1d_transpose nn.conv2d_transpose nn.conv3d_transpose
        nn.conv2d_backward_weight nn.deformable_conv2d nn.contrib_conv2d_NCHWc
        nn.contrib_depthwise_conv2d_NCHWc nn.contrib_conv2d_NCHWc_int8
        nn.contrib_conv2d_winograd_nnpack_weight_transform
        nn.contrib_conv2d_winograd_weight_transform nn.contrib_conv3d_winograd_weight_transform
        nn.contrib_conv2d_winograd_without_weight_transform
        nn.contrib_conv3d_winograd_without_weight_transform
        nn.contrib_conv2d_gemm_without_weight_transform nn.contrib_conv2d_gemm_weight_transform
        nn.depthwise_conv2d nn.correlation nn.bitserial_conv2d qnn.conv2d qnn.conv2d_transpose
        qnn.depthwise_conv2d depthwise_conv2d_nchw depthwise_conv2d_nhwc group_conv2d_nchw
        group_conv2d conv2d_nchw conv2d_nhwc conv2d_NCHWc conv1d_ncw conv3d_ncdhw
        conv2d_transpose_nchw conv2d_winograd conv1d_transpose_ncw
    """,
    "matmul": """
        nn.dense nn.matmul nn.batch_matmul nn.dense_pack nn.contrib_dense_pack nn.sparse_dense
        nn.internal_sparse_dense_padded nn.sparse_add nn.bitserial_dense nn.fast_dense qnn.dense
        qnn.batch_matmul einsum NT_matmul linear attention attention_bias dot bmm gemm cublas
        batch_matmul_NN batch_matmul_NT nn.contrib_dense_pack_weight_transform nn.attention
        multi_head_attention
    """,
    "normalization": """
        nn.batch_norm nn.layer_norm nn.group_norm nn.instance_norm nn.rms_norm nn.l2_normalize
        nn.lrn nn.softmax nn.log_softmax nn.fast_softmax l2normalize normalize
        batch_norm_inference fast_softmax
    """,
    "pooling/reduction": """
        nn.max_pool1d nn.max_pool2d nn.max_pool3d nn.avg_pool1d nn.avg_pool2d nn.avg_pool3d
        nn.global_max_pool1d nn.global_max_pool2d nn.global_max_pool3d nn.global_avg_pool1d
        nn.global_avg_pool2d nn.global_avg_pool3d nn.adaptive_max_pool1d nn.adaptive_max_pool2d
        nn.adaptive_max_pool3d nn.adaptive_avg_pool1d nn.adaptive_avg_pool2d
        nn.adaptive_avg_pool3d nn.max_pool2d_grad nn.avg_pool2d_grad vision.roi_pool
        vision.roi_align sum max min mean prod all any argmax argmin variance std logsumexp cumsum
        cumprod sort argsort topk nn.cross_entropy nn.nll_loss nn.cross_entropy_with_logits
        collapse_sum_like collapse_sum_to pool2d global_pool2d median unique
    """,
    "activation": """
        nn.relu nn.leaky_relu nn.prelu nn.fifo_buffer nn.dropout sigmoid tanh erf fast_erf
        fast_tanh fast_exp nn.gelu gelu_tanh silu hard_swish hardswish hard_sigmoid hardsigmoid
        relu6 nn.selu nn.elu celu mish swish softplus softsign log_sigmoid nn.quick_gelu swiglu
    """,
    "cast/quantize": """
        cast cast_like astype reinterpret qnn.quantize qnn.dequantize qnn.requantize
        qnn.simulated_quantize qnn.simulated_dequantize qnn.add qnn.subtract qnn.mul
        qnn.concatenate qnn.leaky_relu annotation.simulated_quantize simulated_quantize quantize
        dequantize requantize fixed_point_multiply fixed_point_multiply_per_axis round_shift
        decode encode
    """,
    "elementwise": """
        add subtract sub multiply mul divide div floor_divide trunc_divide mod floor_mod trunc_mod
        power pow maximum minimum exp log log2 log10 log1p sqrt rsqrt square abs negative sign
        ceil floor trunc round clip sin cos tan asin acos atan sinh cosh asinh acosh atanh atan2
        not logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor
        bitwise_not left_shift right_shift equal not_equal less less_equal greater greater_equal
        isnan isinf isfinite where select nn.bias_add reciprocal rint fast_log rotary rotary_emb
        rope broadcast_add broadcast_sub broadcast_subtract broadcast_mul broadcast_multiply
        broadcast_div broadcast_divide broadcast_mod broadcast_max broadcast_min broadcast_pow
        broadcast_power broadcast_left_shift broadcast_right_shift broadcast_greater
        broadcast_less broadcast_equal elemwise_add elemwise_sub elemwise_mul elemwise_div
        elemwise_sum elemwise_mod elemwise_pow add_scalar sub_scalar mul_scalar div_scalar
        pow_scalar rsub_scalar rdiv_scalar rpow_scalar add_n scalar_add scalar_mul identity erfinv
        less_scalar greater_scalar fast_sigmoid ones zeros full ones_like zeros_like full_like
        arange eye tril triu trilu one_hot shape_of ndarray_size random.uniform random.normal
        random.threefry_generate random.threefry_split random.multinomial invert_permutation
    """,
    "gather/split": """
        take gather gather_nd gather_elements scatter scatter_elements scatter_add scatter_nd
        split slice strided_slice strided_slice_dynamic dynamic_strided_slice slice_like
        strided_set concatenate concat stack unstack adv_index embedding sparse_to_dense
        sparse_reshape sparse_fill_empty_rows segment_sum argwhere searchsorted index_select
        index_tensor vision.non_max_suppression vision.get_valid_counts vision.multibox_prior
        vision.multibox_transform_loc vision.proposal vision.yolo_reorg
        vision.all_class_non_max_suppression dyn.strided_slice nonzero matrix_set_diag
        boolean_mask sequence_mask
    """,
    "layout/copy": """
        layout_transform transpose nn.pad nn.mirror_pad nn.space_to_depth nn.depth_to_space
        nn.upsampling nn.upsampling3d nn.space_to_batch_nd nn.batch_to_space_nd image.resize1d
        image.resize2d image.resize3d image.crop_and_resize image.grid_sample image.affine_grid
        image.dilation2d image.resize tile repeat reverse reverse_sequence flip roll broadcast_to
        broadcast_to_like meshgrid copy device_copy nn.dilate permute_dims swapaxes
        auto_scheduler_layout_transform meta_schedule_layout_transform im2col pad constant_pad
        nn.constant_pad upsample dyn.tile dyn.broadcast_to contiguous clone
    """,
    "reshape": """
        reshape reshape_like contrib_reverse_reshape expand_dims expand_like squeeze flatten
        nn.batch_flatten nn.flatten batch_flatten dyn.reshape dyn.squeeze dyn.expand_dims view
        unflatten
    """,
}
"""Operator names by family, separated by white space."""
