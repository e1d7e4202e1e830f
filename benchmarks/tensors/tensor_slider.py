"""Steps of the inspector's index slider in JupyterLab, from the input to the frame that shows it.

Promise: a median of 33 ms, and 60 ms for 95 of 100, on a local server for planes that are kept (on
a quiet machine of two cores). Four ways: one step after the other through what was never seen,
where the page asks for what comes next before it is wanted; back again, so that the page has every
plane; jumps to planes that nobody has; and jumps to those whose cells the kernel has. Beside them
the page's own time a step, and the round trip alone, with short answers filled up to a segment of
the loopback interface, as the kernel does for pages of its own machine, and without that.
``python -m benchmarks.tensors.tensor_slider``
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from playwright.sync_api import sync_playwright

from benchmarks.measure import load, machine, sized
from tests.chromium import ARGUMENTS, find_or_install
from tests.make.params import write_params
from tests.ui.notebooks import Notebook
from tests.ui.servers import jupyter

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession, Page

KEY = "node_0____topo-index:0____output-num:0"
STEPS = sized(50, 4)
SHAPE = (1, 4 * STEPS, *sized((512, 512), (64, 64)))
#: Between two jumps, so that no plane lies beside the one before.
APART = 3
MEDIAN, P95 = 33.0, 60.0
REST_MS = 60

OPEN = """import anywidget
import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.widgets.run_model import model_of
run = tvmdbg.open("slider.params")
class Asking(anywidget.AnyWidget):
    _esm = '''export default { async render({ model, el, host }) {
      const run = await host.getModel(model.get("run"));
      let serial = 0;
      window.asking = (question) => new Promise((resolve, reject) => {
        const id = `asking${++serial}`;
        const heard = (reply) => {
          if (reply.id !== id) return;
          run.off("msg:custom", heard);
          if (reply.error) reject(new Error(reply.error));
          else resolve();
        };
        run.on("msg:custom", heard);
        run.send({ id, kind: "tensor", client: "asking", ...question });
      });
      el.textContent = "asks";
    }};'''
    run = anywidget.WidgetTrait().tag(sync=True)
Asking(run=model_of(run.facts))"""
VIEW = "tvmdbg.TensorInspector(run, entry=(0, 0), axes=(2, 3))"
#: Each tile is drawn from a canvas of its own: another one than before is another picture.
PAINTED = """() => {
  const draw = CanvasRenderingContext2D.prototype.drawImage;
  let last = null;
  CanvasRenderingContext2D.prototype.drawImage = function (image, ...place) {
    draw.call(this, image, ...place);
    if (image !== last) window.painted?.();
    last = image;
  };
  window.stepped = (slider, event) => new Promise((resolve) => {
    let begin = 0;
    window.painted = () => {
      if (!begin) return;
      window.painted = null;
      requestAnimationFrame(() => resolve(performance.now() - begin));
    };
    const noted = { once: true, capture: true };
    slider.addEventListener(event, () => { begin = performance.now(); }, noted);
  });
  window.jumped = (slider, index) => {
    const took = window.stepped(slider, "input");
    slider.value = index;
    slider.dispatchEvent(new Event("input"));
    return took;
  };
}"""
ROUND_TRIPS = """async ([near, steps]) => {
  const took = [];
  for (let step = 0; step < steps; step += 1) {
    const question = { entry: [0, 0], layout: "", axes: [2, 3], index: [0, step, 0, 0] };
    const begin = performance.now();
    await window.asking({ ...question, rows: 64, cols: 64, exact: true, near });
    took.push(performance.now() - begin);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return took;
}"""


def told(what: str, took: list[float], promised: bool, busy: float | None = None) -> None:
    """Print median and 95th percentile, beside what is promised, and the page's time a step."""
    median, p95 = statistics.median(took), float(np.percentile(took, 95))
    text = f"{what:<52} median {median:6.1f} ms   p95 {p95:6.1f} ms   n={len(took)}   {load()}"
    if busy is not None:
        text += f"   page {busy:.1f} ms"
    if promised:
        verdict = "kept" if median <= MEDIAN and p95 <= P95 else "MISSED"
        text += f"; promised {MEDIAN:g} and {P95:g} ms: {verdict}"
    print(text, flush=True)


class Slider:
    """The slider of one view, moved as a user would."""

    def __init__(self, page: Page, notebook: Notebook, cell: int) -> None:
        view = notebook.view(cell, "tensor").wait()
        self._page = page
        self._slider = view.root.locator('input[type="range"]').first.element_handle()
        self._session: CDPSession = page.context.new_cdp_session(page)
        self._session.send("Performance.enable")

    def steps(self, what: str, key: str, count: int, *, promised: bool) -> None:
        """Press a key so many times, each when the picture of the last one is seen."""
        self._slider.focus()
        took = []
        before = self._busy()
        for _ in range(count):
            seen = self._page.evaluate_handle(
                "(slider) => ({ took: window.stepped(slider, 'keydown') })", self._slider
            )
            self._page.keyboard.press(key)
            took.append(float(self._page.evaluate("({ took }) => took", seen)))
            self._page.wait_for_timeout(REST_MS)
        told(what, took, promised, (self._busy() - before) / count)

    def jumps(self, what: str, indices: range, *, promised: bool) -> None:
        """Put it to one index after the other."""
        took = []
        before = self._busy()
        for index in indices:
            jump = "([slider, index]) => window.jumped(slider, index)"
            took.append(float(self._page.evaluate(jump, [self._slider, index])))
            self._page.wait_for_timeout(REST_MS)
        told(what, took, promised, (self._busy() - before) / len(indices))

    def _busy(self) -> float:
        """Milliseconds of script, style and layout of the whole page so far."""
        found = self._session.send("Performance.getMetrics")["metrics"]
        parts = ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")
        return 1e3 * sum(each["value"] for each in found if each["name"] in parts)


def main() -> None:
    """Print all times."""
    machine()
    with (
        tempfile.TemporaryDirectory() as home,
        sync_playwright() as playwright,
        jupyter("lab", Path(home)) as lab,
    ):
        values = np.random.default_rng(0).standard_normal(SHAPE, np.float32)
        write_params(lab.folder / "slider.params", {KEY: values})
        browser = playwright.chromium.launch(
            executable_path=str(find_or_install()), args=list(ARGUMENTS)
        )
        page = browser.new_page(viewport={"width": 1200, "height": 2400})
        notebook = Notebook(page, lab, "slider.ipynb", [OPEN, VIEW, VIEW])
        notebook.run_all()
        page.wait_for_function("() => window.asking")
        page.evaluate(PAINTED)
        print(f"float32{list(SHAPE)}, {values.nbytes / 1e6:.0f} MB")
        first, second = (Slider(page, notebook, cell) for cell in (1, 2))
        first.steps("through what was never seen", "ArrowRight", STEPS, promised=True)
        first.steps("back: the page has it", "ArrowLeft", STEPS, promised=True)
        far = range(STEPS + 2 * APART, len(values[0]), APART)
        first.jumps("jumps: nobody has it", far, promised=False)
        second.jumps("jumps: the kernel has it", far, promised=False)
        for near in (True, False):
            what = "filled up to a segment" if near else "as short as they are"
            took = page.evaluate(ROUND_TRIPS, [near, STEPS])
            told(f"round trip alone, answers {what}", took, promised=False)
        notebook.close()
        browser.close()


if __name__ == "__main__":
    main()
