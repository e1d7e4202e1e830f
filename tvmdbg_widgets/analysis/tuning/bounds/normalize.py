"""What TE does to a schedule before bounds are inferred (``Schedule::normalize``)."""

from __future__ import annotations

from collections.abc import Sequence

from tvmdbg_widgets.analysis.tuning.bounds.errors import RefusedError
from tvmdbg_widgets.analysis.tuning.bounds.forms import LoopVariable
from tvmdbg_widgets.analysis.tuning.bounds.reads import inlined
from tvmdbg_widgets.analysis.tuning.bounds.stages import (
    AxisSplit,
    Fuse,
    Shift,
    TensorStage,
)


def normalize(stages: Sequence[TensorStage]) -> None:
    """Inline stages, let loops begin at 0, and attach to what became of loops."""
    for at in range(len(stages) - 1, -1, -1):
        if stages[at].is_inlined:
            _inline(stages[at], stages[at + 1 :])
    moved: dict[LoopVariable, LoopVariable] = {}
    for stage in stages:
        if not stage.is_inlined:
            moved.update(_shifted(stage))
    for stage in stages:
        if stage.place is not None:
            around, loop = stage.place
            stage.place = (around, _grown(around, moved.get(loop, loop)))


def _inline(stage: TensorStage, later: Sequence[TensorStage]) -> None:
    if stage.outputs != 1 or stage.reduce_axes:
        raise RefusedError(f"{stage.name} has a reduction or several outputs, it stays no body")
    names = [axis.loop.name for axis in stage.axes]
    for each in later:
        if each.is_inlined and not each.is_output:
            continue
        each.reads = inlined(each.reads, stage.key, names, stage.reads)


def _shifted(stage: TensorStage) -> dict[LoopVariable, LoopVariable]:
    """Put a loop from 0 on in place of each axis that is a loop and bound to no thread."""
    moved = {}
    for axis in stage.roots:
        if axis.loop in stage.leaves and axis.loop not in stage.threads:
            loop = moved[axis.loop] = LoopVariable(axis.loop.name)
            stage.relations.append(Shift(axis.loop, loop))
            stage.exchange(axis.loop, loop)
    return moved


def _grown(stage: TensorStage, loop: LoopVariable) -> LoopVariable:
    """Return the innermost loop that came of one by splits, or by fusions as the inner part."""
    for relation in stage.relations:
        match relation:
            case Fuse(_, inner, fused) if inner is loop:
                loop = fused
            case AxisSplit(parent, _, inner) if parent is loop:
                loop = inner
    return loop
