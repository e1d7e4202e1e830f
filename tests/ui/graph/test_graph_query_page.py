"""Searching a graph with the query language, by mouse and by key."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from tests.mostly_slow import mostly_slow
from tests.ui.graphs import inspect, selected
from tests.ui.pointer import box_of
from tests.ui.waits import until


def field(root: Locator) -> Locator:
    return root.get_by_role("combobox", name="search nodes")


def options(root: Locator) -> Locator:
    return root.locator(".tvmdbg-graph-query").get_by_role("option")


def suggestions(root: Locator) -> Locator:
    return root.get_by_role("listbox", name="suggestions").get_by_role("option")


def hits(root: Locator) -> Locator:
    return root.locator(".tvmdbg-graph-hits")


def told(root: Locator) -> Locator:
    return root.locator(".tvmdbg-graph-wrong")


@pytest.mark.parametrize(
    "query",
    mostly_slow(
        [
            "time>1ms op:conv shape:*,64,*,*",
            "conv2d->conv2d->pool",
            "attr.data_layout:NCHW bytes>=64KiB",
            "layout:OIHW | group:residual -kind:parameter",
            "/relu_5\\d?$/",
        ],
        "conv2d->conv2d->pool",
        "layout:OIHW | group:residual -kind:parameter",
    ),
)
def test_typed_query_finds_same_nodes_as_python(
    page: Page, graph: Callable[..., Locator], run: tvmdbg.DebugRun, query: str
) -> None:
    root = graph()
    root.focus()
    page.keyboard.press("/")
    page.keyboard.type(query)
    expected = list(run.select(query))
    expect(hits(root)).to_have_text(f"–/{len(expected)}")
    page.keyboard.press("Enter")
    expect(root).to_be_focused()
    expect(hits(root)).to_have_text(f"1/{len(expected)}")
    walked = [selected(page)[-1]]
    for _ in expected[1:]:
        page.keyboard.press("n")
        page.wait_for_function(
            "last => tvmdbg.models.session.get('selected').at(-1) !== last", arg=walked[-1]
        )
        walked += selected(page)
    assert walked == expected
    page.keyboard.press("Shift+N")
    expect(hits(root)).to_have_text(f"{max(1, len(expected) - 1)}/{len(expected)}")


def test_query_error_is_marked_and_keeps_field_focused(
    page: Page, graph: Callable[..., Locator]
) -> None:
    root = graph()
    field(root).click()
    page.keyboard.type("conv tiem>1ms")
    expect(told(root)).to_contain_text("unknown field 'tiem' at 5; did you mean time?")
    expect(told(root).locator("mark")).to_have_text("t")
    expect(field(root)).to_have_attribute("aria-invalid", "true")
    expect(hits(root)).to_have_text("error")
    page.keyboard.press("Enter")
    expect(field(root)).to_be_focused()
    for _ in "tiem>1ms":
        page.keyboard.press("Backspace")
    page.keyboard.type("time>1ms")
    expect(field(root)).to_have_attribute("aria-invalid", "false")
    expect(told(root)).to_be_hidden()
    page.keyboard.press("Enter")
    expect(root).to_be_focused()
    expect(told(root)).to_be_hidden()


def test_nodes_without_queried_attribute_are_counted(
    page: Page, graph: Callable[..., Locator]
) -> None:
    root = graph()
    field(root).click()
    page.keyboard.type("attr.data_layout=NCHW")
    expect(told(root)).to_have_text("51 of 72 nodes have no attr.data_layout")
    expect(hits(root)).to_have_attribute("title", "51 of 72 nodes have no attr.data_layout")


def test_suggestions_are_chosen_by_key(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph()
    root.focus()
    page.keyboard.press("/")
    expect(options(root).first).to_contain_text("time>1ms")
    page.keyboard.type("con")
    expect(suggestions(root)).to_have_text(["consumers>a number", "op:conv2doperator"])
    page.keyboard.press("ArrowUp")
    chosen = suggestions(root).nth(1)
    expect(chosen).to_have_attribute("aria-selected", "true")
    expect(hits(root)).to_have_text("–/21")  # listed below the suggestions, which stay chosen
    expect(chosen).to_have_attribute("aria-selected", "true")
    expect(field(root)).to_have_attribute(
        "aria-activedescendant", chosen.get_attribute("id") or "none"
    )
    expect(field(root)).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Escape")
    expect(suggestions(root)).to_have_count(0)
    expect(field(root)).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(field(root)).to_have_value("op:conv2d")
    expect(field(root)).to_be_focused()
    page.keyboard.type(" k")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    expect(field(root)).to_have_value("op:conv2d kind:")
    page.keyboard.type("oper")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    expect(field(root)).to_have_value("op:conv2d kind:operator")
    expect(hits(root)).to_have_text("–/21")
    page.keyboard.press("Escape")
    expect(root).to_be_focused()
    expect(field(root)).to_have_value("")
    expect(root.locator(".tvmdbg-graph-query")).to_be_hidden()


def test_suggestions_are_chosen_by_mouse(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph(width=480)
    field(root).click()
    options(root).filter(has_text="bytes>1MB").click()
    expect(field(root)).to_have_value("bytes>1MB not kind:parameter")
    expect(field(root)).to_be_focused()
    expect(hits(root)).to_have_text("no hits")
    panel = box_of(root.locator(".tvmdbg-graph-query"))
    around = box_of(root)
    assert around["x"] <= panel["x"]
    assert panel["x"] + panel["width"] <= around["x"] + around["width"]


@pytest.mark.parametrize("by", ["key", "mouse"])
def test_search_syntax_opens_by_key_and_mouse(
    page: Page, graph: Callable[..., Locator], by: str
) -> None:
    root = graph()
    field(root).click()
    grammar = root.locator(".tvmdbg-graph-grammar")
    expect(grammar).to_be_hidden()
    if by == "key":
        page.keyboard.press("F1")
    else:
        root.get_by_role("button", name="search syntax").click()
    expect(grammar).to_contain_text("anywhere downstream")
    expect(field(root)).to_be_focused()
    page.keyboard.press("F1")
    expect(grammar).to_be_hidden()
    root.locator("canvas").first.click(position={"x": 5, "y": 300})
    expect(root.locator(".tvmdbg-graph-query")).to_be_hidden()


def test_buttons_step_through_the_hits(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph('graph.search="pool | softmax"')
    expect(hits(root)).to_have_text("–/2")
    root.get_by_role("button", name="next hit").click()
    expect(hits(root)).to_have_text("1/2")
    root.get_by_role("button", name="previous hit").click()
    expect(hits(root)).to_have_text("2/2")
    assert selected(page) == [71]


def test_a_query_set_from_python_is_shown_with_its_error(
    page: Page, graph: Callable[..., Locator]
) -> None:
    root = graph('graph.search="op:"')
    expect(field(root)).to_have_value("op:")
    expect(hits(root)).to_have_text("error")
    expect(hits(root)).to_have_attribute("title", "expected a pattern after 'op:' at 3")
    expect(told(root)).to_be_hidden()
    page.evaluate(
        "() => { const m = tvmdbg.models.graph0; m.set('search', 'op:pool'); m.save_changes(); }"
    )
    expect(hits(root)).to_have_text("–/1")
    assert page.evaluate("tvmdbg.models.graph0.get('search')") == "op:pool"


def test_hits_are_listed_and_selected_by_click(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph()
    root.focus()
    page.keyboard.press("/")
    page.keyboard.type("op:dense")
    options = root.get_by_role("listbox", name="nodes found").get_by_role("option")
    expect(options).to_have_count(1)
    expect(options.first).to_contain_text("#70 dense + add")
    expect(options.first).to_contain_text("matmul")
    options.first.click()
    assert selected(page) == [70]


def test_slowest_hits_are_listed_first(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph()
    root.focus()
    page.keyboard.press("/")
    page.keyboard.type("op:conv2d")
    options = root.get_by_role("listbox", name="nodes found").get_by_role("option")
    first, second = (each.node for each in tvmdbg.open(tvmdbg.samples.resnet20_cifar).top(2))
    expect(options.first).to_contain_text(f"#{first} conv2d")
    options.nth(1).click()
    assert selected(page) == [second]


def test_opening_a_hit_expands_its_groups(page: Page, graph: Callable[..., Locator]) -> None:
    root = graph()
    assert all(mark["id"] != 62 for mark in inspect(root)["marks"])
    root.focus()
    page.keyboard.press("/")
    page.keyboard.type("#62")
    page.keyboard.press("Enter")
    until(page, "found.marks.some(mark => mark.id === 62 && mark.group < 0)")
    assert selected(page) == [62]
    page.keyboard.press("Alt+ArrowLeft")
    until(page, "found.marks.every(mark => mark.id !== 62)")
