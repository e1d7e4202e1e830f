"""What numpy, math.fsum and exact fractions say of an array, for the tests of the statistics."""

import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

from tvmdbg_widgets.model.statistics import Statistics
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.model.tensors.planes import ArrayValues
from tvmdbg_widgets.sources.byte_source import BytesSource

WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")
FLOATS = ("float16", "float32", "float64", "bfloat16")
SMALL = (
    *("float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz"),
    *("float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
    *("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn", "int4", "uint4", "int2", "uint2", "int1"),
)
NAMES = (*WHOLE, *FLOATS, *SMALL)


def values_of(data: bytes, name: str, reading: str = "bytes") -> ArrayValues:
    """Return stored bytes as values of a type."""
    dtype = DataType.parse(name)
    count = len(data) // dtype.itemsize
    if reading == "packed":
        count = len(data) * 8 // dtype.bits
    return ArrayValues(BytesSource(data), 0, len(data), dtype, (count,), reading)  # type: ignore[arg-type]


def decoded(data: bytes, name: str, reading: str = "bytes") -> np.ndarray[Any, Any]:
    """Decode the bytes with numpy and ml_dtypes alone."""
    bits = DataType.parse(name).bits
    if name == "bool":
        return np.frombuffer(data, np.uint8) != 0
    if bits >= 8:
        kind = np.dtype(getattr(ml_dtypes, name, name))
        return np.frombuffer(data[: len(data) // kind.itemsize * kind.itemsize], kind)
    if reading == "packed":
        number = int.from_bytes(data, "little")
        codes = [number >> bits * i & (1 << bits) - 1 for i in range(len(data) * 8 // bits)]
    else:
        codes = [byte & (1 << bits) - 1 for byte in data]
    return np.array(codes, np.uint8).view(getattr(ml_dtypes, name))


def limits(kind: np.dtype[Any]) -> tuple[Any, Any]:
    """Lowest and highest finite value of a type."""
    if kind.kind in "iu":
        return np.iinfo(kind).min, np.iinfo(kind).max
    info = ml_dtypes.iinfo(kind) if kind.name.startswith(("int", "uint")) else ml_dtypes.finfo(kind)
    return float(info.min), float(info.max)


def check(array: np.ndarray[Any, Any], found: Statistics) -> None:
    """Compare every field with numpy on the same data."""
    whole = array.dtype.kind in "iub" or array.dtype.name.startswith(("int", "uint"))
    exact = array.dtype.kind in "iu"
    with np.errstate(invalid="ignore"):
        wide = array if exact else array.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    assert found.applicable
    assert (found.size, found.finite) == (len(array), len(finite))
    assert found.nan == np.isnan(wide).sum()
    assert found.pos_inf == (wide == np.inf).sum()
    assert found.neg_inf == (wide == -np.inf).sum()
    assert found.zero == (wide == 0).sum()
    assert found.negative == (wide < 0).sum()
    assert found.first_nan == first(np.isnan(wide))
    assert found.first_pos_inf == first(wide == np.inf)
    assert found.first_neg_inf == first(wide == -np.inf)
    if whole:
        assert found.denormal == 0
    else:
        tiny = float(ml_dtypes.finfo(array.dtype).smallest_normal)
        assert found.denormal == ((np.abs(wide) < tiny) & (wide != 0)).sum()
    if array.dtype == np.bool_:
        assert found.at_lowest is found.at_highest is None
    else:
        low, high = limits(array.dtype)
        assert found.at_lowest == (wide == low).sum()
        assert found.at_highest == (wide == high).sum()
    if not len(finite):
        assert found.minimum is found.maximum is found.argmin is found.argmax is None
        assert math.isnan(found.mean)
        assert math.isnan(found.std)
        assert found.histogram is None
        assert found.distribution is None
        assert math.isnan(found.percentile(50).low)
        return
    assert found.minimum.dtype == found.maximum.dtype == array.dtype
    assert found.minimum == finite.min()
    assert found.maximum == finite.max()
    assert found.argmin == first(wide == finite.min())
    assert found.argmax == first(wide == finite.max())
    check_moments(finite, found)
    check_distribution(finite, found, few=array.dtype.itemsize <= 2)


def first(mask: np.ndarray[Any, Any]) -> int | None:
    """Position of the first that is true."""
    places = np.flatnonzero(mask)
    return int(places[0]) if len(places) else None


def check_moments(finite: np.ndarray[Any, Any], found: Statistics) -> None:
    """Compare mean and std with exact fractions."""
    items = [Fraction(each) for each in finite.tolist()]
    mean = sum(items) / len(items)
    if finite.dtype.kind in "iu":
        assert found.mean == int(sum(items)) / len(items), "integer sums are exact"
    magnitudes = float(sum(map(abs, items)) / len(items))
    assert abs(Fraction(found.mean) - mean) <= Fraction(1e-12) * Fraction(magnitudes)
    square = sum((each - mean) ** 2 for each in items) / len(items)
    bound = Fraction(1e-12) ** 2 * max(map(abs, items)) ** 2
    assert abs(Fraction(found.std) ** 2 - square) <= Fraction(3e-12) * square + bound


def check_distribution(finite: np.ndarray[Any, Any], found: Statistics, *, few: bool) -> None:
    """Each bin holds what lies between its bounds, and no value lies beside all."""
    spread = found.distribution
    low, high = spread.bounds()
    assert 0 < len(spread) <= 1 << 16
    assert (low <= high).all()
    assert (high[:-1] < low[1:]).all()
    assert (low[0], high[-1]) == (finite.min(), finite.max())
    assert spread.counts.dtype == np.int64
    ordered = np.sort(finite)
    counts = np.searchsorted(ordered, high, "right") - np.searchsorted(ordered, low, "left")
    assert spread.counts.tolist() == counts.tolist()
    assert counts.min() > 0
    assert counts.sum() == len(finite)
    if few:
        assert spread.exact


@st.composite
def some_bytes(draw: st.DrawFn, name: str, most: int = 300) -> bytes:
    """Bytes of up to so many values: any bits, many of a kind, or extremes of the type."""
    itemsize = DataType.parse(name).itemsize
    count = draw(st.integers(0, most))
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    if draw(st.booleans()):
        return random.bytes(count * itemsize)
    pool = [draw(st.binary(min_size=itemsize, max_size=itemsize)) for _ in range(3)]
    pool += [b"\0" * itemsize, b"\xff" * (itemsize - 1) + b"\x7f", b"\0" * (itemsize - 1) + b"\x80"]
    if name in ("float32", "float64"):
        special = [
            math.nan,
            math.inf,
            -math.inf,
            0.0,
            -0.0,
            1.0,
            -1.0,
            1e-40,
            3.4028234663852886e38,
        ]
        tiny = np.finfo(name).smallest_normal
        special += [tiny, -tiny, np.nextafter(tiny, 0), np.finfo(name).max]
        pool += [np.array(each, name).tobytes() for each in special]
    used = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=5))
    return b"".join(used[index] for index in random.integers(0, len(used), count))
