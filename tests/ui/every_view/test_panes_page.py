"""The debugger's panes: toolbars and pictures in sight at every size, whatever the findings do."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from tests.ui.host import serve, visit
from tests.ui.notebooks import View
from tests.ui.pointer import box_of, middle_of, sides
from tests.ui.waits import frames, rest

SIZES = [(848, 580), (1110, 700), (1500, 900)]
SMALL = SIZES[0]
PANES = ("graph", "tensor", "timeline")
#: Where each pane is, how far it and what is in it are scrolled, and where the graph looks.
PLACES = """() => [...document.querySelectorAll(".tvmdbg-grid > .tvmdbg-panel")].map((pane) => {
  const scrolled = [pane, ...pane.querySelectorAll("*")].map((each) => each.scrollTop);
  const { top, height } = pane.getBoundingClientRect();
  return [pane.dataset.view, Math.round(top), Math.round(height), scrolled.filter((at) => at > 0)];
})"""
#: What else is painted over the findings.
COVERED = """() => {
  const panel = document.querySelector(".tvmdbg-findings");
  const { left, top, bottom } = panel.getBoundingClientRect();
  const found = [];
  for (let y = top + 6; y < bottom - 6; y += 8) {
    const at = document.elementFromPoint(left + 40, y);
    if (!panel.contains(at)) found.push(at.outerHTML.slice(0, 120));
  }
  return found;
}"""
COLOR = """(canvas, [x, y]) => {
  const ratio = devicePixelRatio;
  return [...canvas.getContext("2d").getImageData(x * ratio, y * ratio, 1, 1).data].slice(0, 3);
}"""
WARNING = [0x8A, 0x53, 0x00]  # of the light theme
TO_THE_END = """(pane) => {
  for (const each of [pane, ...pane.querySelectorAll("*")]) each.scrollTop = 1e6;
}"""


@pytest.fixture(scope="module")
def run() -> tvmdbg.DebugRun:
    return tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)


def show(page: Page, address: str, size: tuple[int, int], *, below: int = 0) -> Locator:
    """The findings of a debugger of this size, on a page that is `below` higher than the window."""
    width, height = size
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": width + 16, "height": height + 16})
    visit(page, f"{address}?views=debugger&width={width}&debugger.height={height}")
    panel = page.locator(".tvmdbg-findings[data-state=done]")
    expect(panel).to_be_visible()
    for name in PANES:
        View(page, name).wait()
    page.evaluate("(below) => { document.body.style.paddingBottom = `${below}px`; }", below)
    rest(page)
    return panel


def pane(page: Page, name: str) -> Locator:
    return page.locator(f".tvmdbg-grid > [data-view={name}]")


@pytest.mark.parametrize("size", SIZES)
def test_toolbars_and_pictures_stay_in_sight(
    page: Page, address: str, size: tuple[int, int]
) -> None:
    show(page, address, size)
    _, _, right, bottom = sides(page.locator(".tvmdbg-debugger"))
    assert (right, bottom) <= (size[0] + 16, size[1] + 16)
    for name in PANES:
        shown = pane(page, name)
        bar = shown.locator(".tvmdbg-bar").first
        before = box_of(bar)
        assert before["y"] >= box_of(shown)["y"]
        canvas = shown.locator(".tvmdbg-stage:visible").last
        if name != "tensor":
            assert sides(canvas)[1] + 40 < sides(shown)[3]
        shown.evaluate(TO_THE_END)
        frames(page)
        assert box_of(bar) == before
        seen = bar.evaluate(
            "(bar) => bar.contains(document.elementFromPoint(bar.getBoundingClientRect().x + 12,"
            " bar.getBoundingClientRect().y + 12))"
        )
        assert seen, name


@pytest.mark.parametrize("size", SIZES)
def test_panes_are_where_they_were_after_a_finding_was_opened_and_folded(
    page: Page, address: str, size: tuple[int, int]
) -> None:
    panel = show(page, address, size)

    def state() -> tuple[Any, ...]:
        rest(page)
        graph = View(page, "graph")
        marks = {each["id"]: (each["x"], each["y"]) for each in graph.marks()}
        return page.evaluate(PLACES), panel.evaluate("each => each.scrollTop"), marks

    before = state()
    row = panel.get_by_role("treeitem").nth(1)
    row.locator(".tvmdbg-finding-twist").click()
    expect(row.locator(".tvmdbg-finding-evidence")).to_be_visible()
    (_, _, flamechart), _, _ = open_ = state()
    assert flamechart == before[0][2]
    if size == SMALL:
        assert open_[0] == before[0]
        assert page.evaluate(COVERED) == []
    row.locator(".tvmdbg-finding-twist").click()
    expect(row.locator(".tvmdbg-finding-evidence")).to_have_count(0)
    assert state() == before


def height(found: Locator) -> float:
    return box_of(found)["height"]


def test_findings_take_one_line_while_a_view_has_the_focus(page: Page, address: str) -> None:
    panel = show(page, address, SMALL)
    rows = panel.get_by_role("treeitem").filter(visible=True)
    expect(rows).to_have_count(4)
    tensor = pane(page, "tensor")
    low = height(tensor)
    canvas = pane(page, "graph").locator("canvas").first
    place = middle_of(canvas)
    page.mouse.click(*place)
    assert height(tensor) == low  # a second click means the same place
    rest(page)
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("#38")
    assert height(panel) < 26
    assert height(tensor) > low
    chip = rows.locator(".tvmdbg-chip").nth(1)
    chip.click()
    rest(page)
    expect(rows).to_have_count(1)
    unfold = page.get_by_role("button", name="Show all findings (f)")
    expect(unfold).to_have_attribute("aria-expanded", "false")
    unfold.click()
    expect(rows).to_have_count(4)
    expect(panel).to_be_focused()
    assert height(tensor) == low
    pane(page, "timeline").locator(".tvmdbg-timeline").focus()
    expect(rows).to_have_count(1)
    panel.focus()
    expect(rows).to_have_count(4)
    pane(page, "graph").locator(".tvmdbg-graph").focus()
    rows.first.locator(".tvmdbg-finding-title").click()
    expect(rows.first).to_have_attribute("aria-expanded", "true")
    expect(rows).to_have_count(4)
    assert page.evaluate("tvmdbg.models.debugger0.get('findings_folded')") is False


def test_controls_opened_by_the_first_click_stay_open(page: Page, address: str) -> None:
    panel = show(page, address, SMALL)
    tensor = pane(page, "tensor")
    button = tensor.get_by_role("button", name="View, axes, layout and colors")
    button.click()
    expect(panel.get_by_role("treeitem").filter(visible=True)).to_have_count(1)
    rest(page)
    controls = tensor.get_by_role("group", name="Controls")
    expect(controls).to_be_visible()
    assert abs(box_of(controls)["y"] - sides(button)[3]) < 8
    page.keyboard.press("Escape")
    expect(controls).to_be_hidden()


def test_large_debugger_keeps_its_findings(page: Page, address: str) -> None:
    panel = show(page, address, SIZES[2])
    before = height(panel)
    pane(page, "graph").locator(".tvmdbg-graph").focus()
    rest(page)
    assert height(panel) == before


@pytest.mark.parametrize("name", ["tensor", "timeline"])
def test_wheel_scrolls_the_page_over_a_pane_without_focus(
    page: Page, address: str, name: str
) -> None:
    show(page, address, SMALL, below=900)
    shown = pane(page, name)
    root = shown.locator(f".tvmdbg-{name}")
    box = box_of(shown)
    # The numbers of a tensor, the table of a flamechart.
    x, y = box["x"] + box["width"] - 60, box["y"] + box["height"] - 30
    page.mouse.move(x, y)
    page.mouse.wheel(0, 100)
    page.wait_for_function("scrollY === 100")
    assert page.evaluate(PLACES)[PANES.index(name)][3] == []
    page.evaluate("scrollTo(0, 0)")
    root.focus()
    rest(page)
    page.mouse.wheel(0, 40)
    page.wait_for_function(f"({PLACES})()[{PANES.index(name)}][3].length > 0")
    assert page.evaluate("scrollY") == 0


@pytest.fixture(scope="module")
def int8(corpus: Path, bundles: Path) -> Iterator[str]:
    with serve(tvmdbg.open(corpus / "tvm/resnet20_cifar_int8")) as address:
        yield address


def test_first_finding_opens_the_views_though_it_is_a_warning(page: Page, int8: str) -> None:
    panel = show(page, int8, SMALL)
    first = panel.get_by_role("treeitem").first
    assert first.inner_text().split()[1] == "Warning"
    chip = first.locator(".tvmdbg-chip").first
    node = int(chip.get_attribute("data-node") or "")
    View(page, "tensor").expect_node(node)
    graph = View(page, "graph")
    (mark,) = [each for each in graph.marks() if each["id"] == node]
    canvas = graph.root.locator("canvas").first
    assert 0 < mark["x"] < box_of(canvas)["width"]
    assert 0 < mark["y"] < box_of(canvas)["height"]
    assert canvas.evaluate(COLOR, [mark["x"] - 5, mark["y"] + 1]) == WARNING
    assert page.evaluate("tvmdbg.models.session.get('selected')") == []


def test_badge_of_a_noisy_operator_is_whole_beside_a_long_name(page: Page, int8: str) -> None:
    show(page, int8, SMALL)
    badge = pane(page, "timeline").locator(".tvmdbg-timeline-row .tvmdbg-timeline-noisy").first
    cell = badge.locator("..")
    assert sides(badge)[2] <= sides(cell)[2]
    assert cell.evaluate("(cell) => cell.scrollWidth > cell.clientWidth")
