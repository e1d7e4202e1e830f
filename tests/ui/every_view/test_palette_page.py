"""The palette finds nodes, findings and actions, and does what is chosen, by keys alone."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from tests.mostly_slow import mostly_slow
from tests.ui.checklists import audit
from tests.ui.graphs import selected
from tests.ui.host import visit
from tests.ui.waits import painted, rest

VIEWS = ("graph", "tensor", "timeline", "memory", "comparison")


def opened(page: Page, root: Locator) -> Locator:
    root.focus()
    page.keyboard.press("Control+k")
    palette = root.page.get_by_role("dialog", name="Command palette")
    expect(palette.get_by_role("combobox")).to_be_focused()
    return palette


@pytest.mark.parametrize("theme", mostly_slow(["light", "dark"], "light"))
def test_palette_finds_debugger_items_by_typing(page: Page, pair: str, theme: str) -> None:
    visit(page, f"{pair}?views=debugger&width=900&theme={theme}")
    painted(page)
    rest(page)
    graph = page.locator(".tvmdbg-debugger .tvmdbg-graph")
    palette = opened(page, graph)
    rows = palette.get_by_role("option")
    expect(rows.first).to_contain_text("First Inf in #38")
    expect(rows.first).to_have_attribute("aria-selected", "true")
    expect(palette.get_by_role("status")).to_contain_text("results, first First Inf")
    found = audit(palette)
    assert [text["text"] for text in found["texts"] if not text.get("enough", True)] == []
    page.keyboard.type("softmax")
    expect(rows).to_have_count(1)
    page.keyboard.press("Enter")
    expect(palette).to_have_count(0)
    expect(graph).to_be_focused()
    assert selected(page) == [73]

    opened(page, graph)
    page.keyboard.type("view flame")
    page.keyboard.press("Enter")
    expect(page.locator(".tvmdbg-panel[data-view=timeline]")).to_be_hidden()

    opened(page, graph)
    page.keyboard.type("first inf")
    expect(rows.first).to_contain_text("First Inf in #38")
    page.keyboard.press("Enter")
    assert selected(page)[-1] == 38

    opened(page, graph)
    page.keyboard.press("Escape")
    expect(palette).to_have_count(0)
    expect(graph).to_be_focused()


def test_palette_jumps_are_steps_of_back_and_forward(page: Page, pair: str) -> None:
    visit(page, f"{pair}?views=debugger&width=900")
    painted(page)
    timeline = page.locator(".tvmdbg-debugger .tvmdbg-timeline")
    for query, node in (("softmax", 73), ("slowest operator", 60)):
        opened(page, timeline)
        page.keyboard.type(query)
        page.keyboard.press("Enter")
        expect(timeline).to_be_focused()
        assert selected(page) == [node]
    page.keyboard.press("Alt+ArrowLeft")
    assert selected(page) == [73]
    page.keyboard.press("Alt+ArrowRight")
    assert selected(page) == [60]


def test_list_of_results_wraps_around_and_reports_no_results(page: Page, pair: str) -> None:
    visit(page, f"{pair}?views=graph&width=700")
    painted(page)
    palette = opened(page, page.locator(".cell > .tvmdbg-graph"))
    page.keyboard.type("largest")
    rows = palette.get_by_role("option")
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("32.0 KiB (32,768)")
    for active in (1, 2, 0):
        page.keyboard.press("ArrowDown")
        expect(rows.nth(active)).to_have_attribute("aria-selected", "true")
    page.keyboard.type(" elephant")
    expect(palette).to_contain_text("No results")


def test_result_of_several_nodes_shows_the_named_one(page: Page, pair: str) -> None:
    peak = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow).memory_plan().peak
    assert len(peak.nodes) > 1
    visit(page, f"{pair}?views=debugger&width=900")
    painted(page)
    rows = opened(page, page.locator(".tvmdbg-graph")).get_by_role("option")
    page.keyboard.type("peak")
    several = re.compile(rf"#{peak.nodes[0]} .* and {len(peak.nodes) - 1} more")
    expect(rows.first).to_contain_text(several)
    page.keyboard.press("Enter")
    expect(page.locator(".tvmdbg-tensor-header")).to_contain_text(f"#{peak.nodes[0]}")
    assert set(selected(page)) == set(peak.nodes)


@pytest.mark.parametrize("view", mostly_slow(VIEWS, "tensor", "comparison"))
def test_palette_opens_in_a_single_view(page: Page, pair: str, view: str) -> None:
    visit(page, f"{pair}?views={view}&width=700")
    painted(page)
    root = page.locator(f".cell > .tvmdbg-{view}")
    palette = opened(page, root)
    page.keyboard.type("full screen")
    expect(palette.get_by_role("option").first).to_contain_text("Shift+F")
    page.keyboard.press("Escape")
    expect(root).to_be_focused()


def test_nodes_of_two_runs_are_distinguished(page: Page, pair: str) -> None:
    visit(page, f"{pair}?views=comparison&width=900")
    painted(page)
    palette = opened(page, page.locator(".cell > .tvmdbg-comparison"))
    page.keyboard.type("softmax")
    expect(palette.get_by_role("option")).to_have_count(2)
    expect(palette).to_contain_text("A#73")


def test_palette_closes_if_previous_element_cannot_be_focused(page: Page, pair: str) -> None:
    """The palette then loses the keyboard as it is taken away, which asks to take it away."""
    visit(page, f"{pair}?views=graph&width=900")
    painted(page)
    root = page.locator(".tvmdbg-graph")
    palette = opened(page, root)
    root.evaluate("root => root.removeAttribute('tabindex')")
    page.keyboard.press("Escape")
    expect(palette).to_have_count(0)
