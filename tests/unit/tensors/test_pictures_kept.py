"""Pictures that are kept, and those made of others, against the values."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.tensors.picture_truth import Held, arrays, planes_of, whole_plane
from tests.unit.tensors.test_pictures import CELLS, check_cells, check_place, parts, small_blocks
from tvmdbg_widgets.model.pictures import Picture, Pictures, picture, single
from tvmdbg_widgets.model.pictures.stack import CellSpan
from tvmdbg_widgets.model.tensors.planes import Plane


@contextmanager
def nothing_quick(most: int = 0) -> Iterator[None]:
    """Let small arrays count as large ones."""
    with mock.patch.object(single, "_QUICK", most), small_blocks(300):
        yield


def same(one: Picture, other: Picture) -> bool:
    """Whether all cells are the same, the means but for the order of their sums."""
    place = ("row", "col", "rows", "cols", "row_step", "col_step", "exact")
    if any(getattr(one, name) != getattr(other, name) for name in place):
        return False
    exact = all(
        getattr(one, name).tobytes() == getattr(other, name).tobytes()
        for name in CELLS
        if name != "mean"
    )
    return exact and np.allclose(one.mean, other.mean, rtol=2e-7, atol=1e-12, equal_nan=True)


@given(st.data())
def test_kept_pictures_match_values(data: st.DataObject) -> None:
    values, array = data.draw(arrays())
    kept = Pictures(data.draw(st.sampled_from([0, 2000, 1 << 20])))
    for _ in range(6):
        plane = planes_of(data.draw, array.shape)
        part = data.draw(parts(plane))
        rows, cols = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9))
        with nothing_quick(data.draw(st.sampled_from([0, 100, 1 << 20]))):
            found = kept.get("a", values, plane, rows, cols, part)
        assert found.exact
        check_place(found, plane, part, rows, cols, divisible=True)
        check_cells(found, whole_plane(array, plane))


PLANE = Plane.of((640, 960), (0, 1), [0, 0])


def held(seed: int = 0) -> Held:
    array = np.random.default_rng(seed).normal(size=PLANE.shape).astype(np.float32)
    array[5, 7] = np.nan
    array[600:, 900:] = -np.inf
    return Held(array)


def test_larger_cells_and_parts_come_from_cache_without_reads() -> None:
    kept, values = Pictures(), held()
    with nothing_quick():
        kept.get("a", values, PLANE, 40, 40)
        values.read = 0
        asked = [
            (40, 40, None),
            (20, 20, None),
            (27, 10, None),
            (1, 1, None),
            (80, 120, None),
            (10, 10, (100, 300, 240, 240)),
        ]
        found = [kept.get("a", values, PLANE, *each) for each in asked]
        assert values.read == 0
        turned = Plane.of(PLANE.shape, (1, 0), [0, 0])
        across = kept.get("a", values, turned, 40, 40)
        assert values.read == 0
    for shown, (_, _, part) in zip(found, asked, strict=True):
        place = part or (0, 0, *PLANE.shape)
        direct = picture(values, PLANE, shown.rows, shown.cols, part=place)
        if (direct.row_step, direct.col_step) == (shown.row_step, shown.col_step):
            assert same(shown, direct)
        check_cells(shown, values.array.astype(np.float64))
    for name in CELLS:
        one = getattr(found[0], name).reshape(found[0].rows, found[0].cols)
        assert one.T.tobytes() == getattr(across, name).tobytes()


def test_a_large_part_is_sampled_until_its_cells_are_known() -> None:
    kept, values = Pictures(), held()
    with nothing_quick():
        first = kept.get("a", values, PLANE, 30, 30, exact=False)
        assert not first.exact
        assert values.read == first.rows * first.cols
        exact = kept.get("a", values, PLANE, 30, 30)
        again = kept.get("a", values, PLANE, 30, 30, exact=False)
    assert (first.row_step, first.col_step) == (exact.row_step, exact.col_step)
    assert same(exact, again)
    small = kept.get("a", values, PLANE, 9, 9, (0, 0, 30, 30), exact=False)
    assert small.exact


def test_kept_pictures_are_keyed_by_array_plane_and_index() -> None:
    array = np.arange(4 * 6 * 8, dtype=np.float32).reshape(4, 6, 8)
    kept = Pictures()
    seen = set()
    for key in ("a", "b"):
        values = Held(array if key == "a" else -array)
        for axes in ((0, 1), (1, 0), (1, 2), (0, 2), (None, 1)):
            for index in ([0, 0, 0], [1, 1, 1]):
                plane = Plane.of(array.shape, axes, index)
                found = kept.get(key, values, plane, 3, 3)
                assert same(found, picture(values, plane, 3, 3))
                seen.add(found.mean.tobytes())
    assert len(seen) == 20


def test_no_more_bytes_are_kept_than_allowed() -> None:
    kept, values = Pictures(100_000), held()
    for at in range(30):
        kept.get(at, values, PLANE, 30, 30)
        assert 0 < kept.nbytes <= 100_000
    values.read = 0
    kept.get(29, values, PLANE, 30, 30)
    assert values.read == 0
    kept.get(0, values, PLANE, 30, 30)
    assert values.read == values.array.size
    kept.clear()
    assert kept.nbytes == 0
    kept.get(0, values, PLANE, 640, 960)
    assert kept.nbytes == 0


def test_most_recently_used_picture_is_kept() -> None:
    kept, values = Pictures(50_000), held()
    kept.get("first", values, PLANE, 30, 30)
    for at in range(20):
        kept.get(at, values, PLANE, 30, 30)
        kept.get("first", values, PLANE, 30, 30)
    values.read = 0
    kept.get("first", values, PLANE, 30, 30)
    assert values.read == 0


def test_interrupted_picture_caches_nothing() -> None:
    kept, values = Pictures(), held()

    def watch() -> None:
        raise TimeoutError

    with nothing_quick(), pytest.raises(TimeoutError):
        kept.get("a", values, PLANE, 30, 30, watch=watch)
    assert kept.nbytes == 0


def test_several_threads_get_the_same_pictures() -> None:
    kept, values = Pictures(60_000), held()
    direct = {rows: picture(values, PLANE, rows, rows) for rows in range(10, 30)}
    start = threading.Barrier(4)

    def ask(_: int) -> bool:
        start.wait()
        return all(
            same(kept.get("a", values, PLANE, rows, rows), direct[rows])
            for _ in range(2)
            for rows in direct
        )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(ask, range(4)))
    assert kept.nbytes <= 60_000


@given(st.integers(1, 200_000), st.integers(1, 600), st.data())
def test_divisible_steps_are_hardly_larger(size: int, most: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, size - 1))
    length = data.draw(st.integers(1, size - start))
    least = CellSpan.of(start, length, size, most)
    found = CellSpan.of(start, length, size, most, divisible=True)
    unit = 1
    while -(-length // most) > 16 * unit:
        unit *= 8
    assert found.step % unit == 0
    assert found.cells <= most
    assert found.start <= start < start + length <= found.stop
    if start == 0:
        assert least.step <= found.step < 1.5 * least.step


def test_a_picture_of_a_huge_plane_reads_little() -> None:
    values = Held(np.broadcast_to(np.float32(1), (300_000, 400_000)))
    found = Pictures().get(
        "a", values, Plane.of(values.view_shape, (0, 1), [0, 0]), 512, 512, exact=False
    )
    assert not found.exact
    assert found.rows * found.cols > 1000
    assert values.read == found.rows * found.cols


@given(st.integers(0, 3000), st.integers(1, 500), st.integers(1, 40), st.booleans())
def test_step_is_the_smallest_within_cell_limit(
    start: int, length: int, most: int, divisible: bool
) -> None:
    found = CellSpan.of(start, length, start + length, most, divisible=divisible)
    unit = 1
    while divisible and -(-length // most) > 16 * unit:
        unit *= 8
    steps = range(unit, found.step, unit)
    assert found.cells <= most
    assert all(-(-(start + length) // step) - start // step > most for step in steps)


def test_single_cell_step_for_huge_axis() -> None:
    length = 10**12
    found = CellSpan.of(length - 1, length, 2 * length, 1)
    assert (found.start, found.stop, found.step) == (0, 2 * length - 1, 2 * length - 1)
