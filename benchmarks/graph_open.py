"""Opening graphs of 1,000 and 10,000 nodes: in Python, and in a view to its first complete paint.

Promise for the view: 0.4 s at 1,000 nodes, 0.8 s at 10,000 (on a quiet machine of two cores).
Beside it ``json.loads`` of the same file, which nothing that reads JSON can undercut by much.
``python -m benchmarks.graph_open``
"""

from __future__ import annotations

import json
import statistics

from playwright.sync_api import Browser, sync_playwright

import tvmdbg_widgets as tvmdbg
from benchmarks.graphs import residual_graph
from benchmarks.measure import limit, machine, measure
from tests.chromium import ARGUMENTS, find_or_install
from tests.ui.host import serve

PROMISES = {1_000: 0.4, 10_000: 0.8}
REPEATS = 5


def first_paint(browser: Browser, address: str) -> float:
    """Seconds from the view's first message to its first complete paint."""
    page = browser.new_page(viewport={"width": 1000, "height": 600})
    page.add_init_script(
        "window.asked = 0; const ask = window.fetch;"
        "window.fetch = (...a) => { window.asked ||= performance.now(); return ask(...a); };"
        "const ready = () => document.querySelector('[data-ready=true]');"
        "new MutationObserver(() => { if (ready()) window.painted ||= performance.now(); })"
        ".observe(document, {subtree: true, attributes: true});"
    )
    page.goto(f"{address}?views=graph&fold=0&graph.fold_parameters=false")
    page.wait_for_function("() => window.painted", timeout=120_000)
    took = page.evaluate("() => (window.painted - window.asked) / 1000")
    page.close()
    return float(took)


def main() -> None:
    """Print the times at both sizes."""
    machine()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(find_or_install()), args=list(ARGUMENTS)
        )
        for nodes, promise in PROMISES.items():
            text = residual_graph(nodes)
            run = tvmdbg.open(text)
            print(f"{run.graph.num_nodes} nodes, {run.graph.num_edges} edges, {len(text):,} bytes")
            measure("json.loads", lambda text=text: json.loads(text))
            opened = measure("tvmdbg.open", lambda text=text: tvmdbg.open(text))
            limit(opened, promise)
            with serve(run) as address:
                walls = [first_paint(browser, address) for _ in range(REPEATS)]
            middle = statistics.median(walls)
            verdict = "kept" if middle <= promise else "MISSED"
            spread = f"{min(walls):.3f} … {max(walls):.3f}, n={REPEATS}"
            print(f"  first paint: {middle:.3f} s wall ({spread}); promised {promise} s: {verdict}")
        browser.close()


if __name__ == "__main__":
    main()
