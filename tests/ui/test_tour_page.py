"""Notes, tours and code for what is selected, on a page: in every view, text only, by keys."""

import json
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from tests.ui.every_view.test_hostile_page import ATTACK
from tests.ui.host import visit
from tests.ui.notebooks import View
from tests.ui.pointer import tool
from tests.ui.waits import frames, inspected, painted, rest

OVERFLOW = 38  # the first operator whose output holds an inf, by numpy over the dump's tensors
SLOWEST = 60  # the largest mean of the table that TVM's run() printed
VIEWS = ("graph", "tensor", "timeline")


@pytest.fixture(scope="module")
def run() -> tvmdbg.DebugRun:
    return tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)


def show(
    page: Page, address: str, *, views: str = "debugger", width: int = 1200, **session: Any
) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": width + 16, "height": 2600})
    query = "".join(f"&session.{name}={quote(json.dumps(session[name]))}" for name in session)
    visit(page, f"{address}?views={views}&width={width}{query}")
    painted(page)


def get(page: Page, name: str) -> Any:
    return page.evaluate(f"tvmdbg.models.session.get('{name}')")


def put(page: Page, name: str, value: Any) -> None:
    page.evaluate("([name, value]) => tvmdbg.models.session.set(name, value)", [name, value])


def select(page: Page, *nodes: int) -> None:
    put(page, "entry", None)
    put(page, "selected", list(nodes))
    for name in VIEWS:
        if len(nodes) == 1:
            View(page, name).expect_node(nodes[0])


# --- notes ---


def test_a_note_is_shown_at_its_node_in_every_view(page: Page, address: str) -> None:
    text = "overflows here\n<b>38,912 × 2</b>"
    show(page, address)
    graph, tensor, timeline = (View(page, name) for name in VIEWS)
    assert inspected(graph.root)["notes"] == []
    put(page, "notes", {str(OVERFLOW): text})
    select(page, OVERFLOW)
    frames(page)
    (mark,) = inspected(graph.root)["notes"]
    (box,) = [each for each in graph.marks() if each["id"] == OVERFLOW]
    assert mark["id"] == OVERFLOW
    assert mark["width"] >= 12
    assert abs(mark["x"] - box["x"]) < 6
    assert abs(mark["y"] + mark["height"] - box["y"]) < 6
    graph.focus()
    if graph.root.locator(".tvmdbg-graph-details").is_hidden():
        page.keyboard.press("d")
    expect(graph.root.locator(".tvmdbg-graph-details .tvmdbg-noted")).to_have_text(text)
    expect(tensor.root.locator(".tvmdbg-noted")).to_have_text(text)
    details = timeline.root.locator(".tvmdbg-timeline-details")
    expect(details).to_contain_text("overflows here")
    for view in (graph, tensor, timeline):
        expect(view.said).to_contain_text("38,912 × 2", ignore_case=True)
    noted = page.get_by_role("treeitem").filter(has_text="overflows here")
    expect(noted).to_contain_text("overflows here")
    rest(page)
    (box,) = [each for each in graph.marks() if each["id"] == OVERFLOW]
    canvas = graph.root.locator("canvas").first
    canvas.hover(position={"x": box["x"] + 20, "y": box["y"] + box["height"] / 2})
    # Of three lines one is for the gravest fact, and that is the fault.
    expect(graph.root.get_by_role("tooltip")).to_contain_text("faulty")
    timeline.root.locator("canvas").first.scroll_into_view_if_needed()

    select(page, SLOWEST)
    expect(tensor.root.locator(".tvmdbg-noted")).to_be_hidden()
    noted.locator(".tvmdbg-finding-title").click()
    graph.expect_node(OVERFLOW)
    put(page, "notes", {})
    expect(noted).to_have_count(0)
    expect(page.locator(".tvmdbg-noted:visible")).to_have_count(0)
    frames(page)
    assert inspected(graph.root)["notes"] == []
    expect(details).not_to_contain_text("overflows here")


