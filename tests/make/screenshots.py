"""Pictures of the Debugger in JupyterLab, the first fault that was found selected.

The README's picture, and a set to look at before a release.

``python tests/make/screenshots.py FOLDER`` (from the repository's root, front ends built) writes
``readme.png`` and one picture for each theme and width, in CSS pixels, of the space for outputs.
"""

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from chromium import ARGUMENTS, find_or_install  # noqa: E402 (after the path)
from playwright.sync_api import Page, expect, sync_playwright  # noqa: E402

from tests.ui.notebooks import Notebook, View, ViewName  # noqa: E402
from tests.ui.servers import jupyter  # noqa: E402

OPEN = """import tvmdbg_widgets as tvmdbg
run = tvmdbg.open(tvmdbg.samples.resnet20_cifar_fp16_overflow)"""
BORN = 38  # its output holds the first inf
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
WIDTHS = (480, 900, 1600)
VIEWS: tuple[ViewName, ...] = ("graph", "tensor", "timeline")
SCANNED_MS = 60_000
README_WIDTH = 1200
BESIDE = """() => {
  const cell = document.querySelectorAll(".jp-Notebook .jp-Cell")[1];
  return innerWidth - cell.querySelector(".jp-OutputArea-output").getBoundingClientRect().width;
}"""


def set_width(page: Page, width: int) -> None:
    """Give an output of a cell the width."""
    for _ in range(2):  # Lab folds its side bars where the window is small
        size = page.viewport_size or {"height": 0}
        beside = round(page.evaluate(BESIDE))
        page.set_viewport_size({"width": width + beside, "height": size["height"]})
        page.wait_for_timeout(500)


def select_fault(notebook: Notebook) -> None:
    """Click the first node of the first finding, once all tensors were scanned."""
    panel = notebook.cell(1).locator(".tvmdbg-findings")
    expect(panel).to_have_attribute("data-state", "done", timeout=SCANNED_MS)
    first = panel.get_by_role("treeitem").first
    expect(first).to_contain_text("Error")
    first.locator(f"[data-node='{BORN}']").first.click()


def settle(notebook: Notebook) -> None:
    """Wait until each view shows what the finding names."""
    for name in VIEWS:
        View(notebook.cell(1), name).expect_node(BORN)
    notebook.page.mouse.move(0, 0)
    notebook.page.wait_for_timeout(1500)  # what moves has come to rest


def main() -> None:
    """Write the pictures into the folder that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as home,
        jupyter("lab", Path(home)) as lab,
        sync_playwright() as playwright,
    ):
        path = find_or_install()
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        page = browser.new_page(
            viewport={"width": 1600, "height": 1000},
            device_scale_factor=2,
            reduced_motion="reduce",
        )
        notebook = Notebook(page, lab, "run.ipynb", [OPEN, "run"])
        notebook.run_all()
        for name in VIEWS:
            View(notebook.cell(1), name).wait()
        select_fault(notebook)
        output = notebook.cell(1).locator(".jp-OutputArea-output").first
        for theme, title in THEMES.items():
            page.evaluate(
                "(theme) => jupyterapp.commands.execute('apputils:change-theme', {theme})", title
            )
            for width in WIDTHS:
                set_width(page, width)
                settle(notebook)
                output.screenshot(path=folder / f"{theme}-{width}.png")
                print(folder / f"{theme}-{width}.png", flush=True)
            if theme == "light":
                set_width(page, README_WIDTH)
                settle(notebook)
                output.screenshot(path=folder / "readme.png")
                print(folder / "readme.png", flush=True)
        notebook.close()
        browser.close()


if __name__ == "__main__":
    main()
