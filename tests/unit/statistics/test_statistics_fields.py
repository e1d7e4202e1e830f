"""Every field of the statistics, of every type, against numpy on the same data."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.statistics.statistics_truth import (
    NAMES,
    SMALL,
    WHOLE,
    check,
    check_distribution,
    decoded,
    some_bytes,
    values_of,
)
from tvmdbg_widgets.model.statistics import passes, statistics
from tvmdbg_widgets.model.statistics.batch import ArrayPasses
from tvmdbg_widgets.model.statistics.passes import Watched
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.sources.byte_source import BytesSource


@given(st.sampled_from(NAMES), st.data(), st.integers(1, 400))
@settings(max_examples=100)
def test_every_field_of_every_type(name: str, data: st.DataObject, piece: int) -> None:
    stored = data.draw(some_bytes(name))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passes, "PIECE_BYTES", piece)
        found = statistics(values_of(stored, name), bins=8)
    check(decoded(stored, name), found)


@given(st.sampled_from([name for name in SMALL if DataType.parse(name).bits < 8]), st.data())
@settings(max_examples=60)
def test_packed_values(name: str, data: st.DataObject) -> None:
    stored = data.draw(st.binary(max_size=120))
    stored = stored[: len(stored) // 3 * 3]
    found = statistics(values_of(stored, name, "packed"))
    check(decoded(stored, name, "packed"), found)


@given(st.sampled_from(["float32", "float64", "int32", "uint64"]), st.data(), st.integers(1, 5))
@settings(max_examples=60)
def test_strided_chunks(name: str, data: st.DataObject, step: int) -> None:
    array = decoded(data.draw(some_bytes(name)), name)[::-step]
    size = data.draw(st.integers(1, 100))
    chunks = [array[begin : begin + size] for begin in range(0, len(array), size)]
    if chunks:
        check(array, statistics(lambda: chunks))


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("name", [name for name in WHOLE if name != "bool"])
def test_integers_at_limits_of_type_in_small_chunks(name: str, size: int) -> None:
    low, high = int(np.iinfo(name).min), int(np.iinfo(name).max)
    middle = high // 2 + 1  # 2**63 of uint64
    some = [high, middle, low, 0, middle + 1, high - 1, low + 1, 1]
    for values in (some, some[::-1], [high, low], [low, high, low], [middle, high, 3], [high] * 5):
        array = np.array(values, name)
        chunks = [array[begin : begin + size] for begin in range(0, len(array), size)]
        found = statistics(lambda chunks=chunks: chunks, bins=8)
        check(array, found)
        wide = array.astype(np.float64)
        assert (
            found.histogram.counts.tolist() == np.histogram(wide, found.histogram.edges)[0].tolist()
        )
        percents = [0, 10, 50, 75, 100]
        exact = ArrayPasses.over(lambda chunks=chunks: chunks).percentiles(
            found, percents, Watched()
        )
        assert exact == np.percentile(wide, percents).tolist()
        for number, (least, most) in zip(
            exact, found.distribution.percentiles(percents), strict=True
        ):
            assert least <= number <= most


@pytest.mark.parametrize("name", ["int8", "bfloat16", "float32", "int32", "int64", "float64"])
def test_statistics_of_many_values_match_numpy(name: str) -> None:
    random = np.random.default_rng(3)
    array = (random.standard_normal(700_001) * 40).astype(getattr(ml_dtypes, name, name))
    found = statistics(values_of(array.tobytes(), name))
    wide = array.astype(np.float64)
    assert found.minimum == wide.min()
    assert found.argmax == int(wide.argmax())
    assert found.zero == (wide == 0).sum()
    assert abs(found.mean - math.fsum(wide) / len(wide)) <= 1e-12 * math.fsum(abs(wide)) / len(wide)
    assert found.std == pytest.approx(wide.std(), rel=1e-12)
    assert found.histogram.exact
    assert found.histogram.counts.tolist() == np.histogram(wide, 64)[0].tolist()


@pytest.mark.parametrize("offset", [0.0, 1e4, -3e7])
def test_mean_and_std_are_accurate_far_from_zero(offset: float) -> None:
    random = np.random.default_rng(4)
    array = (random.standard_normal(1_000_003) * 1e-2 + offset).astype(np.float32)
    found = statistics(values_of(array.tobytes(), "float32"))
    items = array.astype(np.float64)
    mean = math.fsum(items) / len(items)
    assert abs(found.mean - mean) <= 1e-12 * math.fsum(abs(items)) / len(items)
    truth = math.sqrt(math.fsum((items - mean) ** 2) / len(items))
    assert found.std == pytest.approx(truth, rel=1e-12)


def test_integers_beyond_float64_are_summed_exactly() -> None:
    random = np.random.default_rng(5)
    for name in ("int64", "uint64"):
        array = np.frombuffer(random.bytes(8 * 300_000), name)
        found = statistics(values_of(array.tobytes(), name))
        assert found.mean == sum(array.tolist()) / len(array)
        low, high = found.distribution.bounds()
        assert low.dtype == high.dtype == np.dtype(name)
        assert (int(low[0]), int(high[-1])) == (array.min(), array.max())


@pytest.mark.parametrize("name", ["int64", "uint64"])
def test_integers_beyond_float64_are_counted_between_floats(name: str) -> None:
    array = 2**53 + np.arange(4).astype(name)
    spread = statistics(lambda: [array]).distribution
    bounds = [-math.inf, -1.0, 0.5, 2.0**53, 2.0**53 + 2, 2**53 + 1, 2**53 + 3, 2.0**64, math.inf]
    for low in bounds:
        for high in bounds:
            inside = sum(low <= each <= high for each in array.tolist())
            assert spread.count(low, high) == (inside, inside)


def test_integer_bins_are_as_narrow_as_range_allows() -> None:
    array = np.arange(-100, 60_000, dtype=np.int32)
    spread = statistics(lambda: [array[:5], array[5:7], array[7:]]).distribution
    assert spread.exact, "up to 65,536 integers are told apart"
    spread = statistics(lambda: [array[:5], array[5:] * 7]).distribution
    low, high = spread.bounds()
    assert (high[1:-1] - low[1:-1] == 7).all(), "2**3 wide"


def test_range_not_aligned_with_bins_fits_bin_limit() -> None:
    array = np.arange(1, (1 << 17) + 1, dtype=np.int32)
    found = statistics(lambda: [array])
    assert len(found.distribution) <= 1 << 16
    check_distribution(array, found, few=False)


def tensor(array: np.ndarray[Any, Any], name: str) -> Tensor:
    data = array.tobytes()
    record = ArrayRecord("x", DataType.parse(name), array.shape, len(data), 0, BytesSource(data))
    return Tensor(record, 0, 0, name="x")


def test_unordered_dtypes_report_reason_for_missing_statistics() -> None:
    for kind, name in ((np.complex64, "complex64"), (np.complex128, "complex128")):
        found = tensor(np.ones((2, 3), kind), name).statistics()
        assert (found.applicable, found.size) == (False, 6)
        assert "no order" in found.reason
        assert found.distribution is None
    found = tensor(np.ones(6, np.uint8), "custom[posit]8").statistics()
    assert "no numpy type" in found.reason
    assert math.isnan(tensor(np.ones(6, np.uint8), "custom[posit]8").percentiles([50])[0])


def test_parts_of_complex_numbers_are_real() -> None:
    array = (np.arange(12) * (1 + 2j)).astype(np.complex64)
    found = tensor(array, "complex64")
    for reading, part in (("real", array.real), ("imag", array.imag), ("magnitude", abs(array))):
        check(np.ascontiguousarray(part), found.statistics(reading=reading))  # type: ignore[arg-type]


def test_sampled_statistics_report_true_positions() -> None:
    array = np.arange(1_000_000, dtype=np.float32)
    array[0], array[-3] = np.nan, -1
    found = tensor(array, "float32").statistics(sample=50_000)
    assert not found.exact
    assert 40_000 < found.size < 60_000
    assert (found.first_nan, found.argmin, found.argmax) == (0, 999_997, 999_999)
    assert found.histogram.counts.sum() == found.size - 1
    whole = tensor(array, "float32").statistics(sample=1_000_000)
    assert whole.exact
