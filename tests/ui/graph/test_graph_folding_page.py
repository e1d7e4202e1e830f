"""Groups of the graph view, by mouse and by keyboard alone, and long graphs in columns."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from tests.graph_json import document, null, operator
from tests.ui.checklists import looks
from tests.ui.graphs import inspect, overlap, said, selected, state
from tests.ui.host import serve
from tests.ui.pointer import box_of, tool
from tests.ui.waits import frames, painted, rest, until

#: Groups of resnet20_cifar, checked in `test_the_sample_has_these_groups`: runs of three and two
#: residual blocks, and two blocks alone that change the shape.
RUN, FIRST_OF_RUN, LAST_RUN = 0, 1, 9
TOP = [0, 4, 5, 8, 9]
SLOWEST = 62  # in the second block of the last run
ALL_OPEN = "graph.open_groups=" + json.dumps(list(range(12)))


def closed(root: Locator) -> dict[int, dict[str, Any]]:
    """Closed groups that are on the stage."""
    return {mark["group"]: mark for mark in inspect(root)["marks"] if mark["group"] >= 0}


def framed(root: Locator) -> dict[int, dict[str, Any]]:
    """Open groups that are on the stage."""
    return {frame["group"]: frame for frame in inspect(root)["frames"]}


def node(root: Locator, wanted: int) -> dict[str, Any]:
    return next(mark for mark in inspect(root)["marks"] if mark["id"] == wanted)


def until_closed(page: Page, group: int) -> None:
    until(page, f"found.marks.some(mark => mark.group === {group})")


def until_open(page: Page, group: int) -> None:
    until(page, f"found.frames.some(frame => frame.group === {group})")


def place(root: Locator, x: float, y: float, clicks: int = 1) -> None:
    root.locator("canvas").first.click(position={"x": x, "y": y}, click_count=clicks)


def press(root: Locator, shape: dict[str, Any], clicks: int = 1) -> None:
    """Click the middle of a rectangle of the stage."""
    place(root, shape["x"] + shape["width"] / 2, shape["y"] + shape["height"] / 2, clicks)


def test_x_closes_and_opens_all_groups(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph(ALL_OPEN)
    assert framed(root)
    page.keyboard.press("x")
    until_closed(page, RUN)
    assert sorted(closed(root)) == TOP
    assert framed(root) == {}
    assert state(page, "open_groups") == []
    texts = [label["text"] for label in inspect(root)["labels"]]
    assert any(text.startswith("residual block × 3") for text in texts), texts
    page.keyboard.press("Shift+X")
    until(page, "found.frames.length > 0")
    assert state(page, "open_groups") == list(range(12))


def test_group_button_opens_and_frame_button_closes_it(
    page: Page, graph: Callable[..., Locator]
) -> None:
    root = graph("graph.open_groups=[]")
    until_closed(page, LAST_RUN)
    before = closed(root)[LAST_RUN]
    press(root, before["button"])
    until_open(page, LAST_RUN)
    assert state(page, "open_groups") == [LAST_RUN]
    assert {10, 11} <= closed(root).keys()
    page.wait_for_timeout(400)
    press(root, framed(root)[LAST_RUN]["button"])
    until_closed(page, LAST_RUN)
    assert state(page, "open_groups") == []


def test_opening_group_shifts_nodes_above_and_below_rigidly(
    page: Page, graph: Callable[..., Locator]
) -> None:
    root = graph("graph.open_groups=[]&graph.height=1600&graph.wrapped=false", 900)
    page.set_viewport_size({"width": 940, "height": 1700})
    painted(page)
    frames(page)
    before = {mark["id"]: mark for mark in inspect(root)["marks"]}
    group = closed(root)[5]
    place(root, group["x"] + 60, group["y"] + group["height"] / 2)
    page.keyboard.press("Enter")
    until_open(page, 5)
    after = {mark["id"]: mark for mark in inspect(root)["marks"]}
    common = before.keys() & after.keys()
    above = {each for each in common if before[each]["y"] < group["y"]}
    assert len(above) >= 3
    for axis in ("x", "y"):
        moves = [after[each][axis] - before[each][axis] for each in above]
        assert max(moves) - min(moves) < 1
    below = [after[each]["y"] - before[each]["y"] for each in common - above if each != group["id"]]
    assert len(below) >= 3
    assert max(below) - min(below) < 1
    assert min(below) > 20


def test_enter_opens_the_selected_group_and_closes_the_one_around_a_node(
    page: Page, graph: Callable[..., Locator]
) -> None:
    root = graph("graph.open_groups=[]")
    until_closed(page, LAST_RUN)
    page.evaluate(f"tvmdbg.models.graph0.set('group', {LAST_RUN})")
    page.keyboard.press("Enter")
    until_open(page, LAST_RUN)
    page.keyboard.press("s")
    until_open(page, 11)
    expect(said(root)).to_contain_text("Node 62 of 72")
    page.keyboard.press("Enter")
    until_closed(page, 11)
    assert state(page, "group") == 11
    expect(said(root)).to_have_text(
        re.compile(
            r"^Group residual block, closed, 6 nodes with 4 parameters, .* % of the total time, .*;"
            r" reads .*; read by .*\. Enter opens it\.$"
        )
    )
    assert set(selected(page)) == set(
        tvmdbg.open(tvmdbg.samples.resnet20_cifar).groups[11].nodes.tolist()
    )


def test_double_click_opens_a_group_and_closes_the_frame(
    page: Page, graph: Callable[..., Locator]
) -> None:
    root = graph("graph.open_groups=[]")
    until_closed(page, LAST_RUN)
    shape = closed(root)[LAST_RUN]
    place(root, shape["x"] + 60, shape["y"] + 15, clicks=2)
    until_open(page, LAST_RUN)
    frame = framed(root)[LAST_RUN]
    page.wait_for_timeout(400)
    place(root, frame["x"] + 14, frame["y"] + 60, clicks=2)
    until_closed(page, LAST_RUN)


def test_click_on_closed_group_selects_nodes_and_shows_details(
    page: Page, graph: Callable[..., Locator]
) -> None:
    root = graph("graph.open_groups=[]")
    until_closed(page, LAST_RUN)
    shape = closed(root)[LAST_RUN]
    place(root, shape["x"] + 60, shape["y"] + 15)
    assert state(page, "group") == LAST_RUN
    assert len(selected(page)) == 12
    details = root.get_by_role("complementary")
    expect(details.get_by_role("heading", level=3)).to_have_text("residual block × 2")
    expect(details).to_contain_text("12 nodes")
    expect(details).to_contain_text("% of the total time")
    expect(details).to_contain_text("convolution")
    details.get_by_role("button", name="expand the block").click()
    until_open(page, LAST_RUN)
    expect(details.get_by_role("button", name="collapse the block")).to_be_visible()
    page.evaluate("tvmdbg.models.session.set('selected', [3])")
    expect(details.get_by_role("heading", level=3)).to_contain_text("#3 ")
    assert state(page, "group") is None


def test_identical_blocks_link_to_one_another(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph(ALL_OPEN)
    page.evaluate("tvmdbg.models.graph0.set('group', 1)")
    details = root.get_by_role("complementary")
    expect(details).to_contain_text("identical (2)")
    details.get_by_role("button", name="go to group 2 residual block").click()
    assert state(page, "group") == 2
    expect(said(root)).to_contain_text("Group residual block, open, 6 nodes with 4 parameters")


def test_x_closes_the_blocks_of_one_kind_and_leaves_the_others(
    page: Page, graph: Callable[..., Locator]
) -> None:
    root = graph(ALL_OPEN)
    page.evaluate("tvmdbg.models.graph0.set('group', 1)")
    expect(said(root)).to_contain_text("Group residual block, open")
    page.keyboard.press("x")
    until_closed(page, 1)
    assert set(range(12)) - set(state(page, "open_groups")) == {1, 2, 3}
    page.keyboard.press("Shift+X")
    until_open(page, 1)
    assert state(page, "open_groups") == list(range(12))


def test_arrows_walk_over_closed_groups_and_into_frames(
    page: Page, graph: Callable[..., Locator]
) -> None:
    root = graph("graph.open_groups=[]")
    page.evaluate("tvmdbg.models.session.set('selected', [0])")
    until(page, "found.marks.length > 3")
    page.keyboard.press("ArrowDown")
    assert selected(page) == [3]
    page.keyboard.press("ArrowDown")
    assert state(page, "group") == RUN
    page.keyboard.press("ArrowDown")
    assert state(page, "group") == 4
    page.keyboard.press("ArrowUp")
    assert state(page, "group") == RUN
    page.keyboard.press("Enter")
    until_open(page, RUN)
    expect(said(root)).to_contain_text("residual block × 3, open")
    page.keyboard.press("ArrowDown")
    assert state(page, "group") == FIRST_OF_RUN
    page.keyboard.press("]")
    assert state(page, "group") == 2


def test_group_menu_works_by_mouse(page: Page, graph: Callable[..., Locator]) -> None:
    """All, those alike, none drawn, columns: each by two clicks."""
    root = graph(ALL_OPEN)
    menu = root.get_by_role("menu")

    def choose(item: str) -> None:
        tool(root, "blocks: expand, collapse, wrap into columns").click()
        menu.locator("button", has_text=re.compile(f"^{item}[xXgw]?$")).click()

    choose("collapse all")
    until_closed(page, RUN)
    assert state(page, "open_groups") == []
    box = closed(root)[TOP[1]]
    place(root, box["x"] + 60, box["y"] + box["height"] / 2)
    page.wait_for_function(f"() => tvmdbg.models.graph0.get('group') === {TOP[1]}")
    choose("expand all like residual block")
    until_open(page, TOP[1])
    assert RUN not in state(page, "open_groups")
    choose("expand all")
    page.wait_for_function("() => tvmdbg.models.graph0.get('open_groups').length === 12")
    select = "nodes => tvmdbg.models.session.set('selected', nodes)"
    page.evaluate(select, [SLOWEST])
    expect(said(root)).to_contain_text("Node 62 of 72")
    choose("collapse all like residual block")
    until_closed(page, 10)
    assert {10, 11} <= closed(root).keys()
    choose("show blocks")
    until(page, "found.frames.length === 0")
    assert closed(root) == {}
    narrow = node(root, SLOWEST)["width"]
    choose("wrap into columns")
    until(page, f"found.marks.length === 28 && found.marks[0].width !== {narrow}")
    middles = [mark["x"] + mark["width"] / 2 for mark in inspect(root)["marks"]]
    assert max(middles) - min(middles) > 2 * inspect(root)["marks"][0]["width"]


def test_groups_can_be_hidden(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph(f"{ALL_OPEN}&graph.focus=3")
    page.keyboard.press("g")
    until(page, "found.frames.length === 0")
    assert state(page, "grouped") is False
    assert closed(root) == {}
    page.keyboard.press("g")
    until_open(page, RUN)


def test_tooltip_lists_contents_of_closed_group(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph("graph.open_groups=[]")
    until_closed(page, LAST_RUN)
    shape = closed(root)[LAST_RUN]
    root.locator("canvas").first.hover(position={"x": shape["x"] + 60, "y": shape["y"] + 15})
    tip = root.get_by_role("tooltip")
    expect(tip).to_contain_text("residual block × 2")
    expect(tip).to_contain_text("12 nodes with 8 parameters")
    expect(tip.locator("> *")).to_have_count(3)
    expect(tip).to_contain_text("% of the total time")


def test_w_wraps_graph_into_columns_and_minimap_still_navigates(
    page: Page, graph: Callable[..., Locator]
) -> None:
    root = graph("graph.grouped=false&graph.wrapped=false&graph.focus=0")
    assert len(inspect(root)["marks"]) < 28
    page.keyboard.press("w")
    until(page, "found.marks.length === 28")
    assert state(page, "wrapped") is True
    wide = {mark["id"]: mark for mark in inspect(root)["marks"]}
    stage = box_of(root.locator("canvas").first)
    for mark in wide.values():
        assert mark["x"] >= 0
        assert mark["x"] + mark["width"] <= stage["width"]
        assert mark["y"] >= 0
        assert mark["y"] + mark["height"] <= stage["height"]
    columns = {round(mark["x"] + mark["width"] / 2, -1) for mark in wide.values()}
    assert len(columns) >= 2
    for _ in range(4):
        page.keyboard.press("+")
    expect(root.locator(".tvmdbg-graph-overview")).to_be_visible()
    strip = box_of(root.locator(".tvmdbg-graph-overview"))
    page.mouse.click(strip["x"] + 25, strip["y"] + strip["height"] - 8)
    until(page, "found.marks.some(mark => mark.id === 71)")
    page.mouse.click(strip["x"] + 25, strip["y"] + 6)
    until(page, "found.marks.some(mark => mark.id === 0)")
    page.keyboard.press("w")
    until(page, "true")
    assert state(page, "wrapped") is False


def test_requested_group_is_in_view_after_its_parent_opens(
    page: Page, graph: Callable[..., Locator]
) -> None:
    root = graph(f"graph.open_groups=[{RUN}]")
    for _ in range(4):
        page.keyboard.press("+")
    page.evaluate("tvmdbg.models.graph0.set('group', 11)")
    page.evaluate("groups => tvmdbg.models.graph0.set('open_groups', groups)", [RUN, LAST_RUN])
    rest(page)
    assert state(page, "group") == 11
    assert 11 in closed(root)


def test_fit_wraps_long_chain_into_columns(
    page: Page, graph: Callable[..., Locator], tmp_path: Path
) -> None:
    with serve(tvmdbg.open(chain(tmp_path, 160))) as address:
        root = graph("", address=address)
        assert len(inspect(root)["marks"]) < 30
        page.keyboard.press("0")
        until(page, "found.marks.length === 161")
        assert state(page, "wrapped") is True
        assert node(root, 160)["x"] > node(root, 0)["x"]


@pytest.mark.usefixtures("own_page")
def test_large_graph_opens_partially_and_layout_can_be_cancelled(
    page: Page, graph: Callable[..., Locator], tmp_path: Path
) -> None:
    with serve(tvmdbg.open(chain(tmp_path, 9000))) as address:
        page.add_init_script(
            """{ let held = 0; window.held = () => held;
            const post = Worker.prototype.postMessage;
            Worker.prototype.postMessage = function (input, ...more) {
              if (input.count > 2000) { held += 1; return; }
              post.call(this, input, ...more);
            }; }"""
        )
        root = graph("graph.grouped=false", address=address)
        page.wait_for_function("held() === 1")
        assert 3 < len(inspect(root)["marks"]) < 30
        expect(root.locator(".tvmdbg-graph-busy")).to_contain_text("laying out 9,001 nodes")
        page.keyboard.press("Escape")
        expect(root.locator(".tvmdbg-graph-busy")).to_contain_text("not shown in full")
        page.evaluate("tvmdbg.models.graph0.set('camera', { node: 2, dx: 0, dy: 0, scale: 1.5 })")
        until(page, "Math.abs(found.marks.find(mark => mark.id === 2).height - 60) < 1")
        before = node(root, 2)
        root.get_by_role("button", name="lay out").click()
        page.wait_for_function("held() === 2")
        root.get_by_role("button", name="cancel").click()
        expect(root.locator(".tvmdbg-graph-busy")).to_contain_text("not shown in full")
        assert node(root, 2) == before


@pytest.mark.parametrize(("width", "theme"), looks((480, 1600)))
def test_group_labels_stay_in_boxes_without_overlap(
    page: Page, graph: Callable[..., Locator], width: int, theme: str
) -> None:
    root = graph(f"theme={theme}&graph.open_groups=[5,6,9]", width)
    page.keyboard.press("s")
    drawn = 0
    for key in ["-", "-", "-", "-", "-", "0", "s", "+", "c", "w", "+", "+"]:
        page.keyboard.press(key)
        frames(page)
        found = inspect(root)
        labels = found["labels"]
        for i, one in enumerate(labels):
            for other in labels[i + 1 :]:
                assert not overlap(one, other), (key, one, other)
        for label in labels:
            box = next((each for each in found["marks"] if each["id"] == label["node"]), None)
            if box is not None:
                assert label["x"] >= box["x"]
                assert label["x"] + label["width"] <= box["x"] + box["width"]
        drawn += len(labels)
    assert drawn > 60


def chain(folder: Path, length: int) -> Path:
    """Write a graph of one input and a chain of operators, no two of which are alike."""
    nodes = [null("data")]
    nodes += [operator(f"fused_op{at}", f"fused_op{at}", [at]) for at in range(length)]
    graph = document(nodes, shapes=[[1, 8 + at] for at in range(length + 1)])
    path = folder / "graph.json"
    path.write_text(json.dumps(graph))
    return path
