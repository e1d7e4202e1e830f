"""Steps that say where a stage is computed (src/auto_scheduler/transform_step.cc)."""

from __future__ import annotations

from tvmdbg_widgets.analysis.tuning.replay.changed import changed
from tvmdbg_widgets.analysis.tuning.replay.working import Working
from tvmdbg_widgets.model.tuning.state import ComputeAt, Iterator
from tvmdbg_widgets.model.tuning.steps import (
    ComputeAtStep,
    ComputeInlineStep,
    ComputeRootStep,
)


def compute_at(working: Working, step: ComputeAtStep) -> None:
    """CA: compute a stage inside a loop of another; how far its loops then go is not known."""
    working.stage(step.stage_id)
    working.stage(step.target_stage_id, "target_stage_id")
    if step.target_iter_id < 0:
        working.refuse(f"there is no loop {step.target_iter_id}", "target_iter_id")
    _place(working, step.stage_id, ComputeAt.ITER)
    working.attachments.attach(step.stage_id, (step.target_stage_id, step.target_iter_id))


def compute_inline(working: Working, step: ComputeInlineStep) -> None:
    """CI: compute a stage where it is read."""
    iterators = working.stage(step.stage_id).iterators
    for place, loop in enumerate(iterators):
        if (step.stage_id, place) in working.attachments.stages:
            working.refuse(
                f"a stage is attached to loop {loop.name!r} of the stage to inline", "stage_id"
            )
    working.mark(step.stage_id, compute_at=ComputeAt.INLINED, placed_by=working.index)
    working.attachments.detach(step.stage_id)


def compute_root(working: Working, step: ComputeRootStep) -> None:
    """CR: compute a stage on its own; how far its loops go is forgotten."""
    working.stage(step.stage_id)
    _place(working, step.stage_id, ComputeAt.ROOT)
    working.attachments.detach(step.stage_id)


def _place(working: Working, stage: int, where: ComputeAt) -> None:
    loops = tuple(map(_unbounded, working.stages[stage].iterators))
    working.mark(stage, iterators=loops, compute_at=where, placed_by=working.index)


def _unbounded(loop: Iterator) -> Iterator:
    if loop.extent is None and not loop.symbol:
        return loop
    return changed(loop, extent=None, symbol="")
