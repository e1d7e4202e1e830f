"""A browser, pages that must stay free of errors, and Jupyter servers."""

from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from chromium import ARGUMENTS, find
from playwright.sync_api import Browser, BrowserContext, Locator, Page

import tvmdbg_widgets as tvmdbg
from tests.ui.host import Handler, serve, visit
from tests.ui.pages import FAILED, PATIENCE_MS, WatchedPage, open_window
from tests.ui.servers import Server, jupyter
from tests.ui.waits import painted
from tvmdbg_widgets.run import DebugRun

pytest.register_assert_rewrite("tests.ui.checklists")

# How much later, at most, each further time of `--slow-pages` makes an answer.
LATE_SECONDS = 0.1


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("ui")


@pytest.fixture(scope="session")
def browser(bundles: Path) -> Iterator[Browser]:
    """One Chromium for all tests."""
    path = find()
    if path is None:
        pytest.skip("no Chromium: `python tests/chromium.py` installs one")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture
def errors() -> list[str]:
    """Errors and requests to the outside, in order; a test that provokes one takes it out."""
    return []


@pytest.fixture(scope="session")
def window(browser: Browser) -> Iterator[BrowserContext]:
    """One window for all pages: to open one takes longer than most tests do."""
    context = open_window(browser)
    context.new_page()  # a window without pages closes
    yield context
    context.close()


@pytest.fixture(scope="module")
def first_script() -> str:
    """What runs before the scripts of each document; a module may have one."""
    return ""


@pytest.fixture(scope="session")
def lasting() -> dict[str, WatchedPage]:
    """The page that one test after another is given, once there is one, by its first script."""
    return {}


@pytest.fixture
def own_page() -> None:
    """For a test that leaves a page as no other may find it: with scripts of its own, say."""


@pytest.fixture
def context(
    request: pytest.FixtureRequest, browser: Browser, lasting: dict[str, WatchedPage]
) -> Iterator[BrowserContext]:
    """Without cookies, permissions and pages of other tests; hosts keep more than that."""
    if request.node.get_closest_marker("hosts"):
        context = open_window(browser)
        yield context
        context.close()
        return
    window: BrowserContext = request.getfixturevalue("window")
    yield window
    for each in window.pages[1:]:
        if each not in [watched.page for watched in lasting.values()]:
            each.close()
    window.set_offline(offline=False)
    window.clear_permissions()
    window.clear_cookies()


@pytest.fixture(scope="session", autouse=True)
def slowness(request: pytest.FixtureRequest) -> float:
    """How many times slower than the machine allows pages run."""
    times: float = request.config.getoption("--slow-pages")
    Handler.late = (times - 1) * LATE_SECONDS
    return times


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    return report


@pytest.fixture
def page(
    request: pytest.FixtureRequest,
    context: BrowserContext,
    errors: list[str],
    slowness: float,
    lasting: dict[str, WatchedPage],
) -> Iterator[Page]:
    """A page of 1000 x 900 CSS pixels, as if it were new; the test fails if it leaves an error."""
    alone = "own_page" in request.fixturenames or request.node.get_closest_marker("hosts")
    first_script = request.getfixturevalue("first_script")
    known = None if alone else lasting.pop(first_script, None)
    watched = known or WatchedPage(context, slowness, first_script)
    watched.errors = errors
    watched.page.bring_to_front()  # behind another one it draws a frame a second
    yield watched.page
    if alone or request.node.stash[FAILED]:
        watched.page.close()
    else:
        watched.clear()
        lasting[first_script] = watched
    assert errors == []


@pytest.fixture(scope="module")
def address(run: DebugRun) -> Iterator[str]:
    """Of a page with the views of the module's own fixture `run`."""
    with serve(run) as found:
        yield found


@pytest.fixture(scope="session")
def resnet() -> Iterator[str]:
    """Of a page with the views of the resnet20_cifar sample."""
    with serve(tvmdbg.open(tvmdbg.samples.resnet20_cifar)) as found:
        yield found


@pytest.fixture(scope="module")
def devices(corpus: Path) -> Iterator[str]:
    """Address of a page that compares one network on one and on two devices."""
    a, b = (tvmdbg.open(corpus / "tvm" / f"resnet20_{name}") for name in ("cifar", "two_devices"))
    with serve(a, other=b) as found:
        yield found


@pytest.fixture(scope="module")
def pair() -> Iterator[str]:
    """Address of a page of the sample that overflows, beside the one that does not."""
    one = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)
    with serve(one, other=tvmdbg.open(tvmdbg.samples.resnet20_cifar)) as found:
        yield found


@pytest.fixture
def graph(page: Page, resnet: str) -> Callable[..., Locator]:
    """Open the graph view with a query; gives its root after the first paint, focused."""

    def open_view(query: str = "", width: int = 900, address: str = resnet) -> Locator:
        page.emulate_media(reduced_motion="reduce")
        page.set_viewport_size({"width": width + 40, "height": 700})
        visit(page, f"{address}?views=graph&width={width}&{query}")
        painted(page)
        root = page.locator(".tvmdbg-graph")
        root.focus()
        return root

    return open_view


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """JupyterLab."""
    with jupyter("lab", tmp_path_factory.mktemp("lab")) as server:
        yield server


@pytest.fixture(scope="session")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Notebook 7."""
    with jupyter("notebook", tmp_path_factory.mktemp("notebook")) as server:
        yield server
