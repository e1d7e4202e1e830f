"""The linked views of a run in one figure."""

from __future__ import annotations

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.figures.engine import ToDraw
from tvmdbg_widgets.figures.graph import MOST_BYTES, MOST_SAVED_BYTES, graph_options
from tvmdbg_widgets.figures.options import (
    PANELS,
    DebuggerOptions,
    Redaction,
    TensorOptions,
    TimelineOptions,
)
from tvmdbg_widgets.figures.tensor import drawing_options, headline
from tvmdbg_widgets.figures.timeline import timeline_text
from tvmdbg_widgets.model.base.options import drawn

#: SVG bytes of a requested figure, and of one in a saved notebook.
_MOST_BYTES, _MOST_SAVED_BYTES = 2 * MOST_BYTES, 42 * 1024


def debugger_to_draw(
    run: RunFacts, options: DebuggerOptions, *, saved: bool, redaction: Redaction | None
) -> ToDraw:
    """Return what the figure of the linked views takes: findings, graph, tensor, timeline."""
    del redaction
    most = MOST_SAVED_BYTES if saved else MOST_BYTES
    tensor = drawing_options(run, options.of_view(TensorOptions), saved=saved)
    texts = {
        "graph": f"{run.title}: {run.graph!r}",
        "tensor": headline(run, tensor["entry"]),
        "timeline": timeline_text(run, options),
    }
    has_findings = run.known_findings is not None and len(run.known_findings) > 0
    known = [name for name in PANELS if name in texts or has_findings]
    shown = [name for name in known if name not in options.collapsed] or ["graph"]
    given = {
        "graph": graph_options(run, options, most_bytes=most),
        "tensor": tensor,
        "timeline": drawn(options, TimelineOptions),
        "findings": has_findings,
        "shown": shown,
        "texts": texts,
        "most": _MOST_SAVED_BYTES if saved else _MOST_BYTES,
    }
    return ToDraw(given, lambda: "\n\n".join(texts[name] for name in shown if name in texts))
