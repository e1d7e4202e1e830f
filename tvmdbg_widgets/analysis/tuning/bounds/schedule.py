"""Steps applied to a TE schedule (``ApplyToSchedule``, src/auto_scheduler/transform_step.cc)."""

from __future__ import annotations

from math import prod

from tvmdbg_widgets.analysis.tuning.bounds import rewrites
from tvmdbg_widgets.analysis.tuning.bounds.errors import RefusedError
from tvmdbg_widgets.analysis.tuning.bounds.forms import LoopVariable
from tvmdbg_widgets.analysis.tuning.bounds.reads import all_reads
from tvmdbg_widgets.analysis.tuning.bounds.stages import StageAxis, TensorStage
from tvmdbg_widgets.analysis.tuning.replay.loops import followed_lengths
from tvmdbg_widgets.model.tuning.dag import ComputeDag
from tvmdbg_widgets.model.tuning.steps import (
    Annotation,
    AnnotationStep,
    AnyStep,
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


class StagedDag:
    """The stages of a DAG after some steps."""

    def __init__(self, dag: ComputeDag, steps: tuple[AnyStep, ...]) -> None:
        self.stages = [_stage(dag, at) for at in range(len(dag.operations))]
        self.steps = steps
        _mark_outputs(self.stages)
        for step in steps:
            self._apply(self.stage(step.stage_id), step)

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

    def _apply(  # noqa: C901, PLR0912 (a case a step)
        self, stage: TensorStage, step: AnyStep
    ) -> None:
        match step:
            case AnnotationStep():
                _annotate(stage, step)
            case FuseStep():
                stage.fuse(step.fused_ids)
            case ReorderStep():
                stage.reorder(step.after_ids)
            case SplitStep():
                stage.split(step.iter_id, step.lengths, inner_to_outer=step.inner_to_outer)
            case FollowSplitStep():
                lengths = followed_lengths(self.lengths(step.src_step_id), step.n_split)
                stage.split(step.iter_id, lengths, inner_to_outer=True)
            case FollowFusedSplitStep():
                factor = prod(self.lengths(each)[step.level] for each in step.src_step_ids)
                stage.split(step.iter_id, [factor], inner_to_outer=step.factor_or_nparts)
            case ComputeAtStep():
                around = self.stage(step.target_stage_id)
                stage.place, stage.is_inlined = (around, around.loop(step.target_iter_id)), False
            case ComputeInlineStep():
                if stage.is_placeholder:
                    problem = f"stage {step.stage_id} is a placeholder and cannot be inlined"
                    raise RefusedError(problem)
                stage.place, stage.is_inlined = None, True
            case ComputeRootStep():
                stage.place, stage.is_inlined = None, False
            case StorageAlignStep():  # changes no bounds
                stage.loop(step.iter_id)
            case PragmaStep():  # nor does this; TVM unrolls loops that do not exist, too
                stage.check_loops()
                if not step.pragma_type.startswith("auto_unroll_max_step"):
                    stage.loop(step.iter_id)
            case _:
                self._add(stage, step)

    def _add(self, stage: TensorStage, step: CacheReadStep | CacheWriteStep | RfactorStep) -> None:
        at, key = step.stage_id, len(self.stages)
        if isinstance(step, CacheReadStep):
            readers = [self.stage(each) for each in step.reader_stage_ids]
            at, made = at + 1, rewrites.cache_read(stage, step.scope_name, readers, key)
        elif isinstance(step, CacheWriteStep):
            made = rewrites.cache_write(stage, step.scope_name, key)
        else:
            made = rewrites.rfactor(stage, stage.loop(step.iter_id), step.factor_iter_id, key)
        self.stages.insert(at, made)


def _annotate(stage: TensorStage, step: AnnotationStep) -> None:
    loop, word = stage.loop(step.iter_id), step.annotation.word
    if step.annotation is Annotation.TENSORIZE:
        raise RefusedError("no schedule has loops that are tensorized so")
    if step.annotation is Annotation.VECTORIZE and stage.is_reduced(loop):
        raise RefusedError(f"{loop.name} of {stage.name} is reduced over and cannot be vectorized")
    if word == "vthread" or word.startswith(("blockIdx", "threadIdx")):
        stage.threads[loop] = (word, LoopVariable(word))


def _stage(dag: ComputeDag, at: int) -> TensorStage:
    operation = dag.operations[at]
    axes = [StageAxis(LoopVariable(each.name), each.extent, each.symbol) for each in operation.axes]
    if operation.is_placeholder:
        axes = [
            StageAxis(LoopVariable(f"ax{place}"), size)
            for place, size in enumerate(operation.shape)
        ]
    reduced = [
        StageAxis(LoopVariable(each.name), each.extent, each.symbol)
        for each in operation.reduce_axes
    ]
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
