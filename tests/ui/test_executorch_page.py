"""A delegate's events over the operators that they cover: graph and flamechart of one page."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

import tvmdbg_widgets as tvmdbg
from tests.executorch_cases import case_dir
from tests.ui.host import serve, visit
from tests.ui.timeline.test_timeline_page import View
from tests.ui.waits import inspected, painted


@pytest.fixture(scope="module")
def run() -> tvmdbg.DebugRun:
    return tvmdbg.open(case_dir("06a_demo_generated_ids"))


@pytest.fixture(scope="module")
def address(run: tvmdbg.DebugRun) -> Iterator[str]:
    with serve(run) as where:
        yield where


@pytest.fixture
def view(page: Page, address: str) -> View:
    return View(page, address)


def named(run: tvmdbg.DebugRun, name: str) -> int:
    """Return the node whose name holds a text."""
    (found,) = (node.id for node in run.graph.nodes if name in node.name)
    return found


def click(view: View, name: str) -> None:
    """Click the row of a name in the table."""
    view.root.get_by_role("row").filter(has_text=name).first.click()


def test_an_event_of_several_operators_selects_all_of_them(
    view: View, run: tvmdbg.DebugRun
) -> None:
    operators = [named(run, name) for name in ("mul", "add_t", "relu", "tan")]
    click(view, "TraceDemo call")
    expect(view.details).to_contain_text("TraceDemoBackend")
    assert view.session("selected") == operators
    expect(view.details).to_contain_text("4 nodes, the share of each is not known")
    expect(view.details).to_contain_text("exact identifier")


def test_an_operator_shows_the_events_that_it_shares(view: View, run: tvmdbg.DebugRun) -> None:
    mul = named(run, "mul")
    view.set_session(selected=[mul])
    expect(view.details).to_contain_text("2 nodes, the share of each is not known")
    expect(view.details).to_contain_text("identifier")


def test_keys_alone_reach_an_event_of_several_operators(view: View, run: tvmdbg.DebugRun) -> None:
    view.root.focus()
    view.press(*["ArrowRight"] * 2, *["ArrowDown"] * 2)
    for _ in range(10):
        if view.session("selected") == [named(run, "mul"), named(run, "add_t")]:
            break
        view.press("ArrowRight")
    expect(view.details).to_contain_text("2 nodes, the share of each is not known")


def test_metadata_is_shown_with_its_event(view: View, run: tvmdbg.DebugRun) -> None:
    view.set_session(selected=[named(run, "relu")])
    expect(view.details).to_contain_text("metadata: kernel")
    expect(view.details).to_contain_text("relu_v2")


def test_operators_show_their_combined_time(page: Page, address: str) -> None:
    visit(page, f'{address}?views=graph&width=980&graph.grouped=false&graph.color_by="time"')
    painted(page)
    drawn = inspected(page.locator(".tvmdbg-graph"))
    assert "916.0 ns for 2 together" in json.dumps(drawn)


def test_legend_counts_and_selects_delegated_operators(
    page: Page, address: str, run: tvmdbg.DebugRun
) -> None:
    visit(page, f"{address}?views=graph&width=900")
    painted(page)
    chip = page.locator(".tvmdbg-graph-legend [data-kind=delegate]")
    inside = [named(run, name) for name in ("mul", "add_t", "relu", "tan")]
    expect(chip).to_have_attribute("title", re.compile(f"^delegate: {len(inside)} nodes, "))
    chip.click(modifiers=["Shift"])
    page.wait_for_function(
        "(nodes) => String(tvmdbg.models.session.get('selected')) === String(nodes)", arg=inside
    )
