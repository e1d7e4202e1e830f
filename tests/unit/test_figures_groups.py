from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from benchmarks.graphs import network
from tests.unit.figure_checks import assert_sound, texts

if TYPE_CHECKING:
    from pathlib import Path


def test_closed_groups_are_boxes_with_title_count_and_time(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/resnet20_cifar")
    assert run.graph is not None
    assert run.timeline is not None
    figure = run.figure("graph", open_groups=[])
    assert_sound(figure)
    drawn = figure.description["condensed"]["groups"]
    closed = [each for each in drawn if len(each["nodes"]) > 1]
    top = run.groups.top
    assert [each["label"] for each in closed] == [group.name for group in top]
    assert [each["repeats"] for each in closed] == [group.repeats for group in top]
    for each, group in zip(closed, top, strict=True):
        assert each["nodes"] == sorted(
            node for node in group.nodes.tolist() if run.graph.kinds[node] > 1
        )
        assert each["time_ns"] == pytest.approx(float(run.timeline.node_ns[each["nodes"]].sum()))
    words = texts(figure)
    assert Counter(words)["residual block"] + Counter(words)["residual blo…"] >= 2
    assert "6 nodes · #6 … #21 · 12 params" in words or "6 nodes · #6 … #21" in words
    assert any(word.startswith("5 closed groups: 28 boxes are drawn as") for word in words)


def test_an_open_run_is_a_frame_around_its_closed_blocks(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/resnet20_cifar")
    drawn = run.figure("graph", open_groups=[0]).description["condensed"]["groups"]
    framed = [each for each in drawn if each["frame"] == 0]
    children = run.groups[0].children
    assert [
        set(each["nodes"]) <= set(child.nodes.tolist())
        for each, child in zip(framed, children, strict=True)
    ] == [True] * 3


def test_every_node_is_drawn_once_and_no_edge_is_made_up() -> None:
    run = tvmdbg.open(network(1_500).encode())
    assert run.graph is not None
    found = run.figure("graph").description["condensed"]
    in_group = {node: at for at, each in enumerate(found["groups"]) for node in each["nodes"]}
    shown = np.flatnonzero(run.graph.kinds > 1).tolist()
    assert set(shown) <= set(in_group)
    assert len(in_group) == sum(len(each["nodes"]) for each in found["groups"])
    pairs = zip(run.graph.edge_source.tolist(), run.graph.edge_target.tolist(), strict=True)
    real = {(in_group[a], in_group[b]) for a, b in pairs if a in in_group and b in in_group}
    drawn = {(each["source"], each["target"]) for each in found["edges"]}
    assert drawn == {(one, two) for one, two in real if one != two}


def test_no_such_group_is_refused(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/resnet20_cifar")
    with pytest.raises(ValueError, match="group 99 of 12: open_groups are their numbers"):
        run.figure("graph", open_groups=[99])
