"""Ranges, measures and gaps of the flamechart: by mouse and by key, exact to the nanosecond."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import tvmdbg_widgets as tvmdbg
from tests.ui.host import serve
from tests.ui.pointer import box_of, inside, tool
from tests.ui.timeline.test_timeline_page import TRACKS_Y, View
from tvmdbg_widgets.run import DebugRun

# name, thread, start and duration in nanoseconds; every number is odd, so that rounding shows
EVENTS = [
    ("load", 1, 0, 100_001),
    ("conv2d", 1, 150_003, 300_005),
    ("inner, of conv2d", 1, 160_007, 90_009),
    ('="quoted"', 1, 300_011, 60_013),
    ("load", 1, 520_015, 80_017),
    ("store", 1, 900_019, 100_021),
    ("beside", 2, 50_023, 700_025),
    ("last", 2, 800_027, 150_029),
]
WHOLE = 1_000_040
HOSTILE = "<img src=x onerror=alert(1)>"


def trace(events: list[tuple[str, int, int, int]]) -> bytes:
    """Return a Chrome trace of these events, times as decimals of a microsecond."""
    lines = [
        f'{{"ph": "X", "pid": 1, "tid": {tid}, "name": {json.dumps(name)}, '
        f'"ts": {start // 1000}.{start % 1000:03}, "dur": {lasts // 1000}.{lasts % 1000:03}}}'
        for name, tid, start, lasts in events
    ]
    return f"[{', '.join(lines)}]".encode()


@pytest.fixture(scope="module")
def run() -> DebugRun:
    return tvmdbg.open(trace(EVENTS))


@pytest.fixture
def view(page: Page, address: str) -> View:
    return View(page, address, "&timeline.height=700")


def x_of(view: View, ns: float) -> float:
    """Where a time is on the canvas."""
    start, end = view.seen()["view"]
    return float((ns - start) / (end - start) * view.width)


def row_y(view: View, name: str, run: DebugRun) -> float:
    """Middle of the row of the first slice of a name."""
    index = list(run.timeline.slice_names).index(name)
    marks = [each for each in view.seen()["marks"] if source(each) == index]
    assert marks, name
    return float(marks[0]["y"] + marks[0]["height"] / 2)


def source(mark: dict[str, Any]) -> int:
    """Index of a drawn slice in the timeline."""
    return int(mark["source"])


def start_drag(view: View, a: tuple[float, float], b: tuple[float, float]) -> None:
    view.page.mouse.move(*inside(view.canvas, *a))
    view.page.mouse.down()
    view.page.mouse.move(*inside(view.canvas, *b), steps=2)


def test_drag_snaps_range_to_slice_edges(view: View) -> None:
    start = (x_of(view, 150_003) - 3, TRACKS_Y)
    end = (x_of(view, 600_032) - 5, TRACKS_Y)
    start_drag(view, start, end)
    seen = view.seen()
    assert seen["snapped"]["ns"] == 600_032
    assert seen["snapped"]["end"] == "end"
    expect(view.details).to_contain_text("450,029 ns")
    view.page.mouse.up()
    assert view.session("time_range") == [150_003, 600_032]
    assert view.seen()["snapped"] is None
    expect(view.said).to_contain_text("range: 450.0 µs (450,029 ns)")
    expect(view.root.locator(".tvmdbg-timeline-by")).to_contain_text("of the marked range")
    assert view.view == pytest.approx((0, WHOLE))


def test_alt_and_x_keys_disable_snapping(view: View) -> None:
    a, b = x_of(view, 150_003) - 3, x_of(view, 600_032) - 5
    view.page.keyboard.down("Alt")
    view.drag((a, TRACKS_Y), (b, TRACKS_Y))
    view.page.keyboard.up("Alt")
    start, end = view.session("time_range")
    assert 135_000 < start < 150_003
    assert 585_000 < end < 600_032
    assert start == int(start)
    view.press("Escape", "x")
    expect(view.said).to_contain_text("begin and end anywhere")
    view.drag((a, TRACKS_Y), (b, TRACKS_Y))
    assert view.session("time_range") == [start, end]
    view.press("Escape", "x")
    view.drag((a, TRACKS_Y), (b, TRACKS_Y))
    assert view.session("time_range") == [150_003, 600_032]


def test_range_snaps_to_edges_of_all_visible_rows(view: View) -> None:
    view.drag((x_of(view, 50_023) + 2, TRACKS_Y), (x_of(view, 750_048) - 3, TRACKS_Y))
    assert view.session("time_range") == [50_023, 750_048]


def test_shift_middle_button_and_finger_pan(view: View) -> None:
    view.root.focus()
    view.press("w", "w")
    before = view.view
    view.page.keyboard.down("Shift")
    view.drag((300, TRACKS_Y), (400, TRACKS_Y))
    view.page.keyboard.up("Shift")
    moved = view.view
    assert moved[0] < before[0]
    assert moved[1] - moved[0] == pytest.approx(before[1] - before[0])
    box = box_of(view.canvas)
    mouse = view.page.mouse
    mouse.move(box["x"] + 400, box["y"] + TRACKS_Y)
    mouse.down(button="middle")
    mouse.move(box["x"] + 350, box["y"] + TRACKS_Y)
    mouse.move(box["x"] + 300, box["y"] + TRACKS_Y)
    mouse.up(button="middle")
    assert view.view == pytest.approx(before)
    view.canvas.evaluate(
        """(canvas) => {
          const box = canvas.getBoundingClientRect();
          const send = (type, x) => canvas.dispatchEvent(new PointerEvent(type, {
            pointerId: 1, pointerType: "touch", isPrimary: true, bubbles: true,
            clientX: box.left + x, clientY: box.top + 90 }));
          canvas.setPointerCapture = () => {};
          send("pointerdown", 300); send("pointermove", 350); send("pointermove", 400);
          send("pointerup", 400);
        }"""
    )
    assert view.view == pytest.approx(moved)
    assert view.session("time_range") is None


def test_two_fingers_zoom(view: View) -> None:
    view.canvas.evaluate(
        """(canvas) => {
          const box = canvas.getBoundingClientRect();
          const send = (type, id, x) => canvas.dispatchEvent(new PointerEvent(type, {
            pointerId: id, pointerType: "touch", isPrimary: id === 1, bubbles: true,
            clientX: box.left + x, clientY: box.top + 90 }));
          canvas.setPointerCapture = () => {};
          send("pointerdown", 1, 200); send("pointerdown", 2, 300);
          send("pointermove", 2, 400); send("pointermove", 1, 100);
          send("pointerup", 1, 100); send("pointerup", 2, 400);
        }"""
    )
    start, end = view.view
    assert end - start == pytest.approx(WHOLE / 3, rel=0.05)
    assert view.session("selected") == []


def touching(run: DebugRun, start: float, end: float) -> np.ndarray[Any, Any]:
    """Which slices share time with a range."""
    begin = run.timeline.slice_start_ns
    return np.asarray((begin < end) & (begin + run.timeline.slice_duration_ns > start))


def test_range_panel_matches_python_numbers(view: View, run: DebugRun) -> None:
    view.set_session(time_range=[100_000, 700_000], source="python")
    touched = touching(run, 100_000, 700_000)
    expect(view.details).to_contain_text(f"{touched.sum()} slices, some nested")
    timeline = run.timeline
    begin, lasts = timeline.slice_start_ns, timeline.slice_duration_ns
    whole = lasts[touched & (begin >= 100_000) & (begin + lasts <= 700_000)]
    assert len(whole) == 4
    p50, p90 = np.percentile(whole, [50, 90])
    times = [f"{ns / 1000:.2f} µs" if ns < 1e5 else f"{ns / 1000:.1f} µs" for ns in (p50, p90)]
    expect(view.details).to_contain_text(f"p50 {times[0]}, p90 {times[1]}")
    own = run.times(by="name", within=(100_000, 700_000))
    expect(view.details).to_contain_text(f"{own.total_ns:,.0f} ns")
    expect(view.details).to_contain_text("over 2 tracks side by side, not wall time")
    rows = view.details.get_by_role("listitem")
    for at, row in enumerate(list(own)[:4]):
        expect(rows.nth(at)).to_contain_text(row.label)
    busy = 1 + 300_005 + 80_017
    expect(view.details).to_contain_text(f"busy {100 * busy / 600_000:.1f} %, 3 gaps")


def test_range_can_be_limited_to_one_track_or_row(view: View, run: DebugRun) -> None:
    y = row_y(view, "beside", run)
    view.drag((x_of(view, 50_023), y), (x_of(view, 950_056), y))
    scope = view.details.get_by_label("tracks included")
    names = scope.locator("option").all_inner_texts()
    assert names[0] == "all tracks"
    assert len(names) == 4
    assert names[3].startswith("row 1 of")
    scope.select_option(names[3])
    expect(view.details).to_contain_text("2 slices")
    expect(view.details).to_contain_text(f"{700_025 + 150_029:,} ns")
    scope.select_option(names[1])
    expect(view.details).to_contain_text("6 slices")
    scope.focus()
    view.press("Escape")
    view.root.focus()
    view.press("Escape")
    assert view.session("time_range") is None


@pytest.mark.parametrize("by", ["name", "track", "device"])
def test_range_time_is_grouped_by_name_track_or_device(view: View, by: str) -> None:
    view.set_session(time_range=[0, WHOLE], source="python")
    view.details.get_by_label("group the time by").select_option(by)
    first = view.details.get_by_role("listitem").first
    expect(first).to_contain_text({"name": "beside", "device": "1.430 ms"}.get(by, "850.1 µs"))
    if by == "name":
        expect(first).to_contain_text("700.0 µs")


def test_panel_row_selects_its_slice(view: View) -> None:
    view.set_session(time_range=[0, 400_000], source="python")
    view.details.get_by_role("button", name="select conv2d").click()
    expect(view.said).to_contain_text("Slice conv2d, starts 150.0 µs")
    expect(view.root).to_be_focused()


def test_range_is_copied_as_text_csv_and_code(view: View, run: DebugRun) -> None:
    view.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    view.set_session(time_range=[140_000, 400_000], source="python")

    def copied(name: str) -> str:
        view.details.get_by_role("button", name=name).click()
        return view.page.evaluate("() => navigator.clipboard.readText()")

    text = copied("Copy these numbers as text")
    expect(view.root.locator(".tvmdbg-copied")).to_contain_text("copied the numbers of the range")
    assert "range: 260.0 µs (260,000 ns)" in text
    assert "time by node" in text
    table = list(csv.DictReader(io.StringIO(copied("Copy the slices of the range as CSV"))))
    expect(view.root.locator(".tvmdbg-copied")).to_contain_text("4 slices as CSV")
    assert {row["name"] for row in table} == {"conv2d", "inner, of conv2d", '\'="quoted"', "beside"}
    for row in table:
        found = run.timeline.slice(int(row["slice"]))
        assert float(row["start_ns"]) == found.start_ns
        assert float(row["duration_ns"]) == found.duration_ns
    beside = next(row for row in table if row["name"] == "beside")
    assert beside["self_in_range_ns"] == "260000"
    assert copied("Copy Python for the range").startswith("run.area(140000, 400000)")


def test_csv_is_saved_as_a_file(view: View, tmp_path: Path) -> None:
    view.set_session(time_range=[140_000, 400_000], source="python")
    with view.page.expect_download() as saved:
        view.details.get_by_role("button", name="Save the slices of the range").click()
    assert saved.value.suggested_filename == "slices_140000_400000_ns.csv"
    path = tmp_path / "slices.csv"
    saved.value.save_as(path)
    assert len(list(csv.DictReader(io.StringIO(path.read_text())))) == 4
    expect(view.root.locator(".tvmdbg-copied")).to_contain_text("4 slices saved as")


def test_measure_by_mouse(view: View) -> None:
    tool(view.root, "measure between two edges (m)").click()
    expect(view.details).to_contain_text("click an edge")
    box = box_of(view.canvas)
    view.page.mouse.click(box["x"] + x_of(view, 100_001) + 3, box["y"] + TRACKS_Y)
    view.page.mouse.move(box["x"] + x_of(view, 520_015) - 4, box["y"] + TRACKS_Y)
    assert view.seen()["measure"] == {"range": [100_001, 520_015], "open": True}
    expect(view.details).to_contain_text("420.0 µs (420,014 ns)")
    view.page.mouse.click(box["x"] + x_of(view, 520_015) - 4, box["y"] + TRACKS_Y)
    assert view.seen()["measure"] == {"range": [100_001, 520_015], "open": False}
    expect(view.said).to_contain_text("end of load at 100.0 µs (100,001 ns)")
    expect(view.said).to_contain_text("to start of load at 520.0 µs (520,015 ns)")
    view.page.mouse.move(box["x"] + 20, box["y"] + TRACKS_Y)
    assert view.seen()["measure"]["range"] == [100_001, 520_015]
    view.press("Escape")
    assert view.seen()["measure"] is None


def test_measurement_by_keys_becomes_range(view: View) -> None:
    view.root.focus()
    view.press("ArrowRight", "m")
    assert view.seen()["measure"]["range"] == [0, 100_001]
    view.press("ArrowRight")
    assert view.seen()["measure"]["range"] == [0, 150_003]
    expect(view.said).to_contain_text("between 150.0 µs (150,003 ns)")
    view.press("ArrowRight", "ArrowLeft")
    assert view.seen()["measure"]["range"] == [0, 150_003]
    view.press("ArrowDown")
    assert view.seen()["measure"]["range"] == [0, 160_007]
    view.press("Enter")
    assert view.seen()["measure"]["open"] is False
    view.press("Enter")
    assert view.session("time_range") == [0, 160_007]
    assert view.seen()["measure"] is None
    view.press("f")
    assert view.view == pytest.approx((0, 160_007))


def test_click_between_slices_describes_the_gap(view: View, run: DebugRun) -> None:
    box = box_of(view.canvas)
    y = box["y"] + row_y(view, "load", run)
    view.page.mouse.click(box["x"] + x_of(view, 700_000), y)
    assert view.seen()["gap"] == {"track": 0, "from": 600_032, "to": 900_019}
    expect(view.said).to_contain_text("Gap: idle 300.0 µs (299,987 ns)")
    expect(view.said).to_contain_text("before it: load; after it: store")
    expect(view.said).to_contain_text("rank 1 of")
    expect(view.details.locator("li").first).to_contain_text("300.0 µs")
    view.details.locator("li button").nth(1).click()
    assert view.seen()["gap"]["from"] == 450_008
    expect(view.root).to_be_focused()
    view.press("f")
    start, end = view.view
    assert end - start == pytest.approx(1.5 * 70_007)
    view.press("Escape")
    assert view.seen()["gap"] is None


def test_keys_go_from_gap_to_gap(view: View) -> None:
    view.root.focus()
    starts = []
    for key in ("]", "]", "]", "[", "g", "Shift+G"):
        view.press(key)
        starts.append(view.seen()["gap"]["from"])
    assert starts == [100_001, 450_008, 600_032, 450_008, 600_032, 450_008]
    lengths = []
    view.press("Escape")
    for key in ("}", "}", "{"):
        view.press(key)
        gap = view.seen()["gap"]
        lengths.append(gap["to"] - gap["from"])
    assert lengths == [299_987, 70_007, 299_987]
    view.press("]")
    expect(view.said).to_contain_text("no gap after this on the track")


def test_keys_reach_parents_children_and_rows(view: View) -> None:
    view.root.focus()
    view.press("ArrowRight", "ArrowRight")
    expect(view.said).to_contain_text("Slice conv2d")
    expect(view.said).to_contain_text("2 child slices, 50.00 µs after load, 70.01 µs before load")
    view.press("ArrowDown")
    expect(view.said).to_contain_text("Slice inner, of conv2d")
    expect(view.said).to_contain_text("in conv2d, 50.00 µs before")
    view.press("ArrowRight")
    expect(view.said).to_contain_text('Slice ="quoted"')
    view.press("ArrowUp")
    expect(view.said).to_contain_text("Slice conv2d")
    view.press("ArrowLeft", "ArrowDown")
    expect(view.said).to_contain_text("Slice beside")
    view.press("ArrowUp")
    expect(view.said).to_contain_text("Slice")


def test_wheel_without_focus_shows_hint_and_does_not_zoom(view: View) -> None:
    box = box_of(view.canvas)
    view.page.mouse.move(box["x"] + 300, box["y"] + TRACKS_Y)
    view.page.mouse.wheel(0, -300)
    expect(view.root.locator(".tvmdbg-wheel-hint")).to_have_count(1)
    assert view.view == pytest.approx((0, WHOLE))


@pytest.mark.usefixtures("own_page")
def test_host_shortcuts_are_not_intercepted(view: View) -> None:
    view.root.focus()
    view.page.evaluate(
        """() => {
          window.kept = [];
          addEventListener("keydown", (event) => {
            if (event.key.length === 1) window.kept.push([event.key, event.defaultPrevented]);
          });
        }"""
    )
    for key in ("Control+f", "Control+s", "Meta+w", "Alt+m", "Control+0"):
        view.press(key)
    assert all(not prevented for _, prevented in view.page.evaluate("() => window.kept"))
    assert view.seen()["measure"] is None
    assert view.view == pytest.approx((0, WHOLE))


def test_no_two_actions_share_a_key(view: View) -> None:
    view.root.focus()
    view.press("?")
    keys = view.root.locator(".tvmdbg-help kbd").all_inner_texts()
    assert sorted(keys) == sorted(set(keys))


def test_hostile_names_are_text(page: Page) -> None:
    events = [(HOSTILE, 1, 0, 1000), ("</script>", 1, 3000, 500), ("\u202e\x1b[31m", 1, 4000, 9)]
    with serve(tvmdbg.open(trace(events))) as address:
        view = View(page, address)
        view.set_session(time_range=[0, 4009], source="python")
        view.root.get_by_role("tab", name="details").click()
        expect(view.details.get_by_role("listitem").first).to_contain_text(HOSTILE)
        view.press("Escape")
        view.root.focus()
        view.press("ArrowRight", "m", "ArrowRight")
        expect(view.details).to_contain_text(HOSTILE)
        view.press("Escape", "]")
        expect(view.details).to_contain_text(HOSTILE)
        assert page.locator("img").count() == 0
