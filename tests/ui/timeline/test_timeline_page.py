"""The flamechart in a page: every interaction, the keys alone, both themes, three widths."""

import dataclasses
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.ui.checklists import looks
from tests.ui.host import serve, visit
from tests.ui.pointer import box_of, drag, inside, middle_of, tool
from tests.ui.waits import frames, inspected
from tvmdbg_widgets.model.base.columns import StringColumn
from tvmdbg_widgets.model.timeline.builders import from_table
from tvmdbg_widgets.run import DebugRun

# Of resnet20_cifar, by the table that TVM's run() printed (debug_result_unsorted.txt).
OPERATORS = 27
SLOWEST, SLOWEST_NAME, SECOND = 62, "conv2d + add + relu", 65
AXIS_Y, TRACKS_Y = 36, 90


class View:
    """One flamechart on a page, driven as a user does."""

    def __init__(self, page: Page, address: str, query: str = "", width: int = 980) -> None:
        self.page = page
        page.set_viewport_size({"width": width + 20, "height": 900})
        visit(page, f"{address}?views=timeline&width={width}{query}")
        self.root = page.locator(".tvmdbg-timeline").first
        expect(self.root).to_have_attribute("data-ready", "true")
        self.canvas = self.root.locator("canvas").first
        self.said = self.root.locator('[role="status"]')
        self.range = self.root.locator(".tvmdbg-timeline-range")
        self.details = self.root.locator(".tvmdbg-timeline-details")

    def seen(self) -> dict[str, Any]:
        """What the view says is drawn, after the next frame."""
        frames(self.page)
        return inspected(self.root)

    def session(self, name: str) -> Any:
        return self.page.evaluate(f"() => tvmdbg.models.session.get('{name}')")

    def option(self, name: str) -> Any:
        return self.page.evaluate(f"() => tvmdbg.models.timeline0.get('{name}')")

    def set_session(self, **traits: object) -> None:
        self.page.evaluate(
            "(traits) => { for (const [name, value] of Object.entries(traits))"
            " tvmdbg.models.session.set(name, value); }",
            traits,
        )

    def mark(self, node: int) -> dict[str, float]:
        """Box of the widest drawn slice of a node."""
        boxes = [
            each
            for each in self.seen()["marks"]
            if each["node"] == node and each["kind"] != "instant"
        ]
        return dict(max(boxes, key=lambda box: box["width"]))

    def point(self, node: int) -> tuple[float, float]:
        """Middle of a node's slice, on the page."""
        return middle_of(self.canvas, self.mark(node))

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drag between two points of the canvas."""
        drag(self.page, inside(self.canvas, *start), inside(self.canvas, *end), steps=2)

    def row(self, node: int) -> Locator:
        return self.root.locator(
            ".tvmdbg-timeline-rows .tvmdbg-timeline-row", has_text=f"#{node}"
        ).first

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def width(self) -> float:
        """Width of the canvas."""
        return box_of(self.canvas)["width"]

    @property
    def view(self) -> tuple[float, float]:
        start, end = self.seen()["view"]
        return float(start), float(end)


@pytest.fixture
def view(page: Page, address: str) -> View:
    return View(page, address)


def overlaps(labels: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """Pairs of labels whose boxes share more than a hair's breadth."""
    return [
        (a["text"], b["text"])
        for a, b in combinations(labels, 2)
        if min(a["x"] + a["width"], b["x"] + b["width"]) - max(a["x"], b["x"]) > 0.5
        and min(a["y"] + a["height"], b["y"] + b["height"]) - max(a["y"], b["y"]) > 0.5
    ]


