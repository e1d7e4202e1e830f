"""Kinds, colors and labels of slices."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.analysis.timeline.lod import slice_colors
from tvmdbg_widgets.answers.kept_timeline import KeptTimeline
from tvmdbg_widgets.model.timeline.kinds import name_kinds
from tvmdbg_widgets.model.timeline.timeline import slice_labels
from tvmdbg_widgets.run import DebugRun

CONV, DENSE = "tvmgen_default_fused_nn_conv2d_add", "tvmgen_default_fused_nn_dense"


def opened(*events: tuple[str, float, float, int], flows: tuple[Any, ...] = ()) -> DebugRun:
    """A trace of slices (name, start, duration, thread) and of ends of flows."""
    found: list[dict[str, Any]] = [
        {"ph": "X", "name": name, "ts": ts, "dur": dur, "pid": 1, "tid": tid}
        for name, ts, dur, tid in events
    ]
    for number, (begins, where, ends, there) in enumerate(flows):
        own = {"name": "launch", "cat": "ac2g", "id": number, "pid": 1}
        found.append({**own, "ph": "s", "ts": begins, "tid": where})
        found.append({**own, "ph": "f", "bp": "e", "ts": ends, "tid": there})
    return tvmdbg.open(json.dumps(found).encode())


def kinds(run: DebugRun) -> dict[str, str]:
    names = run.timeline.slice_names.unique
    return dict(zip(names, name_kinds(run.timeline, run.graph), strict=True))


def test_a_kernel_has_the_kind_of_the_operator_around_it() -> None:
    run = opened(
        (CONV, 0, 100, 1),
        ("launch", 5, 80, 1),
        ("kernel_a", 10, 50, 1),
        (DENSE, 200, 50, 1),
        ("kernel_b", 210, 30, 1),
        ("alone", 300, 10, 1),
    )
    assert kinds(run) == {
        CONV: "convolution",
        "launch": "convolution",
        "kernel_a": "convolution",
        DENSE: "matmul",
        "kernel_b": "matmul",
        "alone": "other",
    }
    assert {row.key: row.ns for row in run.times("kind")} == {
        "convolution": 100_000,
        "matmul": 50_000,
        "other": 10_000,
    }
    kept = KeptTimeline(run.timeline, run.graph)
    told = kept.ready.names.columns(range(kept.names.count))
    assert list(told["nameKinds"]) == list(kinds(run).values())


def test_kernel_has_kind_of_operator_that_launched_it() -> None:
    run = opened(
        (CONV, 0, 100, 1),
        ("launch", 10, 20, 1),
        ("kernel", 200, 50, 2),
        ("inside of it", 210, 10, 2),
        ("other kernel", 300, 50, 2),
        flows=((15, 1, 205, 2),),
    )
    assert kinds(run) == {
        CONV: "convolution",
        "launch": "convolution",
        "kernel": "convolution",
        "inside of it": "convolution",
        "other kernel": "other",
    }


@pytest.mark.parametrize(
    ("events", "kind"),
    [
        ([(CONV, 0, 100, 1), ("k", 1, 10, 1), (DENSE, 200, 100, 1), ("k", 201, 10, 1)], "other"),
        ([(CONV, 0, 100, 1), ("k", 1, 10, 1), ("k", 200, 10, 1)], "convolution"),
        ([(CONV, 0, 100, 1), ("k", 1, 10, 1), ("k", 200, 9, 1), ("k", 300, 9, 1)], "other"),
        ([("main", 0, 100, 1), ("k", 1, 10, 1)], "other"),
        ([("k", 0, 100, 1), (CONV, 1, 10, 1)], "other"),
    ],
)
def test_kernel_with_unclear_operator_has_kind_other(events: list[Any], kind: str) -> None:
    assert kinds(opened(*events))["k"] == kind


def test_figures_draw_a_kernel_in_the_color_of_its_operator() -> None:
    run = opened((CONV, 0, 100, 1), ("kernel_a", 10, 50, 1))
    for chart in ("time", "merged"):
        svg = tvmdbg.Flamechart(run, chart=chart, show="chart").figure().svg
        groups = re.findall(r'<g fill="([^"]*)"[^>]*>(.*?)</g>', svg)
        fills = {
            name: fill for fill, text in groups for name in ("conv2d", "kernel_a") if name in text
        }
        assert fills["kernel_a"] == fills["conv2d"], chart


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


FUSED = "tvmgen_default_fused_nn_conv2d_add_nn_relu"


@pytest.mark.parametrize(
    ("names", "read"),
    [
        ([FUSED, "kernel_0"], ["conv2d + add + relu", "kernel_0"]),
        ([FUSED, f"{FUSED}_1"], ["conv2d + add + relu", "conv2d + add + relu_1"]),
        ([f"{FUSED}_1", "nn_softmax"], ["conv2d + add + relu", "softmax"]),
        (["nn_relu", "fused_nn_relu"], ["nn_relu", "fused_nn_relu"]),
        (["model.blocks.0.attention", "model.blocks.1.mlp"], ["0.attention", "1.mlp"]),
        (["main.a", "main.b"], ["main.a", "main.b"]),
        (["model.blocks.", "model.blocks.0"], ["model.blocks.", "model.blocks.0"]),
        (["run"], ["run"]),
        ([""], [""]),
        ([], []),
    ],
)
def test_slice_labels_omit_uninformative_parts(names: list[str], read: list[str]) -> None:
    assert slice_labels(names) == read
