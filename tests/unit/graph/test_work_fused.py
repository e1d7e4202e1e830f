"""Fused functions: against evaluation trees that count, and recorded graphs that must agree."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tests.unit.graph.test_work import convolve, count, known
from tvmdbg_widgets.analysis.operator_formulas import elementwise
from tvmdbg_widgets.analysis.work import work
from tvmdbg_widgets.model.graph.graph import Graph

Shape = tuple[int, ...]
UNARY = ("nn_relu", "exp", "sqrt", "cast")
BINARY = ("add", "multiply", "maximum")


def graph_of(run: Any) -> Graph:
    return run.graph


@st.composite
def trees(draw: st.DrawFn) -> tuple[str, list[Shape], tuple[int, ...], Shape, int]:
    """A function as fusion makes one: name, operands, which are constant, output, operations."""
    full = draw(st.sampled_from([(2, 3), (1, 4, 2), (4,)]))
    names: list[str] = []
    operands: list[Shape] = []
    constants: list[int] = []
    total = 0

    def leaf(constant: bool) -> Shape:
        if constant and draw(st.booleans()):
            constants.append(len(operands))
        operands.append(tuple(draw(st.sampled_from([size, size, 1])) for size in full))
        return operands[-1]

    def grow(depth: int, constant: bool) -> Shape:
        """Constants are folded: of two operands the first is none, nor is one alone."""
        nonlocal total
        if depth == 0 or (depth < 3 and draw(st.integers(0, 2)) == 0):
            return leaf(constant)
        name = draw(st.sampled_from(UNARY + BINARY))
        shape = grow(depth - 1, False)
        if name in BINARY:
            shape = np.broadcast_shapes(shape, grow(depth - 1, True))
        names.append(name)
        each = elementwise(name.removeprefix("nn_"))
        total += each.operations * math.prod(shape)
        return shape

    shape = grow(3, False)
    return "fused_" + "_".join(names), operands, tuple(constants), shape, total


@given(trees())
def test_operation_bounds_enclose_true_count(case: Any) -> None:
    """Whatever tree a function really is, its operations lie between the least and the most."""
    name, operands, constants, out, total = case
    found = count(name, operands, out, constants=constants)
    if "too many" in found.why:
        return
    assert found.least <= total <= found.most, (found, total)


def test_operators_fused_after_convolutions_are_counted() -> None:
    data, weight, out = (1, 3, 8, 8), (4, 3, 3, 3), (1, 4, 8, 8)
    alone = convolve(1, 1, 3, 4, (8, 8), (3, 3))
    size = math.prod(out)
    attrs = {"data_layout": "NCHW", "kernel_layout": "OIHW"}
    bias = (1, 4, 1, 1)

    def tail(names: str, *more: Shape, **how: Any) -> Any:
        return count(f"fused_nn_conv2d_{names}", [data, weight, *more], out, **attrs, **how)

    assert tail("add_nn_relu", bias).least == alone + 2 * size
    assert tail("add_add_nn_relu", bias, out).least == alone + 3 * size
    assert tail("add_cast_fixed_point_multiply_clip_cast", bias).least == alone + 6 * size
    folded = tail("multiply_add_nn_relu", bias, bias, constants=(1, 2, 3))
    assert (folded.least, folded.most) == (alone + 3 * size,) * 2
    # Where scale and shift are inputs, multiply may as well read these two alone.
    unsure = tail("multiply_add_nn_relu", bias, bias)
    assert (unsure.least, unsure.most) == (alone + 2 * size + 4, alone + 3 * size)
    # A sum of two small operands before the convolution, whose operands then stand behind them.
    side = count("fused_sigmoid_nn_conv2d_multiply", [out, data, weight], out, **attrs)
    assert (side.least, side.most) == (alone + 5 * size,) * 2


def test_reason_for_unknown_shape_names_operator() -> None:
    layout = {"data_layout": "NCHW", "kernel_layout": "OIHW"}
    conv = [(1, 3, 8, 8), (4, 3, 3, 3)]
    for name, operands, out, part in (
        ("fused_nn_conv2d_strided_slice", conv, (1, 4, 2, 8), "strided_slice"),
        ("fused_nn_dense_nn_dense", [(2, 3), (4, 3), (5, 4)], (2, 5), "nn.dense and nn.dense"),
        ("fused_concatenate_add_multiply", [(2, 3), (2, 3), (3,)], (4, 3), "concatenate"),
        ("fused_sum_add", [(2, 3), (2,)], (2,), "sum"),
        ("fused_nn_lrn_add", [(1, 3, 8, 8)], (1, 3, 8, 8), "nn.lrn"),
    ):
        found = count(name, list(operands), out, **layout)
        assert np.isnan(found.least), name
        assert part in found.why
    assert "is cut" in count("fused_add_multiply_11223344556677_", [(2,)], (2,)).why
    assert "several outputs" in count("fused_add_split", [(4,)], (2,), (2,)).why


def test_layout_transform_with_padding_is_not_counted() -> None:
    assert known("fused_add_transpose", [(2, 3), (2, 3)], (3, 2)) == 6
    assert known("fused_add_layout_transform", [(1, 8, 2, 2)] * 2, (1, 2, 2, 2, 4)) == 32
    filled = count("fused_add_layout_transform", [(1, 3, 2, 2)] * 2, (1, 1, 2, 2, 4))
    assert np.isnan(filled.least)


def test_fused_unfused_packed_and_old_dumps_of_one_network_agree(corpus: Path) -> None:
    names = ("", "_unfused", "_nchw8c", "_v0.6", "_v0.8")
    runs = {name: tvmdbg.open(corpus / "tvm" / f"resnet20_cifar{name}") for name in names}
    totals = {name: float(np.nansum(work(graph_of(run)).flops)) for name, run in runs.items()}
    assert len(set(totals.values())) == 1
    # Convolutions, dense layer, pooling and softmax of ResNet-20 (6n + 2 = 20 layers of 3×3,
    # projections of 1×1, 32×32×3 inputs), with additions of biases and residuals, and ReLUs.
    sizes = [(16, 32), (32, 16), (64, 8)]
    total = 2 * 27 * 16 * 32 * 32 + 2 * 16 * 32 * 32
    read = 16
    for channels, side in sizes:
        positions = channels * side * side
        for block in range(3):
            for layer in range(2):
                own = read if layer == 0 and block == 0 else channels
                total += 2 * 9 * own * positions + 2 * positions
            total += positions  # the residual
            if channels != read and block == 0:
                total += 2 * read * positions + positions
        read = channels
    total += 64 * 8 * 8 + 64 + 2 * 64 * 10 + 10 + 5 * 10
    assert totals[""] == total


def test_bytes_count_every_input_and_output_once(corpus: Path) -> None:
    graph = graph_of(tvmdbg.open(corpus / "tvm" / "resnet20_cifar"))
    found = work(graph)
    node = graph.nodes[9]
    entries = {*node.inputs, *node.outputs}
    assert found[9].bytes == sum(4 * math.prod(graph.shape(*entry) or ()) for entry in entries)
    nop = graph.nodes_named("reshape_nop")[0]
    assert (found[nop.id].bytes, found[nop.id].flops) == (0, 0)
    encoder = graph_of(tvmdbg.open(corpus / "tvm" / "transformer_encoder"))
    take = next(node for node in encoder.nodes if node.parts == ("take",))
    rows = math.prod(take.shapes[0] or ()) * 4
    index = encoder.shape(*take.inputs[1])
    assert work(encoder)[take.id].bytes == 2 * rows + 8 * math.prod(index or ())


def test_an_operand_read_twice_counts_once() -> None:
    from tests.unit.timeline.test_critical_path import dag

    graph = dag(2, [(0, 1)])
    assert work(graph)[1].bytes == work(dag(2, [(0, 1), (0, 1)]))[1].bytes == 32


def test_every_operator_is_counted_or_has_a_reason(corpus: Path) -> None:
    for folder in sorted((corpus / "tvm").iterdir()):
        if not (folder / "tvmdbg").is_dir():
            continue
        found = work(graph_of(tvmdbg.open(folder)))
        for node in found.operators.tolist():
            each = found[node]
            unknown = math.isnan(each.flops) or math.isnan(each.bytes)
            assert unknown == bool(each.why), (folder.name, each)


def test_int8_work_reports_dtype_and_operations(corpus: Path) -> None:
    found = work(graph_of(tvmdbg.open(corpus / "tvm" / "resnet20_cifar_int8")))
    assert (found[6].dtype, found[6].flops) == ("int8", 884736 + 6 * 16 * 32 * 32)


@pytest.mark.parametrize("parts", [12, 30])
def test_long_function_names_are_counted_or_explained(parts: int) -> None:
    found = count("fused_" + "_".join(["add"] * parts), [(3,), *[(1,)] * parts], (3,))
    assert found.why or found.least <= found.most
