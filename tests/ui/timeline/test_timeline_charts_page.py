"""The charts beside the tracks in time, and what the table sums up: by pointer, by keys alone."""

import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from tests.ui.host import serve
from tests.ui.pointer import box_of, middle_of
from tests.ui.timeline.test_timeline_page import View
from tests.ui.waits import frames
from tvmdbg_widgets.run import DebugRun

NODES, REPEATS, WARM, NOISY = 12, 50, 3, 7


class Other(View):
    """A flamechart that shows another chart."""

    def __init__(
        self, page: Page, address: str, chart: str, width: int = 980, theme: str = "light"
    ) -> None:
        query = f'&timeline.chart="{chart}"&timeline.height=560&theme={theme}'
        super().__init__(page, address, query, width)
        self.chart = self.root.locator(".tvmdbg-timeline-other")
        expect(self.root.locator(".tvmdbg-message-busy")).to_have_count(0)

    def marks(self, **wanted: object) -> list[dict[str, Any]]:
        return [
            each
            for each in self.seen()["marks"]
            if all(each.get(name) == value for name, value in wanted.items())
        ]

    def at(self, mark: dict[str, Any]) -> tuple[float, float]:
        """Middle of a mark, on the page."""
        return middle_of(self.chart, mark)

    @property
    def tip(self) -> Locator:
        return self.root.locator(".tvmdbg-timeline-tooltip")


def taller(page: Page, least: int) -> None:
    """Until the bands below the tracks have come."""
    page.wait_for_function(
        "(least) => document.querySelector('.tvmdbg-timeline canvas').clientHeight > least",
        arg=least,
    )
    frames(page)


def times() -> np.ndarray[Any, np.dtype[np.float64]]:
    """Seconds of 12 nodes in 50 repeats: the first three slow, node 7 noisy."""
    random = np.random.default_rng(6)
    base = np.linspace(1e-3, 3e-3, NODES)[:, None]
    found = base * (1 + random.normal(0, 0.004, (NODES, REPEATS)))
    found[:, :WARM] *= 1 + np.array([0.9, 0.6, 0.4])
    found[NOISY] *= np.where(np.arange(REPEATS) % 3 == 0, 1.5, 1.0)
    return found


@pytest.fixture(scope="module")
def fifty() -> DebugRun:
    return tvmdbg.open(json.dumps(times().tolist()).encode())


@pytest.fixture(scope="module")
def fifty_address(fifty: DebugRun) -> Iterator[str]:
    with serve(fifty) as address:
        yield address


def test_the_chart_is_chosen_in_the_bar_and_by_key(page: Page, address: str) -> None:
    view = Other(page, address, "time")
    view.root.locator(".tvmdbg-bar select").first.select_option("merged")
    expect(view.chart).to_contain_text("by path (groups of the graph)")
    assert view.option("chart") == "merged"
    view.root.focus()
    view.press("c")
    expect(view.chart).to_contain_text("synthetic timeline: operators back to back")
    assert view.option("chart") == "folded"


def test_merged_paths_match_python(page: Page, trace: DebugRun, trace_address: str) -> None:
    view = Other(page, trace_address, "merged", 1600)
    tree = trace.merged()
    places = [
        (tree.names[at], tree.total_ns[at], tree.self_ns[at], int(tree.count[at]))
        for at in range(len(tree))
    ]
    marks = view.seen()["marks"]
    assert len(marks) > 5
    left = min(mark["x"] for mark in marks)
    for mark in marks:
        assert any(
            (name, count) == (mark["label"], mark["count"])
            and mark["total"] == pytest.approx(total)
            and mark["self"] == pytest.approx(own)
            for name, total, own, count in places
        ), mark
    top = sorted((mark for mark in marks if mark["y"] == marks[0]["y"]), key=lambda m: m["x"])
    assert [mark["total"] for mark in top] == sorted((m["total"] for m in top), reverse=True)
    assert top[0]["x"] == left


def test_merged_chart_zooms_in_on_second_click_and_back_out(page: Page, trace_address: str) -> None:
    view = Other(page, trace_address, "merged")
    mark = view.marks(label="Thread.__init__ (threading.py:856)")[0]
    page.mouse.move(*view.at(mark))
    expect(view.tip).to_contain_text("in <module> (prog.py:1)")
    page.mouse.click(*view.at(mark))
    expect(view.said).to_contain_text("Thread.__init__ (threading.py:856), level 2")
    before = mark["width"]
    page.mouse.click(*view.at(mark))
    expect(view.said).to_contain_text("Zoomed into Thread.__init__")
    trail = view.chart.locator(".tvmdbg-timeline-trail")
    expect(trail.locator("[aria-current]")).to_contain_text("Thread.__init__")
    after = view.marks(label="Thread.__init__ (threading.py:856)")[0]
    assert after["width"] > before * 1.5
    trail.get_by_role("button").first.click()
    assert view.seen()["zoomed"] == -1


