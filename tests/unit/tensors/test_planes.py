"""Planes of arrays and the axes that views open with."""

import pytest

from tvmdbg_widgets.model.tensors.planes import Plane, axes_along


@pytest.mark.parametrize(
    ("axes", "index"),
    [((0, 0), [0, 0]), ((0, 2), [0, 0]), ((0, None), [0, 0]), ((0, 1), [0]), ((None, 1), [3, 0])],
)
def test_invalid_plane_is_refused(axes: tuple[int | None, int | None], index: list[int]) -> None:
    with pytest.raises(ValueError, match=r"ax(is|es)|index"):
        Plane.of((3, 4), axes, index)


@pytest.mark.parametrize(
    ("shape", "names", "best"),
    [
        ((1, 16, 32, 32), "", [1, 2, 3, 0]),  # channels of an image
        ((1, 32, 32, 16), "NHWC", [3, 1, 2, 0]),  # the letter C, wherever it stands
        ((1, 32, 40, 1), "NHWC", [2, 1, 3, 0]),  # C has a single index: the longest
        ((64, 16, 3, 3), "OIHW", [1, 0, 2, 3]),  # no C: the second axis
        ((5, 1, 9, 9), "", [2, 3, 0, 1]),  # the second axis has a single index
        ((7, 3), "", [0, 1]),
        ((3, 7), "", [1, 0]),
        ((9, 7), "NC", [1, 0]),  # a letter counts in a matrix, too
        ((1, 1, 1), "", [1, 0, 2]),  # all axes have a single index
        ((4, 0, 6), "", [2, 0, 1]),
        ((10,), "", [0]),
        ((), "", []),
    ],
)
def test_profiles_begin_with_channels(shape: tuple[int, ...], names: str, best: list[int]) -> None:
    assert axes_along(shape, tuple(names)) == best
