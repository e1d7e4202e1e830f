"""A page that must stay free of errors, and that one test after another finds as if it were new."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Request,
    ViewportSize,
)

from tests.ui.host import CLEAR

# Only to end what hangs: on a busy machine every wait of a test may take its time.
PATIENCE_MS = 60_000

SIZE: ViewportSize = {"width": 1000, "height": 900}
OUTSIDE = (-1, -1)
INSIDE = ("127.0.0.1", "localhost", None)  # None: file:, blob: and data:

# Scripts of the host itself: Notebook 7.6 throws on every start, with none of ours on the stack.
HOSTS_OWN = re.compile(r"^http://127\.0\.0\.1:\d+/static/(lab|notebook)/")
# It gives a model two seconds; a view that does not come fails its test without this.
IMPATIENT = "[anywidget] Failed to initialize model."


#: Whether a test has failed so far: what it was given is then not given to another.
FAILED = pytest.StashKey[bool]()


def open_window(browser: Browser) -> BrowserContext:
    """Open a window of its own: without what others keep."""
    context = browser.new_context(viewport=SIZE)
    context.set_default_timeout(PATIENCE_MS)
    return context


class WatchedPage:
    """A page whose errors and requests to the outside are noted."""

    def __init__(self, context: BrowserContext, slowness: float, first_script: str) -> None:
        self.errors: list[str] = []
        self.page = context.new_page()
        if first_script:
            self.page.add_init_script(first_script)
        if slowness > 1:
            session = context.new_cdp_session(self.page)
            session.send("Emulation.setCPUThrottlingRate", {"rate": slowness})
        self.page.on("pageerror", self._note_error)
        self.page.on("console", self._note_console)
        self.page.on("request", self._note_request)

    def clear(self) -> None:
        """Take away what a test left there, but for its listeners and initial scripts."""
        page = self.page
        page.unroute_all(behavior="ignoreErrors")
        if not page.evaluate(CLEAR):
            page.goto("about:blank")
        page.mouse.move(*OUTSIDE)
        page.emulate_media(
            media="null",
            color_scheme="null",
            reduced_motion="null",
            forced_colors="null",
            contrast="null",
        )
        if page.viewport_size != SIZE:
            page.set_viewport_size(SIZE)

    def _note_error(self, error: Error) -> None:
        text = error.stack or str(error)
        frames = re.findall(r"(?:https?|blob|file):\S+", text)
        own = frames and all(HOSTS_OWN.search(frame) for frame in frames)
        if not own and IMPATIENT not in text:
            self.errors.append(text)

    def _note_console(self, said: ConsoleMessage) -> None:
        if said.type == "error":
            self.errors.append(f"{said.text} ({said.location.get('url')})")

    def _note_request(self, request: Request) -> None:
        if urlsplit(request.url).hostname not in INSIDE:
            self.errors.append(f"asked the outside: {request.url}")
