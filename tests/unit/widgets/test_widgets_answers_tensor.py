"""What views are told of one tensor, against numpy on the same arrays."""

import json
from collections.abc import Callable
from io import BytesIO
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.widgets import wire

import tvmdbg_widgets as tvmdbg
from tests.make.params import write_params
from tvmdbg_widgets.answers.answers import Answers, answer
from tvmdbg_widgets.answers.tensor import MOST_BYTES
from tvmdbg_widgets.run import DebugRun

VIEW: dict[str, Any] = {"entry": [0, 0], "layout": "", "sizes": {}, "axes": None, "index": None}
CELLS = ("minimum", "maximum", "mean", "flags")


def run_of(**arrays: np.ndarray) -> DebugRun:
    """A run with these tensors at nodes 0, 1, …; their dtypes may be those of ml_dtypes."""
    file = BytesIO()
    keys = (f"{name}____topo-index:{i}____output-num:0" for i, name in enumerate(arrays))
    write_params(file, list(zip(keys, arrays.values(), strict=True)))
    return tvmdbg.open(file.getvalue())


def ask(run: DebugRun, kind: str, **fields: Any) -> tuple[Any, bytes]:
    """The answer as it would come over the wire."""
    reply = answer(run.facts, {"kind": kind, **VIEW, **fields})
    result = json.loads(json.dumps(reply.result, allow_nan=False))
    return result, b"".join(reply.buffers)


def cells(told: Any, buffer: bytes) -> dict[str, np.ndarray]:
    return wire.cells(told["columns"], buffer)


def reduced(block: np.ndarray) -> list[float]:
    """Minimum, maximum, mean and flags of one cell, as numpy has them."""
    numbers = block.astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    flags = np.isnan(numbers).any() + 2 * (numbers == np.inf).any() + 4 * (numbers == -np.inf).any()
    if not finite.size:
        return [np.nan, np.nan, np.nan, flags]
    return [finite.min(), finite.max(), finite.mean(), flags]


def check_cells(found: dict[str, np.ndarray], blocks: list[np.ndarray]) -> None:
    truth = np.array([reduced(block) for block in blocks])
    for column, name in enumerate(CELLS):
        np.testing.assert_allclose(
            found[name], truth[:, column], rtol=2e-7, atol=1e-6, err_msg=name
        )


def cut(plane: np.ndarray, tile: dict[str, Any]) -> list[np.ndarray]:
    """The values under each cell of a tile."""
    down, across = tile["rowStep"], tile["colStep"]
    corners = (
        (tile["row"] + i * down, tile["col"] + j * across)
        for i in range(tile["rows"])
        for j in range(tile["cols"])
    )
    return [plane[r : r + down, c : c + across] for r, c in corners]