def test_note_marker_is_drawn(page: Page, address: str) -> None:
    show(page, address, views="graph")
    graph = View(page, "graph")
    graph.focus()
    page.keyboard.press("0")
    overlay = graph.root.locator(".tvmdbg-stage > .tvmdbg-overlay")
    inked = """(canvas, {x, y, width, height}) => {
      const ratio = devicePixelRatio;
      const part = canvas.getContext("2d").getImageData(
        x * ratio, y * ratio, width * ratio, height * ratio);
      return part.data.filter((value, i) => i % 4 === 3 && value > 0).length;
    }"""
    put(page, "notes", {str(OVERFLOW): "here"})
    frames(page)
    (mark,) = inspected(graph.root)["notes"]
    box = {name: mark[name] for name in ("x", "y", "width", "height")}
    assert overlay.evaluate(inked, box) > 100
    put(page, "notes", {})
    frames(page)
    assert overlay.evaluate(inked, box) == 0


def test_hostile_notes_and_steps_are_text(page: Page, address: str) -> None:
    step = {"text": f"{ATTACK}\n\n{ATTACK}", "nodes": [4], "entry": [4, 0]}
    tour = [step | {"slice": None, "time_range": None, "view": None}]
    show(page, address, notes={"4": ATTACK}, tour=tour, tour_step=0, selected=[4])
    expect(page.locator(".tvmdbg-tour-prose p")).to_have_text([ATTACK, ATTACK])
    expect(page.locator(".tvmdbg-tensor .tvmdbg-noted")).to_have_text(ATTACK)
    rest(page)
    assert page.evaluate("window.ran") is None
    assert page.locator("img, script[src=x]").count() == 0


# --- tours ---


@pytest.fixture
def tour(run: tvmdbg.DebugRun) -> list[dict[str, Any]]:
    """As Python hands it to a page; the session itself is left as it was."""
    run.tour(
        [
            "Why does this network say NaN?\n\nFive steps tell.",
            (OVERFLOW, "The first Inf."),
            {"text": "Its values.", "entry": (OVERFLOW, 0), "view": "tensor"},
            {"text": "A part of the time.", "time_range": (1e6, 9e6), "view": "timeline"},
            ([47, SLOWEST], "The slowest."),
        ]
    )
    steps: list[dict[str, Any]] = run.session.tour
    run.session.tour_step = None
    run.session.tour = []
    return steps


def bar(page: Page) -> Locator:
    return page.locator(".tvmdbg-tour")


