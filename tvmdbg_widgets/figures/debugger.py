"""The linked views of a run in one figure."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from tvmdbg_widgets.analysis.facts import RunFacts
from tvmdbg_widgets.answers.tensor import Redact
from tvmdbg_widgets.figures.graph import (
    MOST_BYTES,
    MOST_SAVED_BYTES,
    GraphFigureOptions,
    graph_options,
)
from tvmdbg_widgets.figures.options import PARTS, TensorFigureOptions
from tvmdbg_widgets.figures.raster import Figure
from tvmdbg_widgets.figures.run_figure import RunFigure
from tvmdbg_widgets.figures.tensor import drawing_options, headline
from tvmdbg_widgets.figures.timeline import TimelineFigureOptions, timeline_text
from tvmdbg_widgets.model.base.choice import one_of
from tvmdbg_widgets.model.findings import Findings

#: SVG bytes of a requested figure, and of one in a saved notebook.
_MOST_BYTES, _MOST_SAVED_BYTES = 2 * MOST_BYTES, 42 * 1024


_FINDINGS = 5


@dataclass(frozen=True)
class DebuggerOptions:
    """Options of the three views; ``hidden`` names the collapsed ones."""

    graph: GraphFigureOptions = field(default_factory=GraphFigureOptions)
    tensor: TensorFigureOptions = field(default_factory=TensorFigureOptions)
    timeline: TimelineFigureOptions = field(default_factory=TimelineFigureOptions)
    hidden: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no debugger can fold away."""
        for part in self.hidden:
            one_of("collapsed", part, PARTS)


def debugger_figure(
    run: RunFacts,
    options: DebuggerOptions | None = None,
    *,
    findings: Findings | None = None,
    width: float = 720,
    theme: str = "light",
    saved: bool = False,
    redact: Redact | None = None,
) -> Figure:
    """Draw graph, one tensor and timeline of a run, stacked."""
    if options is None:
        timed = run.timeline is not None
        options = DebuggerOptions(GraphFigureOptions(color_by="time" if timed else "kind"))
    most = MOST_SAVED_BYTES if saved else MOST_BYTES
    tensor = drawing_options(run, options.tensor, saved=saved)
    views = {
        "graph": RunFigure(
            run,
            "graph",
            (),
            {"text": f"{run.title}: {run.graph!r}"},
            graph_options(run, options.graph, most_bytes=most),
        ),
        "tensor": RunFigure(run, "tensor", (), {"text": headline(run, tensor["entry"])}, tensor),
        "timeline": RunFigure(
            run,
            "timeline",
            (),
            {"text": timeline_text(run, options.timeline)},
            asdict(options.timeline),
        ),
    }
    listed = findings if findings is not None and len(findings) else None
    known = [name for name in PARTS if name in views or listed is not None]
    shown = [name for name in known if name not in options.hidden] or ["graph"]
    description: dict[str, Any] = {"view": "debugger", "title": run.title}
    if listed is not None:
        description["findings"] = _described(listed)
    return RunFigure(
        run,
        "debugger",
        (),
        {
            "views": {
                name: {"view": view.view, "data": view.request_data, "options": view.options}
                for name, view in views.items()
            },
            "findings": None if listed is None else _findings(run, listed),
            "shown": shown,
            "most": _MOST_SAVED_BYTES if saved else _MOST_BYTES,
            "text": "\n\n".join(str(views[name].data["text"]) for name in shown if name in views),
        },
        replies=lambda: {
            kind: reply
            for view in reversed(views.values())
            for kind, reply in view.answered().items()
        },
        description=description | {name: view.description for name, view in views.items()},
        redact=redact,
    ).figure(width=width, theme=theme)


def _findings(run: RunFacts, findings: Findings) -> dict[str, Any]:
    first, rest = findings[:_FINDINGS], max(0, len(findings) - _FINDINGS)
    more = f" and {rest} more" if rest else ""
    listed = [f"{run.title}: findings", *(f"  {finding}" for finding in first)]
    return {
        "title": f"Findings of {run.title}",
        "detail": f"the first {len(first)}{more}" if rest else "",
        "rows": [
            {
                "severity": finding.severity.value,
                "text": f"{finding.title} ({finding.confidence} confidence)",
            }
            for finding in first
        ],
        "text": "\n".join(listed) + more,
    }


def _described(findings: Findings) -> dict[str, Any]:
    return {
        "findings": [
            {"rule": finding.rule, "severity": finding.severity.value, "title": finding.title}
            for finding in findings[:_FINDINGS]
        ],
        "left_out": max(0, len(findings) - _FINDINGS),
    }
