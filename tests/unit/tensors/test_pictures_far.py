"""Cells of float64 values that float32 lacks, and means whose sums it lacks."""

import math
import re
from itertools import cycle, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tvmdbg_widgets as tvmdbg
from tests.make.params import write_params
from tests.mostly_slow import mostly_slow
from tests.unit.figures.color_scale import SCALES
from tests.unit.figures.figure_checks import texts
from tests.unit.pages.stored_questions import differences, told
from tests.unit.tensors.picture_truth import Held, check_cell
from tests.unit.tensors.test_pictures import CELLS, blocks, check_cells
from tests.unit.tensors.test_pictures_kept import nothing_quick
from tvmdbg_widgets.export.page.stored_page import store
from tvmdbg_widgets.model.base.number_text import short_text
from tvmdbg_widgets.model.pictures import Pictures, channels, picture, profile
from tvmdbg_widgets.model.tensors.planes import Plane

LARGEST = np.finfo(np.float64).max
SHAPE = (3, 11, 13)
PLANE = Plane.of(SHAPE, (1, 2), [1, 0, 0])
ENDS = [-323, -310, -300, -50, -30, 0, 30, 50, 300, 307, 309]


@st.composite
def far(draw: st.DrawFn, shape: tuple[int, ...] = SHAPE) -> np.ndarray[Any, Any]:
    """Values of one magnitude or many, of one sign or both, some of them not finite."""
    low, high = sorted(draw(st.tuples(st.sampled_from(ENDS), st.sampled_from(ENDS))))
    random = np.random.default_rng(draw(st.integers(0, 1 << 20)))
    with np.errstate(over="ignore", under="ignore"):
        values = random.uniform(1, 10, shape) * 10.0 ** random.integers(low, high + 1, shape)
    values = np.minimum(values, LARGEST)
    values *= draw(st.sampled_from([1.0, -1.0, random.choice([-1, 1], shape)]))
    odd = random.random(shape) < draw(st.sampled_from([0, 0, 0.1]))
    values[odd] = random.choice([np.nan, np.inf, -np.inf, 0], int(odd.sum()))
    return values


@given(st.data())
def test_cells_match_float64_values(data: st.DataObject) -> None:
    array = data.draw(far())
    rows, cols = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 14))
    with data.draw(blocks()):
        found = picture(Held(array), PLANE, rows, cols)
        along = profile(Held(array), 1, rows)
        each = channels(Held(array), PLANE, 0, 0, 3, rows, cols)
    for name in CELLS[:3]:
        assert getattr(found, name).dtype == np.float64
    check_cells(found, array[1])
    for at in range(len(along.mean)):
        check_cell(along, at, array[:, at * along.step : (at + 1) * along.step])
    size = found.rows * found.cols
    for name in CELLS:
        assert getattr(each, name)[size : 2 * size].tobytes() == getattr(found, name).tobytes()
    for shown in (found, along, each):
        some = ~np.isnan(shown.mean)
        assert np.isfinite(shown.mean[some]).all()
        assert (shown.minimum[some] <= shown.mean[some]).all()
        assert (shown.mean[some] <= shown.maximum[some]).all()


@given(st.data())
def test_cached_pictures_are_correct_for_extreme_float64(data: st.DataObject) -> None:
    array, kept = data.draw(far()), Pictures()
    with nothing_quick():
        for most in ((11, 13), (3, 3), (1, 1), (2, 7)):
            found = kept.get("a", Held(array), PLANE, *most)
            check_cells(found, array[1])
        sample = kept.get("b", Held(array), PLANE, 4, 4, None, False)
    assert set(sample.mean[~np.isnan(sample.mean)]) <= set(array[1].ravel())


def test_mean_is_unknown_when_sum_overflows() -> None:
    array = np.full((400, 700), 1.5e308)
    array[:, 350:] = 5e-324
    array[0, 0] = -LARGEST
    found = picture(Held(array), Plane.of(array.shape, (0, 1), [0, 0]), 1, 2)
    assert found.mean[1] == found.minimum[1] == found.maximum[1] == 5e-324
    assert np.isnan(found.mean[0])
    assert (found.minimum[0], found.maximum[0]) == (-LARGEST, 1.5e308)
    found = profile(Held(array), 1, 2)
    np.testing.assert_array_equal(found.mean, [np.nan, 5e-324])


def test_other_dtypes_keep_float32_cells() -> None:
    for kind in ("f4", "f2", "i8", "u8", "?"):
        array = np.ones((6, 7), kind)
        found = picture(Held(array), Plane.of(array.shape, (0, 1), [0, 0]), 3, 3)
        along = profile(Held(array), 0, 3)
        assert {each.dtype for each in (found.mean, found.minimum, along.mean)} == {
            np.dtype(np.float32)
        }


