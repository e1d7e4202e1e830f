"""A page answers as the kernel does, and keeps its budget."""

import base64
import gzip
import math
import re
import tracemalloc
from itertools import product
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from conftest import HERE, corpus_path
from hypothesis import given, settings
from unit.pages.stored_questions import (
    KINDS,
    PARTS,
    Written,
    differences,
    questions,
    tensor_questions,
    told,
)

import tvmdbg_widgets as tvmdbg
from tests.make.params import write_params
from tests.mostly_slow import mostly_slow
from tvmdbg_widgets.export.page import stored_page as stored_module
from tvmdbg_widgets.export.page.options import PageOptions
from tvmdbg_widgets.export.page.save import models
from tvmdbg_widgets.export.page.stored_page import StoredPage, store
from tvmdbg_widgets.model.base.number_text import (
    computed_text,
    number_text,
    short_text,
)
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.tensors.planes import default_axes

CORPUS = corpus_path()
EDGES = "dtypes bf16 nan_inf vec4 scalar0 zero_size params_zoo odd_names split_multi hetero_copy"
REAL = [f"tvm/edge_cases/v0.19/{name}" for name in EDGES.split()] + [
    "relax/dtypes/params_all.bin",
    "tvm/resnet20_cifar_int8",
    "tvm/resnet20_cifar_fp16_overflow",
    "tvm/resnet20_cifar_v0.6",
    "tvm/resnet20_two_devices",
    "tvm/transformer_encoder",
]
DATA = [HERE / "data/params/zoo/zoo.params", HERE / "data/params/relax/params_all.bin"]
PATHS = DATA + ([] if CORPUS is None else [CORPUS / each for each in REAL])
ALL = 200_000_000

#: Each kind of value once, and a whole run.
ALWAYS = ("zoo.params", "params_all.bin", "nan_inf", "vec4", "resnet20_cifar_fp16_overflow")
each_run = pytest.mark.parametrize(
    "path",
    mostly_slow(PATHS, *(each for each in PATHS if each.name in ALWAYS)),
    ids=lambda path: path.name,
)

EIGHTS = [getattr(ml_dtypes, name) for name in dir(ml_dtypes) if name.startswith("float8_")]


def stored_for(run: tvmdbg.DebugRun, asked: Any) -> StoredPage:
    """A page with all values, saved from views with the layouts that are asked for."""
    named = [each.get("layout") for each, _ in asked if isinstance(each, dict)]
    layouts = sorted(filter(None, set(named)))
    return store(run.facts, budget=ALL, share="tensors", parameters=True, layouts=layouts)


@each_run
def test_page_with_all_values_answers_like_the_kernel(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)  # a path that begins here holds nothing to take out
    run = tvmdbg.open(path.name)
    run.findings(progress=False)  # a page tells of the whole scan
    asked: list[tuple[Any, dict[str, Any]]] = [(None, {"error": True})]

    @settings(max_examples=60)
    @given(questions(run))
    def collect(question: Any) -> None:
        asked.append((question, told(run, question)))

    collect()
    asked += [({"kind": kind}, told(run, {"kind": kind})) for kind in PARTS]
    nodes = range(run.graph.num_nodes) if run.graph is not None else ()
    asked += [(each := {"kind": "node", "node": node}, told(run, each)) for node in nodes]
    assert differences(tmp_path, stored_for(run, asked), asked) == []
    assert sum("error" not in expected for _, expected in asked) > len(asked) / 4


def planted() -> dict[str, np.ndarray[Any, Any]]:
    """Arrays of four axes and more, of types with few or many bits, with all that is odd."""
    random = np.random.default_rng(3)
    floats = random.standard_normal((2, 4, 9, 8)) * 10.0 ** random.integers(-40, 40, (2, 4, 9, 8))
    floats.flat[::97] = np.nan
    floats.flat[5::101] = np.inf
    floats.flat[7::103] = -np.inf
    floats.flat[11::50] = -0.0
    small = random.standard_normal((3, 2, 5, 7, 4))
    with np.errstate(over="ignore"):
        half = (small * 1e5).astype(np.float16)
    return {
        "double": floats,
        "half": half,
        "brain": small.astype(ml_dtypes.bfloat16),
        "eight": small.astype(ml_dtypes.float8_e4m3fn),
        "complex": (small + 1j * small[::-1]).astype(np.complex64),
        "long": random.integers(-(2**63), 2**63 - 1, (3, 4, 5, 6)),
        "unsigned": random.integers(0, 2**64, (2, 3, 4, 5), dtype=np.uint64),
        "int": random.integers(-(2**31), 2**31, (4, 3, 10, 2)).astype(np.int32),
        "byte": random.integers(-128, 128, (1, 2, 6, 5, 8)).astype(np.int8),
        "truth": random.integers(0, 2, (3, 4, 5)).astype(np.bool_),
    }


