"""What the pointer alone does to a graph: drag, pick from menus, keep a look and go back to it."""

import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from tests.ui.graphs import marks, state
from tests.ui.host import visit
from tests.ui.pointer import box_of, drag, inside, tool
from tests.ui.waits import inspected, painted, rest, until

SLOWEST = 62
ALL = 28  # boxes of the sample while parameters are inside their consumers


@pytest.fixture
def graph(page: Page, address: str) -> Locator:
    """The view without groups, at its opening node."""
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 1240, "height": 700})
    visit(page, f"{address}?views=graph&width=1200&graph.grouped=false&graph.wrapped=false")
    painted(page)
    return page.locator(".tvmdbg-graph")


def test_drag_pans_without_selecting(page: Page, graph: Locator) -> None:
    for _ in range(5):
        tool(graph, "zoom in (+)").click()
    before = marks(page, graph)
    canvas = graph.locator("canvas").first
    drag(page, inside(canvas, 200, 190), inside(canvas, 200, 100), steps=5)
    after = marks(page, graph)
    common = before.keys() & after.keys()
    assert common
    for each in common:
        assert after[each]["y"] - before[each]["y"] == pytest.approx(-90, abs=1)
    assert page.evaluate("tvmdbg.models.session.get('selected')") == []


def test_zoom_and_fit_buttons_work(page: Page, graph: Locator) -> None:
    wide = next(iter(marks(page, graph).values()))["width"]
    tool(graph, "zoom in (+)").click()
    until(page, f"found.marks[0].width > {1.3 * wide}")
    tool(graph, "zoom out (-)").click()
    until(page, f"Math.abs(found.marks[0].width - {wide}) < 0.01")
    for _ in range(5):
        tool(graph, "zoom in (+)").click()
    assert len(marks(page, graph)) < ALL
    tool(graph, "fit the whole graph (0)").click()
    fitted = marks(page, graph)
    assert len(fitted) == ALL
    stage = box_of(graph.locator("canvas").first)
    for each in fitted.values():
        assert each["x"] >= 0
        assert each["y"] >= 0
        assert each["x"] + each["width"] <= stage["width"]
        assert each["y"] + each["height"] <= stage["height"]


def test_the_wheel_zooms_at_the_pointer_and_with_shift_pans(page: Page, graph: Locator) -> None:
    tool(graph, "go to the slowest node (s)").click()
    for _ in range(4):  # wider than the stage: what is narrower stays in its middle
        tool(graph, "zoom in (+)").click()
    before = marks(page, graph)[SLOWEST]
    stage = box_of(graph.locator("canvas").first)
    x, y = before["x"] + before["width"] / 2, before["y"] + before["height"] / 2
    page.mouse.move(stage["x"] + x, stage["y"] + y)
    page.mouse.wheel(0, 60)
    until(page, f"found.marks[0].width < {0.95 * before['width']}")
    near = marks(page, graph)[SLOWEST]
    assert near["x"] + near["width"] / 2 == pytest.approx(x, abs=1)
    assert near["y"] + near["height"] / 2 == pytest.approx(y, abs=1)
    page.keyboard.down("Shift")
    page.mouse.wheel(0, 60)
    page.keyboard.up("Shift")
    until(page, f"found.marks.find(each => each.id === {SLOWEST})?.x < {near['x'] - 50}")
    moved = marks(page, graph)[SLOWEST]
    assert moved["x"] == pytest.approx(near["x"] - 60, abs=1)
    assert (moved["y"], moved["width"]) == pytest.approx((near["y"], near["width"]), abs=1)


def test_a_double_click_brings_a_node_to_the_middle(page: Page, graph: Locator) -> None:
    tool(graph, "fit the whole graph (0)").click()
    mark = marks(page, graph)[31]
    at = {"x": mark["x"] + mark["width"] / 2, "y": mark["y"] + mark["height"] / 2}
    graph.locator("canvas").first.dblclick(position=at)
    expect(graph.locator(".tvmdbg-mirror")).to_contain_text("Node 31 of 72")
    stage = box_of(graph.locator("canvas").first)
    mark = marks(page, graph)[31]
    assert mark["y"] + mark["height"] / 2 == pytest.approx(stage["height"] / 2, abs=2)
    texts = [label["text"] for label in inspected(graph)["labels"]]
    assert any(text.startswith("#31") for text in texts)


