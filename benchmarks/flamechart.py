"""The flamechart with 10,000, 100,000 and 1,000,000 slices, its peers beside it in the same run.

Promises for 1,000,000 slices (quiet machine of two cores): 0.3 s from the view's first message to
its first paint and 1.5 s to all detail with a live server, 8 ms of script a frame and 20 ms between
two frames for 95 of 100 while it is moved, 40 MB in the browser, and 16 ms for
what a range under the hand shows, slices and busy share.

Each tool opens the same Chrome trace in a browser of its own. "CPU" is that of all processes of the
browser until they rest, and while the wheel turns; ours is read by Python first, which is told and
added: a peer reads the JSON in the browser. Peers: see ``benchmarks/flamechart_peers.py``.
``python -m benchmarks.flamechart [SLICES …]``
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from playwright.sync_api import Error, ViewportSize, sync_playwright

import tvmdbg_widgets as tvmdbg
from benchmarks.flamechart_peers import Peer, peers, served
from benchmarks.graph_view import TRACED, Trace, verdict
from benchmarks.measure import limit, load, machine, measure, sized
from benchmarks.traces import write_trace
from tests.chromium import ARGUMENTS, find_or_install
from tests.ui.host import serve

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright

SIZES = sized((10_000, 100_000, 1_000_000), (10_000,))
FIRST_S, ALL_S, SCRIPT_MS, INTERVAL_MS, HEAP_MB, AREA_MS = 0.3, 1.5, 8, 20, 40, 16
REPEATS, STEPS, AREAS = sized((3, 60, 5), (1, 4, 1))
#: A peer that does not open a trace within this is given up.
PATIENCE_S = {10_000: 60, 100_000: 120, 1_000_000: 240}
_RESTS_S, _REST_SHARE = 1.0, 0.1
_SIZE: ViewportSize = {"width": 1200, "height": 640}
_QUERY = "?views=timeline&width=1180&timeline.height=600&timeline.show=%22chart%22"

WATCH = """(() => {
  const ask = window.fetch;
  window.fetch = (...a) => {
    if (!window.asked) {
      window.asked = performance.now();
      performance.mark("tvmdbg asked");
    }
    return ask(...a);
  };
  const look = () => {
    const root = document.querySelector(".tvmdbg-timeline");
    if (root?.dataset.ready !== "true") return requestAnimationFrame(look);
    window.first ||= performance.now();
    if (root.querySelector(".tvmdbg-timeline-coming")) return requestAnimationFrame(look);
    // What replaces the bins is painted in the next frame.
    requestAnimationFrame(() => requestAnimationFrame(() => { window.whole = performance.now(); }));
  };
  requestAnimationFrame(look);
})()"""
#: Notes each frame until it is told to stop.
FRAMES = """() => {
  window.noted = [];
  performance.mark("tvmdbg begin");
  const note = (now) => {
    if (!window.noted) return;
    window.noted.push(now);
    performance.mark("tvmdbg frame");
    requestAnimationFrame(note);
  };
  requestAnimationFrame(note);
}"""
NOTED = """() => {
  performance.mark("tvmdbg end");
  const frames = window.noted;
  window.noted = null;
  return frames;
}"""
PAN = """async (ms) => {
  const root = document.querySelector(".tvmdbg-timeline");
  const key = (type, key) =>
    root.dispatchEvent(new KeyboardEvent(type, { key, bubbles: true, cancelable: true }));
  for (let i = 0; i < 12; i++) key("keydown", "w");
  await new Promise((rested) => setTimeout(rested, 600));
  const frames = [];
  performance.mark("tvmdbg begin");
  const begin = performance.now();
  for (;;) {
    const now = await new Promise((next) => requestAnimationFrame(next));
    performance.mark("tvmdbg frame");
    frames.push(now);
    const at = (performance.now() - begin) / ms;
    if (at >= 1) break;
    key("keydown", Math.sin(at * 4 * Math.PI) > 0 ? "d" : "a");
  }
  performance.mark("tvmdbg end");
  return frames;
}"""

#: Moves the pointer over the slices, once a frame.
HOVER = """async (steps) => {
  const canvas = document.querySelector(".tvmdbg-timeline canvas");
  const box = canvas.getBoundingClientRect();
  const frames = [];
  performance.mark("tvmdbg begin");
  for (let i = 0; i < steps; i++) {
    frames.push(await new Promise((next) => requestAnimationFrame(next)));
    performance.mark("tvmdbg frame");
    const at = { clientX: box.left + 5 + ((i * 37) % (box.width - 10)), clientY: box.top + 90 };
    canvas.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, ...at }));
  }
  performance.mark("tvmdbg end");
  return frames;
}"""
#: Marks all of time and waits for what is known at once and, after it, for the sums of Python.
AREA = """async () => {
  const root = document.querySelector(".tvmdbg-timeline");
  const frame = () => new Promise((next) => requestAnimationFrame(next));
  const key = (key) =>
    root.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  key("0");
  key("Escape");
  await frame();
  performance.mark("tvmdbg begin");
  performance.mark("tvmdbg frame");
  const begin = performance.now();
  key("r");
  const known = performance.now() - begin;
  while (!/p90 \\d/.test(root.querySelector(".tvmdbg-timeline-details").textContent)) await frame();
  performance.mark("tvmdbg frame");
  performance.mark("tvmdbg end");
  const all = performance.now() - begin;
  return [known, all];
}"""


def tree_cpu() -> float:
    """CPU seconds of all processes of the browser that runs below this one, ended ones included."""
    parent: dict[int, int] = {}
    used: dict[int, float] = {}
    names: dict[int, str] = {}
    tick = os.sysconf("SC_CLK_TCK")
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            text = (folder / "stat").read_text()
        except OSError:
            continue
        name, rest = text[text.index("(") + 1 : text.rindex(")")], text[text.rindex(")") + 2 :]
        fields = rest.split()
        process = int(folder.name)
        parent[process], names[process] = int(fields[1]), name
        used[process] = sum(map(int, fields[11:15])) / tick
    ours = {os.getpid()}
    while more := {each for each, above in parent.items() if above in ours} - ours:
        ours |= more
    return sum(used[each] for each in ours if names.get(each, "").startswith("chrom"))


def rested() -> float:
    """Wait until the browser does nothing more; its CPU seconds up to where it began to rest."""
    before = tree_cpu()
    while True:
        time.sleep(_RESTS_S)
        now = tree_cpu()
        if now - before < _REST_SHARE * _RESTS_S:
            return before
        before = now


@contextmanager
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Open a browser of its own."""
    found = playwright.chromium.launch(
        executable_path=str(find_or_install()), args=[*ARGUMENTS, "--js-flags=--expose-gc"]
    )
    try:
        yield found
    finally:
        found.close()


