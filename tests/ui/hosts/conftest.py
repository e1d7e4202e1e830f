"""One JupyterLab for all tests: to load it and to start a kernel is most of what they cost."""

from collections.abc import Callable, Iterator
from secrets import token_hex

import pytest
from playwright.sync_api import Browser, Page

from tests.ui.notebooks import Notebook
from tests.ui.pages import FAILED, WatchedPage, open_window
from tests.ui.servers import Server


# Not longer: it goes on painting and takes the focus beside the pages of other tests.
@pytest.fixture(scope="package")
def jupyterlab(browser: Browser, slowness: float) -> Iterator[WatchedPage]:
    """A page for JupyterLab, in a window of its own."""
    context = open_window(browser)
    yield WatchedPage(context, slowness, "")
    context.close()


@pytest.fixture
def tall(
    request: pytest.FixtureRequest, jupyterlab: WatchedPage, errors: list[str]
) -> Iterator[Page]:
    """That page, all cells in view: what is out of view is not painted."""
    page = jupyterlab.page
    jupyterlab.errors = errors
    page.set_viewport_size({"width": 1200, "height": 6000})
    page.emulate_media(reduced_motion="reduce")
    yield page
    if request.node.stash[FAILED]:
        page.goto("about:blank")
    assert errors == []


@pytest.fixture(scope="package")
def last() -> list[Notebook]:
    """The notebook of all tests, once there is one."""
    return []


@pytest.fixture
def filled(
    request: pytest.FixtureRequest, tall: Page, lab: Server, last: list[Notebook]
) -> Iterator[Callable[[list[str]], Notebook]]:
    """Run cells in the notebook of all tests, in place of those of another test."""

    def filled(cells: list[str]) -> Notebook:
        if not last:
            last.append(Notebook(tall, lab, f"{token_hex(4)}.ipynb", []))
        notebook = last[0]
        notebook.show()
        notebook.fill(cells)
        notebook.run_all()
        return notebook

    yield filled
    if request.node.stash[FAILED]:
        last.clear()