def test_initial_view_lists_slowest_operators_first(view: View, run: DebugRun) -> None:
    rows = view.root.locator(".tvmdbg-timeline-rows .tvmdbg-timeline-row")
    expect(rows.first).to_contain_text(f"#{SLOWEST}")
    expect(rows.first).to_contain_text(SLOWEST_NAME)
    expect(rows.first).to_contain_text("6.45 %")
    time = rows.first.locator(".time")
    expect(time).to_have_text("2.571 ms")
    expect(time).to_have_attribute("title", f"{run.timeline.node_ns[SLOWEST]} ns")
    shown = [text.strip() for text in rows.locator(".id").all_inner_texts()]
    top = run.timeline.top(len(shown))
    assert shown == [f"#{node}" for node in top.nodes]
    expect(view.root.locator("[role=grid]")).to_have_attribute("aria-rowcount", str(OPERATORS + 1))
    expect(view.details).to_contain_text(f"{OPERATORS} operators, 39.88 ms summed over nodes")
    # One kind takes nearly all: the blocks are told apart instead.
    expect(view.root.locator("[data-kind='A residual block']")).to_contain_text("30.6 %")


def test_synthetic_clock_is_labeled(view: View) -> None:
    said = view.root.locator(".tvmdbg-timeline-clock")
    expect(said.locator("summary")).to_contain_text(
        "synthetic timeline: mean node times back to back"
    )
    expect(said.locator("summary")).to_contain_text("total is not model latency")
    more = said.get_by_text("Nothing ran at these times")
    expect(more).to_be_hidden()
    said.locator("summary").click()
    expect(more).to_be_visible()


def test_every_slice_is_drawn_or_counted(view: View) -> None:
    seen = view.seen()
    nodes = {mark["node"] for mark in seen["marks"] if mark["kind"] != "instant"}
    assert SLOWEST in nodes
    assert any("27 slices" in label["text"] for label in seen["labels"])
    assert any("45 zero-duration" in label["text"] for label in seen["labels"])
    instants = [mark for mark in seen["marks"] if mark["kind"] == "instant"]
    assert sum(mark["share"] for mark in instants) >= 45
    assert all(mark["width"] == 1 for mark in instants)


def test_click_selects_slice_and_shows_details(view: View) -> None:
    view.page.mouse.click(*view.point(SLOWEST))
    assert view.session("selected") == [SLOWEST]
    assert view.session("slice") == [SLOWEST, 0]
    assert view.session("source") == "timeline"
    expect(view.said).to_contain_text(
        f"Slice of #{SLOWEST} {SLOWEST_NAME} · 1×64×8×8, starts 34.75 ms, "
        "lasts 2.571 ms (mean of 5 repeats, p10 … p90"
    )
    expect(view.said).to_contain_text("6.45 % of 39.88 ms, rank 1 of 27; synthetic timeline")
    expect(view.row(SLOWEST)).to_have_attribute("aria-selected", "true")
    expect(view.details.locator("circle.dot")).to_have_count(5)
    view.page.mouse.click(*view.point(SECOND), button="left")
    assert view.session("selected") == [SECOND]


def test_hover_shows_name_time_and_one_fact(view: View) -> None:
    view.page.mouse.move(*view.point(SLOWEST))
    tip = view.root.locator(".tvmdbg-timeline-tooltip")
    expect(tip).to_be_visible()
    for text in (
        f"#{SLOWEST} {SLOWEST_NAME}",
        "2.571 ms · 6.45 % of the total",
        "mean of 5 repeats",
    ):
        expect(tip).to_contain_text(text)
    assert view.session("hovered") == SLOWEST
    view.page.mouse.move(5, 880)
    expect(tip).to_be_hidden()
    assert view.session("hovered") is None


def test_shift_drag_pans_and_wheel_zooms_only_with_focus(view: View) -> None:
    x, y = view.point(SLOWEST)
    view.page.mouse.move(x, y)
    view.page.mouse.wheel(0, -300)
    assert view.view == pytest.approx((0, 39.88e6), rel=1e-3)
    view.page.mouse.click(x, y)
    under = sum(view.view) / 2
    view.page.mouse.wheel(0, -300)
    start, end = view.view
    assert end - start < 0.7 * 39.88e6
    assert start < under or end > under
    expect(view.range).to_contain_text(" ms – ")
    view.page.keyboard.down("Shift")
    view.drag((300, TRACKS_Y), (400, TRACKS_Y))
    assert view.view[0] < start
    before = view.view
    view.page.mouse.wheel(0, 100)
    view.page.keyboard.up("Shift")
    assert view.view[0] > before[0]
    assert view.view[1] - view.view[0] == pytest.approx(end - start)
    tool(view.root, "fit the whole flamechart (0)").click()
    expect(view.range).to_have_text("total 39.88 ms")
    expect(tool(view.root, "fit the whole flamechart (0)")).to_be_disabled()


