"""What importing the package costs beyond numpy, and what it does not import.

Promise: at most 0.1 s CPU beyond numpy; networkx, bokeh, pandas, anywidget only on first use.
``python -m benchmarks.import_time``
"""

from __future__ import annotations

import subprocess
import sys

from benchmarks.measure import Times, machine, measure

PROMISE = 0.1
LATE = ("networkx", "bokeh", "pandas", "anywidget", "ipywidgets")
OPEN = "import tvmdbg_widgets as t; t.open(t.samples.resnet20_cifar)"


def run(code: str) -> str:
    """Run a statement in a fresh interpreter."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main() -> None:
    """Print the times and what was imported."""
    machine()
    times: list[Times] = [
        measure(code, lambda code=code: run(code), 9)
        for code in (
            "pass",
            "import numpy",
            "import numpy, tvmdbg_widgets",
            f"import numpy; {OPEN}",
        )
    ]
    beyond = times[2].cpu_median - times[1].cpu_median
    verdict = "kept" if beyond <= PROMISE else "MISSED"
    print(f"  import beyond numpy: {beyond:.3f} s CPU; promised {PROMISE} s: {verdict}")
    print(f"  open a dump beyond numpy: {times[3].cpu_median - times[1].cpu_median:.3f} s CPU")
    late = run(f"import sys; {OPEN}; print([m for m in {LATE!r} if m in sys.modules])").strip()
    print(f"  imported after opening a dump, of {', '.join(LATE)}: {late}")


if __name__ == "__main__":
    main()
