"""The memory view in a page: every interaction, the keys alone, what is missing, large plans."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import tvmdbg_widgets as tvmdbg
from tests.graph_json import document, graph_json, null, operator
from tests.ui.host import serve, visit
from tests.ui.pointer import box_of, drag, inside, middle_of, tool
from tests.ui.waits import frames, inspected, rest
from tvmdbg_widgets.run import DebugRun

# Of resnet20_cifar: what its nodes 3, 6 and 9 write takes 64 KiB each, beside the picture's 12.
PEAK = 9
STEPS = 27


def graph(
    count: int, storage: list[int] | None = None, shapes: list[list[int]] | None = None
) -> bytes:
    """A chain in which each node also reads what the third before it wrote."""
    nodes = [null("x")]
    nodes += [operator(f"n{at}", "fused_add", [at - 1, max(0, at - 3)]) for at in range(1, count)]
    shapes = shapes or [[1 + at % 5, 256] for at in range(count)]
    written = document(nodes, shapes=shapes, storage=storage)
    if storage is None:
        del written["attrs"]["storage_id"]
    return json.dumps(written).encode()


def rounded(text: str) -> str:
    """A sentence without the exact bytes, which the view has in its title."""
    return re.sub(r"(?<=iB) \([\d,]+\)", "", text)


class View:
    """One memory view on a page, driven as a user does."""

    def __init__(
        self, page: Page, address: str, query: str = "", width: int = 980, views: str = "memory"
    ) -> None:
        self.page = page
        page.set_viewport_size({"width": width + 20, "height": 900})
        visit(page, f"{address}?views={views}&width={width}{query}")
        self.root = page.locator(".tvmdbg-memory").first
        expect(self.root).to_have_attribute("data-ready", "true")
        self.canvas = self.root.locator("canvas").first
        self.said = self.root.locator('[role="status"]')
        self.details = self.root.locator(".tvmdbg-memory-details")

    def seen(self) -> dict[str, Any]:
        """What the view says is drawn, after the next frame."""
        frames(self.page)
        return inspected(self.root)

    def labels(self) -> list[str]:
        return [each["text"] for each in self.seen()["labels"]]

    def session(self, name: str) -> Any:
        return self.page.evaluate(f"() => tvmdbg.models.session.get('{name}')")

    def option(self, name: str) -> Any:
        return self.page.evaluate(f"() => tvmdbg.models.memory0.get('{name}')")

    def select(self, *nodes: int) -> None:
        self.page.evaluate(
            """(nodes) => {
              tvmdbg.models.session.set("selected", nodes);
              tvmdbg.models.session.set("entry", null);
            }""",
            list(nodes),
        )

    def point(self, node: int) -> tuple[float, float]:
        """The middle of a node's entry, in the page."""
        mark = next(each for each in self.seen()["marks"] if each["node"] == node)
        return middle_of(self.canvas, mark)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """A point of the stage, in the page."""
        return inside(self.canvas, x, y)

    def keys(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)


def test_memory_view_shows_peak_slots_and_summary(page: Page, address: str, run: DebugRun) -> None:
    view = View(page, address)
    seen = view.seen()
    labels = [each["text"] for each in seen["labels"]]
    assert "peak 204.0 KiB at #9" in labels
    assert "allocated 204.3 KiB" in labels
    parameters = "parameters 1.0 MiB, allocated throughout (not to scale)"
    assert any(each.startswith(parameters) for each in labels)
    assert "#0 data" in labels
    plan = run.memory_plan()
    drawn = {(each["node"], each["slot"]) for each in seen["marks"]}
    wanted = {
        (entry.node, slot.index)
        for slot in plan.slots
        if not slot.is_parameter
        for entry in slot.entries
    }
    assert drawn == wanted
    for line in plan.text.splitlines():
        expect(view.details).to_contain_text(rounded(line))
        expect(view.details.locator("p").filter(has_text=rounded(line))).to_have_attribute(
            "title", line
        )
    expect(view.said).to_contain_text("Nothing is selected")


