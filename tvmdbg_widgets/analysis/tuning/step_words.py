"""Transform steps as sentences, and floating-point operations of a DAG."""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from math import isfinite, prod

from tvmdbg_widgets.analysis.tuning.schedules.working import (
    LARGEST_FACTOR,
    MOST_LOOPS,
    followed_lengths,
)
from tvmdbg_widgets.model.base.numbers import agree, as_float, counted
from tvmdbg_widgets.model.base.text import one_line
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
    State,
    StorageAlignStep,
)
from tvmdbg_widgets.model.tuning.trials import (
    COMPARISONS,
    LOGICAL,
    Axis,
    BinaryExpr,
    CallExpr,
    Cast,
    ComputeDag,
    DagSource,
    Expression,
    Not,
    Number,
    Operation,
    Reduction,
    Select,
    TensorRead,
    Text,
    Variable,
)

_MARK = {
    Annotation.NONE: "leave {} as it is",
    Annotation.UNROLL: "unroll {}",
    Annotation.VECTORIZE: "vectorize {}",
    Annotation.PARALLEL: "run {} in parallel",
    Annotation.TENSORIZE: "tensorize {}",
}


def step_words(step: AnyStep, before: State | None = None) -> str:
    """Describe a step in one sentence without a full stop.

    Examples
    --------
    >>> step_words(SplitStep(2, 0, 64, (2, 2, 8), True))
    'stage 2: split loop 0 into 4 parts, factors 2 · 2 · 8'
    """
    return f"{_stage_name(before, step.stage_id)}: {_does(step, before)}"


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
    factors = [_lengths(before, source) for source in step.src_step_ids]
    factor = 1
    for lengths in factors:
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
    return f"compute it inside {loop} of {_stage_name(before, step.target_stage_id)}"


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
    readers = [
        _stage_name(before, reader, reader + (reader >= made)) for reader in step.reader_stage_ids
    ]
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


def _stage_name(state: State | None, index: int, number: int | None = None) -> str:
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
    factors = " · ".join(f"{length:,}" for length in lengths)
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


# Kinds of types, as TVM groups them: bool and unsigned, signed, floating-point.
_UNSIGNED, _SIGNED, _FLOAT = "uint", "int", "float"


def flop_count(dag: ComputeDag) -> float | None:
    """Return the number of operations, ``task.compute_dag.flop_ct``."""
    kinds: list[str | None] = []
    total = 0
    for operation in dag.operations:
        counter = _FlopCounter(kinds)
        kind = counter.kind_of_operation(operation)
        kinds.append(kind)
        if operation.is_placeholder:
            continue
        count = _operations_of(operation, counter, kind or _FLOAT)
        if count is None:
            return None
        total += count
    counted = as_float(total)
    return counted if isfinite(counted) else None


def _operations_of(operation: Operation, counter: _FlopCounter, kind: str) -> int | None:
    elements, iterations = _product(operation.axes), _product(operation.reduce_axes)
    counts = [counter.count(body, kind, iterations or 0) for body in operation.bodies]
    known = [count for count in counts if count is not None]
    if elements is None or iterations is None or not counts or len(known) < len(counts):
        return None
    return elements * sum(known)


def _product(axes: Iterable[Axis]) -> int | None:
    extents = [axis.extent for axis in axes]
    known = [extent for extent in extents if extent is not None]
    return prod(known) if len(known) == len(extents) else None


class _FlopCounter:
    """Operation counter for one operation; `kinds` are the kinds of all before it."""

    def __init__(self, kinds: list[str | None]) -> None:
        self._kinds = kinds
        self._kind = _FLOAT

    def count(self, body: Expression, kind: str, iterations: int) -> int | None:
        self._kind = kind
        if not isinstance(body, Reduction):
            return self._visit(body)
        source = self._visit(body.sources[0])
        return None if source is None or body.combiner == "select" else iterations * (1 + source)

    def _visit(self, expression: Expression) -> int | None:
        if isinstance(expression, Number | Variable | TensorRead):
            return 0
        if isinstance(expression, Text | Reduction):
            return None
        parts = [self._visit(part) for part in expression.parts]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        if isinstance(expression, Select):
            return known[0] + max(known[1:])
        return self._own_operations(expression) + sum(known)

    def _own_operations(self, expression: Expression) -> int:
        match expression:
            case BinaryExpr(_, a, b):
                return int(
                    (self._expression_kind(a) or self._expression_kind(b) or _FLOAT) == self._kind
                )
            case Not():
                return int(self._kind == _UNSIGNED)
        return 0

    def kind_of_operation(self, operation: Operation) -> str | None:
        if operation.dtype:
            return _kind(operation.dtype)
        return self._expression_kind(operation.bodies[0]) if operation.bodies else None

    def _expression_kind(self, expression: Expression) -> str | None:
        match expression:
            case Number(_, dtype) | Cast(dtype):
                return _kind(dtype)
            case Variable():
                return _SIGNED
            case TensorRead(_, _, _, at):
                return self._kinds[at] if 0 <= at < len(self._kinds) else None
            case Not():
                return _UNSIGNED
            case BinaryExpr(op, a, b):
                is_truth = op in (*COMPARISONS, *LOGICAL)
                return (
                    _UNSIGNED if is_truth else self._expression_kind(a) or self._expression_kind(b)
                )
            case CallExpr("tir.if_then_else", (_, a, b)) | Select(_, a, b):
                return self._expression_kind(a) or self._expression_kind(b)
            case CallExpr(_, (a, *_)) | Reduction(_, (a, *_)):
                return self._expression_kind(a)
        return None


def _kind(dtype: str) -> str:
    if dtype.startswith(("uint", "bool")):
        return _UNSIGNED
    return _SIGNED if dtype.startswith("int") else _FLOAT