def test_merged_by_keys_alone(page: Page, trace_address: str) -> None:
    view = Other(page, trace_address, "merged")
    view.root.focus()
    view.press("ArrowDown")
    expect(view.said).to_contain_text("<module> (prog.py:1), level 1")
    view.press("ArrowDown")
    expect(view.said).to_contain_text("level 2, in <module> (prog.py:1), total 4.557 ms")
    view.press("ArrowRight")
    expect(view.said).to_contain_text("Thread.start (threading.py:945), level 2")
    view.press("Enter")
    expect(view.said).to_contain_text("Zoomed into Thread.start")
    assert view.seen()["zoomed"] >= 0
    view.press("Escape", "Escape")
    assert view.seen()["zoomed"] == -1
    view.press("ArrowUp")
    expect(view.said).to_contain_text("<module> (prog.py:1), level 1")
    view.press("f", "0")
    assert view.seen()["zoomed"] == -1
    view.press("Home", "End", "ArrowLeft", "s", "w")


def test_merged_chart_highlights_search_hits(page: Page, trace_address: str) -> None:
    view = Other(page, trace_address, "merged")
    view.root.focus()
    view.press("/")
    page.keyboard.type("Condition")
    page.wait_for_function("document.querySelector('.tvmdbg-timeline-hits').textContent !== ''")
    lit = {mark["label"]: mark["lit"] for mark in view.seen()["marks"]}
    assert lit["Condition.__init__ (threading.py:243)"]
    assert not lit["<module> (prog.py:1)"]


def test_merged_chart_is_limited_to_the_marked_range(page: Page, trace_address: str) -> None:
    view = Other(page, trace_address, "merged")
    view.set_session(time_range=[0, 2_000_000])
    expect(view.chart).to_contain_text("Only the marked range 0 – 2.000 ms")
    whole = view.seen()["whole"]
    assert 2_000_000 <= whole < 2_100_000
    view.set_session(time_range=None)
    expect(view.chart).not_to_contain_text("Only the marked range")


def test_merged_chart_of_nodes_follows_groups(page: Page, address: str, run: DebugRun) -> None:
    view = Other(page, address, "merged", 1600)
    tree = run.merged()
    tops = [mark for mark in view.seen()["marks"] if mark["y"] < 80]
    heaviest = max(tops, key=lambda mark: mark["total"])
    assert heaviest["total"] == pytest.approx(float(tree.total_ns[0]))
    page.mouse.click(*view.at(heaviest))
    assert len(view.session("selected")) > 5
    leaf = view.marks(label="#62 conv2d + add + relu · 1×64×8×8")[0]
    page.mouse.click(*view.at(leaf))
    assert view.session("selected") == [62]
    expect(view.said).to_contain_text("#62 conv2d + add + relu")


def test_repeats_of_fifty_show_warm_up_and_noise(
    page: Page, fifty: DebugRun, fifty_address: str
) -> None:
    view = Other(page, fifty_address, "repeats", 1600)
    warm = fifty.timeline.warm_up.cut
    assert warm >= 1
    expect(view.chart).to_contain_text(f"left of the line: warm-up, {warm} repeat")
    cells = [mark for mark in view.seen()["marks"] if "apart" in mark and mark["node"] == NOISY]
    assert len(cells) == REPEATS
    ns = times()[NOISY] * 1e9
    for cell in cells:
        assert cell["max"] == pytest.approx(ns[cell["first"]])
        assert cell["apart"] == pytest.approx(ns[cell["first"]] / np.median(ns) - 1)
    assert any(label["text"] == "noisy" for label in view.seen()["labels"])
    totals = [mark["total"] for mark in view.seen()["marks"] if "total" in mark]
    assert totals == pytest.approx(list(times().sum(axis=0) * 1e9))


def test_repeats_by_pointer(page: Page, fifty_address: str) -> None:
    view = Other(page, fifty_address, "repeats")
    cell = next(each for each in view.marks(node=4) if each.get("first") == 20)
    page.mouse.move(*view.at(cell))
    expect(view.tip).to_contain_text("repeat 21 of 50")
    expect(view.tip).to_contain_text("of the median")
    expect(view.tip).to_contain_text(" ns)")
    page.mouse.click(*view.at(cell))
    assert view.session("selected") == [4]
    assert view.seen()["current"]["repeat"] == 20
    expect(view.said).to_contain_text("repeat 21 of 50")
    total = next(each for each in view.seen()["marks"] if each.get("total") and each["first"] == 0)
    page.mouse.move(*view.at(total))
    expect(view.tip).to_contain_text("total of all rows")


