"""What keeps the views calm: toolbars of one row, lines that cross no text, nothing that jumps."""

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from tests.mostly_slow import mostly_slow
from tests.ui.checklists import AUDIT
from tests.ui.graph.test_graph_page import inspect
from tests.ui.host import serve, visit
from tests.ui.pointer import box_of, controls
from tests.ui.saved import READY
from tests.ui.test_findings_page import Kernel, finding
from tests.ui.waits import painted, rest

TOOLS = [
    "direction of the graph: down or right",
    "hide params: show only their number in each consumer (p)",
    "zoom in (+)",
    "fit the whole graph (0)",
    "go to the slowest node (s)",
    "show the details (d)",
    "Copy Python code for the node (y)",
    "keys (?)",
]
SELECT = """nodes => {
  const { session } = tvmdbg.models;
  session.set("selected", nodes);
  session.set("source", "python");
}"""


@pytest.fixture(scope="module")
def run() -> tvmdbg.DebugRun:
    return tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)


@pytest.fixture(scope="module")
def pair(run: tvmdbg.DebugRun) -> Iterator[str]:
    with serve(run, other=tvmdbg.open(tvmdbg.samples.resnet20_cifar)) as address:
        yield address


def show(page: Page, address: str, width: int = 1200, views: str = "debugger") -> None:
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": width + 16, "height": 1000 if width > 760 else 2600})
    mark = "" if "?" in address else "?"
    visit(page, f"{address}{mark}views={views}&width={width}")
    painted(page)


def height(found: Locator) -> float:
    box = box_of(found)
    return box["height"]


@pytest.mark.parametrize("width", mostly_slow([480, 900, 1000, 1200, 1400, 1600], 480, 1000))
def test_a_toolbar_is_one_row_and_keeps_its_tools(page: Page, address: str, width: int) -> None:
    show(page, address, width)
    for name in ("graph", "tensor", "timeline"):
        bar = page.locator(f"[data-view={name}] .tvmdbg-bar")
        assert height(bar) < 40, name
        assert bar.evaluate("node => node.scrollWidth <= node.clientWidth"), name
    bar = page.locator("[data-view=graph] .tvmdbg-bar")
    more = bar.get_by_role("button", name="More tools")
    tools = [bar.get_by_role("button", name=tool) for tool in TOOLS]
    if more.is_visible():
        assert not all(tool.is_visible() for tool in tools)
        more.focus()
        page.keyboard.press("Enter")
    for tool in tools:
        expect(tool).to_be_visible()
        box = box_of(tool)
        assert page.evaluate(
            "([x, y, name]) => document.elementFromPoint(x, y).title === name",
            [box["x"] + 4, box["y"] + 4, tool.get_attribute("title")],
        )
    if more.is_visible():
        page.keyboard.press("Tab")
        page.keyboard.press("Escape")
        expect(more).to_be_focused()
        expect(more).to_have_attribute("aria-expanded", "false")


@pytest.mark.parametrize("width", mostly_slow([480, 900, 1200], 480))
def test_show_whole_graph_button_fits_in_toolbar(page: Page, address: str, width: int) -> None:
    show(page, f"{address}?debugger.focus=62&debugger.hops=1&", width)
    graph = page.locator(".tvmdbg-graph")
    assert height(graph.locator("> .tvmdbg-bar")) < 40
    assert graph.locator("> .tvmdbg-bar").evaluate(AUDIT)["overlaps"] == []
    everything = page.get_by_role("button", name="show the whole graph")
    everything.click()
    expect(everything).to_be_hidden()


