"""What the colors of the graph view show, its legend, labels and tooltips, by mouse and by key."""

import json
from collections.abc import Callable
from itertools import product
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, Request, Route, expect

import tvmdbg_widgets as tvmdbg
from tests.mostly_slow import mostly_slow
from tests.ui import graphs
from tests.ui.checklists import WIDTHS
from tests.ui.graphs import said, selected, state
from tests.ui.pointer import box_of, drag, middle_of
from tests.ui.waits import asking, frames, inspected, rest

RUN = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
NODES = 72


@pytest.fixture(scope="module")
def run() -> tvmdbg.DebugRun:
    return RUN


@pytest.fixture
def graph(graph: Callable[..., Locator], address: str) -> Callable[..., Locator]:
    """Open the view with traits."""

    def open_view(width: int = 900, **traits: Any) -> Locator:
        chosen = {"height": 560, "grouped": False, **traits}
        query = "&".join(f"graph.{name}={quote(json.dumps(each))}" for name, each in chosen.items())
        return graph(query, width, address)

    return open_view


#: Views that hold the columns of the pages.
VIEWS: list[tvmdbg.GraphView] = []


def given(**columns: Any) -> dict[str, Any]:
    """The numbers of columns, which are given by name as the arguments of ``color_by``."""
    VIEWS.append(tvmdbg.GraphView(RUN))
    for name, how in columns.items():
        VIEWS[-1].color_by(how.pop("data"), name=name, **how)
    return graphs.offered(VIEWS[-1])


def labels(root: Locator) -> list[str]:
    return [each["text"] for each in inspected(root)["labels"]]


def legend(root: Locator) -> Locator:
    return root.locator(".tvmdbg-graph-legend")


def chip(root: Locator, label: str) -> Locator:
    return legend(root).locator("button[data-kind]", has_text=label)


def handles(root: Locator) -> Locator:
    return legend(root).get_by_role("slider")


def test_colors_are_chosen_from_the_list_and_by_key(
    page: Page, graph: Callable[..., Locator]
) -> None:
    root = graph(color_by="kind", _color_columns=given(mine={"data": np.arange(NODES)}))
    choice = root.get_by_label("color by (c)")
    names = choice.locator("option").all_text_contents()
    assert names == ["op kind", "time", "health", "dtype", "device", "storage", "bytes", "mine"]
    choice.select_option("storage")
    assert state(page, "color_by") == "storage"
    expect(chip(root, "slot 6")).to_have_attribute("title", "slot 6: 9 nodes; Shift selects them")
    expect(legend(root)).to_contain_text("used once")
    root.focus()
    page.keyboard.press("c")
    assert state(page, "color_by") == "bytes"
    expect(legend(root)).to_contain_text("144 KiB")
    held: list[Route] = []

    def is_of_column(request: Request) -> bool:
        return request.url.endswith("/ask") and request.post_data_json["kind"] == "nodeColumn"

    def hold(route: Route) -> None:
        if is_of_column(route.request):
            held.append(route)
        else:
            route.continue_()

    page.route("**/ask", hold)
    with page.expect_request(is_of_column):
        page.keyboard.press("c")
    expect(legend(root)).to_contain_text("computing mine")
    page.keyboard.press("s")
    expect(said(root)).to_contain_text("Node 62 of 72")
    asking(page, 1)
    held.pop().continue_()
    expect(said(root)).to_contain_text("mine: 62")


def test_the_range_is_dragged_and_moved_by_keys(page: Page, graph: Callable[..., Locator]) -> None:
    drift = {"data": np.linspace(0, 100, NODES), "unit": "dB"}
    root = graph(color_by="drift", _color_columns=given(drift=drift))
    expect(handles(root)).to_have_count(2)
    expect(handles(root).first).to_have_attribute("aria-valuetext", "0 dB")
    (start, _), (x, y) = map(middle_of, handles(root).all())
    drag(page, (x, y), ((start + x) / 2, y), steps=6)
    frames(page)
    low, high = state(page, "color_limits")
    assert low == 0
    assert 40 < high < 60
    above = int(sum(np.linspace(0, 100, NODES) > high))
    expect(legend(root)).to_contain_text(f"{above} above")
    handles(root).first.focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    frames(page)
    low, high = state(page, "color_limits")
    assert 9 < low < 11
    below = int(sum(np.linspace(0, 100, NODES) < low))
    expect(legend(root)).to_contain_text(f"{below} below")
    expect(handles(root).first).to_be_focused()
    page.keyboard.press("Escape")
    assert state(page, "color_limits") is None
    page.keyboard.press("Shift+ArrowRight")
    assert state(page, "color_limits") == [10, 100]
    handles(root).first.dblclick()
    assert state(page, "color_limits") is None
    handles(root).last.focus()
    page.keyboard.press("ArrowLeft")
    root.get_by_label("color by (c)").select_option("dtype")
    assert state(page, "color_limits") is None


