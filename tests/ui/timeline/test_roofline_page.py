"""Roofline and critical path of the flamechart: by mouse and key, three widths, both themes."""

import dataclasses

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import tvmdbg_widgets as tvmdbg
from tests.ui.host import serve
from tests.ui.pointer import drag, middle_of, tool
from tests.ui.timeline.test_timeline_page import View
from tests.ui.waits import rest
from tvmdbg_widgets.run import DebugRun

CHART = ".tvmdbg-timeline-rooflines"
SLOWEST, RESHAPE = 62, 67


class Chart(View):
    """The roofline on a page."""

    def __init__(self, page: Page, address: str, query: str = "", width: int = 1200) -> None:
        query = f'&timeline.chart="roofline"&timeline.height=420{query}'
        super().__init__(page, address, query, width)
        rest(page)
        self.chart = self.root.locator(CHART)

    def marks(self) -> dict[int, dict[str, float]]:
        return {each["node"]: each for each in self.seen()["marks"]}

    def on_page(self, at: dict[str, float]) -> tuple[float, float]:
        return middle_of(self.chart, {"width": 0, "height": 0, **at})


@pytest.fixture
def view(page: Page, address: str) -> Chart:
    return Chart(page, address)


def alone(marks: dict[int, dict[str, float]]) -> int:
    """The node whose point is farthest from all others."""

    def nearest(node: int) -> float:
        own = marks[node]
        return min(
            float(np.hypot(own["x"] - other["x"], own["y"] - other["y"]))
            for each, other in marks.items()
            if each != node
        )

    return max(marks, key=nearest)


def test_roofline_points_match_python_values(view: Chart, run: DebugRun) -> None:
    roofline = run.roofline()
    marks = view.marks()
    drawn = [point for point in roofline if point.flops > 0]
    assert set(marks) == {point.node for point in drawn}
    middle = {
        node: (m["x"] + m["width"] / 2, m["y"] + m["height"] / 2) for node, m in marks.items()
    }
    x = np.array([middle[point.node][0] for point in drawn])
    y = np.array([middle[point.node][1] for point in drawn])
    for place, values in (
        (x, [point.intensity for point in drawn]),
        (y, [point.flops_per_s for point in drawn]),
    ):
        fitted = np.polyfit(np.log10(values), place, 1)
        np.testing.assert_allclose(np.polyval(fitted, np.log10(values)), place, atol=0.01)
    areas = np.array([marks[point.node]["width"] for point in drawn]) ** 2
    large = areas > 2 * areas.min()
    times = np.array([point.time_ns for point in drawn])
    np.testing.assert_allclose(areas[large] / areas.max(), times[large] / times.max(), rtol=1e-6)


def test_point_is_described_selected_and_toggled_by_mouse(view: Chart) -> None:
    node = alone(view.marks())
    x, y = view.on_page(view.marks()[node])
    view.page.mouse.move(x, y)
    tip = view.root.locator(".tvmdbg-timeline-tooltip")
    expect(tip).to_contain_text(f"#{node}")
    expect(tip).to_contain_text("FLOP/B")
    view.page.wait_for_function(f"tvmdbg.models.session.get('hovered') === {node}")
    view.page.mouse.click(x, y)
    assert view.session("selected") == [node]
    assert view.seen()["current"] == node
    expect(view.said).to_contain_text(f"#{node}")
    view.page.keyboard.down("Control")
    view.page.mouse.click(x, y)
    view.page.keyboard.up("Control")
    assert view.session("selected") == []


def test_dragged_box_selects_the_nodes_inside(view: Chart) -> None:
    marks = view.marks()
    left = min(marks.values(), key=lambda each: each["x"])
    near = [node for node, each in marks.items() if each["x"] < left["x"] + 60]
    boxes = [marks[node] for node in near]
    start = {"x": min(b["x"] for b in boxes) - 6, "y": min(b["y"] for b in boxes) - 12}
    end = {
        "x": max(b["x"] + b["width"] for b in boxes) + 3,
        "y": max(b["y"] + b["height"] for b in boxes) + 6,
    }
    drag(view.page, view.on_page(end), view.on_page(start), steps=2)
    assert sorted(view.session("selected")) == sorted(near)
    expect(view.said).to_contain_text(f"{len(near)} nodes selected")


def test_keys_move_by_time_and_by_position(view: Chart, run: DebugRun) -> None:
    drawn = [point for point in run.roofline() if point.flops > 0]
    by_time = [p.node for p in sorted(drawn, key=lambda p: (-p.time_ns, p.node))]
    by_place = [p.node for p in sorted(drawn, key=lambda p: (p.intensity, p.flops_per_s, p.node))]
    view.root.focus()
    view.press("Home")
    assert view.session("selected") == [by_time[0]] == [SLOWEST]
    expect(view.said).to_contain_text("1.84 GFLOP/s at 26.2 FLOP/B")
    expect(view.details).to_contain_text("4.73 MFLOP")
    view.press("ArrowDown", "ArrowDown")
    assert view.session("selected") == [by_time[2]]
    view.press("ArrowUp")
    assert view.session("selected") == [by_time[1]]
    at = by_place.index(by_time[1])
    view.press("ArrowLeft")
    assert view.session("selected") == [by_place[at - 1]]
    view.press("ArrowRight", "ArrowRight")
    assert view.session("selected") == [by_place[min(at + 1, len(by_place) - 1)]]
    view.press("End")
    assert view.session("selected") == [by_time[-1]]


