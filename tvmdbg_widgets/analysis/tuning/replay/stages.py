"""Steps that add a stage (src/auto_scheduler/transform_step.cc)."""

from __future__ import annotations

from tvmdbg_widgets.analysis.tuning.replay.tensors import Leaves, RewriteError
from tvmdbg_widgets.analysis.tuning.replay.working import Working
from tvmdbg_widgets.model.tuning.steps import (
    CacheReadStep,
    CacheWriteStep,
    FuseStep,
    RfactorStep,
    SplitStep,
)


def cache_read(working: Working, step: CacheReadStep) -> None:
    """CHR: a stage behind this one, from which the readers read."""
    working.stage(step.stage_id)
    for reader in step.reader_stage_ids:
        working.stage(reader, "reader_stage_ids")
    try:
        copy = working.dataflow.cache_read(step.stage_id, step.scope_name, step.reader_stage_ids)
    except RewriteError as problem:
        working.refuse(str(problem), problem.field)
    made = working.fresh_stage(copy, working.index, role="cache read", scope=step.scope_name)
    working.mark(step.stage_id)
    working.insert(step.stage_id + 1, made)


def cache_write(working: Working, step: CacheWriteStep) -> None:
    """CHW: a stage before this one, which is rebuilt from its axes and copies the other."""
    working.stage(step.stage_id)
    try:
        cache, copy = working.dataflow.cache_write(step.stage_id, step.scope_name)
    except RewriteError as problem:
        working.refuse(str(problem), problem.field)
    made = working.fresh_stage(cache, working.index, role="cache write", scope=step.scope_name)
    working.stages[step.stage_id] = working.fresh_stage(copy, working.index)
    working.insert(step.stage_id, made)


def rfactor(working: Working, step: RfactorStep) -> None:
    """RF: a stage before this one with a part of the reduction as an axis.

    TVM repeats only the SP right before, and a FU of the stage right before that, to find the loop
    (``GetFormerStageModifiableSteps``).
    """
    stage = working.stage(step.stage_id)
    before = split_before(working, step)
    leaves = Leaves(working.dataflow.computations[step.stage_id])
    earlier = working.steps[working.index - 2] if working.index > 1 else None
    try:
        if isinstance(earlier, FuseStep) and earlier.stage_id == step.stage_id:
            leaves.fuse(earlier.fused_ids)
        leaves.split(before.iter_id, before.lengths, before.inner_to_outer)
        partial, combined = working.dataflow.rfactor(
            step.stage_id, leaves, step.iter_id, step.factor_iter_id
        )
    except RewriteError as problem:
        working.refuse(str(problem), problem.field)
    made = working.fresh_stage(partial, working.index, role="rfactor")
    working.stages[step.stage_id] = working.fresh_stage(
        combined, working.index, compute_at=stage.compute_at, placed_by=stage.placed_by
    )
    working.insert(step.stage_id, made)


def split_before(working: Working, step: RfactorStep) -> SplitStep:
    """Return the SP that a RF must follow."""
    before = working.steps[working.index - 1] if working.index else None
    if not isinstance(before, SplitStep) or before.stage_id != step.stage_id:
        working.refuse("it must follow an SP step of the same stage", "stage_id")
    return before
