"""What each coloring of the graph paints: the boxes, as the legend says."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from tests.ui.graphs import offered
from tests.ui.host import serve, visit
from tests.ui.waits import inspected, painted, rest

#: Of each box on the stage the colors of its pixels, the most frequent first.
PAINTED = """(root, marks) => {
  const canvas = root.querySelector("canvas");
  const context = canvas.getContext("2d");
  return marks.map(({ x, y, width, height }) => {
    const box = [x, y, width, height].map((each) => Math.round(each * devicePixelRatio));
    const { data } = context.getImageData(...box);
    const counts = new Map();
    for (let i = 0; i < data.length; i += 4) {
      const color = `rgb(${data[i]}, ${data[i + 1]}, ${data[i + 2]})`;
      counts.set(color, (counts.get(color) ?? 0) + 1);
    }
    return [...counts].sort(([, a], [, b]) => b - a).map(([color]) => color);
  });
}"""
SWATCHES = """(root) => Object.fromEntries(
  [...root.querySelectorAll(".tvmdbg-graph-legend button[data-kind]")].map((chip) => [
    chip.childNodes[1].textContent,
    getComputedStyle(chip.querySelector(".tvmdbg-graph-swatch")).backgroundColor,
  ]))"""
OVERFLOW = 38  # the first node with infinities


@pytest.fixture(scope="module")
def sound(corpus: Path) -> tvmdbg.DebugRun:
    """In float16."""
    return tvmdbg.open(corpus / "tvm/resnet20_cifar_fp16")


@pytest.fixture(scope="module")
def half(corpus: Path) -> tvmdbg.DebugRun:
    """The same network with weights that make values overflow."""
    return tvmdbg.open(corpus / "tvm/resnet20_cifar_fp16_overflow")


@pytest.fixture(scope="module")
def halves(half: tvmdbg.DebugRun) -> Iterator[str]:
    with serve(half) as address:
        yield address


@pytest.fixture(scope="module")
def devices(corpus: Path) -> Iterator[str]:
    with serve(tvmdbg.open(corpus / "tvm/resnet20_two_devices")) as address:
        yield address


def opened(page: Page, address: str, **traits: Any) -> Locator:
    """The whole graph without groups."""
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 1240, "height": 900})
    chosen = {"height": 800, "grouped": False, **traits}
    query = "&".join(f"graph.{name}={quote(json.dumps(each))}" for name, each in chosen.items())
    visit(page, f"{address}?views=graph&width=1200&{query}")
    painted(page)
    root = page.locator(".tvmdbg-graph")
    root.focus()
    page.keyboard.press("0")
    rest(page)
    return root


def colors(page: Page, root: Locator) -> dict[int, list[str]]:
    """What is painted where each node is, the most frequent first."""
    rest(page)
    marks = inspected(root)["marks"]
    painted_there = root.evaluate(PAINTED, marks)
    return {int(mark["id"]): each for mark, each in zip(marks, painted_there, strict=True)}


def choose(page: Page, root: Locator, name: str) -> None:
    root.get_by_label("color by (c)").select_option(name)
    page.mouse.move(5, 890)
    rest(page)


def check_classes(page: Page, root: Locator, classes: dict[int, str]) -> None:
    """Each class has one color, a tint of its own in the legend and of no other."""
    swatches = {name: hue(color) for name, color in root.evaluate(SWATCHES).items()}
    fills: dict[str, set[str]] = {}
    for node, painted_there in colors(page, root).items():
        if node in classes:
            fills.setdefault(classes[node], set()).add(painted_there[0])
    assert len(fills) > 1
    for name, (fill,) in fills.items():
        alike = {each: float(hue(fill) @ color) for each, color in swatches.items()}
        assert max(alike, key=alike.__getitem__) == name
        assert alike[name] > 0.999


def hue(color: str) -> np.ndarray[Any, Any]:
    """In which direction a color lies from white."""
    away = 255.0 - np.array([int(each) for each in re.findall(r"\d+", color)][:3])
    return away / np.linalg.norm(away)


def test_nodes_have_the_color_of_their_dtype(
    page: Page, halves: str, half: tvmdbg.DebugRun
) -> None:
    root = opened(page, halves)
    choose(page, root, "dtype")
    graph = half.graph
    check_classes(page, root, {node.id: graph.dtype(node.id) or "" for node in graph.nodes})


def test_nodes_have_the_color_of_their_device(page: Page, devices: str, corpus: Path) -> None:
    dump = next((corpus / "tvm/resnet20_two_devices").glob("**/_tvmdbg_graph_dump.json"))
    types = json.loads(dump.read_text("utf-8"))["attrs"]["device_index"][1]
    root = opened(page, devices)
    choose(page, root, "device")
    named = {1: "cpu", 2: "cuda"}
    check_classes(page, root, {node: named[each] for node, each in enumerate(types)})


def test_nodes_have_the_color_of_a_class_from_python(page: Page, halves: str, half: Any) -> None:
    view = tvmdbg.GraphView(half)
    parity = {node.id: "even" if node.id % 2 == 0 else "odd" for node in half.graph.nodes}
    view.color_by(parity, name="parity")
    root = opened(page, halves, color_by="parity", _color_columns=offered(view))
    check_classes(page, root, parity)


def test_array_colors_follow_values_and_clamp_to_range(page: Page, halves: str, half: Any) -> None:
    view = tvmdbg.GraphView(half)
    view.color_by(np.arange(float(half.graph.num_nodes)), name="place")
    root = opened(page, halves, color_by="place", _color_columns=offered(view))
    first = {node: each[0] for node, each in colors(page, root).items()}
    assert len(set(first.values())) > len(first) // 2
    handles = root.locator(".tvmdbg-graph-legend").get_by_role("slider")
    handles.last.focus()
    for _ in range(8):
        page.keyboard.press("Shift+ArrowLeft")
    clamped = colors(page, root)
    high = page.evaluate("tvmdbg.models.graph0.get('color_limits')")[1]
    above = {clamped[node][0] for node in clamped if node > high}
    below = {clamped[node][0] for node in clamped if node < high}
    assert len([node for node in clamped if node > high]) > 5
    assert len(above) == 1
    assert len(below) > 1
    assert {node: each[0] for node, each in clamped.items()} != first
    page.keyboard.press("Escape")
    assert {node: each[0] for node, each in colors(page, root).items()} == first


def test_slowest_and_fastest_nodes_have_different_colors(
    page: Page, halves: str, half: Any
) -> None:
    root = opened(page, halves)
    choose(page, root, "time")
    drawn = {node: each[0] for node, each in colors(page, root).items()}
    times = {node: half.timeline.node_ns[node] for node in drawn}
    assert len(set(drawn.values())) > 3
    assert drawn[max(drawn, key=times.__getitem__)] != drawn[min(drawn, key=times.__getitem__)]


def test_error_against_another_run_is_painted_and_in_legend(
    page: Page, halves: str, half: Any, sound: tvmdbg.DebugRun
) -> None:
    view = tvmdbg.GraphView(half)
    view.color_by("error", reference=sound)
    assert view.color_by.wait(120)
    column = view.color_by.column
    root = opened(page, halves, color_by="error", _color_columns=offered(view))
    legend = root.get_by_role("group", name="legend: error")
    expect(legend).to_contain_text("error")
    drawn = {node: each[0] for node, each in colors(page, root).items()}
    assert len(set(drawn.values())) > 1
    values = column.values
    lost = [node for node in drawn if np.isinf(values[node])]
    same = [node for node in drawn if values[node] == 0]
    assert (min(lost), len(same) > 5) == (OVERFLOW, True)
    assert len({drawn[node] for node in same}) == 1
    assert {drawn[node] for node in lost}.isdisjoint({drawn[node] for node in same})
    page.evaluate("node => tvmdbg.models.session.set('selected', [node])", OVERFLOW)
    expect(root.locator(".tvmdbg-mirror")).to_contain_text("error: +Inf")
    mark = next(each for each in inspected(root)["marks"] if each["id"] == OVERFLOW)
    root.locator("canvas").first.hover(
        position={"x": mark["x"] + mark["width"] / 2, "y": mark["y"] + mark["height"] / 2}
    )
    expect(root.get_by_role("tooltip")).to_contain_text("error: +Inf")
