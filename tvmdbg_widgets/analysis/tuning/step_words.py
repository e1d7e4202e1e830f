"""Transform steps as sentences, and floating-point operations of a DAG."""

from __future__ import annotations

from collections.abc import Iterable
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


def _does(  # noqa: C901, PLR0911, PLR0912 (a case a step)
    step: AnyStep, before: State | None
) -> str:
    at = step.stage_id
    loop = _loop(before, at, getattr(step, "iter_id", -1))
    match step:
        case AnnotationStep(_, _, annotation):
            mark = _MARK.get(annotation)
            return mark.format(loop) if mark else f"bind {loop} to {annotation.word}"
        case FuseStep(_, ()):
            return "replace its loops by one of extent 1"
        case FuseStep(_, places):
            return f"fuse {_loops(before, at, places, ' · ')} into one loop"
        case PragmaStep(_, _, "debug_skip_region"):
            return "detach it (debug_skip_region)"
        case PragmaStep(_, _, pragma):
            if (most := step.auto_unroll) is None:
                return f"pragma {one_line(pragma)}"
            if not most:
                return "unroll no loop that is not marked (auto_unroll_max_step 0)"
            return f"unroll bodies of up to {counted(most, 'step')} (auto_unroll_max_step)"
        case ReorderStep(_, places):
            return f"reorder the loops to {_loops(before, at, places, ', ')}"
        case SplitStep():
            order = "" if step.inner_to_outer else ", outer parts first"
            return f"split {loop}{_parts(step.lengths)}{order}"
        case FollowSplitStep(_, _, source, count):
            lengths = _lengths(before, source)
            followed = () if lengths is None else followed_lengths(lengths, count)
            parts = _parts(followed) if followed and max(followed) <= LARGEST_FACTOR else ""
            parts = parts or f" into {counted(count + 1, 'part')}"
            return f"split {loop}{parts}, same factors as step {source}"
        case FollowFusedSplitStep(_, _, sources, level, is_inner):
            part = f"{'inner' if is_inner else 'outer'} part{_followed(before, sources, level)}"
            steps = " and ".join(map(str, sources)) or "none"
            return f"split {loop} in two, {part}, the product of level {level} of steps {steps}"
        case StorageAlignStep():
            return f"align the storage at {loop} to {step.factor} with offset {step.offset}"
        case ComputeAtStep(_, target, place):
            return (
                f"compute it inside {_loop(before, target, place)} of {_stage_name(before, target)}"
            )
        case ComputeInlineStep():
            return "inline it where it is read"
        case ComputeRootStep():
            return "compute it on its own, outside of other stages"
        case CacheReadStep(_, scope, readers):
            names = [_stage_name(before, each, each + (each > at)) for each in readers]
            return (
                f"copy it to {one_line(scope)} memory in a new stage {at + 1}, from which "
                f"{' and '.join(names) or 'no stage'} {'read' if len(names) > 1 else 'reads'}"
            )
        case CacheWriteStep(_, scope):
            return (
                f"compute it in a new stage {at} in {one_line(scope)} memory, from "
                f"which this one, now stage {at + 1}, copies"
            )
        case RfactorStep(_, _, place):
            return (
                f"factor {loop} out of the reduction: axis {place} of a new stage "
                f"{at}, over which this one, now stage {at + 1}, reduces"
            )


def _followed(before: State | None, sources: Iterable[int], level: int) -> str:
    """Return the product of one level of some splits, nothing where it is not known."""
    factor = 1
    for source in sources:
        lengths = _lengths(before, source)
        if lengths is None or not 0 <= level < len(lengths):
            return ""
        factor *= lengths[level]
        if factor > LARGEST_FACTOR:
            return ""
    return f" {factor:,}"


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
