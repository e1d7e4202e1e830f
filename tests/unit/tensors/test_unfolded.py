"""Logical views against numpy's transpose and reshape of the whole array."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.counted_source import CountedSource
from tests.unit.figures.layout_cases import stored
from tvmdbg_widgets.model.tensors.dtypes import DataType, from_numpy
from tvmdbg_widgets.model.tensors.layouts import Layout
from tvmdbg_widgets.model.tensors.tensors import ArrayRecord, Tensor
from tvmdbg_widgets.sources.byte_source import BytesSource


def tensor(array: np.ndarray) -> Tensor:
    data = CountedSource(array.tobytes(), "f")
    record = ArrayRecord("k", from_numpy(array.dtype), array.shape, array.nbytes, 0, data)
    return Tensor(record, 4, 0, name="conv")


def whole(array: np.ndarray, text: str) -> np.ndarray:
    """The logical array, by numpy alone."""
    layout = Layout.parse(text)
    order: list[int] = []
    shape: list[int] = []
    for letter in layout.letters:
        mine = [at for at, (other, _) in enumerate(layout.axes) if other == letter]
        mine += [at for at, (other, _) in enumerate(layout.axes) if other == letter.lower()]
        order += mine
        shape.append(int(np.prod([array.shape[axis] for axis in mine])))
    return array.transpose(order).reshape(shape)


@st.composite
def selections(draw: st.DrawFn, shape: tuple[int, ...]) -> object:
    items: list[object] = []
    for length in shape[: draw(st.integers(0, len(shape)))]:
        if length and draw(st.booleans()):
            items.append(draw(st.integers(-length, length - 1)))
        else:
            ends = st.none() | st.integers(-length - 1, length + 1)
            items.append(slice(draw(ends), draw(ends), draw(st.none() | st.integers(1, 30))))
    return (*items, ...) if draw(st.booleans()) else tuple(items)


@settings(max_examples=100)
@given(st.data(), stored())
def test_windows_match_whole_array(
    data: st.DataObject, case: tuple[Layout, tuple[int, ...]]
) -> None:
    layout, shape = case
    array = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)
    expected = whole(array, layout.text)
    sizes = {
        letter: data.draw(st.integers(0, size))
        for letter, size in zip(layout.letters, expected.shape, strict=True)
        if data.draw(st.booleans())
    }
    shown = tensor(array).unfold(layout, sizes)
    kept = tuple(
        slice(sizes.get(letter, size))
        for letter, size in zip(layout.letters, expected.shape, strict=True)
    )
    expected = expected[kept]
    assert shown.shape == shown.view_shape == expected.shape
    assert np.array_equal(shown.numpy(), expected)
    for _ in range(4):
        selection = data.draw(selections(expected.shape))
        found = shown[selection]
        assert found.shape == expected[selection].shape
        assert found.dtype == array.dtype
        assert np.array_equal(found, expected[selection])


@given(st.data())
def test_long_axes_with_several_splits(data: st.DataObject) -> None:
    text, shape = data.draw(
        st.sampled_from([("C4c3c", (9, 4, 3)), ("C8c", (20, 8)), ("6cC2c", (6, 8, 2))])
    )
    array = np.arange(int(np.prod(shape)), dtype=np.int16).reshape(shape)
    expected = whole(array, text)
    shown = tensor(array).unfold(text)
    start = data.draw(st.integers(0, len(expected) - 1))
    stop = data.draw(st.integers(start + 1, len(expected)))
    step = data.draw(st.integers(1, 60))
    assert np.array_equal(shown[start:stop:step], expected[start:stop:step])


@given(stored())
def test_logical_and_physical_indices_round_trip(case: tuple[Layout, tuple[int, ...]]) -> None:
    layout, shape = case
    array = np.arange(int(np.prod(shape))).reshape(shape)
    sizes = {layout.letters[0]: 1}
    shown = tensor(array).unfold(layout, sizes)
    logical = shown.numpy()
    for index in np.ndindex(*shown.shape):
        at = shown.physical(index)
        assert array[at] == logical[index]
        assert shown.logical(at) == index
    hidden = [at for at in np.ndindex(*shape) if shown.logical(at) is None]
    assert len(hidden) == array.size - logical.size
    with pytest.raises(IndexError, match="which has 1"):
        shown.physical((1, *(0 for _ in shown.shape[1:])))
    outside = [0] * layout.rank
    first = layout.parts[0][0]
    outside[first] = shape[first]
    with pytest.raises(IndexError):
        shown.logical(outside)


def test_a_window_reads_little_more_than_it_returns() -> None:
    array = np.zeros((1, 64, 50, 50, 16), np.float32)  # 10 MB
    t = tensor(array)
    shown = t.unfold("NCHW16c")
    source = t.record.source
    assert shown[0, 3].shape == (50, 50)
    assert source.taken <= 50 * 50 * 16 * 4
    source.taken = 0
    assert shown[0, 30:40, 7].shape == (10, 50)
    assert source.taken <= 2 * 50 * 16 * 4
    source.taken = 0
    assert shown[0, ::16].shape == (64, 50, 50)
    assert source.taken <= array.nbytes
    source.taken = 0
    assert shown[0, :, 7, 7].shape == (1024,)
    assert source.taken <= 64 * 16 * 4
    tracemalloc.start()
    try:
        for channel in range(0, 1024, 100):
            shown[0, channel]
        shown[0, 5::7, 3, ::7]
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_unfolded_repr_attributes_and_numpy_protocol() -> None:
    array = np.arange(2 * 2 * 8, dtype=np.float32).reshape(2, 2, 8)
    shown = tensor(array).unfold("NC8c", {"C": 12})
    assert shown.axis_names == ("N", "C")
    assert (shown.layout.text, shown.numpy_dtype) == ("NC8c", np.float32)
    assert np.array_equal(np.asarray(shown), array.reshape(2, 16)[:, :12])
    assert np.asarray(shown, dtype=np.float64).dtype == np.float64
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        with pytest.raises(ValueError, match="copy"):
            np.array(shown, copy=False)
    assert repr(shown) == "Unfolded(N 2, C 12; stored as NC8c [2, 2, 8]; hides 4 of 16 C)"
    assert repr(tensor(array).unfold("NC8c")) == "Unfolded(N 2, C 16; stored as NC8c [2, 2, 8])"


def test_misfit_layout_or_selection_is_rejected() -> None:
    t = tensor(np.zeros((2, 2, 4), np.float32))
    for layout, sizes, reason in [
        ("NC8c", None, "which has 4"),
        ("NCHW", None, "has 4 axes, the array has 3"),
        ("NC4x", None, "split off X"),
        ("NC4c", {"C": 9}, "8 are stored"),
        ("NC4c", {"W": 1}, "not an axis of NC4c; it has N, C"),
        ("NC4c", {"C": 2.5}, "not an integer"),
    ]:
        with pytest.raises(ValueError, match=reason):
            t.unfold(layout, sizes)
    shown = t.unfold("NC4c")
    with pytest.raises(IndexError):
        shown[2]
    with pytest.raises(ValueError, match="backwards"):
        shown[::-1]
    with pytest.raises(TypeError):
        shown["C"]


def test_unfold_supports_readings() -> None:
    data = BytesSource(bytes(range(16)), "f")
    four = Tensor(ArrayRecord("k", DataType(0, 4), (2, 8), 16, 0, data), 0, 0, name="w")
    packed = four.unfold("C8c")
    assert np.array_equal(packed.numpy().astype(int), four.numpy().astype(int).reshape(16))
    one = four.unfold("C8c", reading="bytes")
    assert one.numpy().astype(int).tolist() == [*range(8), *range(-8, 0)]
    odd = Tensor(ArrayRecord("k", DataType(6, 8), (2, 8), 16, 0, data), 0, 0, name="b").unfold(
        "C8c"
    )
    assert odd.numpy().tolist() == [False] + [True] * 15
    assert odd.codes.numpy().tolist() == list(range(16))
    assert odd.codes.window(slice(3, 5)).dtype == np.uint8