def test_wheel_keeps_the_time_under_the_pointer(view: View) -> None:
    x, y = view.point(SLOWEST)
    view.page.mouse.click(x, y)
    for _ in range(4):
        view.page.mouse.wheel(0, -240)
    box, mark = box_of(view.canvas), view.mark(SLOWEST)
    assert mark["x"] <= x - box["x"] <= mark["x"] + mark["width"]
    assert mark["width"] > 100


def test_double_click_zooms_to_the_slice(view: View, run: DebugRun) -> None:
    view.page.mouse.dblclick(*view.point(SLOWEST))
    start, end = view.view
    at, lasts = run.timeline.slice_start_ns[SLOWEST], run.timeline.slice_duration_ns[SLOWEST]
    assert start < at < at + lasts < end
    assert end - start == pytest.approx(1.5 * lasts)
    view.page.wait_for_function("() => tvmdbg.models.timeline0.get('time_range') !== null")
    assert view.option("time_range") == pytest.approx([start, end])


def test_axis_and_overview_zoom(view: View) -> None:
    view.drag((100, AXIS_Y), (200, AXIS_Y))
    start, end = view.view
    assert end - start == pytest.approx(39.88e6 * 100 / view.width, rel=0.01)
    view.drag((300, 10), (400, 10))
    moved = view.view
    assert moved[0] > end
    middle = (moved[0] + moved[1]) / 2 / 39.88e6 * view.width
    view.drag((middle, 10), (middle + 50, 10))
    assert view.view[0] > moved[0]
    assert view.view[1] - view.view[0] == pytest.approx(moved[1] - moved[0], rel=1e-6)


def test_drag_marks_a_range_and_sums_it_up(view: View, run: DebugRun) -> None:
    view.drag((100, TRACKS_Y), (300, TRACKS_Y))
    start, end = view.session("time_range")
    begin = run.timeline.slice_start_ns
    stop = begin + run.timeline.slice_duration_ns
    inside = int(np.count_nonzero((begin < end) & (stop > start) & (stop > begin)))
    expect(view.details).to_contain_text(f"{inside} slices and ")
    expect(view.details).to_contain_text("of the range; not model latency")
    expect(view.details).not_to_contain_text("busy")
    slowest = run.times(within=(start, end))[0]
    expect(view.details.get_by_role("listitem").first).to_contain_text(slowest.label)
    expect(view.said).to_contain_text("range: ")
    assert view.view == pytest.approx((0, 39.88e6), rel=1e-3)
    view.press("f")
    assert view.view == pytest.approx((start, end))
    view.press("Escape")
    assert view.session("time_range") is None


def test_timeline_is_operated_by_keys_alone(page: Page, address: str) -> None:
    view = View(page, address)
    page.keyboard.press("Tab")
    for _ in range(3):
        if view.root.evaluate("(root) => document.activeElement === root"):
            break
        page.keyboard.press("Tab")
    view.press("ArrowRight")
    assert view.session("selected") == [3]
    view.press("ArrowRight")
    assert view.session("selected") == [6]
    view.press("ArrowLeft")
    assert view.session("selected") == [3]
    view.press("Shift+ArrowLeft")
    assert view.session("selected") == [2]
    view.press("Home", "ArrowLeft")
    assert view.session("selected") == [3]
    view.press("End")
    last = view.session("selected")
    view.press("ArrowRight")
    assert view.session("selected") == last == [71]
    view.press("w", "w")
    assert view.view[1] - view.view[0] == pytest.approx(39.88e6 / 2.25, rel=1e-3)
    start = view.view[0]
    view.press("a")
    assert view.view[0] < start
    view.press("d", "s", "0")
    assert view.view == pytest.approx((0, 39.88e6), rel=1e-3)
    view.press("f")
    assert view.view[1] - view.view[0] < 0.1 * 39.88e6
    view.press("0", "w", "Home", "Enter")
    view.press("0", "w", "w", "r")
    assert view.session("time_range") == pytest.approx(list(view.view))
    view.press("Escape")
    assert view.session("time_range") is None
    view.press("Escape")
    assert view.session("selected") == []


