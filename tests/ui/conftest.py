"""A browser, pages that must stay free of errors, and Jupyter servers."""

from __future__ import annotations

import re
import subprocess
import warnings
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from chromium import ARGUMENTS, find
from hatch_build import is_current
from ui.host import Handler, serve
from ui.servers import Server, jupyter
from ui.waits import painted

import tvmdbg_widgets as tvmdbg

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import (
        Browser,
        BrowserContext,
        ConsoleMessage,
        Error,
        Locator,
        Page,
        Request,
    )

    from tvmdbg_widgets.run import DebugRun

# Only to end what hangs: on a busy machine every wait of a test may take its time.
PATIENCE_MS = 60_000

# How much later, at most, each further time of `--slow-pages` makes an answer.
LATE_SECONDS = 0.1

INSIDE = ("127.0.0.1", "localhost", None)  # None: file:, blob: and data:
ROOT = Path(__file__).parents[2]

# Scripts of the host itself: Notebook 7.6 throws on every start, with none of ours on the stack.
HOSTS_OWN = re.compile(r"^http://127\.0\.0\.1:\d+/static/(lab|notebook)/")


@pytest.fixture(scope="session")
def bundles() -> Path:
    """Folder of the bundles, made anew where they are not those of the sources."""
    if not is_current(ROOT):
        command = ["node", "js/build.mjs"]
        built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if built.returncode != 0:
            warnings.warn(f"a bundle is missing:\n{built.stderr}", stacklevel=1)
    return ROOT / "tvmdbg_widgets/static"


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


def _opened(browser: Browser) -> BrowserContext:
    context = browser.new_context(viewport={"width": 1000, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    return context


@pytest.fixture(scope="module")
def window(browser: Browser) -> Iterator[BrowserContext]:
    """One window for the pages of a module: to open one takes longer than most tests do."""
    context = _opened(browser)
    context.new_page()  # a window without pages closes
    yield context
    context.close()


@pytest.fixture
def context(request: pytest.FixtureRequest, browser: Browser) -> Iterator[BrowserContext]:
    """Without cookies, permissions and pages of other tests; Jupyter keeps more than that."""
    if any(request.node.get_closest_marker(host) for host in ("lab", "hosts")):
        context = _opened(browser)
        yield context
        context.close()
        return
    window: BrowserContext = request.getfixturevalue("window")
    yield window
    for each in window.pages[1:]:
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


@pytest.fixture
def page(context: BrowserContext, errors: list[str], slowness: float) -> Iterator[Page]:
    """One page of 1000 x 900 CSS pixels; the test fails if it leaves an error behind."""

    def note_error(error: Error) -> None:
        text = error.stack or str(error)
        frames = re.findall(r"(?:https?|blob|file):\S+", text)
        if not frames or not all(HOSTS_OWN.search(frame) for frame in frames):
            errors.append(text)

    def note_console(said: ConsoleMessage) -> None:
        if said.type == "error":
            errors.append(f"{said.text} ({said.location.get('url')})")

    def note_request(request: Request) -> None:
        if urlsplit(request.url).hostname not in INSIDE:
            errors.append(f"asked the outside: {request.url}")

    page = context.new_page()
    if slowness > 1:
        context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slowness})
    page.on("pageerror", note_error)
    page.on("console", note_console)
    page.on("request", note_request)
    yield page
    page.close()
    assert errors == []


@pytest.fixture(scope="module")
def address(run: DebugRun) -> Iterator[str]:
    """Of a page with the views of the module's own fixture `run`."""
    with serve(run) as found:
        yield found


@pytest.fixture(scope="module")
def resnet() -> Iterator[str]:
    """Of a page with the views of the resnet20_cifar sample."""
    with serve(tvmdbg.open(tvmdbg.samples.resnet20_cifar)) as found:
        yield found


@pytest.fixture
def graph(page: Page, resnet: str) -> Callable[..., Locator]:
    """Open the graph view with a query; gives its root after the first paint, focused."""

    def open_view(query: str = "", width: int = 900, address: str = resnet) -> Locator:
        page.emulate_media(reduced_motion="reduce")
        page.set_viewport_size({"width": width + 40, "height": 700})
        page.goto(f"{address}?views=graph&width={width}&{query}")
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
