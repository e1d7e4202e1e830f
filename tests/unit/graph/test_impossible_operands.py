"""Graphs whose nodes read too little, too much or what cannot be: nothing raises or invents."""

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

import tvmdbg_widgets as tvmdbg
from tests.unit.graph.test_work import count
from tvmdbg_widgets.analysis.fused_operations import MOVING
from tvmdbg_widgets.analysis.node_columns import KNOWN_COLUMNS, known_column
from tvmdbg_widgets.analysis.operator_formulas import REDUCTIONS, TABLE
from tvmdbg_widgets.run import DebugRun

_HEADS = """
    conv1d conv2d conv3d conv2d_transpose dense matmul batch_matmul contrib_conv2d_NCHWc max_pool2d
    avg_pool1d global_avg_pool2d adaptive_max_pool2d softmax log_softmax
"""
_OTHERS = """
    batch_norm layer_norm pad lrn upsampling qnn.conv2d qnn.requantize cumsum argsort einsum topk
    image.resize2d vision.non_max_suppression nothing_known
"""
KINDS = (*TABLE, *MOVING, *REDUCTIONS, *_HEADS.split(), *_OTHERS.split())
DTYPES = ("float32", "float16", "int8", "int4", "bool", "float32x4", "bfloat16", "", "nonsense")
LAYOUTS = ("NCHW", "NHWC", "NCHW8c", "OIHW8i8o", "NC", "?", "", "-9", "[2, 2]")
ATTRS = ("data_layout", "kernel_layout", "out_layout", "src_layout", "dst_layout", "axis",
         "pool_size")  # fmt: skip
BASES = sorted((Path(__file__).parents[2] / "data/graph").glob("*/graph.json"))
HTML = 3


def a_shape(chance: random.Random) -> Any:
    size = chance.choice(([1, 2, 4, 8], [1, 2, 4, 8], [0, 3], [1 << 40]))
    rank = chance.choice((0, 1, 2, 3, 4, 4, 5, 6))
    return chance.choice(size) if chance.random() < 0.03 else chance.choices(size, k=rank)


def an_operator(chance: random.Random, reads: list[list[int]]) -> dict[str, Any]:
    name = "_".join(chance.choices(KINDS, k=chance.choice((1, 1, 2, 3))))
    stated = {each: chance.choice(LAYOUTS) for each in ATTRS if chance.random() < 0.1}
    number = len(reads) if chance.random() < 0.8 else chance.choice((0, 1, 9, -1, "x"))
    return {
        "func_name": chance.choice(("", "fused_", "tvmgen_default_fused_")) + name,
        "num_inputs": str(number),
        "num_outputs": "1",
        "flatten_data": "0",
        **stated,
    }


def drawn(chance: random.Random) -> dict[str, Any]:
    """A graph of operators of any kind that read anything."""
    count = chance.randint(3, 9)
    nodes: list[dict[str, Any]] = []
    offsets = [0]
    for at in range(count):
        null = at < 2 and chance.random() < 0.8
        outputs = 1 if null or chance.random() < 0.8 else chance.randint(0, 3)
        number = 0 if null else chance.choice((0, 1, 1, 2, 2, 3, 5))
        reads = [[chance.randrange(max(at, 1)), chance.choice((0, 0, 0, 1)), 0]
                 for _ in range(number)]  # fmt: skip
        nodes.append({"op": "null" if null else "tvm_op", "name": f"n{at}", "inputs": reads})
        if not null:
            attrs = an_operator(chance, reads)
            nodes[-1]["attrs"] = {**attrs, "num_outputs": str(outputs)}
        offsets.append(offsets[-1] + outputs)
    entries = range(offsets[-1])
    return {
        "nodes": nodes,
        "arg_nodes": [at for at, node in enumerate(nodes) if node["op"] == "null"],
        "heads": [[count - 1, 0, 0]],
        "node_row_ptr": offsets,
        "attrs": {
            "shape": ["list_shape", [a_shape(chance) for _ in entries]],
            "dltype": ["list_str", [chance.choice(DTYPES) for _ in entries]],
            "storage_id": ["list_int", [chance.randrange(5) for _ in entries]],
        },
    }


def changed(chance: random.Random, document: dict[str, Any]) -> dict[str, Any]:
    """A recorded graph with operands dropped, doubled and added, and other shapes."""
    nodes, attrs = document["nodes"], document["attrs"]
    operators = [node for node in nodes if node["op"] != "null"]
    for _ in range(chance.choice((1, 2, 4))):
        node = chance.choice(operators)
        reads = node["inputs"]
        match chance.randrange(7):
            case 0:
                reads.clear()
            case 1 if reads:
                reads.pop(chance.randrange(len(reads)))
            case 2 if reads:
                reads.append(list(chance.choice(reads)))
            case 3:
                reads.insert(0, [chance.randrange(len(nodes)), chance.randrange(3), 0])
            case 4:
                node["attrs"] = an_operator(chance, reads)
            case 5:
                node["attrs"]["num_outputs"] = str(chance.choice((0, 2, 7)))
            case _ if "shape" in attrs:
                shapes = attrs["shape"][1]
                shapes[chance.randrange(len(shapes))] = chance.choice((a_shape(chance), None))
                if chance.random() < 0.1:
                    del attrs["shape"]
    return document