def test_live_ranges_start_at_planned_steps(page: Page, address: str, run: DebugRun) -> None:
    seen = View(page, address).seen()
    plan = run.memory_plan()
    left = min(each["x"] for each in seen["marks"])
    right = max(each["x"] + each["width"] for each in seen["marks"])
    step = (right - left) / STEPS
    for each in seen["marks"]:
        entry = run.graph.entry_id(each["node"], each["output"])  # type: ignore[union-attr]
        assert abs(each["x"] - (left + int(plan.first[entry]) * step)) < 2


def test_a_click_selects_the_entry_for_all_views(page: Page, address: str) -> None:
    view = View(page, address, views="memory,graph")
    page.mouse.click(*view.point(21))
    assert view.session("selected") == [21]
    assert view.session("entry") == [21, 0]
    assert view.session("source") == "memory"
    expect(view.details).to_contain_text("#21 conv2d + add + add + relu")
    expect(view.details).to_contain_text("storage_id 9 on cpu, 64.0 KiB (65,536)")
    expect(view.details).to_contain_text("slot with #9, #31, #43, #53, #65")
    expect(view.said).to_contain_text("of the workspace")
    page.keyboard.down("Control")
    page.mouse.click(*view.point(9))
    page.keyboard.up("Control")
    assert view.session("selected") == [21, 9]
    expect(view.details).to_contain_text("2 nodes selected")
    expect(view.details).to_contain_text("128.0 KiB (131,072), in 1 slot")
    expect(page.locator(".tvmdbg-graph .tvmdbg-mirror").first).to_contain_text("Node 9 of")


def test_node_selected_in_graph_is_shown_in_memory_plan(page: Page, address: str) -> None:
    view = View(page, address, query="&graph.grouped=false", views="graph,memory")
    page.set_viewport_size({"width": 1000, "height": 1200})
    graph = page.locator(".tvmdbg-graph").first
    expect(graph).to_have_attribute("data-ready", "true")
    graph.focus()
    view.keys("s")
    expect(view.details).to_contain_text("#62 conv2d + add + relu")
    expect(view.said).to_contain_text("#62 ")
    rest(page)
    mark = next(each for each in inspected(graph)["marks"] if each["id"] == 59)
    at = {"x": mark["x"] + mark["width"] / 2, "y": mark["y"] + mark["height"] / 2}
    graph.locator("canvas").first.click(position=at)
    expect(view.details).to_contain_text("#59 ")
    expect(view.said).to_contain_text("#59 ")


def test_click_on_byte_chart_selects_running_node(page: Page, address: str) -> None:
    view = View(page, address)
    mark = next(each for each in view.seen()["marks"] if each["node"] == 71)
    page.mouse.click(*view.at(mark["x"] + mark["width"] / 2, 40))
    assert view.session("selected") == [71]
    page.mouse.click(*view.at(20, 40))
    assert view.session("selected") == []


def test_selection_from_other_views_is_shown(page: Page, address: str) -> None:
    view = View(page, address)
    view.select(PEAK)
    expect(view.details).to_contain_text("highest of all nodes")
    assert view.seen()["current"] >= 0
    view.select(1)
    expect(view.details).to_contain_text("separate from the workspace")
    view.select()
    expect(view.details).to_contain_text("workspace 204.3 KiB")
    page.evaluate("tvmdbg.models.session.set('hovered', 21)")
    frames(page)
    marks = {each["entry"]: each["node"] for each in view.seen()["marks"]}
    assert marks[view.seen()["hovered"]] == 21


def test_tooltip_describes_entries_free_slots_and_steps(page: Page, address: str) -> None:
    view = View(page, address)
    tooltip = view.root.locator(".tvmdbg-tooltip")
    page.mouse.move(*view.point(31))
    expect(tooltip).to_contain_text("#31")
    expect(tooltip).to_contain_text("64.0 KiB")
    assert view.session("hovered") == 31
    top = next(each for each in view.seen()["marks"] if each["node"] == 70)
    page.mouse.move(*view.at(200, top["y"] + 5))
    expect(tooltip).to_contain_text("free")
    page.mouse.move(*view.at(200, 60))
    expect(tooltip).to_contain_text("of the workspace")
    page.mouse.move(*view.at(200, -30))
    expect(tooltip).to_be_hidden()


