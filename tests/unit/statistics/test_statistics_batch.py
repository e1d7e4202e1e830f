"""Small arrays counted together: each field as a pass over one array gives it."""

import pickle
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.statistics.statistics_truth import NAMES, SMALL, check, values_of
from tvmdbg_widgets.model.statistics import Statistics, batch, statistics
from tvmdbg_widgets.model.statistics.batch import Batch
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.sources.byte_source import BytesSource, read_near

FIELDS = [field.name for field in fields(Statistics)]
SPECIAL = ["0", "-0.0", "nan", "inf", "-inf", "1e-45", "-1e-39", "1e308", "-1e308", "0.1", "1"]
COUNTS = [0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 33, 130]


def plain(value: Any) -> Any:
    """Return a fact so that equal ones compare equal, NaN, signs of zero and types included."""
    if isinstance(value, np.generic):
        return value.dtype.name, value.tobytes()
    if isinstance(value, float):
        return value.hex()
    if hasattr(value, "edges"):
        return value.counts.tolist(), value.edges.tobytes(), value.exact
    if hasattr(value, "keys"):
        ends = plain(value.minimum), plain(value.maximum)
        return value.keys.tolist(), value.counts.tolist(), value.bins, ends
    return value


def facts(found: Statistics) -> dict[str, Any]:
    return {name: plain(getattr(found, name)) for name in FIELDS}


def same(found: Statistics, alone: Statistics) -> None:
    """Compare all facts to the bit, but for moments, which are good to 1e-12."""
    mine, others = facts(found), facts(alone)
    for name in ("mean", "std"):
        assert getattr(found, name) == pytest.approx(
            getattr(alone, name), rel=1e-11, abs=0, nan_ok=True
        )
        del mine[name], others[name]
    assert mine == others


@st.composite
def some_rows(draw: st.DrawFn, name: str) -> np.ndarray[Any, Any]:
    """Draw arrays of one length: any bits, the odd ones, close to each other, or cancelling."""
    kind = values_of(b"", name).numpy_dtype
    shape = draw(st.integers(1, 5)), draw(st.sampled_from(COUNTS))
    random = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    how = draw(st.sampled_from(["bits", "special", "near", "wide", "cancel"]))
    if how == "bits" or name == "bool":
        stored = random.bytes(shape[0] * shape[1] * DataType.parse(name).itemsize)
        return values_of(stored, name).numpy().reshape(shape)
    center = draw(st.sampled_from([0.0, 1.0, 1000.25, 3e4, 2.0**40]))
    spread = draw(st.sampled_from([0.0, 1e-3, 1.0, 50.0]))
    values = random.standard_normal(shape) * spread + center
    if how == "wide":
        values *= 10.0 ** random.uniform(-6, 3, shape)
    if how == "cancel":
        values[:, 1::2] = -values[:, 0::2][:, : shape[1] // 2]
    if how == "special" and kind.kind not in "iu":
        values = np.where(random.random(shape) < 0.4, random.choice(SPECIAL, shape), values)
    with np.errstate(all="ignore"):
        values = values.astype(np.float64)
        return values.astype(np.int64).astype(kind) if "int" in name else values.astype(kind)


@given(st.sampled_from(NAMES), st.data())
@settings(max_examples=100)
def test_batch_fields_match_statistics_of_single_array(name: str, data: st.DataObject) -> None:
    values = data.draw(some_rows(name))
    for row, found in zip(values, Batch(values).rows(), strict=True):
        alone = statistics(lambda row=row: [row])
        same(found, alone)


@given(st.sampled_from(NAMES), st.data())
@settings(max_examples=80)
def test_arrays_decoded_together_match_single_decoding(name: str, data: st.DataObject) -> None:
    reading = data.draw(st.sampled_from(["bytes", "packed"] if name in SMALL else ["bytes"]))
    size = data.draw(st.integers(0, 12)) * DataType.parse(name).itemsize
    stored = data.draw(st.lists(st.binary(min_size=size, max_size=size), min_size=1, max_size=4))
    first = values_of(stored[0], name, reading)
    together = first.alike(stored)
    assert together.dtype == first.numpy_dtype
    for row, each in zip(together, stored, strict=True):
        assert row.tobytes() == values_of(each, name, reading).values(0, first.count).tobytes()


@pytest.mark.parametrize("name", ["float32", "float64", "float16", "bfloat16", "int8", "int64"])
def test_batch_std_matches_single_arrays_with_few_extra_passes(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = np.random.default_rng(6).standard_normal((50, 16)) * 20
    array = values.astype(getattr(ml_dtypes, name, name))
    expected = [statistics(lambda row=row: [row]).std for row in array]
    alone = counted_alone(monkeypatch)
    assert [each.std for each in Batch(array).rows()] == pytest.approx(expected, rel=1e-12)
    assert len(alone) <= 5, "sums that cancel are left open"


@pytest.mark.parametrize("name", ["int64", "uint64"])
def test_batch_moments_of_integers_beyond_float64(name: str) -> None:
    array = 2**62 + np.random.default_rng(7).integers(0, 1 << 24, (20, 64)).astype(name)
    for row, found in zip(array, Batch(array).rows(), strict=True):
        check(row, found)


def counted_alone(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list that grows by each array of a batch that is counted alone."""
    alone: list[Any] = []

    def counting(values: Any) -> Statistics:
        alone.append(values)
        return statistics(values)

    monkeypatch.setattr(batch, "statistics", counting)
    return alone


def test_deferred_fields_are_computed_once_on_access(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = counted_alone(monkeypatch)
    rows = Batch(np.array([[1e16, 1.0, -1e16], [0.1, 1e-30, 1e30]])).rows()
    assert not alone
    for each in rows:
        assert each.histogram is not None
        assert each.distribution is not None
        assert each.mean == each.mean
    assert len(alone) == 2


def test_a_row_can_be_changed_pickled_and_redacted() -> None:
    values = np.array([[1, 2, 2, np.nan]], np.float32)
    found = Batch(values).rows()[0]
    alone = statistics(lambda: [values[0]])
    same(pickle.loads(pickle.dumps(found)), alone)  # noqa: S301 (our own)
    same(replace(found, exact=False), replace(alone, exact=False))
    assert found.redacted(counts_only=True).minimum is None
    assert found.applicable
    assert repr(found) == repr(statistics(lambda: [values[0]]))
    with pytest.raises(AttributeError):
        found.mode  # type: ignore[attr-defined]  # noqa: B018


class Counting(BytesSource):
    """Counts its reads."""

    def __init__(self, data: bytes, *, far: bool = False) -> None:
        super().__init__(data)
        self.far = far
        self.reads: list[tuple[int, int]] = []

    def read_ranges(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        self.reads += ranges
        return super().read_ranges(ranges)


@given(st.lists(st.tuples(st.integers(0, 90_000), st.integers(0, 1000)), max_size=30))
@settings(max_examples=60)
def test_ranges_are_read_by_few_reads(ranges: list[tuple[int, int]]) -> None:
    data = np.random.default_rng(7).bytes(91_000)
    source = Counting(data)
    expected = [data[offset : offset + length] for offset, length in ranges]
    assert read_near(source, ranges) == expected
    assert len(source.reads) <= 91_000 // 4096 + 1
    far = Counting(data, far=True)
    assert read_near(far, ranges) == expected
    assert len(far.reads) <= 2
