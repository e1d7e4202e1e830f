"""Groups in figures: closed ones as boxes, open ones as headed frames, as in the live view."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from benchmarks.graphs import network
from tests.make import drawn as recorded
from tests.unit.figures.figure_checks import assert_sound, texts
from tvmdbg_widgets.figures.graph.boxes import Arrangement, arrange, box_sizes
from tvmdbg_widgets.figures.graph.label import Labels
from tvmdbg_widgets.figures.graph.nesting import GroupWords, Nesting
from tvmdbg_widgets.figures.graph.scene import Scene, build_scene
from tvmdbg_widgets.figures.graph.times import Times

if TYPE_CHECKING:
    from pathlib import Path

    from tvmdbg_widgets.figures.graph.boxes import Direction
    from tvmdbg_widgets.run import DebugRun


def test_what_is_drawn_is_as_recorded() -> None:
    assert recorded.cases() == json.loads(recorded.PATH.read_text())


def test_closed_groups_are_boxes_with_title_count_and_time() -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    assert run.timeline is not None
    figure = run.figure("graph", open_groups=[], color_by="kind")
    assert_sound(figure)
    closed = [each for each in figure.description["boxes"] if each["group"] is not None]
    assert [each["title"] for each in closed] == [group.title for group in run.groups.top]
    words = texts(figure)
    assert Counter(words)["residual block × 2"] == 2
    assert "6 nodes · 12.21 ms" in words
    assert any(word.startswith("5 closed groups: 28 boxes are drawn as 11") for word in words)
    assert "residual block × 3 · 12.21 ms · 30.6 %; 6 nodes #6 … #21, 12 params" in figure.text


def test_open_groups_are_frames_with_a_title() -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    figure = run.figure("graph", open_groups=[0])
    assert_sound(figure)
    inside = [each for each in figure.description["boxes"] if each["frame"] == 0]
    assert [each["group"] for each in inside] == [each.id for each in run.groups[0].children]
    (frame,) = figure.description["frames"]
    assert frame["header"] == "residual block × 3 · 12.21 ms · 30.6 %"
    assert any(word.startswith("residual block × 3 · 12.21 ms") for word in texts(figure))


def arranged(run: DebugRun, opened: Any, direction: Direction, tall: float) -> Any:
    assert run.graph is not None
    times = Times(run.graph, run.timeline)
    words = GroupWords(run.groups, times)
    flags = np.zeros(len(run.groups), bool)
    flags[opened] = True
    scene = build_scene(run.graph, fold=True, nesting=Nesting(run.groups, flags))
    sizes = box_sizes(scene, Labels(run.graph, times), words)
    return scene, arrange(scene, sizes, direction, 692, tall)


def assert_framed(scene: Scene, placed: Arrangement) -> None:
    """Every box is in its frames and in no other, also where these are cut."""
    around: dict[int, set[int]] = {-1: set()}
    for frame, (_, parent) in enumerate(scene.frames):
        around[frame] = around[parent] | {frame}
    folded = placed.folded
    for box, frame in enumerate(scene.frame_of):
        left, top = folded.x[box], folded.y[box]
        right, bottom = left + placed.widths[box], top + placed.heights[box]
        holding = set()
        for part in folded.frames:
            end, foot = part.x + part.width, part.y + part.height
            if left < end and part.x < right and top < foot and part.y < bottom:
                assert part.x <= left, (box, part)
                assert right <= end, (box, part)
                assert part.y <= top, (box, part)
                assert bottom <= foot, (box, part)
                holding.add(part.frame)
        assert holding == around[frame], box
    for frame in range(len(scene.frames)):
        parts = [each for each in folded.frames if each.frame == frame]
        assert [each.begins for each in parts] == [True] + [False] * (len(parts) - 1)
        assert [each.ends for each in parts] == [False] * (len(parts) - 1) + [True]


@pytest.mark.parametrize("direction", ["down", "right"])
@pytest.mark.parametrize("tall", [500, 820, 1700])
def test_boxes_are_in_their_frames_however_the_graph_is_folded(
    corpus: Path, direction: Direction, tall: float
) -> None:
    cut = 0
    for name in ("resnet20_cifar", "resnet20_cifar_unfused", "transformer_encoder"):
        run = tvmdbg.open(corpus / "tvm" / name)
        every = range(len(run.groups))
        for opened in (list(every), [each for each in every if run.groups[each].depth == 0]):
            scene, placed = arranged(run, opened, direction, tall)
            if placed is not None:
                assert_framed(scene, placed)
                cut += len(placed.folded.frames) > len(scene.frames)
    assert cut or tall < 1000 or direction == "right"


def test_what_is_too_large_is_closed_a_depth_at_a_time() -> None:
    run = tvmdbg.open(network(1_500).encode())
    figure = run.figure("graph")
    assert_sound(figure)
    boxes = figure.description["boxes"]
    depths = {run.groups[each["group"]].depth for each in boxes if each["group"] is not None}
    assert depths == {1}
    assert {run.groups[each["group"]].depth for each in figure.description["frames"]} == {0}


def test_every_node_is_drawn_once_and_no_edge_is_made_up() -> None:
    run = tvmdbg.open(network(1_500).encode())
    assert run.graph is not None
    closed = Nesting(run.groups, np.zeros(len(run.groups), bool))
    scene = build_scene(run.graph, fold=True, nesting=closed)
    in_box = {node: at for at, nodes in enumerate(scene.members) for node in nodes}
    assert len(in_box) == sum(map(len, scene.members))
    assert set(np.flatnonzero(run.graph.kinds > 1).tolist()) <= set(in_box)
    pairs = zip(run.graph.edge_source.tolist(), run.graph.edge_target.tolist(), strict=True)
    real = {(in_box[a], in_box[b]) for a, b in pairs if a in in_box and b in in_box}
    drawn = set(zip(scene.source, scene.target, strict=True))
    assert drawn == {(one, two) for one, two in real if one != two}
    for nodes in scene.members:
        place = [int(np.flatnonzero(run.groups.order == node)[0]) for node in nodes]
        assert all(one < two for one, two in pairwise(place))


def test_no_such_group_is_refused() -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    with pytest.raises(ValueError, match="no group 99: open_groups takes ids below 12"):
        run.figure("graph", open_groups=[99])