def spiced(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Normal values with some that are not finite."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape).astype(np.float32)
    for special in (np.nan, np.inf, -np.inf, 0.0, 1e-40):
        values.flat[rng.integers(0, values.size, 3)] = special
    return values


@pytest.mark.parametrize(
    ("cells", "special", "sent"),
    [
        (8, False, {"mean"}),
        (8, True, {"mean", "flags"}),
        (4, False, {"mean", "minimum", "maximum"}),
        (4, True, set(CELLS)),
    ],
)
def test_redundant_columns_are_not_sent(cells: int, special: bool, sent: set[str]) -> None:
    values = np.arange(64, dtype=np.float32).reshape(8, 8) - 0.0
    if special:
        values[0, :2] = np.nan, np.inf
    told, _ = ask(run_of(x=values), "tensor", rows=cells, cols=cells, exact=True)
    assert {column["name"] for column in told["tile"]["columns"]} == sent


def test_planes_are_cheap_up_to_a_million_values() -> None:
    for shape, cheap in (((2, 1024, 1024), True), ((2, 1024, 1025), False)):
        told, _ = ask(run_of(x=np.zeros(shape, np.int8)), "tensor", rows=4, cols=4, exact=False)
        assert told["cheap"] is cheap


shapes = st.lists(st.integers(1, 9), min_size=1, max_size=4).map(tuple)


@given(shapes, st.data())
@settings(max_examples=80, deadline=None)
def test_any_part_of_any_plane_matches_numpy(shape: tuple[int, ...], data: st.DataObject) -> None:
    values = spiced(shape)
    order = data.draw(st.permutations(range(len(shape))))
    axes = [order[0], order[1]] if len(shape) > 1 else [None, 0]
    index = [data.draw(st.integers(0, size - 1)) for size in shape]
    plane_shape = [1 if axis is None else shape[axis] for axis in axes]
    part = [data.draw(st.integers(0, size - 1)) for size in plane_shape]
    part += [data.draw(st.integers(1, 12)) for _ in plane_shape]
    limits = {name: data.draw(st.integers(1, 6)) for name in ("rows", "cols")}
    told, buffer = ask(
        run_of(x=values), "tensor", axes=axes, index=index, part=part, exact=True, **limits
    )
    taken = tuple(slice(None) if i in axes else at for i, at in enumerate(index))
    plane = values[taken].reshape(1, -1) if axes[0] is None else values[taken]
    if axes[0] is not None and axes[0] > axes[1]:
        plane = plane.T
    tile = told["tile"]
    assert (tile["planeRows"], tile["planeCols"]) == plane.shape
    assert tile["exact"]
    assert tile["rows"] <= limits["rows"]
    assert tile["cols"] <= limits["cols"]
    for at, size, step, first, count, end in zip(
        part[:2],
        part[2:],
        (tile["rowStep"], tile["colStep"]),
        (tile["row"], tile["col"]),
        (tile["rows"], tile["cols"]),
        plane.shape,
        strict=True,
    ):
        assert first % step == 0
        assert first <= at
        assert first + count * step >= min(at + size, end)
    check_cells(cells(tile, buffer), cut(plane, tile))


def test_header_reports_shape_dtype_and_capture() -> None:
    told, _ = ask(run_of(x=spiced((2, 3, 4))), "tensor", rows=8, cols=8)
    assert told["viewShape"] == told["storedShape"] == told["shape"] == [2, 3, 4]
    assert (told["dtype"], told["nbytes"], told["captured"]) == ("float32", 96, "node")
    assert (told["layout"], told["axisNames"], told["readings"]) == ("", [], [])
    assert (told["axes"], told["index"]) == ([1, 2], [0, 0, 0])


@pytest.mark.parametrize(
    ("key", "captured"),
    [
        ("x____topo-index:0____output-num:0", "node"),
        ("x____0", "node"),
        ("x_0__1.5e-06", "unknown"),
        ("x", "unknown"),
    ],
)
def test_capture_time_is_inferred_from_tensor_name(key: str, captured: str) -> None:
    file = BytesIO()
    write_params(file, {key: np.zeros(3, np.float32)})
    told, _ = ask(tvmdbg.open(file.getvalue()), "tensor", rows=1, cols=1)
    assert told["captured"] == captured


def test_custom_layout_unfolds_and_hides_padding() -> None:
    stored = np.arange(2 * 3 * 5 * 4, dtype=np.float32).reshape(1, 2, 3, 5, 4)
    logical = stored.transpose(0, 1, 4, 2, 3).reshape(1, 8, 3, 5)[:, :6]
    view = {"layout": "NCHW4c", "sizes": {"C": 6}, "axes": [1, 3], "index": [0, 0, 2, 0]}
    run = run_of(x=stored)
    told, buffer = ask(run, "tensor", **view, rows=8, cols=8, exact=True)
    assert (told["viewShape"], told["axisNames"]) == ([1, 6, 3, 5], list("NCHW"))
    assert (told["layout"], told["sizes"], told["storedShape"]) == (
        "NCHW4c",
        {"C": 6},
        [1, 2, 3, 5, 4],
    )
    check_cells(cells(told["tile"], buffer), cut(logical[0, :, 2], told["tile"]))
    values, _ = ask(run, "values", **view, row=0, col=0, rows=6, cols=5)
    assert [float(each) for each in values["text"]] == logical[0, :, 2].ravel().tolist()
    profile, buffer = ask(run, "profile", **view, axis=1, points=100)
    check_cells(cells(profile, buffer), list(logical.transpose(1, 0, 2, 3)))
    data, buffer = ask(run, "data", **view, row=0, rows=99)
    np.testing.assert_array_equal(np.frombuffer(buffer, data["descr"]), logical[0, :, 2].ravel())
    assert data["rows"] == 6


@pytest.mark.parametrize(
    ("layout", "sizes", "says"),
    [
        *(("NCHW", {}, "4 axes"), ("NCHW3c", {}, "3"), ("NCHW4c", {"C": 9}, "C")),
        *(("N<b>", {}, "layout"), ("N" * 101, {}, "at most")),
    ],
)
def test_impossible_layout_is_refused(layout: str, sizes: dict[str, int], says: str) -> None:
    run = run_of(x=np.zeros((1, 2, 3, 5, 4), np.float32))
    with pytest.raises(ValueError, match=says):
        ask(run, "tensor", layout=layout, sizes=sizes, rows=1, cols=1)
    with pytest.raises(ValueError, match=says):
        ask(run, "layout", layout=layout, sizes=sizes)


def test_axes_of_a_typed_layout_are_told() -> None:
    run = run_of(x=np.zeros((1, 2, 3, 5, 4), np.float32))
    told, _ = ask(run, "layout", layout="NCHW4c", sizes={"C": 6})
    assert told["axes"] == {"N": [0], "C": [1, 4], "H": [2], "W": [3]}
    assert (told["along"], told["sizes"]) == ([1, 3, 2, 0], {})
    with pytest.raises(ValueError, match="'K' is not an axis of NCHW4c; it has N, C, H, W"):
        ask(run, "layout", layout="NCHW4c", sizes={"K": 6})
    with pytest.raises(ValueError, match="'' is not a layout"):
        ask(run, "layout", layout="", sizes=None)


@pytest.mark.parametrize(
    "dtype", ["float32", "float16", "bfloat16", "int8", "uint8", "int64", "bool"]
)
def test_statistics_match_numpy(dtype: str) -> None:
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    values = (np.random.default_rng(1).standard_normal((7, 9, 3)) * 40).astype(kind)
    if kind.kind not in "iub":
        values[1, 2, 1], values[3, 0, 2], values[5, 5, 0] = np.nan, np.inf, -np.inf
    told, buffer = ask(run_of(x=values), "statistics", exact=True)
    numbers = values.astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    found = told["statistics"]
    assert (told["state"], told["done"], told["total"]) == ("exact", values.size, values.size)
    assert (found["finite"], found["zero"]) == (finite.size, (numbers == 0).sum())
    assert (found["negative"], found["minimum"]["value"]) == ((numbers < 0).sum(), finite.min())
    assert found["argmax"] == list(
        np.unravel_index(
            np.nanargmax(np.where(np.isfinite(numbers), numbers, np.nan)), values.shape
        )
    )
    assert found["mean"]["value"] == pytest.approx(finite.mean(), rel=1e-12)
    if finite.size < values.size:
        assert (found["firstNan"], found["firstPosInf"], found["firstNegInf"]) == (
            [1, 2, 1],
            [3, 0, 2],
            [5, 5, 0],
        )
    spread = wire.unpack(told["distribution"]["columns"], buffer)
    assert spread["count"].sum() == finite.size == sum(told["histogram"]["counts"])
    inside = np.searchsorted(spread["low"], finite, side="right") - 1
    np.testing.assert_array_equal(
        np.bincount(inside, minlength=len(spread["low"])), spread["count"]
    )
    assert (finite <= spread["high"][inside]).all()
    for each in told["percentiles"]:
        exact = np.percentile(finite, each["percent"])
        assert each["low"]["value"] <= exact <= each["high"]["value"]
    exact, _ = ask(run_of(x=values), "percentiles", percents=[0, 12.5, 100])
    truth = np.percentile(finite, [0, 12.5, 100])
    assert [each["low"]["value"] for each in exact] == pytest.approx(truth)
    assert all(each["low"] == each["high"] for each in exact)
    if kind.kind != "b":
        info = ml_dtypes.iinfo(kind) if kind.kind in "iu" else ml_dtypes.finfo(kind)
        assert told["limits"] == [float(info.min), float(info.max)]


@pytest.mark.parametrize(
    ("dtype", "plain", "odd"),
    [
        *((name, [], []) for name in ("int8", "uint16", "bool", "int4", "float4_e2m1fn")),
        ("float6_e3m2fn", [], []),
        ("float8_e4m3fn", ["nan"], ["nan"]),
        *(
            (name, ["nan", "posInf", "negInf"], ["negInf", "nan", "posInf"])
            for name in ("float8_e5m2", "float16", "float64")
        ),
    ],
)
def test_special_values_that_occur_come_before_those_that_could(
    dtype: str, plain: list[str], odd: list[str]
) -> None:
    values = np.zeros(4).astype(np.dtype(getattr(ml_dtypes, dtype, dtype)))
    told = ask(run_of(x=values), "statistics", exact=True)[0]["statistics"]
    assert (told["specials"], told["verdict"], told["atEnds"]) == (plain, "good", 0)
    if len(odd) > 1:
        values[1] = -np.inf
        told = ask(run_of(x=values), "statistics", exact=True)[0]["statistics"]
        assert (told["specials"], told["verdict"]) == (odd, "error")


@pytest.mark.parametrize(
    ("dtype", "ends", "verdict"),
    [
        ("int8", [-128, 127], "doubt"),
        ("uint8", [0, 255], "doubt"),
        ("int16", [5, 32767], "good"),
        ("float32", [np.finfo(np.float32).max, 1], "good"),
    ],
)
def test_a_twentieth_at_the_ends_is_in_doubt(dtype: str, ends: list[Any], verdict: str) -> None:
    values = np.ones(20 if verdict == "doubt" else 21, dtype)
    values[: len(ends)] = ends
    told = ask(run_of(x=values), "statistics", exact=True)[0]["statistics"]
    at_ends = {"int8": 2, "float32": 0}.get(dtype, 1)
    assert (told["atEnds"], told["verdict"]) == (at_ends, verdict)
    told = ask(run_of(x=values[:0]), "statistics", exact=True)[0]["statistics"]
    assert told["verdict"] == "empty"


def test_complex_reading_has_values_but_no_statistics_or_picture() -> None:
    values = np.array([[1 + 2j, 3 - 1j]], np.complex64)
    run = run_of(x=values)
    told, _ = ask(run, "statistics", reading="complex", exact=True)
    assert (told["state"], told["statistics"], told["limits"]) == ("exact", None, None)
    assert "no order" in told["reason"]
    header, _ = ask(run, "tensor", reading="complex", rows=4, cols=4)
    assert (header["tile"], header["unordered"], header["axes"]) == (None, True, [0, 1])
    assert ask(run, "percentiles", reading="complex", percents=[50])[0][0]["low"]["value"] is None
    with pytest.raises(ValueError, match="no heatmap"):
        ask(run, "profile", reading="complex", axis=0, points=4)
    text = ask(run, "values", reading="complex", row=0, col=0, rows=1, cols=2)[0]["text"]
    assert [complex(each) for each in text] == values.ravel().tolist()
    face, _ = ask(run, "tensor", rows=4, cols=4)
    assert (face["reading"], face["unordered"]) == ("magnitude", False)
    assert (face["dtype"], face["valueDtype"]) == ("complex64", "float32")
    _, buffer = ask(run, "data", reading="complex", row=0, rows=1)
    assert buffer == values.tobytes()


@pytest.mark.parametrize("reading", ["complex", "magnitude", "phase", "real", "imag"])
def test_complex_bits_match_stored_bits(reading: str) -> None:
    values = np.array([[1 + 2j, 3 - 1j]], np.complex64)
    window = {"reading": reading, "row": 0, "col": 0, "rows": 1}
    told, _ = ask(run_of(x=values), "values", format="hex", cols=2, **window)
    words = values.view(np.uint32).reshape(-1, 2)
    assert told["text"] == [f"0x{real:08X} 0x{imag:08X}" for real, imag in words.tolist()]
    one = ask(run_of(x=values), "values", cols=1, **window)[0]["one"]
    assert one["hex"] == told["text"][0]
    assert one["bits"] == "".join(f"{word:032b}" for word in words[0].tolist())
    assert one["fields"] == []


@given(shapes.filter(lambda shape: len(shape) > 1), st.data())
@settings(max_examples=40, deadline=None)
def test_profiles_and_channels_match_numpy(shape: tuple[int, ...], data: st.DataObject) -> None:
    values = spiced(shape, 3)
    run = run_of(x=values)
    axis = data.draw(st.integers(0, len(shape) - 1))
    told, buffer = ask(run, "profile", axis=axis, points=data.draw(st.integers(1, 9)))
    lines = np.moveaxis(values, axis, 0)
    steps = range(0, shape[axis], told["step"])
    assert told["length"] == shape[axis]
    check_cells(cells(told, buffer), [lines[at : at + told["step"]] for at in steps])
    if len(shape) < 3:
        return
    down, across, over = data.draw(st.permutations(range(len(shape))))[:3]
    first = data.draw(st.integers(0, shape[over] - 1))
    asked = {"axes": [down, across], "index": [0] * len(shape), "axis": over, "first": first}
    told, buffer = ask(run, "channels", **asked, count=5, rows=4, cols=3)
    assert told["count"] == min(5, shape[over] - first)
    found = cells(told, buffer)
    size = told["rows"] * told["cols"]
    for number in range(told["count"]):
        index = [0] * len(shape)
        index[over] = first + number
        _, alone = picture_at(run, [down, across], index)
        for name in CELLS:
            own = found[name][number * size : (number + 1) * size]
            np.testing.assert_array_equal(own, alone[name])


def picture_at(run: DebugRun, axes: list[int], index: list[int]) -> tuple[Any, Any]:
    told, buffer = ask(run, "tensor", axes=axes, index=index, rows=4, cols=3, exact=True)
    return told, cells(told["tile"], buffer)


def test_values_in_every_format() -> None:
    values = np.array([[1.5, -0.0], [np.nan, 6e-8]], np.float16)
    run = run_of(x=values, q=np.array([[-128, 5]], np.int8), b=np.array([True, False]))
    window = {"row": 0, "col": 0, "rows": 2, "cols": 2}
    told, _ = ask(run, "values", **window, format="bits")
    assert told["fields"] == [1, 5, 10]
    words = [int(each, 2) for each in told["text"]]
    assert words == values.view(np.uint16).ravel().tolist()
    told, _ = ask(run, "values", **window, format="hex")
    assert [int(each, 16) for each in told["text"]] == words
    told, _ = ask(
        run, "values", **window, entry=[1, 0], format="dequantized", scale=0.25, zeroPoint=-3
    )
    assert [float(each) for each in told["text"]] == [-31.25, 2.0]
    assert ask(run, "values", **window, entry=[2, 0], format="hex")[0]["text"] == ["0x01", "0x00"]


@pytest.mark.parametrize(
    "bad",
    [
        {"format": "octal"},
        {"format": "dequantized", "scale": None, "zeroPoint": 0},
        {"format": "dequantized", "scale": "1", "zeroPoint": 0},
        {"format": "dequantized", "scale": 10**400, "zeroPoint": 0},
        {"format": "dequantized", "scale": float("inf"), "zeroPoint": 0},
        {"format": "dequantized", "scale": 1, "zeroPoint": 0.5},
        {"format": "dequantized", "scale": 1, "zeroPoint": 2**60},
        {"rows": 4096, "cols": 2},
    ],
)
def test_invalid_values_questions_are_refused(bad: dict[str, Any]) -> None:
    run = run_of(x=np.zeros((4096, 4096), np.int8))
    with pytest.raises(ValueError):
        ask(run, "values", **{"row": 0, "col": 0, "rows": 2, "cols": 2, **bad})


@pytest.mark.parametrize("dtype", ["float64", "int16", "bool", "bfloat16", "float8_e4m3fn", "int4"])
def test_data_arrives_complete_in_bounded_messages(dtype: str) -> None:
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    values = np.random.default_rng(2).integers(-8, 8, (700, 999)).astype(kind)
    run = run_of(x=values)
    parts, row = [], 0
    while row < 700:
        told, buffer = ask(run, "data", row=row, rows=700 - row)
        assert (told["row"], told["col"], told["cols"]) == (row, 0, 999)
        assert len(buffer) <= MOST_BYTES
        parts.append(np.frombuffer(buffer, told["descr"]).reshape(-1, 999))
        row += told["rows"]
    whole = np.concatenate(parts)
    np.testing.assert_array_equal(whole.astype(np.float64), values.astype(np.float64))
    assert bool(told["note"]) == (kind.kind == "V")


def test_row_longer_than_a_message_is_sent_in_parts() -> None:
    values = np.arange(600_000, dtype=np.float32)
    run, parts, col = run_of(x=values), [], 0
    while col < values.size:
        told, buffer = ask(run, "data", row=0, rows=1, col=col)
        assert (told["col"], told["rows"]) == (col, 1)
        assert len(buffer) <= MOST_BYTES
        parts.append(np.frombuffer(buffer, told["descr"]))
        col += told["cols"]
    np.testing.assert_array_equal(np.concatenate(parts), values)


@pytest.mark.parametrize(
    ("kind", "bad"),
    [
        *(("tensor", {"part": [0, 0, 0, 1]}), ("tensor", {"part": [0, 0, 1]})),
        *(("tensor", {"part": [0, -1, 1, 1]}), ("tensor", {"rows": 8192, "cols": 8192})),
        *(("tensor", {"sizes": {"CC": 1}}), ("tensor", {"sizes": {"C": 0}})),
        *(("tensor", {"sizes": [1]}), ("tensor", {"layout": 7}), ("tensor", {"axes": [0, 0]})),
        *(("tensor", {"axes": [None, 0], "index": [0, 9]}), ("percentiles", {"percents": []})),
        *(("percentiles", {"percents": [101]}), ("percentiles", {"percents": [True]})),
        *(("percentiles", {"percents": [1] * 33}), ("profile", {"axis": 2, "points": 4})),
        ("profile", {"axis": 0, "points": 0}),
        ("channels", {"axis": 0, "first": 0, "count": 1}),
        ("channels", {"axis": 0, "first": 0, "count": 4096, "rows": 8192}),
    ],
)
def test_out_of_range_request_is_refused(kind: str, bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        ask(run_of(x=np.zeros((5, 6), np.float32)), kind, **{"rows": 4, "cols": 4, **bad})


def test_a_question_for_no_cells_gets_the_header_alone() -> None:
    told, data = ask(run_of(x=np.zeros((5, 6), np.float32)), "tensor", rows=0, cols=0)
    assert (told["tile"], told["viewShape"], told["axes"], data) == (None, [5, 6], [0, 1], b"")


@pytest.mark.parametrize("counts_only", [False, True])
def test_withheld_values_are_not_told(counts_only: bool) -> None:
    run = run_of(x=np.linspace(-3, 4, 60, dtype=np.float32).reshape(2, 5, 6))
    answers = Answers(run.facts, redact=lambda _: ("private", counts_only))
    asked = {**VIEW, "rows": 4, "cols": 4, "row": 0, "col": 0, "part": [0, 0, 2, 2]}
    asked |= {"axis": 0, "points": 4, "first": 0, "count": 1, "percents": [50]}

    def told(kind: str) -> Any:
        return answers.answer({"kind": kind, **asked}).result

    for kind in ("values", "data", "region", "profile", "channels", "percentiles"):
        with pytest.raises(ValueError, match="private"):
            told(kind)
    header = told("tensor")
    assert (header["withheld"], header["tile"], header["shape"]) == ("private", None, [2, 5, 6])
    for kind in ("statistics", "cancelTensor"):
        counted = told(kind)
        assert counted["statistics"]["finite"] == 60
        assert (counted["distribution"], counted["percentiles"]) == (None, [])
        assert (counted["robust"], counted["linear"]) == (None, None)
        assert (counted["histogram"] is None) == counts_only
        assert (counted["statistics"]["minimum"]["text"] == "none") == counts_only


def test_empty_tensor_gets_empty_answers() -> None:
    run = run_of(x=np.zeros((0, 4), np.float32))
    assert ask(run, "tensor", rows=4, cols=4)[0]["tile"] is None
    assert ask(run, "values", row=0, col=0, rows=4, cols=4)[0]["text"] == []
    assert ask(run, "data", row=0, rows=4) == (
        {"row": 0, "rows": 0, "col": 0, "cols": 0, "descr": "<f4", "note": ""},
        b"",
    )
    told, _ = ask(run, "statistics", exact=True)
    assert (told["state"], told["percentiles"], told["histogram"]) == ("exact", [], None)


def counting(values: np.ndarray) -> Callable[[bool], Any]:
    answers = Answers(run_of(x=values).facts, seconds=0.0)

    def ask_for(exact: bool) -> Any:
        return answers.answer({"kind": "statistics", "entry": [0, 0], "exact": exact}).result

    return ask_for


def test_without_threads_a_large_tensor_is_counted_in_slices() -> None:
    values = np.random.default_rng(4).standard_normal(1 << 21).astype(np.float32)
    ask_for = counting(values)
    first = ask_for(False)
    assert (first["state"], first["done"]) == ("sampled", 0)
    assert first["statistics"]["size"] < values.size
    done = [0]
    while (told := ask_for(True))["state"] == "scanning":
        assert told["done"] > done[-1]
        assert told["distribution"] is None
        done.append(told["done"])
    assert len(done) > 5
    assert (told["state"], told["statistics"]["minimum"]["value"]) == ("exact", values.min())
    assert told["statistics"]["mean"]["value"] == pytest.approx(values.mean(dtype="f8"), rel=1e-9)
    assert ask_for(False)["state"] == "exact"