def test_a_tour_is_stepped_through_by_buttons_and_keys(
    page: Page, address: str, tour: list[dict[str, Any]]
) -> None:
    show(page, address, views="debugger,graph", tour=tour, tour_step=0)
    shown = bar(page)
    expect(shown.locator("p")).to_have_text(["Why does this network say NaN?", "Five steps tell."])
    expect(shown).to_contain_text("step 1 / 5")
    expect(shown.get_by_role("button", name="Previous step")).to_be_disabled()
    shown.get_by_role("button", name="Next step").click()
    expect(shown).to_contain_text("The first Inf.")
    assert [get(page, name) for name in ("tour_step", "selected", "entry", "source")] == [
        1,
        [OVERFLOW],
        [OVERFLOW, 0],
        "tour",
    ]
    alone = page.locator(".cell").nth(1)
    for view in (View(page.locator(".cell").first, "tensor"), View(alone, "graph")):
        view.expect_node(OVERFLOW)
    page.keyboard.press("ArrowRight")
    expect(shown).to_contain_text("step 3 / 5")
    expect(page.locator("[data-view=tensor]")).to_contain_class("tvmdbg-spotlit")
    shown.focus()
    page.keyboard.press("n")
    assert get(page, "time_range") == [1e6, 9e6]
    expect(page.locator("[data-view=timeline]")).to_contain_class("tvmdbg-spotlit")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert (get(page, "tour_step"), get(page, "time_range")) == (4, None)
    View(alone, "graph").expect_node(SLOWEST)
    page.keyboard.press("p")
    page.keyboard.press("ArrowLeft")
    assert get(page, "tour_step") == 2
    page.keyboard.press("Escape")
    expect(shown).to_be_hidden()
    assert get(page, "tour_step") is None
    expect(page.locator(".tvmdbg-spotlit")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(shown).to_contain_text("step 3 / 5")
    assert get(page, "selected") == [OVERFLOW]


def test_disabled_button_at_tour_end_keeps_focus_and_keys(
    page: Page, address: str, tour: list[dict[str, Any]]
) -> None:
    show(page, address, tour=tour, tour_step=len(tour) - 2)
    following = bar(page).get_by_role("button", name="Next step")
    following.focus()
    page.keyboard.press("Enter")
    expect(following).to_be_disabled()
    expect(following).to_be_focused()
    page.keyboard.press("Enter")
    assert get(page, "tour_step") == len(tour) - 1
    page.keyboard.press("ArrowLeft")
    assert get(page, "tour_step") == len(tour) - 2
    put(page, "tour_step", 1)
    before = bar(page).get_by_role("button", name="Previous step")
    before.focus()
    page.keyboard.press("Enter")
    expect(before).to_be_disabled()
    expect(before).to_be_focused()
    page.keyboard.press("Escape")
    expect(bar(page)).to_be_hidden()


def test_keys_step_tour_only_from_debugger_root(
    page: Page, address: str, tour: list[dict[str, Any]]
) -> None:
    show(page, address, tour=tour, tour_step=1)
    graph = View(page, "graph")
    graph.focus()
    page.keyboard.press("ArrowRight")
    assert get(page, "tour_step") == 1
    page.locator(".tvmdbg-debugger").focus()
    page.keyboard.press("ArrowRight")
    assert get(page, "tour_step") == 2
    graph.root.get_by_role("combobox", name="search nodes").click()
    page.keyboard.type("np")
    assert get(page, "tour_step") == 2


def test_step_opens_hidden_view_it_refers_to(
    page: Page, address: str, tour: list[dict[str, Any]]
) -> None:
    show(page, address, tour=tour, tour_step=1)
    tool(page.locator(".tvmdbg-debugger"), "Show or hide the Tensor view").click()
    expect(page.locator("[data-view=tensor]")).to_be_hidden()
    bar(page).get_by_role("button", name="Next step").click()
    expect(page.locator("[data-view=tensor]")).to_be_visible()
    assert page.evaluate("tvmdbg.models.debugger0.get('collapsed')") == []


def test_tour_controls_are_hidden_without_tour(page: Page, address: str) -> None:
    show(page, address)
    expect(bar(page)).to_be_hidden()
    expect(page.get_by_role("button", name="Show or hide the tour")).to_be_hidden()
    assert page.locator(".tvmdbg-debugger").get_attribute("tabindex") is None


# --- selection to code ---

COPIED = """async (root) => [
  root.querySelector(".tvmdbg-copied").textContent,
  root.querySelector(":scope > .tvmdbg-mirror").textContent,
  await navigator.clipboard.readText(),
]"""
SHOWN = """([axes, index]) => {
  const detail = {};
  document.querySelector(".tvmdbg-tensor").dispatchEvent(
    new CustomEvent("tvmdbg:inspect", { detail }));
  return String(detail.plane.axes) === axes && String(detail.plane.index) === index;
}"""
CELLS = """() => {
  const cells = [...document.querySelectorAll("[data-row][data-col]")];
  if (cells.length < 9 || cells.some((cell) => !/\\d|inf|nan/.test(cell.textContent))) return null;
  return cells.map((cell) => [+cell.dataset.row, +cell.dataset.col, cell.textContent]);
}"""


@pytest.fixture
def clipboard(page: Page) -> Page:
    page.context.grant_permissions(["clipboard-read"])
    return page


def copied(page: Page, root: Locator, run: tvmdbg.DebugRun) -> tuple[str, Any]:
    """The code that `y` copies, and what it gives; the view shows and says it, with its run."""
    rest(page)  # what is read late speaks, too
    root.focus()
    page.keyboard.press("y")
    told, said, text = root.evaluate(COPIED)
    assert told == f"copied {text}"
    assert said == f"Copied: {text}"
    code, _, title = text.partition("  # run: ")
    assert title == run.title
    return code, eval(text, {"run": run})  # noqa: S307 (that it can be evaluated is what is claimed)


def test_code_for_nodes(clipboard: Page, address: str, run: tvmdbg.DebugRun) -> None:
    show(clipboard, address)
    graph = View(clipboard, "graph")
    select(clipboard, OVERFLOW)
    code, node = copied(clipboard, graph.root, run)
    assert (code, node.id) == (f"run.graph.nodes[{OVERFLOW}]", OVERFLOW)
    select(clipboard, 4, SLOWEST)
    expect(graph.said).to_contain_text(graph.says(SLOWEST))
    assert [each.id for each in copied(clipboard, graph.root, run)[1]] == [4, SLOWEST]
    select(clipboard)
    expect(graph.said).to_contain_text("nothing is selected")
    assert copied(clipboard, graph.root, run)[1] is run.graph
    tool(graph.root, "Copy Python code for the node (y)").click()
    expect(graph.root.locator(".tvmdbg-copied")).to_have_text(
        f"copied run.graph  # run: {run.title}"
    )


def test_code_for_times(clipboard: Page, address: str, run: tvmdbg.DebugRun) -> None:
    show(clipboard, address)
    timeline = View(clipboard, "timeline")
    assert copied(clipboard, timeline.root, run)[1].nodes[0] == SLOWEST
    select(clipboard, OVERFLOW)
    code, times = copied(clipboard, timeline.root, run)
    assert code == f"run.timeline.node({OVERFLOW})"
    shown = timeline.root.locator(".tvmdbg-timeline-details")
    assert f"{times.mean / 1e6:.3f}\u00a0ms" in shown.inner_text()
    select(clipboard, 4, SLOWEST)
    expect(timeline.said).to_contain_text("2 nodes selected")
    assert len(copied(clipboard, timeline.root, run)[1]) == 2
    put(clipboard, "time_range", [3_000_000.5, 9e6])
    expect(timeline.said).to_contain_text("overlaps: ")
    words = shown.inner_text().split("overlaps")[1].split()
    code, tracks = copied(clipboard, timeline.root, run)
    assert code == "run.area(3000000.5, 9000000).to_dataframe()"
    assert tracks["slices"].sum() == int(words[0]) + int(words[3]) > 2


def test_code_for_values(clipboard: Page, address: str, run: tvmdbg.DebugRun) -> None:
    show(clipboard, address)
    tensor = View(clipboard, "tensor")
    select(clipboard, OVERFLOW)
    tensor.focus()
    clipboard.keyboard.press(".")
    clipboard.keyboard.press("v")
    expect(tensor.root.locator("[data-row='1'][data-col='1']")).to_be_visible()
    readout = tensor.root.locator(".tvmdbg-tensor-readout")

    def matches(axes: str) -> str:
        clipboard.wait_for_function(SHOWN, arg=[axes, "0,1,0,0"])
        cells = clipboard.wait_for_function(CELLS).json_value()
        code, plane = copied(clipboard, tensor.root, run)
        assert plane.ndim == 2
        for row, col, text in cells:
            assert np.float16(text) == plane[row, col]
        assert len({text for _, _, text in cells}) > 10
        return code

    assert matches("2,3") == f"run.tensors[{OVERFLOW}, 0][0, 1, :, :]"
    clipboard.keyboard.press("s")
    assert matches("3,2") == f"run.tensors[{OVERFLOW}, 0][0, 1, :, :].T"
    clipboard.keyboard.press("x")
    expect(readout.locator("code")).to_contain_text("= ")
    code, value = copied(clipboard, tensor.root, run)
    index, text = readout.get_by_role("textbox").input_value(), readout.locator("code").inner_text()
    assert code == f"run.tensors[{OVERFLOW}, 0][{index}]"
    assert value.shape == ()
    assert np.float16(text.removeprefix("= ")) == value


def test_code_for_findings(clipboard: Page, address: str, run: tvmdbg.DebugRun) -> None:
    show(clipboard, address)
    panel = clipboard.locator(".tvmdbg-findings")
    expect(panel).to_have_attribute("data-state", "done")
    panel.focus()
    clipboard.keyboard.press("ArrowDown")
    code, finding = copied(clipboard, panel, run)
    assert code == "run.findings()[1]"
    expect(panel.locator(".tvmdbg-finding-active .tvmdbg-finding-title")).to_have_text(
        finding.title
    )


@pytest.mark.parametrize("width", [480, 1200])
def test_code_is_shown_if_clipboard_is_blocked(
    page: Page, address: str, run: tvmdbg.DebugRun, width: int
) -> None:
    show(page, address, width=width, selected=[OVERFLOW])
    page.evaluate("document.execCommand = () => false")
    graph = View(page, "graph")
    graph.focus()
    page.keyboard.press("y")
    field = graph.root.locator(".tvmdbg-copied input")
    expect(field).to_be_focused()
    code = f"run.graph.nodes[{OVERFLOW}]  # run: {run.title}"
    expect(field).to_have_value(code)
    assert page.evaluate("String(getSelection())") == code
    expect(graph.said).to_contain_text("This page may not use the clipboard")
    page.keyboard.press("Escape")
    expect(field).to_have_count(0)
    expect(graph.root).to_be_focused()
