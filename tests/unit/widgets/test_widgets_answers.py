"""What views are told agrees with the model, and numbers with TVM's own files."""

import json
import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from conftest import HERE, corpus_path
from formats.tvm.params.params_truth import DATA, Dump, dumps
from unit.widgets import wire

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.answers.answers import answer
from tvmdbg_widgets.model.base.numbers import Trust
from tvmdbg_widgets.run import DebugRun

CORPUS = corpus_path()
DUMPS = [] if CORPUS is None else dumps(CORPUS)
RELAX = json.loads((DATA / "relax/params_all.json").read_text())["params"]
ZOO = json.loads((DATA / "zoo/zoo.expected.json").read_text())

each_dump = pytest.mark.parametrize(
    "dump", DUMPS, ids=["/".join(each.folder.parts[-2:]) for each in DUMPS]
)


def opened(dump: Dump) -> DebugRun:
    return tvmdbg.open(dump.folder / "tvmdbg")


def columns(run: DebugRun, kind: str) -> dict[str, Any]:
    reply = answer(run.facts, {"kind": kind})
    assert json.dumps(reply.result, allow_nan=False)
    return wire.unpack(reply.result["columns"], reply.buffers[0])


def picture(run: DebugRun, node: int, output: int, rows: int, cols: int) -> dict[str, Any]:
    """Ask for the last two axes of a tensor at index 0 of the others."""
    shape = run.tensors[node, output].record.values(None).view_shape
    return {
        "entry": [node, output],
        "axes": [len(shape) - 2 if len(shape) > 1 else None, len(shape) - 1 if shape else None],
        "index": [0] * len(shape),
        "rows": rows,
        "cols": cols,
        "exact": True,
        "layout": "",
    }


def dtype_of(name: str) -> np.dtype[Any]:
    """The numpy dtype of one lane; TVM 0.19 wrote its two float8 types the other way round."""
    scalar = {"e4m3_float8": "float8_e4m3fn", "e5m2_float8": "float8_e5m2"}.get(name, name)
    scalar = re.sub(r"x\d+$", "", scalar)
    return np.dtype(getattr(ml_dtypes, scalar, scalar))


def read_back(text: str, dtype: np.dtype[Any]) -> bytes:
    """The bits of a value as written for a view."""
    if dtype == np.bool_:
        return bytes([("False", "True").index(text)])
    if dtype.kind in "iu" or dtype.name.startswith(("int", "uint")):
        return np.array([int(text)]).astype(dtype).tobytes()
    if dtype.kind == "c":
        return np.array([complex(text)], dtype).tobytes()
    return np.array([float(text)]).astype(dtype).tobytes()


def check_texts(texts: list[str], truth: np.ndarray) -> None:
    """The texts are of the first values, as far as they go."""
    assert bool(texts) == bool(truth.size)
    flat = truth.ravel()[: len(texts)]
    for text, value in zip(texts, flat, strict=True):
        if text == "nan":
            assert value != value  # noqa: PLR0124 (only NaN differs from itself)
        else:
            assert read_back(text, flat.dtype) == value.tobytes(), text


@pytest.mark.skipif(not DUMPS, reason="set TVMDBG_CORPUS to the folder of recorded runs")
@each_dump
def test_graph_columns_match_the_graph(dump: Dump) -> None:
    run = opened(dump)
    graph, found = run.graph, columns(run, "graph")
    same = {
        "names": list(graph.names),
        "funcNames": list(graph.func_names),
        "opKinds": [node.op_kind for node in graph.nodes],
        "kinds": graph.kinds,
        "entryOffsets": graph.entry_offsets,
        "edgeSource": graph.edge_source,
        "edgeOutput": graph.edge_output,
        "edgeTarget": graph.edge_target,
        "edgePosition": graph.edge_position,
        "edgeTrust": graph.edge_trust,
        "shapeOffsets": graph.shape_offsets,
        "shapeDims": graph.shape_dims,
        "dtypes": list(graph.dtypes),
        "headNode": graph.heads[:, 0],
        "headOutput": graph.heads[:, 1],
    }
    for name, expected in same.items():
        np.testing.assert_array_equal(found[name], expected, err_msg=name)
    held = [graph.entry_id(*entry) for entry in run.tensors]
    assert np.flatnonzero(found["hasTensor"]).tolist() == sorted(held)
    for node in range(graph.num_nodes):
        details = answer(run.facts, {"kind": "node", "node": node}).result
        assert details["name"] == graph.names[node]
        sources = [int(graph.edge_source[edge]) for edge in graph.in_edges(node)]
        assert [each["node"] for each in details["inputs"]] == sources
        assert len(details["outputs"]) == len(graph.entry_range(node))


