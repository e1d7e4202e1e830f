"""Groups in figures: closed ones as boxes, open ones as headed frames, as in the live view."""

from __future__ import annotations

from collections import Counter

import pytest

import tvmdbg_widgets as tvmdbg
from benchmarks.graphs import network
from tests.unit.figures.figure_checks import assert_sound, texts


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
    assert any(word.startswith("5 closed groups: 28 boxes drawn as 11") for word in words)
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


def test_groups_of_large_graph_are_closed_by_depth() -> None:
    run = tvmdbg.open(network(1_500).encode())
    figure = run.figure("graph")
    assert_sound(figure, 80 * 1024)
    boxes = figure.description["boxes"]
    depths = {run.groups[each["group"]].depth for each in boxes if each["group"] is not None}
    assert depths == {1}
    assert {run.groups[each["group"]].depth for each in figure.description["frames"]} == {0}


def test_no_such_group_is_refused() -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    with pytest.raises(ValueError, match="no group 99: open_groups takes ids below 12"):
        run.figure("graph", open_groups=[99])
