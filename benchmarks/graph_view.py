"""Graphs of 1,000, 10,000 and 100,000 nodes in a view: opened, moved, folded; in Chromium.

Promises (quiet machine of two cores): 0.4, 0.8 and 2 s from the view's first message to its first
complete paint with a live server, nothing on the main thread for longer than 50 ms, 8 ms of script
a frame and 20 ms between two frames for 95 of 100 while it is moved, 100 MB of memory. In three
states: as it opens; all groups open, in frames; and flat, each node and parameter a box.

"CPU" of an open is that of all threads of the page from its first message on, until 1.5 s after its
first complete paint. Script, the longest task and "all of the thread" are CPU time of the main
thread; all from Chromium's own traces, of other opens than those that are timed. The time to open
and that between frames depend on what else runs.
Beside the times in Python ``json.loads`` of the same file, which nothing that reads JSON can
undercut by much. ``python -m benchmarks.graph_view [NODES …]``
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from playwright.sync_api import sync_playwright

import tvmdbg_widgets as tvmdbg
from benchmarks.graphs import network, residual_graph
from benchmarks.measure import limit, load, machine, measure, sized
from tests.chromium import ARGUMENTS, find_or_install
from tests.ui.host import page as host_page
from tests.ui.host import serve

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

#: Seconds to open; at 100,000 nodes it is also moved at several scales, and folded.
PROMISES = sized({1_000: 0.4, 10_000: 0.8, 100_000: 2.0}, {300: 0.4})
TASK_MS, SCRIPT_MS, INTERVAL_MS, HEAP_MB = 50.0, 8.0, 20.0, 100.0
REPEATS, MOVE_MS = sized((5, 3000), (1, 200))
#: Graph px to CSS px; None is the whole graph, in columns where it would be a thread.
SCALES = sized((1.0, 0.5, 0.2, 0.05, 0.01, None), (1.0, None))
STATES: dict[str, dict[str, Any]] = {
    "as it opens": {},
    "all groups open": {"open_groups": "all"},
    "flat": {"grouped": False, "fold_parameters": False},
}
TRACED = ["devtools.timeline", "disabled-by-default-devtools.timeline", "blink.user_timing"]
SCRIPTS = ("FireAnimationFrame", "EventDispatch", "TimerFire", "FunctionCall", "RunMicrotasks")

WATCH = """(() => {
  const ask = window.fetch;
  window.fetch = (...a) => {
    if (!window.asked) {
      window.asked = performance.now();
      performance.mark("tvmdbg asked");
    }
    return ask(...a);
  };
  const drawn = ({ detail }) => {
    window.view = detail;
    window.first ||= performance.now();
    if (!detail.isArranging) {
      window.whole ||= performance.now();
      window.heard?.();
    }
  };
  document.addEventListener("tvmdbg:drawn", drawn, true);
  window.arranged = () => new Promise((resolve) => {
    const before = window.view.placed;
    const begin = performance.now();
    window.heard = () => {
      if (window.view.placed === before) return;
      window.heard = null;
      resolve(performance.now() - begin);
    };
  });
})()"""
MOVES = """async ([kind, ms]) => {
  const { canvas } = window.view.stage;
  const box = canvas.getBoundingClientRect();
  const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
  const pointer = (type, dx, dy) => canvas.dispatchEvent(new PointerEvent(type, {
    pointerId: 1, isPrimary: true, bubbles: true, clientX: x + dx, clientY: y + dy,
  }));
  pointer("pointerdown", 0, 0);
  if (kind === "zoom") pointer("pointerup", 9, 9);
  const frames = [];
  performance.mark("tvmdbg begin");
  const begin = performance.now();
  await new Promise((done) => {
    const frame = (now) => {
      frames.push(now);
      performance.mark("tvmdbg frame");
      const at = (performance.now() - begin) / ms;
      if (at >= 1) return done();
      const swing = Math.sin(at * 4 * Math.PI);
      if (kind === "pan") pointer("pointermove", 25 * swing, 400 * swing);
      else {
        const deltaY = 25 * Math.cos(at * 4 * Math.PI);
        const zoom = { deltaY, bubbles: true, cancelable: true, clientX: x, clientY: y };
        canvas.dispatchEvent(new WheelEvent("wheel", zoom));
      }
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  performance.mark("tvmdbg end");
  if (kind === "pan") pointer("pointerup", 0, 0);
  return frames;
}"""
LOOK = """async (scale) => {
  const { stage, commands } = window.view;
  if (scale === null) {
    const wrapped = stage.isThread && window.arranged();
    commands.all();
    await wrapped;
  } else {
    const { bounds } = window.view.placed.layout;
    const [x, y] = [(bounds.minX + bounds.maxX) / 2, (bounds.minY + bounds.maxY) / 2];
    stage.look({ x, y, scale });
  }
  await new Promise((rested) => setTimeout(rested, 600));
  return stage.camera.scale;
}"""


def verdict(found: float, promise: float) -> str:
    """Say whether a promise is kept."""
    return f"promised {promise:g}: {'kept' if found <= promise else 'MISSED'}"


@dataclass(frozen=True)
class Trace:
    """What the main thread of one page did between two marks."""

    #: CPU milliseconds of each task, and of all threads of the process together.
    tasks: list[float]
    process: float
    #: Begin and CPU milliseconds of each script, and the begin of each frame.
    scripts: list[tuple[float, float]]
    frames: list[float]

    @classmethod
    def read(cls, trace: bytes, begin: str, end: str | None = None) -> Trace:
        """Read Chromium's trace from one mark to another, or to its end."""
        events = json.loads(trace)["traceEvents"]
        marks = {each["name"]: each for each in events if each.get("cat") == "blink.user_timing"}
        thread = marks[begin]["pid"], marks[begin]["tid"]
        first = marks[begin]["ts"]
        last = marks[end]["ts"] if end else float("inf")
        own = [
            each
            for each in events
            if (each["pid"], each["tid"]) == thread
            and each["ph"] == "X"
            and first <= each["ts"] <= last
        ]
        tasks = [_cpu(each) for each in own if each["name"] == "RunTask"]
        process = sum(
            _cpu(each)
            for each in events
            if each["name"] == "RunTask" and each["pid"] == thread[0] and each["ts"] >= first
        )
        scripts = sorted((e for e in own if e["name"] in SCRIPTS), key=lambda each: each["ts"])
        outer, until = [], 0.0
        for each in scripts:
            if each["ts"] >= until:
                outer.append(each)
                until = each["ts"] + each.get("dur", 0)
        frames = [each["ts"] / 1e3 for each in events if each["name"] == "tvmdbg frame"]
        return cls(tasks, process, [(each["ts"] / 1e3, _cpu(each)) for each in outer], frames)

    @property
    def longest(self) -> float:
        """CPU milliseconds of the longest task."""
        return max(self.tasks, default=0.0)

    @property
    def per_frame(self) -> np.ndarray:
        """CPU milliseconds of script from one frame to the next."""
        begins, took = np.array(self.scripts).reshape(-1, 2).T
        row = np.searchsorted(self.frames, begins, "right")
        return np.bincount(row, took, len(self.frames))[1:]


def _cpu(event: dict[str, Any]) -> float:
    return float(event.get("tdur", event.get("dur", 0))) / 1e3


class Opened:
    """One graph in one state, opened in a page of its own."""

    def __init__(self, browser: Browser, address: str, traits: dict[str, Any]) -> None:
        self._browser = browser
        self.page: Page = browser.new_page(viewport={"width": 1200, "height": 640})
        self.page.add_init_script(WATCH)
        query = {f"graph.{name}": [json.dumps(value)] for name, value in traits.items()}
        query |= {"views": ["graph"], "width": ["1180"], "graph.height": ["520"]}

        def give(route: Route) -> None:
            route.fulfill(body=host_page(query), content_type="text/html; charset=utf-8")

        self.page.route(address, give)
        self._address = address

    def open(self) -> None:
        """Wait for the first complete paint."""
        self.page.goto(self._address)
        self.page.wait_for_function("() => window.whole", timeout=120_000)

    def times(self) -> tuple[float, float]:
        """Seconds from the first message to the first picture, and to the whole one."""
        first, whole = self.page.evaluate("() => [first - asked, whole - asked]")
        return float(first) / 1e3, float(whole) / 1e3

    def traced(self, task: Callable[[], Any], begin: str, end: str | None = None) -> Trace:
        """Trace the page while it does something."""
        self._browser.start_tracing(page=self.page, categories=TRACED)
        task()
        return Trace.read(self._browser.stop_tracing(), begin, end)

    def heap(self) -> float:
        """MB of objects and of arrays after collecting what is not used."""
        session = self.page.context.new_cdp_session(self.page)
        session.send("HeapProfiler.collectGarbage")
        used = session.send("Runtime.getHeapUsage")
        return float(used["usedSize"] + used.get("backingStorageSize", 0)) / 1e6

    def pressed(self, key: str) -> float:
        """Seconds from a key to the new picture that it makes."""
        self.page.evaluate("() => { window.took = window.arranged(); }")
        self.page.locator(".tvmdbg-graph").first.focus()
        self.page.keyboard.press(key)
        took = float(self.page.evaluate("() => window.took")) / 1e3
        self.page.wait_for_timeout(600)
        return took


def opened(browser: Browser, address: str, traits: dict[str, Any], promise: float) -> None:
    """Print the times to open, the longest task and the memory then."""
    firsts, wholes, cpus, tasks = [], [], [], []
    heap = 0.0
    for _ in range(REPEATS):
        view = Opened(browser, address, traits)
        view.open()
        first, whole = view.times()
        firsts.append(first)
        wholes.append(whole)
        heap = view.heap()
        view.page.close()
    for _ in range(3):
        view = Opened(browser, address, traits)

        def run(view: Opened = view) -> None:
            view.open()
            view.page.wait_for_timeout(1500)

        trace = view.traced(run, "tvmdbg asked")
        tasks.append(trace.longest)
        cpus.append(trace.process / 1e3)
        view.page.close()
    middle, task = statistics.median(wholes), statistics.median(tasks)
    spread = f"{min(wholes):.2f} … {max(wholes):.2f}, n={REPEATS}"
    print(f"    open {middle:.2f} s ({spread}); {verdict(middle, promise)}; {load()}")
    print(
        f"    first picture {statistics.median(firsts):.2f} s; CPU {statistics.median(cpus):.2f} s"
    )
    spread = f"{min(tasks):.0f} … {max(tasks):.0f}, n=3"
    print(f"    longest task {task:.0f} ms CPU ({spread}); {verdict(task, TASK_MS)}")
    print(f"    memory {heap:.0f} MB; {verdict(heap, HEAP_MB)}", flush=True)


def moved(view: Opened, scale: float | None) -> None:
    """Print frame times of a pan and of a zoom."""
    at = view.page.evaluate(LOOK, scale)
    for kind in ("pan", "zoom"):
        frames: list[float] = []

        def move(kind: str = kind, frames: list[float] = frames) -> None:
            frames.extend(view.page.evaluate(MOVES, [kind, MOVE_MS]))

        trace = view.traced(move, "tvmdbg begin", "tvmdbg end")
        script = trace.per_frame
        between = np.diff(frames)
        p95, apart = np.percentile(script, 95), np.percentile(between, 95)
        what = "all" if scale is None else ""
        print(
            f"    {kind:<4} at {at:<6.2g}{what:<4} script median {np.median(script):4.1f}, "
            f"p95 {p95:4.1f}, most {script.max():5.1f} ms ({verdict(p95, SCRIPT_MS)}); "
            f"all of the thread {sum(trace.tasks) / len(frames):4.1f} ms a frame; "
            f"frames p95 {apart:5.1f}, most {between.max():5.1f} ms "
            f"(at load < 1 {verdict(apart, INTERVAL_MS)}); {load()}",
            flush=True,
        )


def folded(browser: Browser, address: str) -> None:
    """Print the times to open and close groups."""
    view = Opened(browser, address, {})
    view.open()
    view.page.wait_for_timeout(1000)
    view.page.evaluate("() => view.folding.select(view.placed.scene.group.find((g) => g >= 0))")
    view.page.wait_for_timeout(600)
    print("    one group opened and closed again, all opened, all closed:")
    for name, key in (("open one", "Enter"), ("close it", "Enter")):
        print(f"    {name}: {view.pressed(key):.2f} s; {load()}")
    view.page.keyboard.press("Escape")
    for name, key in (("open all", "Shift+X"), ("close all", "x")):

        def press(key: str = key, name: str = name) -> None:
            view.page.evaluate("() => performance.mark('tvmdbg begin')")
            print(f"    {name}: {view.pressed(key):.2f} s; {load()}")

        longest = view.traced(press, "tvmdbg begin").longest
        print(f"    longest task {longest:.0f} ms CPU; {verdict(longest, TASK_MS)}", flush=True)
    view.page.close()


def read(nodes: int, text: str) -> Any:
    """Print what it takes to read the graph in Python, and return the run."""
    run = tvmdbg.open(text)
    assert run.graph
    print(f"{run.graph.num_nodes} nodes, {run.graph.num_edges} edges, {len(text):,} bytes")
    measure("json.loads", lambda: json.loads(text))
    limit(measure("tvmdbg.open", lambda: tvmdbg.open(text)), PROMISES[nodes])
    return run


def states(run: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each state with its traits."""
    for name, traits in STATES.items():
        every = {"open_groups": list(range(len(run.groups)))} if "open_groups" in traits else {}
        yield name, {**traits, **every}


def main() -> None:
    """Print all times."""
    machine()
    sizes = [int(each) for each in sys.argv[1:]] or list(PROMISES)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(find_or_install()), args=list(ARGUMENTS)
        )
        for nodes in sizes:
            run = read(nodes, network(nodes))
            with serve(run) as address:
                for name, traits in states(run):
                    print(f"  {name}")
                    opened(browser, address, traits, PROMISES[nodes])
                    view = Opened(browser, address, traits)
                    view.open()
                    view.page.wait_for_timeout(1500)
                    for scale in SCALES if nodes == max(PROMISES) else (1.0, None):
                        moved(view, scale)
                    view.page.close()
                if nodes == max(PROMISES):
                    print("  folded")
                    folded(browser, address)
            if nodes < max(PROMISES):
                run = read(nodes, residual_graph(nodes))
                with serve(run) as address:
                    print("  equal blocks, flat")
                    opened(browser, address, STATES["flat"], PROMISES[nodes])
        browser.close()


if __name__ == "__main__":
    main()