@pytest.mark.skipif(not DUMPS, reason="set TVMDBG_CORPUS to the folder of recorded runs")
@each_dump
def test_timeline_and_tensor_columns_match_the_run(dump: Dump) -> None:
    run = opened(dump)
    if run.timeline is None:
        assert answer(run.facts, {"kind": "timeline"}).result is None
    else:
        timeline, found = run.timeline, columns(run, "timeline")
        source = found.get("source", np.arange(timeline.num_slices))
        assert sorted(source.tolist()) == list(range(timeline.num_slices))
        np.testing.assert_array_equal(found["node"], timeline.slice_node[source])
        np.testing.assert_array_equal(found["start"], timeline.slice_start_ns[source])
        np.testing.assert_array_equal(found["duration"], timeline.slice_duration_ns[source])
        names = [found["names"][code] for code in found["name"]]
        assert names == [timeline.slice_names[each] for each in source.tolist()]
        np.testing.assert_array_equal(found["nodeNs"], timeline.node_ns)
        np.testing.assert_array_equal(found["repeats"], timeline.repeats_ns)
        for node in np.flatnonzero(found["nodeCount"] > 1):
            repeats = timeline.repeats(int(node))
            assert found["nodeP50"][node] == pytest.approx(np.percentile(repeats, 50))
    tensors, found = list(run.tensors.values()), columns(run, "tensors")
    entries = list(zip(found["node"].tolist(), found["output"].tolist(), strict=True))
    assert entries == list(run.tensors)
    assert found["dtypes"] == [tensor.dtype.name for tensor in tensors]
    assert found["nbytes"].tolist() == [tensor.nbytes for tensor in tensors]
    ends = found["shapeOffsets"]
    for i, tensor in enumerate(tensors):
        assert tuple(found["shapeDims"][ends[i] : ends[i + 1]]) == tensor.shape


@pytest.mark.skipif(not DUMPS, reason="set TVMDBG_CORPUS to the folder of recorded runs")
@each_dump
def test_pictures_and_values_match_tvm(dump: Dump) -> None:
    run, truths = opened(dump), dump.npz()
    if not truths:
        pytest.skip("TVM's values were not kept for this dump")
    checked = 0
    for position, tensor in enumerate(run.tensors.values()):
        keys = [truth.get("npz_key") for truth in dump.truths(position, tensor.key)]
        if len(keys) != 1 or keys[0] not in truths or tensor.notes:
            continue
        truth = truths[keys[0]]
        if truth.dtype == np.uint16 and tensor.dtype.name == "bfloat16":
            truth = truth.view(ml_dtypes.bfloat16)
        if truth.shape != tensor.shape:
            continue
        checked += 1
        check_picture(run, tensor.node, tensor.output, truth)
    assert checked


def check_picture(run: DebugRun, node: int, output: int, truth: np.ndarray) -> None:
    question = picture(run, node, output, 5, 7)
    reply = answer(run.facts, {"kind": "tensor", **question})
    assert json.dumps(reply.result, allow_nan=False)
    if truth.size == 0:
        assert reply.result["tile"] is None
        return
    numbers = truth.astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    counted = answer(run.facts, {"kind": "statistics", **question}).result
    found = counted["statistics"]
    assert [found["size"], found["nan"]] == [truth.size, int(np.isnan(numbers).sum())]
    assert [found["posInf"], found["negInf"]] == [
        np.sum(numbers == np.inf),
        np.sum(numbers == -np.inf),
    ]
    if finite.size:
        assert found["minimum"]["value"] == finite.min()
        assert found["maximum"]["value"] == finite.max()
        assert found["mean"]["value"] == pytest.approx(finite.mean(), rel=1e-9, abs=1e-12)
        assert found["std"]["value"] == pytest.approx(finite.std(), rel=1e-6, abs=1e-12)
        assert sum(counted["histogram"]["counts"]) == finite.size
    plane = (
        numbers.reshape(-1, *numbers.shape[-2:])[0] if truth.ndim > 1 else numbers.reshape(1, -1)
    )
    check_tile(reply, plane)
    values = answer(
        run.facts, {"kind": "values", **question, "row": 0, "col": 0, "rows": 64, "cols": 64}
    )
    whole = truth.reshape(-1, *truth.shape[-2:])[0] if truth.ndim > 1 else truth.reshape(1, -1)
    check_texts(values.result["text"], whole[:64, :64])


