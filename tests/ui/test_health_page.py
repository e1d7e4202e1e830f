"""The health of a run on the page: the strip over all entries, and the overlay of the graph."""

import json
import re
import struct
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

import tvmdbg_widgets as tvmdbg
from tests.ui.checklists import looks
from tests.ui.host import serve, visit
from tests.ui.notebooks import View
from tests.ui.pointer import box_of
from tests.ui.waits import frames, inspected, rest
from tvmdbg_widgets.answers.tensor import health_words
from tvmdbg_widgets.engine import pack
from tvmdbg_widgets.model.health import Health, HealthVerdict

FIRST_INF, FIRST_NAN, LAST = 38, 41, 73  # by numpy over the dump's tensors
SESSION = "() => ['selected', 'entry'].map((name) => tvmdbg.models.session.get(name))"
SELECT = """(node) => {
  tvmdbg.models.session.set("selected", [node]);
  tvmdbg.models.session.save_changes();
}"""


@pytest.fixture(scope="module")
def run() -> tvmdbg.DebugRun:
    return tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)


@pytest.fixture(scope="module")
def sound() -> Iterator[str]:
    """Address of a page of a run of which all is OK."""
    with serve(tvmdbg.open(tvmdbg.samples.resnet20_cifar)) as address:
        yield address


@pytest.fixture
def show(page: Page, address: str) -> Callable[..., Locator]:
    """Open views and give the strip, once it was drawn."""

    def open_views(
        views: str = "tensor", width: int = 900, query: str = "", at: str = address
    ) -> Locator:
        page.emulate_media(reduced_motion="reduce")
        page.set_viewport_size({"width": width + 16, "height": 1000})
        visit(page, f"{at}?views={views}&width={width}&{query}")
        strip = page.locator(".tvmdbg-health")
        expect(strip).to_have_attribute("data-ready", "true")
        return strip

    return open_views


def done(strip: Locator) -> Locator:
    expect(strip).to_have_attribute("data-state", "done")
    frames(strip.page)
    return strip


def stage(strip: Locator) -> Locator:
    return strip.get_by_role("slider")


def column(strip: Locator, node: int) -> dict[str, Any]:
    marks: list[dict[str, Any]] = inspected(strip)["marks"]
    return next(mark for mark in marks if mark["entry"][0] == node)


def middle(mark: dict[str, Any]) -> dict[str, float]:
    return {"x": mark["x"] + mark["width"] / 2, "y": mark["y"] + mark["height"] / 2}


def test_the_strip_shows_every_entry_and_a_click_selects_it_for_all_views(
    page: Page, show: Callable[..., Locator], run: tvmdbg.DebugRun
) -> None:
    strip = done(show("tensor,graph"))
    assert run.tensors is not None
    marks = inspected(strip)["marks"]
    assert [tuple(mark["entry"]) for mark in marks] == list(run.tensors)
    faulty = [mark["entry"][0] for mark in marks if mark["verdict"] == "faulty"]
    assert (len(faulty), faulty[0], faulty[1]) == (16, FIRST_INF, FIRST_NAN)
    expect(strip).to_contain_text("16 faulty")
    stage(strip).click(position=middle(column(strip, FIRST_INF)))
    assert page.evaluate(SESSION) == [[FIRST_INF], [FIRST_INF, 0]]
    View(page, "tensor").expect_node(FIRST_INF)
    View(page, "graph").expect_node(FIRST_INF)
    expect(stage(strip)).to_have_attribute("aria-valuenow", str(FIRST_INF))


def test_tooltip_of_entry_explains_its_verdict(show: Callable[..., Locator]) -> None:
    strip = done(show())
    stage(strip).hover(position=middle(column(strip, FIRST_INF)))
    tip = strip.page.get_by_role("tooltip").and_(strip.page.locator(":visible"))
    for part in (
        "#38",
        "faulty: 59 Inf of 8,192 values, first appears here",
        "0 … 65376",
        "% zero",
    ):
        expect(tip).to_contain_text(part)
    stage(strip).hover(position=middle(column(strip, LAST)))
    expect(tip).to_contain_text("#73")
    box, window = box_of(tip), strip.page.viewport_size or {"width": 0}
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= window["width"]
    assert tip.inner_text().count("\n") < 3


def test_buttons_select_first_nan_first_inf_and_worst_tensor(
    page: Page, show: Callable[..., Locator]
) -> None:
    strip = done(show())
    for name, node in (
        ("go to the first tensor with NaN", FIRST_NAN),
        ("go to the first tensor with Inf", FIRST_INF),
        ("go to the next worst tensor", FIRST_NAN),
    ):
        strip.get_by_role("button", name=name).click()
        expect(stage(strip)).to_have_attribute("aria-valuenow", str(node))
        assert page.evaluate(SESSION)[1] == [node, 0]
    stage(strip).click(position=middle(column(strip, 0)))
    strip.get_by_role("button", name="go to the worst tensor").click()
    expect(stage(strip)).to_have_attribute("aria-valuenow", str(FIRST_INF))


