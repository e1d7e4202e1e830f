"""The range of nearly all values, where a few far ones set the tensor's own."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tests.make.params import write_params
from tvmdbg_widgets.model.statistics import statistics
from tvmdbg_widgets.model.statistics.contrast import Contrast, linear_zone
from tvmdbg_widgets.model.statistics.robust import robust_range

RANDOM = np.random.default_rng(5)
NORMAL = RANDOM.standard_normal(20_000).astype(np.float32)


def found(array: np.ndarray[Any, Any]) -> tuple[tuple[float, float, int] | None, float | None]:
    told = statistics(lambda: [array])
    assert told.distribution is not None
    return robust_range(told.distribution, told.zero), linear_zone(told.distribution, told.zero)


@pytest.mark.parametrize(
    "array",
    [
        NORMAL,
        np.maximum(NORMAL, 0),
        RANDOM.laplace(size=20_000),
        RANDOM.integers(-128, 128, 5000).astype(np.int8),
        np.append(NORMAL[:50], np.float32(1e8)),
        np.where(np.arange(5000) < 20, np.linspace(0, 9, 5000), 0),
        np.array([1.7e308, -1.7e308] * 60),
        np.zeros(500, np.float32),
        np.full(500, 3, np.int32),
    ],
)
def test_usual_tensors_open_without_robust_range(array: np.ndarray[Any, Any]) -> None:
    assert found(array)[0] is None


@pytest.mark.parametrize("rectified", [False, True])
@pytest.mark.parametrize("far", [1e8, -1e8])
def test_single_outlier_is_left_out_of_robust_range(far: float, rectified: bool) -> None:
    bulk = np.maximum(NORMAL, 0) if rectified else NORMAL
    inner, zone = found(np.append(bulk, np.float32(far)))
    assert inner is not None
    low, high, beyond = inner
    assert beyond == 1
    assert low <= bulk.min() <= bulk.max() <= high
    assert high - low == pytest.approx(float(bulk.max() - bulk.min()), rel=0.02)
    assert zone == found(bulk)[1]
    assert zone == pytest.approx(0.125, rel=0.1)


def test_wide_integer_bins_are_refined(tmp_path: Path) -> None:
    bulk = RANDOM.integers(5, 100, 10_000)
    array = np.append(bulk, 2**31 - 2).astype(np.int32)
    write_params(tmp_path / "a.params", {"a": array})
    run = tvmdbg.open(tmp_path / "a.params")
    found = next(iter(run.tensors.values())).contrast()
    inner = found.robust
    assert (inner.low, inner.high, inner.beyond) == (5, 99, 1)
    expected = np.histogram(bulk, inner.histogram.edges)[0]
    assert inner.histogram.counts.tolist() == expected.tolist()
    figure = run.figure("tensor")
    assert "1 of 10,001 values beyond" in figure.text


def contrast(tmp_path: Path, array: np.ndarray[Any, Any]) -> Contrast:
    write_params(tmp_path / "a.params", {"a": array})
    tensors = tvmdbg.open(tmp_path / "a.params").tensors
    found = next(iter(tensors.values())).contrast()
    assert found is not None
    return found


@pytest.mark.parametrize(
    "far",
    [
        [2_000_000_000],
        [2**31 - 2, -(2**30), 70_000],
        [40_000, 2**31 - 2],
        [2**62, -(2**62), 2**40],
        [10**9] * 3 + [-40_000] * 2,
    ],
)
@pytest.mark.parametrize("bulk", [(-20, 20), (5, 100), (-90, -5)])
def test_near_integers_are_counted_exactly_despite_far_outliers(
    tmp_path: Path, far: list[int], bulk: tuple[int, int]
) -> None:
    dtype = np.int64 if max(far) > 2**31 else np.int32
    near = RANDOM.integers(*bulk, 4000)
    found = contrast(tmp_path, np.concatenate([near, far]).astype(dtype))
    low, high = found.distribution.bounds()
    counts = found.distribution.counts
    values, expected = np.unique(near, return_counts=True)
    single = low == high
    told = dict(zip(low[single].tolist(), counts[single].tolist(), strict=True))
    assert {value: told.get(value) for value in values.tolist()} == dict(
        zip(values.tolist(), expected.tolist(), strict=True)
    )
    assert (low[1:] > high[:-1]).all()
    assert counts.sum() == len(near) + len(far)
    for start, end in ((-(2**63), bulk[0] - 1), (bulk[1], 2**63 - 1)):
        inside = sum(start <= each <= end for each in far)
        assert found.distribution.count(start, end) == (inside, inside)
    assert found.robust.beyond == len(far)


@pytest.mark.parametrize(
    ("value", "name"), [(-(2**31), "int32"), (2**62, "int64"), (2**63, "uint64")]
)
def test_zeros_beside_one_large_integer_are_not_narrowed(
    tmp_path: Path, value: int, name: str
) -> None:
    array = np.array([0] * 100 + [value] * 150, name)
    found = contrast(tmp_path, array)
    assert found.robust is None, "no value lies beyond"
    assert found.distribution.counts.tolist() == np.unique(array, return_counts=True)[1].tolist()


@pytest.mark.parametrize(
    ("top", "far", "name"),
    [
        (2**62, [3, 5000, 2**40], "int64"),  # 2**62 + 3 as float64 is 2**62, the next bin's border
        (-(2**62), [3, 5000, 2**40], "int64"),
        (2**63, [3, 5000, 2**40], "uint64"),
        (2**63, [-(2**63), 2**63 - 1], "uint64"),
        (2**64 - 1, [-(2**63), 0], "uint64"),
        (-(2**63) + 5000, [2**63, -5000], "int64"),
    ],
)
def test_narrower_bins_do_not_overlap_beyond_float64(
    tmp_path: Path, top: int, far: list[int], name: str
) -> None:
    near = RANDOM.integers(1, 4096, 400).tolist()
    array = np.array([*(top - each for each in near), *(top + each for each in far)], name)
    found = contrast(tmp_path, array)
    low, high = found.distribution.bounds()
    assert (low <= high).all()
    assert (high[:-1] < low[1:]).all()
    ordered = np.sort(array)
    expected = np.searchsorted(ordered, high, "right") - np.searchsorted(ordered, low, "left")
    assert found.distribution.counts.tolist() == expected.tolist()
    if found.robust is not None:
        assert 0 < found.robust.beyond <= len(far)
        assert (np.diff(found.robust.histogram.edges) > 0).all()


LOGNORMAL = np.exp(RANDOM.standard_normal(16_384) * 5).astype(np.float32)


def test_values_of_many_decades_get_a_logarithmic_scale(tmp_path: Path) -> None:
    found = contrast(tmp_path, LOGNORMAL)
    assert found.scale == "log"
    inside = LOGNORMAL[(found.robust.low <= LOGNORMAL) & (found.robust.high >= LOGNORMAL)]
    fullest = np.histogram(inside, 64, (found.robust.low, found.robust.high))[0].max()
    assert found.crowd == pytest.approx(fullest / len(LOGNORMAL), abs=0.002)
    with_zeros = contrast(tmp_path, np.append(LOGNORMAL, np.zeros(99, np.float32)))
    assert with_zeros.scale == "symlog"
    signed = LOGNORMAL * RANDOM.choice([-1, 1], len(LOGNORMAL))
    assert contrast(tmp_path, signed.astype(np.float32)).scale == "symlog"


@pytest.mark.parametrize(
    "array",
    [
        NORMAL,
        np.maximum(NORMAL, 0),
        np.append(NORMAL, np.float32(1e8)),
        RANDOM.exponential(size=20_000),
        (RANDOM.random((100, 100)) < 0.01).astype(np.float32),
        np.where(RANDOM.random(5000) < 0.9, 1, 2).astype(np.int32),
        np.full(500, 3.5),
        LOGNORMAL[:99],
    ],
)
def test_usual_tensors_keep_a_linear_scale(tmp_path: Path, array: np.ndarray[Any, Any]) -> None:
    assert contrast(tmp_path, array).scale == "linear"
