"""Steps between floating-point values against all codes of a type in order, and against numpy."""

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.model.base import number_text
from tvmdbg_widgets.model.tensors.dtypes import _SMALL_FLOATS

SMALL = sorted({*_SMALL_FLOATS.values(), "bfloat16", "float16"})
NUMPY = ["float16", "float32", "float64"]
WITHOUT_INFINITY = {name for name in SMALL if "fn" in name}
WITHOUT_NAN = {name for name in SMALL if name.startswith(("float6_", "float4_"))}


def named(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def every(name: str) -> np.ndarray:
    """All values of a type, by code."""
    dtype = named(name)
    return np.arange(1 << number_text.width(dtype), dtype=f"u{dtype.itemsize}").view(dtype)


def real(values: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return values.astype(np.float64)


@pytest.mark.parametrize("name", SMALL)
def test_keys_are_ranks_among_all_values(name: str) -> None:
    values = every(name)
    wide = real(values)
    keys = number_text.ordered(values)
    nan = np.isnan(wide)
    assert keys.dtype == np.int64
    assert set(keys[nan].tolist()) <= {number_text.NAN_KEY}
    assert keys[~nan].max() < number_text.NAN_KEY
    ranks = np.searchsorted(np.unique(wide[~nan]), wide[~nan])
    origin = keys[~nan][np.argmin(ranks)]
    assert np.array_equal(keys[~nan] - origin, ranks)
    assert (keys[wide == 0] == 0).all()
    assert bool(np.isinf(wide).any()) == (name not in WITHOUT_INFINITY)
    assert bool(nan.any()) == (name not in WITHOUT_NAN)


@pytest.mark.parametrize("name", SMALL)
def test_spacing_is_the_gap_to_the_next_value_away_from_zero(name: str) -> None:
    values = every(name)
    wide = real(values)
    found = number_text.spacing(values)
    assert found.dtype == np.float64
    assert np.array_equal(np.isnan(found), ~np.isfinite(wide))
    finite = np.unique(np.abs(wide[np.isfinite(wide)]))
    gaps = np.append(np.diff(finite), finite[-1] - finite[-2])
    if name == "float8_e8m0fnu":
        gaps[-1] = finite[-1]  # all gaps double here, the one beyond the last value too
    ranks = np.searchsorted(finite, np.abs(wide[np.isfinite(wide)]))
    assert np.array_equal(found[np.isfinite(wide)], gaps[ranks])


def patterns(name: str) -> st.SearchStrategy[np.ndarray]:
    """Arrays of any bits of a type, the special ones often."""
    width = named(name).itemsize * 8
    sign = 1 << (width - 1)
    mantissa = number_text.fields(named(name))[2]
    infinity = sign - (1 << mantissa)
    near = [0, 1, 2, 1 << mantissa, (1 << mantissa) - 1, infinity, infinity - 1, infinity + 1]
    one = st.sampled_from([*near, *(each | sign for each in near)]) | st.integers(
        0, (1 << width) - 1
    )
    return st.lists(one, min_size=1, max_size=40).map(
        lambda codes: np.array(codes, f"u{width // 8}").view(name)
    )


@given(st.data(), st.sampled_from(NUMPY))
def test_spacing_matches_numpy(data: st.DataObject, name: str) -> None:
    x = data.draw(patterns(name))
    with np.errstate(all="ignore"):
        expected = np.abs(np.spacing(x)).astype(np.float64)
    largest = np.abs(x) == np.finfo(name).max
    expected[largest] = math.ldexp(1.0, np.finfo(name).maxexp - 1 - np.finfo(name).nmant)
    assert np.array_equal(number_text.spacing(x), expected, equal_nan=True)


@given(st.data(), st.sampled_from(NUMPY))
def test_keys_sort_in_the_order_of_values(data: st.DataObject, name: str) -> None:
    x = data.draw(patterns(name))
    y = np.resize(data.draw(patterns(name)), x.shape)
    known = ~(np.isnan(x) | np.isnan(y))
    keys, others = number_text.ordered(x), number_text.ordered(y)
    assert np.array_equal((keys < others)[known], (x < y)[known])
    assert np.array_equal((keys == others)[known], (x == y)[known])
    steps = [abs(int(a) - int(b)) for a, b in zip(keys[known], others[known], strict=True)]
    assert number_text.distance(x, y)[known].tolist() == steps
    assert (number_text.distance(x, y)[~known] == number_text.NO_DISTANCE).all()


@given(st.data())
def test_integers_differ_by_their_difference(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["int8", "uint8", "int32", "uint32", "int64", "uint64"]))
    info = np.iinfo(name)
    number = st.sampled_from([info.min, info.max, 0, 1]) | st.integers(info.min, info.max)
    a, b = (data.draw(st.lists(number, min_size=5, max_size=5)) for _ in range(2))
    x, y = np.array(a, name), np.array(b, name)
    assert number_text.distance(x, y).tolist() == [abs(i - j) for i, j in zip(a, b, strict=True)]
    assert number_text.spacing(x).tolist() == [1.0] * 5
    assert number_text.ordered(x).tolist() == a


def test_the_widest_distances_fit() -> None:
    for low, high in [
        (np.int64(-(2**63)), np.int64(2**63 - 1)),
        (np.uint64(0), np.uint64(-1 % 2**64)),
    ]:
        assert (
            int(number_text.distance(low, high))
            == int(number_text.distance(high, low))
            == 2**64 - 1
        )
    ends = np.array([-np.inf, np.inf])
    assert int(number_text.distance(*ends)) == 2 * 0x7FF0_0000_0000_0000 < number_text.NO_DISTANCE


def test_small_integers_and_bools() -> None:
    four = np.arange(-8, 8).astype(ml_dtypes.int4)
    assert number_text.ordered(four).tolist() == list(range(-8, 8))
    assert number_text.distance(four, four[::-1]).tolist() == [abs(2 * n + 1) for n in range(-8, 8)]
    assert number_text.distance(np.array([True, False]), np.array([True, True])).tolist() == [0, 1]


def test_unordered_or_mixed_types_are_refused() -> None:
    with pytest.raises(TypeError, match="no order"):
        number_text.ordered(np.zeros(1, np.complex64))
    with pytest.raises(TypeError, match="one type"):
        number_text.distance(np.float32(1), np.float64(1))
    with pytest.raises(TypeError, match="no type of numbers"):
        number_text.ordered(np.array(["a"]))


def test_shapes_broadcast_and_scalars_stay_scalars() -> None:
    grid = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert number_text.distance(grid, np.float32(0)).shape == (2, 3)
    assert number_text.ordered(np.float32(1)).shape == ()
    assert int(number_text.distance(np.float32(-0.0), np.float32(0.0))) == 0
    assert np.array_equal(number_text.ordered(grid.astype(">f4")), number_text.ordered(grid))
    assert np.array_equal(number_text.ordered(grid.T), number_text.ordered(grid).T)


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize <= 8, reason="long double is float64 here")
def test_long_doubles_are_refused() -> None:
    for ask in (
        number_text.ordered,
        number_text.spacing,
        number_text.hex_text,
        number_text.bit_text,
    ):
        with pytest.raises(TypeError, match="no type of numbers"):
            ask(np.longdouble(1))
