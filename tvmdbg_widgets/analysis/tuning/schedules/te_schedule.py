"""Stages of a DAG as TE schedules them, normalized before bounds are inferred."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

from tvmdbg_widgets.analysis.tuning.schedules.forms import (
    LinearForm,
    LoopRange,
    LoopVariable,
    Quotient,
    RefusedError,
)
from tvmdbg_widgets.analysis.tuning.schedules.stages import (
    AxisSplit,
    Fuse,
    Ranges,
    Shift,
    StageAxis,
    TensorStage,
    pass_down_forms,
    pass_down_ranges,
    pass_up_forms,
)
from tvmdbg_widgets.analysis.tuning.schedules.working import followed_lengths
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
from tvmdbg_widgets.model.tuning.trials import (
    BinaryExpr,
    ComputeDag,
    Expression,
    Number,
    TensorRead,
    Variable,
    reads,
    rebuilt,
)


def normalize(stages: Sequence[TensorStage]) -> None:
    """Inline stages, start loops at 0, and update attachments to replaced loops."""
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
            stage.place = (around, _innermost_part(around, moved.get(loop, loop)))


def _inline(stage: TensorStage, later: Sequence[TensorStage]) -> None:
    if stage.outputs != 1 or stage.reduce_axes:
        raise RefusedError(f"{stage.name} has a reduction or several outputs, it stays no body")
    names = [axis.loop.name for axis in stage.axes]
    for reader in later:
        if reader.is_inlined and not reader.is_output:
            continue
        reader.reads = inlined(reader.reads, stage.key, names, stage.reads)


def _shifted(stage: TensorStage) -> dict[LoopVariable, LoopVariable]:
    moved = {}
    for axis in stage.roots:
        if axis.loop in stage.leaves and axis.loop not in stage.threads:
            loop = moved[axis.loop] = LoopVariable(axis.loop.name)
            stage.relations.append(Shift((axis.loop,), (loop,)))
            stage.exchange(axis.loop, loop)
    return moved


def _innermost_part(stage: TensorStage, loop: LoopVariable) -> LoopVariable:
    for relation in stage.relations:
        match relation:
            case Fuse((_, inner), (fused,)) if inner is loop:
                loop = fused
            case AxisSplit((parent,), (_, inner)) if parent is loop:
                loop = inner
    return loop


class StagedDag:
    """The stages of a DAG after some steps."""

    def __init__(self, dag: ComputeDag, steps: tuple[AnyStep, ...]) -> None:
        self.stages = [_stage(dag, at) for at in range(len(dag.operations))]
        self.steps = steps
        _mark_unread_stages(self.stages)
        for step in steps:
            self._apply(self.stage(step.stage_id), step)

    def stage(self, at: int) -> TensorStage:
        """Return a stage by its number."""
        if not 0 <= at < len(self.stages):
            raise RefusedError(f"there is no stage {at}")
        return self.stages[at]

    def lengths(self, step: int) -> tuple[int, ...]:
        """Return the factors of a SP step."""
        split = self.steps[step] if 0 <= step < len(self.steps) else None
        if not isinstance(split, SplitStep):
            raise RefusedError(f"step {step} is no SP step")
        return split.lengths

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
                factor = prod(self.lengths(source)[step.level] for source in step.src_step_ids)
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
            case StorageAlignStep():  # no effect on bounds
                stage.loop(step.iter_id)
            case PragmaStep():  # likewise; TVM unrolls even loops that do not exist
                stage.check_loops()
                if not step.pragma_type.startswith("auto_unroll_max_step"):
                    stage.loop(step.iter_id)
            case _:
                self._add(stage, step)

    def _add(self, stage: TensorStage, step: CacheReadStep | CacheWriteStep | RfactorStep) -> None:
        at, key = step.stage_id, len(self.stages)
        if isinstance(step, CacheReadStep):
            readers = [self.stage(reader) for reader in step.reader_stage_ids]
            at, made = at + 1, cache_read(stage, step.scope_name, readers, key)
        elif isinstance(step, CacheWriteStep):
            made = cache_write(stage, step.scope_name, key)
        else:
            made = rfactor(stage, stage.loop(step.iter_id), step.factor_iter_id, key)
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
    axes, reduced = (
        [StageAxis(LoopVariable(axis.name), axis.extent, axis.symbol) for axis in given]
        for given in (operation.axes, operation.reduce_axes)
    )
    if operation.is_placeholder:
        axes = [
            StageAxis(LoopVariable(f"ax{place}"), size)
            for place, size in enumerate(operation.shape)
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


def _mark_unread_stages(stages: list[TensorStage]) -> None:
    read: set[int] = set()
    for stage in reversed(stages):
        stage.is_output = not stage.is_placeholder and stage.key not in read
        if stage.reads is None:
            read.update(range(stage.key))
        read.update(read.operation for read in stage.reads or ())


def cache_read(
    source: TensorStage, scope: str, readers: Sequence[TensorStage], key: int
) -> TensorStage:
    """Return a stage that copies `source` for its readers, and redirect them."""
    axes = _renamed(source.axes)
    indices = tuple(Variable(axis.loop.name) for axis in axes)
    for reader in readers:
        if reader.reads is None:
            raise RefusedError(f"what {reader.name} reads is not known")
        reader.reads = redirected(reader.reads, (source.key, 0), key)
    read = TensorRead(source.name, indices, 0, source.key)
    return TensorStage(f"{source.name}.{scope}", key, axes, [], 1, (read,), scope=scope)


def cache_write(source: TensorStage, scope: str, key: int) -> TensorStage:
    """Return a stage with the current loops of `source`, which then only copies."""
    reduced = {axis.loop for axis in source.reduce_axes}
    kept = [loop for loop in source.leaves if loop not in reduced]
    if source.is_placeholder or any(map(source.is_reduced, kept)):
        raise RefusedError(f"loops of {source.name} that are reduced over are split or fused")
    ranges = _ranges(source, source.axes)
    axes = [StageAxis(LoopVariable(f"{loop.name}.c"), ranges[loop].extent) for loop in kept]
    outside = {loop: LinearForm.of(axis.loop) for loop, axis in zip(kept, axes, strict=True)}
    pass_up_forms(source, ranges, outside)
    inside = {axis.loop: LinearForm.of(axis.loop) for axis in source.axes}
    pass_down_forms(source, ranges, inside)
    values = {axis.loop.name: as_expression(outside[axis.loop]) for axis in source.axes}
    made = TensorStage(
        f"{source.name}.{scope}",
        key,
        axes,
        source.reduce_axes,
        source.outputs,
        substituted(source.reads, values),
        scope=scope,
    )
    _read_from(source, made, [as_expression(inside[loop]) for loop in kept])
    source.reduce_axes = []
    source.restart()
    return made


def rfactor(source: TensorStage, loop: LoopVariable, position: int, key: int) -> TensorStage:
    """Return a stage with a reduction loop of `source` as an axis, which that then reduces."""
    touched = source.touching(loop)
    reduced = [axis for axis in source.reduce_axes if axis.loop in touched]
    if not reduced or any(axis.loop in touched for axis in source.axes):
        raise RefusedError(f"{loop.name} of {source.name} is not of reduce axes alone")
    ranges = _ranges(source, reduced)
    parts = [leaf for leaf in source.leaves if leaf in touched]
    inside = {
        part: LinearForm() if ranges[part].extent == 1 else LinearForm.of(part) for part in parts
    }
    pass_up_forms(source, ranges, inside)
    values = {axis.loop.name: as_expression(inside[axis.loop]) for axis in reduced}
    place = position if position >= 0 else len(source.axes) + 1 + position
    factored = StageAxis(LoopVariable(loop.name), ranges[loop].extent)
    untouched = [axis for axis in source.reduce_axes if axis.loop not in touched]
    others = [
        StageAxis(LoopVariable(part.name), ranges[part].extent)
        for part in parts
        if part is not loop
    ]
    made = TensorStage(
        f"{source.name}.rf",
        key,
        [*source.axes[:place], factored, *source.axes[place:]],
        [*untouched, *others],
        source.outputs,
        substituted(source.reads, values),
    )
    made.relations = [
        relation
        for relation in source.relations
        if not touched.intersection(
            relation.used if isinstance(relation, AxisSplit) else relation.made
        )
    ]
    over = StageAxis(LoopVariable(f"{loop.name}.v"), factored.extent)
    axes = _renamed(source.axes)
    indices = [Variable(axis.loop.name) for axis in axes]
    indices.insert(place, Variable(over.loop.name))
    _read_from(source, made, indices)
    source.name, source.axes, source.reduce_axes = f"{source.name}.repl", axes, [over]
    source.restart()
    return made


def _renamed(axes: Sequence[StageAxis]) -> list[StageAxis]:
    return [
        StageAxis(LoopVariable(f"ax{place}"), axis.extent, axis.symbol)
        for place, axis in enumerate(axes)
    ]


def _ranges(stage: TensorStage, axes: Sequence[StageAxis]) -> Ranges:
    ranges = {axis.loop: LoopRange(LinearForm(), axis.extent) for axis in axes}
    for axis in axes:
        axis.loop.extent = axis.extent
    pass_down_ranges(stage, ranges, final=False)
    return ranges


def _read_from(stage: TensorStage, made: TensorStage, indices: Sequence[Expression]) -> None:
    stage.reads = checked(
        TensorRead(made.name, tuple(indices), output, made.key) for output in range(stage.outputs)
    )


Reads = tuple[TensorRead, ...]
_MOST_READS, _DEEPEST, _LARGEST = 200, 40, 300  # far above schedules of real networks


def all_reads(bodies: Iterable[Expression]) -> Reads | None:
    """Return the distinct reads of bodies, None where one has unknown reads."""
    distinct = tuple(dict.fromkeys(read for body in bodies for read in reads(body)))
    return None if any(read.operation < 0 for read in distinct) else checked(distinct)


def checked(candidates: Iterable[TensorRead]) -> Reads | None:
    """Return distinct reads; None if there are too many or too large ones."""
    distinct: dict[TensorRead, None] = {}
    for read in candidates:
        if not _is_small(read) or len(distinct) > _MOST_READS:
            return None
        distinct[read] = None
    return tuple(distinct)


def substituted(known: Reads | None, values: Mapping[str, Expression]) -> Reads | None:
    """Return reads with indices substituted for some axes."""
    if known is None:
        return None

    def change(expression: Expression) -> Expression:
        if isinstance(expression, Variable):
            return values.get(expression.name, expression)
        return rebuilt(expression, change)

    return checked(read for read in map(change, known) if isinstance(read, TensorRead))


def redirected(known: Reads, old: tuple[int, int], new: int) -> Reads:
    """Return reads with one output replaced by another stage's."""

    def change(expression: Expression) -> Expression:
        whole = rebuilt(expression, change)
        if isinstance(whole, TensorRead) and (whole.operation, whole.output) == old:
            return TensorRead(whole.name, whole.indices, 0, new)
        return whole

    return tuple(read for read in map(change, known) if isinstance(read, TensorRead))


