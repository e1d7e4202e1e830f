"""Search in the flamechart: texts, ids, regular expressions; the hits and their sum."""

import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from tests.ui.host import serve
from tests.ui.timeline.test_timeline_page import View
from tests.ui.timeline.test_timeline_ranges_page import EVENTS, trace
from tests.ui.waits import rest
from tvmdbg_widgets.answers import kept_timeline as timeline_kept
from tvmdbg_widgets.answers import ranges as answers_ranges
from tvmdbg_widgets.run import DebugRun


@pytest.fixture(scope="module")
def run() -> DebugRun:
    return tvmdbg.open(trace(EVENTS))


@pytest.fixture
def view(page: Page, address: str) -> View:
    return View(page, address, "&timeline.height=700")


def sought(view: View, text: str) -> Locator:
    """What is said of the hits of a text."""
    view.root.focus()
    view.press("/", "Control+a")
    view.page.keyboard.type(text)
    return view.root.locator(".tvmdbg-timeline-hits")


def test_a_regular_expression_finds_names(view: View) -> None:
    hits = sought(view, "/^(load|store)$/")
    expect(hits).to_have_text("3 hits, self time Σ 280.0 µs")
    view.press("Enter")
    expect(view.said).to_contain_text("Slice load, starts 0 ns")
    expect(hits).to_contain_text("1 of 3 hits")
    view.press("n", "n")
    expect(view.said).to_contain_text("Slice store")
    expect(hits).to_contain_text("3 of 3 hits")
    view.press("n")
    expect(hits).to_contain_text("1 of 3 hits")
    view.press("Shift+N")
    expect(hits).to_contain_text("3 of 3 hits")


def test_enter_in_search_field_steps_through_hits(view: View) -> None:
    hits = sought(view, "LOAD")
    expect(hits).to_contain_text("2 hits")
    view.press("Enter", "/", "Enter")
    expect(hits).to_contain_text("2 of 2 hits")
    view.press("/", "Shift+Enter")
    expect(hits).to_contain_text("1 of 2 hits")


@pytest.mark.parametrize("text", ["/(/", "/a**/", "/[z-a]/", "/(a{1,400}){1,400}/"])
def test_invalid_regular_expression_shows_error(view: View, text: str) -> None:
    hits = sought(view, text)
    expect(hits).to_contain_text("not a regular expression: expected")
    expect(view.root.locator("input[type=search]")).to_have_attribute("aria-invalid", "true")
    view.press("Control+a")
    view.page.keyboard.type("conv")
    expect(hits).to_contain_text("2 hits")
    expect(view.root.locator("input[type=search]")).to_have_attribute("aria-invalid", "false")


def test_hits_are_marked_in_the_overview(view: View) -> None:
    bare = overview(view)
    sought(view, "store")
    view.seen()
    marked = overview(view)
    added = [x for x in range(len(bare)) if marked[x] != bare[x]]
    start, end = 900_019 / 1_000_040 * view.width, view.width
    assert added
    assert start - 2 <= added[0] <= added[-1] <= end
    assert len(added) > 0.8 * (end - start)


def overview(view: View) -> list[str]:
    """Colors of a line of the overlay above the overview."""
    return view.page.evaluate(
        """() => {
          const over = document.querySelector(".tvmdbg-timeline .tvmdbg-overlay");
          const context = over.getContext("2d");
          const row = context.getImageData(0, 3 * devicePixelRatio, over.width, 1).data;
          return Array.from({ length: over.width }, (_, x) => row.slice(4 * x, 4 * x + 4).join());
        }"""
    )


def test_search_among_too_many_slices_runs_in_kernel(
    page: Page, run: DebugRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeline_kept, "MOST_WHOLE", 5)
    monkeypatch.setattr(answers_ranges, "_WINDOW", 500)
    with serve(tvmdbg.open(trace(EVENTS))) as address:
        view = View(page, address, "&timeline.height=700")
        hits = sought(view, "/^load$/")
        expect(hits).to_have_text("2 hits, self time Σ 180.0 µs")
        view.press("Enter")
        expect(view.said).to_contain_text("Slice load, starts 0 ns")
        view.press("n")
        expect(view.said).to_contain_text("Slice load, starts 520.0 µs")
        rest(page)
        view.set_session(time_range=[100_000, 700_000], source="python")
        own = run.times(by="name", within=(100_000, 700_000))
        expect(view.details).to_contain_text(f"{own.total_ns:,.0f} ns")
        expect(view.details.get_by_role("listitem").first).to_contain_text("beside")


def test_search_hits_are_listed_and_reached_by_keys_and_mouse(view: View) -> None:
    sought(view, "/load|store/")
    rows = view.root.get_by_role("listbox").get_by_role("option")
    expect(rows).to_have_text(["loadother180.0 µs · 2×", "storeother100.0 µs"])
    view.press("ArrowDown", "ArrowDown")
    expect(rows.nth(1)).to_have_attribute("aria-selected", "true")
    view.press("Enter")
    expect(view.said).to_contain_text("Slice store")
    expect(rows.first).to_be_hidden()
    expect(view.root).to_be_focused()
    view.press("/")
    rows.first.click()
    expect(view.said).to_contain_text("Slice load")


def test_slices_that_do_not_match_are_dimmed_until_escape(view: View) -> None:
    def ink(name: str) -> str:
        view.seen()
        return view.page.evaluate(
            """(wanted) => {
              const over = document.querySelector(".tvmdbg-timeline .tvmdbg-overlay");
              const context = over.getContext("2d");
              const x = wanted * over.width;
              const y = 75 * devicePixelRatio;
              return [...context.getImageData(x, y, 1, 1).data].join();
            }""",
            {"load": 0.05, "store": 0.95}[name],
        )

    assert ink("load") == ink("store") == "0,0,0,0"
    sought(view, "store")
    view.seen()
    assert ink("load") != "0,0,0,0"
    assert ink("store") == "0,0,0,0"
    view.press("Enter", "Escape")
    expect(view.root.locator("input[type=search]")).to_have_value("")
    expect(view.root.locator(".tvmdbg-timeline-hits")).to_have_text("")
    assert ink("load") == "0,0,0,0"
