"""Bytes of saved pages and frames, the time to write one, and from navigation to all views ready.

``python -m benchmarks.page [DUMP …]``; the shipped sample where none is named.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

import tvmdbg_widgets as tvmdbg
from benchmarks.measure import machine, measure, sized
from benchmarks.sizes import told
from tests.chromium import ARGUMENTS, find_or_install
from tvmdbg_widgets.engine import STATIC

if TYPE_CHECKING:
    from playwright.sync_api import Browser

REPEATS = sized(5, 1)
READY = """() => document.documentElement.dataset.started === "true"
  && [...document.querySelectorAll("#tvmdbg-views .tvmdbg:not(.tvmdbg-debugger)")]
    .every(each => each.dataset.ready === "true" || each.closest("[hidden]"))
  && performance.now()"""


def ready(browser: Browser, path: Path) -> float:
    """Seconds from navigation to all views painted, of a file and with the network off."""
    context = browser.new_context(viewport={"width": 1280, "height": 1000}, offline=True)
    page = context.new_page()
    page.goto(path.as_uri())
    took = page.wait_for_function(READY, polling=10).json_value()
    context.close()
    return float(took) / 1000


def main() -> None:
    """Print sizes and times."""
    machine()
    for path in sorted(STATIC.glob("page*.js")):
        told(path.name, path.stat().st_size)
    dumps = sys.argv[1:] or [tvmdbg.samples.resnet20_cifar]
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(
            executable_path=str(find_or_install()), args=list(ARGUMENTS)
        )
        for dump in dumps:
            run = tvmdbg.open(dump)
            print(run.title)
            for share in ("statistics", "pictures", "tensors"):
                path = Path(folder) / f"{share}.html"
                measure(
                    f"save_html, share={share}",
                    lambda path=path, run=run, share=share: run.save_html(path, share=share),
                    3,
                )
                told(f"page, share={share}", path.stat().st_size, 5_000_000)
                walls = [ready(browser, path) for _ in range(REPEATS)]
                spread = f"{min(walls):.3f} … {max(walls):.3f}, n={REPEATS}"
                print(f"  all views ready: {statistics.median(walls):.3f} s wall ({spread})")
            for view in (
                tvmdbg.GraphView(run),
                tvmdbg.TensorInspector(run),
                tvmdbg.Flamechart(run),
                run.debugger(),
            ):
                told(f"frame of {type(view).__name__}", len(view.embed().html.encode()))
        browser.close()


if __name__ == "__main__":
    main()