def test_classes_are_highlighted_and_selected(page: Page, graph: Callable[..., Locator]) -> None:
    parity = ["even" if node % 2 == 0 else "odd" for node in range(NODES)]
    parity[5] = None  # type: ignore[call-overload]
    root = graph(color_by="parity", _color_columns=given(parity={"data": parity}))
    expect(legend(root)).to_contain_text("1 unknown")
    chip(root, "odd").click()
    expect(chip(root, "odd")).to_have_attribute("aria-pressed", "true")
    chip(root, "odd").click()
    expect(chip(root, "odd")).to_have_attribute("aria-pressed", "false")
    chip(root, "even").focus()
    page.keyboard.press("Enter")
    expect(chip(root, "even")).to_have_attribute("aria-pressed", "true")
    root.focus()
    page.keyboard.press("Escape")
    expect(chip(root, "even")).to_have_attribute("aria-pressed", "false")
    chip(root, "odd").click(modifiers=["Shift"])
    assert selected(page) == [node for node in range(NODES) if parity[node] == "odd"]
    chip(root, "even").focus()
    page.keyboard.press("Shift+Enter")
    assert selected(page) == [node for node in range(NODES) if parity[node] == "even"]


def test_class_can_be_pressed_while_its_column_changes(
    page: Page, graph: Callable[..., Locator]
) -> None:
    parity = ["odd" if node % 2 else "even" for node in range(NODES)]
    root = graph(color_by="parity", _color_columns=given(parity={"data": parity}))
    chip(root, "odd").hover()
    page.mouse.down()
    later = given(parity={"data": [*parity[:-1], "even"]})
    page.evaluate("each => tvmdbg.models.graph0.set('_color_columns', each)", later)
    expect(chip(root, "odd")).to_contain_text(str(parity.count("odd") - 1))
    page.mouse.up()
    expect(chip(root, "odd")).to_have_attribute("aria-pressed", "true")


