"""Tests share a page: nothing that one leaves there reaches the next."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext

from tests.ui.host import visit
from tests.ui.pages import WatchedPage
from tests.ui.waits import painted, rest

STATE = """() => ({
  attributes: [document.documentElement, document.body].map((each) => each.outerHTML.slice(0, 80)),
  globals: [...Object.keys(window), ...Object.keys(document)],
  media: ["(prefers-color-scheme: dark)", "(prefers-reduced-motion: reduce)", "print"]
    .map((each) => matchMedia(each).matches),
  head: document.head.children.length,
  size: [innerWidth, innerHeight, scrollX, scrollY],
  stored: localStorage.length + sessionStorage.length,
  focused: document.activeElement === document.body,
  marked: String(getSelection()),
})"""
LEAVE = """() => {
  document.documentElement.dataset.left = "1";
  document.body.hidden = true;
  document.body.style.height = "9000px";
  document.body.append("left");
  document.body.hidden = false;
  document.head.append(document.createElement("style"));
  document.execCommand = () => false;
  window.left = 1;
  scrollTo(0, 4000);
  for (const storage of [localStorage, sessionStorage]) storage.setItem("left", "1");
  getSelection().selectAllChildren(document.body);
  document.querySelector(".tvmdbg-graph").focus({ preventScroll: true });
}"""


@pytest.fixture
def watched(window: BrowserContext) -> Iterator[WatchedPage]:
    watched = WatchedPage(window, 1, "")
    yield watched
    watched.page.close()


def test_cleared_page_equals_a_new_one(watched: WatchedPage, resnet: str) -> None:
    page, address = watched.page, f"{resnet}?views=graph,timeline&width=600"
    visit(page, address)
    painted(page)
    watched.clear()
    new = page.evaluate(STATE)
    visit(page, f"{address}&theme=dark&session.selected=[3]&graph.color_by=%22time%22")
    painted(page)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce", media="print")
    page.set_viewport_size({"width": 640, "height": 480})
    page.evaluate(LEAVE)
    page.mouse.move(200, 200)
    rest(page)  # a question that the route aborts would be an error of this test's own
    page.route("**/ask", lambda route: route.abort())
    left = page.evaluate(STATE)
    assert [name for name in new if left[name] == new[name]] == []
    watched.clear()
    assert page.evaluate(STATE) == new
    visit(page, address)
    painted(page)
    rest(page)
    assert page.evaluate("document.querySelector('body :hover')") is None
    traits = "[tvmdbg.models.session.get('selected'), tvmdbg.models.graph0.get('color_by')]"
    assert page.evaluate(traits) == [[], "kind"]
    assert watched.errors == []


def test_late_page_error_is_recorded_when_page_is_cleared(
    watched: WatchedPage, resnet: str
) -> None:
    visit(watched.page, f"{resnet}?views=memory")
    watched.page.evaluate("setTimeout(() => { throw new Error('late'); })")
    watched.clear()
    assert ["late" in each for each in watched.errors] == [True]