def test_page_answers_for_arrays_of_many_axes(tmp_path: Path) -> None:
    write_params(tmp_path / "planted.params", planted())
    run = tvmdbg.open(tmp_path / "planted.params")
    asked: list[tuple[Any, dict[str, Any]]] = []

    @settings(max_examples=100)
    @given(tensor_questions(list(run.tensors.values())))
    def collect(question: Any) -> None:
        expected = told(run, question)
        if "result" in expected and "file" in expected["result"]:
            expected["result"]["file"] = "planted.params"
        asked.append((question, expected))

    collect()
    kinds = {question["kind"] for question, expected in asked if "error" not in expected}
    assert kinds == set(KINDS)
    assert differences(tmp_path, stored_for(run, asked), asked) == []


@each_run
def test_stored_pictures_and_profiles_match_kernel(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    run = tvmdbg.open(path.name)
    stored = store(run.facts, budget=ALL, share="pictures", parameters=True)
    asked = []
    for tensor in (run.tensors or {}).values():
        shape = tensor.view_shape
        axes = list(default_axes(shape))
        question = {
            "kind": "tensor",
            "entry": [tensor.node, tensor.output],
            "axes": axes,
            "index": [0] * len(shape),
            "rows": 64,
            "cols": 64,
            "exact": True,
        }
        asked.append((question, {**told(run, question), "more_notes": True}))
        if asked[-1][1]["result"]["tile"]:
            exact = {**question, "kind": "values", "row": 0, "col": 0, "rows": 1, "cols": 1}
            asked.append((exact, {"error": True}))
            last = [size - 1 for size in shape]
            asked.append(({**question, "index": last}, {**told(run, {**question, "index": last})}))
            asked[-1][1]["more_notes"] = True
            asked += [(each, told(run, each)) for each in along(question, told(run, question))]
    assert differences(tmp_path, stored, asked) == []


def test_stored_pictures_match_kernel_for_packed_layout(corpus: Path, tmp_path: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/resnet20_cifar_nchw8c")
    stored = store(run.facts, budget=ALL, share="pictures")
    asked = []
    for tensor in run.tensors.values():
        if len(tensor.shape) != 5 or run.graph.kinds[tensor.node] != NodeKind.OPERATOR:
            continue
        _, blocks, height, _, lanes = tensor.shape
        if height == 1:  # others than height and width are shown
            continue
        plane = {
            "entry": [tensor.node, tensor.output],
            "layout": "",
            "axes": [3, 2],
            "index": [0, blocks - 1, 0, 0, lanes - 3],
            "rows": 64,
            "cols": 64,
            "exact": True,
        }
        for fields in (
            {"kind": "tensor"},
            {"kind": "channels", "axis": 4, "first": 1, "count": lanes - 1},
        ):
            question = {**plane, **fields}
            asked.append((question, told(run, question)))
            if fields["kind"] == "tensor":
                asked[-1][1]["more_notes"] = True
        # A view asks so once another layout than the first is chosen.
        asked.append(({**plane, "kind": "profile", "axis": 2, "points": 4096}, {"error": True}))
        if blocks == 1:
            continue
        mixed = {**plane, "kind": "tensor", "axes": [1, 4], "index": [0, 0, height - 1, 0, 0]}
        asked.append((mixed, {"error": True}))
    assert len(asked) > 20
    assert differences(tmp_path, stored, asked) == []


def along(question: dict[str, Any], told: dict[str, Any]) -> list[dict[str, Any]]:
    """Questions for the profiles along all axes, and for pictures at each index of those hidden."""
    shown, length = told["result"]["axes"], told["result"]["viewShape"]
    view = {name: told["result"][name] for name in ("entry", "reading", "layout", "sizes")}
    profiles = [
        {**view, "kind": "profile", "axis": axis, "points": 4096} for axis in range(len(length))
    ]
    channels = [
        {"kind": "channels", "axis": axis, "first": 0, "count": min(size, 200)}
        for axis, size in enumerate(length)
        if axis not in shown
    ]
    return [*profiles, *({**question, **each} for each in channels)]


BUDGETS = list(
    product(
        ("resnet20_cifar_fp16", "transformer_encoder"),
        (20_000, 45_000, 120_000, 300_000, 600_000),
        ("pictures", "tensors"),
    )
)


@pytest.mark.parametrize(("name", "budget", "share"), mostly_slow(BUDGETS, *BUDGETS[::3]))
def test_the_budget_is_kept(corpus: Path, name: str, budget: int, share: Any) -> None:
    run = tvmdbg.open(corpus / "tvm" / name)
    stored = store(run.facts, budget=budget, share=share, frame=5000)
    taken = len(base64.b64encode(gzip.compress(stored.data, 9))) + 5000
    impossible = [each for each in stored.left_out if "take" in each and "more than" in each]
    assert taken <= budget or impossible
    assert impossible or taken > 0.8 * budget or budget > 400_000
    assert any("budget" in each for each in stored.left_out) or budget > 400_000


def test_values_of_first_entry_are_kept_when_others_are_left_out(
    corpus: Path, tmp_path: Path
) -> None:
    run = tvmdbg.open(corpus / "tvm/transformer_encoder")
    entries = [each for each in run.tensors if run.graph.kinds[each[0]] == NodeKind.OPERATOR]
    middle = next(each for each in entries if run.tensors[each].nbytes > 4000)
    stored = store(run.facts, budget=110_000, share="tensors", first=middle, frame=0)
    assert any(each.startswith("heatmaps of") for each in stored.left_out)
    shape = run.tensors[middle].shape
    question = {
        "kind": "values",
        "entry": list(middle),
        "axes": list(default_axes(shape)),
        "index": [0] * len(shape),
        "row": 0,
        "col": 0,
        "rows": 4,
        "cols": 4,
    }
    assert differences(tmp_path, stored, [(question, told(run, question))]) == []


def test_line_plots_add_little_to_whole_tensors(corpus: Path, tmp_path: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/transformer_encoder")
    first = next(entry for entry in run.tensors if run.graph.kinds[entry[0]] == NodeKind.OPERATOR)
    stored = store(run.facts, budget=ALL, share="tensors", first=first)
    (said,) = [each for each in stored.left_out if each.startswith("line plots of")]
    assert re.fullmatch(
        r"line plots of \d+ of 88 activations or inputs: .* 12.5 % to the values, .*", said
    )
    plane = {"entry": list(first), "reading": None, "layout": "", "sizes": {}, "points": 4096}
    axes = range(len(run.tensors[first].shape))
    asked = [(each := {**plane, "kind": "profile", "axis": at}, told(run, each)) for at in axes]
    assert differences(tmp_path, stored, asked) == []


def test_small_whole_tensors_keep_their_line_plots(tmp_path: Path) -> None:
    run = tvmdbg.open(tvmdbg.samples.executorch_demo_delegate)
    stored = store(run.facts, budget=5_000_000, share="tensors")
    assert not any(each.startswith("line plots of") for each in stored.left_out)
    question = {"kind": "profile", "entry": [5, 0], "reading": None, "layout": "", "sizes": {}}
    asked = [(each := question | {"points": 4096, "axis": at}, told(run, each)) for at in (0, 1)]
    assert all("error" not in expected for _, expected in asked)
    assert differences(tmp_path, stored, asked) == []


def test_a_page_says_what_only_a_kernel_counts(tmp_path: Path) -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    stored = store(run.facts, budget=ALL, share="tensors", parameters=True)
    plane = {"entry": [12, 0], "axes": [2, 3], "index": [0, 0, 0, 0]}
    asked = [
        {**plane, "kind": "region", "part": [0, 0, 4, 4]},
        {**plane, "kind": "percentiles", "percents": [12.5]},
        {**plane, "kind": "profile", "axis": 1, "points": 3},
        {"kind": "node", "node": run.graph.num_nodes},
    ]
    assert differences(tmp_path, stored, [(each, {"error": True}) for each in asked]) == []


def test_a_page_refuses_layouts_that_it_has_no_record_of(tmp_path: Path) -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    stored = store(run.facts, budget=ALL, share="tensors", layouts=["NHWC"])
    plane = {"kind": "values", "entry": [12, 0], "axes": [2, 3], "index": [0, 0, 0, 0]}
    window = {**plane, "row": 0, "col": 0, "rows": 2, "cols": 2, "sizes": {}}
    asked = [(each := {**window, "layout": "NHWC"}, told(run, each))]
    asked += [({**window, "layout": layout}, {"error": True}) for layout in ("NHCW", "N8c", "?")]
    assert differences(tmp_path, stored, asked) == []


def test_details_of_nodes_keep_the_budget(tmp_path: Path) -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    last = run.graph.num_nodes - 1
    stored = store(run.facts, budget=30_000, frame=0)
    (told_of,) = [each for each in stored.left_out if each.startswith("details of")]
    assert re.fullmatch(rf"details of \d+ of {last + 1} nodes: budget", told_of)
    first: dict[str, Any] = {"kind": "node", "node": 0}
    asked = [(first, told(run, first)), ({"kind": "node", "node": last}, {"error": True})]
    assert differences(tmp_path, stored, asked) == []


def test_large_tensors_are_stored_in_bounded_memory(tmp_path: Path) -> None:
    array = np.random.default_rng(0).standard_normal((4096, 4096), dtype=np.float32)
    write_params(tmp_path / "large.params", {"w": array})
    run = tvmdbg.open(tmp_path / "large.params")
    run.findings(progress=False)
    tracemalloc.start()
    try:
        for share in ("pictures", "tensors"):
            store(run.facts, budget=1_000_000, share=share, parameters=True)
        assert tracemalloc.get_traced_memory()[1] < 40_000_000
    finally:
        tracemalloc.stop()


def test_numbers_are_written_as_python_writes_them(tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    found: list[Written] = []
    for name, bits, steps in (("float32", 32, 23), ("float64", 64, 52)):
        unsigned = np.dtype(f"u{bits // 8}")
        powers = np.arange(1 << (bits - steps - 1), dtype=unsigned) << unsigned.type(steps)
        patterns = random.integers(0, 1 << bits, 20_000, dtype=unsigned)
        near = [powers, powers + unsigned.type(1), powers - unsigned.type(1)]
        drawn = np.concatenate([patterns, *near]).view(name)
        eighths = random.integers(0, 2**26, 5000).astype(name) / np.dtype(name).type(8)
        found.append(_written(np.concatenate([drawn, eighths])))
    short = [np.float16, ml_dtypes.bfloat16]
    found += [_written(np.arange(1 << 16, dtype=np.uint16).view(each)) for each in short]
    found += [_written(np.arange(1 << 8, dtype=np.uint8).view(each)) for each in EIGHTS]
    singles = random.standard_normal(2000).astype(np.float32)
    mixed = np.concatenate([singles, singles * 1e-9, singles * 1e9, np.round(singles * 1e4) / 8])
    numbers = [float(each) for each in (*mixed, *found[1].values[:4000], *range(-20, 20))]
    finite = np.array([each for each in numbers if math.isfinite(each)])
    for how, write in (
        ("computedText", computed_text),
        ("shortText", short_text),
    ):
        found.append(Written(how, "float64", finite, [write(each) for each in finite.tolist()]))
    assert differences(tmp_path, texts=found) == []


def _written(values: np.ndarray[Any, Any]) -> Written:
    name = values.dtype.name
    if name == "float8_e8m0fnu":
        values = values[1:]  # ml_dtypes cannot read the least of them
    with np.errstate(all="ignore"):
        return Written(
            "numberText", name, values.astype(np.float64), [number_text(each) for each in values]
        )


@pytest.mark.parametrize("dtype", ["float8_e5m2", "float8_e4m3fn", "bfloat16", "float16"])
def test_a_column_of_any_type_can_be_read(dtype: str, tmp_path: Path) -> None:
    array = np.arange(15).reshape(3, 5).astype(np.dtype(getattr(ml_dtypes, dtype, dtype)))
    write_params(tmp_path / "small.params", {"w": array})
    window = tvmdbg.open(tmp_path / "small.params").tensors[0, 0].window((slice(None), 1))
    assert window.tobytes() == array[:, 1].tobytes()


def test_progress_bar_never_exceeds_its_total(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    counts = []

    class Bar(stored_module.tqdm):  # type: ignore[misc]
        def close(self) -> None:
            counts.append((self.n, self.total))
            super().close()

    sizes = iter([10**9, 10**9])
    monkeypatch.setattr(stored_module, "tqdm", Bar)
    monkeypatch.setattr(stored_module, "packed_size", lambda _: next(sizes, 0))
    stored_module.store(run.facts, budget=600_000, share="tensors")
    assert list(sizes) == []
    assert all(done <= total for done, total in counts), counts


def test_visible_plane_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    values = np.arange(4 * 6 * 20 * 30, dtype=np.float32).reshape(4, 6, 20, 30)
    write_params(tmp_path / "some.params", {"x": values, "y": -values})
    run = tvmdbg.open("some.params")
    view = tvmdbg.TensorInspector(run, entry=(1, 0), axes=(3, 1), index=[3, 0, 17, 0])
    state = models(view, PageOptions(budget=ALL, parameters=True))["view"]
    seen = (state["axes"], state["index"])
    stored = store(run.facts, budget=ALL, parameters=True, first=(1, 0), seen=seen)
    question = {"kind": "tensor", "axes": seen[0], "index": seen[1], "rows": 64, "cols": 64}
    asked = [
        (each := {**question, "entry": [1, 0]}, {**told(run, each), "more_notes": True}),
        ({**question, "entry": [0, 0]}, {"error": True}),
    ]
    assert asked[0][1]["result"]["tile"]["planeRows"] == 30
    assert differences(tmp_path, stored, asked) == []


def test_a_page_that_begins_at_a_node_shows_its_tensor() -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    view = tvmdbg.TensorInspector(run, entry=(1, 0))
    run.session.select(5)
    assert models(view, PageOptions(budget=ALL))["view"]["entry"] == [1, 0]
    chosen = models(view, PageOptions(budget=ALL, node=4))
    assert (chosen["view"]["entry"], chosen["session"]["entry"]) == ([4, 0], [4, 0])
