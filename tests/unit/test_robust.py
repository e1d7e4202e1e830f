"""The range of nearly all values, where a few far ones set the tensor's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.formats.tvm.params_writer import write_params
from tvmdbg_widgets.model.statistics import statistics
from tvmdbg_widgets.model.statistics.robust import linear_zone, robust_range

if TYPE_CHECKING:
    from pathlib import Path

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
def test_usual_tensors_open_whole(array: np.ndarray[Any, Any]) -> None:
    assert found(array)[0] is None


@pytest.mark.parametrize("rectified", [False, True])
@pytest.mark.parametrize("far", [1e8, -1e8])
def test_one_far_value_is_left_out(far: float, rectified: bool) -> None:
    bulk = np.maximum(NORMAL, 0) if rectified else NORMAL
    inner, zone = found(np.append(bulk, np.float32(far)))
    assert inner is not None
    low, high, beyond = inner
    assert beyond == 1
    assert low <= bulk.min() <= bulk.max() <= high
    assert high - low == pytest.approx(float(bulk.max() - bulk.min()), rel=0.02)
    assert zone == found(bulk)[1]
    assert zone == pytest.approx(0.125, rel=0.1)


def test_bins_of_integers_that_are_too_wide_are_looked_into(tmp_path: Path) -> None:
    bulk = RANDOM.integers(5, 100, 10_000)
    array = np.append(bulk, 2**31 - 2).astype(np.int32)
    write_params(tmp_path / "a.params", {"a": array})
    run = tvmdbg.open(tmp_path / "a.params")
    assert run.tensors is not None
    inner = next(iter(run.tensors.values())).robust()
    assert inner is not None
    assert (inner.low, inner.high, inner.beyond) == (5, 99, 1)
    expected = np.histogram(bulk, inner.histogram.edges)[0]
    assert inner.histogram.counts.tolist() == expected.tolist()
    figure = run.figure("tensor")
    assert "1 of 10,001 values beyond" in figure.text