def planted() -> dict[str, np.ndarray[Any, Any]]:
    random = np.random.default_rng(9)
    shape = (2, 3, 70, 66)
    sign = random.choice([-1, 1], shape)
    spread = random.uniform(1, 9, shape) * 10.0 ** random.integers(-320, 308, shape)
    huge = random.uniform(0.1, 1.7, shape) * 1e308
    tiny = random.uniform(1, 9, shape) * 1e-310
    huge[0, 1, 5, ::7] = np.inf
    tiny[1, 2, ::9, 3] = np.nan
    faces = (huge[..., :9] * 0.5 + 1j * tiny[..., :9]).astype(np.complex128)
    faces[~np.isfinite(faces)] = 0
    return {
        "spread": spread * sign,
        "huge": huge,
        "both": np.where(np.isfinite(huge), huge, 1) * sign,
        "tiny": tiny,
        "faces": faces,
    }


@pytest.mark.parametrize("share", ["pictures", "tensors"])
def test_saved_page_answers_like_the_kernel(tmp_path: Path, share: Any) -> None:
    write_params(tmp_path / "far.params", planted())
    run = tvmdbg.open(tmp_path / "far.params")
    stored = store(run.facts, budget=200_000_000, share=share, parameters=True)
    asked = []
    for tensor in run.tensors.values():
        for reading in [each for each in tensor.readings or (None,) if each != "complex"]:
            question = {
                "entry": [tensor.node, tensor.output],
                "reading": reading,
                "axes": [2, 3],
                "index": [1, 2, 0, 0],
                "rows": 64,
                "cols": 64,
                "exact": True,
            }
            asked += [
                {**question, "kind": "tensor"},
                {**question, "kind": "channels", "axis": 1, "first": 0, "count": 3},
            ]
            if share == "tensors":
                asked.append({**question, "kind": "tensor", "rows": 2, "cols": 3})
                continue
            view = {"entry": question["entry"], "reading": reading, "layout": "", "sizes": {}}
            asked += [
                {**view, "kind": "profile", "axis": axis, "points": 4096} for axis in range(4)
            ]
    expected = []
    for question in asked:
        answer = told(run, question)
        if "file" in answer["result"]:
            answer["result"]["file"] = "far.params"
        if share == "pictures":
            answer["more_notes"] = "notes" in answer["result"]
        expected.append((question, answer))
    assert differences(tmp_path, stored, expected) == []


NAMES, SHOWS = ("spread", "huge", "both", "tiny"), ("heatmap", "channels", "line plot")


@pytest.mark.parametrize(
    ("name", "show"), mostly_slow(product(NAMES, SHOWS), *zip(NAMES, cycle(SHOWS), strict=False))
)
def test_figures_are_well_formed_on_every_scale(tmp_path: Path, name: str, show: str) -> None:
    write_params(tmp_path / "far.params", {name: planted()[name]})
    run = tvmdbg.open(tmp_path / "far.params")
    specials = {"huge": {"+Inf"}, "tiny": {"NaN"}}.get(name, set())
    for scale in SCALES:
        for choice in ("tensor", "plane", "robust", (1e300, 1e305), (1e-310, 3e-310)):
            figure = run.figure("tensor", color_scale=scale, color_range=choice, show=show)
            drawn = re.sub(r'href="data:[^"]*"|<desc>.*?</desc>', "", figure.svg, flags=re.DOTALL)
            assert not re.findall(r"\b(?:nan|inf)\b.{20}", drawn)
            said = " ".join(texts(figure))
            for word in ("+Inf", "−Inf", "NaN"):
                counted = said.replace(f"0 {word}", "").replace(f"first {word}", "")
                assert (word in counted) == (word in specials), (scale, choice, said)


def test_extreme_numbers_have_short_texts() -> None:
    assert short_text(LARGEST) == "1.798e308"
    assert short_text(-LARGEST) == "−1.798e308"
    assert short_text(5e-324) == "4.941e−324"
    assert math.isinf(float(short_text(LARGEST)))


def test_extreme_color_range_counts_values_outside_it(tmp_path: Path) -> None:
    array = np.concatenate([np.geomspace(1e-310, 1e-300, 32), np.geomspace(1e300, 1e308, 32)])
    array = array.reshape(8, 8)
    write_params(tmp_path / "far.params", {"a": array})
    figure = tvmdbg.open(tmp_path / "far.params").figure("tensor", color_range=(1e-305, 1e304))
    said = " ".join(texts(figure))
    assert f"below 1e−305 ({int((array < 1e-305).sum())}" in said
    assert f"above 1e304 ({int((array > 1e304).sum())}" in said