def test_the_wheel_zooms_once_the_view_has_the_focus(page: Page, address: str) -> None:
    view = View(page, address)
    page.mouse.move(*view.at(500, 60))
    page.mouse.wheel(0, -300)
    assert view.seen()["view"] == [0, STEPS]
    expect(view.root.locator(".tvmdbg-wheel-hint")).to_have_count(1)
    view.root.focus()
    page.mouse.wheel(0, -300)
    start, end = view.seen()["view"]
    assert end - start < STEPS
    page.wait_for_function("() => tvmdbg.models.memory0.get('step_range') !== null")
    assert view.option("step_range") == [start, end]
    drag(page, view.at(500, 60), view.at(400, 60), steps=4)
    assert view.seen()["view"][0] > start
    assert view.session("selected") == [], "a drag selects nothing"
    page.mouse.dblclick(*view.point(37))
    start, end = view.seen()["view"]
    assert start < 15 < end


def test_buttons_select_peak_color_and_zoom(page: Page, address: str) -> None:
    view = View(page, address)
    view.root.get_by_role("button", name="go to the peak (p)").click()
    assert view.session("selected") == [PEAK]
    view.root.get_by_role("button", name="show memory of parameters (m)").click()
    assert view.option("parameters") is False
    assert not any("not to scale" in label for label in view.labels())
    view.root.get_by_role("button", name="color entries by size (c)").click()
    assert view.option("color_by") == "size"
    expect(view.root.locator(".tvmdbg-memory-legend")).to_contain_text("64.0 KiB")
    view.root.get_by_role("button", name="color entries by operator kind (c)").click()
    expect(view.root.locator(".tvmdbg-memory-legend")).to_contain_text("convolution")
    tool(view.root, "zoom in (w)").click()
    tool(view.root, "zoom in (w)").click()
    start, end = view.seen()["view"]
    assert end - start == pytest.approx(STEPS / 1.5**2)
    tool(view.root, "zoom out (s)").click()
    start, end = view.seen()["view"]
    assert end - start == pytest.approx(STEPS / 1.5)
    tool(view.root, "fit the whole run (0)").click()
    assert view.seen()["view"] == [0, STEPS]


def test_memory_view_is_operated_by_keyboard_alone(page: Page, address: str) -> None:
    view = View(page, address)
    view.root.focus()
    view.keys("p")
    assert view.session("selected") == [PEAK]
    expect(view.said).to_contain_text("peak while #9 conv2d + add + add + relu runs")
    view.keys("ArrowRight")
    assert view.session("selected") == [12]
    expect(view.said).to_contain_text("#12 conv2d + add + relu; tensor float32")
    view.keys("ArrowLeft", "ArrowLeft")
    assert view.session("selected") == [6]
    view.keys("ArrowUp")
    assert view.session("selected") == [3]
    view.keys(".")
    assert view.session("selected") == [15]
    view.keys(",")
    assert view.session("selected") == [3]
    view.keys("End")
    assert view.session("selected") == [71]
    view.keys("Home")
    assert view.session("selected") == [3]
    view.keys("+", "+")
    start, end = view.seen()["view"]
    assert end - start < STEPS
    view.keys("d")
    assert view.seen()["view"][0] > start
    view.keys("a", "f")
    start, end = view.seen()["view"]
    assert start == 0
    assert end <= 8
    view.keys("Enter", "0")
    assert view.seen()["view"] == [0, STEPS]
    view.keys("-", "m")
    assert view.option("parameters") is False
    expect(view.said).to_have_text("parameters hidden")
    view.keys("c")
    assert view.option("color_by") == "size"
    view.keys("Escape")
    assert view.session("selected") == []
    view.keys("?")
    expect(view.root.locator(".tvmdbg-help")).to_contain_text("entry in the slot above")
    view.keys("Escape")
    expect(view.root.locator(".tvmdbg-help")).to_be_hidden()


