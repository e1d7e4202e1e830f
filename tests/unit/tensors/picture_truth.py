"""Arrays of every kind, and pictures of them worked out cell by cell."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

from tvmdbg_widgets.model.pictures import NAN, NEG_INF, POS_INF
from tvmdbg_widgets.model.tensors.dtypes import from_numpy
from tvmdbg_widgets.model.tensors.layouts import Layout
from tvmdbg_widgets.model.tensors.planes import ArrayValues, Plane
from tvmdbg_widgets.model.tensors.values import Unfolded
from tvmdbg_widgets.sources.byte_source import BytesSource

DTYPES = [
    *(np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)),
    *map(np.dtype, ("f2", "f4", "f8", "?")),
    *(
        np.dtype(getattr(ml_dtypes, name))
        for name in (
            *("bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn"),
            *("float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
            *("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn", "int4", "uint4", "int2"),
            "uint2",
        )
    ),
]
ODD = ("none", "one", "some", "row", "all")


@dataclass
class Held:
    """An array in memory, of any strides; counts what is read of it."""

    array: np.ndarray[Any, Any]
    read: int = 0

    @property
    def view_shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        return self.array.dtype

    def window(self, selection: Any) -> np.ndarray[Any, Any]:
        found = self.array[selection]
        self.read += found.size
        return np.asarray(found)


def filled(shape: tuple[int, ...], dtype: np.dtype[Any], seed: int, odd: str) -> Any:
    """Random bits for numbers without NaN; floats of some size, with NaN and Inf where wanted."""
    random = np.random.default_rng(seed)
    if dtype.kind in "iub" or dtype.name.startswith(("int", "uint")):
        low, high = (0, 2) if dtype.kind == "b" else (-9, 9)
        if dtype.name.startswith(("int2", "uint")):
            low, high = 0, 2
        if dtype.itemsize == 8 and seed % 3 == 0:
            return random.integers(0, 1 << 62, shape, dtype)
        return random.integers(low, high, shape).astype(dtype)
    values = random.normal(size=shape) * 10.0 ** random.integers(-2, 3)
    if dtype == np.float64 and seed % 2:
        values = _far(shape, random)
    where = {
        "none": np.zeros(shape, bool),
        "one": np.arange(math.prod(shape)).reshape(shape) == seed % max(1, math.prod(shape)),
        "some": random.random(shape) < 0.1,
        "row": np.broadcast_to(random.random(shape[-1:]) < 0.3, shape),
        "all": np.ones(shape, bool),
    }[odd]
    kinds = random.choice([np.nan, np.inf, -np.inf], shape)
    with np.errstate(all="ignore"):
        return np.asarray(np.where(where, kinds, values)).astype(dtype)


def _far(shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray[Any, Any]:
    """float64 beyond float32's magnitudes: all tiny, all huge, or of every size."""
    low, high = [(-323, -300), (300, 309), (-323, 309)][random.integers(3)]
    with np.errstate(over="ignore"):
        values = random.uniform(0.1, 10, shape) * 10.0 ** random.integers(low, high, shape)
    largest = np.finfo(np.float64).max
    values = np.minimum(values, largest)
    return values if random.integers(2) else values * random.choice([-1, 1], shape)


@st.composite
def arrays(draw: st.DrawFn, most: int = 14) -> tuple[Any, np.ndarray[Any, Any]]:
    """Values and the whole array that they are."""
    dtype, kind = (
        draw(st.sampled_from(DTYPES)),
        draw(st.sampled_from(["held", "stored", "unfolded"])),
    )
    seed, odd = draw(st.integers(0, 1 << 20)), draw(st.sampled_from(ODD))
    if kind == "unfolded":
        shape = (*draw(st.tuples(*[st.integers(1, 5)] * 4)), draw(st.sampled_from([2, 4, 8])))
        channels = shape[1] * shape[4]
        layout = Layout.parse(f"NCHW{shape[4]}c")
        stored = filled(shape, dtype, seed, odd)
        size = draw(st.integers(1, channels))
        whole = stored.transpose(0, 1, 4, 2, 3).reshape(shape[0], channels, *shape[2:4])[:, :size]
        return Unfolded(_stored(stored), layout, {"C": size}), whole
    shape = tuple(draw(st.lists(st.integers(1, most), min_size=0, max_size=4)))
    array = filled(shape, dtype, seed, odd)
    if kind == "stored":
        return _stored(array), array
    turned = draw(st.permutations(range(len(shape))))
    array = np.asarray(array).transpose(turned)[tuple(slice(None, None, -1) for _ in turned)]
    return Held(array), array


def _stored(array: np.ndarray[Any, Any]) -> ArrayValues:
    dtype = from_numpy(array.dtype)
    data = array.tobytes()
    return ArrayValues(BytesSource(data, "f"), 0, len(data), dtype, array.shape, "bytes")


def planes_of(draw: st.DrawFn, shape: tuple[int, ...]) -> Plane:
    """Draw any plane of an array."""
    order = draw(st.permutations(range(len(shape))))
    axes: tuple[int | None, int | None] = (None, None)
    if len(shape) > 1 and draw(st.integers(0, 3)):
        axes = (order[0], order[1])
    elif shape:
        axes = (None, order[0])
    return Plane.of(shape, axes, [draw(st.integers(0, size - 1)) for size in shape])


def whole_plane(array: np.ndarray[Any, Any], plane: Plane) -> np.ndarray[Any, Any]:
    """Return all values of a plane as float64."""
    part = np.asarray(array[plane.selection(slice(None), slice(None))])
    return plane.oriented(part).astype(np.float64)


def truth(cell: np.ndarray[Any, Any]) -> tuple[list[float], int]:
    """Return minimum, maximum and mean of the finite values, and the flags."""
    finite = cell[np.isfinite(cell)]
    special = (NAN, np.isnan(cell)), (POS_INF, cell == np.inf), (NEG_INF, cell == -np.inf)
    flags = sum(bit for bit, where in special if where.any())
    if not finite.size:
        return [math.nan] * 3, flags
    # Fractions are the only numbers that hold each such sum.
    mean = float(sum(map(Fraction, finite.tolist())) / finite.size)
    return [finite.min(), finite.max(), mean], flags


def check_cell(found: Any, at: int, cell: np.ndarray[Any, Any]) -> None:
    """Compare one cell with its values: bounds and flags to the bit, the mean within rounding."""
    (low, high, mean), flags = truth(cell)
    assert found.flags[at] == flags
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found.minimum[at], found.minimum.dtype.type(low))
        np.testing.assert_array_equal(found.maximum[at], found.minimum.dtype.type(high))
    finite = cell[np.isfinite(cell)]
    size = np.abs(finite).max() if finite.size else 0.0
    if size > np.finfo(np.float64).max / max(1, finite.size) and np.isnan(found.mean[at]):
        return  # the sum may be beyond float64
    wide = found.mean.dtype == np.float64
    rounding = {"rtol": 1e-13, "atol": 1e-13 * size + 5e-324} if wide else {"rtol": 1.3e-7}
    np.testing.assert_allclose(found.mean[at], mean, **({"atol": 1e-12 * size + 1e-45} | rounding))
    assert not np.signbit([found.minimum[at], found.maximum[at], found.mean[at]])[
        np.array([low, high, mean]) == 0
    ].any()
