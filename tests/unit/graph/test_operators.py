import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.model.graph.operators import (
    OP_KINDS,
    family,
    module_prefixes,
    op_kind,
    parts,
    without_prefix,
)

PARTS = [
    ("tvmgen_default_fused_nn_conv2d_add_nn_relu_3", "nn.conv2d add nn.relu"),
    ("tvmgen_default_fused_nn_conv2d_add_nn_relu", "nn.conv2d add nn.relu"),
    ("fused_nn_conv2d_add_add_nn_relu_1", "nn.conv2d add add nn.relu"),
    ("tvmgen_default_fused_nn_contrib_conv2d_NCHWc_add_5", "nn.contrib_conv2d_NCHWc add"),
    ("fused_nn_contrib_conv2d_winograd_without_weight_transform_add",
     "nn.contrib_conv2d_winograd_without_weight_transform add"),
    ("tvmgen_default_fused_layout_transform_1", "layout_transform"),
    ("tvmgen_default_fused_nn_batch_matmul", "nn.batch_matmul"),
    ("tvmgen_default_fused_nn_global_avg_pool2d", "nn.global_avg_pool2d"),
    ("tvmgen_default_fused_divide_round_clip_cast", "divide round clip cast"),
    ("tvmgen_default_fused_reshape_transpose_1", "reshape transpose"),
    ("tvmgen_default_fused_strided_slice", "strided_slice"),
    ("fused_log2_log1p_log", "log2 log1p log"),
    ("fuse___layout_transform___broadcast_add_relu", "layout_transform broadcast_add relu"),
    ("fuse___layout_transform___broadcast_add_relu___layout_transform___1",
     "layout_transform broadcast_add relu layout_transform"),
    ("fuse__contrib_conv2d_NCHWc_2", "contrib_conv2d_NCHWc"),
    ("fuse_l2_normalize_relu", "l2_normalize relu"),
    ("fused_matmul1_add1", "matmul add"),
    ("fused_conv2d1_add_add1_relu", "conv2d add add relu"),
    ("tir_sigmoid", "sigmoid"),
    ("transpose7", "transpose"),
    ("vm.builtin.reshape", "vm.builtin.reshape"),
    ("__nop", "__nop"),
    ("__copy", "__copy"),
    ("tvmgen_default_dnnl_main_0", "dnnl_main"),
    ("fused_weird__thing_add_other_9", "weird__thing add other"),
    ("k_ramp", "k_ramp"),
    ("卷积", "卷积"),
    ("fused_1", "1"),
    ("fused_", "fused_"),
    ("_", "_"),
    ("12", "12"),
    ("", ""),
]  # fmt: skip

KINDS = [
    ("tvmgen_default_fused_nn_conv2d_add_nn_relu_3", "convolution"),
    ("tvmgen_default_fused_layout_transform_nn_contrib_conv2d_NCHWc", "convolution"),
    *(("tvmgen_default_fused_nn_dense_add", "matmul"), ("NT_matmul12", "matmul")),
    ("tvmgen_default_fused_nn_softmax", "normalization"),
    *(("tvmgen_default_fused_mean", "pooling/reduction"), ("fused_add_nn_relu_1", "activation")),
    ("tvmgen_default_fused_divide_round_clip_cast", "cast/quantize"),
    ("tvmgen_default_fused_add_sqrt", "elementwise"),
    *(("tvmgen_default_fused_split", "gather/split"), ("fused_reshape_transpose", "layout/copy")),
    *(("tvmgen_default_fused_nn_batch_flatten", "reshape"), ("vm.builtin.reshape", "reshape")),
    *(("__nop", "reshape"), ("__copy", "layout/copy"), ("k_ramp", "other"), ("", "other")),
    *(("aten.convolution.default", "convolution"), ("aten.addmm.default", "matmul")),
    *(("aten.add.Tensor", "elementwise"), ("aten.relu.default", "activation")),
    ("aten._softmax.default", "normalization"),
    ("aten.max_pool2d_with_indices.default", "pooling/reduction"),
    ("quantized_decomposed.quantize_per_tensor.default", "cast/quantize"),
    ("dim_order_ops._to_dim_order_copy.default", "cast/quantize"),
    *(("aten.select_copy.int", "gather/split"), ("aten.permute_copy.default", "layout/copy")),
    *(("aten.view_copy.default", "reshape"), ("aten::addmm.out", "matmul")),
    ("aten.nobody_knows.default", "other"),
]


@pytest.mark.parametrize(("name", "expected"), PARTS)
def test_function_name_splits_into_operator_parts(name: str, expected: str) -> None:
    assert parts(name) == tuple(expected.split())


@pytest.mark.parametrize(("name", "expected"), KINDS)
def test_op_kind(name: str, expected: str) -> None:
    assert op_kind(name, 2) == expected


def test_null_nodes_are_inputs_or_parameters() -> None:
    assert (op_kind("", 0), op_kind("", 1)) == ("input", "parameter")


@given(st.text(alphabet="_1ad", max_size=12) | st.text(max_size=12))
def test_parts_keep_every_letter_of_the_name(name: str) -> None:
    def letters(text: str) -> str:
        return re.sub(r"[\d_.]", "", text)

    bare = re.sub(r"^_*(tvmgen_default_)?(fused_|fuse_)?", "", name)
    assert letters("".join(parts(name))) in (letters(bare), letters(name))
    assert all(family(part) in OP_KINDS for part in parts(name))


def test_recorded_functions_are_all_known(corpus: Path) -> None:
    names: set[str] = set()
    for pattern in ("tvm/*/graph.json", "relax/*/capture/graph.json"):
        for path in corpus.glob(pattern):
            nodes = json.loads(path.read_bytes())["nodes"]
            names |= {node["attrs"]["func_name"] for node in nodes if node["op"] == "tvm_op"}
    assert len(names) > 100
    assert {name for name in names if op_kind(name, 2) == "other"} == set()
    unknown = {part for name in names for part in parts(name) if family(part) == "other"}
    assert unknown == set()


MODULES = (
    "default", "x", "9", "my_fused_net", "fused", "fused_", "net2", "détection", "nn_conv2d",
    "a.b-c", "", "tvmgen",
)  # fmt: skip


@pytest.mark.parametrize("module", MODULES)
def test_module_name_is_not_part_of_function(module: str) -> None:
    name = f"tvmgen_{module}_fused_nn_conv2d_add_nn_relu_3"
    assert parts(name) == ("nn.conv2d", "add", "nn.relu")
    assert op_kind(name, 2) == "convolution"
    assert without_prefix(name) == "nn_conv2d_add_nn_relu_3"


def test_hash_of_truncated_name_is_not_an_operator() -> None:
    assert parts("tvmgen_x_fused_nn_conv2d_add_1f6ba09c7710cc3e_") == ("nn.conv2d", "add")
    assert parts("fused_nn_conv2d_add_18318392938104431__2") == ("nn.conv2d", "add")


def test_external_compiler_functions_lose_the_module_prefix() -> None:
    functions = (
        ("tvmgen_net_fused_add", ""),
        ("tvmgen_net_ethos_n_main_0", ""),
        ("tvmgen_b_cmsis_nn_main_3", "cmsis-nn"),
        ("tvmgen_default_dnnl_main_1", ""),
        ("tensorrt_0", "tensorrt"),
    )
    known = module_prefixes(functions)
    short = [without_prefix(name, known) for name, _ in functions]
    assert short == ["add", "ethos_n_main_0", "cmsis_nn_main_3", "dnnl_main_1", "tensorrt_0"]
