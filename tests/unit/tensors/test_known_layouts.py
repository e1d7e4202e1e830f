"""Layouts the graph tells of, on planted graphs and on one network compiled twice."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.unit.findings.findings_dump import Op, found, plant
from tvmdbg_widgets.analysis.layout_attributes import keeps_axes, of_operand, of_output
from tvmdbg_widgets.analysis.layouts import best_layouts, known_layouts
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.run import DebugRun

F4 = np.float32
PACKED = {"data_layout": "NCHW4c", "kernel_layout": "OIHW4i8o", "out_layout": "NCHW8c"}
PLAIN = {"data_layout": "NCHW", "kernel_layout": "OIHW", "out_layout": ""}
CONV = "tvmgen_default_fused_nn_contrib_conv2d_NCHWc_add_nn_relu"


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, F4)


def told(run: DebugRun, node: int, output: int = 0) -> list[tuple]:
    """Layout, source, certainty and sizes of each known layout of an entry."""
    return [
        (each.layout.text, each.source, each.certainty, each.sizes)
        for each in known_layouts(run.parts, (node, output))
    ]


def transform(src: str, dst: str) -> dict[str, str]:
    return {"src_layout": src, "dst_layout": dst}


def network() -> DebugRun:
    return plant(
        Op("x", zeros(1, 3, 5, 5)),
        Op(
            "t",
            zeros(1, 1, 5, 5, 4),
            "fused_layout_transform",
            [(0, 0)],
            transform("NCHW", "NCHW4c"),
        ),
        Op("w", zeros(2, 1, 3, 3, 4, 8)),
        Op("b", zeros(1, 2, 1, 1, 8)),
        Op("conv", zeros(1, 2, 5, 5, 8), CONV, [(1, 0), (2, 0), (3, 0)], PACKED),
        Op("relu", zeros(1, 2, 5, 5, 8), "fused_sigmoid", [(4, 0)]),
        Op(
            "pool",
            zeros(1, 2, 1, 1, 8),
            "fused_nn_global_avg_pool2d",
            [(5, 0)],
            {"layout": "NCHW8c"},
        ),
        Op(
            "u",
            zeros(1, 10, 1, 1),
            "fused_layout_transform_1",
            [(6, 0)],
            transform("NCHW8c", "NCHW"),
        ),
        Op("flat", zeros(1, 10), "__nop", [(7, 0)]),
    )


def test_layouts_of_packed_network_match_attributes() -> None:
    run = network()
    assert told(run, 0) == [("NCHW", "src_layout of node 1", "stated", {})]
    assert told(run, 1) == [("NCHW4c", "dst_layout of node 1", "stated", {"C": 3})]
    assert told(run, 2) == [("OIHW4i8o", "kernel_layout of node 4", "stated", {})]
    assert told(run, 3) == [("NCHW8c", "out_layout of node 4", "likely", {})]
    assert told(run, 4) == [("NCHW8c", "out_layout of node 4", "stated", {})]
    assert told(run, 5) == [("NCHW8c", "layout of node 6", "stated", {})]
    assert told(run, 6) == [("NCHW8c", "layout of node 6, sizes from node 7", "stated", {"C": 10})]
    assert told(run, 7) == [("NCHW", "dst_layout of node 7", "stated", {})]
    assert told(run, 8) == []
    assert told(run, 99) == told(run, 4, 3) == []


def test_impossible_layout_is_not_offered() -> None:
    def conv(shape: tuple[int, ...], layout: str) -> list[tuple]:
        attrs = {"data_layout": layout}
        run = plant(Op("x", zeros(2)), Op("c", zeros(*shape), "fused_nn_conv2d", [(0, 0)], attrs))
        return [each[0] for each in told(run, 1)]

    assert conv((1, 4, 5, 5), "NCHW") == ["NCHW"]
    assert conv((1, 2, 5, 5, 4), "NCHW") == []
    assert conv((1, 2, 5, 5, 4), "NCHW8c") == []
    assert conv((1, 2, 5, 5, 4), "not a layout") == []


def test_contradicting_sizes_remove_the_layout() -> None:
    for channels, sizes in [(8, {}), (5, {"C": 5}), (4, None), (9, None)]:
        run = plant(
            Op("x", zeros(1, channels, 3, 3)),
            Op(
                "t",
                zeros(1, 2, 3, 3, 4),
                "fused_layout_transform",
                [(0, 0)],
                transform("NCHW", "NCHW4c"),
            ),
        )
        expected = [] if sizes is None else [("NCHW4c", "dst_layout of node 1", "stated", sizes)]
        assert told(run, 1) == expected
        assert list(run.select("layout:NCHW4c")) == ([] if sizes is None else [1])


def test_tensor_of_no_entry_has_no_layout() -> None:
    run = plant(Op("x", zeros(1, 4, 5, 5)), Op("c", zeros(1, 4, 5, 5), CONV, [(0, 0)], PLAIN))
    other = plant(Op("x", zeros(1, 4, 5, 5)))
    parts = replace(run.parts, graph=other.graph)
    assert known_layouts(parts, (1, 0)) == ()
    assert best_layouts(parts, other.graph) == [None]


def _convolved(image: np.ndarray) -> list[Op]:
    """Two elementwise nodes and a convolution behind them, which states the layout."""
    return [
        Op("x", image),
        Op("a", image, "fused_add", [(0, 0), (0, 0)]),
        Op("b", image, "fused_nn_relu", [(1, 0)]),
        Op("w", zeros(4, 4, 1, 1)),
        Op("c", image, "fused_nn_conv2d", [(2, 0), (3, 0)], PLAIN),
    ]


def test_layout_passes_through_elementwise_nodes() -> None:
    image = zeros(1, 4, 5, 5)
    run = plant(
        *_convolved(image),
        Op("d", image, "fused_sigmoid", [(4, 0)]),
        Op("e", zeros(4, 25), "fused_reshape", [(5, 0)]),
    )
    assert told(run, 2) == [("NCHW", "data_layout of node 4", "stated", {})]
    assert told(run, 1) == [("NCHW", "data_layout of node 4, through node 2", "likely", {})]
    assert told(run, 0) == [("NCHW", "data_layout of node 4, through 2 nodes", "likely", {})]
    assert told(run, 5) == [("NCHW", "data_layout of node 4, through node 5", "likely", {})]
    assert told(run, 6) == []


def test_stated_layout_precedes_likely_layout() -> None:
    image = zeros(1, 4, 5, 5)
    run = plant(
        Op("x", image),
        Op("a", image, "fused_unheard_of", [(0, 0)], {"out_layout": "NHWC"}),
        Op("c", image, "fused_nn_conv2d", [(1, 0), (0, 0)], PLAIN),
    )
    assert told(run, 1) == [
        ("NCHW", "data_layout of node 2", "stated", {}),
        ("NHWC", "out_layout of node 1", "likely", {}),
    ]
    sure = run.parts.graph
    trust = np.where(sure.edge_target == 2, Trust.AMBIGUOUS, sure.edge_trust)
    parts = replace(run.parts, graph=replace(sure, edge_trust=trust.astype(np.uint8)))
    assert [(each.layout.text, each.certainty) for each in known_layouts(parts, (1, 0))] == [
        ("NHWC", "likely"),
        ("NCHW", "likely"),
    ]


def test_outputs_of_a_node_have_separate_readers() -> None:
    half = zeros(1, 4, 5, 5)
    run = plant(
        Op("x", zeros(1, 8, 5, 5)),
        Op("s", [half, half], "fused_split", [(0, 0)]),
        Op("c", half, "fused_nn_conv2d", [(1, 1), (0, 0)], PLAIN),
        Op("m", [half, half], "fused_nn_max_pool2d", [(2, 0)], {"layout": "NCHW"}),
    )
    assert told(run, 1, 0) == []
    assert told(run, 1, 1) == [("NCHW", "data_layout of node 2", "stated", {})]
    assert told(run, 3, 1) == [("NCHW", "layout of node 3", "likely", {})]


@pytest.mark.parametrize(
    ("func", "shape", "layout"),
    [
        ("fused_nn_conv2d_add_3", (1, 4, 5, 5), "NCHW"),
        ("fused_conv2d_nhwc", (1, 5, 5, 4), "NHWC"),
        ("fused_nn_contrib_conv2d_NCHWc_add", (1, 2, 5, 5, 4), "NCHW4c"),
        ("fused_nn_softmax", (1, 4, 5, 5), None),
        ("fused_nn_conv2d", (4, 5, 5), None),
    ],
)
def test_names_of_functions_suggest_layouts_before_v08(
    func: str, shape: tuple[int, ...], layout: str | None
) -> None:
    run = plant(Op("x", zeros(2)), Op("c", zeros(*shape), func, [(0, 0)]))
    expected = [] if layout is None else [(layout, "func_name of node 1", "likely", {})]
    assert told(run, 1) == expected


@pytest.mark.parametrize(
    ("func", "attrs", "expected"),
    [
        ("fused_nn_conv2d_add", PLAIN, [("data_layout", "NCHW", True)]),
        (CONV, PACKED, [("out_layout", "NCHW8c", True)]),
        (CONV + "_reshape", PACKED, [("out_layout", "NCHW8c", False)]),
        (
            CONV + "_layout_transform",
            PACKED | transform("NCHW8c", "NCHW"),
            [("dst_layout", "NCHW", True)],
        ),
        ("fused_add", {"out_layout": "NCHW"}, [("out_layout", "NCHW", False)]),
        ("fused_nn_max_pool2d", {"layout": "NHWC"}, [("layout", "NHWC", True)]),
        ("fused_nn_max_pool2d", {"layout": "NCHW", "out_layout": ""}, [("layout", "NCHW", True)]),
        ("fused_image_resize2d", {"layout": "NCHW"}, [("layout", "NCHW", True)]),
        ("fused_image_resize2d_transpose", {"layout": "NCHW"}, [("layout", "NCHW", False)]),
        ("fused_nn_upsampling_mean", {"layout": "NCHW"}, [("layout", "NCHW", False)]),
        (CONV + "_transpose", PACKED, [("out_layout", "NCHW8c", False)]),
        ("fused_add", {}, []),
        ("fused_nn_conv2d_18399029763786111876_", PLAIN, [("data_layout", "NCHW", False)]),
    ],
)
def test_output_layouts_are_read_from_attributes(
    func: str, attrs: dict[str, str], expected: list[tuple]
) -> None:
    assert [of_output(attrs, func) or ()] == (expected or [()])


@pytest.mark.parametrize(
    ("func", "attrs", "position", "expected"),
    [
        (CONV, PACKED, 0, [("data_layout", "NCHW4c", True)]),
        (CONV, PACKED, 1, [("kernel_layout", "OIHW4i8o", True)]),
        (CONV, PACKED, 2, []),
        ("fused_nn_conv2d_nn_conv2d", PLAIN, 0, [("data_layout", "NCHW", False)]),
        ("fused_nn_contrib_conv2d_winograd_without_weight_transform", PLAIN, 1, []),
        (
            "fused_add_layout_transform",
            transform("NCHW", "NCHW4c"),
            1,
            [("src_layout", "NCHW", False)],
        ),
        ("fused_layout_transform_add", transform("NCHW", "NCHW4c"), 1, []),
        (
            "fused_nn_contrib_dense_pack_add",
            {"weight_layout": "NC8n"},
            1,
            [("weight_layout", "NC8n", True)],
        ),
        ("fused_nn_contrib_dense_pack_add", {"weight_layout": "NC8n"}, 0, []),
        ("fused_unheard_of", {"layout": "NCHW"}, 0, [("layout", "NCHW", False)]),
        ("fused_unheard_of", {"layout": "NCHW"}, 1, []),
    ],
)
def test_operand_layouts_are_read_from_attributes(
    func: str, attrs: dict[str, str], position: int, expected: list[tuple]
) -> None:
    assert [of_operand(attrs, func, position) or ()] == (expected or [()])


def test_elementwise_functions_keep_axes() -> None:
    assert keeps_axes("tvmgen_default_fused_cast_multiply_add_nn_relu_2")
    assert keeps_axes("__copy")
    assert not keeps_axes("__nop")
    assert not keeps_axes("fused_add_reshape")
    assert not keeps_axes("")


def test_padding_is_not_a_dead_channel() -> None:
    values = np.ones((1, 1, 5, 5, 4), F4)
    values[..., 3] = 0
    image = np.ones((1, 3, 5, 5), F4)
    attrs = transform("NCHW", "NCHW4c")
    run = plant(Op("x", image), Op("t", values, "fused_layout_transform", [(0, 0)], attrs))
    assert found(run, "dead-channels") == []
    values[..., 1] = 0
    run = plant(Op("x", image), Op("t", values, "fused_layout_transform", [(0, 0)], attrs))
    (finding,) = found(run, "dead-channels")
    assert "1 of 3 channels (1); NCHW4c by dst_layout of node 1" in finding.evidence[0]


def test_run_without_graph_has_no_known_layouts(corpus: Path) -> None:
    params = next(corpus.glob("tvm/resnet20_cifar_nchw8c/tvmdbg/*/output_tensors.params"))
    run = tvmdbg.open(params)
    assert all(known_layouts(run.parts, entry) == () for entry in run.tensors)


def counterparts(plain: DebugRun, packed: DebugRun) -> list[tuple[int, int]]:
    """Nodes of the two runs that hold the same: all but the packed one's transforms, in order."""
    first, second = plain.graph, packed.graph
    kept = [
        node
        for node in range(second.num_nodes)
        if "layout_transform" not in second.func_names[node]
    ]
    assert first.num_nodes == len(kept) == 72
    return list(enumerate(kept))


