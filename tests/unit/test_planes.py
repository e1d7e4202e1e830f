"""Pictures of planes against every cell worked out alone."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from tvmdbg_widgets.model import planes
from tvmdbg_widgets.model.planes import NAN, NEG_INF, POS_INF, Plane, picture


@pytest.mark.parametrize("block", [1, 7, 64, 1 << 20])
def test_every_cell_is_that_of_its_values(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planes, "_BLOCK", block)
    random = np.random.default_rng(block)
    for _ in range(30):
        shape = tuple(random.integers(1, 9, size=random.integers(0, 4)).tolist())
        array = random.normal(size=shape)
        for odd in (np.nan, np.inf, -np.inf):
            array = np.where(random.random(shape) < 0.05, odd, array)
        across = list(random.permutation(len(shape))[:2].tolist())
        axes = (None, *across) if len(shape) < 2 else across
        axes = (*axes, None)[:2]
        plane = Plane.of(shape, tuple(axes), [int(random.integers(each)) for each in shape])
        found = picture(
            lambda selection, array=array: array[selection], plane, *random.integers(1, 6, 2)
        )
        whole = plane.oriented(array[plane.selection(slice(None), slice(None))])
        for at in range(found.rows * found.cols):
            row, col = divmod(at, found.cols)
            cell = whole[
                row * found.row_step : (row + 1) * found.row_step,
                col * found.col_step : (col + 1) * found.col_step,
            ]
            finite = cell[np.isfinite(cell)]
            flags = (NAN, np.isnan(cell)), (POS_INF, cell == np.inf), (NEG_INF, cell == -np.inf)
            assert found.flags[at] == sum(bit for bit, where in flags if where.any())
            expected = [np.nan] * 3
            if finite.size:
                expected = [finite.min(), finite.max(), finite.mean()]
            np.testing.assert_allclose(
                [found.minimum[at], found.maximum[at], found.mean[at]], expected, 1e-5, 1e-6
            )


@pytest.mark.parametrize("shape", [(8_000_000,), (1, 8_000_000), (8_000_000, 1), (2, 4_000_000)])
def test_a_picture_of_a_long_array_takes_bounded_memory(shape: tuple[int, ...]) -> None:
    array = np.zeros(shape, np.uint8)
    axes = (None, 0) if len(shape) == 1 else (0, 1)
    plane = Plane.of(shape, axes, [0] * len(shape))
    tracemalloc.start()
    try:
        picture(lambda selection: array[selection], plane, 64, 64)
        assert tracemalloc.get_traced_memory()[1] < 32_000_000
    finally:
        tracemalloc.stop()
