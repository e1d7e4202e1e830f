"""Parts of the graph, hidden kinds, steps and bookmarks, by mouse and by keyboard alone."""

import json
from collections.abc import Callable
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from tests.mostly_slow import mostly_slow
from tests.ui.checklists import WIDTHS
from tests.ui.graphs import marks, press, selected, state
from tests.ui.pointer import box_of, tool
from tests.ui.waits import frames, inspected, rest

#: resnet20_cifar: the slowest node, of the last of the stages; 53 feeds 56, which feeds 59.
SLOWEST = 62


@pytest.fixture
def graph(graph: Callable[..., Locator]) -> Callable[..., Locator]:
    """Open the view without groups."""
    return lambda query="", width=900: graph(f"graph.grouped=false&{query}", width)


def assign(page: Page, **traits: object) -> None:
    page.evaluate(
        "traits => Object.entries(traits).forEach(([n, v]) => tvmdbg.models.graph0.set(n, v))",
        traits,
    )


def select(page: Page, *nodes: int) -> None:
    page.evaluate("nodes => tvmdbg.models.session.set('selected', nodes)", list(nodes))
    frames(page)


def shown(page: Page, root: Locator) -> set[int]:
    page.keyboard.press("0")
    return set(marks(page, root))


def banner(root: Locator) -> Locator:
    return root.locator(".tvmdbg-graph-part")


def middle(mark: dict[str, float]) -> dict[str, float]:
    return {"x": mark["x"] + mark["width"] / 2, "y": mark["y"] + mark["height"] / 2}


def test_upstream_and_downstream_are_isolated_and_left_by_key(
    page: Page, graph: Callable[..., Locator]
) -> None:
    root = graph()
    select(page, 66)
    press(page, "j")
    expect(banner(root)).to_contain_text("downstream of #66 global_avg_pool2d: 6 of 72 nodes")
    assert shown(page, root) == {66, 67, 70, 71}
    assert state(page, "isolate") == {"kind": "downstream", "nodes": [66], "hops": None}
    press(page, "u")
    expect(banner(root)).to_contain_text("upstream of #66 global_avg_pool2d")
    assert max(shown(page, root)) == 66
    press(page, "a")
    expect(banner(root)).to_be_hidden()
    assert len(shown(page, root)) == 28


def test_neighborhood_grows_and_shrinks_by_one_edge(
    page: Page, graph: Callable[..., Locator]
) -> None:
    root = graph()
    press(page, "s", "k")
    expect(banner(root)).to_contain_text("within 1 edge of #62 conv2d + add + relu")
    assert shown(page, root) == {59, 62, 65}
    press(page, "k")
    expect(banner(root)).to_contain_text("within 2 edges of #62 conv2d + add + relu")
    assert shown(page, root) == {56, 59, 62, 65, 66} | {53}
    press(page, "Shift+K", "Shift+K", "Shift+K")
    assert state(page, "isolate")["hops"] == 0
    assert shown(page, root) == {62}


def test_paths_between_two_nodes_by_keyboard_alone(
    page: Page, graph: Callable[..., Locator]
) -> None:
    root = graph()
    press(page, "s", "b")
    expect(banner(root)).to_contain_text("paths from #62 conv2d + add + relu: go to the other end")
    press(page, "ArrowUp", "ArrowUp", "b")
    expect(banner(root)).to_contain_text("paths between #62 and #56, 2 edges or more")
    assert shown(page, root) == {56, 59, 62}


def test_paths_between_clicked_nodes_are_shown_if_any(
    page: Page, graph: Callable[..., Locator]
) -> None:
    root = graph("graph.fold_parameters=false")
    select(page, 1, 2)
    press(page, "b")
    expect(banner(root)).to_contain_text("no path between #1 p0 and #2 p1, in either direction")
    expect(root.locator(".tvmdbg-mirror")).to_contain_text("no path between")
    assert state(page, "isolate") is None
    select(page, 62)
    expect(banner(root)).to_be_hidden()
    assign(page, fold_parameters=True)
    press(page, "0")
    found = marks(page, root)
    canvas = root.locator("canvas").first
    canvas.click(position=middle(found[56]))
    canvas.click(position=middle(found[62]), modifiers=["Shift"])
    assert selected(page) == [56, 62]
    canvas.click(position=middle(found[62]), button="right")
    menu = root.get_by_role("menu", name="#62 conv2d + add + relu")
    menu.get_by_role("menuitem", name="paths between").click()
    expect(menu).to_be_hidden()
    assert shown(page, root) == {56, 59, 62}
    banner(root).get_by_role("button", name="show").click()
    assert state(page, "isolate") is None


