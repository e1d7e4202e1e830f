"""What keys alone do to a graph: walk to what is beside, pan, zoom, fit, and reach every button."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from tests.ui.graphs import marks, press, said
from tests.ui.host import serve, visit
from tests.ui.pointer import box_of
from tests.ui.waits import painted, until

SLOWEST = 62
ALL = 28  # boxes of the sample while parameters are inside their consumers


def opened(
    page: Page, address: str, query: str = "graph.grouped=false&graph.wrapped=false"
) -> Locator:
    """The view, with the keyboard."""
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 1240, "height": 700})
    visit(page, f"{address}?views=graph&width=1200&{query}")
    painted(page)
    root = page.locator(".tvmdbg-graph")
    root.focus()
    return root


def middle(mark: dict[str, float]) -> tuple[float, float]:
    return mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2


def stage(root: Locator) -> tuple[float, float]:
    box = box_of(root.locator("canvas").first)
    return box["width"], box["height"]


def test_arrows_pan_with_shift(page: Page, address: str) -> None:
    root = opened(page, address)
    press(page, "s", "+", "+", "+")
    before = marks(page, root)[SLOWEST]
    for key, sign, axis in (
        ("Up", 1, "y"),
        ("Down", -1, "y"),
        ("Left", 1, "x"),
        ("Right", -1, "x"),
    ):
        press(page, f"Shift+Arrow{key}")
        after = marks(page, root)[SLOWEST]
        other = "x" if axis == "y" else "y"
        assert sign * (after[axis] - before[axis]) > 20, key
        assert after[other] == pytest.approx(before[other], abs=0.01)
        before = after
    expect(said(root)).to_contain_text("Node 62 of 72")


def test_keys_zoom_about_the_middle_and_fit(page: Page, address: str) -> None:
    root = opened(page, address)
    press(page, "s")
    before = marks(page, root)[SLOWEST]
    press(page, "+")
    larger = marks(page, root)[SLOWEST]
    assert larger["width"] > 1.3 * before["width"]
    press(page, "-")
    again = marks(page, root)[SLOWEST]
    for name in ("y", "width", "height"):
        assert again[name] == pytest.approx(before[name], abs=0.5)
    press(page, "f")
    near = marks(page, root)
    assert {59, SLOWEST, 65} <= near.keys()
    width, height = stage(root)
    for each in (59, SLOWEST, 65):
        assert 0 <= near[each]["x"] <= width - near[each]["width"]
        assert 0 <= near[each]["y"] <= height - near[each]["height"]
    press(page, "+", "+", "+", "+")
    assert len(marks(page, root)) < ALL
    press(page, "0")
    assert len(marks(page, root)) == ALL


def test_enter_centers_node_then_focuses_its_details(page: Page, address: str) -> None:
    root = opened(page, address)
    press(page, "s", "Shift+ArrowDown", "Enter")
    assert middle(marks(page, root)[SLOWEST])[1] == pytest.approx(stage(root)[1] / 2, abs=2)
    expect(root).to_be_focused()
    press(page, "Enter")
    expect(root.get_by_role("complementary").locator(":focus")).to_have_count(1)
    press(page, "Escape")
    expect(root).to_be_focused()


def test_arrows_move_to_operands_and_neighbors(page: Page, address: str) -> None:
    """Of the last block: 62 reads 59 and two parameters."""
    root = opened(page, address, "graph.grouped=false&graph.fold_parameters=false")
    press(page, "s", "ArrowUp")
    expect(said(root)).to_contain_text("Node 59 of 72")
    drawn = marks(page, root)
    operands = sorted((59, 60, 61), key=lambda node: drawn[node]["x"])
    at = operands.index(59)
    for step, key in ((-1, "ArrowLeft"), (1, "ArrowRight")):
        beside = at + step
        if 0 <= beside < len(operands):
            press(page, key)
            expect(said(root)).to_contain_text(f"Node {operands[beside]} of 72")
            press(page, "ArrowRight" if step < 0 else "ArrowLeft")
            expect(said(root)).to_contain_text("Node 59 of 72")
    press(page, "ArrowDown")
    expect(said(root)).to_contain_text("Node 62 of 72")
    press(page, *["ArrowRight"] * 8)
    expect(said(root)).to_contain_text("Nothing after")


def test_arrow_without_neighbor_is_reported(page: Page, address: str) -> None:
    root = opened(page, address)
    page.evaluate("tvmdbg.models.session.set('selected', [0])")
    press(page, "ArrowUp")
    expect(said(root)).to_contain_text("No producer of #0 data")
    page.evaluate("tvmdbg.models.session.set('selected', [71])")
    press(page, "ArrowDown")
    expect(said(root)).to_contain_text("No consumer of #71 softmax")


def tab_to(page: Page, wanted: Locator) -> None:
    for _ in range(25):
        press(page, "Tab")
        if wanted.evaluate("node => node === document.activeElement"):
            break
    expect(wanted).to_be_focused()


def test_buttons_without_a_key_are_reached_by_tab(page: Page, address: str) -> None:
    root = opened(page, address)
    for name, done in (
        (
            "direction of the graph",
            "found.marks.length && found.marks[0].x + 40 < found.marks[1].x",
        ),
        ("blocks: expand", "true"),
    ):
        root.focus()
        wanted = root.get_by_role("button", name=name, include_hidden=True)
        if not wanted.is_visible():
            tab_to(page, root.get_by_role("button", name="More tools"))
            press(page, "Enter")
        tab_to(page, wanted)
        press(page, "Enter")
        until(page, done)
    menu = root.get_by_role("menu", name="blocks")
    expect(menu.get_by_role("menuitemcheckbox", name="show blocks")).to_be_focused()
    press(page, "Enter")
    until(page, "found.marks.some((each) => each.group >= 0)")
    expect(root).to_be_focused()


def test_operands_of_a_node_with_several_outputs(page: Page, corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/edge_cases/v0.19/split_multi")
    with serve(run) as address:
        root = opened(page, address)
        source, readers = 1, [2, 3]
        assert {entry.node for node in readers for entry in run.graph.nodes[node].inputs} == {
            source
        }
        page.evaluate("node => tvmdbg.models.session.set('selected', [node])", source)
        press(page, "ArrowDown")
        expect(said(root)).to_contain_text("output 1: ")
        page.evaluate("tvmdbg.models.session.set('notes', { 1: 'told again' })")
        expect(said(root)).to_contain_text(re.compile(r"output 1: .*Node [23] of 4"))
        drawn = marks(page, root)
        readers.sort(key=lambda node: drawn[node]["x"])
        press(page, "ArrowLeft", "ArrowLeft")
        expect(said(root)).to_contain_text("Nothing before")
        for node, key in zip(readers[::-1], ("ArrowRight", "ArrowLeft"), strict=True):
            press(page, key)
            at = said(root)
            expect(at).to_contain_text(f"Node {node if key == 'ArrowRight' else readers[0]} of 4")
