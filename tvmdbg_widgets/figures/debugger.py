"""Graph, tensor and timeline of a run as one figure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tvmdbg_widgets.figures.choices import one_of, usable_width
from tvmdbg_widgets.figures.figure import Figure
from tvmdbg_widgets.figures.graph.options import GraphOptions
from tvmdbg_widgets.figures.graph.request import MOST_BYTES, MOST_SAVED_BYTES, graph_request
from tvmdbg_widgets.figures.svg import MARGIN, SMALL, Panel, frame
from tvmdbg_widgets.figures.tensor.figure import most_pixels, tensor_request
from tvmdbg_widgets.figures.tensor.options import TensorOptions
from tvmdbg_widgets.figures.texts import width as text_width
from tvmdbg_widgets.figures.theme import Theme, theme_of
from tvmdbg_widgets.figures.timeline.figure import TimelineOptions, timeline_request

if TYPE_CHECKING:
    from tvmdbg_widgets.analysis.derived.derived import Derived
    from tvmdbg_widgets.figures.redaction import Redact
    from tvmdbg_widgets.model.verdicts.findings import Findings

PARTS = ("findings", "graph", "tensor", "timeline")
_MOST_SAVED_BYTES = 42 * 1024
_FINDINGS = 5


@dataclass(frozen=True)
class DebuggerOptions:
    """How the three views are shown; ``hidden`` are those that are folded away."""

    graph: GraphOptions = field(default_factory=GraphOptions)
    tensor: TensorOptions = field(default_factory=TensorOptions)
    timeline: TimelineOptions = field(default_factory=TimelineOptions)
    hidden: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no debugger can fold away."""
        for each in self.hidden:
            one_of("collapsed", each, PARTS)


def debugger_figure(
    run: Derived,
    options: DebuggerOptions | None = None,
    *,
    findings: Findings | None = None,
    width: float = 720,
    theme: str = "light",
    saved: bool = False,
    redact: Redact | None = None,
) -> Figure:
    """Draw the graph, one tensor and the timeline of a run below each other.

    Parameters
    ----------
    options : DebuggerOptions, optional
        The graph is colored by time where times are known, where left out.
    findings : Findings, optional
        The first of them are written above.
    width : float
        px.
    theme : str
        ``"light"``, ``"dark"`` or ``"auto"``.
    saved : bool
        Take no more than 40 KiB, as a saved notebook has room for.
    redact : callable, optional
        Why a tensor's values are not to be shown, where the figure is handed on.

    Raises
    ------
    ValueError
        A width or theme that is none.
    """
    wide, look = usable_width(width), theme_of(theme)
    if options is None:
        timed = run.timeline is not None
        options = DebuggerOptions(GraphOptions(color_by="time" if timed else "kind"))
    panels: dict[str, Panel] = {}
    if findings is not None and len(findings):
        panels["findings"] = _findings_panel(run, findings, wide, look)
    pixels = most_pixels(saved)
    tensor = tensor_request(run, options.tensor, most_pixels=pixels, redact=redact)
    panels["tensor"] = tensor.panel(wide, look)
    panels["timeline"] = timeline_request(run, options.timeline).panel(wide, look)
    room = MOST_BYTES
    if saved:
        taken = len(frame([*panels.values()], "", "").encode())
        shared = len(Panel(wide, "", "", look).svg.encode())
        room = min(MOST_SAVED_BYTES, _MOST_SAVED_BYTES - taken + shared)
    graph = graph_request(run, options.graph, most_bytes=room)
    panels["graph"] = graph.panel(wide, look)
    shown = [panels[name] for name in PARTS if name in panels and name not in options.hidden]
    shown = shown or [panels["graph"]]
    return Figure(
        frame(shown, f"Run {run.title}", ". ".join(panel.words for panel in shown)),
        "\n\n".join(panel.text for panel in shown),
        {
            "view": "debugger",
            "title": run.title,
            **{name: panel.description for name, panel in panels.items()},
        },
    )


def _findings_panel(run: Derived, findings: Findings, wide: float, look: Theme) -> Panel:
    """Write the first findings, their severity before each."""
    first = findings[:_FINDINGS]
    lines = [f"{each.title} ({each.confidence} confidence)" for each in first]
    rest = len(findings) - len(first)
    more = f" and {rest} more" if rest else ""
    panel = Panel(wide, f"Findings of {run.title}", ". ".join(lines), look)
    panel.text = "\n".join([f"{run.title}: findings", *(f"  {each}" for each in first)]) + more
    panel.description = {
        "view": "findings",
        "title": run.title,
        "findings": [
            {"rule": each.rule, "severity": each.severity.value, "title": each.title}
            for each in first
        ],
        "left_out": rest,
    }
    y = panel.heading("Findings", f"the first {len(first)}{more}" if rest else "")
    for each, line in zip(first, lines, strict=True):
        word = each.severity.capitalize()
        ink = {"error": look.error, "warning": look.warning}.get(each.severity, look.muted)
        panel.marks.text(word, MARGIN, y + 11, fill=ink, font_weight=600)
        y = panel.paragraph(line, y, lines=4, indent=text_width("Warning  ", SMALL, bold=True))
    panel.height = y + MARGIN
    return panel
