"""The same views in other hosts: Notebook 7 and marimo."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.ui.notebooks import Notebook, View, ViewName
from tests.ui.servers import Server

pytestmark = pytest.mark.hosts

OPEN = """import tvmdbg_widgets as tvmdbg
run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)"""
SHOWN = ["run", "tvmdbg.GraphView(run)", "tvmdbg.TensorInspector(run)", "tvmdbg.Flamechart(run)"]
MARIMO = """import marimo
app = marimo.App()
@app.cell
def _():
    import tvmdbg_widgets as tvmdbg
    run = tvmdbg.open(tvmdbg.samples.resnet20_cifar)
    return run, tvmdbg
"""
VIEWS: tuple[ViewName, ...] = ("graph", "tensor", "timeline")
START_SECONDS = 300.0


@pytest.fixture
def tall(page: Page) -> Page:
    page.set_viewport_size({"width": 1200, "height": 3600})
    page.emulate_media(reduced_motion="reduce")
    return page


def check_linked(graph: View, others: list[View]) -> None:
    """Select the slowest node by key, and see the other views show the same one."""
    for view in (graph, *others):
        view.root.scroll_into_view_if_needed()  # below the window it is drawn once it is seen
        view.wait()
    graph.focus()
    graph.root.page.keyboard.press("s")
    expect(graph.said).to_contain_text("rank 1")
    node = int((graph.said.text_content() or "").split()[1])
    for view in others:
        view.expect_node(node)


def test_notebook_7(tall: Page, notebook: Server) -> None:
    shown = Notebook(tall, notebook, "run.ipynb", [OPEN, *SHOWN])
    shown.run_all()
    own = [shown.view(i + 2, name) for i, name in enumerate(VIEWS)]
    check_linked(own[0], [*own[1:], *(shown.view(1, name) for name in VIEWS)])
    shown.python("run.session.select('p0')")
    expect(own[0].said).to_contain_text("parameter")
    shown.close()


def test_marimo(tall: Page, tmp_path: Path) -> None:
    cells = "".join(f"@app.cell\ndef _(run, tvmdbg):\n    {shown}\n    return\n" for shown in SHOWN)
    (tmp_path / "app.py").write_text(MARIMO + cells, "utf-8")
    with marimo(tmp_path / "app.py") as address:
        tall.goto(address, timeout=START_SECONDS * 1000)
        everywhere = {name: View(tall, name).root for name in VIEWS}
        for root in everywhere.values():
            expect(root).to_have_count(2)
        own = [Nth(tall, name, 1) for name in VIEWS]
        check_linked(own[0], [*own[1:], *(Nth(tall, name, 0) for name in VIEWS)])
        tall.goto("about:blank")  # while the server still answers what the page has asked


class Nth(View):
    """The n-th view of a kind on a page whose cells cannot be told apart."""

    def __init__(self, page: Page, name: ViewName, place: int) -> None:
        super().__init__(page, name)
        self.root = self.root.nth(place)
        self.said = self.root.locator('[role="status"][aria-atomic="true"]')


@contextlib.contextmanager
def marimo(app: Path) -> Iterator[str]:
    """Serve an app; yields its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}/"
    home = {"HOME": str(app.parent), "XDG_CONFIG_HOME": str(app.parent / "config")}
    log = app.with_suffix(".log")
    with log.open("wb") as stream:
        server = subprocess.Popen(
            [
                *(sys.executable, "-m", "marimo", "run", str(app), "--headless"),
                *("--host", "127.0.0.1", "--port", str(port), "--no-token"),
            ],
            env=os.environ | home,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and server.poll() is None:
            with contextlib.suppress(OSError, HTTPException):
                urllib.request.urlopen(address, timeout=20).close()
                break
            time.sleep(0.1)
        else:
            raise RuntimeError(f"marimo did not start:\n{log.read_text('utf-8', 'replace')}")
        yield address
    finally:
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(60)