def test_hidden_tools_return_when_there_is_room(page: Page, address: str) -> None:
    show(page, address, 700, views="graph")
    larger = page.get_by_role("button", name=TOOLS[2])
    more = page.get_by_role("button", name="More tools")
    expect(larger).to_be_hidden()
    more.click()
    expect(larger).to_be_visible()
    expect(larger).to_contain_text("zoom in")
    page.locator(".tvmdbg-graph").focus()
    expect(larger).to_be_hidden()
    more.click()
    page.locator(".tvmdbg-graph-stage").click(position={"x": 20, "y": 330})
    expect(larger).to_be_hidden()
    page.evaluate("document.body.style.width = '1400px'")
    expect(larger).to_be_visible()
    more.click()
    order = page.locator(".tvmdbg-graph > .tvmdbg-bar button").evaluate_all(
        "all => all.filter(each => each.checkVisibility()).map(each => each.title)"
    )
    assert order.index(TOOLS[2]) < order.index(TOOLS[3]) < order.index(TOOLS[5])
    assert order.index("More tools") < order.index(TOOLS[0]) < order.index(TOOLS[1])


@pytest.mark.parametrize("view", ["graph", "tensor", "timeline", "memory", "comparison"])
def test_a_toolbar_shows_at_most_six_controls(page: Page, pair: str, view: str) -> None:
    show(page, pair, 700, views=view)
    root = page.locator(f".cell > .tvmdbg-{view}")
    assert 3 <= controls(root) <= 6
    assert height(root.locator("> .tvmdbg-bar")) < 40
    for button in root.locator("> .tvmdbg-bar button").all():
        assert button.get_attribute("aria-label")
        assert button.get_attribute("title")
    more = root.locator("> .tvmdbg-bar").get_by_role("button", name="More tools")
    if not more.is_visible():
        return
    more.focus()
    page.keyboard.press("Enter")
    for item in root.locator("> .tvmdbg-bar .tvmdbg-more-menu :is(button, select)").all():
        if item.is_visible():
            assert len(item.evaluate("each => (each.closest('label') ?? each).innerText")) > 2
    items = root.locator("> .tvmdbg-bar .tvmdbg-more-menu button:visible:enabled")
    page.keyboard.press("ArrowDown")
    expect(items.first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(items.last).to_be_focused()
    page.keyboard.press("Escape")
    expect(more).to_be_focused()


def test_the_debugger_shows_at_most_six_controls(page: Page, address: str) -> None:
    show(page, address, 700)
    assert 3 <= controls(page.locator(".tvmdbg-debugger")) <= 6


@pytest.mark.parametrize(
    ("width", "high"), mostly_slow([(1112, 587), (1272, 767), (1752, 947)], (1112, 587))
)
def test_debugger_fits_common_window_sizes(page: Page, address: str, width: int, high: int) -> None:
    """What a cell of JupyterLab has at 1280x720, 1440x900 and 1920x1080."""
    show(page, f"{address}?debugger.height={high}&", width)
    rest(page)
    expect(page.locator(".tvmdbg-graph-details")).to_be_hidden()
    pane = box_of(page.locator("[data-view=timeline]"))
    stage = box_of(page.locator(".tvmdbg-timeline-place > .tvmdbg-stage"))
    assert stage["y"] + stage["height"] <= pane["y"] + pane["height"]
    if high > 700:
        texts = [each["text"] for each in inspect(page.locator(".tvmdbg-graph"))["labels"]]
        assert {"#0 data", "residual block × 3", "#73 softmax"} <= set(texts)
    page.evaluate(SELECT, [53])
    for tab in page.get_by_role("tab", name="details").locator("visible=true").all():
        tab.click()
    details = page.locator(".tvmdbg-timeline-details")
    for told in (details.locator("h4"), details.get_by_text("duration")):
        box = box_of(told)
        assert stage["y"] <= box["y"]
        assert box["y"] + box["height"] <= pane["y"] + pane["height"]
    rest(page)
    details.hover(position={"x": 20, "y": 20})
    page.mouse.wheel(0, 1000)
    page.wait_for_function(
        "([last, bottom]) => last.getBoundingClientRect().bottom <= bottom",
        arg=[details.locator("dd").last.element_handle(), pane["y"] + pane["height"]],
    )


def test_the_kind_of_tensors_is_chosen_by_pointer_and_by_keys(page: Page, address: str) -> None:
    show(page, address, views="tensor")
    kinds = page.get_by_role("combobox", name="Kinds of nodes")
    listed = page.get_by_role("listbox", name="Tensors")
    expect(kinds).to_have_value("operators")
    kinds.focus()
    kinds.press("ArrowDown")
    expect(kinds).not_to_have_value("operators")
    expect(kinds).to_be_focused()
    expect(listed).to_be_hidden()
    kinds.dispatch_event("pointerdown")
    kinds.select_option("parameters")
    expect(listed).to_be_visible()
    expect(listed.get_by_role("option").first).to_contain_text("p0")


def test_leader_lines_do_not_cross_labels(page: Page, address: str) -> None:
    show(page, address)
    graph = page.locator(".tvmdbg-graph")
    graph.focus()
    for key in "g0":
        page.keyboard.press(key)
    for nodes in ([53], [50], [50, 53], [53, 50], list(range(38, 74))):
        page.evaluate(SELECT, nodes)
        rest(page)
        found = inspect(graph)
        assert len(found["labels"]) >= 10
        for line, label in product(found["leaders"], found["labels"]):
            across = min(line["x2"], label["x"] + label["width"]) - max(line["x1"], label["x"])
            assert across < 0, (nodes, line, label)


@pytest.mark.parametrize("last", [[finding("slow operators")], []])
def test_graph_does_not_move_when_a_scan_ends(
    page: Page, address: str, last: list[dict[str, object]]
) -> None:
    kernel = Kernel(page)
    kernel.say("scanning", 3)
    show(page, address)
    graph = page.locator("[data-view=graph]")
    panel = page.locator(".tvmdbg-findings")
    before = graph.bounding_box()
    kernel.say("scanning", 5, *last)
    expect(page.locator(".tvmdbg-findings-progress")).to_contain_text("5 of 9")
    assert graph.bounding_box() == before
    kernel.say("done", 9, *last)
    expect(panel).to_have_attribute("data-state", "done")
    rest(page)
    assert graph.bounding_box() == before


def test_finished_scan_leaves_no_empty_space(page: Page, address: str) -> None:
    kernel = Kernel(page)
    kernel.say("done", 9, finding("slow operators"))
    show(page, address)
    assert height(page.locator(".tvmdbg-findings-list")) < 40


def test_page_shows_its_title_once(page: Page, run: tvmdbg.DebugRun, tmp_path: Path) -> None:
    own = run.save_html(tmp_path / "own.html", share="statistics")
    page.goto(own.as_uri())
    page.wait_for_function(READY)
    title = page.locator(".tvmdbg-debugger .tvmdbg-title").first
    expect(page.locator("h1")).to_have_text(run.title)
    expect(page.locator("h1")).to_be_visible()
    expect(title).to_be_hidden()
    assert height(page.locator("body > header")) < 40
    page.goto(run.save_html(tmp_path / "named.html", share="statistics", title="Issue 12").as_uri())
    page.wait_for_function(READY)
    expect(page.locator("h1")).to_have_text("Issue 12")
    expect(title).to_have_text(run.title)
    expect(title).to_be_visible()


def test_index_leads_back_from_plane_missing_in_page(
    page: Page, run: tvmdbg.DebugRun, tmp_path: Path
) -> None:
    path = run.save_html(tmp_path / "small.html", budget=520_000)
    page.goto(f"{path.as_uri()}#node=4")
    page.wait_for_function(READY)
    tensor = page.locator(".tvmdbg-tensor")
    expect(tensor.locator(".tvmdbg-tensor-notes")).to_contain_text("in this page")
    index = tensor.get_by_role("spinbutton", name=re.compile(r"Index along .* \(number\)"))
    picture = tensor.locator(".tvmdbg-tensor-stage")
    tensor.get_by_role("button", name="View, axes, layout and colors").click()
    index.fill("15")
    failed = tensor.locator(".tvmdbg-message-error")
    expect(failed).to_contain_text("not in this page: this plane")
    expect(picture).to_be_hidden()
    expect(index).to_be_visible()
    expect(tensor.get_by_role("region", name="Statistics")).to_contain_text("mean")
    index.fill("0")
    expect(failed).to_be_hidden()
    expect(picture).to_be_visible()
    expect(tensor.locator("> .tvmdbg-mirror")).to_contain_text("#4 conv2d + add + relu, float16")
