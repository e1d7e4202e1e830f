"""The memory plan of a run as a figure: bytes live over the execution, and the slots below."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.derived.derived import Derived
from tvmdbg_widgets.analysis.memory.plan import MemoryPlan
from tvmdbg_widgets.analysis.memory.planned import why_not
from tvmdbg_widgets.answers.answering import Reply
from tvmdbg_widgets.figures.few_names import graph_of_few, has_many
from tvmdbg_widgets.figures.figure import Figure
from tvmdbg_widgets.figures.run_figure import RunFigure
from tvmdbg_widgets.model.base.choice import one_of

COLOR_BY = ("kind", "size")
#: As of ``js/src/memory/figure.ts``; so many boxes have room in a figure at most.
_MOST_ROWS, _MOST_NAMED = 16, 4_000
Range = tuple[float, float]


@dataclass(frozen=True)
class MemoryFigureOptions:
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
    """
    options = MemoryFigureOptions(parameters, color_by, step_range, tuple(selected))
    return memory_request(run, options).figure(width=width, theme=theme)


def memory_request(run: Derived, options: MemoryFigureOptions) -> RunFigure:
    """Return what the figure of a memory plan is made of."""
    why = why_not(run.parts)
    if why:
        return RunFigure.missing(run, "memory", why)
    plan = run.memory_plan()
    said = plan.said
    text = "\n".join([f"{run.title}: memory plan", *(f"  {line}" for line in said)])
    data = {"text": text, "selected": options.selected}
    if not has_many(run):
        return RunFigure(run, "memory", ("memory", "graph"), data, asdict(options))

    def replies() -> dict[str, Reply]:
        return {"graph": graph_of_few(plan.graph, _drawn(plan, options.step_range))}

    return RunFigure(run, "memory", ("memory",), data, asdict(options), replies)


def _drawn(plan: MemoryPlan, step_range: Range | None) -> npt.NDArray[np.int64]:
    """Return the nodes of the widest entries in the slots that are drawn."""
    slots = np.flatnonzero(~plan.slot_is_parameter)
    slots = slots[np.argsort(-plan.slot_bytes[slots], kind="stable")[:_MOST_ROWS]]
    drawn = np.zeros(len(plan.slot_bytes) + 1, np.bool_)
    drawn[slots] = True
    entries = np.flatnonzero(drawn[plan.entry_slot])
    first, slot = plan.first[entries], plan.entry_slot[entries]
    order = np.lexsort((entries, first, slot))
    entries, first, slot = entries[order], first[order], slot[order]
    until = plan.last[entries].astype(np.int64) + 1
    follows = np.flatnonzero(slot[1:] == slot[:-1])
    until[follows] = np.minimum(until[follows], first[1:][follows])
    start, end = step_range or (0, len(plan.order))
    width = np.minimum(np.maximum(until, first + 1), end) - np.maximum(first, start)
    widest = entries[np.argsort(-width, kind="stable")[:_MOST_NAMED]]
    return np.searchsorted(plan.graph.entry_offsets, widest, "right") - 1