def test_hovered_class_is_highlighted(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph(color_by="storage")
    page.keyboard.press("0")
    page.mouse.move(5, 690)
    rest(page)
    stage = root.locator(".tvmdbg-graph-stage")
    before = stage.screenshot()
    chip(root, "slot 6").hover()
    frames(page)
    assert stage.screenshot() != before
    page.mouse.move(5, 690)
    frames(page)
    assert stage.screenshot() == before


def test_hostile_names_are_text(page: Page, graph: Callable[..., Locator]) -> None:
    evil = '<img src=x onerror="window.evil = 1">'
    data = [evil if node % 3 else "\u202e" + evil for node in range(NODES)]
    root = graph(color_by=evil[:20], _color_columns=given(**{evil[:20]: {"data": data}}))
    expect(chip(root, evil).first).to_be_visible()
    page.keyboard.press("s")
    page.keyboard.press("f")
    rest(page)
    assert root.locator("img").count() == 0
    assert page.evaluate("window.evil") is None


def test_column_missing_in_page_is_reported(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph(color_by="layout")
    expect(legend(root)).to_contain_text("layout: not in this page", timeout=15_000)
    page.evaluate("each => tvmdbg.models.graph0.set('_color_columns', each)", {"layout": layouts()})
    expect(chip(root, "NCHW")).to_be_visible()


def layouts(**work: Any) -> dict[str, Any]:
    return given(other={"data": ["NCHW"] * NODES})["other"] | {"work": work or None}


def test_column_scan_is_stopped_and_resumed(page: Page, graph: Callable[..., Locator]) -> None:
    scanning = layouts(state="scanning", done=3, total=72)
    root = graph(color_by="layout", _color_columns={"layout": scanning})
    expect(legend(root)).to_contain_text("3 of 72")
    legend(root).get_by_role("button", name="stop").click()
    assert state(page, "_color_paused") is True
    page.evaluate(
        "each => tvmdbg.models.graph0.set('_color_columns', {layout: each})",
        scanning | {"work": scanning["work"] | {"state": "cancelled"}},
    )
    legend(root).get_by_role("button", name="resume").click()
    assert state(page, "_color_paused") is False


def test_edge_tooltip_shows_tensor_and_endpoints(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph(color_by="kind")
    page.keyboard.press("s")
    rest(page)
    boxes = {each["id"]: each for each in inspected(root)["marks"]}
    above, below = boxes[59], boxes[62]
    canvas = box_of(root.locator("canvas.tvmdbg-graph-base"))
    tooltip = root.locator(".tvmdbg-tooltip")
    x = canvas["x"] + below["x"] + below["width"] / 2
    y = canvas["y"] + (above["y"] + above["height"] + below["y"]) / 2
    for away in range(-60, 61, 3):  # the line comes in at its port
        page.mouse.move(x + away, y)
        frames(page)
        if tooltip.is_visible():
            break
    expect(tooltip).to_have_text(
        "from #59 conv2d + add + add + relufloat32 1×64×8×8 · 16.0 KiB"
        "to #62 conv2d + add + relu, operand 0 and 1 more"
    )
    page.mouse.move(5, 690)
    expect(tooltip).to_be_hidden()
    root.focus()
    page.keyboard.press("e")
    expect(said(root)).to_contain_text("Edge 1 of 2: from #59 conv2d + add + add + relu")
    expect(tooltip).to_contain_text("from #59 conv2d + add + add + relu")
    page.keyboard.press("e")
    expect(said(root)).to_contain_text("Edge 2 of 2: from #62 conv2d + add + relu")
    page.keyboard.press("Shift+E")
    expect(said(root)).to_contain_text("Edge 1 of 2")
    page.keyboard.press("ArrowDown")
    expect(tooltip).to_be_hidden()


def test_labels_follow_a_template(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph(color_by="bytes", label="{kind} {{{id}}}\n{dtype} · {value}")
    page.keyboard.press("s")
    rest(page)
    found = labels(root)
    assert "convolution {62}" in found
    assert any(each.startswith("float32 · 16.0 KiB") for each in found)
    page.evaluate("tvmdbg.models.graph0.set('label', '{name} of {storage}')")
    rest(page)
    assert any("of slot 6" in each for each in labels(root))
    page.evaluate("tvmdbg.models.graph0.set('label', '')")
    rest(page)
    assert "#62 conv2d + add + relu" in labels(root)


def test_closed_groups_show_combined_values(page: Page, graph: Callable[..., Locator]) -> None:
    data = {node: float(node) for node in range(NODES)}
    own = given(worst={"data": data}, total={"data": data, "together": "sum"})
    root = graph(grouped=True, open_groups=[], color_by="worst", _color_columns=own)
    groups = RUN.groups
    assert len(groups)
    closed = [each for each in groups if each.parent is None]
    page.keyboard.press("0")
    rest(page)
    found = labels(root)
    inside = [max(each.nodes) for each in closed]
    assert any(f"{worst} · " in each for worst in inside for each in found)
    root.get_by_label("color by (c)").select_option("total")
    rest(page)
    expect(legend(root).locator(".tvmdbg-graph-scale")).to_have_attribute(
        "title", "fill: total, linear; for several nodes the sum"
    )
    root.get_by_label("color by (c)").select_option("dtype")
    rest(page)
    assert any("float32 · " in each and "nodes" in each for each in labels(root))


@pytest.mark.parametrize(
    ("color_by", "width"),
    mostly_slow(product(["drift", "storage"], WIDTHS), ("drift", 480), ("storage", 900)),
)
def test_the_legend_fits(
    page: Page, graph: Callable[..., Locator], width: int, color_by: str
) -> None:
    drift = {"data": np.linspace(-1.2345, 1.2345, NODES), "unit": "decibel", "range": (-1, 1)}
    root = graph(width=width, color_by=color_by, _color_columns=given(drift=drift))
    outer = box_of(legend(root))
    for each in legend(root).locator(".tvmdbg-graph-tick, button, .tvmdbg-graph-key").all():
        if not each.is_visible():
            continue
        box = box_of(each)
        assert box["x"] >= outer["x"] - 1
        assert box["x"] + box["width"] <= outer["x"] + outer["width"] + 1
        assert box["y"] >= outer["y"] - 1
        assert box["y"] + box["height"] <= outer["y"] + outer["height"] + 2


def test_why_a_column_is_missing_is_told(page: Page, graph: Callable[..., Locator]) -> None:
    gone = {"number": 10**6, "work": None}
    root = graph(color_by="drift", _color_columns={"drift": gone})
    expect(legend(root)).to_contain_text("drift: this column was replaced by a newer one")
