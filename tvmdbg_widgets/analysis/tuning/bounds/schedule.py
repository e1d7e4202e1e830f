"""Steps applied to a TE schedule (``ApplyToSchedule``, src/auto_scheduler/transform_step.cc)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from tvmdbg_widgets.analysis.tuning.bounds import rewrites
from tvmdbg_widgets.analysis.tuning.bounds.errors import RefusedError
from tvmdbg_widgets.analysis.tuning.bounds.forms import Loop
from tvmdbg_widgets.analysis.tuning.bounds.reads import all_reads
from tvmdbg_widgets.analysis.tuning.bounds.stages import Axis, TensorStage
from tvmdbg_widgets.analysis.tuning.replay.loops import followed_lengths
from tvmdbg_widgets.model.tuning.steps import (
    Annotation,
    AnnotationStep,
    CacheReadStep,
    CacheWriteStep,
    ComputeAtStep,
    ComputeInlineStep,
    ComputeRootStep,
    FollowFusedSplitStep,
    FollowSplitStep,
    FuseStep,
    PragmaStep,
    ReorderStep,
    RfactorStep,
    SplitStep,
    StorageAlignStep,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tvmdbg_widgets.model.tuning.dag import ComputeDag
    from tvmdbg_widgets.model.tuning.steps import AnyStep


class Schedule:
    """The stages of a DAG after some steps."""

    def __init__(self, dag: ComputeDag, steps: tuple[AnyStep, ...]) -> None:
        self.stages = [_stage(dag, at) for at in range(len(dag.operations))]
        self.steps = steps
        _mark_outputs(self.stages)
        for step in steps:
            _APPLY[type(step)](self, self.stage(step.stage_id), step)

    def stage(self, at: int) -> TensorStage:
        """Return a stage by its number."""
        if not 0 <= at < len(self.stages):
            raise RefusedError(f"there is no stage {at}")
        return self.stages[at]

    def lengths(self, step: int) -> tuple[int, ...]:
        """Return the factors of a SP step."""
        found = self.steps[step] if 0 <= step < len(self.steps) else None
        if not isinstance(found, SplitStep):
            raise RefusedError(f"step {step} is no SP step")
        return found.lengths


def _annotate(_: Schedule, stage: TensorStage, step: AnnotationStep) -> None:
    loop, word = stage.loop(step.iter_id), step.annotation.word
    if step.annotation is Annotation.TENSORIZE:
        raise RefusedError("no schedule has loops that are tensorized so")
    if step.annotation is Annotation.VECTORIZE and stage.is_reduced(loop):
        raise RefusedError(f"{loop.name} of {stage.name} is reduced over and cannot be vectorized")
    if word == "vthread" or word.startswith(("blockIdx", "threadIdx")):
        stage.threads[loop] = (word, Loop(word))


def _follow(schedule: Schedule, stage: TensorStage, step: FollowSplitStep) -> None:
    lengths = followed_lengths(schedule.lengths(step.src_step_id), step.n_split)
    stage.split(step.iter_id, lengths, inner_to_outer=True)


def _follow_fused(schedule: Schedule, stage: TensorStage, step: FollowFusedSplitStep) -> None:
    factors = [schedule.lengths(each)[step.level] for each in step.src_step_ids]
    stage.split(step.iter_id, [prod(factors)], inner_to_outer=step.factor_or_nparts)


def _compute_at(schedule: Schedule, stage: TensorStage, step: ComputeAtStep) -> None:
    around = schedule.stage(step.target_stage_id)
    stage.place, stage.is_inlined = (around, around.loop(step.target_iter_id)), False


def _compute_inline(_: Schedule, stage: TensorStage, step: ComputeInlineStep) -> None:
    if stage.is_placeholder:
        raise RefusedError(f"stage {step.stage_id} is a placeholder and cannot be inlined")
    stage.place, stage.is_inlined = None, True


def _compute_root(_: Schedule, stage: TensorStage, __: ComputeRootStep) -> None:
    stage.place, stage.is_inlined = None, False


def _cache_read(schedule: Schedule, stage: TensorStage, step: CacheReadStep) -> None:
    readers = [schedule.stage(each) for each in step.reader_stage_ids]
    made = rewrites.cache_read(stage, step.scope_name, readers, len(schedule.stages))
    schedule.stages.insert(step.stage_id + 1, made)


def _cache_write(schedule: Schedule, stage: TensorStage, step: CacheWriteStep) -> None:
    made = rewrites.cache_write(stage, step.scope_name, len(schedule.stages))
    schedule.stages.insert(step.stage_id, made)


def _mark(_: Schedule, stage: TensorStage, step: PragmaStep) -> None:
    """PR changes no bounds; to unroll, TVM passes over a loop that does not exist."""
    stage.check_loops()
    if not step.pragma_type.startswith("auto_unroll_max_step"):
        stage.loop(step.iter_id)


def _align(_: Schedule, stage: TensorStage, step: StorageAlignStep) -> None:
    """SA changes no bounds."""
    stage.loop(step.iter_id)


def _rfactor(schedule: Schedule, stage: TensorStage, step: RfactorStep) -> None:
    loop = stage.loop(step.iter_id)
    made = rewrites.rfactor(stage, loop, step.factor_iter_id, len(schedule.stages))
    schedule.stages.insert(step.stage_id, made)


_APPLY: dict[type[AnyStep], Callable[[Schedule, TensorStage, Any], None]] = {
    AnnotationStep: _annotate,
    FuseStep: lambda _, stage, step: stage.fuse(step.fused_ids),
    ReorderStep: lambda _, stage, step: stage.reorder(step.after_ids),
    SplitStep: lambda _, stage, step: stage.split(
        step.iter_id, step.lengths, inner_to_outer=step.inner_to_outer
    ),
    FollowSplitStep: _follow,
    FollowFusedSplitStep: _follow_fused,
    ComputeAtStep: _compute_at,
    ComputeInlineStep: _compute_inline,
    ComputeRootStep: _compute_root,
    CacheReadStep: _cache_read,
    CacheWriteStep: _cache_write,
    RfactorStep: _rfactor,
    PragmaStep: _mark,
    StorageAlignStep: _align,
}


def _stage(dag: ComputeDag, at: int) -> TensorStage:
    operation = dag.operations[at]
    axes = [Axis(Loop(each.name), each.extent, each.symbol) for each in operation.axes]
    if operation.is_placeholder:
        axes = [Axis(Loop(f"ax{place}"), size) for place, size in enumerate(operation.shape)]
    reduced = [Axis(Loop(each.name), each.extent, each.symbol) for each in operation.reduce_axes]
    is_known = operation.is_placeholder or bool(operation.bodies)
    return TensorStage(
        operation.name,
        at,
        axes,
        reduced,
        operation.outputs,
        all_reads(operation.bodies) if is_known else None,
        is_placeholder=operation.is_placeholder,
    )


def _mark_outputs(stages: list[TensorStage]) -> None:
    """Mark stages that none reads; one whose reads are not known may read all before it."""
    read: set[int] = set()
    for stage in reversed(stages):
        stage.is_output = not stage.is_placeholder and stage.key not in read
        if stage.reads is None:
            read.update(range(stage.key))
        read.update(each.operation for each in stage.reads or ())