def check_tile(reply: Any, plane: np.ndarray) -> None:
    """Each cell against numpy's answer for the values under it."""
    tile = reply.result["tile"]
    found = wire.cells(tile["columns"], reply.buffers[0])
    assert (tile["planeRows"], tile["planeCols"]) == plane.shape
    for cell in range(tile["rows"] * tile["cols"]):
        top = cell // tile["cols"] * tile["rowStep"]
        left = cell % tile["cols"] * tile["colStep"]
        under = plane[top : top + tile["rowStep"], left : left + tile["colStep"]]
        finite = under[np.isfinite(under)]
        flags = np.isnan(under).any() + 2 * (under == np.inf).any() + 4 * (under == -np.inf).any()
        assert found["flags"][cell] == flags
        if finite.size:
            assert found["minimum"][cell] == np.float32(finite.min())
            assert found["maximum"][cell] == np.float32(finite.max())
            scale = np.abs(finite).max()
            assert found["mean"][cell] == pytest.approx(finite.mean(), rel=1e-5, abs=1e-6 * scale)


def values_of(run: DebugRun, name: str) -> list[str]:
    tensor = next(each for each in run.tensors.values() if each.key == name)
    question = picture(run, tensor.node, tensor.output, 1, 1)
    window = {"row": 0, "col": 0, "rows": 64, "cols": 64}
    return answer(run.facts, {"kind": "values", **question, **window}).result["text"]


@pytest.mark.parametrize("name", [name for name, each in ZOO.items() if np.prod(each["shape"])])
def test_texts_give_back_the_bits_that_went_into_a_file(name: str) -> None:
    told, run = ZOO[name], tvmdbg.open(DATA / "zoo/zoo.params")
    truth = np.frombuffer(bytes.fromhex(told["hex"]), dtype_of(told["dtype"]))
    check_texts(values_of(run, name), truth)


@pytest.mark.parametrize("told", RELAX, ids=lambda told: told["name"])
def test_texts_of_every_type_give_back_the_bits(told: dict[str, Any]) -> None:
    try:
        dtype = dtype_of(told["dtype"])
    except TypeError:
        pytest.skip(f"numpy has no {told['dtype']}")
    if dtype.itemsize * int(np.prod(told["shape"])) != told["nbytes"]:
        pytest.skip("packed below a byte: see test_params_truth.py")
    with np.load(DATA / "relax/params_all_raw_u8.npz") as arrays:
        truth = arrays[told["npz"]].view(dtype)
    run = tvmdbg.open(DATA / "relax/params_all.bin", float8="legacy")
    tensor = next(each for each in run.tensors.values() if each.key == told["name"])
    if tensor.dtype.name != told["dtype"]:
        pytest.skip(f"the file says {tensor.dtype.name}: its code means several types")
    check_texts(values_of(run, told["name"]), truth)


SMALL = ["int4", "uint4", "int2", "uint2", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"]
SMALL += ["float8_e4m3b11fnuz", "float8_e3m4", "float8_e8m0fnu", "float4_e2m1fn", "float6_e2m3fn"]


@pytest.mark.parametrize("name", SMALL)
def test_small_type_bit_patterns_round_trip_through_text(name: str) -> None:
    from tvmdbg_widgets.model.base.number_text import number_text

    dtype = dtype_of(name)
    patterns = np.arange(2 ** (8 * dtype.itemsize), dtype=f"u{dtype.itemsize}").view(dtype)
    if name.startswith(("int", "uint", "float4", "float6")):
        patterns = np.unique(patterns.astype(np.float32)).astype(dtype)
    if name == "float8_e8m0fnu":
        patterns = patterns[1:]  # ml_dtypes rounds all below 2**-126 up to it, 2**-127 too
    check_texts([number_text(value) for value in patterns], patterns)


def test_missing_parts_of_run_are_reported() -> None:
    run = tvmdbg.open(DATA / "zoo/zoo.params")
    assert answer(run.facts, {"kind": "graph"}).result is None
    assert answer(run.facts, {"kind": "timeline"}).result is None
    summary = answer(run.facts, {"kind": "summary"}).result
    assert summary["graph"] is None
    assert set(summary["missing"]) == {"graph", "timeline"}
    with pytest.raises(KeyError, match="no graph"):
        answer(run.facts, {"kind": "node", "node": 0})


def test_tensor_of_a_file_without_a_graph_is_matched_to_nothing_in_doubt() -> None:
    run = tvmdbg.open(HERE / "data/params/zoo/zoo.params")
    first = next(iter(run.tensors))
    assert run.tensors[first].trust is not Trust.EXACT
    told = answer(run.facts, {"kind": "tensor", **picture(run, *first, 5, 7)}).result
    assert told["trust"] == Trust.EXACT.label
