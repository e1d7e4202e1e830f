"""Transform steps as sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch

from tvmdbg_widgets.analysis.tuning.replay.errors import ReplayError
from tvmdbg_widgets.analysis.tuning.replay.limits import LARGEST_FACTOR, MOST_LOOPS
from tvmdbg_widgets.analysis.tuning.replay.loops import followed_lengths
from tvmdbg_widgets.analysis.tuning.replay.replaying import Replay
from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.dag import ComputeDag, DagSource
from tvmdbg_widgets.model.tuning.state import State
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

_MARK = {
    Annotation.NONE: "leave {} as it is",
    Annotation.UNROLL: "unroll {}",
    Annotation.VECTORIZE: "vectorize {}",
    Annotation.PARALLEL: "run {} in parallel",
    Annotation.TENSORIZE: "tensorize {}",
}


def step_words(step: AnyStep, before: State | None = None) -> str:
    """Say what a step does, in one sentence without a full stop.

    Examples
    --------
    >>> step_words(SplitStep(2, 0, 64, (2, 2, 8), True))
    'stage 2: split loop 0 into 4 parts, factors 2 · 2 · 8'
    """
    return f"{_stage(before, step.stage_id)}: {_does(step, before)}"


def steps_in_words(dag: ComputeDag | None, steps: Sequence[AnyStep]) -> tuple[str, ...]:
    """Say what each step of a schedule does, with the names it has then.

    From a step on that cannot be replayed, numbers stand in place of names.
    """
    sentences: list[str] = []
    try:
        replaying = Replay(dag, steps)
        for step in steps:
            sentences.append(step_words(step, replaying.state()))
            replaying.advance()
    except ReplayError:
        return (*sentences, *map(step_words, steps[len(sentences) :]))
    return tuple(sentences)


@singledispatch
def _does(step: AnyStep, before: State | None) -> str:
    raise TypeError(step, before)


@_does.register
def _(step: AnnotationStep, before: State | None) -> str:
    loop = _loop(before, step.stage_id, step.iter_id)
    mark = _MARK.get(step.annotation)
    return mark.format(loop) if mark else f"bind {loop} to {step.annotation.word}"


@_does.register
def _(step: FuseStep, before: State | None) -> str:
    if not step.fused_ids:
        return "replace its loops by one of extent 1"
    return f"fuse {_loops(before, step.stage_id, step.fused_ids, ' · ')} into one loop"


@_does.register
def _(step: PragmaStep, before: State | None) -> str:
    del before
    if step.pragma_type == "debug_skip_region":
        return "detach it (debug_skip_region)"
    if step.auto_unroll is None:
        return f"pragma {one_line(step.pragma_type)}"
    if not step.auto_unroll:
        return "unroll no loop that is not marked (auto_unroll_max_step 0)"
    return f"unroll bodies of up to {counted(step.auto_unroll, 'step')} (auto_unroll_max_step)"


@_does.register
def _(step: ReorderStep, before: State | None) -> str:
    return f"reorder the loops to {_loops(before, step.stage_id, step.after_ids, ', ')}"


@_does.register
def _(step: SplitStep, before: State | None) -> str:
    order = "" if step.inner_to_outer else ", outer parts first"
    return f"split {_loop(before, step.stage_id, step.iter_id)}{_parts(step.lengths)}{order}"


@_does.register
def _(step: FollowSplitStep, before: State | None) -> str:
    lengths = _lengths(before, step.src_step_id)
    followed = () if lengths is None else followed_lengths(lengths, step.n_split)
    parts = _parts(followed) if followed and max(followed) <= LARGEST_FACTOR else ""
    loop = _loop(before, step.stage_id, step.iter_id)
    return (
        f"split {loop}{parts or ' into ' + counted(step.n_split + 1, 'part')}, "
        f"same factors as step {step.src_step_id}"
    )


@_does.register
def _(step: FollowFusedSplitStep, before: State | None) -> str:
    found = [_lengths(before, each) for each in step.src_step_ids]
    factor = 1
    for lengths in found:
        if lengths is None or not 0 <= step.level < len(lengths):
            factor = 0
            break
        factor *= lengths[step.level]
        if factor > LARGEST_FACTOR:
            factor = 0
            break
    size = f" {factor:,}" if factor else ""
    part = "inner" if step.factor_or_nparts else "outer"
    sources = " and ".join(map(str, step.src_step_ids)) or "none"
    return (
        f"split {_loop(before, step.stage_id, step.iter_id)} in two, {part} part{size}, the "
        f"product of level {step.level} of steps {sources}"
    )


@_does.register
def _(step: StorageAlignStep, before: State | None) -> str:
    loop = _loop(before, step.stage_id, step.iter_id)
    return f"align the storage at {loop} to {step.factor} with offset {step.offset}"


@_does.register
def _(step: ComputeAtStep, before: State | None) -> str:
    loop = _loop(before, step.target_stage_id, step.target_iter_id)
    return f"compute it inside {loop} of {_stage(before, step.target_stage_id)}"


@_does.register
def _(step: ComputeInlineStep, before: State | None) -> str:
    del step, before
    return "inline it where it is read"


@_does.register
def _(step: ComputeRootStep, before: State | None) -> str:
    del step, before
    return "compute it on its own, outside of other stages"


@_does.register
def _(step: CacheReadStep, before: State | None) -> str:
    made = step.stage_id + 1
    readers = [_stage(before, each, each + (each >= made)) for each in step.reader_stage_ids]
    return (
        f"copy it to {one_line(step.scope_name)} memory in a new stage {made}, from which "
        f"{' and '.join(readers) or 'no stage'} {'read' if len(readers) > 1 else 'reads'}"
    )


@_does.register
def _(step: CacheWriteStep, before: State | None) -> str:
    del before
    return (
        f"compute it in a new stage {step.stage_id} in {one_line(step.scope_name)} memory, from "
        f"which this one, now stage {step.stage_id + 1}, copies"
    )


@_does.register
def _(step: RfactorStep, before: State | None) -> str:
    loop = _loop(before, step.stage_id, step.iter_id)
    return (
        f"factor {loop} out of the reduction: axis {step.factor_iter_id} of a new stage "
        f"{step.stage_id}, over which this one, now stage {step.stage_id + 1}, reduces"
    )


def _stage(state: State | None, index: int, number: int | None = None) -> str:
    """Name a stage; `number` is what later steps call it, where that is another."""
    number = index if number is None else number
    if state is None or not 0 <= index < len(state.stages):
        return f"stage {number}"
    stage = state.stages[index]
    if state.dag.source is not DagSource.NONE:
        return f"stage {number} ({one_line(stage.name)})"
    return f"stage {number}" + (f" ({one_line(stage.role)})" if stage.role else "")


def _loop(state: State | None, stage: int, place: int) -> str:
    if state is not None and 0 <= stage < len(state.stages):
        iterators = state.stages[stage].iterators
        if 0 <= place < len(iterators):
            return one_line(iterators[place].name) or "the loop"
    return f"loop {place}"


def _loops(state: State | None, stage: int, places: Iterable[int], between: str) -> str:
    return between.join(_loop(state, stage, place) for place in places)


def _parts(lengths: tuple[int, ...]) -> str:
    factors = " · ".join(f"{each:,}" for each in lengths)
    word = agree(len(lengths), "factor", "factors")
    return (
        f" into {counted(len(lengths) + 1, 'part')}, {word} {factors}"
        if lengths
        else " into one part"
    )


def _lengths(state: State | None, index: int) -> tuple[int, ...] | None:
    source = state.steps[index] if state and 0 <= index < len(state.steps) else None
    if not isinstance(source, SplitStep) or len(source.lengths) > MOST_LOOPS:
        return None
    return source.lengths
