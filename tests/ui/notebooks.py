"""A notebook as the tests drive it: open, run cells, read their output, find views in them."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from typing import Any, Literal

from playwright.sync_api import Locator, Page, expect

from tests.ui.servers import Server
from tests.ui.waits import INSPECT, inspected

ViewName = Literal["graph", "tensor", "timeline", "memory", "comparison", "tuning"]

ROLES: dict[ViewName, str] = {
    "graph": "graph",
    "tensor": "tensor inspector",
    "timeline": "flamechart",
    "memory": "memory plan",
    "comparison": "comparison of two graphs",
    "tuning": "tuning log",
}
_SAYS: dict[ViewName, str] = {
    "graph": "^Node {node} of ",
    "tensor": r"^Tensor [^,]*#{node}\b",
    "timeline": r"(Slice of [^,]*#{node}\b|Node {node},)",
    "memory": r"^[^;]*#{node}\b",
    "comparison": r"^A [^~]*#{node}\b",
}
START_MS = 300_000  # a first page and its kernel took up to 27 s on two busy cores
SHOWN_MS = 120_000

IDLE = """() => {
  const app = window.jupyterapp, session = app?.shell.currentWidget?.sessionContext;
  return session?.isReady && session.session?.kernel?.status === "idle";
}"""
_FILL = """(sources) => {
  const { sharedModel } = jupyterapp.shell.currentWidget.content.model;
  sharedModel.deleteCellRange(0, sharedModel.cells.length);
  const empty = { cell_type: "code", metadata: {}, outputs: [], execution_count: null };
  sharedModel.insertCells(0, sources.map((source) => ({ ...empty, source })));
}"""
_KERNEL = "() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.id"
_RUN_CELL = """async ([index, source]) => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  if (source !== null) notebook.model.cells.get(index).sharedModel.setSource(source);
  notebook.deselectAll();
  notebook.activeCellIndex = index;
  await window.jupyterapp.commands.execute("notebook:run-cell");
}"""
_OUTPUTS = """(index) => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  return notebook.model.cells.get(index).sharedModel.outputs;
}"""
_MARK = f"""async (root, [key, value]) => {{
  const begun = performance.now();
  while (performance.now() - begun < {SHOWN_MS}) {{
    const found = ({INSPECT})(root).marks?.find((mark) => mark[key] === value);
    if (found) return found;
    await new Promise(requestAnimationFrame);
  }}
  throw new Error(`nothing is drawn whose ${{key}} is ${{value}}`);
}}"""


def write(server: Server, name: str, cells: Sequence[str]) -> None:
    """Write a notebook of code cells into the folder that the server serves."""
    written = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
        },
        "cells": [
            {
                "id": f"cell-{i}",
                "cell_type": "code",
                "source": source,
                "metadata": {},
                "outputs": [],
                "execution_count": None,
            }
            for i, source in enumerate(cells)
        ],
    }
    (server.folder / name).write_text(json.dumps(written), "utf-8")


class Notebook:
    """A notebook open in JupyterLab or Notebook 7; its last cell is the tests' own."""

    def __init__(self, page: Page, server: Server, name: str, cells: Sequence[str]) -> None:
        self.page = page
        self._server = server
        self.name = name
        self._last = len(cells)
        write(server, name, [*cells, ""])
        self.show()

    def show(self) -> None:
        """Load it where the page does not show it already."""
        if not self.page.evaluate("'jupyterapp' in window"):
            self.page.goto(self._server.page(self.name), timeout=START_MS)
        self.page.wait_for_function(IDLE, timeout=START_MS)

    def fill(self, cells: Sequence[str]) -> None:
        """Put other cells in the place of all there are."""
        self._last = len(cells)
        self.page.evaluate(_FILL, [*cells, ""])

    def close(self) -> None:
        """Leave the page, so that no view writes to a kernel that is gone, then end the kernel."""
        kernel = self.page.evaluate(_KERNEL)
        self.page.goto("about:blank")
        self._server.end_kernel(kernel)

    def run(self, index: int, source: str | None = None) -> None:
        """Run one cell to its end, with a new source where one is given."""
        self.page.evaluate(_RUN_CELL, [index, source])

    def start(self, index: int, source: str) -> None:
        """Run one cell without waiting for its end."""
        self.page.evaluate(f"(cell) => void ({_RUN_CELL})(cell)", [index, source])

    def run_all(self) -> None:
        """Run every cell but the tests' own."""
        for index in range(self._last):
            self.run(index)
            problem = [each for each in self.outputs(index) if each["output_type"] == "error"]
            assert not problem, "\n".join(problem[0]["traceback"])

    def is_running(self, index: int) -> bool:
        """Whether a cell has been started and has not ended."""
        prompt = self.cell(index).locator(".jp-InputPrompt").first.text_content() or ""
        return "*" in prompt

    def outputs(self, index: int) -> list[dict[str, Any]]:
        """What a cell gave, as nbformat writes it."""
        return self.page.evaluate(_OUTPUTS, index)

    def python(self, source: str) -> str:
        """Run the tests' own cell and return what it printed; an error is a failure."""
        self.run(self._last, source)
        outputs = self.outputs(self._last)
        problem = [each for each in outputs if each["output_type"] == "error"]
        assert not problem, "\n".join(problem[0]["traceback"])
        return "".join("".join(each.get("text", "")) for each in outputs).strip()

    def expect(self, source: str, printed: str) -> None:
        """Wait until the tests' own cell prints what it should.

        What a page writes may be taken by another thread of the kernel than the one that prints.
        """
        end = time.monotonic() + SHOWN_MS / 1000
        while (found := self.python(source)) != printed and time.monotonic() < end:
            pass
        assert found == printed

    def cell(self, index: int) -> Locator:
        """One cell with its output."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(index)

    def view(self, index: int, name: ViewName) -> View:
        """A view in the output of a cell."""
        return View(self.cell(index), name)


class View:
    """One of our views, found by its role."""

    def __init__(self, inside: Locator | Page, name: ViewName) -> None:
        self.name = name
        role = f'[role="application"][aria-roledescription="{ROLES[name]}"]'
        self.root = inside.locator(role)
        self.said = self.root.locator(':scope > [role="status"][aria-atomic="true"]')

    def wait(self) -> View:
        """Wait for the first complete painting."""
        self.root.and_(self.root.page.locator('[data-ready="true"]')).wait_for(timeout=SHOWN_MS)
        return self

    def marks(self) -> list[dict[str, Any]]:
        """What is drawn now, in CSS pixels from the corner of the view's main canvas."""
        detail: dict[str, Any] = inspected(self.root)
        return list(detail["marks"])

    def click_mark(self, key: str, value: int) -> None:
        """Click into the middle of the first mark whose ``key`` has a value, once it is drawn."""
        found = self.root.evaluate(_MARK, [key, value])
        x, y = found["x"] + found["width"] / 2, found["y"] + found["height"] / 2
        self.root.locator("canvas").first.click(position={"x": x, "y": y})

    def expect_node(self, node: int, timeout: float = SHOWN_MS / 2) -> None:
        """Wait until its live region says that it shows a node."""
        expect(self.said).to_contain_text(self.says(node), timeout=timeout)

    def says(self, node: int) -> re.Pattern[str]:
        """What its live region says where it shows a node."""
        return re.compile(_SAYS[self.name].format(node=node))

    def focus(self) -> None:
        """Give the view the keyboard."""
        self.root.focus()
