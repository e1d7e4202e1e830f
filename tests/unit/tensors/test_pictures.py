"""Pictures, channels and profiles against every cell worked out alone."""

import threading
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.tensors.picture_truth import Held, arrays, check_cell, planes_of, whole_plane
from tvmdbg_widgets.model.pictures import (
    Picture,
    cells,
    channels,
    picture,
    profile,
    profiles,
    stack,
)
from tvmdbg_widgets.model.tensors.planes import Plane

CELLS = ("minimum", "maximum", "mean", "flags")


@contextmanager
def small_blocks(block: int, run: int = 1 << 16, threads_from: int = 1 << 22) -> Iterator[None]:
    """Let small arrays take the ways of large ones."""
    with ExitStack() as patches:
        for module in (stack, profiles):
            patches.enter_context(mock.patch.object(module, "BLOCK", block))
            patches.enter_context(mock.patch.object(module, "LARGE", threads_from))
        patches.enter_context(mock.patch.object(stack, "RUN", run))
        patches.enter_context(mock.patch.object(cells, "_MENDED", block))
        yield


@st.composite
def blocks(draw: st.DrawFn) -> Any:
    if draw(st.booleans()):
        return small_blocks(1 << 18)
    sizes = draw(st.integers(1, 60)), draw(st.integers(1, 9)), draw(st.integers(0, 300))
    return small_blocks(*sizes)


@st.composite
def parts(draw: st.DrawFn, plane: Plane) -> tuple[int, int, int, int] | None:
    if draw(st.booleans()):
        return None
    row, col = draw(st.integers(0, plane.rows - 1)), draw(st.integers(0, plane.cols - 1))
    height, width = st.integers(1, plane.rows - row), st.integers(1, plane.cols - col)
    return row, col, draw(height), draw(width)


