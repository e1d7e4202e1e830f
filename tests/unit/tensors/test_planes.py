"""Planes of arrays and the axes that views open with."""

import json
from pathlib import Path
from typing import Any

import pytest

from tvmdbg_widgets.model.tensors.planes import Plane, axis_along

ALONG = Path(__file__).parents[2] / "data" / "axes" / "along.json"


@pytest.mark.parametrize(
    ("axes", "index"),
    [((0, 0), [0, 0]), ((0, 2), [0, 0]), ((0, None), [0, 0]), ((0, 1), [0]), ((None, 1), [3, 0])],
)
def test_invalid_plane_is_refused(axes: tuple[int | None, int | None], index: list[int]) -> None:
    with pytest.raises(ValueError, match=r"ax(is|es)|index"):
        Plane.of((3, 4), axes, index)


@pytest.mark.parametrize("case", json.loads(ALONG.read_text("utf-8")), ids=str)
def test_axis_along_matches_the_live_view(case: dict[str, Any]) -> None:
    """js/tests/tensor/plane.test.ts holds the live view to the same file."""
    found = axis_along(case["shape"], case["names"], case["pictured"], case["wanted"])
    assert found == case["along"], case["why"]
