"""Layouts and their index maps against enumeration of all indices."""

import itertools
import math

import pytest
from hypothesis import given

from tests.unit.figures.layout_cases import stored
from tvmdbg_widgets.model.tensors.layouts import Layout


@pytest.mark.parametrize(
    ("text", "shape", "logical", "letters"),
    [
        ("NCHW", (1, 3, 4, 5), (1, 3, 4, 5), "NCHW"),
        ("NHWC", (1, 4, 5, 3), (1, 4, 5, 3), "NHWC"),
        ("NCHW8c", (1, 2, 4, 5, 8), (1, 16, 4, 5), "NCHW"),
        ("OIHW4i8o", (2, 3, 1, 1, 4, 8), (16, 12, 1, 1), "OIHW"),
        ("OIHW4i16o4i", (2, 3, 1, 1, 4, 16, 4), (32, 48, 1, 1), "OIHW"),
        ("NCHW4c2c", (1, 2, 4, 5, 4, 2), (1, 16, 4, 5), "NCHW"),
        ("C", (7,), (7,), "C"),
        ("NC", (2, 7), (2, 7), "NC"),
        ("C16c", (2, 16), (32,), "C"),
        ("8cC", (8, 2), (16,), "C"),
    ],
)
def test_tvm_layouts_are_parsed(text: str, shape: tuple, logical: tuple, letters: str) -> None:
    layout = Layout.parse(text)
    assert (layout.text, str(layout), layout.rank) == (text, text, len(shape))
    assert layout.letters == tuple(letters)
    assert layout.fits(shape)
    assert layout.logical_shape(shape) == logical
    assert layout.is_packed == (len(shape) > len(logical))
    assert layout == Layout.parse(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not a layout"),
        ("N-C", "not a layout"),
        ("NCHW8", "not a layout"),
        ("NCHW 8c", "not a layout"),
        ("N\u00c7HW", "not a layout"),
        ("NCHW\u0668c", "not a layout"),
        ("__undef__", "not a layout"),
        ("N" * 101, "at most 100 characters, found 101"),
        ("8NCHW", "8 is before N"),
        ("NCHWc", "c needs a size"),
        ("NCHW0c", "c needs a size"),
        ("NCHC", "C appears twice"),
        ("NHW8c", "split off C"),
        ("NC9999999999c", "too large"),
    ],
)
def test_invalid_layout_is_rejected_with_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Layout.parse(text)


def test_mismatched_shape_or_index_is_rejected_with_reason() -> None:
    layout = Layout.parse("NCHW8c")
    assert layout.misfit((1, 2, 3, 4, 8)) == ""
    assert "5 axes, the array has 4" in layout.misfit((1, 2, 3, 4))
    assert "8c of NCHW8c is axis 4, which has 4" in layout.misfit((1, 2, 3, 4, 4))
    assert not layout.fits((1, 2, 3, 4, 4))
    with pytest.raises(ValueError, match="which has 4"):
        layout.logical_shape((1, 2, 3, 4, 4))
    with pytest.raises(ValueError, match="index of 5 items"):
        layout.to_logical((0, 0))
    with pytest.raises(ValueError, match="index of 4 items"):
        layout.to_physical((0, 0))
    with pytest.raises(IndexError, match="8c"):
        layout.to_logical((0, 0, 0, 0, 8))
    with pytest.raises(IndexError, match="-1"):
        layout.to_logical((0, -1, 0, 0, 0))
    with pytest.raises(IndexError, match="-1 on axis C"):
        layout.to_physical((0, -1, 0, 0))


@given(stored())
def test_index_maps_are_inverse_and_onto(case: tuple[Layout, tuple[int, ...]]) -> None:
    layout, shape = case
    logical = layout.logical_shape(shape)
    assert math.prod(logical) == math.prod(shape)
    reached = set()
    for index in itertools.product(*map(range, shape)):
        found = layout.to_logical(index)
        assert all(0 <= at < size for at, size in zip(found, logical, strict=True))
        assert layout.to_physical(found) == index
        reached.add(found)
    assert len(reached) == math.prod(shape)


@given(stored())
def test_splits_of_one_axis_nest_left_to_right(case: tuple[Layout, tuple[int, ...]]) -> None:
    layout, _ = case
    for letter in layout.letters:
        sizes = [size for other, size in layout.axes if other == letter.lower()]
        assert layout.block(letter) == math.prod(sizes)
        index = [0] * layout.rank
        for axis, (other, _) in enumerate(layout.axes):
            index[axis] = int(other == letter)
        assert layout.to_logical(index)[layout.letters.index(letter)] == math.prod(sizes)


def test_named_sizes_reduce_logical_shape() -> None:
    layout = Layout.parse("NCHW8c")
    shape = (1, 2, 4, 4, 8)
    assert layout.named_sizes(shape, {}) == (1, 16, 4, 4)
    assert layout.named_sizes(shape, {"C": 12, "H": 4}) == (1, 12, 4, 4)
    for sizes, reason in [
        ({"c": 3}, "not an axis"),
        ({"C": 17}, "16 are stored"),
        ({"C": -1}, "-1"),
    ]:
        with pytest.raises(ValueError, match=reason):
            layout.named_sizes(shape, sizes)