def test_keys_in_the_table(view: View) -> None:
    view.root.focus()
    view.press("t", "ArrowDown")
    assert view.session("selected") == [SLOWEST]
    view.press("ArrowDown")
    assert view.session("selected") == [SECOND]
    row = view.row(SECOND)
    expect(row).to_have_attribute("aria-selected", "true")
    identifier = row.get_attribute("id") or ""
    expect(view.root).to_have_attribute("aria-activedescendant", identifier)
    view.press("End")
    expect(view.root.locator(".tvmdbg-timeline-rows .current .rank")).to_have_text(str(OPERATORS))
    expect(view.root.locator(".tvmdbg-timeline-rows .current")).to_be_in_viewport()
    view.press("PageUp", "Home")
    assert view.session("selected") == [SLOWEST]
    view.press("o")
    assert view.option("sort") == "order"
    expect(view.root.locator(".tvmdbg-timeline-rows .current .id")).to_have_text(f"#{SLOWEST}")
    view.press("Home")
    assert view.session("selected") == [3]
    view.press("k")
    assert len(view.session("selected")) == 21
    assert view.session("selected")[-1] == SLOWEST
    view.press("v")
    assert view.option("show") == "chart"
    expect(view.root.locator("[role=grid]")).to_be_hidden()
    view.press("t")
    assert view.option("show") == "table"
    expect(view.canvas).to_be_hidden()
    view.press("v")
    assert view.option("show") == "both"


def test_search_by_keys(view: View) -> None:
    view.root.focus()
    view.press("/")
    view.page.keyboard.type("softmax")
    hits = view.root.locator(".tvmdbg-timeline-hits")
    expect(hits).to_contain_text("1 hit, Σ ")
    view.press("Enter")
    expect(view.root).to_be_focused()
    expect(hits).to_contain_text("1 of 1 hit")
    expect(view.said).to_contain_text("softmax")
    view.press("/")
    view.page.keyboard.press("Control+a")
    view.page.keyboard.type("relu")
    expect(hits).to_contain_text("19 hits")
    view.press("Enter")
    first = view.session("selected")
    view.press("n")
    assert view.session("selected") > first
    view.press("Shift+N")
    assert view.session("selected") == first
    view.press("/", "Escape")
    expect(view.root).to_be_focused()
    expect(hits).to_have_text("")


def test_search_by_node_id(view: View) -> None:
    view.root.focus()
    view.press("/")
    view.page.keyboard.type("#6")
    view.press("Enter")
    assert view.session("selected") == [6]
    expect(view.root.locator(".tvmdbg-timeline-hits")).to_contain_text("1 of 1 hit")


def test_selection_from_another_view_scrolls_into_view(view: View) -> None:
    view.root.focus()
    view.press("End", "f")
    view.set_session(selected=[9], source="graph")
    assert view.mark(9)["width"] > 0
    expect(view.row(9)).to_have_attribute("aria-selected", "true")
    expect(view.said).to_contain_text("Slice of #9 conv2d + add + add + relu")
    view.press("q")
    expect(view.row(9)).to_be_in_viewport()
    view.set_session(selected=[1], source="graph")
    expect(view.said).to_contain_text("Slice of #1 p0, starts 0 ns, parameter")
    view.set_session(time_range=[1e6, 5e6], source="python")
    expect(view.details).to_contain_text("4.000 ms (4,000,000 ns), 1.000 ms – 5.000 ms")


def test_click_on_kind_selects_all_its_nodes(view: View, run: DebugRun) -> None:
    nodes = [node.id for node in run.graph.nodes if node.op_kind == "activation"]
    view.page.evaluate("() => tvmdbg.models.timeline0.set('slice_color', 'kind')")
    view.root.locator("[data-kind=activation]").click()
    assert sorted(view.session("selected")) == nodes
    expect(view.root).to_be_focused()
    expect(view.details).to_contain_text("2 nodes selected")


