"""Long timelines: bins at once, slices as they come, parts of what no page holds; folding."""

import json
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import tvmdbg_widgets as tvmdbg
from tests.ui.host import serve
from tests.ui.pointer import box_of
from tests.ui.timeline.test_timeline_page import View, overlaps
from tests.ui.waits import frames, rest, until
from tvmdbg_widgets.answers import answers
from tvmdbg_widgets.answers import kept_timeline as timeline_kept
from tvmdbg_widgets.answers import ranges as answers_ranges
from tvmdbg_widgets.answers import timeline as answers_timeline
from tvmdbg_widgets.run import DebugRun

OUTER = 2_000
INNER = 4
VIEW = ".tvmdbg-timeline"
CHART = '&timeline.show="chart"&timeline.height=600'


@pytest.fixture(scope="module")
def long_run() -> DebugRun:
    """Two threads; on each, calls that hold four others, with pauses between."""
    rng = np.random.default_rng(3)
    events: list[dict[str, Any]] = []
    for thread in (1, 2):
        at = 0.0
        for _ in range(OUTER):
            step = float(rng.integers(20, 200)) / 1000
            events.append(event("outer", thread, at, (INNER + 1) * step))
            events += [event("inner", thread, at + i * step, step * 0.8) for i in range(INNER)]
            at += (INNER + 1) * step + float(rng.integers(0, 2)) * step
    return tvmdbg.open(json.dumps({"traceEvents": events}).encode())


def event(name: str, thread: int, start: float, duration: float) -> dict[str, Any]:
    """One slice of microseconds, whole nanoseconds."""
    times = {"ts": round(start, 3), "dur": round(duration, 3)}
    return {"ph": "X", "name": name, "pid": 1, "tid": thread, **times}


@pytest.fixture(scope="module")
def address(long_run: DebugRun) -> Iterator[str]:
    with serve(long_run) as found:
        yield found


def rows_of(view: View) -> dict[float, float]:
    """Busy time by row, in pixels: share times width of all that is drawn there."""
    found: dict[float, float] = {}
    for mark in view.seen()["marks"]:
        found[mark["y"]] = found.get(mark["y"], 0.0) + mark["share"] * mark["width"]
    return found


def test_bins_appear_before_slices_without_layout_shift(page: Page, address: str) -> None:
    held: list[Any] = []
    done = []

    def hold(route: Any) -> None:
        if not done and '"slices"' in (route.request.post_data or ""):
            held.append(route)
        else:
            route.continue_()

    page.route("**/ask", hold)
    view = View(page, address, CHART)
    coming = view.root.locator(".tvmdbg-timeline-coming")
    expect(coming).to_have_text("reading 20,000 slices: 0 %")
    early = view.seen()
    coarse = rows_of(view)
    assert len(coarse) == 4
    box = view.canvas.bounding_box()
    names = [label for label in early["labels"] if label["text"] == "thread 1"]
    done.append(True)
    while held:
        held.pop(0).continue_()
    expect(coming).to_have_count(0)
    frames(page)
    late = view.seen()
    fine = rows_of(view)
    assert view.canvas.bounding_box() == box
    assert [label for label in late["labels"] if label["text"] == "thread 1"] == names
    assert set(fine) == set(coarse)
    for y, busy in fine.items():
        assert coarse[y] == pytest.approx(busy, rel=0.02)
    assert any("busy" in label["text"] for label in late["labels"])
    assert overlaps(late["labels"]) == []


def test_drawn_widths_add_up_to_busy_time(page: Page, long_run: DebugRun, address: str) -> None:
    view = View(page, address, CHART)
    expect(view.root.locator(".tvmdbg-timeline-coming")).to_have_count(0)
    timeline = long_run.timeline
    start, end = 1e6, 1.2e6
    view.page.evaluate(f"tvmdbg.models.timeline0.set('time_range', [{start}, {end}])")
    until(page, f"found.view[0] === {start}", VIEW)
    drawn = rows_of(view)
    width = view.canvas.bounding_box()["width"]  # type: ignore[index]
    rows = timeline.rows
    begin, stop = timeline.slice_start_ns, timeline.slice_start_ns + timeline.slice_duration_ns
    for row, y in enumerate(sorted(drawn)):
        own = rows.order[rows.first[row] : rows.first[row + 1]]
        inside = np.minimum(stop[own], end) - np.maximum(begin[own], start)
        busy = float(inside[inside > 0].sum()) / (end - start) * width
        assert drawn[y] == pytest.approx(busy, abs=1.5)


