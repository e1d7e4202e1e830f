"""A view fills the screen by a button and a key, or the page where its host forbids that."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.mostly_slow import mostly_slow
from tests.ui.host import visit
from tests.ui.pointer import box_of, tool
from tests.ui.waits import frames, painted

VIEWS = ("graph", "tensor", "timeline", "memory", "comparison", "debugger")
SIZE = {"width": 1000, "height": 700}
#: Inside of what has a transform, as in a notebook, something fixed is not at the window's edges.
HOST = "document.body.style.transform = 'translate(3px, 30px)'"
FORBID = "() => { Element.prototype.requestFullscreen = () => Promise.reject(new TypeError('no')) }"


def shown(page: Page, address: str, view: str) -> Locator:
    page.set_viewport_size(SIZE)
    visit(page, f"{address}?views={view}&width=800")
    painted(page)
    page.evaluate(HOST)
    return page.locator(f".cell > .tvmdbg-{view}")


def fills(page: Page, root: Locator) -> bool:
    frames(page)
    box = box_of(root)
    edges = (round(box["x"]), round(box["y"]), round(box["width"]), round(box["height"]))
    return edges == (0, 0, SIZE["width"], SIZE["height"])


@pytest.mark.usefixtures("own_page")
@pytest.mark.parametrize("view", mostly_slow(VIEWS, "tensor", "debugger"))
def test_view_fills_page_if_full_screen_is_forbidden(page: Page, pair: str, view: str) -> None:
    root = shown(page, pair, view)
    page.evaluate(FORBID)
    before = root.bounding_box()
    button = tool(root, "full screen")
    expect(button).to_have_attribute("title", f"full screen (Shift+{'DF'[view != 'debugger']})")
    button.click()
    assert fills(page, root)
    expect(button).to_have_attribute("aria-pressed", "true")
    assert root.evaluate("root => root.scrollHeight <= root.clientHeight + 1") or view == "tensor"
    page.keyboard.press("Escape")
    frames(page)
    assert root.bounding_box() == before
    expect(button).to_have_attribute("aria-pressed", "false")
    inner = root.locator(".tvmdbg-graph") if view == "debugger" else root
    inner.focus()
    page.keyboard.press("Shift+D" if view == "debugger" else "Shift+F")
    assert fills(page, root)
    page.set_viewport_size({"width": 1000, "height": 640})
    frames(page)
    assert round((root.bounding_box() or {"height": 0})["height"]) == 640
    page.keyboard.press("Shift+D" if view == "debugger" else "Shift+F")
    page.set_viewport_size(SIZE)
    frames(page)
    assert root.bounding_box() == before


@pytest.mark.usefixtures("own_page")
def test_view_fills_screen_and_returns_to_its_size(page: Page, pair: str) -> None:
    root = shown(page, pair, "graph")
    before = root.bounding_box()
    root.focus()
    page.keyboard.press("Shift+F")
    page.wait_for_function("document.fullscreenElement?.matches('.tvmdbg-graph')")
    expect(root).to_contain_class("tvmdbg-graph tvmdbg-fills")
    assert root.evaluate("root => root.clientHeight === innerHeight")
    page.keyboard.press("m")
    dialog = root.get_by_role("dialog", name="saved views")
    expect(dialog).to_be_visible()
    assert dialog.evaluate(
        "each => { const { x, y } = each.getBoundingClientRect();"
        " return each.contains(document.elementFromPoint(x + 6, y + 6)); }"
    )
    page.evaluate("document.exitFullscreen()")
    page.wait_for_function("!document.fullscreenElement")
    frames(page)
    assert root.bounding_box() == before
    expect(tool(root, "full screen")).to_have_attribute("aria-pressed", "false")


@pytest.mark.usefixtures("own_page")
def test_one_view_of_the_debugger_fills_the_page(page: Page, pair: str) -> None:
    debugger = shown(page, pair, "debugger")
    page.evaluate(FORBID)
    for view in ("graph", "tensor", "timeline"):
        root = debugger.locator(f".tvmdbg-{view}")
        root.focus()
        frames(page)
        before = root.bounding_box()
        page.keyboard.press("Shift+F")
        assert fills(page, root)
        page.keyboard.press("?")
        expect(root.get_by_role("note", name="Keys")).to_contain_text("enter or leave full screen")
        page.keyboard.press("Escape")
        assert fills(page, root)
        page.keyboard.press("Escape")
        frames(page)
        assert root.bounding_box() == before
    graph = debugger.locator(".tvmdbg-graph")
    graph.focus()
    page.keyboard.press("Shift+D")
    page.keyboard.press("Shift+F")
    assert fills(page, graph)
    page.keyboard.press("Escape")
    assert fills(page, debugger)
    assert not fills(page, graph)
    page.keyboard.press("Escape")
    assert not fills(page, debugger)