def test_code_for_the_selection_is_copied(page: Page, address: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    view = View(page, address)
    view.select(PEAK)
    view.root.focus()
    view.keys("y")
    expect(view.said).to_contain_text("run.memory_plan().entry(9)")


def test_traits_control_the_view(page: Page, address: str) -> None:
    query = '&memory.color_by="size"&memory.parameters=false&memory.step_range=[3,9]'
    view = View(page, address, query)
    assert view.seen()["view"] == [3, 9]
    assert not any("not to scale" in label for label in view.labels())
    page.evaluate("tvmdbg.models.memory0.set('step_range', null)")
    assert view.seen()["view"] == [0, STEPS]
    page.evaluate("tvmdbg.models.memory0.set('color_by', 'kind')")
    expect(view.root.locator(".tvmdbg-memory-legend")).to_contain_text("convolution")
    page.evaluate("tvmdbg.models.memory0.set('height', 600)")
    expect(view.root).to_have_css("height", "600px")


def test_missing_storage_ids_are_reported_with_instructions(page: Page, data: Path) -> None:
    with serve(tvmdbg.open(graph(5))) as address:
        view = View(page, address)
        expect(view.root).to_contain_text("No memory plan")
        expect(view.root).to_contain_text("open(…, graph=lib.get_graph_json())")
    with serve(tvmdbg.open(data / "times/split_multi_v0.19/time_list.json")) as address:
        expect(View(page, address).root).to_contain_text("This run has no graph")
    with serve(tvmdbg.open(graph(5, [-1] * 5))) as address:
        view = View(page, address)
        expect(view.root).to_contain_text("5 entries without a usable storage_id")


def test_lost_and_unknown_entries_are_reported(page: Page) -> None:
    storage = [0, 1, 2, 1, 3, 4, -1, 5]
    with serve(tvmdbg.open(graph(8, storage))) as address:
        view = View(page, address)
        lost = view.details.locator(".tvmdbg-error")
        expect(lost).to_contain_text("1 entry overwritten while still needed: #1 by #3 add")
        expect(view.details).to_contain_text("1 entry without a usable storage_id, not counted")
        view.select(1)
        expect(view.details).to_contain_text("overwritten by #3 add, read again by #4")
        assert any("(lost)" in label for label in view.labels())
        view.select(6)
        expect(view.details).to_contain_text("none: no usable storage_id, not counted")


def test_graph_without_operators_is_navigable(page: Page) -> None:
    with serve(tvmdbg.open(graph(1, [0]))) as address:
        view = View(page, address)
        expect(view.details).to_contain_text("live before anything runs")
        view.root.focus()
        view.keys("p", "ArrowRight", "ArrowDown", "+", "0", "End")
        assert view.session("selected") == [0]


def test_arrow_keys_pass_a_node_without_outputs(page: Page) -> None:
    nodes = [null("x"), operator("a", "fused_add", [0]), operator("store", "fused_store", [1], 0)]
    nodes.append(operator("b", "fused_add", [1]))
    with serve(tvmdbg.open(graph_json(nodes, shapes=(4,)))) as address:
        view = View(page, address)
        view.root.focus()
        steps = [("Home", 1), ("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2)]
        for key, node in steps:
            view.root.press(key)
            assert view.session("selected") == [node]
        assert view.seen()["current"] == -1


def test_many_slots_scroll_with_the_selection(page: Page) -> None:
    count = 120
    with serve(tvmdbg.open(graph(count, list(range(count))))) as address:
        view = View(page, address)
        shown = {each["node"] for each in view.seen()["marks"]}
        assert len(shown) < 30
        hidden = next(node for node in range(1, count) if node not in shown)
        view.select(hidden)
        frames(page)
        assert hidden in {each["node"] for each in view.seen()["marks"]}
        view.root.focus()
        view.keys(*["PageUp"] * 20)
        assert {each["node"] for each in view.seen()["marks"]} == shown
        view.keys("PageDown")
        assert {each["node"] for each in view.seen()["marks"]} != shown
        view.keys("PageUp")
        drag(page, view.at(400, 250), view.at(400, 200), steps=4)
        assert {each["node"] for each in view.seen()["marks"]} != shown


PANS = """async (root) => {
  root.focus();
  const times = [];
  const press = (key) => root.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  for (let i = 0; i < 40; i++) {
    await new Promise(requestAnimationFrame);
    const begun = performance.now();
    press(i < 12 ? "w" : i < 26 ? "d" : "s");
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    times.push(performance.now() - begun);
  }
  return times.sort((a, b) => a - b)[20];
}"""


@pytest.mark.slow
def test_a_hundred_thousand_nodes_are_panned_and_zoomed(page: Page, slowness: float) -> None:
    count = 100_000
    with serve(tvmdbg.open(graph(count, [0, *(1 + at % 6 for at in range(1, count))]))) as address:
        view = View(page, address, width=1600)
        seen = view.seen()
        assert len(seen["marks"]) < 20_000
        assert view.root.evaluate(PANS) < 60 * slowness
        view.select(77_777)
        view.root.focus()
        view.keys("f")
        assert any(each.startswith("#77777") for each in view.labels())


def test_memory_of_program_is_shown_by_offset(page: Page, data: Path) -> None:
    run = tvmdbg.open(data / "executorch/pte/04_transformer_portable.pte")
    plan = run.memory_plan()
    with serve(run) as address:
        view = View(page, address, query="&memory.height=520")
        for line in plan.text.splitlines():
            expect(view.details).to_contain_text(rounded(line))
        labels = view.labels()
        assert {"offset", "allocated 7.4 KiB", "peak 6.3 KiB at #43"} <= set(labels)
        offsets = sorted(slot.offset for slot in plan.slots if slot.buffer >= 0)
        assert [each for each in labels if each in {f"{at:,}" for at in offsets}] == [
            f"{at:,}" for at in offsets
        ]
        legend = view.root.locator(".tvmdbg-memory-legend")
        expect(legend).to_contain_text("bytes held from another offset")
        shown = re.sub(r"<[^>]+>", " ", run.figure("memory").svg)
        assert "bytes held from another offset" in shown
        assert "allocated 7.4 KiB" in shown
        view.select(24)
        expect(view.details).to_contain_text("bytes 384 … 767 of buffer 1 on cpu, 384 B")
        shares = [f"#{each.node}" for each in plan.entry(24).shares]
        expect(view.details).to_contain_text(f"its bytes with {', '.join(shares[:8])}")
        mark = next(each for each in view.seen()["marks"] if each["node"] == 24)
        peak = next(each for each in view.seen()["marks"] if each["node"] == 42)
        page.mouse.move(*view.at(peak["x"] + 5, mark["y"] + 5))
        tooltip = view.root.locator(".tvmdbg-tooltip")
        expect(tooltip).to_contain_text("bytes held from another offset")
        expect(tooltip).to_contain_text("by #42")


def test_small_panel_shows_the_peak_and_every_slot_without_a_scroll(
    page: Page, address: str, run: DebugRun
) -> None:
    view = View(page, address, width=848)
    assert view.root.bounding_box()["height"] <= 580  # type: ignore[index]
    slots = {slot.index for slot in run.memory_plan().slots if not slot.is_parameter}
    marks = view.seen()["marks"]
    assert {mark["slot"] for mark in marks} == slots
    height = view.canvas.bounding_box()["height"]  # type: ignore[index]
    assert all(mark["y"] + mark["height"] <= height for mark in marks)
    assert any(label.startswith("peak ") for label in view.labels())
    assert view.details.evaluate("node => node.scrollHeight <= node.clientHeight")


def test_tooltip_has_three_lines_beside_its_entry(page: Page, address: str) -> None:
    view = View(page, address)
    page.mouse.move(*view.point(31))
    tooltip = view.root.locator(".tvmdbg-tooltip")
    expect(tooltip).to_contain_text("#31")
    assert len(tooltip.inner_text().splitlines()) == 3
    mark = next(each for each in view.seen()["marks"] if each["node"] == 31)
    top, tip = view.at(mark["x"], mark["y"])[1], box_of(tooltip)
    assert tip["y"] >= top + mark["height"] or tip["y"] + tip["height"] <= top
