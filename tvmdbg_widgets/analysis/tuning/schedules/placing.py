"""Replay of the steps that place a stage (src/auto_scheduler/transform_step.cc)."""

from __future__ import annotations

from tvmdbg_widgets.analysis.tuning.schedules.tensors import Leaves
from tvmdbg_widgets.analysis.tuning.schedules.working import Working, changed
from tvmdbg_widgets.model.tuning.steps import (
    CacheReadStep,
    CacheWriteStep,
    ComputeAt,
    ComputeAtStep,
    ComputeInlineStep,
    ComputeRootStep,
    FuseStep,
    Iterator,
    RfactorStep,
    SplitStep,
)


def compute_at(working: Working, step: ComputeAtStep) -> None:
    """CA: compute a stage inside a loop of another; the extents of its loops become unknown."""
    working.stage(step.stage_id)
    working.stage(step.target_stage_id, "target_stage_id")
    if step.target_iter_id < 0:
        working.refuse(f"there is no loop {step.target_iter_id}", "target_iter_id")
    _place(working, step.stage_id, ComputeAt.ITER)
    working.attachments.attach(step.stage_id, (step.target_stage_id, step.target_iter_id))


def compute_inline(working: Working, step: ComputeInlineStep) -> None:
    """CI: inline a stage into its readers."""
    iterators = working.stage(step.stage_id).iterators
    for place, loop in enumerate(iterators):
        if (step.stage_id, place) in working.attachments.stages:
            working.refuse(
                f"a stage is attached to loop {loop.name!r} of the stage to inline", "stage_id"
            )
    working.mark(step.stage_id, compute_at=ComputeAt.INLINED, placed_by=working.index)
    working.attachments.detach(step.stage_id)


def compute_root(working: Working, step: ComputeRootStep) -> None:
    """CR: compute a stage on its own; the extents of its loops become unknown."""
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


def cache_read(working: Working, step: CacheReadStep) -> None:
    """CHR: add a stage behind this one, which the readers read."""
    working.stage(step.stage_id)
    for reader in step.reader_stage_ids:
        working.stage(reader, "reader_stage_ids")
    copy = working.dataflow.cache_read(step.stage_id, step.scope_name, step.reader_stage_ids)
    made = working.fresh_stage(copy, working.index, role="cache read", scope=step.scope_name)
    working.mark(step.stage_id)
    working.insert(step.stage_id + 1, made)


def cache_write(working: Working, step: CacheWriteStep) -> None:
    """CHW: add a stage before this one, which is rebuilt from its axes as a copy."""
    working.stage(step.stage_id)
    cache, copy = working.dataflow.cache_write(step.stage_id, step.scope_name)
    made = working.fresh_stage(cache, working.index, role="cache write", scope=step.scope_name)
    working.stages[step.stage_id] = working.fresh_stage(copy, working.index)
    working.insert(step.stage_id, made)


def rfactor(working: Working, step: RfactorStep) -> None:
    """RF: add a stage before this one with part of the reduction as an axis."""
    stage = working.stage(step.stage_id)
    before = split_before(working, step)
    leaves = Leaves(working.dataflow.computations[step.stage_id])
    earlier = working.steps[working.index - 2] if working.index > 1 else None
    if isinstance(earlier, FuseStep) and earlier.stage_id == step.stage_id:
        leaves.fuse(earlier.fused_ids)
    leaves.split(before.iter_id, before.lengths, before.inner_to_outer)
    partial, combined = working.dataflow.rfactor(
        step.stage_id, leaves, step.iter_id, step.factor_iter_id
    )
    made = working.fresh_stage(partial, working.index, role="rfactor")
    working.stages[step.stage_id] = working.fresh_stage(
        combined, working.index, compute_at=stage.compute_at, placed_by=stage.placed_by
    )
    working.insert(step.stage_id, made)


def split_before(working: Working, step: RfactorStep) -> SplitStep:
    """Return the SP step that an RF must follow."""
    before = working.steps[working.index - 1] if working.index else None
    if not isinstance(before, SplitStep) or before.stage_id != step.stage_id:
        working.refuse("it must follow an SP step of the same stage", "stage_id")
    return before
