"""The flamechart with little room: alone at its default height, and in the debugger's pane."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from tests.ui.host import serve, visit
from tests.ui.pointer import box_of, drag, inside, middle_of, sides
from tests.ui.timeline.test_timeline_page import SLOWEST, View
from tests.ui.waits import rest
from tvmdbg_widgets.analysis.compare_times import TimeComparison
from tvmdbg_widgets.run import DebugRun

WIDTH, HEIGHT = 848, 320
ROWS = ".tvmdbg-timeline-rows .tvmdbg-timeline-row"
CHANGES = f".tvmdbg-change {ROWS}"
DIFFERENCES = "&timeline.table_by=%22change%22"


@pytest.fixture(scope="module")
def delegated() -> DebugRun:
    return tvmdbg.open(tvmdbg.samples.executorch_xnnpack)


@pytest.fixture(scope="module")
def compared() -> TimeComparison:
    resnet = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    slower = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    return tvmdbg.compare_times(resnet, slower)


@pytest.fixture(scope="module")
def addresses(delegated: DebugRun, compared: TimeComparison) -> Iterator[dict[str, str]]:
    """Address of a page of each run."""
    resnet = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    runs = {"resnet": resnet, "delegated": delegated, "compared": compared.run}
    with ExitStack() as stack:
        yield {name: stack.enter_context(serve(run)) for name, run in runs.items()}


def is_inside(part: Locator, whole: Locator) -> bool:
    """Whether nothing of a part is cut by the edges of another."""
    left, top, right, bottom = sides(part)
    around = sides(whole)
    return left >= around[0] - 1 and top >= around[1] - 1 and (right, bottom) <= around[2:]


@pytest.mark.parametrize(("width", "height"), [(WIDTH, HEIGHT), (840, 150), (980, HEIGHT)])
def test_low_view_shows_lanes_and_table_below_its_toolbar(
    page: Page, addresses: dict[str, str], width: int, height: int
) -> None:
    view = View(page, addresses["resnet"], f"&timeline.height={height}", width)
    assert box_of(view.root)["height"] == height
    bar = view.root.locator("> .tvmdbg-bar")
    assert is_inside(bar, view.root)
    assert box_of(bar)["height"] <= 34
    drawn = box_of(view.canvas)["height"]
    assert all(mark["y"] + mark["height"] <= drawn for mark in view.seen()["marks"])
    assert is_inside(view.canvas, view.root)
    for row in range(3 if height < HEIGHT else 9):
        assert is_inside(view.root.locator(ROWS).nth(row), view.root)
    expect(view.details).to_be_hidden()
    view.root.focus()
    view.press("q")
    expect(view.details).to_be_visible()
    expect(view.details).to_contain_text("27 operators, 39.88 ms")
    expect(view.root.locator(ROWS).first).to_be_hidden()
    view.root.get_by_role("tab", name="table").click()
    expect(view.root.locator(ROWS).first).to_be_visible()


@pytest.mark.parametrize("width", [600, WIDTH, 1110])
def test_two_compared_runs_leave_half_of_the_rows_in_sight(
    page: Page, compared: TimeComparison, addresses: dict[str, str], width: int
) -> None:
    height = tvmdbg.Flamechart(compared).height
    view = View(page, addresses["compared"], f"{DIFFERENCES}&timeline.height={height}", width)
    assert box_of(view.root)["height"] <= 580  # a notebook on a laptop
    assert is_inside(view.canvas, view.root)
    assert len(compared) == 29
    assert is_inside(view.root.locator(CHANGES).nth(14), view.root)


def test_selected_slice_and_range_are_completely_readable(
    page: Page, addresses: dict[str, str]
) -> None:
    view = View(page, addresses["resnet"], width=WIDTH)
    page.mouse.click(*view.point(SLOWEST))
    expect(view.details).to_be_visible()
    assert is_inside(view.details.locator("dd").last, view.root)
    drag(page, inside(view.canvas, 100, 90), inside(view.canvas, 200, 90))
    expect(view.details).to_contain_text("Marked range")
    rest(page)
    assert is_inside(view.details.locator("dd").last, view.root)
    assert is_inside(view.details.get_by_role("button", name="Clear the range"), view.root)


def test_narrow_and_low_view_shows_one_part(page: Page, addresses: dict[str, str]) -> None:
    view = View(page, addresses["resnet"], "&timeline.height=150", 500)
    assert box_of(view.root)["height"] == 150
    assert is_inside(view.canvas, view.root)
    expect(view.root.locator(ROWS).first).to_be_hidden()
    view.root.focus()
    view.press("t")
    view.press("v", "v")
    assert view.option("show") == "table"
    assert is_inside(view.root.locator(ROWS).first, view.root)


def test_debuggers_pane_shows_lanes_and_table(page: Page, addresses: dict[str, str]) -> None:
    page.set_viewport_size({"width": WIDTH + 20, "height": 640})
    visit(page, f"{addresses['delegated']}?views=debugger&width={WIDTH}&debugger.height=580")
    rest(page)
    root = page.locator(".tvmdbg-timeline").first
    expect(root).to_have_attribute("data-ready", "true")
    pane = root.locator("..")
    assert pane.evaluate("pane => pane.scrollHeight <= pane.clientHeight")
    for part in (root.locator("> .tvmdbg-bar"), root.locator("canvas").first):
        assert is_inside(part, pane)
    assert is_inside(root.locator(ROWS).first, pane)


def test_tooltip_has_three_lines_beside_its_slice(page: Page, addresses: dict[str, str]) -> None:
    view = View(page, addresses["resnet"], "&timeline.height=150", WIDTH)
    mark = view.mark(SLOWEST)
    page.mouse.move(*middle_of(view.canvas, mark))
    tip = view.root.locator(".tvmdbg-timeline-tooltip")
    expect(tip).to_be_visible()
    expect(tip).to_contain_text(f"#{SLOWEST} conv2d + add + relu")
    expect(tip).to_contain_text("2.571 ms · 6.45 % of the total")
    assert tip.locator("> *").count() <= 3
    left, top, right, bottom = sides(tip)
    x, y = inside(view.canvas, mark["x"], mark["y"])
    is_beside = left >= x + mark["width"] or right <= x
    assert is_beside or top >= y + mark["height"] or bottom <= y
    size = page.viewport_size
    assert size is not None
    assert min(left, top) >= 0
    assert (right, bottom) <= (size["width"], size["height"])
    assert bottom <= size["height"]


def test_tooltip_of_compared_runs_states_the_speed_once(
    page: Page, addresses: dict[str, str]
) -> None:
    view = View(page, addresses["compared"], DIFFERENCES, WIDTH)
    page.mouse.move(*middle_of(view.canvas, view.mark(21)))
    line = view.root.locator(".tvmdbg-timeline-tooltip > *").last
    expect(line).to_contain_text("B − A: ")
    said = line.inner_text()
    assert said.count("faster") + said.count("slower") == 1, said


def test_executions_are_shown_first_and_loading_at_a_key(
    page: Page, addresses: dict[str, str], delegated: DebugRun
) -> None:
    view = View(page, addresses["delegated"], width=WIDTH)
    timeline = delegated.timeline
    at = list(timeline.slice_names).index("Method::execute")
    start = timeline.slice_start_ns[at]
    ends = timeline.slice_start_ns + timeline.slice_duration_ns
    whole = float(timeline.slice_start_ns.min()), float(ends.max())
    execution = pytest.approx((start, start + timeline.slice_duration_ns[at]))
    assert view.view == execution
    expect(view.range).to_have_text("Method::execute: 178.8 µs")
    labels = [label["text"] for label in view.seen()["labels"]]
    assert "XNNPACK call 1 of 2 · 19 operators" in labels
    view.root.get_by_role("button", name="loading too").click()
    assert view.view == pytest.approx(whole)
    view.press("h")
    assert view.view == execution
    assert view.option("time_range") is None
    view.press("0")
    assert view.view == pytest.approx(whole)


def test_comparison_shows_its_rows_and_colors_by_difference(
    page: Page, addresses: dict[str, str]
) -> None:
    view = View(page, addresses["compared"], DIFFERENCES, WIDTH)
    rows = view.root.locator(CHANGES)
    for row in range(8):
        assert is_inside(rows.nth(row), view.root)
    expect(view.root.locator(".tvmdbg-change [role=grid]")).to_have_attribute("aria-rowcount", "30")
    headline = view.root.locator("h4, p", has_text="B is 1.09× slower").filter(visible=True)
    expect(headline).to_have_count(1)
    expect(rows.first.locator(".ratio")).to_have_text("1.21× slower")
    expect(view.root.locator(".tvmdbg-timeline-kinds")).to_contain_text("color: B − A")
    chips = rows.locator(".tvmdbg-timeline-chip")
    colors = chips.evaluate_all("chips => chips.map((chip) => chip.style.backgroundColor)")
    assert len(set(colors)) > 3


def test_search_field_keeps_its_width_and_lists_the_slowest_first(
    page: Page, addresses: dict[str, str]
) -> None:
    view = View(page, addresses["resnet"], width=WIDTH)
    field = view.root.get_by_role("combobox", name="search operators")
    before = box_of(field)["width"]
    field.click()
    widths = set()
    for letter in "conv2d":
        page.keyboard.type(letter)
        widths.add(box_of(field)["width"])
    assert widths == {before}
    values = view.root.locator(".tvmdbg-hits-value").all_inner_texts()
    numbers = [float(value.split()[0]) for value in values if value.endswith("ms")]
    assert numbers == sorted(numbers, reverse=True)
    assert len(numbers) > 9


def test_table_of_fused_operators_starts_with_what_leads(
    page: Page, addresses: dict[str, str]
) -> None:
    view = View(page, addresses["resnet"], "&timeline.table_by=%22part%22", WIDTH)
    rows = view.root.locator(ROWS)
    expect(rows.first).to_contain_text("conv2d")
    expect(rows.last).to_contain_text("add")
    expect(view.root.locator(".tvmdbg-timeline-by")).to_contain_text("a fused function counts")


@pytest.mark.parametrize("run", ["resnet", "delegated", "compared"])
def test_number_stays_on_the_line_of_its_unit(
    page: Page, addresses: dict[str, str], run: str
) -> None:
    view = View(page, addresses[run], width=WIDTH)
    view.root.focus()
    view.press("ArrowRight")
    rest(page)
    parted = view.root.evaluate(
        r"""root => {
          const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
          const found = [];
          while (walk.nextNode()) {
            const node = walk.currentNode;
            const isShown = node.parentElement.checkVisibility();
            const isSpoken = node.parentElement.closest('[role="status"]');
            if (isShown && !isSpoken && /\d (%|[nµm]s)/.test(node.data)) found.push(node.data);
          }
          return found;
        }"""
    )
    assert parted == []


def test_legend_says_what_is_colored(page: Page, addresses: dict[str, str]) -> None:
    view = View(page, addresses["resnet"], width=WIDTH)
    key = view.root.locator(".tvmdbg-timeline-kinds")
    expect(key).to_contain_text("color: block of the graph, as nearly all time is convolution")
    block = key.locator("[data-kind='A residual block']")
    row = view.row(12)
    color = "node => getComputedStyle(node.querySelector('.tvmdbg-timeline-chip')).backgroundColor"
    assert block.evaluate(color) == row.evaluate(color)
    view.root.focus()
    view.press("l")
    expect(key).to_contain_text("color: convolution by share of the time")


def test_badge_of_noisy_times_is_whole(page: Page, corpus: Path) -> None:
    page.set_viewport_size({"width": WIDTH + 16, "height": 596})
    with serve(tvmdbg.open(corpus / "tvm/resnet20_cifar_int8")) as address:
        visit(page, f"{address}?views=debugger&width={WIDTH}&debugger.height=580")
        badges = page.locator(f"{ROWS} .tvmdbg-timeline-noisy")
        expect(badges.first).to_be_visible()
        for badge in badges.all():
            assert sides(badge)[2] <= sides(badge.locator(".."))[2]
