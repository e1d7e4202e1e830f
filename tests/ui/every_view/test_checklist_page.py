"""What holds of every view at any width and theme: legible, whole, reachable, answering at once."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from benchmarks.graphs import network
from tests.mostly_slow import mostly_slow
from tests.ui.checklists import AUDIT, THEMES, WIDTHS, audit, check, looks, seen
from tests.ui.host import serve, visit
from tests.ui.pointer import box_of, drag, middle_of, tool
from tests.ui.waits import frames, painted, rest

VIEWS = "debugger,graph,tensor,timeline"
SAMPLE = tvmdbg.samples.resnet20_cifar
DUMP = SAMPLE / "_tvmdbg_device_CPU_0"
GRAPH = [DUMP / "_tvmdbg_graph_dump.json", SAMPLE / "graph.json"]
TIMES = [DUMP / "_tvmdbg_execution_trace.json", SAMPLE / "run_stdout.txt"]
TENSORS = [DUMP / "output_tensors.params"]
RUNS = {
    "resnet20": [SAMPLE],
    "overflow": [tvmdbg.samples.resnet20_cifar_fp16_overflow],
    "no_tensors": [*GRAPH, *TIMES],
    "no_graph": [*TIMES, *TENSORS],
    "only_a_table": TIMES[1:],
    "only_a_graph": GRAPH[1:],
}
SAMPLES = [
    (run, width, theme) for run in ("resnet20", "overflow") for width in WIDTHS for theme in THEMES
]
NARROW = ("resnet20", 480, "dark")
WIDE = ("overflow", 900, "light")
PARTS = [
    (run, width, theme)
    for run in ("no_tensors", "no_graph", "only_a_table", "only_a_graph")
    for width, theme in zip(WIDTHS, ("light", "dark", "light"), strict=True)
]
SLOWEST = {
    "resnet20": ("#62 conv2d + add + relu", "2.571 ms", "6.45 %"),
    "overflow": ("#60 conv2d + add + add + relu", "2.590 ms", "5.97 %"),
}
FIRST = {
    "resnet20": "72 tensors scanned",
    "overflow": "First Inf in #38 conv2d + … + relu: weights reach 8,376 (0.411 in 6 twins)",
}
TOUR = [
    {"text": "What is wrong?\n\n" + "It begins at one operator. " * 12, "view": "graph"},
    {"text": "Here.", "view": None},
]
SELECT = """node => {
  const { session } = tvmdbg.models;
  session.set("selected", [node]);
  session.set("entry", [node, 0]);
  session.set("source", "python");
  session.save_changes();
}"""
STOPS = """() => [...document.querySelectorAll(
  ".tvmdbg-debugger :is(button, input, select, summary, [tabindex='0'])"
)].filter(each =>
  each.checkVisibility({ visibilityProperty: true }) && !each.disabled && each.tabIndex >= 0
).map((each, i) => {
  each.dataset.stop = i;
  return i;
})"""
NOTE_FOCUS = """() => {
  document.activeElement.blur();
  window.focused = [];
  document.querySelector(".tvmdbg-debugger").addEventListener("focusin", ({ target: at }) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(at);
    const ring = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
    focused.push([at.dataset.stop, ring, at.outerHTML.slice(0, 100)]);
  });
}"""


@pytest.fixture(scope="module")
def addresses() -> Iterator[dict[str, str]]:
    """Address of a page of each run."""
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(serve(tvmdbg.open(*map(str, parts))))
            for name, parts in RUNS.items()
        }


def show(page: Page, address: str, width: int, theme: str = "light", views: str = VIEWS) -> None:
    """All views one below the other, each completely in the viewport and painted."""
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": width + 16, "height": 4400 if width < 760 else 2600})
    visit(page, f"{address}?views={views}&width={width}&theme={theme}")
    painted(page)
    page.wait_for_function("() => !/scanning|reading…/.test(document.body.innerText)")
    rest(page)


@pytest.mark.parametrize(("run", "width", "theme"), mostly_slow(SAMPLES, NARROW, WIDE))
def test_sample_is_legible_and_shows_its_main_facts(
    page: Page, addresses: dict[str, str], run: str, width: int, theme: str
) -> None:
    show(page, addresses[run], width, theme)
    everything, graph, tensor, timeline = check(page)
    name, time, share = SLOWEST[run]
    label = next(canvas["labels"] for canvas in graph["canvases"])
    assert any(name.split(" ")[1] in text for text in label)
    assert len(label) >= 8
    assert len(next(canvas["labels"] for canvas in everything["canvases"])) >= 8
    for part in (name, time, share):
        assert part in seen(timeline)
        assert part in seen(everything)
    assert width < 1000 or FIRST[run] in seen(everything)
    health = {"resnet20": "all finite", "overflow": "not finite"}[run]
    for found in (everything, tensor):
        assert health in seen(found)
        for number in ("min", "max", "mean", "std"):
            assert number in [text["text"] for text in found["texts"] if text["seen"]]
    if width > 760:
        debugger = page.locator(".tvmdbg-debugger")
        for part in ("stage", "legend", "statistics", "health"):
            assert_within(
                debugger.locator(f".tvmdbg-tensor-{part}"), debugger.locator("[data-view=tensor]")
            )


def open_details(page: Page) -> None:
    """Bring details before the tables that they share a place with."""
    for tab in page.get_by_role("tab", name="details").locator("visible=true").all():
        tab.click()
    rest(page)


def assert_within(part: Locator, panel: Locator) -> None:
    """That no scrolling is needed to see it."""
    inner, outer = box_of(part), box_of(panel)
    assert inner["y"] + inner["height"] <= outer["y"] + outer["height"] + 1


NETWORKS = {  # how many labels there are at first, at least
    "resnet20_cifar": 20,
    "resnet20_cifar_nchw8c": 9,
    "resnet20_cifar_unfused": 12,
    "transformer_encoder": 10,
    "large": 12,
}
MISSING = {
    "no_tensors": {"Tensor": "output_tensors.params"},
    "no_graph": {"Graph": "_tvmdbg_graph_dump.json"},
    "only_a_table": {"Graph": "_tvmdbg_graph_dump.json", "Tensor": "output_tensors.params"},
    "only_a_graph": {
        "Tensor": "output_tensors.params",
        "Flamechart": "_tvmdbg_execution_trace.json",
    },
}
PLACES = {"Graph": 1, "Tensor": 2, "Flamechart": 3}


@pytest.mark.parametrize(
    ("run", "width", "theme"),
    mostly_slow(
        PARTS,
        ("no_tensors", 480, "light"),
        ("no_graph", 900, "dark"),
        ("only_a_table", 480, "light"),
        ("only_a_graph", 900, "dark"),
    ),
)
def test_missing_data_is_named_with_instructions(
    page: Page, addresses: dict[str, str], run: str, width: int, theme: str
) -> None:
    show(page, addresses[run], width, theme)
    found = check(page)
    for view, place in PLACES.items():
        if view in MISSING[run]:
            assert MISSING[run][view] in seen(found[place])
            assert "open(" in seen(found[place])
            assert MISSING[run][view] in seen(found[0])
        else:
            assert found[place]["canvases"]
            assert found[place]["canvases"][0]["labels"]


@pytest.mark.parametrize(
    ("width", "theme"), mostly_slow(product((480, 1200), THEMES), (1200, "dark"))
)
def test_selection_details_and_issues_are_legible(
    page: Page, addresses: dict[str, str], width: int, theme: str
) -> None:
    show(page, addresses["resnet20"], width, theme)
    if not page.locator(".tvmdbg-status").is_visible():
        page.locator(".tvmdbg-debugger > .tvmdbg-bar .tvmdbg-more > button").click()
    page.locator(".tvmdbg-status").click()
    for button in page.get_by_role("button", name="show the details (d)").all():
        if button.get_attribute("aria-pressed") == "false":
            button.click()
    for node, time in ((62, "2.571 ms"), (2, "parameter"), (0, "graph input")):
        page.evaluate(SELECT, node)
        open_details(page)
        _, graph, tensor, timeline = check(page)
        assert f"#{node}" in seen(tensor)
        for found in (graph, timeline):
            texts = [text["text"] for text in found["texts"]]  # details may be scrolled to
            assert time in " ".join(texts)
            assert "0 ns" not in texts


@pytest.mark.parametrize(("run", "width", "theme"), mostly_slow(SAMPLES, WIDE))
def test_evidence_notes_and_a_tour_are_legible(
    page: Page, addresses: dict[str, str], run: str, width: int, theme: str
) -> None:
    show(page, addresses[run], width, theme)
    page.evaluate(
        """tour => {
          const { session } = tvmdbg.models;
          const step = { nodes: [62], entry: [62, 0], slice: null, time_range: null };
          session.set("notes", { 62: "look at this one\\n".repeat(3), 4: "and here" });
          session.set("tour", tour.map((each) => ({ ...step, ...each })));
          session.set("tour_step", 0);
        }""",
        TOUR,
    )
    page.evaluate(SELECT, 62)
    page.locator(".tvmdbg-graph").first.focus()
    page.keyboard.press("y")
    told = page.locator(".tvmdbg-copied")
    expect(told).to_contain_text("copied run.graph.nodes[62]  # run: ")
    texts = audit(told)["texts"]
    assert [text for text in texts if text["size"] < 11 or not text["enough"]] == []
    expect(told).to_be_hidden()
    open_details(page)
    everything, graph, tensor, timeline = check(page)
    assert "step 1 / 2" in seen(everything)
    for found in (everything, tensor, timeline):
        assert "look at this one" in seen(found)
    if width > 760:
        assert "look at this one" in seen(graph)
        for name in ("graph", "tensor"):
            box = box_of(page.locator(f"[data-view={name}]"))
            assert box["height"] > 250
    page.get_by_role("button", name="Next step").click()
    rest(page)
    check(page)
    # Evidence is in front of the other panes, which keep their place.
    for sign in page.locator(".tvmdbg-finding-twist").all()[:2]:
        sign.click()
    rest(page)
    evidence = audit(page.locator("[data-view=findings]"))
    assert "high confidence" in seen(evidence)
    assert evidence["overlaps"] == []
    assert [text for text in evidence["texts"] if text["cut"] or not text.get("enough", True)] == []


@pytest.mark.parametrize("width", mostly_slow([480, 1200], 480))
def test_controls_are_reachable_by_tab_and_show_focus(
    page: Page, addresses: dict[str, str], width: int
) -> None:
    show(page, addresses["resnet20"], width, views="debugger")
    expect(page.get_by_label("stop scanning the tensors")).to_be_hidden()  # a stop until then
    expected = page.evaluate(STOPS)
    assert len(expected) > 30
    page.evaluate(NOTE_FOCUS)
    for _ in range(len(expected) + 12):
        page.keyboard.press("Tab")
    seen_at: list[list[Any]] = page.evaluate("focused")
    reached = {int(stop) for stop, _, _ in seen_at if stop is not None}
    ringless = [text for stop, ring, text in seen_at if stop is not None and not ring]
    assert sorted(set(expected) - reached) == []
    assert ringless == []


@pytest.mark.parametrize("width", mostly_slow(WIDTHS, 480))
def test_help_opens_in_every_view_and_fits(
    page: Page, addresses: dict[str, str], width: int
) -> None:
    show(page, addresses["resnet20"], width)
    for root in page.locator(".tvmdbg:not(.tvmdbg-debugger)").all():
        is_list = "tvmdbg-findings" in (root.get_attribute("class") or "")
        around = page.locator(".tvmdbg-debugger") if is_list else root
        shown = around.locator("> .tvmdbg-help")
        expect(shown).to_be_hidden()
        root.focus()
        page.keyboard.press("?")
        expect(shown).to_be_visible()
        inner, outer = box_of(shown), box_of(around)
        assert inner["x"] >= outer["x"]
        assert inner["y"] >= outer["y"]
        assert shown.evaluate("node => node.scrollWidth <= node.clientWidth")
        if width >= 1600:
            assert shown.evaluate("node => node.scrollHeight <= node.clientHeight")
        found = shown.evaluate(AUDIT)
        assert [
            text for text in found["texts"] if text["size"] < 11 or not text.get("enough", True)
        ] == []
        tool(around, "keys (?)").click()
        expect(shown).to_be_hidden()


def test_checklist_detects_bad_styles(page: Page, addresses: dict[str, str]) -> None:
    show(page, addresses["resnet20"], 900, views="tensor")
    for style in (
        ".tvmdbg-title { font-size: 10px }",
        ".tvmdbg .tvmdbg-muted { color: #999 }",
        ".tvmdbg-tensor-trusted { flex: none !important; width: 40px; text-overflow: clip }",
        ".tvmdbg-tensor-axes select { width: 60px }",
        ".tvmdbg-tensor-facts > * { margin-right: -30px }",
        ".tvmdbg .tvmdbg-bar { width: 120% }",
    ):
        check(page)
        added = page.add_style_tag(content=style)
        assert notices(page), style
        added.evaluate("each => each.remove()")


def notices(page: Page) -> bool:
    try:
        check(page)
    except AssertionError:
        return True
    return False


def test_panels_are_sized_by_pointer_and_keys_and_hidden(
    page: Page, addresses: dict[str, str]
) -> None:
    show(page, addresses["resnet20"], 1200, views="debugger")
    panels = {name: page.locator(f"[data-view={name}]") for name in ("graph", "tensor", "timeline")}

    def size(name: str, side: str) -> float:
        box = panels[name].bounding_box()
        return box[side] if box else 0.0

    for label, keys, name, side in (
        ("Width of the graph", ("ArrowLeft", "ArrowRight"), "graph", "width"),
        ("Height of the upper row", ("ArrowUp", "ArrowDown"), "graph", "height"),
    ):
        splitter = page.get_by_role("separator", name=label)
        splitter.focus()
        before = size(name, side)
        page.keyboard.press(keys[0])
        assert size(name, side) < before
        page.keyboard.press(keys[1])
        assert size(name, side) == pytest.approx(before, abs=1)
        x, y = middle_of(splitter)
        drag(page, (x, y), (x - 60, y - 60))
        assert size(name, side) == pytest.approx(before - 60, abs=4)
    rest(page)
    check(page)
    page.get_by_role("button", name="Show or hide the Graph view").click()
    rest(page)
    assert size("graph", "width") == 0
    assert size("tensor", "width") > 1190
    check(page)
    page.get_by_role("button", name="Show or hide the Tensor view").click()
    rest(page)
    assert size("timeline", "height") > 700
    check(page)


@pytest.mark.parametrize(
    ("run", "width", "theme"),
    mostly_slow(
        [*SAMPLES, *PARTS],
        ("resnet20", 480, "dark"),
        ("overflow", 900, "light"),
        ("no_graph", 480, "light"),
        ("no_tensors", 900, "dark"),
    ),
)
def test_the_memory_plan_is_legible_at_every_zoom(
    page: Page, addresses: dict[str, str], run: str, width: int, theme: str
) -> None:
    show(page, addresses[run], width, theme, views="memory")
    (found,) = check(page)
    if run in ("no_graph", "only_a_table"):
        assert "_tvmdbg_graph_dump.json" in seen(found)
        return
    assert found["canvases"][0]["labels"]
    root = page.locator(".tvmdbg-memory")
    root.focus()
    for keys in ("p", "ww", "dddd", "wwww", "f", "c", "m0", "End"):
        for key in [keys] if keys == "End" else keys:
            page.keyboard.press(key)
        frames(page)
        check(page)


@pytest.mark.parametrize(("run", "width", "theme"), mostly_slow(SAMPLES, NARROW))
def test_the_graph_is_legible_at_every_zoom_and_with_groups_closed(
    page: Page, addresses: dict[str, str], run: str, width: int, theme: str
) -> None:
    show(page, addresses[run], width, theme, views="graph")
    root = page.locator(".tvmdbg-graph")
    (first,) = check(page)
    if width > 760:
        assert "structure" in seen(first)
        assert "residual block × 9" in seen(first)
    for keys in (
        "++",
        "++",
        "+++",
        "0x",
        "++",
        "++",
        "0X",
        "w0",
        "++",
        "w0c",
        "c",
        "c",
        "g0",
        "++",
    ):
        root.focus()
        for key in keys:
            page.keyboard.press(key)
        rest(page)
        check(page)


@pytest.fixture(scope="module")
def network_address(corpus: Path) -> Iterator[Callable[[str], str]]:
    """Address of a page of a network of the corpus, or of a large generated one."""
    with ExitStack() as stack:

        @cache
        def address(name: str) -> str:
            path = network(100_000) if name == "large" else corpus / "tvm" / name
            return stack.enter_context(serve(tvmdbg.open(path)))

        yield address


@pytest.mark.parametrize(
    ("run", "width", "theme"),
    mostly_slow(
        [(run, *look) for run in NETWORKS for look in ((480, "dark"), (1600, "light"))],
        ("transformer_encoder", 480, "dark"),
        ("resnet20_cifar_unfused", 1600, "light"),
    ),
)
def test_networks_are_an_outline_at_first_and_legible_at_every_zoom(
    page: Page, network_address: Callable[[str], str], run: str, width: int, theme: str
) -> None:
    show(page, network_address(run), width, theme, views="graph")
    (found,) = check(page)
    labels = found["canvases"][0]["labels"]
    assert len(labels) >= NETWORKS[run]
    root = page.locator(".tvmdbg-graph")
    for keys in ("++", "++", "++", "+++", "0", "++"):
        root.focus()
        for key in keys:
            page.keyboard.press(key)
        rest(page)
        (found,) = check(page)
        for label in found["canvases"][0]["labels"]:
            assert not re.match(r"\w*…[a-z]{1,2}\b", label), label


@pytest.mark.parametrize(("width", "theme"), looks())
def test_menus_of_the_graph_are_legible_and_closed_by_key(
    page: Page, addresses: dict[str, str], width: int, theme: str
) -> None:
    show(page, addresses["resnet20"], width, theme, views="graph")
    root = page.locator(".tvmdbg-graph")
    page.evaluate(SELECT, 62)
    for key in ("Shift+H", "m", "i", "o"):
        root.focus()
        page.keyboard.press(key)
        popup = root.locator(".tvmdbg-graph-popup")
        expect(popup).to_be_visible()
        found = audit(popup)
        texts = found["texts"]
        assert texts
        assert [text for text in texts if text["size"] < 11 or not text.get("enough", True)] == []
        assert [text["text"] for text in texts if text["cut"]] == []
        assert found["nameless"] == []
        inner, outer = box_of(popup), box_of(root)
        assert inner["x"] >= outer["x"] - 1
        assert inner["x"] + inner["width"] <= outer["x"] + outer["width"] + 1
        page.keyboard.press("Escape")
        expect(popup).to_be_hidden()


def test_blocks_are_highlighted_by_key_and_missing_times_are_reported(
    page: Page, addresses: dict[str, str]
) -> None:
    show(page, addresses["only_a_graph"], 1200, views="graph")
    root = page.locator(".tvmdbg-graph")
    slowest = tool(root, "go to the slowest node (s)")
    assert "the run has no times" in (slowest.get_attribute("title") or "")
    root.focus()
    page.keyboard.press("s")
    expect(root.locator(".tvmdbg-graph-part")).to_contain_text("the run has no times")
    blocks = root.get_by_role("button", name="highlight all residual block")
    blocks.focus()
    page.keyboard.press("Enter")
    expect(root.locator(".tvmdbg-graph-search input")).to_have_value('group="residual block"')
    expect(root.locator(".tvmdbg-graph-hits")).to_contain_text("/")
