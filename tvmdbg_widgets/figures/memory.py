"""The memory plan of a run as a figure: bytes live over the execution, and the slots below."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.analysis.memory.planned import why_not
from tvmdbg_widgets.analysis.memory.words import loss_sentences, sentences
from tvmdbg_widgets.figures.choices import one_of, usable_width
from tvmdbg_widgets.figures.memory_chart import Chart
from tvmdbg_widgets.figures.missing import missing_panel
from tvmdbg_widgets.figures.svg import MARGIN, Panel
from tvmdbg_widgets.figures.theme import Theme, theme_of
from tvmdbg_widgets.model.graph.devices import device_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.analysis.derived.derived import Derived
    from tvmdbg_widgets.analysis.memory.plan import MemoryPlan
    from tvmdbg_widgets.figures.figure import Figure

COLOR_BY = ("kind", "size")
Range = tuple[float, float]


@dataclass(frozen=True)
class MemoryOptions:
    """How the memory plan is shown; as of ``MemoryView``. ``selected`` are node ids."""

    parameters: bool = True
    color_by: str = "kind"
    step_range: Range | None = None
    selected: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no plan can show."""
        one_of("color_by", self.color_by, COLOR_BY)
        if self.step_range is not None:
            start, end = self.step_range
            if not (math.isfinite(start) and math.isfinite(end) and start < end):
                raise ValueError(f"step_range is (start, end) in steps, found {self.step_range!r}")


_PLAIN = MemoryOptions()


def memory_figure(
    run: Derived,
    *,
    parameters: bool = True,
    color_by: str = "kind",
    step_range: Range | None = None,
    selected: Sequence[int] = (),
    width: float = 720,
    theme: str = "light",
) -> Figure:
    """Draw the bytes that are live while each node runs, and what lies in each slot when.

    Slots of an ExecuTorch program are offsets in its planned buffers, by place.

    Parameters
    ----------
    parameters : bool
        Show what the parameters take, as a band below the workspace.
    color_by : str
        Entries by ``"kind"`` (of operator) or ``"size"``.
    step_range : (float, float) or None
        Steps that the axis spans, places in ``run.memory_plan().order``; all where left out.
    selected : sequence of int
        Nodes whose entries are marked.
    width : float
        px.
    theme : str
        ``"light"``, ``"dark"`` or ``"auto"``.

    Raises
    ------
    ValueError
        A value that is none of these.
    """
    options = MemoryOptions(parameters, color_by, step_range, tuple(selected))
    return memory_panel(run, usable_width(width), theme_of(theme), options).figure()


def memory_panel(
    run: Derived, width: float, theme: Theme, options: MemoryOptions = _PLAIN
) -> Panel:
    """Return the memory plan as a panel."""
    why = why_not(run.parts)
    if why:
        return missing_panel(run, "memory", width, theme, why)
    plan = run.memory_plan()
    said = sentences(plan)
    panel = Panel(width, f"Memory of {run.title}: {said[0]}", "; ".join(said), theme)
    panel.text = f"{run.title}: memory plan\n" + "\n".join(f"  {line}" for line in said)
    panel.description = _description(run, plan, said, options)
    y = panel.heading(run.title, said[0])
    for line in said[1:]:
        fill = theme.error if line in loss_sentences(plan) else theme.muted
        y = panel.paragraph(line, y, lines=4, fill=fill)
    if len(plan.slot_bytes):
        y = Chart(panel, plan, options).draw(y + 6)
    panel.height = y + MARGIN
    return panel


def _description(
    run: Derived, plan: MemoryPlan, said: list[str], options: MemoryOptions
) -> dict[str, Any]:
    return {
        "view": "memory",
        "title": run.title,
        "said": said,
        "parameters": options.parameters,
        "color_by": options.color_by,
        "step_range": None if options.step_range is None else list(options.step_range),
        "selected": list(options.selected),
        "allocated": plan.allocated,
        "parameter_bytes": plan.parameter_bytes,
        "peak": plan.peak.bytes,
        "peak_nodes": list(plan.peak.nodes[:20]),
        "slots": [
            {
                "storage_id": slot.storage_id,
                "device": None if slot.device < 0 else device_name(slot.device),
                "bytes": slot.bytes,
                "entries": len(slot.entries),
            }
            | ({} if slot.buffer < 0 else {"buffer": slot.buffer, "offset": slot.offset})
            for slot in map(plan.slots.__getitem__, Chart.rows_of(plan))
        ],
    }
