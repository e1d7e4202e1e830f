"""Figures drawn by the views' own code: what starting the engine and handing over data take.

Promises: reading and compiling all of the views' code takes at most 0.1 s CPU in a fresh process;
100,000 rows of 6 columns are handed over in at most 0.1 s, and in a fifth of what they take as
lists of JSON. 5,000 marks are drawn for light and dark in at most 0.15 s.
``python -m benchmarks.engine``
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Times, machine, measure, sized
from tvmdbg_widgets import engine as host
from tvmdbg_widgets.answers.tensor import Reply
from tvmdbg_widgets.figures import engine
from tvmdbg_widgets.figures.raster import Figure

ROOT = Path(__file__).parents[1]
ROWS = sized(100_000, 1_000)
MARKS = sized(5_000, 50)
START, HAND_OVER, FASTER, DRAW = 0.1, 0.1, 5.0, 0.15
IMPORT = "from tvmdbg_widgets import engine as host"


def columns(rows: int) -> dict[str, Any]:
    """Return columns as a tuning log has them."""
    rng = np.random.default_rng(0)
    return {
        "task": rng.integers(0, 30, rows).astype(np.int32),
        "cost": rng.lognormal(size=rows),
        "error": rng.integers(0, 8, rows).astype(np.uint8),
        "time": np.cumsum(rng.random(rows)),
        "round": np.arange(rows, dtype=np.int32) // 64,
        "best": rng.random(rows),
    }


def bundle(code: str, folder: Path) -> Path:
    """Bundle TypeScript that imports from ``js/src``, within promises of its own."""
    path = folder / "engine.js"
    options = ["--bundle", "--format=iife", "--target=es2022", "--supported:async-await=false"]

    def built(code: str, name: str) -> str:
        command = [ROOT / "node_modules/.bin/esbuild", *options, f"--global-name={name}"]
        done = subprocess.run(
            [*command, "--loader=ts"],
            input=code,
            cwd=ROOT / "js/src",
            check=True,
            capture_output=True,
            encoding="utf-8",
        )
        return done.stdout

    promises = built('export * from "./engine/promises.ts";', "promises")
    around = f"{promises} var {{ Promise }} = promises; {built(code, 'tvmdbgEngine')}"
    path.write_text(f"var tvmdbgEngine = (() => {{ {around} return tvmdbgEngine; }})();", "utf-8")
    return path


MAKER = """
import { drawn } from "./engine/engine.ts";
export { fail, goOn, tell } from "./engine/engine_host.ts";
const maker = async (request: any) => {
  const rows = await request.client.ask("rows");
  return {
    height: 300,
    title: "",
    words: "",
    text: "",
    description: { title: "", rows: Object.keys(rows).length },
    paint(pen: any, theme: any) {
      pen.fillStyle = theme.accent;
      const { marks = 0 } = request.options;
      for (let i = 0; i < marks; i++) pen.fillRect(i * 0.13, (i * 37) % 290, 2, 2);
    },
  };
};
export const draw = (view: string, request: string) => drawn(view, maker, request);
"""


def started() -> float:
    """Return what reading and compiling the code takes in a fresh process, beyond the imports."""
    medians = [
        measure(code, fresh(code), 9).cpu_median for code in (IMPORT, f"{IMPORT}; host._engine()")
    ]
    return medians[1] - medians[0]


def fresh(code: str) -> Callable[[], object]:
    """Return what runs code in a fresh interpreter."""
    return lambda: subprocess.run([sys.executable, "-c", code], check=True)


def figure(data: list[Any], rows: dict[str, Any], marks: int) -> Figure:
    """Draw a figure that is handed lists with its options, and asks for columns."""

    def answer(_question: object) -> Reply:
        headers, buffer = host.pack(rows)
        return Reply({"columns": headers}, (buffer,))

    options = {"marks": marks, "lists": data}
    return engine.draw("view", "", options, answer, width=700, theme="auto")


def drawing(what: str, data: list[Any], rows: dict[str, Any], marks: int) -> Times:
    """Draw a figure several times."""
    return measure(what, lambda: figure(data, rows, marks))


def verdict(what: str, found: float, promised: float, unit: str = "s CPU") -> None:
    """Print a promise beside what was found; times are kept if smaller, ratios if larger."""
    kept = found <= promised if unit == "s CPU" else found >= promised
    print(f"  {what}: {found:.3f} {unit}; promised {promised}: {'kept' if kept else 'MISSED'}")


def main() -> None:
    """Print times and ratios."""
    machine()
    size = host.BUNDLE.stat().st_size
    verdict(f"start, {size / 1000:.0f} kB of code", started(), START)
    with tempfile.TemporaryDirectory() as folder:
        host.BUNDLE = bundle(MAKER, Path(folder))
        nothing = drawing("an empty figure", [], {}, 0).cpu_median
        table = columns(ROWS)
        handed = drawing(f"{ROWS:,} rows x 6 as columns", [], table, 0).cpu_median - nothing
        lists = drawing(
            "the same as lists", [each.tolist() for each in table.values()], {}, 0
        ).cpu_median
        drawn = drawing(f"{MARKS:,} marks, light and dark", [], {}, MARKS).cpu_median - nothing
        svg = figure([], {}, MARKS).svg
    verdict("handed over", handed, HAND_OVER)
    verdict("faster than as lists", (lists - nothing) / handed, FASTER, "times")
    verdict("drawn", drawn, DRAW)
    print(f"  their SVG: {len(svg) / 1000:.1f} kB")


if __name__ == "__main__":
    main()
