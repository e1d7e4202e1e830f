"""The figures' layout answers as the live view's does, and keeps its promises by itself."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvmdbg_widgets.figures.layout import FrameInput, Layout, Spacing, layout
from tvmdbg_widgets.figures.layout.align import aligned

GOLDEN = Path(__file__).parents[2] / "data" / "layout"
BESIDE = json.loads((GOLDEN.parent / "aligned/aligned.json").read_text())
NAMES = sorted(path.stem for path in GOLDEN.glob("*.json"))


def recorded(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    golden = json.loads((GOLDEN / f"{name}.json").read_text())
    given = golden.pop("input")
    if given["frames"] is not None:
        given["frames"] = FrameInput(**given["frames"])
    given["spacing"] = Spacing(trunk_budget=given.pop("trunk_budget"))
    return given, golden


def test_there_are_recorded_answers() -> None:
    assert len(NAMES) >= 12


@pytest.mark.parametrize("name", NAMES)
def test_same_numbers_as_the_live_view(name: str) -> None:
    arguments, expected = recorded(name)
    result = layout(**arguments)
    for field in ("x", "y", "layer_top", "layer_bottom", "bounds"):
        np.testing.assert_allclose(getattr(result, field), expected[field], rtol=0, atol=1e-9)
    for field in ("layer", "order", "layer_start", "stubs", "reversed", "components"):
        np.testing.assert_array_equal(getattr(result, field), expected[field])
    for i, field in enumerate(("x", "y", "width", "height")):
        found = getattr(result.frames, field)
        np.testing.assert_allclose(found, expected["frames"][i], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(result.routes.offsets, expected["offsets"])
    np.testing.assert_array_equal(result.routes.trunk, expected["trunk"])
    points = np.reshape(expected["points"], (-1, 2))
    np.testing.assert_allclose(result.routes.points, points, rtol=0, atol=1e-9)


@pytest.mark.parametrize("case", BESIDE, ids=lambda case: " and ".join(case["names"]))
def test_two_are_aligned_as_in_the_live_view(case: dict[str, Any]) -> None:
    a, b = (layout(**recorded(name)[0]) for name in case["names"])
    for result, expected in zip(aligned(a, b, case["pairs"]), case["both"], strict=True):
        for field in ("y", "layer_top", "layer_bottom", "bounds"):
            np.testing.assert_allclose(getattr(result, field), expected[field], rtol=0, atol=1e-9)
        for field, values in zip(("y", "height"), expected["frames"], strict=True):
            np.testing.assert_allclose(getattr(result.frames, field), values, rtol=0, atol=1e-9)
        points = np.reshape(expected["points"], (-1, 2))
        np.testing.assert_allclose(result.routes.points, points, rtol=0, atol=1e-9)


@given(st.data())
def test_chains_beside_each_other_are_as_wide_as_they_need(data: st.DataObject) -> None:
    """Matched boxes in the order of both are level, and no box comes nearer to the next."""
    sizes = [data.draw(st.lists(st.integers(10, 90), min_size=1, max_size=12)) for _ in range(2)]
    chains = [
        layout(len(high), [80] * len(high), high, range(len(high) - 1), range(1, len(high)))
        for high in sizes
    ]
    few = min(map(len, sizes))
    pairs = [(box, box) for box in range(few) if data.draw(st.booleans())]
    both = aligned(chains[0], chains[1], pairs)
    tops = [each.y - np.divide(high, 2) for each, high in zip(both, sizes, strict=True)]
    for one, other in pairs:
        assert tops[0][one] == pytest.approx(tops[1][other])
    for each, own in zip(both, chains, strict=True):
        assert (np.diff(each.y) >= np.diff(own.y) - 1e-9).all()
        paths = [each.edge_path(edge) for edge in range(len(each.y) - 1)]
        for edge, path in enumerate(paths):
            assert path[-1, 1] == pytest.approx(each.layer_top[edge + 1])


def test_recorded_answers_cover_stubs_cycles_loops_and_branches() -> None:
    assert recorded("stubs")[1]["stubs"]
    assert recorded("cycles")[1]["reversed"]
    assert recorded("components")[1]["components"] > 5
    assert max(recorded("network")[1]["trunk"]) > 0


@pytest.mark.slow
def test_2000_nodes_take_a_second() -> None:
    arguments, _ = recorded("networks_2000")
    started = time.process_time()
    layout(**arguments)
    assert time.process_time() - started < 2.0


def check(result: Layout, width: np.ndarray, height: np.ndarray, edges: list[list[int]]) -> None:
    dx = np.abs(result.x[:, None] - result.x) - (width[:, None] + width) / 2
    dy = np.abs(result.y[:, None] - result.y) - (height[:, None] + height) / 2
    apart = (dx >= 0) | (dy >= 0) | np.eye(len(width), dtype=bool)
    assert apart.all()
    against = set(result.reversed.tolist())
    for e, (s, t) in enumerate(edges):
        if s == t:
            assert e in against
            continue
        path = result.edge_path(e)
        upper, lower = (t, s) if e in against else (s, t)
        path = path[::-1] if e in against else path
        assert result.layer[upper] < result.layer[lower]
        assert path[0, 1] == pytest.approx(result.y[upper] + height[upper] / 2)
        assert path[-1, 1] == pytest.approx(result.y[lower] - height[lower] / 2)
        assert (np.diff(path[:, 1]) >= 0).all()


@given(st.data())
def test_boxes_stay_apart_and_edges_lead_from_border_to_border(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 25))
    node = st.integers(0, count - 1)
    edges = data.draw(st.lists(st.lists(node, min_size=2, max_size=2), max_size=50))
    sizes = st.lists(st.integers(0, 200), min_size=count, max_size=count)
    width, height = np.array(data.draw(sizes)), np.array(data.draw(sizes))
    source, target = [e[0] for e in edges], [e[1] for e in edges]
    check(layout(count, width, height, source, target), width, height, edges)


def test_a_chain_is_one_vertical_line() -> None:
    result = layout(30, np.arange(30) + 90, [36] * 30, range(29), range(1, 30))
    assert len(set(result.x.tolist())) == 1
    assert np.diff(result.routes.offsets).tolist() == [2] * 29


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"target": [5]}, "edge 0 runs from 0 to 5"),
        ({"target": [-1]}, "edge 0"),
        ({"width": [80, np.nan]}, "width"),
        ({"height": [80]}, "height"),
        ({"target": [1, 1]}, "target"),
        ({"source_slot": []}, "source_slot"),
    ],
)
def test_names_what_is_wrong_with_its_input(change: dict[str, Any], named: str) -> None:
    right: dict[str, Any] = {"count": 2, "width": [80, 80], "height": [36, 36]}
    right |= {"source": [0], "target": [1]}
    with pytest.raises(ValueError, match=named):
        layout(**right | change)
