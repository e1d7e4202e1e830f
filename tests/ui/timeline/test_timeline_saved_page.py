"""A trace of 100,000 slices as a page without a kernel: all of them, or bins alone."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

import tvmdbg_widgets as tvmdbg
from tests.ui.saved import READY
from tvmdbg_widgets.run import DebugRun

COUNT = 50_000
VIEW = ".tvmdbg-timeline"


@pytest.fixture(scope="module")
def run() -> DebugRun:
    """Calls of 7 names one after the other, each around a slice of one name."""
    rng = np.random.default_rng(5)
    events: list[dict[str, Any]] = []
    at = 0
    for i, length in enumerate(rng.integers(500, 5000, COUNT).tolist()):
        for name, start, lasts in ((f"call {i % 7}", at, length), ("inner", at + 100, 300)):
            times = {"ts": start / 1000, "dur": lasts / 1000}
            events.append({"ph": "X", "name": name, "pid": 1, "tid": 1, **times})
        at += length + 50
    return tvmdbg.open(json.dumps({"traceEvents": events}).encode())


def opened(page: Page, run: DebugRun, path: Path, budget: int) -> str:
    """Open the page of the flamechart of a run; return what its table says of the first name."""
    tvmdbg.Flamechart(run, show="both").save_html(path, budget=budget)
    page.set_viewport_size({"width": 1200, "height": 800})
    page.goto(path.as_uri())
    page.wait_for_function(READY)
    expect(page.locator(".tvmdbg-timeline-coming")).to_have_count(0)
    row = page.locator(f"{VIEW} [role=row][data-place]").filter(has_text="inner")
    expect(row).to_be_visible()
    return row.inner_text()


def test_all_slices_are_in_the_page(page: Page, run: DebugRun, tmp_path: Path) -> None:
    row = opened(page, run, tmp_path / "trace.html", 5_000_000)
    assert "50,000" in row
    assert "15.00\N{NO-BREAK SPACE}ms" in row
    expect(page.locator(VIEW)).not_to_contain_text("bins of time")
    page.locator(f"{VIEW} input[type=search]").fill("call 3")
    expect(page.locator(VIEW)).to_contain_text("7,143 hits")


def choose(page: Page, by: str) -> Locator:
    page.locator(f"{VIEW} .tvmdbg-timeline-by select").select_option(by)
    return page.locator(f"{VIEW} [data-columns=by] [role=row][aria-level]")


def test_page_has_tables_of_all_time_but_sums_no_range(
    page: Page, run: DebugRun, tmp_path: Path
) -> None:
    opened(page, run, tmp_path / "trace.html", 5_000_000)
    rows = choose(page, "callers")
    expect(rows).to_have_count(8)
    inner = rows.filter(has_text="inner")
    expect(inner).to_contain_text("15.00 ms")
    inner.locator(".twisty").click()
    expect(rows).to_have_count(15)
    expect(page.locator(f"{VIEW} .tvmdbg-timeline-sandwich")).to_be_visible()
    page.evaluate("tvmdbgPage.models.session.set('time_range', [1000, 50000])")
    why = "This page holds sums of all time only; open the run in a notebook to sum a range."
    expect(page.locator(f"{VIEW} .tvmdbg-timeline-by")).to_contain_text(why)
    area = page.locator(f"{VIEW} .tvmdbg-timeline-area")
    expect(area).to_contain_text(why)
    expect(area).to_contain_text("busy")


def test_page_with_small_size_limit_has_bins_only(
    page: Page, run: DebugRun, tmp_path: Path
) -> None:
    row = opened(page, run, tmp_path / "trace.html", 450_000)
    assert "50,000" in row
    assert "15.00\N{NO-BREAK SPACE}ms" in row
    expect(page.locator(VIEW)).to_contain_text("bins of time in place of 100,000 slices")