def test_unfolded_arrays_match_plain_network(corpus: Path) -> None:
    plain = tvmdbg.open(corpus / "tvm/resnet20_cifar")
    packed = tvmdbg.open(corpus / "tvm/resnet20_cifar_nchw8c")
    exact = unfolded = 0
    for mine, other in counterparts(plain, packed):
        expected = plain.tensors[mine].numpy()
        tensor = packed.tensors[other]
        known = known_layouts(packed.parts, (other, 0))
        assert bool(known) == (len(tensor.shape) >= 4)
        logical = tensor.numpy()
        if known:
            assert known[0].layout.is_packed == (len(tensor.shape) > 4)
            logical = tensor.unfold(known[0].layout, known[0].sizes).numpy()
            unfolded += known[0].layout.is_packed
        logical = logical.reshape(expected.shape)
        if packed.graph.kinds[other] < 2:
            assert np.array_equal(logical, expected)
            exact += 1
        else:
            bound = 1e-5 * float(np.abs(expected).max())
            np.testing.assert_allclose(logical, expected, rtol=0, atol=bound)
            scrambled = tensor.numpy().reshape(expected.shape)
            if len(tensor.shape) > 4 and expected.shape[2:] != (1, 1):
                assert np.abs(scrambled - expected).max() > 100 * bound
    assert (exact, unfolded) == (45, 66)


