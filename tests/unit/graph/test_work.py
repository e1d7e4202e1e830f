"""Operations of single operators: against loops that count every scalar operation."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.counted import Number, Tally, arrays, each_element
from tvmdbg_widgets.analysis.fused_operations import operations
from tvmdbg_widgets.analysis.operator_formulas import COMPOSED, TABLE, Operand, OperatorCall
from tvmdbg_widgets.model.graph.operators import parts
from tvmdbg_widgets.model.tensors.layouts import Layout

Shape = tuple[int, ...]


def count(
    func_name: str,
    operands: list[Shape],
    *outputs: Shape,
    constants: tuple[int, ...] = (),
    **attrs: str,
) -> Any:
    """Operations as counted from shapes."""
    given_ = tuple(Operand(s, "float32", i in constants) for i, s in enumerate(operands))
    return operations(OperatorCall(parts(func_name), given_, outputs, attrs), func_name)


def known(func_name: str, operands: list[Shape], *outputs: Shape, **more: Any) -> int:
    found = count(func_name, operands, *outputs, **more)
    assert found.least == found.most, found
    return int(found.least)


def stored(layout: str, sizes: dict[str, int]) -> Shape:
    """The shape of an array with some logical sizes in a layout; splits must divide them."""
    parsed = Layout.parse(layout)
    return tuple(
        size if size is not None else sizes[letter] // parsed.block(letter)
        for letter, size in parsed.axes
    )


def convolve(  # noqa: PLR0917 (a loop nest has as many bounds)
    batch: int, groups: int, read: int, written: int, space: Shape, kernel: Shape
) -> int:
    """A direct convolution of ``space`` output positions, padded positions and all."""
    tally = Tally()
    for _ in arrays((batch, written)):
        for _ in arrays(space):
            total: Any = 0
            for _ in arrays((read // groups, *kernel)):
                total = tally.number() * 1 + total
    return tally.operations


small = st.integers(1, 3)


@given(st.data(), st.integers(1, 3), st.sampled_from(["", "stated"]))
def test_convolutions_of_every_rank_and_layout(data: Any, rank: int, said: str) -> None:
    groups, per_group, out_group = data.draw(small), data.draw(small), data.draw(small)
    read, written, batch = groups * per_group, groups * out_group, data.draw(small)
    space = tuple(data.draw(st.integers(2, 4)) for _ in range(rank))
    kernel = tuple(data.draw(small) for _ in range(rank))
    stride = data.draw(st.integers(1, 2))
    letters = {1: "W", 2: "HW", 3: "DHW"}[rank]
    last = data.draw(st.booleans())
    layout = f"N{letters}C" if last else f"NC{letters}"
    weight = f"{letters}IO" if last else f"OI{letters}"
    sizes = {"O": written, "I": per_group} | dict(zip(letters, kernel, strict=True))
    inside = {"N": batch, "C": read} | {
        letter: size * stride for letter, size in zip(letters, space, strict=True)
    }
    outside = {"N": batch, "C": written} | dict(zip(letters, space, strict=True))
    attrs = {"data_layout": layout, "kernel_layout": weight, "out_layout": ""} if said else {}
    found = count(
        f"fused_nn_conv{rank}d",
        [stored(layout, inside), stored(weight, sizes)],
        stored(layout, outside),
        **attrs,
    )
    expected = convolve(batch, groups, read, written, space, kernel)
    if said:
        assert found == (expected, expected, "")
    else:
        # Without layouts the shapes may fit several, but then nothing wrong is told.
        assert np.isnan(found.least) or found.least == expected
        assert bool(found.why) == bool(np.isnan(found.least))


@pytest.mark.parametrize("block", [1, 2, 4])
def test_packed_convolutions_count_as_plain_ones(block: int) -> None:
    sizes = {"N": 1, "C": 8, "H": 4, "W": 4}
    expected = convolve(1, 1, 8, 8, (4, 4), (3, 3))
    layouts = {
        "data_layout": f"NCHW{block}c",
        "out_layout": f"NCHW{block}c",
        "kernel_layout": f"OIHW{block}i{block}o",
    }
    found = known(
        "tvmgen_default_fused_nn_contrib_conv2d_NCHWc",
        [
            stored(layouts["data_layout"], sizes),
            stored(layouts["kernel_layout"], {"O": 8, "I": 8, "H": 3, "W": 3}),
        ],
        stored(layouts["out_layout"], sizes),
        **layouts,
    )
    assert found == expected


def test_depthwise_convolutions() -> None:
    expected = convolve(1, 6, 6, 12, (5, 5), (3, 3))
    nchw = known(
        "fused_nn_conv2d", [(1, 6, 5, 5), (12, 1, 3, 3)], (1, 12, 5, 5),
        data_layout="NCHW", kernel_layout="OIHW",
    )  # fmt: skip
    hwoi = known(
        "fused_nn_conv2d", [(1, 5, 5, 6), (3, 3, 6, 2)], (1, 5, 5, 12),
        data_layout="NHWC", kernel_layout="HWOI",
    )  # fmt: skip
    assert nchw == hwoi == expected


def test_transposed_convolutions_scatter_their_input() -> None:
    tally = Tally()
    for _ in arrays((1, 4, 3, 3)):  # the input
        for _ in arrays((2, 2, 2)):  # channels written, kernel
            _ = tally.number() * 1 + 0
    found = known(
        "fused_nn_conv2d_transpose", [(1, 4, 3, 3), (4, 2, 2, 2)], (1, 2, 6, 6),
        data_layout="NCHW", kernel_layout="IOHW",
    )  # fmt: skip
    assert found == tally.operations


def test_shapes_that_fit_two_layouts_count_only_if_both_agree() -> None:
    """A 3×3 image of 3 channels: a 3×3×3×3 weight is OIHW or HWIO, positions differ or not."""
    square = count("fused_nn_conv2d", [(1, 3, 3, 3), (3, 3, 3, 3)], (1, 3, 3, 3))
    assert square == (convolve(1, 1, 3, 3, (3, 3), (3, 3)),) * 2 + ("",)
    found = count("fused_nn_conv2d", [(1, 4, 4, 2), (4, 4, 2, 2)], (1, 4, 4, 2))
    assert np.isnan(found.least)
    assert "which differ in operations" in found.why


def multiply(rows: int, inner: int, columns: int, batch: int = 1) -> int:
    tally = Tally()
    for _ in arrays((batch, rows, columns)):
        total: Any = 0
        for _ in range(inner):
            total = tally.number() * 1 + total
    return tally.operations


sizes = st.integers(1, 5)


@given(sizes, sizes, sizes, sizes, st.booleans(), st.booleans())
def test_matrix_products_are_counted(  # noqa: PLR0917
    batch: int, m: int, k: int, n: int, left: bool, right: bool
) -> None:
    one = (batch, k, m) if left else (batch, m, k)
    other = (batch, n, k) if right else (batch, k, n)
    expected = multiply(m, k, n, batch)
    for name in ("fused_nn_batch_matmul", "fused_matmul"):
        found = count(name, [one, other], (batch, m, n))
        if np.isnan(found.least):
            assert "leave open" in found.why
        else:
            assert found.least == expected
    assert known("fused_nn_dense", [(m, k), (n, k)], (m, n)) == multiply(m, k, n)
    assert known("fused_nn_contrib_dense_pack", [(m, k), (n, k, 1)], (m, n)) == multiply(m, k, n)


@given(st.lists(sizes, min_size=1, max_size=3), st.data())
def test_reductions(shape: list[int], data: Any) -> None:
    axes = data.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1))
    kept = data.draw(st.booleans())
    out = tuple(
        1 if axis in axes else size for axis, size in enumerate(shape) if kept or axis not in axes
    )
    for name, divides in (("sum", False), ("max", False), ("mean", True)):
        tally = Tally()
        for _ in arrays(out):
            total: Any = tally.number()
            for _ in arrays(shape[axis] for axis in axes):
                total = total.larger(0) if name == "max" else total + 0
            if divides:
                _ = total / 2
        assert known(f"fused_{name}", [tuple(shape)], out) == tally.operations


def test_pooling() -> None:
    tally = Tally()
    for _ in arrays((1, 2)):
        total: Any = tally.number()
        for _ in arrays((4, 6)):
            total = total + 0
        _ = total / 24
    assert known("fused_nn_global_avg_pool2d", [(1, 2, 4, 6)], (1, 2, 1, 1)) == tally.operations
    tally = Tally()
    for _ in arrays((1, 2, 2, 3)):
        best: Any = tally.number()
        for _ in arrays((2, 2)):
            best = best.larger(0)
    adaptive = known("fused_nn_adaptive_max_pool2d", [(1, 2, 4, 6)], (1, 2, 2, 3))
    window = known("fused_nn_max_pool2d", [(1, 2, 4, 6)], (1, 2, 2, 3), pool_size="[2, 2]")
    assert adaptive == window == tally.operations
    uneven = count("fused_nn_adaptive_max_pool2d", [(1, 2, 5, 6)], (1, 2, 2, 3))
    assert "windows overlap" in uneven.why
    plain = count("fused_nn_max_pool2d", [(1, 2, 4, 6)], (1, 2, 2, 3))
    assert "the size of its window is not in the graph" in plain.why


def test_softmax() -> None:
    def rows(number: int, length: int, logarithm: bool) -> int:
        tally = Tally()
        for _ in range(number):
            best: Any = tally.number()
            for _ in range(length):
                best = best.larger(0)
            total: Any = tally.number()
            for _ in range(length):
                total = total + (tally.number() - best).call()
            if logarithm:
                total.call()
            for _ in range(length):
                _ = tally.number() - total if logarithm else tally.number() / total
        return tally.operations

    assert known("fused_nn_softmax", [(4, 7)], (4, 7)) == rows(4, 7, False)
    assert known("fused_nn_log_softmax", [(4, 7)], (4, 7), axis="-1") == rows(4, 7, True)
    either = count("fused_nn_log_softmax", [(4, 7)], (4, 7))
    assert (either.least, either.most) == (rows(4, 7, True), rows(7, 4, True))


REFERENCE: dict[str, Callable[[Number], Any]] = {
    "clip": lambda x: x.larger(0).smaller(6),
    "relu6": lambda x: x.larger(0).smaller(6),
    "leaky_relu": lambda x: (x.below(0), x * 0.1),
    "prelu": lambda x: (x.below(0), x * x),
    "sigmoid": lambda x: 1 / (1 + (-x).call()),
    "fast_sigmoid": lambda x: 1 / (1 + (-x).call()),
    "silu": lambda x: x * (1 / (1 + (-x).call())),
    "swish": lambda x: x * (1 / (1 + (-x).call())),
    "gelu": lambda x: x * 0.5 * (1 + (x * 0.7071).call()),
    "softplus": lambda x: (1 + x.call()).call(),
    "fixed_point_multiply": lambda x: (x * 3 + 4) >> 5,
}


@pytest.mark.parametrize("name", sorted(COMPOSED))
def test_composed_operators(name: str) -> None:
    shape = (2, 3)
    operands = [shape] * TABLE[name].operands
    prefix = "nn_" if name in ("leaky_relu", "prelu", "gelu") else ""
    assert known(f"fused_{prefix}{name}", operands, shape) == each_element(shape, REFERENCE[name])


def test_elementwise_operators_are_counted_with_broadcasting() -> None:
    assert known("fused_add", [(2, 1), (1, 3)], (2, 3)) == each_element((2, 3), lambda x: x + 1)
    assert known("fused_nn_relu", [(2, 3)], (2, 3)) == each_element((2, 3), lambda x: x.larger(0))
    assert (known("fused_cast", [(2, 3)], (2, 3)), known("fused_exp", [()], ())) == (0, 1)
    assert known("fused_exp", [(0, 4)], (0, 4)) == 0


def test_data_movement_counts_no_operations() -> None:
    assert known("fused_transpose_reshape", [(2, 3)], (6,)) == 0
    assert known("fused_split", [(2, 9)], (2, 3), (2, 6)) == 0
    assert known("__nop", [(2, 3)], (6,)) == 0
    assert known("fused_layout_transform", [(1, 3, 4, 4)], (1, 1, 4, 4, 4)) == 0


@pytest.mark.parametrize(
    "name",
    [
        *("k_relu", "fused_nn_lrn", "fused_vision_roi_align", "tvmgen_default_ccompiler_main_0"),
        *("fused_qnn_conv2d", "fused_nn_contrib_conv2d_winograd_without_weight_transform"),
        "fused_image_resize2d",
    ],
)
def test_operators_without_formula_are_unknown(name: str) -> None:
    found = count(name, [(1, 4, 4, 4), (4, 4, 3, 3)], (1, 4, 4, 4))
    assert np.isnan(found.least)
    assert found.why.startswith("no formula for")


def test_unknown_shapes_are_reported() -> None:
    call = OperatorCall(("nn.conv2d",), (Operand(None, "", False),) * 2, ((1, 1, 4, 4),), {})
    assert "fit no layout" in operations(call, "fused_nn_conv2d").why
    call = OperatorCall(("add",), (Operand((2,), "", False),), (None,), {})
    assert "shape of its output" in operations(call, "fused_add").why