def test_strip_is_operated_by_keys_alone(page: Page, show: Callable[..., Locator]) -> None:
    strip = done(show())
    slider = stage(strip)
    slider.focus()
    for key, node in (
        ("End", LAST),
        ("Home", 0),
        ("ArrowRight", 1),
        ("ArrowRight", 2),
        ("ArrowLeft", 1),
        ("PageDown", FIRST_INF),
        ("PageDown", FIRST_NAN),
        ("Enter", 44),
        ("PageUp", FIRST_NAN),
        ("PageUp", FIRST_INF),
        ("PageUp", FIRST_INF),
    ):
        page.keyboard.press(key)
        expect(slider).to_have_attribute("aria-valuenow", str(node))
        expect(slider).to_be_focused()
    assert page.evaluate(SESSION)[1] == [FIRST_INF, 0]
    told = slider.get_attribute("aria-valuetext") or ""
    assert told.startswith("tensor 39 of 74: #38 conv2d + add + add + relu; ")
    assert "59 Inf" in told
    page.keyboard.press("Escape")
    expect(View(page, "tensor").root).to_be_focused()


@pytest.mark.parametrize(("width", "theme"), looks((350, 480, 900, 1600)))
def test_strip_parts_are_not_cut_off_and_do_not_overlap(
    show: Callable[..., Locator], width: int, theme: str
) -> None:
    strip = done(show(width=width, query=f"theme={theme}"))
    assert strip.evaluate("each => each.scrollWidth <= each.clientWidth")
    boxes = [
        part.bounding_box()
        for part in strip.locator("> :visible").all()
        if part.get_attribute("role") != "status"
    ]
    named = width > 480  # below the strip's own words go without its name
    assert len(boxes) == (6 if named else 5)
    around = box_of(strip)
    for i, one in enumerate(boxes):
        assert one["x"] >= around["x"]
        assert one["x"] + one["width"] <= around["x"] + around["width"] + 0.5
        for two in boxes[:i]:
            apart = (
                one["x"] >= two["x"] + two["width"] - 0.5
                or two["x"] >= one["x"] + one["width"] - 0.5
                or one["y"] >= two["y"] + two["height"] - 0.5
                or two["y"] >= one["y"] + one["height"] - 0.5
            )
            assert apart
    canvas = box_of(stage(strip))
    assert canvas["width"] >= 120


def test_sound_run_is_reported_without_buttons(show: Callable[..., Locator], sound: str) -> None:
    strip = done(show(at=sound))
    expect(strip).to_contain_text("all 72 OK")
    expect(strip.get_by_role("button")).to_have_count(0)


class Kernel:
    """Answers for the health of a run as far as a test lets it scan; all else is the real run's."""

    def __init__(self, page: Page, health: Health) -> None:
        self.asked: list[dict[str, Any]] = []
        self.health = health
        self.state, self.known = "scanning", 0
        page.route("**/ask", self._handle)

    def _handle(self, route: Route) -> None:
        question = route.request.post_data_json
        if question["kind"] not in ("health", "cancelFindings"):
            route.continue_()
            return
        self.asked.append(question)
        if question["kind"] == "cancelFindings":
            self.state = "cancelled"
        elif question.get("goOn"):
            self.state = "scanning"
        blank = {
            "verdict": HealthVerdict.NOT_SCANNED,
            "words": "",
            "brief": "",
            "nan": None,
            "inf": None,
        }
        found = Health(
            each if row < self.known else each._replace(**blank)
            for row, each in enumerate(self.health)
        )
        columns, buffer = pack(found.columns())
        result = {"state": self.state, **health_words(found), "columns": columns, "findings": []}
        head = json.dumps({"id": question["id"], "result": result}).encode()
        route.fulfill(body=struct.pack("<I", len(head)) + head + buffer)


def test_scan_progress_is_shown_stopped_and_resumed(
    page: Page, show: Callable[..., Locator], run: tvmdbg.DebugRun
) -> None:
    kernel = Kernel(page, run.health(progress=False))
    kernel.known = 12
    strip = show()
    expect(strip).to_contain_text("12 of 74 …")
    kernel.known = 40
    expect(strip).to_contain_text("40 of 74 …")
    strip.get_by_role("button", name="go to the first tensor with Inf").click()
    assert page.evaluate(SESSION)[1] == [FIRST_INF, 0]
    strip.get_by_role("button", name="stop scanning the tensors").click()
    expect(strip).to_contain_text("1 faulty; 40 of 74")
    rest(page)
    asked = len(kernel.asked)
    rest(page)
    assert len(kernel.asked) == asked
    kernel.known = 74
    strip.get_by_role("button", name="resume scanning the tensors").click()
    expect(strip).to_contain_text("74 of 74 …")
    kernel.state = "done"
    expect(done(strip)).to_contain_text("16 faulty")
    expect(strip.get_by_role("button", name="stop scanning the tensors")).to_be_hidden()


def graph(page: Page, address: str, query: str = "", width: int = 900) -> Locator:
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": width + 16, "height": 900})
    visit(page, f"{address}?views=graph&width={width}&{query}")
    return View(page, "graph").wait().root