def wheel(page: Page, key: str, steps: int) -> list[float]:
    """Priority the wheel over the middle of the page, in and out again; the times of the frames."""
    page.mouse.move(_SIZE["width"] * 0.6, _SIZE["height"] * 0.5)
    page.evaluate(FRAMES)
    if key:
        page.keyboard.down(key)
    for step in range(steps):
        page.mouse.wheel(0, -60 if step < steps / 2 else 60)
        page.wait_for_timeout(8)
    if key:
        page.keyboard.up(key)
    frames: list[float] = page.evaluate(NOTED)
    return frames


def heap(page: Page) -> float:
    """MB of objects and of arrays after collecting what is not used."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")
    return float(used["usedSize"] + used.get("backingStorageSize", 0)) / 1e6


def of_peer(playwright: Playwright, peer: Peer, trace: Path, slices: int) -> None:
    """Print what a peer takes to open the trace and to zoom."""
    with browser(playwright) as found, served(peer, trace) as address:
        page = found.new_page(viewport=_SIZE)
        begin, idle = time.perf_counter(), tree_cpu()
        try:
            page.goto(address + peer.path, timeout=PATIENCE_S[slices] * 1e3)
            page.wait_for_function(peer.opened, timeout=PATIENCE_S[slices] * 1e3)
        except Error:
            spent = tree_cpu() - idle
            print(
                f"  {peer.name:<16} not open after {PATIENCE_S[slices]} s (CPU {spent:.1f} s)",
                flush=True,
            )
            return
        wall = time.perf_counter() - begin
        opened = rested() - idle
        memory = heap(page)
        before = tree_cpu()
        frames = wheel(page, peer.zooms, STEPS)
        moved = tree_cpu() - before
        Took(peer.name, opened, wall, memory, moved / STEPS, frames).tell()


@dataclass(frozen=True)
class Took:
    """What one tool took: CPU and wall seconds to open, MB, CPU of a step of the wheel, frames."""

    name: str
    cpu: float
    wall: float
    memory: float
    step: float
    frames: list[float]
    more: str = ""

    def tell(self) -> None:
        """Print all of it."""
        apart = np.diff(self.frames)
        print(
            f"  {self.name:<16} open CPU {self.cpu:6.2f} s, wall {self.wall:6.2f} s{self.more}; "
            f"heap {self.memory:6.1f} MB; wheel CPU {self.step * 1e3:6.1f} ms a step, "
            f"frames median {np.median(apart):5.1f}, p95 {np.percentile(apart, 95):5.1f} ms; "
            f"{load()}",
            flush=True,
        )


class Opened:
    """Our view of a trace, in a page of its own."""

    def __init__(self, found: Browser, address: str) -> None:
        self.browser = found
        self.page = found.new_page(viewport=_SIZE)
        self.page.add_init_script(WATCH)
        self._address = f"{address}{_QUERY}"

    def open(self) -> None:
        """Wait until all detail is there."""
        self.page.goto(self._address)
        self.page.wait_for_function("() => window.whole", timeout=120_000)

    @property
    def times(self) -> tuple[float, float]:
        """Seconds from the first message to the first paint and to all detail."""
        first, whole = self.page.evaluate("() => [first - asked, whole - asked]")
        return float(first) / 1e3, float(whole) / 1e3

    def traced(self, task: Callable[[], Any]) -> Trace:
        """Trace the page while it moves."""
        self.browser.start_tracing(page=self.page, categories=TRACED)
        task()
        return Trace.read(self.browser.stop_tracing(), "tvmdbg begin", "tvmdbg end")


def ours(playwright: Playwright, address: str, read_cpu: float) -> None:
    """Print what our view takes."""
    firsts, wholes, cpus = [], [], []
    memory = 0.0
    for repeat in range(REPEATS):
        with browser(playwright) as found:
            view = Opened(found, address)
            idle = tree_cpu()
            view.open()
            cpus.append(rested() - idle)
            first, whole = view.times
            firsts.append(first)
            wholes.append(whole)
            memory = heap(view.page)
            if repeat == REPEATS - 1:
                before = tree_cpu()
                view.page.locator(".tvmdbg-timeline").first.focus()
                frames = wheel(view.page, "Control", STEPS)
                moved = tree_cpu() - before
                opened, wall = statistics.median(cpus), statistics.median(wholes)
                more = f" (and {read_cpu:.2f} s CPU to read it in Python)"
                Took("ours", opened, wall, memory, moved / STEPS, frames, more).tell()
                for name, found_s, promise in (
                    ("first paint", firsts, FIRST_S),
                    ("all detail", wholes, ALL_S),
                ):
                    middle = statistics.median(found_s)
                    spread = f"{min(found_s):.2f} … {max(found_s):.2f}, n={REPEATS}"
                    print(f"    {name} {middle:.2f} s ({spread}); {verdict(middle, promise)}")
                print(f"    memory {memory:.1f} MB; {verdict(memory, HEAP_MB)}")
                moves(view)
                questions(view)


def moves(view: Opened) -> None:
    """Print frame times of a zoom over the whole and of a pan."""
    page = view.page
    for name, move in (
        ("zoom", partial(wheel, page, "Control", 4 * STEPS)),
        ("pan", partial(page.evaluate, PAN, 3000)),
    ):
        frames: list[float] = []

        def noted(move: Callable[[], list[float]] = move, frames: list[float] = frames) -> None:
            frames.extend(move())

        page.locator(".tvmdbg-timeline").first.focus()
        trace = view.traced(noted)
        per, between = trace.per_frame, np.diff(frames)
        p95, apart = np.percentile(per, 95), np.percentile(between, 95)
        print(
            f"    {name:<4} script median {np.median(per):4.1f}, p95 {p95:4.1f}, most "
            f"{per.max():5.1f} ms ({verdict(p95, SCRIPT_MS)}); frames p95 {apart:5.1f}, most "
            f"{between.max():5.1f} ms (at load < 1 {verdict(apart, INTERVAL_MS)}); {load()}",
            flush=True,
        )


def questions(view: Opened) -> None:
    """Print what a move of the pointer takes with all it shows, and a range of the whole."""
    view.page.locator(".tvmdbg-timeline").first.focus()
    trace = view.traced(lambda: view.page.evaluate(HOVER, 200))
    per = trace.per_frame
    print(
        f"    hover, hit test and all it shows: script median {np.median(per):.2f}, "
        f"p95 {np.percentile(per, 95):.2f} ms a move; {load()}"
    )
    sums, alls, scripts = [], [], []
    for _ in range(AREAS):
        took: list[float] = []

        def ask(took: list[float] = took) -> None:
            took.extend(view.page.evaluate(AREA))

        trace = view.traced(ask)
        sums.append(took[0])
        alls.append(took[1])
        scripts.append(sum(ms for _, ms in trace.scripts))
    middle = statistics.median(sums)
    print(
        f"    area of the whole: count and busy share {middle:.1f} ms "
        f"({min(sums):.1f} … {max(sums):.1f}, n={AREAS}); {verdict(middle, AREA_MS)}; "
        f"sums of Python after {statistics.median(alls):.0f} ms, table too: script "
        f"{statistics.median(scripts):.1f} ms; {load()}",
        flush=True,
    )


def main() -> None:
    """Print all figures."""
    machine()
    sizes = [int(each) for each in sys.argv[1:]] or list(SIZES)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        for slices in sizes:
            compare(playwright, Path(folder) / f"{slices}.json", slices)


def compare(playwright: Playwright, trace: Path, slices: int) -> None:
    """Print the figures of all tools with one trace."""
    write_trace(trace, slices)
    print(f"{slices:,} slices, {trace.stat().st_size / 1e6:.1f} MB of JSON")
    repeats = 1 if slices >= max(SIZES) else 3
    measure("json.load", lambda: json.loads(trace.read_bytes()), repeats)
    gc.collect()
    reading = measure("tvmdbg.open", lambda: tvmdbg.open(trace), repeats)
    run = tvmdbg.open(trace)
    assert run.timeline is not None
    timeline = run.timeline
    limit(measure("run.timeline.rows", lambda: timeline.rows, 1), 0.5)
    with serve(run) as address:
        ours(playwright, address, reading.cpu_median)
    for peer in peers():
        of_peer(playwright, peer, trace, slices)


if __name__ == "__main__":
    main()
