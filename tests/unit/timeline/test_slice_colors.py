"""What slices are colored by where nobody has chosen."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.analysis.timeline.lod import slice_colors


def test_slices_of_dominant_kind_are_colored_by_block(run: tvmdbg.DebugRun) -> None:
    found = slice_colors(run.timeline, run.graph, run.groups)
    ns = np.nan_to_num(run.timeline.node_ns)
    convolutions = [node.id for node in run.graph.nodes if node.op_kind == "convolution"]
    assert ns[convolutions].sum() >= 0.9 * ns.sum()
    assert (found.by, found.kind) == ("block", "convolution")
    for top in (group for group in run.groups if group.parent is None):
        assert len({int(found.block[node]) for node in top.nodes}) == 1
        assert found.titles[int(found.block[top.nodes[0]])].endswith(top.name)
    outside = set(range(run.graph.num_nodes)) - {
        node for group in run.groups for node in group.nodes
    }
    assert {int(found.block[node]) for node in outside} == {-1}


def test_slices_without_blocks_are_colored_by_share_unless_chosen(run: tvmdbg.DebugRun) -> None:
    assert run.timeline is not None
    found = slice_colors(run.timeline, None, None)
    assert (found.by, found.titles) == ("share", {})
    assert found.chosen("block").by == "share", "there are none"
    assert found.chosen("kind").by == "kind"
    assert slice_colors(run.timeline, run.graph, run.groups).chosen("auto").by == "block"


def test_several_kinds_are_colored_by_kind(corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/transformer_encoder")
    found = slice_colors(run.timeline, run.graph, run.groups)
    ns = np.nan_to_num(run.timeline.node_ns)
    kinds = {node.op_kind for node in run.graph.nodes}
    most = max(sum(ns[n.id] for n in run.graph.nodes if n.op_kind == kind) for kind in kinds)
    assert (most >= 0.9 * ns.sum()) == bool(found.kind)
    assert found.kind or found.by == "kind"