def test_large_timeline_is_drawn_from_bins_and_windows(
    page: Page, long_run: DebugRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeline_kept, "MOST_WHOLE", 5_000)
    monkeypatch.setattr(answers_ranges, "_WINDOW", 500)
    with serve(long_run) as address:
        view = View(page, address, CHART)
        expect(view.root.locator(".tvmdbg-timeline-coming")).to_have_count(0)
        rest(page)
        whole = rows_of(view)
        assert len(whole) == 4
        view.page.evaluate("tvmdbg.models.timeline0.set('time_range', [400000, 500000])")
        rest(page)
        assert len({mark["slice"] for mark in view.seen()["marks"]}) > 100
        view.page.evaluate("tvmdbg.models.timeline0.set('time_range', [400000, 410000])")
        rest(page)
        seen = view.seen()
        timeline = long_run.timeline
        boxes = [mark for mark in seen["marks"] if mark["kind"] == "slice"]
        assert boxes
        for mark in boxes:
            found = timeline.slice(int(mark["source"]))
            left = (found.start_ns - 400_000) / 10_000 * view.canvas.bounding_box()["width"]  # type: ignore[index]
            if mark["x"] > 1:
                assert mark["x"] == pytest.approx(left, abs=1.5)


def test_tracks_fold_by_click_and_by_key(page: Page, address: str) -> None:
    view = View(page, address, CHART)
    expect(view.root.locator(".tvmdbg-timeline-coming")).to_have_count(0)
    tall = box_of(view.canvas)
    header = next(each for each in view.seen()["labels"] if each["text"] == "thread 1")
    page.mouse.click(tall["x"] + header["x"] + 3, tall["y"] + header["y"] + 5)
    expect(view.said).to_have_text("track thread 1 folded")
    seen = view.seen()
    assert len({mark["y"] for mark in seen["marks"]}) == 3
    assert any("2 rows folded" in label["text"] for label in seen["labels"])
    assert view.canvas.bounding_box()["height"] < tall["height"]  # type: ignore[index]
    view.press("z")
    expect(view.said).to_have_text("track thread 1 unfolded")
    assert view.canvas.bounding_box() == tall
    view.press("z")
    view.press("ArrowRight")
    expect(view.said).to_contain_text("Slice outer")
    assert len({mark["y"] for mark in view.seen()["marks"]}) == 4


def test_user_input_is_kept_while_slices_load(
    page: Page, long_run: DebugRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_come = threading.Event()
    answer = answers_timeline.slices

    def late(*asked: Any) -> Any:
        may_come.wait(20)
        return answer(*asked)

    monkeypatch.setitem(answers._ANSWERS, "slices", late)
    with serve(long_run) as address:
        view = View(page, address, '&timeline.show="both"&timeline.height=600')
        coming = view.root.locator(".tvmdbg-timeline-coming")
        expect(coming).to_be_visible()
        whole = view.view
        view.root.focus()
        view.press("+", "+")
        zoomed = view.view
        assert whole[0] < zoomed[0] < zoomed[1] < whole[1]
        field = view.root.locator("input[type=search]")
        field.fill("inner")
        field.evaluate("(field) => { field.mine = true; }")
        assert coming.is_visible()
        may_come.set()
        expect(coming).to_have_count(0)
        hits = view.root.locator(".tvmdbg-timeline-hits")
        expect(hits).to_contain_text(f"{2 * OUTER * INNER:,} hits")
        expect(field).to_be_focused()
        assert field.evaluate("(field) => field.mine === true && field.value === 'inner'")
        assert view.view == zoomed


def test_table_of_large_timeline_is_aggregated_in_python(
    page: Page, long_run: DebugRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeline_kept, "MOST_WHOLE", 5_000)
    with serve(long_run) as address:
        view = View(page, address, '&timeline.show="both"&timeline.height=600')
        page.evaluate("tvmdbg.models.timeline0.set('table_by', 'callers')")
        table = view.root.locator(".tvmdbg-timeline-by")
        expect(table).to_contain_text("2 rows")
        view.set_session(time_range=[400_000, 500_000])
        expect(table).to_contain_text("of the marked range")
        rows = view.root.locator("[data-columns=by] [role=row]", has_text="inner")
        expect(rows).to_have_count(1)
        own = {row.label: row.slices for row in long_run.times(by="name", within=(4e5, 5e5))}
        expect(rows.locator(".count")).to_have_text(f"{own['inner']:,}")