def test_rows_are_clicked_and_sorted(view: View) -> None:
    view.row(SECOND).click()
    assert view.session("selected") == [SECOND]
    expect(view.root).to_be_focused()
    view.root.get_by_role("button", name="node id; sort by execution order").click()
    shown = view.root.locator(".tvmdbg-timeline-rows .id").all_inner_texts()
    ids = [int(text.removeprefix("#")) for text in shown]
    assert ids == sorted(ids)
    assert view.option("sort") == "order"


def test_click_on_empty_space_clears_selection(view: View) -> None:
    view.page.mouse.click(*view.point(SLOWEST))
    box = box_of(view.canvas)
    view.page.mouse.click(box["x"] + box["width"] - 40, box["y"] + 54)
    assert view.session("selected") == []


@pytest.mark.parametrize(("width", "theme"), looks())
def test_labels_are_readable_at_any_width_and_zoom(
    page: Page, address: str, width: int, theme: str
) -> None:
    view = View(page, address, f"&theme={theme}", width)
    view.root.focus()
    view.press("ArrowRight")
    for _ in range(14):
        seen = view.seen()
        box = box_of(view.canvas)
        assert overlaps(seen["labels"]) == []
        for label in seen["labels"]:
            assert label["x"] >= 0, label
            assert label["x"] + label["width"] <= box["width"] + 0.5, label
        for mark in seen["marks"]:
            assert -0.5 <= mark["x"] <= mark["x"] + mark["width"] <= box["width"] + 0.5, mark
        view.press("w")
    fills = view.root.evaluate("(root) => getComputedStyle(root).backgroundColor")
    assert fills == {"light": "rgb(255, 255, 255)", "dark": "rgb(17, 17, 17)"}[theme]
    outside = view.root.evaluate(
        """(root) => [...root.querySelectorAll("*")].filter((each) => {
          if (each.closest(".tvmdbg-mirror, [hidden]")) return false;
          const box = each.getBoundingClientRect();
          return box.width > 0 && box.right > root.getBoundingClientRect().right + 0.5;
        }).map((each) => each.className)"""
    )
    assert outside == []


def test_table_position_depends_on_width(page: Page, address: str) -> None:
    for width, beside in ((900, True), (880, False)):
        view = View(page, address, "&timeline.height=700", width)
        chart, table = box_of(view.canvas), box_of(view.root.locator("[role=grid]"))
        assert (table["x"] >= chart["x"] + chart["width"]) is beside
        if beside:
            assert chart["width"] == pytest.approx(0.57 * width, abs=3)


def test_options_set_the_first_view(page: Page, address: str) -> None:
    view = View(page, address, "&timeline.time_range=[1e6,2e6]&timeline.sort=%22order%22")
    assert view.view == pytest.approx((1e6, 2e6))
    expect(view.root.locator(".tvmdbg-timeline-rows .id").first).to_have_text("#3")
    page.evaluate("() => tvmdbg.models.timeline0.set('time_range', null)")
    assert view.view == pytest.approx((0, 39.88e6), rel=1e-3)
    page.evaluate("() => tvmdbg.models.timeline0.set('show', 'table')")
    expect(view.canvas).to_be_hidden()


def with_timeline(run: DebugRun, timeline: Any) -> DebugRun:
    return DebugRun(dataclasses.replace(run.parts, timeline=timeline))


def test_recorded_times_keep_their_gaps(page: Page, run: DebugRun) -> None:
    starts, lasts, nodes = [0.0, 400.0, 2000.0], [400.0, 100.0, 500.0], [3, 6, 9]
    wall = from_table(
        StringColumn.from_strings(["a", "b", "c"]),
        lasts,
        np.zeros(4, np.int64),
        np.zeros(0),
        nodes=nodes,
        trust=[0, 0, 0],
        num_nodes=72,
        source="debug_result.txt",
        start_ns=starts,
        end_ns=np.add(starts, lasts),
    )
    with serve(with_timeline(run, wall)) as address:
        view = View(page, address)
        expect(view.root.locator("summary")).to_contain_text("wall clock: start and end")
        marks = view.seen()["marks"]
        assert not any(505 < mark["x"] / view.width * 2500 < 1990 for mark in marks)
        assert any("busy 40.0 %" in label["text"] for label in view.seen()["labels"])
        box = box_of(view.canvas)
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + TRACKS_Y)
        tip = view.root.locator(".tvmdbg-timeline-tooltip")
        expect(tip).to_contain_text("idle for 1.500 µs")
        page.mouse.click(*view.point(3))
        expect(view.details).to_contain_text("No repeats are known, only the mean")
        expect(view.details).to_contain_text("repeat=")


