"""The flamechart of times that no debugger wrote: reports, Chrome traces, lists."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import tvmdbg_widgets as tvmdbg
from tests.mostly_slow import mostly_slow
from tests.ui.checklists import WIDTHS, looks
from tests.ui.host import serve
from tests.ui.pointer import box_of
from tests.ui.saved import READY
from tests.ui.timeline.conftest import TRACE
from tests.ui.timeline.test_timeline_page import View, overlaps
from tvmdbg_widgets.run import DebugRun


def as_in_the_figure(run: DebugRun, view: View) -> None:
    """The live view says what the figure says, and ranks as it ranks."""
    told = run.figure("timeline").description
    expect(view.root.locator("summary")).to_contain_text(told["said"])
    words = told["words"]
    head = view.root.locator(".tvmdbg-timeline-head")
    expect(head.locator(".label")).to_have_text(words["row"])
    if words["byName"]:
        expect(head.locator(".time")).to_contain_text(words["time"])
    rows = view.root.locator(".tvmdbg-timeline-rows .tvmdbg-timeline-row")
    for at, row in enumerate(told["top"][:5]):
        name = re.compile(f"^{re.escape(row['label'].split(' · ')[0])}")
        expect(rows.nth(at).locator(".label")).to_have_attribute("title", name)
        expect(rows.nth(at).locator(".time")).to_have_text(row["time_text"])
        id_ = f"{row['slices']:,}" if words["byName"] else f"#{row['node']}"
        expect(rows.nth(at).locator(".id")).to_have_text(id_)


def everything(view: View) -> str:
    """All text of the view with its titles and labels, but for what may be chosen."""
    view.root.locator("summary").click()
    return view.root.evaluate(
        """(root) => {
          const titled = [...root.querySelectorAll("[title], [aria-label]")]
            .filter((each) => each.checkVisibility())
            .flatMap((each) => [each.title, each.getAttribute("aria-label")]);
          const choices = [...root.querySelectorAll("select")];
          for (const each of choices) each.style.display = "none";
          const said = [root.innerText, ...titled].join("\\n");
          for (const each of choices) each.style.display = "";
          return said;
        }"""
    )


@pytest.mark.parametrize(("width", "theme"), looks())
def test_a_trace_is_drawn_nested_on_its_threads(
    page: Page, trace: DebugRun, trace_address: str, width: int, theme: str
) -> None:
    view = View(page, trace_address, f"&theme={theme}&timeline.height=480", width)
    as_in_the_figure(trace, view)
    seen = view.seen()
    shown = [label["text"] for label in seen["labels"]]
    assert {"MainThread", "worker"} <= set(shown)
    assert any("6 levels of nesting" in text for text in shown)
    assert overlaps(seen["labels"]) == []
    events = json.loads(TRACE.read_text())["traceEvents"]
    spans = {e["name"]: e for e in events if e["ph"] == "X"}
    chain = ["<module>", "Thread.__init__", "Event.__init__", "Condition.__init__"]
    boxes = [mark_of(view, trace, name) for name in chain]
    for outer, inner in pairwise(boxes):
        assert inner["y"] > outer["y"]
        assert outer["x"] - 1 <= inner["x"]
        assert inner["x"] + inner["width"] <= outer["x"] + outer["width"] + 1
    whole = next(e for name, e in spans.items() if name.startswith("<module>"))
    part = next(e for name, e in spans.items() if name.startswith("Event.__init__"))
    expected = part["dur"] / whole["dur"] * boxes[0]["width"]
    assert boxes[2]["width"] == pytest.approx(expected, abs=2.5)


def mark_of(view: View, run: DebugRun, name: str) -> dict[str, float]:
    timeline = run.timeline
    marks = [
        each
        for each in view.seen()["marks"]
        if timeline.slice(int(each["source"])).name.startswith(f"{name} ")
    ]
    return dict(max(marks, key=lambda each: each["width"]))


def test_a_slice_without_a_node_is_selected_by_click(
    page: Page, trace: DebugRun, trace_address: str
) -> None:
    view = View(page, trace_address)
    expect(view.range).to_have_text(re.compile(r"^span \d"))
    box = box_of(view.canvas)
    mark = mark_of(view, trace, "Event.__init__")
    at = (box["x"] + mark["x"] + mark["width"] / 2, box["y"] + mark["y"] + mark["height"] / 2)
    page.mouse.move(*at)
    tip = view.root.locator(".tvmdbg-timeline-tooltip")
    expect(tip).to_contain_text("4.505 ms · 50.6 % of the total")
    page.mouse.click(*at)
    expect(view.said).to_contain_text("Slice Event.__init__ (threading.py:562), starts 23.02 µs")
    expect(view.said).to_contain_text("wall clock, track MainThread")
    expect(view.details).to_contain_text("12.52 µs, 0.28 %; 4.492 ms in children")
    current = view.root.locator(".tvmdbg-timeline-rows .current .label")
    expect(current).to_contain_text("Event.__init__")
    assert view.session("selected") == []


def test_keys_go_through_levels_threads_and_names(page: Page, trace_address: str) -> None:
    view = View(page, trace_address)
    view.root.focus()
    view.press("ArrowRight")
    expect(view.said).to_contain_text("Slice <module> (prog.py:1)")
    view.press("ArrowDown")
    expect(view.said).to_contain_text("Slice Thread.")
    view.press("Home")
    expect(view.said).to_contain_text("Slice Thread.__init__")
    view.press("ArrowUp")
    expect(view.said).to_contain_text("Slice <module>")
    view.press(*["ArrowDown"] * 6)
    expect(view.said).to_contain_text("track worker")
    view.press("/")
    page.keyboard.type("genexpr")
    expect(view.root.locator(".tvmdbg-timeline-hits")).to_contain_text("224 hits, self time Σ")
    view.press("Enter")
    expect(view.said).to_contain_text("Slice inner.<locals>.<genexpr>")
    start = view.seen()["current"]
    view.press(".")
    assert view.seen()["current"] > start
    expect(view.said).to_contain_text("Slice inner.<locals>.<genexpr>")
    view.press(",")
    assert view.seen()["current"] == start
    row = view.root.locator(".tvmdbg-timeline-rows .current .label")
    expect(row).to_contain_text("genexpr")
    view.press("r")
    expect(view.details).to_contain_text("some nested")
    view.press("Escape", "Escape", "Escape")
    expect(view.said).to_contain_text("of self time summed over slices")
    expect(view.said).to_contain_text("Nothing is selected")
    assert ".." not in view.said.inner_text()


def test_trace_view_does_not_mention_nodes(page: Page, trace_address: str) -> None:
    view = View(page, trace_address, width=1600)
    view.root.focus()
    view.press("ArrowRight")
    said = everything(view)
    for never in ("mean", "synthetic", "operator", "repeat", "trust", "node", "kind"):
        assert never not in said, never


def test_threads_of_the_same_name_are_labeled_with_process(page: Page) -> None:
    def named(what: str, pid: int, name: str, **more: int) -> dict[str, Any]:
        return {"ph": "M", "name": what, "pid": pid, "args": {"name": name}} | more

    events = [
        *(named("process_name", pid, name) for pid, name in ((1, "trainer"), (2, "loader"))),
        *(named("thread_name", pid, "main", tid=1) for pid in (1, 2)),
        {"ph": "X", "name": "step", "pid": 1, "tid": 1, "ts": 0, "dur": 100},
        {"ph": "X", "name": "read", "pid": 2, "tid": 1, "ts": 10, "dur": 60},
        {"ph": "X", "name": "decode", "pid": 2, "tid": 1, "ts": 40, "dur": 60},
    ]
    with serve(tvmdbg.open(json.dumps(events).encode())) as address:
        view = View(page, address, width=1600)
        shown = [label["text"] for label in view.seen()["labels"]]
        assert {"trainer: main", "loader: main"} <= set(shown)
        assert any("1 slice overlaps others: on a separate lane" in text for text in shown)
        expect(view.root.locator("summary")).not_to_contain_text("inside")
        expect(view.root.locator(".tvmdbg-timeline-head").first).not_to_contain_text("self")


@pytest.mark.parametrize("width", mostly_slow(WIDTHS, 480))
def test_report_alone_is_shown_as_one_pass(page: Page, corpus: Path, width: int) -> None:
    file = corpus / "tvm/resnet20_cifar/report.json"
    run = tvmdbg.open(file)
    with serve(run) as address:
        view = View(page, address, "&theme=dark", width)
        as_in_the_figure(run, view)
        expect(view.root.locator("input[type=search]")).to_have_attribute(
            "aria-label", "search calls"
        )
        expect(view.details).to_contain_text("27 calls, 38.56 ms summed over calls")
        view.root.focus()
        view.press("ArrowRight")
        expect(view.said).to_contain_text("Slice of #0 conv2d + add + relu, starts 0 ns")
        expect(view.said).to_contain_text("(time of the call)")
        expect(view.details).to_contain_text("One call of one pass was measured")
        view.press("t", "ArrowDown")
        expect(view.said).to_contain_text("Slice of #9 conv2d + add_1")
        said = everything(view)
        assert "one pass of the whole model, after passes to warm up" in said
        for never in ("mean", "per operator", "operators", "trust", "node", "p10"):
            assert never not in said, never


def test_two_devices_are_two_tracks_of_sums(page: Page, corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/edge_cases/v0.19/reports/two_devices.json")
    with serve(run) as address:
        view = View(page, address)
        as_in_the_figure(run, view)
        shown = [label["text"] for label in view.seen()["labels"]]
        assert {"cpu0", "cuda0"} <= set(shown)
        assert not any("busy" in text for text in shown)
        view.root.focus()
        view.press("ArrowRight", "ArrowDown")
        expect(view.said).to_contain_text("Slice of #2 other")
        expect(view.said).to_contain_text("(sum)")
        expect(view.said).to_contain_text("track cuda0")
        assert "mean" not in everything(view)


def test_time_list_alone_shows_nodes_and_repeats(page: Page, corpus: Path) -> None:
    run = tvmdbg.open(corpus / "tvm/resnet20_cifar/time_list.json")
    with serve(run) as address:
        view = View(page, address, width=1600)
        as_in_the_figure(run, view)
        view.root.focus()
        view.press("ArrowRight")
        expect(view.said).to_contain_text("Slice of #3, starts 0 ns")
        expect(view.said).to_contain_text("mean of 5 repeats")
        said = everything(view)
        for never in ("operator", "trust", "kind", "wall"):
            assert never not in said, never


def test_a_saved_trace_shows_its_flamechart_first(
    page: Page, trace: DebugRun, bundles: Path, tmp_path: Path
) -> None:
    path = trace.save_html(tmp_path / "trace.html")
    page.set_viewport_size({"width": 1200, "height": 800})
    page.goto(path.as_uri())
    page.wait_for_function(READY)
    chart = box_of(page.locator(".tvmdbg-timeline"))
    assert chart["y"] < 300
    assert chart["height"] > 500
    graph = page.locator("[data-view=graph]")
    expect(graph).to_be_hidden()
    page.get_by_role("button", name="Show or hide the Graph view").click()
    expect(graph).to_contain_text("No graph")