def test_parameters_and_details_by_button(page: Page, graph: Locator) -> None:
    tool(graph, "go to the slowest node (s)").click()
    tool(graph, "hide params: show only their number in each consumer (p)").click()
    until(page, "[60, 61].every(id => found.marks.some(mark => mark.id === id))")
    tool(graph, "hide params: show only their number in each consumer (p)").click()
    until(page, "!found.marks.some(mark => mark.id === 60)")
    details = graph.get_by_role("complementary")
    expect(details).to_contain_text("#62 conv2d + add + relu")
    graph.get_by_role("button", name="show the details (d)").click()
    expect(details).to_be_hidden()
    graph.get_by_role("button", name="show the details (d)").click()
    expect(details).to_be_visible()


def test_blocks_are_highlighted_by_pointer(page: Page, graph: Locator) -> None:
    tool(graph, "blocks: expand, collapse, wrap into columns").click()
    graph.get_by_role("menuitemcheckbox", name="show blocks").click()
    blocks = graph.get_by_role("button", name="highlight all residual block × 9")
    blocks.click()
    nodes = tvmdbg.open(tvmdbg.samples.resnet20_cifar).select('group="residual block"')
    expect(graph.locator(".tvmdbg-graph-hits")).to_have_text(f"–/{len(nodes)}")
    assert len(nodes) > 30


def test_drag_along_minimap_scrolls_the_graph(page: Page, graph: Locator) -> None:
    tool(graph, "go to the slowest node (s)").click()
    strip = graph.locator(".tvmdbg-graph-overview canvas").first
    box = box_of(strip)
    drag(page, inside(strip, 25, box["height"] / 2), inside(strip, 25, 6), steps=5)
    assert 0 in marks(page, graph)
    drag(page, inside(strip, 25, 6), inside(strip, 25, box["height"] - 8), steps=5)
    assert 71 in marks(page, graph)


def test_node_menu_isolates_parts_and_button_restores_graph(page: Page, graph: Locator) -> None:
    tool(graph, "go to the slowest node (s)").click()
    tool(graph, "fit the whole graph (0)").click()
    whole = marks(page, graph)
    assert len(whole) == ALL
    parts = {
        "upstream": {each for each in whole if each <= SLOWEST},
        "downstream": {each for each in whole if each >= SLOWEST},
        "around": {59, 62, 65},
    }
    for item, part in parts.items():
        mark = marks(page, graph)[SLOWEST]
        at = {"x": mark["x"] + mark["width"] / 2, "y": mark["y"] + mark["height"] / 2}
        graph.locator("canvas").first.click(button="right", position=at)
        graph.get_by_role("menuitem", name=item).click()
        expect(graph.locator(".tvmdbg-graph-part")).to_contain_text("#62")
        tool(graph, "fit the whole graph (0)").click()
        assert set(marks(page, graph)) == part
        graph.get_by_role("button", name="exit isolation: show the whole graph (a)").click()
        expect(graph.locator(".tvmdbg-graph-part")).to_be_hidden()
        tool(graph, "fit the whole graph (0)").click()
        assert len(marks(page, graph)) == ALL


def test_view_is_saved_and_restored_by_pointer(page: Page, graph: Locator) -> None:
    page.evaluate("tvmdbg.models.session.set('selected', [66])")
    graph.locator(".tvmdbg-graph-tools").get_by_role("button", name="downstream").click()
    rest(page)
    tool(graph, "saved views (m)").click()
    dialog = graph.get_by_role("dialog", name="saved views")
    dialog.get_by_role("textbox").fill("the head")
    dialog.get_by_role("button", name="save this view").click()
    expect(dialog.get_by_role("button", name="go to the head")).to_be_visible()
    graph.get_by_role("button", name="exit isolation: show the whole graph (a)").click()
    assert state(page, "isolate") is None
    tool(graph, "saved views (m)").click()
    dialog.get_by_role("button", name="go to the head").click()
    assert state(page, "isolate") == {"kind": "downstream", "nodes": [66], "hops": None}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("kind", "convolution"),
        ("time", "time"),
        ("health", "OK 72"),
        ("dtype", "float32"),
        ("device", "cpu"),
        ("storage", "slot"),
        ("bytes", "KiB"),
    ],
)
def test_every_overlay_has_a_legend(page: Page, graph: Locator, name: str, said: str) -> None:
    graph.get_by_label("color by (c)").select_option(name)
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