def inlined(
    known: Reads | None, key: int, axes: Sequence[str], inner: Reads | None
) -> Reads | None:
    """Return reads with those of a stage replaced by that stage's own reads."""
    if known is None or all(read.operation != key for read in known):
        return known
    if inner is None:
        return None
    whole: list[TensorRead] = []
    for each in known:
        if each.operation != key:
            whole.append(each)
            continue
        more = substituted(inner, dict(zip(axes, each.indices, strict=False)))
        if more is None:
            return None
        whole += more
    return checked(whole)


def as_expression(form: LinearForm) -> Expression:
    """Return a form as an expression of loop names."""
    whole: Expression | None = None
    for atom, times in form.terms.items():
        part: Expression
        if isinstance(atom, LoopVariable):
            part = Variable(atom.name)
        else:
            op = "floordiv" if isinstance(atom, Quotient) else "floormod"
            part = BinaryExpr(op, as_expression(atom.of), Number(atom.by))
        part = part if times == 1 else BinaryExpr("*", part, Number(times))
        whole = part if whole is None else BinaryExpr("+", whole, part)
    if whole is None:
        return Number(form.constant)
    return whole if not form.constant else BinaryExpr("+", whole, Number(form.constant))


def _is_small(expression: Expression) -> bool:
    waiting, seen = [(expression, 1)], 0
    while waiting:
        expr, depth = waiting.pop()
        seen += 1
        if depth > _DEEPEST or seen > _LARGEST:
            return False
        waiting += [(part, depth + 1) for part in expr.parts]
    return True
