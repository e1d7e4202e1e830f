"""Fingers on the tensor inspector: real touch events, as a touch screen sends them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.ui.host import serve, visit
from tests.ui.pages import WatchedPage
from tests.ui.pointer import box_of
from tests.ui.tensors import expect_readout, inspect, run_of
from tests.ui.waits import frames, painted

Place = tuple[float, float]

ROOT = ".tvmdbg-tensor"
ROWS, COLS = 24, 48
STEPS = 8
VALUES = np.arange(ROWS * COLS, dtype=np.float32).reshape(ROWS, COLS)


@pytest.fixture(scope="module")
def address(bundles: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve(run_of(tmp_path_factory.mktemp("touch"), {"rising": VALUES})) as found:
        yield found


@pytest.fixture(scope="module")
def touched(browser: Browser, slowness: float) -> Iterator[WatchedPage]:
    """One touch screen for all tests."""
    context = browser.new_context(has_touch=True)
    yield WatchedPage(context, slowness, "")
    context.close()


@pytest.fixture
def page(touched: WatchedPage, address: str, errors: list[str]) -> Iterator[Page]:
    """A page far longer than the screen: one finger scrolls it."""
    touched.errors, page = errors, touched.page
    page.set_viewport_size({"width": 916, "height": 600})
    visit(page, f"{address}?views=tensor&width=900&theme=light&tensor.entry=[0,0]")
    painted(page)
    page.evaluate("document.body.style.paddingBlock = '100px 2000px'")
    page.evaluate("scrollTo(0, 200)")
    frames(page)
    yield page
    touched.clear()
    assert errors == []


class Fingers:
    """Fingers that touch, move in small steps and let go, as the browser's input sees them."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._input = page.context.new_cdp_session(page)

    def move(self, *paths: tuple[Place, Place]) -> None:
        """Put one finger down after the other, move all along their paths, and lift them."""
        for count in range(1, len(paths) + 1):
            self._send("touchStart", [start for start, _ in paths[:count]])
        for step in range(1, STEPS + 1):
            self._send("touchMove", [_between(path, step / STEPS) for path in paths])
            frames(self._page)
        self._send("touchEnd", [])
        frames(self._page)

    def _send(self, kind: str, places: list[Place]) -> None:
        points = [{"id": k, "x": x, "y": y} for k, (x, y) in enumerate(places)]
        self._input.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def _between(path: tuple[Place, Place], part: float) -> Place:
    (x, y), (to_x, to_y) = path
    return x + (to_x - x) * part, y + (to_y - y) * part


def inspected(page: Page) -> dict[str, Any]:
    frames(page)
    return inspect(page)


def middle(page: Page) -> Place:
    """The middle of the picture, on the page."""
    stage = box_of(page.locator(".tvmdbg-tensor-stage"))
    plot = inspected(page)["plot"]
    x, y = stage["x"] + plot["x"] + plot["width"] / 2, stage["y"] + plot["y"] + plot["height"] / 2
    return x, y


def between(page: Page, place: Place) -> Place:
    """Row and column at a place of the page."""
    stage, found = box_of(page.locator(".tvmdbg-tensor-stage")), inspected(page)
    plot, viewport = found["plot"], found["viewport"]
    row = viewport["row"] + (place[1] - stage["y"] - plot["y"]) / viewport["down"]
    return row, viewport["col"] + (place[0] - stage["x"] - plot["x"]) / viewport["across"]


def scrolled(page: Page) -> tuple[float, float]:
    """How far the page was scrolled, and zoomed by the browser."""
    found = page.evaluate("[scrollY, visualViewport.scale]")
    return found[0], found[1]


@pytest.mark.parametrize("way", [(1, 0), (0, 1), (0.7, 0.7)])
def test_pinch_zooms_between_the_fingers(page: Page, way: tuple[float, float]) -> None:
    x, y = middle(page)
    before = inspected(page)["viewport"]
    at_rest = scrolled(page)

    def beside(far: float) -> Place:
        return x + way[0] * far, y + way[1] * far

    Fingers(page).move((beside(-25), beside(-75)), (beside(25), beside(75)))
    near = inspected(page)["viewport"]
    assert near["down"] / before["down"] == pytest.approx(3, rel=0.05)
    assert between(page, (x, y)) == pytest.approx((ROWS / 2, COLS / 2), abs=1)
    Fingers(page).move((beside(-75), beside(-20)), (beside(75), beside(20)))
    assert inspected(page)["viewport"]["region"] is None
    assert scrolled(page) == at_rest


def test_pinch_with_resting_thumb_does_not_scroll_the_page(page: Page) -> None:
    x, y = middle(page)
    before, at_rest = inspected(page)["viewport"], scrolled(page)
    thumb = (x, y + 40)
    Fingers(page).move((thumb, thumb), ((x, y), (x, y - 80)))
    near = inspected(page)["viewport"]
    assert near["down"] / before["down"] == pytest.approx(3, rel=0.05)
    assert scrolled(page) == at_rest


def test_two_finger_drag_pans_the_picture(page: Page) -> None:
    x, y = middle(page)
    Fingers(page).move(((x - 20, y), (x - 60, y)), ((x + 20, y), (x + 60, y)))
    before = inspected(page)["viewport"]
    Fingers(page).move(((x - 30, y), (x - 30, y + 60)), ((x + 30, y), (x + 30, y + 60)))
    after = inspected(page)["viewport"]
    assert after["down"] == pytest.approx(before["down"], rel=0.05)
    assert (before["row"] - after["row"]) * after["down"] == pytest.approx(60, abs=8)


def test_one_finger_scrolls_the_page_until_the_picture_is_zoomed(page: Page) -> None:
    x, y = middle(page)
    top = scrolled(page)[0]
    Fingers(page).move(((x, y), (x, y - 80)))
    page.wait_for_function(f"scrollY > {top} + 40")
    x, y = middle(page)
    Fingers(page).move(((x - 20, y), (x - 80, y)), ((x + 20, y), (x + 80, y)))
    before, at_rest = inspected(page)["viewport"], scrolled(page)
    Fingers(page).move(((x, y), (x + 40, y + 50)))
    after = inspected(page)["viewport"]
    assert (before["row"] - after["row"]) * after["down"] == pytest.approx(50, abs=8)
    assert scrolled(page) == at_rest


def test_a_tap_reads_a_value(page: Page) -> None:
    plot, stage = inspected(page)["plot"], box_of(page.locator(".tvmdbg-tensor-stage"))
    side = plot["width"] / COLS
    page.touchscreen.tap(stage["x"] + plot["x"] + 4.5 * side, stage["y"] + plot["y"] + 2.5 * side)
    expect_readout(page, f"[2, 4] = {VALUES[2, 4]:g}")


def test_tap_on_bar_shows_its_values_and_drag_sets_color_range(page: Page) -> None:
    bars = page.locator(".tvmdbg-tensor-histogram")
    bars.scroll_into_view_if_needed()
    box = box_of(bars)
    x, y = box["x"] + 60, box["y"] + 70
    page.touchscreen.tap(x, y)
    said = page.locator(".tvmdbg-tensor-bar-text")
    expect(said).to_contain_text("values")
    Fingers(page).move(((x, y), (x + 80, y)))
    given = "window.tvmdbg.models.tensor0.get('color_range')"
    page.wait_for_function(f"Array.isArray({given})")
    low, high = page.evaluate(given)
    assert VALUES.min() < low < high < VALUES.max()