def test_no_bound_is_shown_without_ceilings(view: Chart) -> None:
    assert view.seen()["ceilings"] == {"flops": None, "bytes": None}
    expect(view.chart).to_contain_text("not hardware peak")
    texts = [each["text"] for each in view.seen()["labels"]]
    assert any(text.startswith("best measured") for text in texts)
    view.root.focus()
    view.press("Home")
    assert "bound by" not in view.said.inner_text()


def test_ceilings_are_typed(view: Chart, run: DebugRun) -> None:
    peak = view.chart.get_by_label("peak, FLOP/s")
    bandwidth = view.chart.get_by_label("bandwidth, B/s")
    peak.fill("nonsense")
    peak.press("Enter")
    expect(peak).to_have_attribute("aria-invalid", "true")
    assert view.option("peak_flops") is None
    peak.fill("3 G")
    peak.press("Enter")
    bandwidth.fill("1e9")
    bandwidth.press("Enter")
    assert (view.option("peak_flops"), view.option("bandwidth")) == (3e9, 1e9)
    expect(peak).to_have_value("3 GFLOP/s")
    slow = [point for point in run.roofline(3e9, 1e9) if point.bound == "memory" and point.flops]
    expect(view.chart).to_contain_text(
        f"Memory-bound below 3 FLOP/B, ignoring cache hits: {len(slow)} operators"
    )
    view.root.focus()
    view.press("Home")
    share = run.roofline(3e9, 1e9).node(SLOWEST).of_ceiling
    expect(view.said).to_contain_text(f"bound by compute: {100 * share:.1f} %")
    peak.fill("")
    peak.press("Enter")
    assert view.option("peak_flops") is None


@pytest.mark.parametrize("line", ["flops", "bytes"])
def test_ceilings_are_dragged(view: Chart, line: str) -> None:
    x, y = view.on_page(view.seen()["lines"][line])
    drag(view.page, (x, y), (x, y + 30), steps=2)
    name = "peak_flops" if line == "flops" else "bandwidth"
    first = view.option(name)
    assert first > 0
    x, y = view.on_page(view.seen()["lines"][line])
    drag(view.page, (x, y), (x, y - 10), steps=2)
    assert view.option(name) > first
    assert view.session("selected") == []


def test_nodes_missing_from_the_chart_are_listed_with_reason(view: Chart) -> None:
    missing = view.chart.locator(".tvmdbg-timeline-missing")
    expect(missing).to_contain_text("no arithmetic: 0 operations")
    view.root.focus()
    row = missing.get_by_role("button", name=f"#{RESHAPE}")
    row.click()
    assert view.session("selected") == [RESHAPE]
    expect(row).to_have_attribute("aria-pressed", "true")
    view.set_session(selected=[])
    row.focus()
    view.press("Enter")
    assert view.session("selected") == [RESHAPE]


def test_roofline_follows_session_selection(view: Chart) -> None:
    view.set_session(selected=[30], source="graph")
    assert view.seen()["current"] == 30


def test_reason_for_unknown_work_is_shown(page: Page, run: DebugRun) -> None:
    graph = run.graph
    names = [name.replace("softmax", "strange") for name in graph.func_names]
    column = graph.func_names.from_strings(names)
    strange = dataclasses.replace(run.parts, graph=dataclasses.replace(graph, func_names=column))
    with serve(tvmdbg.DebugRun(strange)) as address:
        view = Chart(page, address)
        missing = view.chart.locator(".tvmdbg-timeline-missing")
        expect(missing).to_contain_text("no formula for")
        expect(missing).to_contain_text("#71")


def test_roofline_without_graph_shows_reason(page: Page, run: DebugRun) -> None:
    bare = dataclasses.replace(run.parts, graph=None)
    with serve(tvmdbg.DebugRun(bare)) as address:
        view = View(page, address, '&timeline.chart="roofline"')
        expect(view.root).to_contain_text("counted from shapes")


def test_the_critical_path_is_marked_and_selected_by_key(
    page: Page, address: str, run: DebugRun
) -> None:
    view = View(page, address)
    rest(page)
    path = run.critical_path()
    slices = sum(len(run.timeline.slices_of(node)) for node in path.nodes.tolist())
    assert view.seen()["critical"] == 0
    view.root.focus()
    view.press("p")
    expect(view.said).to_contain_text("critical path: 39.40 ms")
    expect(view.said).to_contain_text("lower bound if branches ran in parallel")
    assert view.seen()["critical"] == slices
    assert view.option("critical") is True
    view.press("p")
    expect(view.said).to_contain_text("not marked")
    assert view.seen()["critical"] == 0
    view.press("Shift+P")
    page.wait_for_function("tvmdbg.models.session.get('selected').length > 1")
    assert view.session("selected") == path.operators.tolist()


def test_the_critical_path_is_marked_by_mouse(page: Page, address: str) -> None:
    view = View(page, address)
    rest(page)
    critical = tool(view.root, "mark the critical path")
    critical.click()
    expect(view.said).to_contain_text("critical path: 39.40 ms")
    expect(critical).to_have_attribute("aria-pressed", "true")
    view.press("p")
    expect(critical).to_have_attribute("aria-pressed", "false")


def test_details_show_slack(page: Page, address: str, run: DebugRun) -> None:
    view = View(page, address, "&timeline.critical=true")
    rest(page)
    assert view.seen()["critical"] > 0
    slack = run.critical_path().slack_ns
    beside = next(int(node) for node in np.flatnonzero(slack > 0) if node in (30, 27))
    view.set_session(selected=[beside], source="graph")
    expect(view.details).to_contain_text("slack")
    view.set_session(selected=[SLOWEST], source="graph")
    expect(view.details).to_contain_text("0: on the critical path")
