"""What is looked at: told, marked, given up with the selection, and the focus never lost."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

import tvmdbg_widgets as tvmdbg
from tests.ui.host import serve
from tests.ui.timeline.test_timeline_charts_page import Other
from tests.ui.timeline.test_timeline_page import SLOWEST, SLOWEST_NAME, View
from tests.ui.waits import frames


@pytest.fixture
def view(page: Page, address: str) -> View:
    return View(page, address)


def marked(view: View) -> Any:
    """Text of the row that is read as the current one; None where the page has no such row."""
    frames(view.page)
    return view.root.evaluate(
        "(root) => document.getElementById(root.getAttribute('aria-activedescendant'))?.textContent"
    )


def test_zoom_trail_returns_focus_to_chart(page: Page, address: str) -> None:
    chart = Other(page, address, "merged")
    chart.root.focus()
    chart.press("ArrowDown", "ArrowDown", "Enter")
    assert chart.seen()["zoomed"] >= 0
    trail = chart.root.locator(".tvmdbg-timeline-trail button")
    trail.last.focus()
    chart.press("Enter")
    expect(chart.root).to_be_focused()
    trail.first.click()
    expect(chart.root).to_be_focused()
    assert chart.seen()["zoomed"] == -1


def test_show_all_rows_button_keeps_focus_in_details(view: View) -> None:
    view.root.focus()
    view.press("r")
    more = view.details.get_by_role("button", name="Show all rows")
    more.focus()
    view.press("Enter")
    assert view.details.evaluate("(node) => node.contains(document.activeElement)")


@pytest.mark.parametrize("chart", ["merged", "repeats"])
def test_clearing_the_selection_clears_the_current_item(
    page: Page, address: str, chart: str
) -> None:
    view = Other(page, address, chart)
    view.root.focus()
    view.press("ArrowDown")
    page.wait_for_function("tvmdbg.models.session.get('selected').length > 0")
    assert view.seen()["current"] not in (-1, {"row": -1, "repeat": -1})
    view.press("Escape", "Escape")
    assert view.session("selected") == []
    assert view.seen()["current"] in (-1, {"row": -1, "repeat": -1})
    expect(view.said).to_contain_text("Nothing is selected")


def test_heat_strip_clears_hover_of_another_view(page: Page, address: str) -> None:
    view = Other(page, address, "repeats")
    view.set_session(hovered=SLOWEST)
    assert view.seen()["hovered"]["row"] >= 0
    view.set_session(hovered=None)
    assert view.seen()["hovered"]["row"] == -1


@pytest.mark.parametrize("chart", ["merged", "repeats"])
def test_charts_follow_a_slice_without_a_node(page: Page, trace_address: str, chart: str) -> None:
    view = Other(page, trace_address, chart)
    view.root.focus()
    view.press("t", "ArrowDown")
    assert view.session("selected") == []
    assert view.seen()["current"] not in (-1, {"row": -1, "repeat": -1})


def test_current_row_stays_visible_in_every_table(view: View) -> None:
    view.root.focus()
    view.press("t", "ArrowDown")
    assert SLOWEST_NAME in marked(view)
    for _ in range(4):
        view.press("b")
        expect(view.root.locator("[aria-busy=true]")).to_have_count(0)
        frames(view.page)
        row = view.root.get_attribute("aria-activedescendant")
        if row:
            expect(view.page.locator(f"#{row}")).to_be_visible()
        view.press("End")
        assert marked(view)


def test_keys_pass_through_rows_only_in_b(page: Page, corpus: Any) -> None:
    a, b = (tvmdbg.open(corpus / f"tvm/resnet20_cifar{more}") for more in ("", "_int8"))
    with serve(tvmdbg.compare_times(a, b).run) as address:
        view = View(page, address, '&timeline.table_by="change"')
        rows = view.root.locator(".tvmdbg-change-row[data-verdict]")
        view.root.focus()
        view.press("t", "o", "End")
        current = view.root.locator(".tvmdbg-change-row.current")
        place = int(current.get_attribute("data-place") or -1)
        assert place > rows.count() / 2
        for step in range(1, 6):
            view.press("ArrowUp")
            expect(current).to_have_attribute("data-place", str(place - step))
            expect(view.said).to_contain_text(current.locator(".label").inner_text().split("\n")[0])
            assert marked(view)