def test_the_menu_of_a_node_by_keys(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph()
    press(page, "s", "o")
    menu = root.get_by_role("menu")
    items = menu.get_by_role("menuitem")
    expect(items.first).to_be_focused()
    press(page, "ArrowDown")
    expect(items.nth(1)).to_be_focused()
    press(page, "ArrowUp", "ArrowUp")
    expect(items.last).to_be_focused()
    press(page, "Home", "Enter")
    expect(menu).to_be_hidden()
    expect(root).to_be_focused()
    assert state(page, "isolate")["kind"] == "upstream"
    press(page, "Shift+F10" if page.context.browser.browser_type.name == "firefox" else "o")
    expect(menu).to_be_visible()
    press(page, "Escape")
    expect(menu).to_be_hidden()
    expect(root).to_be_focused()
    assert selected(page) == [SLOWEST]


def test_buttons_in_details_navigate_the_graph(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph()
    select(page, 66)
    tools = root.locator(".tvmdbg-graph-tools")
    tools.get_by_role("button", name="next node in execution order").click()
    assert selected(page) == [67]
    tools.get_by_role("button", name="downstream").click()
    assert shown(page, root) == {67, 70, 71}


def test_hidden_kinds_are_bridged_by_edges(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph()
    press(page, "s", "h")
    assert state(page, "hidden") == ["kind=convolution"]
    expect(banner(root)).to_contain_text("without kind=convolution: 9 of 72 nodes")
    assert shown(page, root) == {0, 31, 53, 66, 67, 70, 71}
    texts = [label["text"] for label in inspected(root)["labels"]]
    assert "through 4 hidden" in texts
    select(page, 66)
    press(page, "ArrowUp")
    assert selected(page) == [53]
    expect(root.locator(".tvmdbg-mirror")).to_contain_text("through 4 hidden nodes")


def test_the_list_of_kinds_by_mouse_and_by_keys(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph()
    tool(root, "show or hide kinds").click()
    menu = root.get_by_role("menu", name="visible kinds of nodes")
    activation = menu.get_by_role("menuitemcheckbox", name="activation")
    expect(activation).to_have_attribute("aria-checked", "true")
    expect(activation).to_contain_text("2")
    activation.click()
    expect(activation).to_have_attribute("aria-checked", "false")
    expect(menu).to_be_visible()
    press(page, "Escape")
    expect(root).to_be_focused()
    assert state(page, "hidden") == ["kind=activation"]
    assert shown(page, root).isdisjoint({31, 53})
    press(page, "Shift+H")
    expect(menu.get_by_role("menuitemcheckbox").first).to_be_focused()
    press(page, "ArrowDown", "ArrowDown", "Enter")
    assert state(page, "hidden") == []


def test_query_hides_all_its_matches(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph('graph.hidden=["op:conv2d id>20", "bytes<100"]')
    expect(banner(root)).to_contain_text("without op:conv2d id>20, bytes<100: ")
    whole = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    gone = {*whole.select("op:conv2d id>20"), *whole.select("bytes<100")}
    operators = {node.id for node in whole.graph.nodes if node.kind != 1}
    assert shown(page, root) == operators - gone


def test_back_and_forward_by_key_and_by_button(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph()
    back = tool(root, "back to what was shown")
    forward = tool(root, "forward again")
    expect(back).to_be_disabled()
    root.focus()
    select(page, 66)
    press(page, "u", "h")
    rest(page)
    press(page, "Alt+ArrowLeft")
    assert (state(page, "hidden"), state(page, "isolate")["kind"]) == ([], "upstream")
    expect(forward).to_be_enabled()
    tool(root, "back to what was shown").click()
    assert (state(page, "isolate"), selected(page)) == (None, [66])
    tool(root, "back to what was shown").click()
    assert selected(page) == []
    expect(back).to_be_disabled()
    tool(root, "forward again").click()
    root.focus()
    press(page, "Alt+ArrowRight", "Alt+ArrowRight")
    assert state(page, "hidden") == ["kind=pooling/reduction"]
    expect(forward).to_be_disabled()


def test_back_restores_the_camera(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph()
    press(page, "s", "+", "+")
    before = marks(page, root)[SLOWEST]
    press(page, "0", "u")
    rest(page)
    press(page, "Alt+ArrowLeft", "Alt+ArrowLeft")
    after = marks(page, root)[SLOWEST]
    assert after == pytest.approx(before, abs=2)


def test_camera_trait_is_reported_and_can_be_set(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph()
    rest(page)
    assert state(page, "camera") is None
    press(page, "s", "+")
    rest(page)
    camera = state(page, "camera")
    assert camera["node"] == SLOWEST
    assign(page, camera={"node": 31, "dx": 0, "dy": 0, "scale": 1.2})
    mark = marks(page, root)[31]
    stage = box_of(root.locator("canvas").first)
    assert mark["height"] == pytest.approx(48, abs=0.1)
    assert middle(mark)["y"] == pytest.approx(stage["height"] / 2, abs=2)


def test_bookmarks_by_keyboard_alone(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph()
    select(page, 66)
    press(page, "j")
    rest(page)
    press(page, "m")
    page.keyboard.type("the head")
    press(page, "Enter")
    dialog = root.get_by_role("dialog", name="saved views")
    expect(dialog.get_by_role("button", name="go to the head")).to_be_visible()
    press(page, "Escape", "a")
    expect(root).to_be_focused()
    assert len(shown(page, root)) == 28
    press(page, "m", "ArrowDown", "ArrowDown", "Enter")
    assert state(page, "isolate") == {"kind": "downstream", "nodes": [66], "hops": None}
    expect(root).to_be_focused()
    press(page, "m")
    dialog.get_by_role("button", name="delete the head").click()
    assert state(page, "bookmarks") == {}


def test_graph_opens_with_traits_from_python(page: Page, graph: Callable[..., Locator]) -> None:
    look = {"kind": "path", "nodes": [56, 62], "hops": None}
    camera = {"node": 59, "dx": 0, "dy": 0, "scale": 1.5}
    traits = f"graph.isolate={quote(json.dumps(look))}&graph.camera={quote(json.dumps(camera))}"
    root = graph(traits)
    expect(banner(root)).to_contain_text("paths between #56 and #62, 2 edges or more: 9 of 72")
    box = middle(marks(page, root)[59])
    stage = box_of(root.locator("canvas").first)
    assert box["x"] == pytest.approx(stage["width"] / 2, abs=2)
    assert state(page, "camera") == camera
    assert state(page, "history") == {}


def test_restored_camera_stays_when_the_overview_appears(
    page: Page, graph: Callable[..., Locator]
) -> None:
    camera = {"node": 31, "dx": 0, "dy": 0, "scale": 3}
    root = graph(f"graph.camera={quote(json.dumps(camera))}")
    expect(root.locator(".tvmdbg-graph-overview")).to_be_visible()
    box, stage = middle(marks(page, root)[31]), box_of(root.locator("canvas").first)
    assert box["x"] == pytest.approx(stage["width"] / 2, abs=1)
    assert box["y"] == pytest.approx(stage["height"] / 2, abs=1)


@pytest.mark.parametrize("width", mostly_slow(WIDTHS, 480))
def test_popup_and_banner_fit_in_the_view(
    page: Page, graph: Callable[..., Locator], width: int
) -> None:
    root = graph(width=width)
    press(page, "s", "u", "h", "o")
    popup = root.locator(".tvmdbg-graph-popup")
    expect(popup).to_be_visible()
    outer, inner, bar = box_of(root), box_of(popup), box_of(banner(root))
    for box in (inner, bar):
        assert box["x"] >= outer["x"]
        assert box["x"] + box["width"] <= outer["x"] + outer["width"] + 1
        assert box["y"] + box["height"] <= outer["y"] + outer["height"] + 1