def test_unfold_undoes_layout_transforms_of_the_network(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/resnet20_cifar_nchw8c")
    image = run.tensors[0].numpy()
    assert np.array_equal(run.tensors[1].unfold("NCHW3c").numpy(), image)
    pooled = run.tensors[67].unfold("NCHW8c").numpy()
    assert np.array_equal(pooled, run.tensors[68].numpy())


def test_code_written_for_a_view_runs(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/resnet20_cifar_nchw8c")
    whole = run.tensors[4, 0].numpy().transpose(0, 1, 4, 2, 3).reshape(1, 16, 32, 32)
    for code, expected in [
        ('run.tensors[4, 0].unfold("NCHW8c")[0, 3]', whole[0, 3]),
        ('run.tensors[4, 0].unfold("NCHW8c", {"C": 12})[0, :, 5, 2:9]', whole[0, :12, 5, 2:9]),
        ("run.tensors[4, 0][0, 1, :, :, 3]", whole[0, 11]),
        ('run.tensors[4, 0].unfold("NCHW8c")[0, 3].T', whole[0, 3].T),
    ]:
        assert np.array_equal(eval(code, {"run": run}), expected)  # noqa: S307


def _first_of_known(run: DebugRun) -> list[str | None]:
    layouts: list[str | None] = []
    for node in range(run.graph.num_nodes):
        for output in range(len(run.graph.entry_range(node))):
            known = next(iter(known_layouts(run.parts, (node, output))), None)
            sure = known is not None and known.certainty == "stated"
            layouts.append(known and known.layout.text + ("" if sure else " (likely)"))
    return layouts


def test_best_layouts_are_first_known_ones() -> None:
    image, packed = zeros(1, 4, 5, 5), zeros(1, 2, 5, 5, 4)
    padded = transform("NCHW", "NCHW4c")
    run = plant(
        *_convolved(image),
        Op("d", [image, image], "fused_split", [(4, 0)]),
        Op("s", image, "fused_sigmoid", [(5, 1)]),
        Op("m", image, "fused_multiply", [(6, 0), (7, 0), (4, 0)]),
        Op("e", zeros(4, 25), "fused_reshape", [(6, 0)]),
        Op("t", zeros(1, 1, 5, 5, 4), "fused_layout_transform", [(6, 0)], padded),
        Op("u", packed, "fused_layout_transform", [(6, 0)], padded),
        Op("p", packed, "fused_nn_contrib_conv2d_NCHWc", [(10, 0)]),
        Op("n", image, "fused_nn_conv2d_nhwc", [(8, 0)]),
        Op("k", [], "fused_unheard_of", [(12, 0)], {"layout": "NCHW"}),
    )
    expected = _first_of_known(run)
    assert best_layouts(run.parts, run.graph) == expected
    assert {"NCHW", "NCHW (likely)", "OIHW", "NCHW4c", None} <= set(expected)


def test_best_layouts_end_where_a_walk_does() -> None:
    image = zeros(1, 4, 5, 5)
    ops = [Op("x", image), *(Op(f"n{i}", image, "fused_add", [(i, 0)]) for i in range(150))]
    ops += [
        Op("w", zeros(4, 4, 1, 1)),
        Op("c", image, "fused_nn_conv2d", [(100, 0), (151, 0)], PLAIN),
    ]
    run = plant(*ops)
    expected = _first_of_known(run)
    assert best_layouts(run.parts, run.graph) == expected
    assert expected[0] is expected[60] is None
    assert expected[75] == expected[150] == "NCHW (likely)"


@pytest.mark.parametrize("name", ["resnet20_cifar", "resnet20_cifar_nchw8c"])
def test_best_layouts_of_a_network_are_first_known_ones(corpus: Path, name: str) -> None:
    run = tvmdbg.open(corpus / "tvm" / name)
    assert best_layouts(run.parts, run.graph) == _first_of_known(run)
