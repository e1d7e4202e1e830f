"""The graph view on a page without a notebook, its questions answered by the real Python code."""

import itertools
import json
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from tests.ui.checklists import looks
from tests.ui.graphs import inspect, overlap, said, selected, state
from tests.ui.host import serve, visit
from tests.ui.pointer import box_of
from tests.ui.waits import INSPECT, asking, frames, rest, until

SLOWEST = 62  # resnet20_cifar, of the run's own report
ALL_OPEN = "graph.open_groups=" + json.dumps(list(range(12)))
RELU = "tvmgen_default_fused_nn_conv2d_add_nn_relu_51"


@pytest.fixture
def graph(page: Page, resnet: str) -> Callable[..., Locator]:
    """Open the view with a query; gives its root after the first complete paint."""

    def open_view(query: str = "", width: int = 900, address: str = resnet) -> Locator:
        page.emulate_media(reduced_motion="reduce")
        page.set_viewport_size({"width": width + 40, "height": 900})
        visit(page, f"{address}?views=graph&width={width}&{query}")
        root = page.locator(".tvmdbg-graph")
        expect(root).to_have_attribute("data-ready", "true")
        return root

    return open_view


def marks(root: Locator) -> dict[int, dict[str, float]]:
    return {int(mark["id"]): mark for mark in inspect(root)["marks"]}


def click(root: Locator, mark: dict[str, float]) -> None:
    x, y = mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2
    root.locator("canvas").first.click(position={"x": x, "y": y})


def test_click_selects_and_background_click_clears(
    page: Page, graph: Callable[..., Locator]
) -> None:
    root = graph(ALL_OPEN)
    click(root, marks(root)[SLOWEST])
    assert selected(page) == [SLOWEST]
    expect(root.get_by_role("heading", level=3)).to_have_text("#62 conv2d + add + relu")
    root.locator("canvas").first.click(position={"x": 5, "y": 5})
    assert selected(page) == []
    expect(root.get_by_role("heading", level=3)).to_have_text("Graph")