def test_repeats_by_keys_alone(page: Page, fifty_address: str) -> None:
    view = Other(page, fifty_address, "repeats")
    view.root.focus()
    view.press("ArrowDown", "Home")
    expect(view.said).to_contain_text("repeat 1 of 50, warm-up")
    first = view.session("selected")
    view.press("End")
    expect(view.said).to_contain_text("repeat 50 of 50")
    view.press("ArrowLeft")
    expect(view.said).to_contain_text("repeat 49 of 50")
    view.press("ArrowDown")
    assert view.session("selected") != first
    expect(view.said).to_contain_text("repeat 49 of 50")
    view.press("PageDown", "PageUp", "ArrowUp", "ArrowRight", "Enter", "Escape")
    assert view.seen()["current"]["repeat"] == -1
    view.press("o")
    expect(view.chart).not_to_contain_text("longest first")


@pytest.mark.parametrize("repeats", [1000, 5000])
def test_more_repeats_than_pixels_are_summed_up_exactly(page: Page, repeats: int) -> None:
    random = np.random.default_rng(1)
    rows = 1e-3 * (1 + random.random((3, repeats)))
    with serve(tvmdbg.open(json.dumps(rows.tolist()).encode())) as address:
        view = Other(page, address, "repeats", 900)
        cells = [mark for mark in view.marks(node=1) if "min" in mark]
        assert len(cells) < repeats
        assert min(cell["first"] for cell in cells) == 0
        assert sum(cell["last"] - cell["first"] for cell in cells) == repeats
        for cell in cells:
            part = rows[1, cell["first"] : cell["last"]] * 1e9
            assert cell["min"] == pytest.approx(part.min())
            assert cell["max"] == pytest.approx(part.max())
            assert cell["mean"] == pytest.approx(part.mean())
        view.root.focus()
        view.press("ArrowDown")
        expect(view.details.locator("figure svg rect.bar")).not_to_have_count(0)


def test_repeats_chart_notes_that_trace_slices_are_not_repeats(
    page: Page, trace_address: str
) -> None:
    view = Other(page, trace_address, "repeats")
    expect(view.chart).to_contain_text("not repeats of the run")
    view.root.focus()
    view.press("ArrowDown", "ArrowRight")
    expect(view.details).to_contain_text("duration")


def test_charts_of_repeats_report_a_single_measurement(page: Page, corpus: Any) -> None:
    with serve(tvmdbg.open(corpus / "tvm/resnet20_cifar/report.json")) as address:
        for chart in ("repeats", "folded"):
            view = View(page, address, f'&timeline.chart="{chart}"')
            expect(view.root).to_contain_text("was measured")


def test_folded_chart_draws_slices_of_repeats_end_to_end(
    page: Page, address: str, run: DebugRun
) -> None:
    view = Other(page, address, "folded", 1600)
    marks = view.seen()["marks"]
    offsets = run.timeline.repeats_offsets
    repeats = run.timeline.repeats_ns
    for lane in range(5):
        own = [mark for mark in marks if mark.get("lane") == lane]
        assert len(own) > 10
        for mark in own:
            ns = repeats[offsets[mark["node"]] + lane]
            assert mark["ns"] == pytest.approx(ns)
        ends = sorted((mark["x"], mark["x"] + mark["width"]) for mark in own)
        for (_, end), (start, _) in pairwise(ends):
            assert start >= end - 0.6
    medians = [mark for mark in marks if mark.get("lane") == -1]
    assert {mark["node"] for mark in medians} >= {62, 65, 59}
    assert any(mark.get("whisker") and mark["node"] == 62 for mark in marks)