def test_table_is_shown_without_slices(page: Page, run: DebugRun) -> None:
    timeline = run.timeline
    nothing = np.zeros(0)
    columns = dict.fromkeys(("slice_node", "slice_start_ns", "slice_duration_ns"), nothing)
    columns |= dict.fromkeys(("slice_track", "slice_trust", "slice_occurrence"), nothing)
    bare = dataclasses.replace(timeline, slice_names=StringColumn.from_strings([]), **columns)
    with serve(with_timeline(run, bare)) as address:
        view = View(page, address)
        expect(view.root).to_contain_text("no trace was found")
        view.row(SLOWEST).click()
        assert view.session("selected") == [SLOWEST]
        expect(view.said).to_contain_text(f"#{SLOWEST} {SLOWEST_NAME} · 1×64×8×8, takes 2.571 ms")
        view.press("ArrowDown", "ArrowRight", "f", "w", ".")
        assert view.session("selected") == [SECOND]


def test_missing_timeline_shows_explanation(page: Page, run: DebugRun) -> None:
    with serve(with_timeline(run, None)) as address:
        view = View(page, address)
        expect(view.root).to_contain_text("No flamechart")
        expect(view.root.locator("p")).not_to_be_empty()


def test_an_error_is_shown_in_the_view(page: Page, address: str, errors: list[str]) -> None:
    page.route("**/ask", lambda route: route.fulfill(body=broken(route.request.post_data_json)))
    view = View(page, address)
    expect(view.root.get_by_role("alert")).to_contain_text("The flamechart could not be read")
    expect(view.root.get_by_role("alert")).to_contain_text("params file changed")
    assert errors == []


def broken(message: dict[str, Any]) -> bytes:
    import json
    import struct

    head = json.dumps({"id": message["id"], "error": "params file changed"}).encode()
    return struct.pack("<I", len(head)) + head


def test_ten_thousand_rows_scroll(page: Page, run: DebugRun) -> None:
    count = 10_000
    timeline = from_table(
        StringColumn.from_strings([f"op_{i}" for i in range(count)]),
        np.arange(count, dtype=np.float64) + 1,
        np.zeros(count + 1, np.int64),
        np.zeros(0),
        nodes=np.arange(count),
        trust=np.zeros(count),
        num_nodes=count,
        source="table",
    )
    parts = dataclasses.replace(run.parts, timeline=timeline, graph=None, tensors=None)
    with serve(DebugRun(parts)) as address:
        view = View(page, address)
        rows = view.root.locator(".tvmdbg-timeline-rows .tvmdbg-timeline-row")
        assert rows.count() < 60
        view.root.focus()
        view.press("t", "End")
        expect(view.root.locator(".tvmdbg-timeline-rows .current")).to_contain_text("op_0")
        expect(view.root.locator(".tvmdbg-timeline-rows .current")).to_be_in_viewport()
        assert rows.count() < 60
        assert overlaps(view.seen()["labels"]) == []


def test_slices_too_thin_to_see_are_outlined_when_selected(page: Page, address: str) -> None:
    view = View(page, address, "&timeline.show=%22chart%22", 480)
    view.root.focus()
    view.set_session(selected=[71], source="graph")
    expect(view.said).to_contain_text("Slice of #71 softmax,")
    view.seen()
    x = view.page.evaluate(
        """() => {
          const over = document.querySelector(".tvmdbg-overlay");
          const ratio = devicePixelRatio;
          const row = over.getContext("2d").getImageData(
            over.width - 12 * ratio, 90 * ratio, 12 * ratio, 1).data;
          let filled = 0;
          for (let i = 3; i < row.length; i += 4) if (row[i] > 200) filled++;
          return filled / ratio;
        }"""
    )
    assert x >= 2
