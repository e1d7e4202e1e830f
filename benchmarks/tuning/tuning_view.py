"""The view of a long tuning log in Chromium: opened, zoomed, panned, pointed at.

Script is CPU time of the page's main thread from one frame to the next, from Chromium's own traces,
in which also the painting of what the pointer shows is counted; see :mod:`benchmarks.graph_view`.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from playwright.sync_api import ViewportSize, sync_playwright

from benchmarks.graph_view import TRACED, Trace, verdict
from benchmarks.measure import load, sized
from tests.chromium import ARGUMENTS, find_or_install
from tests.ui.tuning_page import TuningPage
from tvmdbg_widgets.tuning import TuningLog

if TYPE_CHECKING:
    from playwright.sync_api import Browser


SCRIPT_MS, OPEN_MS, HEAP_MB = 8.0, 150.0, 40.0
MOVE_MS, REPEATS = sized((3000, 3), (200, 1))
_SIZE: ViewportSize = {"width": 1240, "height": 900}
_WIDTH = 1200

#: Once a frame the wheel turns, or the pointer moves over the chart.
MOVES = """async ([kind, ms]) => {
  const root = document.querySelector(".tvmdbg-tuning");
  const canvas = root.querySelector(".tvmdbg-tuning-base");
  root.focus({ preventScroll: true });
  const box = canvas.getBoundingClientRect();
  const [x, y] = [box.left + box.width * 0.6, box.top + box.height * 0.5];
  const wheel = (deltaX, deltaY) => canvas.dispatchEvent(new WheelEvent("wheel",
    { deltaX, deltaY, bubbles: true, cancelable: true, clientX: x, clientY: y }));
  const frames = [];
  performance.mark("tvmdbg begin");
  const begin = performance.now();
  for (let i = 0; ; i++) {
    frames.push(await new Promise((next) => requestAnimationFrame(next)));
    performance.mark("tvmdbg frame");
    const at = (performance.now() - begin) / ms;
    if (at >= 1) break;
    if (kind === "zoom") wheel(0, -60 * Math.cos(at * 4 * Math.PI));
    if (kind === "pan") wheel(40 * Math.cos(at * 4 * Math.PI), 0);
    if (kind === "hover") canvas.dispatchEvent(new PointerEvent("pointermove", {
      bubbles: true,
      clientX: box.left + 80 + ((i * 37) % (box.width - 120)),
      clientY: box.top + 30 + ((i * 53) % (box.height - 110)),
    }));
  }
  performance.mark("tvmdbg end");
  return frames;
}"""
#: Shows a part of all trials in the middle.
LOOK = """async (factor) => {
  const root = document.querySelector(".tvmdbg-tuning");
  const canvas = root.querySelector(".tvmdbg-tuning-base");
  root.focus({ preventScroll: true });
  const key = (key) =>
    root.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  key("0");
  for (let shown = 1; shown > factor; shown /= 2) key("w");
  await new Promise((rested) => setTimeout(rested, 400));
}"""


@dataclass(frozen=True)
class Case:
    """What is shown while it moves: traits of the view, and the part of all trials in view."""

    what: str
    traits: dict[str, Any]
    share: float = 1.0
    kinds: tuple[str, ...] = ("zoom", "pan", "hover")


CASES = (
    Case("all trials", {}, kinds=("zoom", "hover")),
    Case("half of them", {}, 0.5),
    Case("a sixteenth", {}, 1 / 16),
    Case("over time, all", {"along": "time"}, kinds=("zoom", "hover")),
    Case("over time, half", {"along": "time"}, 0.5),
    Case("one task", {"task": 0}, 0.5),
    Case("found by a query", {"query": "cost<2ms"}, 0.5),
)


def view(log: TuningLog) -> None:
    """Print what the view takes to open, and to be moved."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(find_or_install()), args=list(ARGUMENTS)
        )
        opened(browser, log)
        for case in CASES:
            moved(browser, log, case)
        browser.close()


def opened(browser: Browser, log: TuningLog) -> None:
    """Print the script of the page until all is painted, its code included; and its memory."""
    scripts, heap = [], 0.0
    for _ in range(REPEATS):
        page = browser.new_page(viewport=_SIZE)
        browser.start_tracing(page=page, categories=TRACED)
        page.evaluate("() => performance.mark('tvmdbg begin')")
        TuningPage(page, log, _WIDTH)
        page.wait_for_timeout(1500)
        trace = Trace.read(browser.stop_tracing(), "tvmdbg begin")
        scripts.append(sum(took for _, took in trace.scripts))
        session = page.context.new_cdp_session(page)
        session.send("HeapProfiler.collectGarbage")
        used = session.send("Runtime.getHeapUsage")
        heap = (used["usedSize"] + used.get("backingStorageSize", 0)) / 1e6
        page.close()
    script = statistics.median(scripts)
    print(
        f"  opened: script {script:.0f} ms CPU ({min(scripts):.0f} … {max(scripts):.0f}, "
        f"n={REPEATS}; {verdict(script, OPEN_MS)}); memory {heap:.1f} MB "
        f"({verdict(heap, HEAP_MB)}); {load()}",
        flush=True,
    )


def moved(browser: Browser, log: TuningLog, case: Case) -> None:
    """Print the script of each frame while the view is moved in one way after the other."""
    page = browser.new_page(viewport=_SIZE)
    shown = TuningPage(page, log, _WIDTH, **case.traits)
    page.wait_for_timeout(1000)
    for kind in case.kinds:
        page.evaluate(LOOK, case.share)
        browser.start_tracing(page=page, categories=TRACED)
        frames: list[float] = page.evaluate(MOVES, [kind, MOVE_MS])
        trace = Trace.read(browser.stop_tracing(), "tvmdbg begin", "tvmdbg end")
        script, between = trace.per_frame, np.diff(frames)
        p50, p95 = np.percentile(script, [50, 95])
        print(
            f"  {case.what:<17}{kind:<6} script median {p50:5.1f}, p95 {p95:5.1f}, "
            f"most {script.max():5.1f} ms ({verdict(p95, SCRIPT_MS)}); all of the thread "
            f"{sum(trace.tasks) / len(frames):5.1f} ms a frame; frames median "
            f"{statistics.median(between):.0f}, p95 {np.percentile(between, 95):.0f} ms; "
            f"{shown.told()['points']:,} marks; {load()}",
            flush=True,
        )
    page.close()
