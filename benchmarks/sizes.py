"""Bytes of the views' code as it is sent, once a page, and of each view in a saved notebook.

Promise: a view's code at most 60 KB, the Debugger's 150 KB; one view's output at most 100 KB.
``python -m benchmarks.sizes``
"""

from __future__ import annotations

import json

import tvmdbg_widgets as tvmdbg
from tvmdbg_widgets.engine import STATIC, VIEWS, code
from tvmdbg_widgets.widgets.run_model import model_of

BUNDLE, DEBUGGER, OUTPUT = 60_000, 150_000, 100_000


def told(what: str, size: int, promise: int | None = None) -> None:
    """Print one size beside its promise."""
    verdict = (
        ""
        if promise is None
        else f"; promised {promise:,}: {'kept' if size <= promise else 'MISSED'}"
    )
    print(f"{what:<44}{size:>12,} bytes{verdict}")


def main() -> None:
    """Print all sizes."""
    for view in VIEWS:
        told(f"code of {view}", len(code(view)), DEBUGGER if view == "debugger" else BUNDLE)
    told("loader, in the state of every view", (STATIC / "loader.js").stat().st_size)
    for sample in (tvmdbg.samples.resnet20_cifar, tvmdbg.samples.resnet20_cifar_fp16_overflow):
        run = tvmdbg.open(sample)
        run.session.select(run.top(1)[0].node)
        for name in ("GraphView", "TensorInspector", "Flamechart", "MemoryView", "Debugger"):
            view = getattr(tvmdbg, name)
            shown = view(run)
            data, _ = shown._repr_mimebundle_()
            told(f"output of {view.__name__}, {sample.name}", len(json.dumps(data)), OUTPUT)
            state = shown.get_state()
            told(
                "  its state, where a user saves widget state", len(json.dumps(state, default=str))
            )
        told("  the run's own state", len(json.dumps(model_of(run.facts).get_state(), default=str)))


if __name__ == "__main__":
    main()
