"""What a graph opens with is measured: texts in boxes, what is cut, the room that is used."""

import json
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from benchmarks.graphs import network, residual_graph
from tests.graph_json import document, null, operator
from tests.mostly_slow import mostly_slow
from tests.ui.graphs import inspect
from tests.ui.host import serve, visit
from tests.ui.pointer import box_of
from tests.ui.waits import rest

LEAST_PX = 11
#: Width and height of a view, CSS px: in a Debugger at 1280x720, a GraphView as it is, a large one.
SIZES = ((552, 305), (1110, 420), (1500, 800))
RUNS = (
    *("resnet20_cifar", "resnet20_cifar_fp16_overflow", "resnet20_cifar_int8"),
    *("resnet20_cifar_nchw8c", "resnet20_cifar_unfused", "resnet20_cifar_v0.6"),
    *("resnet20_cifar_v0.8", "resnet20_two_devices", "transformer_encoder"),
)


OPENED = list(product(RUNS, SIZES))


class Seen(NamedTuple):
    """What a reader sees of a graph that has just been opened."""

    boxes: int  #: boxes in sight, also in part
    whole: int  #: those that are not cut at the border and have all of their title inside
    cut: list[str]
    leaders: int
    least: float  #: height of the smallest text, CSS px
    room: float  #: share of the stage's width or height that the drawing fills


def is_cut(text: str) -> bool:
    """Whether letters are missing; of fused operators the first and the last are enough."""
    return "…" in text.replace(" + … + ", "")


def seen(root: Locator) -> Seen:
    found = inspect(root)
    stage = box_of(root.locator("canvas").first)

    def overlaps(box: dict[str, Any]) -> bool:
        across = -box["width"] < box["x"] < stage["width"]
        return across and -box["height"] < box["y"] < stage["height"]

    def fits(box: dict[str, Any]) -> bool:
        across = box["x"] >= 0 and box["x"] + box["width"] <= stage["width"]
        return across and box["y"] >= 0 and box["y"] + box["height"] <= stage["height"]

    def inside(text: dict[str, Any], box: dict[str, Any]) -> bool:
        middle = text["y"] + text["height"] / 2
        across = box["x"] <= text["x"] <= text["x"] + text["width"] <= box["x"] + box["width"] + 1
        return across and box["y"] <= middle <= box["y"] + box["height"]

    boxes = [mark for mark in found["marks"] if overlaps(mark)]
    texts = [label for label in found["labels"] if label["node"] >= 0]
    held = [[text for text in texts if inside(text, box)] for box in found["marks"]]
    whole = sum(
        fits(box) and any(not is_cut(text["text"]) for text in texts if inside(text, box))
        for box in boxes
    )
    drawn = [*found["marks"], *found["frames"]]

    def used(at: str, size: str) -> float:
        low = min(max(0.0, each[at]) for each in drawn)
        high = max(min(stage[size], each[at] + each[size]) for each in drawn)
        return (high - low) / stage[size]

    return Seen(
        len(boxes),
        whole,
        [text["text"] for text in texts if is_cut(text["text"])],
        len(texts) - sum(map(len, held)),
        min(text["height"] for text in texts),
        max(used("x", "width"), used("y", "height")),
    )


def opened(page: Page, address: str, size: tuple[int, int]) -> Seen:
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": size[0] + 40, "height": size[1] + 60})
    visit(page, f"{address}?views=graph&width={size[0]}&graph.height={size[1]}")
    root = page.locator(".tvmdbg-graph")
    expect(root).to_have_attribute("data-ready", "true", timeout=60_000)
    rest(page)
    return seen(root)


@pytest.mark.parametrize(("name", "size"), mostly_slow(OPENED, *OPENED[::4]))
def test_recorded_run_opens_without_truncated_labels(
    page: Page, corpus: Path, name: str, size: tuple[int, int]
) -> None:
    with serve(tvmdbg.open(corpus / "tvm" / name)) as address:
        found = opened(page, address, size)
    assert found.boxes >= 3
    # The frame around the node that it opens on is whole; a box before it may be cut then.
    assert found.whole >= found.boxes - 1
    assert found.cut == []
    assert found.leaders == 0
    assert found.least >= LEAST_PX
    assert found.room >= 0.6


def _graph(reads: list[list[int]], heads: list[int]) -> str:
    """Return the JSON of a graph whose nodes read these others."""
    nodes = []
    for node, inputs in enumerate(reads):
        func = f"fused_nn_conv2d_add_{node}"
        nodes.append(operator(func, func, inputs) if inputs else null(f"data{node}"))
    return json.dumps(document(nodes, heads=heads, shapes=(1, 64, 8, 8)))


def chain(nodes: int) -> str:
    return _graph([[], *([node] for node in range(nodes - 1))], [nodes - 1])


def fan(nodes: int) -> str:
    """Return one node that all others but the last read, which reads them."""
    middle = list(range(1, nodes - 1))
    return _graph([[], *([0] for _ in middle), middle], [nodes - 1])


def heads(nodes: int) -> str:
    """Return a chain of which every third node is an output."""
    return _graph([[], *([node] for node in range(nodes - 1))], list(range(0, nodes, 3))[1:])


GENERATED = {
    "chain": chain,
    "fan": fan,
    "heads": heads,
    "blocks": residual_graph,
    "network": network,
}
CASES = [
    (kind, nodes, size)
    for kind in GENERATED
    for nodes in (10, 100, 1_000, 10_000, 100_000)
    for size in SIZES
]
ALWAYS = [(kind, nodes, SIZES[0]) for kind in GENERATED for nodes in (10, 1_000)]


@pytest.mark.parametrize(("kind", "nodes", "size"), mostly_slow(CASES, *ALWAYS))
def test_a_generated_graph_opens_legibly(
    page: Page, tmp_path: Path, kind: str, nodes: int, size: tuple[int, int]
) -> None:
    """Floors: 9 of 10 boxes in sight whole, no leader line, texts of 11 px, half of the room."""
    path = tmp_path / "graph.json"
    path.write_text(GENERATED[kind](nodes), encoding="utf-8")
    with serve(tvmdbg.open(path)) as address:
        found = opened(page, address, size)
    assert found.boxes >= 2
    assert found.whole >= 0.9 * found.boxes
    assert found.leaders == 0
    assert found.least >= LEAST_PX
    assert found.room >= 0.5


def test_output_of_a_block_is_counted_separately(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_text(chain(100), encoding="utf-8")
    run = tvmdbg.open(path)
    with serve(run) as address:
        opened(page, address, SIZES[-1])
        texts = {label["text"] for label in inspect(page.locator(".tvmdbg-graph"))["labels"]}
    assert {"#0 data0", "conv2d + add × 99", "98 nodes + 1 output", "1×64×8×8"} <= texts
    assert "98 nodes + 1 output" in run.figure("graph", open_groups=[]).svg
