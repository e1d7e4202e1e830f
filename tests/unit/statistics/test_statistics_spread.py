"""Percentiles and histograms against numpy, and what the distribution alone tells of them."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.unit.statistics.statistics_truth import NAMES, decoded, some_bytes, values_of
from tvmdbg_widgets.model.statistics import Statistics, batch, percentiles
from tvmdbg_widgets.model.statistics.batch import ArrayPasses
from tvmdbg_widgets.model.statistics.contrast import Kept

PERCENTS = [0, 1, 5, 25, 50, 75, 95, 99, 100]


def finite_of(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    with np.errstate(invalid="ignore"):
        wide = array.astype(np.float64)
    return wide[np.isfinite(wide)]


def narrow(array: np.ndarray[Any, Any]) -> None:
    """Leave out differences that numpy's own interpolation cannot represent."""
    with np.errstate(over="ignore"):
        assume(len(array) == 0 or math.isfinite(float(array.max()) - float(array.min())))


@given(st.sampled_from(NAMES), st.data(), st.booleans())
@settings(max_examples=60)
def test_percentiles_match_numpy(name: str, data: st.DataObject, count: bool) -> None:
    stored = data.draw(some_bytes(name))
    finite = finite_of(decoded(stored, name))
    narrow(finite)
    kept = Kept(values_of(stored, name))
    percents = [*PERCENTS, data.draw(st.floats(0, 100))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(percentiles.percentiles, "__kwdefaults__", {"kept": 0 if count else 1 << 20})
        found = kept.percentiles(percents)
    if not len(finite):
        assert all(math.isnan(each) for each in found)
        return
    truth = np.percentile(finite, percents)
    if name in ("int64", "uint64"):
        np.testing.assert_allclose(found, truth, rtol=1e-15)
    else:
        assert found == truth.tolist()
    for percent, exact in zip(percents, found, strict=True):
        bounds = kept.statistics().percentile(percent)
        assert bounds.low <= exact <= bounds.high
        if name not in ("float32", "float64", "int32", "uint32", "int64", "uint64"):
            assert bounds.exact, "8 and 16 bits leave nothing open"


@pytest.mark.parametrize(("name", "most"), [("float32", 1), ("float64", 4), ("int64", 4)])
def test_percentiles_take_few_passes(name: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(2)
    array = (random.standard_normal(200_000) * 1e15).astype(name)
    kept = Kept(values_of(array.tobytes(), name))
    kept.statistics()
    made: list[Any] = []
    real = batch.run_pass
    monkeypatch.setattr(batch, "run_pass", lambda *told: (made.append(1), real(*told))[1])
    assert kept.percentiles([50, 99.9]) == np.percentile(array.astype(float), [50, 99.9]).tolist()
    assert len(made) == 1, "what fits into memory is kept and sorted"
    monkeypatch.setattr(percentiles.percentiles, "__kwdefaults__", {"kept": 0})
    made.clear()
    assert kept.percentiles([50, 99.9]) == np.percentile(array.astype(float), [50, 99.9]).tolist()
    assert 1 <= len(made) <= most
    made.clear()
    low, high = float(array.min()), float(array.max())
    assert kept.percentiles([0, 100]) == [low, high]
    assert made == [], "the bounds are known"


def test_percentiles_outside_0_to_100_are_refused() -> None:
    kept = Kept(values_of(bytes(40), "float32"))
    for percent in (-1, 101, math.nan):
        with pytest.raises(ValueError, match="between 0 and 100"):
            kept.percentiles([percent])
    assert kept.percentiles([]) == []


@given(st.sampled_from(NAMES), st.data(), st.integers(1, 40))
@settings(max_examples=60)
def test_histograms_count_every_value(name: str, data: st.DataObject, bins: int) -> None:
    stored = data.draw(some_bytes(name))
    finite = finite_of(decoded(stored, name))
    assume(len(finite))
    found = Kept(values_of(stored, name)).statistics(bins).histogram
    assert found.exact
    assert found.counts.tolist() == counted(finite, found.edges)
    assert found.edges[0] <= finite.min()
    assert found.edges[-1] >= finite.max()


def counted(values: np.ndarray[Any, Any], edges: np.ndarray[Any, Any]) -> list[int]:
    below = np.searchsorted(np.sort(values), edges, side="left")
    below[-1] = np.count_nonzero(values <= edges[-1])
    return np.diff(below).tolist()  # type: ignore[no-any-return]


@given(st.sampled_from(NAMES), st.data(), st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=9))
@settings(max_examples=60)
def test_distribution_bounds_contain_true_counts(
    name: str, data: st.DataObject, numbers: list[float]
) -> None:
    stored = data.draw(some_bytes(name))
    finite = finite_of(decoded(stored, name))
    assume(len(finite))
    found: Statistics = Kept(values_of(stored, name)).statistics()
    spread = found.distribution
    some = data.draw(st.lists(st.sampled_from(finite.tolist()), max_size=3))
    edges = np.unique(np.array([*numbers, *some]))
    assume(len(edges) > 1)
    least, most = spread.rebinned(edges)
    truth = counted(finite, edges)
    assert all(low <= count <= high for low, count, high in zip(least, truth, most, strict=True))
    if spread.exact:
        assert least.tolist() == most.tolist() == truth
    low, high = float(edges[0]), float(edges[-1])
    fewest, greatest = spread.count(low, high)
    assert fewest <= np.count_nonzero((finite >= low) & (finite <= high)) <= greatest


def test_a_large_array_is_not_read_again_for_its_histogram(monkeypatch: pytest.MonkeyPatch) -> None:
    array = np.random.default_rng(0).standard_normal(300_000).astype(np.float32)
    monkeypatch.setattr(batch, "EXACT_BYTES", 1000)
    found = Kept(values_of(array.tobytes(), "float32")).statistics().histogram
    assert not found.exact
    assert found.counts.sum() == len(array)
    truth = np.histogram(array.astype(float), found.edges)[0]
    assert np.abs(found.counts - truth).max() < 0.02 * truth.max()
    small = array.astype(np.float16)
    exact = Kept(values_of(small.tobytes(), "float16")).statistics().histogram
    assert exact.exact, "16 bits leave nothing open at any size"


@pytest.mark.parametrize("scale", ["linear", "log", "symlog"])
@pytest.mark.parametrize("name", ["float32", "float64", "int32", "float16"])
def test_histograms_are_exact_on_every_scale(scale: str, name: str) -> None:
    array = (np.random.default_rng(0).standard_normal(50_000) * 1000).astype(name)
    kept = Kept(values_of(array.tobytes(), name))
    finite = array.astype(float)
    found = kept.histogram(20, None, scale)  # type: ignore[arg-type]
    assert found.exact
    assert found.counts.tolist() == counted(finite, found.edges)
    assert found.counts.sum() == (np.count_nonzero(finite > 0) if scale == "log" else len(finite))
    bounds = (1.5, 200.0)
    found = kept.histogram(10, bounds, scale)  # type: ignore[arg-type]
    assert (found.edges[0], found.edges[-1]) == bounds
    assert found.counts.tolist() == counted(finite, found.edges)
    steps = {"linear": np.diff, "log": lambda each: np.diff(np.log(each))}.get(scale)
    if steps is not None:
        assert steps(found.edges) == pytest.approx(np.full(10, steps(found.edges)[0]))


def test_log_scale_does_not_cross_zero() -> None:
    array = -np.arange(100, dtype=np.float32)
    kept = Kept(values_of(array.tobytes(), "float32"))
    found = kept.histogram(5, None, "log")
    assert (found.edges[0], found.edges[-1], found.counts.sum()) == (-99, -1, 99)
    with pytest.raises(ValueError, match="does not cross zero"):
        kept.histogram(5, (-1.0, 2.0), "log")
    with pytest.raises(ValueError, match="no scale 'sqrt'; known: "):
        kept.histogram(5, None, "sqrt")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no finite values"):
        Kept(values_of(b"", "float32")).histogram(5, None, "linear")


def test_sample_distribution_covers_sampled_values() -> None:
    array = np.random.default_rng(0).standard_normal(400_000).astype(np.float32)
    passes = ArrayPasses.over(values_of(array.tobytes(), "float32"), 50_000)
    found = Kept(values_of(array.tobytes(), "float32")).statistics(sample=50_000)
    assert not passes.exact
    assert found.distribution.counts.sum() == found.size
    bounds = found.percentile(50)
    assert bounds.low <= 0.02
    assert bounds.high >= -0.02
