"""What the pointer alone does to a graph: drag, pick from menus, keep a look and go back to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect
from ui.waits import painted, rest

import tvmdbg_widgets as tvmdbg

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.ui

INSPECT = """root => {
  const out = {};
  root.dispatchEvent(new CustomEvent("tvmdbg:inspect", { detail: out }));
  return out;
}"""
SLOWEST = 62


@pytest.fixture(scope="module")
def run() -> tvmdbg.DebugRun:
    return tvmdbg.open(tvmdbg.samples.resnet20_cifar)


@pytest.fixture
def graph(page: Page, address: str) -> Locator:
    """The view without groups, at its opening node."""
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 1240, "height": 700})
    page.goto(f"{address}?views=graph&width=1200&graph.grouped=false")
    painted(page)
    return page.locator(".tvmdbg-graph")


def marks(page: Page, root: Locator) -> dict[int, dict[str, Any]]:
    rest(page)
    return {int(mark["id"]): mark for mark in root.evaluate(INSPECT)["marks"]}


def drag(page: Page, what: Locator, start: tuple[float, float], end: tuple[float, float]) -> None:
    box = what.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + start[0], box["y"] + start[1])
    page.mouse.down()
    page.mouse.move(box["x"] + end[0], box["y"] + end[1], steps=5)
    page.mouse.up()


def state(page: Page, name: str) -> Any:
    return page.evaluate("name => tvmdbg.models.graph0.get(name)", name)


def test_a_drag_moves_the_stage_and_selects_nothing(page: Page, graph: Locator) -> None:
    for _ in range(5):
        graph.get_by_role("button", name="larger (+)").click()
    before = marks(page, graph)
    drag(page, graph.locator("canvas").first, (200, 190), (200, 100))
    after = marks(page, graph)
    common = before.keys() & after.keys()
    assert common
    for each in common:
        assert after[each]["y"] - before[each]["y"] == pytest.approx(-90, abs=1)
    assert page.evaluate("tvmdbg.models.session.get('selected')") == []


def test_a_drag_along_the_minimap_leads_through_the_graph(page: Page, graph: Locator) -> None:
    graph.get_by_role("button", name="go to the slowest node (s)").click()
    strip = graph.locator(".tvmdbg-graph-overview canvas").first
    box = strip.bounding_box()
    assert box is not None
    drag(page, strip, (25, box["height"] / 2), (25, 6))
    assert 0 in marks(page, graph)
    drag(page, strip, (25, 6), (25, box["height"] - 8))
    assert 71 in marks(page, graph)


def test_parts_by_the_menu_of_a_node_and_back_by_button(page: Page, graph: Locator) -> None:
    graph.get_by_role("button", name="go to the slowest node (s)").click()
    for item in ("upstream", "downstream", "around"):
        mark = marks(page, graph)[SLOWEST]
        at = {"x": mark["x"] + mark["width"] / 2, "y": mark["y"] + mark["height"] / 2}
        graph.locator("canvas").first.click(button="right", position=at)
        graph.get_by_role("menuitem", name=item).click()
        assert state(page, "isolate")["kind"] == item
        graph.get_by_role("button", name="show the whole graph (a)").click()
        assert state(page, "isolate") is None


def test_a_look_is_kept_and_found_again_by_pointer(page: Page, graph: Locator) -> None:
    page.evaluate("tvmdbg.models.session.set('selected', [66])")
    graph.locator(".tvmdbg-graph-tools").get_by_role("button", name="downstream").click()
    rest(page)
    graph.get_by_role("button", name="bookmarks: looks kept under a name (m)").click()
    dialog = graph.get_by_role("dialog", name="bookmarks")
    dialog.get_by_role("textbox").fill("the head")
    dialog.get_by_role("button", name="keep this look").click()
    expect(dialog.get_by_role("button", name="go to the head")).to_be_visible()
    graph.get_by_role("button", name="show the whole graph (a)").click()
    assert state(page, "isolate") is None
    graph.get_by_role("button", name="bookmarks: looks kept under a name (m)").click()
    dialog.get_by_role("button", name="go to the head").click()
    assert state(page, "isolate") == {"kind": "downstream", "nodes": [66], "hops": None}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("kind", "convolution"),
        ("time", "time"),
        ("health", "sound 72"),
        ("dtype", "float32"),
        ("device", "cpu"),
        ("storage", "slot"),
        ("bytes", "KiB"),
    ],
)
def test_each_overlay_has_a_legend(page: Page, graph: Locator, name: str, said: str) -> None:
    graph.get_by_label("colours (c)").select_option(name)
    assert state(page, "color_by") == name
    rest(page)
    expect(graph.locator(".tvmdbg-graph-legend")).to_contain_text(said)


def test_hits_are_marked_in_the_minimap(page: Page, graph: Locator) -> None:
    rest(page)
    strip = graph.locator(".tvmdbg-graph-overview")
    before = strip.screenshot()
    page.evaluate("tvmdbg.models.graph0.set('search', 'op:conv2d')")
    expect(graph.locator(".tvmdbg-graph-hits")).to_have_text("–/21")
    rest(page)
    assert strip.screenshot() != before
    page.evaluate("tvmdbg.models.graph0.set('search', '')")
    rest(page)
    assert strip.screenshot() == before