def check_place(
    found: Picture, plane: Plane, part: Any, rows: int, cols: int, *, divisible: bool = False
) -> None:
    """The cells cover the part, lie on the grid of their steps, and are no more than asked."""
    row, col, height, width = part or (0, 0, plane.rows, plane.cols)
    for start, cell_count, step, first, length, size, most in (
        (found.row, found.rows, found.row_step, row, height, plane.rows, rows),
        (found.col, found.cols, found.col_step, col, width, plane.cols, cols),
    ):
        assert 1 <= cell_count <= most
        assert start % step == 0
        assert first - step < start <= first
        end = min(size, start + cell_count * step)
        assert first + length <= end < first + length + step
        # Steps of kept pictures above 16 are rounded up, so that they can be halved.
        if step > 1 and found.exact and not (divisible and step > 16):
            smaller = step - 1
            touched = -(-(first + length) // smaller) - first // smaller
            assert touched > most or -(-length // most) == step
    for name in CELLS:
        assert getattr(found, name).shape == (found.rows * found.cols,)


#: Of more cells only some are compared, one by one.
MOST_CHECKED = 400


def check_cells(found: Picture, whole: np.ndarray[Any, Any]) -> None:
    count = found.rows * found.cols
    for at in range(0, count, 1 + count // MOST_CHECKED):
        row, col = divmod(at, found.cols)
        top, left = found.row + row * found.row_step, found.col + col * found.col_step
        cell = whole[top : top + found.row_step, left : left + found.col_step]
        check_cell(found, at, cell)


@given(st.data())
def test_picture_cells_match_their_values(data: st.DataObject) -> None:
    values, array = data.draw(arrays())
    plane = planes_of(data.draw, array.shape)
    part = data.draw(parts(plane))
    rows, cols = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9))
    with data.draw(blocks()):
        found = picture(values, plane, rows, cols, part=part)
    assert found.exact
    check_place(found, plane, part, rows, cols)
    check_cells(found, whole_plane(array, plane))


@given(st.data())
def test_sampled_value_belongs_to_its_cell(data: st.DataObject) -> None:
    values, array = data.draw(arrays())
    plane = planes_of(data.draw, array.shape)
    part = data.draw(parts(plane))
    found = picture(values, plane, 4, 5, part=part, sample=True)
    assert not found.exact
    check_place(found, plane, part, 4, 5)
    whole = whole_plane(array, plane)
    count = found.rows * found.cols
    for at in range(0, count, 1 + count // MOST_CHECKED):
        row, col = divmod(at, found.cols)
        top, left = found.row + row * found.row_step, found.col + col * found.col_step
        cell = whole[top : top + found.row_step, left : left + found.col_step]
        value = found.mean[at]
        assert found.minimum[at].tobytes() == found.maximum[at].tobytes() == value.tobytes()
        if found.flags[at]:
            special = {1: np.isnan(cell), 2: cell == np.inf, 4: cell == -np.inf}
            assert special[int(found.flags[at])].any()
            assert np.isnan(value)
        else:
            with np.errstate(over="ignore"):
                assert value in cell.astype(value.dtype)


@given(st.data())
def test_a_transposed_plane_gives_the_transposed_picture(data: st.DataObject) -> None:
    values, array = data.draw(arrays())
    plane = planes_of(data.draw, array.shape)
    if None in plane.axes:
        return
    turned = replace(plane, axes=plane.axes[::-1])
    with data.draw(blocks()):
        one, other = picture(values, plane, 4, 3), picture(values, turned, 3, 4)
    for name in CELLS:
        straight = getattr(one, name).reshape(one.rows, one.cols)
        assert (
            straight.tobytes() == getattr(other, name).reshape(other.rows, other.cols).T.tobytes()
        )


@given(st.data())
def test_partial_picture_matches_cell_of_whole(data: st.DataObject) -> None:
    values, array = data.draw(arrays())
    plane = planes_of(data.draw, array.shape)
    whole = picture(values, plane, 4, 4)
    row, col = data.draw(st.integers(0, whole.rows - 1)), data.draw(st.integers(0, whole.cols - 1))
    top, left = row * whole.row_step, col * whole.col_step
    height, width = min(whole.row_step, plane.rows - top), min(whole.col_step, plane.cols - left)
    if height < whole.row_step or width < whole.col_step:
        return
    found = picture(values, plane, 1, 1, part=(top, left, height, width))
    assert (found.row, found.col, found.rows, found.cols) == (top, left, 1, 1)
    for name in CELLS:
        assert (
            getattr(found, name)[0].tobytes()
            == getattr(whole, name)[row * whole.cols + col].tobytes()
        )


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("shape", "block"), [((300, 7), 64), ((40, 900), 1 << 18), ((9, 2000), 50)]
)
def test_mean_is_summed_in_documented_order(
    shape: tuple[int, int], block: int, turned: bool
) -> None:
    random = np.random.default_rng(block)
    array = random.normal(size=shape) * 10.0 ** random.integers(-9, 9, shape)
    array[random.random(shape) < 0.01] = np.nan
    plane = Plane.of(shape, (1, 0) if turned else (0, 1), [0, 0])
    run = 100
    with small_blocks(block, run):
        found = (
            picture(Held(array), plane, 5, 3) if not turned else picture(Held(array), plane, 3, 5)
        )
    assert found.mean.dtype == np.float64
    rows, cols = -(-shape[0] // 5), -(-shape[1] // 3)
    for top in range(0, shape[0], rows):
        for left in range(0, shape[1], cols):
            cell = array[top : top + rows, left : left + cols]
            sums = []
            for col in range(cell.shape[1]):
                total = 0.0
                for value in cell[:, col].tolist():
                    total += value if np.isfinite(value) else 0.0
                sums.append(total)
            total = 0.0
            for at in range(0, len(sums), run):
                total += float(np.add.reduce(np.array(sums[at : at + run])))
            expected = total / np.isfinite(cell).sum()
            at = (top // rows) * -(-shape[1] // cols) + left // cols
            means = found.mean.reshape(found.rows, found.cols)
            assert (means.T if turned else means).ravel()[at] == expected


@given(st.data())
def test_channels_match_picture_of_every_index(data: st.DataObject) -> None:
    values, array = data.draw(arrays(most=9))
    plane = planes_of(data.draw, array.shape)
    others = [axis for axis in range(array.ndim) if axis not in plane.axes]
    if not others:
        return
    axis = data.draw(st.sampled_from(others))
    first = data.draw(st.integers(0, array.shape[axis] - 1))
    count = data.draw(st.integers(1, 9))
    rows, cols = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    with data.draw(blocks()):
        found = channels(values, plane, axis, first, count, rows, cols)
    assert found.count == min(count, array.shape[axis] - first)
    assert (found.axis, found.first, found.length) == (axis, first, array.shape[axis])
    for place in range(found.count):
        index = (*plane.index[:axis], first + place, *plane.index[axis + 1 :])
        one = picture(values, replace(plane, index=index), rows, cols)
        assert (one.rows, one.cols) == (found.rows, found.cols)
        assert (one.row_step, one.col_step) == (found.row_step, found.col_step)
        here = slice(place * one.rows * one.cols, (place + 1) * one.rows * one.cols)
        for name in CELLS:
            assert getattr(found, name)[here].tobytes() == getattr(one, name).tobytes()


@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
@pytest.mark.parametrize("share", [0.01, 0.9])
def test_signalling_nans_are_treated_as_quiet_nans(kind: str, share: float) -> None:
    random = np.random.default_rng(5)
    quiet = random.normal(size=(97, 101)).astype(kind)
    quiet[random.random(quiet.shape) < share] = np.nan
    words = quiet.copy().view(f"u{quiet.itemsize}")
    words[np.isnan(quiet)] -= (1 << np.finfo(quiet.dtype).nmant - 1) - 1
    signalling = Held(words.view(kind))
    plane = Plane.of(quiet.shape, (0, 1), [0, 0])
    with np.errstate(invalid="raise"):
        for sample in (False, True):
            one, other = (
                picture(each, plane, 7, 30, sample=sample) for each in (signalling, Held(quiet))
            )
            for name in CELLS:
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        for axis in (0, 1):
            for points in (1, 20, 101):
                mine, theirs = (profile(each, axis, points) for each in (signalling, Held(quiet)))
                for name in CELLS:
                    np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name))


@given(st.data())
def test_profile_reduces_all_other_axes(data: st.DataObject) -> None:
    values, array = data.draw(arrays())
    if not array.ndim:
        return
    axis, points = data.draw(st.integers(0, array.ndim - 1)), data.draw(st.integers(1, 20))
    with data.draw(blocks()):
        found = profile(values, axis, points)
    assert (found.axis, found.length) == (axis, array.shape[axis])
    assert found.step == -(-found.length // points)
    assert len(found.mean) == -(-found.length // found.step)
    whole = np.moveaxis(array, axis, 0).astype(np.float64)
    for at in range(len(found.mean)):
        check_cell(found, at, whole[at * found.step : (at + 1) * found.step])


@pytest.mark.parametrize(
    ("make", "read"),
    [
        (lambda held: channels(held, Plane.of((64, 48, 32), (0, 1), [0] * 3), 2, 0, 32, 9, 9), 1.0),
        (
            lambda held: channels(held, Plane.of((64, 48, 32), (1, 2), [0] * 3), 0, 5, 4, 9, 9),
            1 / 16,
        ),
        (lambda held: profile(held, 1, 10), 1.0),
        (lambda held: picture(held, Plane.of((64, 48, 32), (2, 0), [0, 7, 0]), 9, 9), 1 / 48),
    ],
)
def test_needed_values_are_read_once(make: Any, read: float) -> None:
    held = Held(np.zeros((64, 48, 32), np.float32))
    with small_blocks(1000):
        make(held)
    assert held.read == held.array.size * read


def test_partial_picture_reads_little_more_than_its_part() -> None:
    held = Held(np.zeros((2000, 3000), np.float32))
    picture(held, Plane.of((2000, 3000), (0, 1), [0, 0]), 50, 60, part=(100, 200, 500, 600))
    assert held.read <= 510 * 610


@pytest.mark.parametrize("threads_from", [0, 1 << 62])
def test_watch_stops_between_blocks(threads_from: int) -> None:
    class Slow(Held):
        def window(self, selection: Any) -> np.ndarray[Any, Any]:
            time.sleep(0.001)
            return super().window(selection)

    held = Slow(np.zeros((4096, 256), np.float32))
    plane = Plane.of(held.array.shape, (0, 1), [0, 0])
    asked = 0

    def watch() -> None:
        nonlocal asked
        asked += 1
        if asked == 5:
            raise TimeoutError

    before = threading.active_count()
    for make in (
        lambda: picture(held, plane, 64, 64, watch=watch),
        lambda: profile(held, 0, 64, watch=watch),
    ):
        asked = held.read = 0
        with small_blocks(4096, threads_from=threads_from), pytest.raises(TimeoutError):
            make()
        assert held.read < held.array.size
        assert threading.active_count() == before


def test_worker_thread_error_is_raised_in_caller() -> None:
    class Broken(Held):
        def window(self, selection: Any) -> np.ndarray[Any, Any]:
            if threading.current_thread() is not threading.main_thread():
                raise OSError("gone")
            return super().window(selection)

    held = Broken(np.zeros((4096, 256), np.float32))
    plane = Plane.of(held.array.shape, (0, 1), [0, 0])
    with (
        small_blocks(256, threads_from=0),
        mock.patch("tvmdbg_widgets.model.pictures.stack._THREADS", 3),
        pytest.raises(OSError, match="gone"),
    ):
        picture(held, plane, 64, 64)


@pytest.mark.parametrize(
    "shape", [(8_000_000,), (1, 8_000_000), (8_000_000, 1), (2, 4_000_000), (1_000_000, 8)]
)
@pytest.mark.parametrize("cells", [(64, 64), (1, 1)])
def test_a_picture_of_a_long_array_takes_bounded_memory(
    shape: tuple[int, ...], cells: tuple[int, int]
) -> None:
    array = np.zeros(shape, np.uint8)
    axes = (None, 0) if len(shape) == 1 else (0, 1)
    plane = Plane.of(shape, axes, [0] * len(shape))
    tracemalloc.start()
    try:
        found = picture(Held(array), plane, *cells)
        assert tracemalloc.get_traced_memory()[1] < 32_000_000
    finally:
        tracemalloc.stop()
    assert not found.maximum.any()


def test_complex_values_have_no_picture() -> None:
    held = Held(np.zeros((3, 4), np.complex64))
    with pytest.raises(TypeError, match="magnitude"):
        picture(held, Plane.of((3, 4), (0, 1), [0, 0]), 2, 2)
    with pytest.raises(TypeError, match="magnitude"):
        profile(held, 0, 2)


@pytest.mark.parametrize(
    ("part", "cells"),
    [
        ((0, 0, 0, 1), (1, 1)),
        ((2, 0, 2, 1), (1, 1)),
        ((-1, 0, 2, 1), (1, 1)),
        ((0, 0, 1, 5), (1, 1)),
        (None, (0, 1)),
        (None, (1, 0)),
    ],
)
def test_invalid_part_or_cell_count_is_refused(part: Any, cells: tuple[int, int]) -> None:
    held = Held(np.zeros((3, 4)))
    with pytest.raises(ValueError, match=r"cell|axis"):
        picture(held, Plane.of((3, 4), (0, 1), [0, 0]), *cells, part=part)


def test_invalid_channels_and_profiles_are_refused() -> None:
    held, plane = Held(np.zeros((3, 4, 5))), Plane.of((3, 4, 5), (0, 1), [0, 0, 0])
    for axis, first, count in ((1, 0, 1), (3, 0, 1), (2, 5, 1), (2, 0, 0)):
        with pytest.raises(ValueError, match=r"axis"):
            channels(held, plane, axis, first, count, 2, 2)
    for axis, points in ((3, 1), (-1, 1), (0, 0)):
        with pytest.raises(ValueError, match=r"axis"):
            profile(held, axis, points)
    with pytest.raises(ValueError, match=r"axis"):
        profile(Held(np.zeros((0, 4))), 1, 2)
