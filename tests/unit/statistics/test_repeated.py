"""Statistics of views that repeat the elements of a storage, against those of the whole array."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.model.statistics.batch import ArrayPasses, statistics
from tvmdbg_widgets.model.statistics.contrast import contrast
from tvmdbg_widgets.model.statistics.passes import TimedPasses, Watched
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.model.tensors.planes import ArrayValues
from tvmdbg_widgets.sources import strided
from tvmdbg_widgets.sources.byte_source import BytesSource
from tvmdbg_widgets.sources.strided import StridedSource

DTYPES = ("float32", "float64", "float16", "bfloat16", "int32", "uint64", "int8", "uint8", "bool")
SPECIAL = (0.0, -0.0, math.nan, math.inf, -math.inf, 1e-40, 3.4e38)


@pytest.fixture(autouse=True)
def _small_ones_are_asked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strided, "_LARGE", 1)
    monkeypatch.setattr(strided, "_OFTEN", 1)


@st.composite
def views(draw: st.DrawFn) -> tuple[ArrayValues, np.ndarray[Any, Any]]:
    """A view of a storage: broadcast, overlapping, turned, or with gaps; and the array it is."""
    shape = tuple(draw(st.lists(st.integers(1, 6), max_size=4)))
    strides = tuple(draw(st.sampled_from([0, 0, 1, 1, 2, 3, 7, 11])) for _ in shape)
    dtype = DataType.parse(draw(st.sampled_from(DTYPES)))
    span = 1 + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    offset, behind = draw(st.integers(0, 3)), draw(st.integers(0, 2))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = dtype.numpy_dtype
    numbers = random.integers(0, draw(st.sampled_from([2, 5, 100])), offset + span + behind)
    with np.errstate(over="ignore"):
        stored = numbers.astype(kind)
        if dtype.name.startswith(("float", "bfloat")):
            for at in range(0, len(stored), 3):
                stored[at] = SPECIAL[random.integers(len(SPECIAL))]
    source = StridedSource(
        BytesSource(stored.tobytes()), offset * kind.itemsize, shape, strides, kind.itemsize
    )
    whole = np.lib.stride_tricks.as_strided(
        stored[offset:], shape, [step * kind.itemsize for step in strides]
    )
    return ArrayValues(source, 0, source.size, dtype, shape, "bytes"), np.ascontiguousarray(whole)


def over_all(values: ArrayValues, whole: np.ndarray[Any, Any]) -> ArrayValues:
    """The same values, each stored."""
    return dataclasses.replace(values, source=BytesSource(whole.tobytes()))


@given(views(), st.data())
def test_strided_reads_match_c_order_bytes(
    view: tuple[ArrayValues, np.ndarray[Any, Any]], data: st.DataObject
) -> None:
    values, whole = view
    begin = data.draw(st.integers(0, values.nbytes))
    end = data.draw(st.integers(begin, values.nbytes))
    assert values.source.read(begin, end - begin) == whole.tobytes()[begin:end]


@given(views())
def test_statistics_of_repeated_values_match_the_whole_array(
    view: tuple[ArrayValues, np.ndarray[Any, Any]],
) -> None:
    values, whole = view
    plain = over_all(values, whole)
    found, expected = statistics(values, bins=7), statistics(plain, bins=7)
    for each in dataclasses.fields(found):
        own, other = getattr(found, each.name), getattr(expected, each.name)
        if each.name == "distribution":
            assert (own is None) == (other is None)
            if own is not None:
                assert own.counts.tolist() == other.counts.tolist()
                assert [b.tolist() for b in own.bounds()] == [b.tolist() for b in other.bounds()]
        elif each.name == "histogram":
            assert (own is None) == (other is None)
            if own is not None:
                assert own.counts.tolist() == other.counts.tolist()
                assert own.edges.tolist() == other.edges.tolist()
        elif each.name in ("mean", "std"):
            assert own == pytest.approx(other, rel=1e-12, abs=1e-300, nan_ok=True)
        else:
            np.testing.assert_array_equal(own, other, err_msg=each.name)
    sliced = TimedPasses(values).go_on(60)
    assert sliced.size == expected.size
    percents = [0, 3, 50, 77, 100]
    ranks = [
        ArrayPasses.over(each).percentiles(expected, percents, Watched())
        for each in (values, plain)
    ]
    np.testing.assert_array_equal(*ranks)
    spans = [contrast(expected, ArrayPasses.over(each), Watched()) for each in (values, plain)]
    assert repr(spans[0]) == repr(spans[1])


@given(views())
def test_repeat_counts_match_numpy_unique(view: tuple[ArrayValues, np.ndarray[Any, Any]]) -> None:
    values, _ = view
    source = values.source
    assert isinstance(source, StridedSource)
    repeats = source.repeats
    if repeats is None:
        return
    at = sum(
        np.multiply.outer(
            np.arange(n) * step, np.ones(math.prod(source.shape[axis + 1 :]), int)
        ).reshape([1] * axis + [n, *source.shape[axis + 1 :]])
        for axis, (n, step) in enumerate(zip(source.shape, source.strides, strict=True))
    )
    flat = np.broadcast_to(at, source.shape).reshape(-1)
    places, first, often = np.unique(flat, return_index=True, return_counts=True)
    order = np.argsort(first)
    assert repeats.places.tolist() == places[order].tolist()
    assert repeats.first.tolist() == first[order].tolist()
    assert repeats.often.tolist() == often[order].tolist()


def test_broadcast_element_is_read_once() -> None:
    read = 0

    class Counting(BytesSource):
        def _fill(self, offset: int, view: memoryview) -> None:
            nonlocal read
            read += len(view)
            super()._fill(offset, view)

    stored = Counting(np.float32(2.5).tobytes())
    shape = (1 << 20, 1 << 20, 3)
    source = StridedSource(stored, 0, shape, (0, 0, 0), 4)
    values = ArrayValues(source, 0, source.size, DataType.parse("float32"), shape, "bytes")
    found = statistics(values)
    assert (found.size, found.finite, found.mean, found.std) == (3 << 40, 3 << 40, 2.5, 0.0)
    assert found.argmin == found.argmax == 0
    assert read == 4