def test_arrow_keys_walk_along_edges(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph(ALL_OPEN)
    root.focus()
    path = []
    for key in ["s", "ArrowUp", "ArrowUp", "ArrowDown", "ArrowDown", "]", "["]:
        page.keyboard.press(key)
        path.append(selected(page)[-1])
    assert path == [62, 59, 56, 59, 62, 65, 62]
    expect(said(root)).to_have_text(
        re.compile(
            r"^Node 62 of 72, conv2d \+ add \+ relu, operator, convolution, "
            r"output 0 float32 \(1, 64, 8, 8\), 2\.571 ms, 6\.45 % of the total, rank 1; "
            r"3 inputs from #59 .*; 1 consumer: #65 .*; 2 parameters hidden in it; "
            r"in residual block 2 of 2\.$"
        )
    )


def test_right_arrow_follows_the_flow_in_rightward_graph(
    page: Page, graph: Callable[..., Locator]
) -> None:
    root = graph('graph.direction="right"')
    root.focus()
    page.keyboard.press("s")
    # Its block opens first: keys walk in the picture that is there.
    until(page, f"found.marks.some((mark) => mark.id === {SLOWEST} && mark.group < 0)")
    page.keyboard.press("ArrowRight")
    assert selected(page) == [65]
    frames(page)
    shown = marks(root)
    assert shown[65]["x"] > shown[62]["x"] + shown[62]["width"]


def test_details_link_to_neighbors(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph("graph.focus=62")
    root.focus()
    page.keyboard.press("s")
    details = root.get_by_role("complementary")
    expect(details).to_contain_text(RELU)
    expect(details).to_contain_text("float32 1×64×8×8")
    expect(details).to_contain_text("num_inputs")
    details.get_by_role("button", name=re.compile("go to #65")).click()
    assert selected(page) == [65]
    details.get_by_role("button", name="go to #63 p40").click()
    assert selected(page) == [63]
    expect(details).to_contain_text("hidden in")
    page.keyboard.press("Escape")
    expect(root).to_be_focused()
    page.keyboard.press("d")
    expect(details).to_be_hidden()


@pytest.mark.usefixtures("own_page")
def test_full_name_is_copied_without_permission(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph()
    page.evaluate("void Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.evaluate(
        "document.addEventListener('copy', (event) => {"
        " window.copied = event.clipboardData.getData('text/plain'); })"
    )
    root.focus()
    page.keyboard.press("s")
    root.get_by_role("button", name="copy the name").click()
    expect(root.locator(".tvmdbg-copied")).to_have_text("copied the name")
    assert page.evaluate("window.copied") == RELU


def test_details_keep_keyboard_focus_while_loading(
    page: Page, graph: Callable[..., Locator]
) -> None:
    root = graph("graph.focus=62")
    root.focus()
    page.keyboard.press("s")
    details = root.get_by_role("complementary")
    there = details.get_by_role("button", name=re.compile("go to #65"))
    expect(there).to_be_visible()
    rest(page)
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page.route("**/ask", hold)
    there.click()
    expect(details).to_contain_text("reading …")
    expect(details).to_be_focused()
    asking(page, 1)
    held.pop().continue_()
    expect(details.get_by_role("button").first).to_be_focused()
    details.get_by_role("button", name=re.compile("go to #62")).click()
    expect(details).to_contain_text("reading …")
    page.keyboard.press("Escape")
    expect(root).to_be_focused()
    held.pop().continue_()
    expect(details).to_contain_text("num_inputs")
    expect(root).to_be_focused()


def test_time_colors_have_scale_and_shares_in_legend(
    page: Page, graph: Callable[..., Locator]
) -> None:
    root = graph()
    root.focus()
    page.keyboard.press("s")
    page.keyboard.press("c")
    assert state(page, "color_by") == "time"
    expect(root.locator(".tvmdbg-graph-scale")).to_have_text("time per operator0 ns2.571 ms1 ms")
    frames(page)
    texts = [label["text"] for label in inspect(root)["labels"]]
    assert any(text.startswith("residual block × 2 · 10.13 ms") for text in texts)
    kind = root.get_by_role("button", name="convolution 99.2 %")
    expect(kind).to_contain_text("99.2 %")
    kind.click()
    expect(kind).to_have_attribute("aria-pressed", "true")
    root.focus()
    page.keyboard.press("Escape")
    expect(kind).to_have_attribute("aria-pressed", "false")
    assert selected(page) == [SLOWEST]


def test_only_the_neighborhood_of_the_focus(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph(f'graph.focus="{RELU}"&graph.hops=1')
    assert set(marks(root)) == {59, 62, 65}
    assert set(marks(root)) == {59, 62, 65}
    expect(root.locator(".tvmdbg-graph-part")).to_contain_text("1 hop: 9 of 72 nodes")
    root.get_by_role("button", name="show the whole graph").press("Enter")
    expect(root.locator(".tvmdbg-graph-part")).to_be_hidden()
    expect(root).to_be_focused()
    page.keyboard.press("0")
    page.wait_for_function(
        f"() => ({INSPECT})(document.querySelector('.tvmdbg-graph')).marks.length > 3"
    )


def test_focus_on_unknown_name_is_reported(graph: Callable[..., Locator]) -> None:
    root = graph('graph.focus="nobody"')
    expect(root.locator(".tvmdbg-graph-busy")).to_have_text("focus: no node is named nobody")


@pytest.mark.parametrize(("width", "theme"), looks())
def test_labels_stay_in_boxes_without_overlap(
    page: Page, graph: Callable[..., Locator], width: int, theme: str
) -> None:
    root = graph(f"theme={theme}", width)
    root.focus()
    page.keyboard.press("s")
    drawn = 0
    for key in ["-", "-", "-", "-", "-", "0", "s", "+", "c", "p"]:
        page.keyboard.press(key)
        rest(page)
        found = inspect(root)
        boxes = {mark["id"]: mark for mark in found["marks"]}
        stage = box_of(root.locator("canvas").first)
        for label in found["labels"]:
            assert_inside(label, {"x": 0, "y": 0, **{k: stage[k] for k in ("width", "height")}})
            box = boxes.get(label["node"])
            if box is not None:
                assert_inside(label, box)
        for one, other in itertools.combinations(found["labels"], 2):
            assert not overlap(one, other), (key, one, other)
        drawn += len(found["labels"])
    assert drawn > 40
    assert root.evaluate("root => root.scrollWidth <= root.clientWidth")


def assert_inside(label: dict[str, Any], box: dict[str, Any]) -> None:
    assert label["x"] >= box["x"], (label, box)
    assert label["y"] >= box["y"], (label, box)
    assert label["x"] + label["width"] <= box["x"] + box["width"], (label, box)
    assert label["y"] + label["height"] <= box["y"] + box["height"], (label, box)


def test_wheel_scrolls_page_until_view_has_focus(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph()
    page.evaluate("document.body.style.height = '4000px'")
    box = box_of(root.locator("canvas").first)
    page.mouse.move(box["x"] + 150, box["y"] + 150)
    before = marks(root)[0]
    page.mouse.wheel(0, 120)
    page.wait_for_function("scrollY > 0")
    assert marks(root)[0] == before
    page.evaluate("scrollTo(0, 0)")
    frames(page)
    root.focus()
    page.mouse.wheel(0, -240)
    page.wait_for_function(
        f"width => ({INSPECT})(document.querySelector('.tvmdbg-graph'))"
        ".marks.some(mark => mark.width > width)",
        arg=1.3 * before["width"],
    )
    assert page.evaluate("scrollY") == 0


def test_external_selection_is_followed_and_hover_shows_tooltip(
    page: Page, graph: Callable[..., Locator]
) -> None:
    root = graph()
    root.focus()
    page.keyboard.press("s")
    rest(page)
    for _ in range(4):
        page.keyboard.press("+")
    frames(page)
    assert 3 not in marks(root)
    page.evaluate("tvmdbg.models.session.set('selected', [3])")
    page.wait_for_function(
        f"() => ({INSPECT})(document.querySelector('.tvmdbg-graph')).marks.some(m => m.id === 3)"
    )
    mark = marks(root)[3]
    root.locator("canvas").first.hover(position={"x": mark["x"] + 10, "y": mark["y"] + 10})
    tip = root.get_by_role("tooltip")
    expect(tip).to_contain_text("#3 conv2d + add + relu")
    expect(tip).to_contain_text("float32 1×16×32×32 · 64.0 KiB")
    expect(tip.locator("> *")).to_have_count(3)
    assert page.evaluate("tvmdbg.models.session.get('hovered')") == 3


@pytest.mark.usefixtures("own_page")
def test_hidden_graph_opens_at_node_selected_meanwhile(page: Page, resnet: str) -> None:
    page.set_viewport_size({"width": 940, "height": 900})
    page.add_init_script(
        "addEventListener('DOMContentLoaded', () => { document.body.hidden = true; })"
    )
    visit(page, f"{resnet}?views=graph&width=900&graph.height=240")
    root = page.locator(".tvmdbg-graph")
    expect(said(root)).to_contain_text("nothing is selected")
    page.evaluate("tvmdbg.models.session.set('selected', [3])")
    expect(said(root)).to_contain_text("Node 3 ")
    page.evaluate("document.body.hidden = false")
    expect(root).to_have_attribute("data-ready", "true")
    frames(page)
    assert 3 in marks(root)


@pytest.mark.parametrize("case", ["split_multi", "hetero_copy", "odd_names", "inputs_only"])
def test_all_nodes_of_edge_cases_are_drawn(
    graph: Callable[..., Locator], corpus: Path, case: str
) -> None:
    run = tvmdbg.open(corpus / "tvm/edge_cases/v0.19" / case)
    with serve(run) as address:
        root = graph(address=address)
        assert set(marks(root)) == set(range(run.graph.num_nodes))


def test_run_without_graph_is_reported_without_canvas(graph: Callable[..., Locator]) -> None:
    dump = tvmdbg.samples.resnet20_cifar / "_tvmdbg_device_CPU_0"
    run = tvmdbg.open(dump / "_tvmdbg_execution_trace.json")
    with serve(run) as address:
        root = graph(address=address)
        expect(root).to_contain_text("No graph")
        expect(root.locator("canvas")).to_have_count(0)


def test_failed_answer_is_shown_and_view_keeps_working(
    page: Page, graph: Callable[..., Locator], errors: list[str]
) -> None:
    broken = {"on": True}

    def route(request: Any) -> None:
        message = request.request.post_data_json
        if broken["on"] and message["kind"] == "node":
            body = json.dumps({"id": message["id"], "error": "the file changed"}).encode()
            request.fulfill(body=struct.pack("<I", len(body)) + body)
        else:
            request.fallback()

    page.route("**/ask", route)
    root = graph(ALL_OPEN)
    root.focus()
    page.keyboard.press("s")
    expect(root.get_by_role("alert")).to_have_text("the file changed")
    broken["on"] = False
    page.keyboard.press("ArrowUp")
    expect(root.get_by_role("complementary")).to_contain_text("func_name")
    assert errors == []
