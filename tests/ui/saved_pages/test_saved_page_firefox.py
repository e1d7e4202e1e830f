"""A saved page in a stock Firefox: from a file, with the network off."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from ui import firefox

import tvmdbg_widgets as tvmdbg
from tests.ui.saved import READY, long_run

pytestmark = pytest.mark.hosts

THREE = "['graph', 'tensor', 'timeline'].map(view => document.querySelector(`[data-view=${view}]`))"
PANELS = f"{THREE}.map(panel => panel.querySelectorAll('canvas').length > 0)"
ROW = """(() => {
  const rows = [...document.querySelectorAll("[data-view=timeline] [role=row], "
    + "[data-view=timeline] tr")];
  const { x, y, width, height } = rows.find(row => row.textContent.includes("#65"))
    .getBoundingClientRect();
  return [x + width / 3, y + height / 2];
})()"""
SELECTED = "tvmdbgPage.models.session.get('selected')"


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[firefox.Tab]:
    """One Firefox for all tests."""
    path = firefox.find()
    if path is None:
        pytest.skip("no Firefox on PATH")
    with firefox.firefox(path, tmp_path_factory.mktemp("profile")) as tab:
        yield tab


def show(tab: firefox.Tab, path: Path, place: str = "") -> None:
    """Open a file and wait until its views are there; nothing may go wrong."""
    tab.log.clear()
    tab.requests.clear()
    tab.open(path.as_uri() + place)
    tab.wait_for(f"({READY})()")
    assert tab.log == []
    assert {address.split(":")[0] for address in tab.requests} <= {"file", "data", "blob"}


def test_views_are_linked(bundles: Path, tab: firefox.Tab, tmp_path: Path) -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    tab.resize(1280, 1000)
    show(tab, run.save_html(tmp_path / "page.html"))
    assert tab.evaluate(PANELS) == [True, True, True]
    tab.click(*tab.evaluate(ROW))
    tab.wait_for(f"{SELECTED}[0] === 65")
    tab.wait_for("document.querySelector('[data-view=tensor]').textContent.includes('#65')")
    tab.wait_for("location.hash.includes('node=65')")
    tab.screenshot(tmp_path / "firefox.png")
    assert (tmp_path / "firefox.png").stat().st_size > 50_000
    show(tab, tmp_path / "page.html", "#node=12&view=tensor")
    assert tab.evaluate(SELECTED) == [12]
    assert tab.log == []


def test_a_large_graph_is_laid_out(bundles: Path, tab: firefox.Tab, tmp_path: Path) -> None:
    show(tab, long_run(600).save_html(tmp_path / "long.html"))
    assert tab.evaluate("document.querySelector('[data-view=graph] canvas').width") > 100


def test_embedded_frame_works_in_another_page(
    bundles: Path, tab: firefox.Tab, tmp_path: Path
) -> None:
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    path = tmp_path / "outer.html"
    frame = tvmdbg.GraphView(run, tvmdbg.Session(run)).embed(node=62).html
    path.write_text(f"<!doctype html><meta charset='utf-8'>{frame}", "utf-8")
    tab.log.clear()
    tab.open(path.as_uri())
    with tab.inside(0):
        tab.wait_for(f"({READY})()")
        assert tab.evaluate(SELECTED) == [62]
    assert tab.log == []
    tab.screenshot(tmp_path / "frame.png")