def test_graph_is_colored_by_health_with_menu_and_key(page: Page, address: str) -> None:
    root = graph(page, address)
    key = root.locator(".tvmdbg-graph-health")
    root.get_by_label("color by (c)").select_option("health")
    expect(key).to_contain_text("faulty 16")
    expect(key).to_contain_text("OK 58")
    root.focus()
    page.keyboard.press("c")
    expect(key).to_have_count(0)
    choices = root.get_by_label("color by (c)").locator("option").count()
    for _ in range(choices - 1):
        page.keyboard.press("c")
    expect(key).to_contain_text("faulty 16")
    assert page.evaluate("tvmdbg.models.graph0.get('color_by')") == "health"
    for node in (FIRST_INF, FIRST_NAN):
        key.get_by_role("button", name="16 nodes faulty: go to the next").click()
        assert page.evaluate(SESSION)[0] == [node]
    expect(root.locator(".tvmdbg-graph-details")).to_contain_text("faulty: 2,555 NaN + 966 Inf")
    expect(root.locator(".tvmdbg-mirror")).to_contain_text("health faulty: 2,555 NaN")


@pytest.mark.slow
def test_graph_and_its_figure_show_same_health_of_nodes(
    page: Page, address: str, run: tvmdbg.DebugRun
) -> None:
    figure = run.figure("graph", color_by="health").description
    root = graph(page, address, 'graph.color_by="health"&graph.height=800')
    counts = root.locator(".tvmdbg-graph-health button").filter(visible=True)
    expect(counts).to_have_text(
        [
            re.compile(rf"^\W*{label} {count}$")
            for label, count in figure["health"]["counts"].items()
        ]
    )
    told_in_boxes = 0
    for node in figure["nodes"]:
        page.evaluate(SELECT, node["id"])
        mirror = root.locator("> .tvmdbg-mirror")
        expect(mirror).to_contain_text(f"Node {node['id']} of")
        if node["health"]["verdict"] == "faulty":
            expect(mirror).to_contain_text("health faulty")
        root.focus()
        page.keyboard.press("f")
        frames(page)
        labels = [each for each in inspected(root)["labels"] if each["node"] == node["id"]]
        titles = [each for each in labels if f"#{node['id']} " in each["text"]]
        assert len(titles) == 1, labels
        beside = {each["text"] for each in labels if each not in titles}
        in_box = {text for text in beside - {node["mark"], node["badge"]} if re.search(r"\w", text)}
        assert in_box <= {node["health"]["text"]}
        told_in_boxes += len(in_box)
    assert told_in_boxes > len(figure["nodes"]) * 3 // 4


def test_overlay_follows_scan_and_counts_unscanned_tensors(
    page: Page, address: str, run: tvmdbg.DebugRun
) -> None:
    kernel = Kernel(page, run.health(progress=False))
    kernel.known = 40
    root = graph(page, address, 'graph.color_by="health"')
    key = root.locator(".tvmdbg-graph-health")
    for part in ("faulty 1", "OK 39", "not scanned 34", "40 of 74 tensors"):
        expect(key).to_contain_text(part)
    stop = key.get_by_role("button", name="stop scanning the tensors").element_handle()
    kernel.known = 41
    expect(key).to_contain_text("41 of 74 tensors")
    stop.click()  # not taken away by the answer
    key.get_by_role("button", name="resume scanning the tensors").click()
    expect(key.get_by_role("button", name="stop scanning the tensors")).to_be_visible()
    kernel.known, kernel.state = 74, "done"
    expect(key).to_contain_text("faulty 16")
    expect(key.get_by_role("button", name="looking")).to_have_count(0)


def test_later_scan_results_keep_the_latest_announcement(
    page: Page, address: str, run: tvmdbg.DebugRun
) -> None:
    kernel = Kernel(page, run.health(progress=False))
    kernel.known = 40
    root = graph(page, address, 'graph.color_by="health"')
    expect(root.locator(".tvmdbg-graph-health")).to_contain_text("40 of 74 tensors")
    root.focus()
    page.keyboard.press("b")
    said = root.locator("> .tvmdbg-mirror")
    expect(said).to_have_text("select a node first")
    kernel.known, kernel.state = 74, "done"
    expect(root.locator(".tvmdbg-graph-health")).to_contain_text("faulty 16")
    rest(page)
    expect(said).to_have_text("select a node first")
    page.evaluate(SELECT, FIRST_INF)
    expect(said).to_contain_text("health faulty")


def test_health_is_not_requested_when_graph_is_colored_by_kind(page: Page, address: str) -> None:
    graph(page, address, 'graph.color_by="kind"')
    rest(page)  # the scan has ended, so a glance has the answer
    asked: list[str] = []
    page.on("request", lambda each: asked.append(each.post_data or ""))
    graph(page, address, 'graph.color_by="kind"&graph.height=400')
    rest(page)
    assert not [each for each in asked if '"health"' in each and '"glance"' not in each]
