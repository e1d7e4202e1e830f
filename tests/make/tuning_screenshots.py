"""Pictures of a tuning log's view in JupyterLab: the manual's, and a set to look at.

``python -m tests.make.tuning_screenshots FOLDER`` (from the repository's root, front ends built)
writes ``tuning.png`` and one picture for each pane and theme.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.chromium import ARGUMENTS, find_or_install
from tests.make.screenshots import THEMES, set_width
from tests.ui.notebooks import Notebook, View
from tests.ui.servers import jupyter

OPEN = """import tvmdbg_widgets as tvmdbg
log = tvmdbg.open(tvmdbg.samples.ansor_starved).weighted([12, 12, 12, 12, 4, 6])"""
PANES = ("schedule", "tiles", "errors", "findings")
WIDTH = 880


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
            viewport={"width": 1400, "height": 860},
            reduced_motion="reduce",
        )
        notebook = Notebook(page, lab, "log.ipynb", [OPEN, "view = log.view()\nview"])
        notebook.run_all()
        View(notebook.cell(1), "tuning").wait()
        set_width(page, WIDTH)
        output = notebook.cell(1).locator(".jp-OutputArea-output").first
        for theme, title in THEMES.items():
            page.evaluate(
                "(theme) => jupyterapp.commands.execute('apputils:change-theme', {theme})", title
            )
            for pane in PANES:
                task = 2 if pane == "tiles" else None
                notebook.run(2, f"view.pane, view.task = {pane!r}, {task}")
                page.mouse.move(0, 0)
                page.wait_for_timeout(1500)  # what moves has come to rest
                is_docs = (theme, pane) == ("light", "schedule")
                target = folder / ("tuning.png" if is_docs else f"{pane}-{theme}.png")
                output.screenshot(path=target)
                print(target, flush=True)
        notebook.close()
        browser.close()


if __name__ == "__main__":
    main()