def test_folded_by_pointer_and_keys(page: Page, address: str) -> None:
    view = Other(page, address, "folded")
    mark = view.marks(lane=2, node=62)[0]
    page.mouse.move(*view.at(mark))
    expect(view.tip).to_contain_text("repeat 3 of 5")
    page.mouse.click(*view.at(mark))
    assert view.session("selected") == [62]
    expect(view.said).to_contain_text("repeat 3 of 5")
    view.press("ArrowDown")
    expect(view.said).to_contain_text("repeat 4 of 5")
    view.press("ArrowRight")
    assert view.session("selected") == [65]
    view.press("ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp")
    expect(view.said).to_contain_text("median ")
    whole = view.seen()["view"]
    view.press("w", "w")
    near = view.seen()["view"]
    assert near[1] - near[0] < (whole[1] - whole[0]) / 2
    view.press("a", "d", "s", "0")
    assert view.seen()["view"] == whole
    view.press("f")
    assert view.seen()["view"] != whole
    view.press("0", "Home", "End", "PageDown", "PageUp")
    box = box_of(view.chart)
    page.mouse.move(box["x"] + 400, box["y"] + 70)
    page.mouse.wheel(0, -300)
    frames(page)
    assert view.seen()["view"] != whole


def test_charts_follow_the_session(page: Page, address: str) -> None:
    for chart in ("merged", "folded", "repeats"):
        view = Other(page, address, chart)
        view.set_session(selected=[56], source="graph")
        frames(page)
        current = view.seen()["current"]
        assert (current if isinstance(current, int) else current["row"]) >= 0
        view.set_session(hovered=59)
        frames(page)


@pytest.mark.parametrize("by", ["node", "kind", "part", "group", "name"])
def test_table_sums_match_python(page: Page, address: str, run: DebugRun, by: str) -> None:
    view = View(page, address, f'&timeline.table_by="{by}"&timeline.height=560', 1600)
    rows = view.root.locator(".tvmdbg-timeline-rows .tvmdbg-timeline-row:visible")
    expect(rows.first).to_be_visible()
    table = run.times(by=by)
    shares = rows.locator(".share").all_inner_texts()
    top = [f"{100 * share:.1f}\N{NO-BREAK SPACE}%" for share in table.share[:2] if share >= 0.1]
    assert [each for each in shares[:2] if float(each.split()[0].strip("<")) >= 10] == top
    if by == "part":
        expect(view.root).to_contain_text("shares overlap")
        names = rows.locator(".label").all_inner_texts()
        assert {name.strip("▸ \n") for name in names} == set(table.labels)
        assert set(rows.locator(".sum").all_inner_texts()) == {"–"}


def test_table_grouping_is_chosen_by_mouse_and_key(page: Page, address: str) -> None:
    view = View(page, address, "&timeline.height=560", 1600)
    choice = view.root.locator(".tvmdbg-timeline-by select")
    choice.select_option("kind")
    assert view.option("table_by") == "kind"
    rows = view.root.locator("[role=treegrid] .tvmdbg-timeline-row[data-place]")
    expect(rows.first).to_contain_text("convolution")
    count = rows.count()
    rows.first.locator(".twisty").click()
    expect(rows.first).to_have_attribute("aria-expanded", "true")
    assert rows.count() > count
    expect(rows.nth(1)).to_contain_text("#62 conv2d + add + relu")
    rows.nth(1).click()
    assert view.session("selected") == [62]
    view.root.focus()
    view.press("b")
    assert view.option("table_by") == "part"
    view.press("Shift+B")
    assert view.option("table_by") == "kind"


def test_table_is_not_busy_with_sums_that_nobody_waits_for(page: Page, address: str) -> None:
    view = View(page, address, "&timeline.height=560", 1600)
    page.evaluate(
        "() => { for (const by of ['name', 'node']) tvmdbg.models.timeline0.set('table_by', by) }"
    )
    expect(view.root.locator("[aria-busy=true]")).to_have_count(0)


def test_sums_by_keys_alone(page: Page, address: str) -> None:
    view = View(page, address, '&timeline.table_by="kind"&timeline.height=560', 1600)
    view.root.focus()
    view.press("t", "ArrowDown")
    expect(view.said).to_contain_text("convolution: 39.54 ms, 99.2 %, 21 slices")
    assert len(view.session("selected")) == 21
    view.press("ArrowRight", "ArrowRight")
    expect(view.said).to_contain_text("#62 conv2d + add + relu · 1×64×8×8: 2.571 ms")
    assert view.session("selected") == [62]
    view.press("ArrowLeft")
    expect(view.said).to_contain_text("convolution: 39.54 ms")
    view.press("ArrowLeft", "End", "Home", "PageDown", "PageUp", "Enter", "ArrowUp")
    expect(view.said).to_contain_text("convolution: 39.54 ms")


