"""Main pictures, tooltips and texts of every view in small, medium and large cells of a notebook.

A cell is 848 by 580 px at 1280 by 720 beside JupyterLab's file browser.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from tests.mostly_slow import mostly_slow
from tests.ui.graphs import overlap
from tests.ui.host import serve, visit
from tests.ui.pointer import box_of
from tests.ui.tuning_page import TuningPage
from tests.ui.waits import frames, inspected, painted, rest

SIZES = ((848, 580), (1110, 700), (1500, 900))
SMALL = SIZES[0]
RUNS = (
    "resnet20_cifar",
    "resnet20_cifar_fp16_overflow",
    "executorch_xnnpack",
    "executorch_demo_delegate",
)
VIEWS = ("debugger", "graph", "tensor", "timeline", "memory", "comparison")
GRAPH, TENSOR, CHART = ".tvmdbg-graph", ".tvmdbg-tensor", ".tvmdbg-timeline"
#: Pictures of a view, and the least of each that is visible, CSS px.
PICTURES: dict[str, tuple[tuple[str, int, int], ...]] = {
    "debugger": (
        (f"{GRAPH} .tvmdbg-stage", 240, 160),
        (f"{TENSOR}-stage", 150, 110),
        (f"{CHART} .tvmdbg-stage", 450, 60),
    ),
    "graph": ((".tvmdbg-stage", 400, 250),),
    "tensor": ((f"{TENSOR}-stage", 300, 220),),
    "timeline": ((".tvmdbg-stage", 450, 60),),
    "memory": ((".tvmdbg-stage", 600, 150),),
    "comparison": tuple(
        (f".tvmdbg-graph >> nth={side} >> .tvmdbg-stage", 300, 150) for side in (0, 1)
    ),
}
#: The part of an element that its scrolling ancestors, the view and the window leave.
VISIBLE = """(node) => {
  let { left, top, right, bottom } = node.getBoundingClientRect();
  for (let each = node.parentElement; each; each = each.parentElement) {
    const { overflowX, overflowY } = getComputedStyle(each);
    if (overflowX === "visible" && overflowY === "visible") continue;
    const box = each.getBoundingClientRect();
    [left, top] = [Math.max(left, box.left), Math.max(top, box.top)];
    [right, bottom] = [Math.min(right, box.right), Math.min(bottom, box.bottom)];
  }
  right = Math.min(right, innerWidth);
  bottom = Math.min(bottom, innerHeight);
  return [Math.max(0, right - left), Math.max(0, bottom - top)];
}"""
#: Numbers apart from their units, and texts that are cut beside enough empty space.
TEXTS = r"""(root) => {
  const broken = [], cut = [];
  const units = /\d[\d.,]*\s(ns|µs|ms|s|B|[KMGT]i?B|%|[KMGTP]?FLOP(S|\/[sB])?|[KMG]B\/s)(?!\w)/g;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  while (walker.nextNode()) {
    const { currentNode: node } = walker;
    const parent = node.parentElement;
    const isSeen = parent.checkVisibility({ visibilityProperty: true });
    if (!isSeen || parent.closest(".tvmdbg-mirror, option, pre, code")) continue;
    for (const match of node.data.matchAll(units)) {
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      const tops = new Set([...range.getClientRects()].map(({ top }) => Math.round(top / 6)));
      if (tops.size > 1) broken.push(`${match[0]} in ${node.data}`);
    }
  }
  for (const node of root.querySelectorAll("*")) {
    const style = getComputedStyle(node);
    if (style.textOverflow !== "ellipsis" || style.overflowX === "visible") continue;
    const missing = node.scrollWidth - node.clientWidth;
    if (missing <= 1 || !node.checkVisibility({ visibilityProperty: true })) continue;
    const row = node.parentElement;
    const beside = [...row.children].filter((each) => {
      const [a, b] = [each.getBoundingClientRect(), node.getBoundingClientRect()];
      return a.width > 0 && a.bottom > b.top + 2 && a.top < b.bottom - 2;
    });
    const end = Math.max(...beside.map((each) => each.getBoundingClientRect().right));
    const { paddingRight } = getComputedStyle(row);
    const room = row.getBoundingClientRect().right - Number.parseFloat(paddingRight) - end;
    if (room > missing + 8) cut.push(`${node.textContent}: ${missing} of ${Math.round(room)} px`);
  }
  return { broken, cut };
}"""
TOOLTIP = ".tvmdbg-tooltip:not([hidden])"
#: Lines of a tooltip as they are painted, and whether the browser cut any.
LINES = """(node) => {
  const range = document.createRange();
  range.selectNodeContents(node);
  const bottoms = [...range.getClientRects()].map(({ bottom }) => bottom).sort((a, b) => a - b);
  const lines = bottoms.filter((each, i) => i === 0 || each - bottoms[i - 1] > 6).length;
  const cut = [...node.children].filter((each) => each.scrollWidth > each.clientWidth + 1);
  return { lines, cut: cut.map((each) => each.textContent) };
}"""


def shows(views: Iterable[str]) -> list[tuple[str, str]]:
    """Runs with their views; an ETDump has no memory plan."""
    return [
        (run, view)
        for run in RUNS
        for view in views
        if view != "memory" or not run.startswith("executorch")
    ]


@pytest.fixture(scope="module")
def addresses() -> Iterator[dict[str, str]]:
    runs = {name: tvmdbg.open(getattr(tvmdbg.samples, name)) for name in RUNS}
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(serve(run, other=runs["resnet20_cifar"]))
            for name, run in runs.items()
        }


def shown(
    page: Page, address: str, view: str, size: tuple[int, int], theme: str = "light"
) -> Locator:
    """A view at its default height, in a cell of a notebook of that size."""
    width, height = size
    page.set_viewport_size({"width": width + 16, "height": height + 16})
    own = f"&{view}.height={height}" if view in ("debugger", "comparison") else ""
    visit(page, f"{address}?views={view}&width={width}&theme={theme}{own}")
    painted(page)
    rest(page)
    return page.locator(f".cell > .tvmdbg-{view}")


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize(
    ("run", "view"),
    mostly_slow(
        shows(VIEWS),
        *[("resnet20_cifar_fp16_overflow", view) for view in VIEWS],
        ("executorch_xnnpack", "debugger"),
    ),
)
def test_main_picture_is_visible_without_scrolling(
    page: Page, addresses: dict[str, str], run: str, view: str, size: tuple[int, int]
) -> None:
    root = shown(page, addresses[run], view, size)
    for selector, width, height in PICTURES[view]:
        picture = root.locator(selector).locator("visible=true").first
        across, down = picture.evaluate(VISIBLE)
        assert across >= width, (selector, across, down)
        assert down >= height, (selector, across, down)
    for bar in root.locator(".tvmdbg-bar").locator("visible=true").all():
        box = box_of(bar)
        across, down = bar.evaluate(VISIBLE)
        assert down >= box["height"] - 1, bar.get_attribute("aria-label")
    texts = root.evaluate(TEXTS)
    assert texts == {"broken": [], "cut": []}


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_flamechart_table_is_one_action_away(
    page: Page, addresses: dict[str, str], size: tuple[int, int]
) -> None:
    root = shown(page, addresses["resnet20_cifar"], "debugger", size).locator(CHART)
    row = root.locator(".tvmdbg-timeline-row:not(.tvmdbg-timeline-head)").first
    if not (row.count() and row.is_visible() and row.evaluate(VISIBLE)[1] >= 16):
        root.get_by_role("button", name=re.compile(r"^(Show the )?table", re.IGNORECASE)).click()
        expect(row).to_be_visible()
    across, down = row.evaluate(VISIBLE)
    assert across > 340
    assert down >= 16


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize(
    ("run", "view"),
    mostly_slow(
        shows(("debugger", "graph", "timeline", "memory")),
        ("resnet20_cifar_fp16_overflow", "debugger"),
        ("executorch_xnnpack", "debugger"),
    ),
)
def test_tooltips_have_three_lines_beside_their_targets(
    page: Page, addresses: dict[str, str], run: str, view: str, size: tuple[int, int]
) -> None:
    root = shown(page, addresses[run], view, size)
    window = {"x": 0, "y": 0, "width": size[0] + 16, "height": size[1] + 16}
    seen = 0
    parts = [root] if view != "debugger" else [root.locator(GRAPH), root.locator(CHART)]
    for part in parts:
        stage = part.locator(".tvmdbg-stage").locator("visible=true").first
        at = box_of(stage)
        for mark in some(inspected(part)["marks"]):
            target = mark | {"x": at["x"] + mark["x"], "y": at["y"] + mark["y"]}
            middle = (target["x"] + target["width"] / 2, target["y"] + target["height"] / 2)
            if not within(middle, at) or not within(middle, window):
                continue
            page.mouse.move(*middle)
            frames(page)
            tip = root.locator(TOOLTIP)
            if not tip.count():
                continue
            seen += 1
            box = box_of(tip)
            assert min(box["x"], box["y"]) >= 0, mark
            assert box["x"] + box["width"] <= window["width"] + 0.5, mark
            assert box["y"] + box["height"] <= window["height"] + 0.5, mark
            assert not overlap({**box}, target), (mark, box)
            lines = tip.evaluate(LINES)
            assert lines["lines"] <= 3, tip.inner_text()
            assert lines["cut"] == []
    assert seen >= 3 * len(parts)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.usefixtures("own_page")
def test_tuning_shows_chart_and_tasks_without_scrolling(page: Page, size: tuple[int, int]) -> None:
    width, height = size
    page.set_viewport_size({"width": width + 16, "height": height + 16})
    log = tvmdbg.open_tuning(tvmdbg.samples.ansor_starved)
    root = TuningPage(page, log, width=width, height=height).root
    across, down = root.locator(".tvmdbg-stage").locator("visible=true").first.evaluate(VISIBLE)
    assert across >= 400
    assert down >= 150
    tasks = root.get_by_role("row").locator("visible=true")
    for row in tasks.all()[:7]:
        assert row.evaluate(VISIBLE)[1] >= 14
    assert root.evaluate(TEXTS) == {"broken": [], "cut": []}


def some(marks: list[dict[str, Any]], most: int = 12) -> list[dict[str, Any]]:
    """Marks evenly out of all, at least 4 px wide."""
    wide = [mark for mark in marks if mark["width"] >= 4 and mark["height"] >= 4]
    return wide[:: max(1, len(wide) // most)]


def within(point: tuple[float, float], box: Any) -> bool:
    x, y = point
    across = box["x"] <= x <= box["x"] + box["width"]
    return bool(across and box["y"] <= y <= box["y"] + box["height"])
