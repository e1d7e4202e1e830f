"""Steps of the inspector's index slider, from the key to the painted picture, in JupyterLab.

Promise: a median of 33 ms, and 60 ms for 95 of 100, on a local server, at a level whose cells the
kernel has (on a quiet machine of two cores). Beside it the round trip alone, with short answers
filled up to a segment of the loopback interface, as the kernel does for pages of its own machine,
and without that.
``python -m benchmarks.tensor_slider``
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from playwright.sync_api import sync_playwright

from benchmarks.measure import machine
from tests.chromium import ARGUMENTS, find_or_install
from tests.ui.notebooks import Notebook
from tests.ui.servers import jupyter
from tvmdbg_widgets.formats.tvm.params_writer import write_params

if TYPE_CHECKING:
    from playwright.sync_api import Page

KEY = "node_0____topo-index:0____output-num:0"
STEPS = 50
SHAPE = (1, 2 * STEPS, 512, 512)
MEDIAN, P95 = 33.0, 60.0

OPEN = """import anywidget
import tvmdbg_widgets as tvmdbg
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
Asking(run=run.model)"""
VIEW = "tvmdbg.TensorInspector(run, entry=(0, 0), axes=(2, 3))"
#: A picture is put onto its canvas when its tile has come, and seen with the next frame.
PAINTED = """() => {
  const put = CanvasRenderingContext2D.prototype.putImageData;
  CanvasRenderingContext2D.prototype.putImageData = function (...given) {
    put.apply(this, given);
    window.painted?.();
  };
  window.stepped = (slider) => new Promise((resolve) => {
    let begin = 0;
    window.painted = () => {
      if (begin) requestAnimationFrame(() => resolve(performance.now() - begin));
    };
    slider.addEventListener("keydown", () => { begin = performance.now(); }, { once: true });
  });
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


def told(what: str, took: list[float], promised: bool) -> None:
    """Print median and 95th percentile, beside what is promised."""
    median, p95 = statistics.median(took), float(np.percentile(took, 95))
    text = f"{what:<52} median {median:6.1f} ms   p95 {p95:6.1f} ms   n={len(took)}"
    if promised:
        verdict = "kept" if median <= MEDIAN and p95 <= P95 else "MISSED"
        text += f"; promised {MEDIAN:g} and {P95:g} ms: {verdict}"
    print(text, flush=True)


def steps(page: Page, notebook: Notebook, cell: int, key: str, count: int) -> list[float]:
    """Press a key on the slider so many times, each when the picture of the last one is seen."""
    view = notebook.view(cell, "tensor").wait()
    slider = view.root.locator('input[type="range"]').first
    slider.focus()
    took = []
    for _ in range(count):
        seen = page.evaluate_handle(
            "(slider) => ({ took: window.stepped(slider) })", slider.element_handle()
        )
        page.keyboard.press(key)
        took.append(float(page.evaluate("({ took }) => took", seen)))
        page.wait_for_timeout(30)
    return took


def main() -> None:
    """Print all times."""
    machine()
    with (
        tempfile.TemporaryDirectory() as home,
        sync_playwright() as playwright,
        jupyter("lab", Path(home)) as lab,
    ):
        values = np.random.default_rng(0).standard_normal(SHAPE, np.float32)
        write_params(
            lab.folder / "slider.params", {"node_0____topo-index:0____output-num:0": values}
        )
        browser = playwright.chromium.launch(
            executable_path=str(find_or_install()), args=list(ARGUMENTS)
        )
        page = browser.new_page(viewport={"width": 1200, "height": 2400})
        notebook = Notebook(page, lab, "slider.ipynb", [OPEN, VIEW, VIEW])
        notebook.run_all()
        page.wait_for_function("() => window.asking")
        page.evaluate(PAINTED)
        print(f"float32{list(SHAPE)}, {values.nbytes / 1e6:.0f} MB")
        new = steps(page, notebook, 1, "ArrowRight", STEPS)
        told("step to an index that was never seen", new, promised=False)
        cached = steps(page, notebook, 2, "ArrowRight", STEPS)
        told("step at a level that the kernel has", cached, promised=True)
        for near in (True, False):
            what = "filled up to a segment" if near else "as short as they are"
            took = page.evaluate(ROUND_TRIPS, [near, STEPS])
            told(f"round trip alone, answers {what}", took, promised=False)
        notebook.close()
        browser.close()


if __name__ == "__main__":
    main()