def test_table_sums_cover_marked_range(page: Page, trace: DebugRun, trace_address: str) -> None:
    view = View(page, trace_address, "&timeline.height=560", 1600)
    view.set_session(time_range=[1_000_000, 3_000_000])
    rows = view.root.locator("[role=treegrid] .tvmdbg-timeline-row[data-place]")
    table = trace.times(by="node", within=(1_000_000, 3_000_000))
    expect(rows).to_have_count(len(table.labels))
    said = view.root.locator(".tvmdbg-timeline-by")
    expect(said).to_contain_text("of the marked range 1.000 ms – 3.000 ms")
    titles = rows.locator(".time").evaluate_all("(cells) => cells.map((cell) => cell.title)")
    shown = [float(title.split()[0]) for title in titles]
    assert shown == pytest.approx(list(table.ns))


def test_callers_table_shows_sandwich_view(page: Page, trace_address: str) -> None:
    view = View(page, trace_address, '&timeline.table_by="callers"&timeline.height=620', 1600)
    expect(view.root.locator("[aria-busy=true]")).to_have_count(0)
    view.root.focus()
    view.press("t", "ArrowDown")
    expect(view.details).to_contain_text("Condition.__init__")
    view.press("ArrowRight", "ArrowRight")
    expect(view.said).to_contain_text("Event.__init__")
    sandwich = view.root.locator(".tvmdbg-timeline-sandwich")
    expect(sandwich).to_contain_text("Event.__init__ (threading.py:562): 4.505 ms with callees")
    marks = view.seen()["sandwich"]["marks"]
    above = {mark["label"] for mark in marks if mark["side"] == "callers"}
    below = {mark["label"] for mark in marks if mark["side"] == "callees"}
    assert "<module> (prog.py:1)" in above - below
    assert "Condition.__init__ (threading.py:243)" in below - above
    box = box_of(sandwich)
    callee = next(mark for mark in marks if mark["label"].startswith("Condition.__init__"))
    page.mouse.click(box["x"] + callee["x"] + 30, box["y"] + callee["y"] + callee["height"] / 2)
    expect(view.details).to_contain_text("Condition.__init__")


def test_distribution_shows_warm_up_noise_and_confidence_interval(
    page: Page, fifty: DebugRun, fifty_address: str
) -> None:
    view = View(page, fifty_address)
    view.set_session(selected=[NOISY])
    expect(view.details).to_contain_text("p90 / p10 =")
    expect(view.details).to_contain_text("95 % CI")
    expect(view.details).to_contain_text("warm-up")
    dots = view.details.locator("figure svg .dot")
    expect(dots).to_have_count(REPEATS)
    expect(view.details.locator("figure svg .dot.beyond")).to_have_count(fifty.timeline.warm_up.cut)


def test_memory_counter_is_drawn_below_the_tracks(page: Page, address: str, run: DebugRun) -> None:
    view = View(page, address, "&timeline.height=560")
    counters = run.counters()
    memory = counters[0]
    taller(page, 130)
    box = box_of(view.canvas)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 12)
    tip = view.root.locator(".tvmdbg-timeline-tooltip")
    expect(tip).to_contain_text("memory in use")
    expect(tip).to_contain_text(f"{int(memory.values.max()):,}")
    view.root.focus()
    view.press("u")
    expect(view.said).to_contain_text("memory in use: ")


def flowing() -> bytes:
    """Two threads: every step is started by a load."""
    events: list[dict[str, Any]] = []
    for i in range(5):
        at = 100 * i
        events += [
            {"ph": "X", "name": "load", "pid": 1, "tid": 2, "ts": at, "dur": 40},
            {"ph": "X", "name": "step", "pid": 1, "tid": 1, "ts": at + 60, "dur": 30},
            {"ph": "s", "id": i, "name": "launch", "cat": "f", "pid": 1, "tid": 2, "ts": at + 35},
            {"ph": "f", "bp": "e", "id": i, "name": "launch", "cat": "f"}
            | {"pid": 1, "tid": 1, "ts": at + 60},
            {"ph": "C", "name": "queue", "pid": 1, "ts": at, "args": {"depth": 3 * i % 7}},
        ]
    return json.dumps({"traceEvents": events}).encode()


def test_keys_follow_flow_arrows_between_slices(page: Page) -> None:
    with serve(tvmdbg.open(flowing())) as address:
        view = View(page, address, "&timeline.height=560")
        view.root.focus()
        view.press("/")
        page.keyboard.type("load")
        view.press("Enter")
        expect(view.said).to_contain_text("Slice load")
        page.wait_for_function(
            "document.querySelector('.tvmdbg-timeline canvas').clientHeight > 150"
        )
        view.press("e")
        expect(view.said).to_contain_text("Slice step")
        view.press("Shift+E")
        expect(view.said).to_contain_text("Slice load")
        view.press("u")
        expect(view.said).to_contain_text("queue: ")
