"""The notebook a user sees: JupyterLab, a kernel, and the views of one run in four cells."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from ui.notebooks import Notebook, View, ViewName

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page
    from ui.servers import Server

pytestmark = [pytest.mark.ui, pytest.mark.lab]

OPEN = """import tvmdbg_widgets as tvmdbg
run = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)"""
CELLS = [
    OPEN,
    "run",
    "tvmdbg.GraphView(run)",
    "tvmdbg.TensorInspector(run)",
    "tvmdbg.Flamechart(run)",
]
OVERFLOW = 38  # the first node whose output holds an inf, by numpy over TVM's own npz
SLOWEST = 60  # the largest mean in the table that TVM's run() printed
SETTINGS = "@jupyterlab/apputils-extension/kernels-settings.jupyterlab-settings"
FOLLOWS_MS = 15_000


def names(node: int) -> dict[ViewName, re.Pattern[str]]:
    """What each view's live region says where it shows a node."""
    return {
        "graph": re.compile(rf"^Node {node} of "),
        "tensor": re.compile(rf"^Tensor {node}:0 "),
        "timeline": re.compile(rf"(Slice of node|Node) {node},"),
    }


def expect_all(views: list[View], node: int) -> None:
    for view in views:
        expect(view.said).to_contain_text(names(node)[view.name], timeout=FOLLOWS_MS)


def views_of(notebook: Notebook) -> list[View]:
    """The three views of their own cells, then those of the debugger."""
    kinds: tuple[ViewName, ...] = ("graph", "tensor", "timeline")
    own = [notebook.view(i + 2, kind).wait() for i, kind in enumerate(kinds)]
    return [*own, *(notebook.view(1, kind).wait() for kind in kinds)]


@pytest.fixture
def tall(page: Page) -> Page:
    """A page on which all five cells are in view: what is out of view is not painted."""
    page.set_viewport_size({"width": 1200, "height": 3000})
    page.emulate_media(reduced_motion="reduce")
    return page


@pytest.fixture
def opened(tall: Page, lab: Server) -> Notebook:
    notebook = Notebook(tall, lab, "run.ipynb", CELLS)
    notebook.run_all()
    return notebook


def test_views_in_four_cells_and_python_follow_each_other(
    opened: Notebook, tmp_path: Path
) -> None:
    views = views_of(opened)
    graph, tensor, timeline = views[:3]
    state = "print(run.session.selected, run.session.entry, run.session.source)"

    graph.focus()
    opened.page.keyboard.press("0")
    graph.click_mark("id", 28)
    expect_all(views, 28)
    assert opened.python(state) == "[28] (28, 0) graph"

    tensor.root.get_by_role("combobox", name=re.compile("^Tensor")).click()
    tensor.root.get_by_role("combobox", name=re.compile("^Tensor")).fill("47:0")
    tensor.root.locator('[role=option][data-entry="47:0"]').click()
    expect_all(views, 47)
    assert opened.python(state) == "[47] (47, 0) tensor"

    timeline.click_mark("node", 66)
    expect_all(views, 66)
    assert opened.python(state) == "[66] (66, 0) timeline"

    opened.python(f"run.session.selected = [{OVERFLOW}]")
    expect_all(views, OVERFLOW)
    expect(tensor.said).to_contain_text("59 +Inf", timeout=FOLLOWS_MS)
    opened.page.screenshot(path=tmp_path / "light.png")

    opened.page.evaluate(
        "() => jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})"
    )
    for view in views:
        expect(view.root).to_have_class(re.compile(r"\btvmdbg-dark\b"), timeout=FOLLOWS_MS)
    opened.page.screenshot(path=tmp_path / "dark.png")
    opened.page.evaluate(
        "() => jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Light'})"
    )
    for view in views:
        expect(view.root).not_to_have_class(re.compile(r"\btvmdbg-dark\b"), timeout=FOLLOWS_MS)