def opened(seed: int) -> DebugRun:
    """A run of a graph that cannot be, with times; the same for a seed."""
    chance = random.Random(seed)
    if seed % 3 or not BASES:
        document = drawn(chance)
    else:
        document = changed(chance, json.loads(chance.choice(BASES).read_text()))
    times = [[1e-6, 2e-6] if node["op"] != "null" else [0.0] for node in document["nodes"]]
    return tvmdbg.open(json.dumps(document).encode(), times=json.dumps(times).encode())


@pytest.mark.parametrize("first", range(0, 120, 40))
def test_graph_with_invalid_operands_answers_every_analysis(first: int) -> None:
    for seed in range(first, first + 40):
        run = opened(seed)
        for each in run.work():
            assert math.isnan(each.flops) == any("operations" in why for why in each.why) or (
                run.graph.kinds[each.node] < 2
            )
        for answer in (run.work(), run.roofline(1e9, 1e9), run.groups, run.critical_path(),
                       run.check(), run.table(), run.findings(progress=False)):  # fmt: skip
            assert repr(answer)
        if run.graph.storage_ids is not None:
            assert repr(run.memory_plan())
        for name in KNOWN_COLUMNS:
            known_column(run.parts, name)


def test_graph_with_invalid_operands_is_drawn_and_exported(tmp_path: Path) -> None:
    other = opened(1_000)
    for seed in range(1_001, 1_007):
        run = opened(seed)
        for figure in (
            run.figure("debugger"),
            run.figure("graph", color_by="flops"),
            run.figure("timeline", chart="roofline"),
        ):
            assert figure.svg
            assert figure.text
        for made in (run.to_dot(), run.to_model_explorer(), run.to_networkx(), run.report(2),
                     run.match(other), tvmdbg.compare(run, other)):  # fmt: skip
            assert repr(made)
        if seed % HTML == 0:
            assert run.save_html(tmp_path / "page.html").exists()


@pytest.mark.parametrize("part", [part for part in KINDS if part not in MOVING])
def test_an_operator_that_reads_nothing_is_not_counted(part: str) -> None:
    found = count(part, [], (2, 4, 4, 4), pool_size="[2, 2]")
    free = part in TABLE and not TABLE[part].operations
    assert (found.most == 0) if free else math.isnan(found.most)


SQUARE = (4, 4)


@pytest.mark.parametrize(
    ("name", "operands", "out"),
    [
        *(("nn_relu", [(3,)], (7,)), ("nn_relu", [(3,), (3,)], (3,)), ("add", [(3,), (5,)], (7,))),
        *(("add", [(3, 1), (1, 1)], (3, 3)), ("add", [(3,), (3,), (3,)], (3,))),
        *(("nn_softmax", [(3, 5)], (3, 4)), ("nn_bias_add", [(2, 5, 3), (4,)], (2, 5, 3))),
        *(("sum", [(7, 2)], (14,)), ("nn_max_pool2d", [(16,)], (1, 1, 4, 4))),
        ("nn_max_pool2d", [(1, 1, 8, 8), (4,)], (1, 1, 4, 4)),
        ("nn_dense_add", [SQUARE, SQUARE, (3, 4)], SQUARE),
        ("nn_dense_add", [SQUARE, SQUARE, SQUARE, SQUARE, SQUARE], SQUARE),
    ],
)
def test_impossible_operands_are_not_counted(
    name: str, operands: list[tuple[int, ...]], out: tuple[int, ...]
) -> None:
    found = count(name, operands, out, pool_size="[2, 2]")
    assert math.isnan(found.least)
    assert found.why


@pytest.mark.parametrize(
    ("name", "operands", "out", "operations"),
    [
        ("add", [(3, 4)], (3, 4), 12),  # of a scalar that is written into the function
        ("nn_bias_add", [(2, 5, 3), (5,)], (2, 5, 3), 30),
        ("nn_prelu", [(2, 5, 3), (5,)], (2, 5, 3), 60),
        ("nn_dense_add_nn_relu", [SQUARE, SQUARE, (4,)], SQUARE, 160),
        ("fuse_conv2d_relu", [(1, 2, 4, 4), (3, 2, 1, 1), (3,)], (1, 3, 4, 4), 240),
        ("nn_max_pool2d", [(1, 1, 8, 8)], (1, 1, 4, 4), 64),
        ("sum", [(7, 1, 2)], (1, 1, 2), 14),
        ("full_add", [(3,)], (3,), 3),
        ("multiply_cast_like", [(3,), (3,), (3,)], (3,), 3),
    ],
)
def test_possible_operands_are_counted(
    name: str, operands: list[tuple[int, ...]], out: tuple[int, ...], operations: int
) -> None:
    found = count(name, operands, out, pool_size="[2, 2]")
    assert (found.least, found.most) == (operations, operations)
