"""Bounds of all loops, consumers before producers (``InferBound``, src/te/schedule/bound.cc)."""

from __future__ import annotations

from collections.abc import Sequence

from tvmdbg_widgets.analysis.tuning.schedules.forms import (
    EVERYTHING,
    IntegerInterval,
    LinearForm,
    LoopRange,
    LoopVariable,
    RefusedError,
    evaluated,
    interval,
    point,
    relaxed,
    union,
)
from tvmdbg_widgets.analysis.tuning.schedules.stages import (
    Intervals,
    Ranges,
    TensorStage,
    pass_down_ranges,
    pass_up_intervals,
)

# A buffer is seen by all threads of its rank or a finer one (src/runtime/thread_storage_scope.h).
_SCOPES = {"global": 0, "shared": 1, "warp": 2, "local": 3}
_OF_BLOCKS, _OF_THREADS = 0, 1


def infer(stages: Sequence[TensorStage]) -> Ranges:
    """Return the ranges of all loops of normalized stages."""
    ranges: Ranges = {}
    for at in range(len(stages) - 1, -1, -1):
        stage = stages[at]
        if stage.is_inlined:
            pass_down_ranges(stage, ranges)  # raises for loops that were split or bound before
        else:
            _infer_stage(stage, stages[at + 1 :], ranges)
    return ranges


def _infer_stage(stage: TensorStage, later: Sequence[TensorStage], ranges: Ranges) -> None:
    domains = [LoopRange(LinearForm(), axis.extent, axis.symbol) for axis in stage.roots]
    if stage.is_output and stage.place is not None:
        raise RefusedError(f"the output {stage.name} is attached")
    if not (stage.is_output or stage.is_placeholder):
        read = _read_bounds(stage, later, ranges)
        for number, index in enumerate(read):
            whole = domains[number]
            domains[number] = LoopRange(LinearForm(), None) if index is None else index.range(whole)
    for axis, domain in zip(stage.roots, domains, strict=True):
        ranges[axis.loop] = domain
        axis.loop.extent = domain.extent
    pass_down_ranges(stage, ranges)


def _read_bounds(
    stage: TensorStage, later: Sequence[TensorStage], ranges: Ranges
) -> list[IntegerInterval | None]:
    path = list(stage.path())
    around = path[0][1] if path else None
    rank = _storage_rank(stage, path)
    bounds: list[IntegerInterval | None] | None = None
    for consumer in later:
        if consumer.is_inlined and not consumer.is_output:
            continue
        if consumer.reads is None:
            return [None] * len(stage.axes)
        if all(read.operation != stage.key for read in consumer.reads):
            continue
        axes = _axis_intervals_inside(consumer, around, rank, ranges)
        for read in consumer.reads:
            if read.operation == stage.key:
                one = [
                    within_shape(evaluated(index, axes), axis.extent)
                    for index, axis in zip(read.indices, stage.axes, strict=False)
                ]
                bounds = one if bounds is None else list(map(union, bounds, one))
    return [EVERYTHING] * len(stage.axes) if bounds is None else bounds


def _axis_intervals_inside(
    consumer: TensorStage, around: LoopVariable | None, rank: int, ranges: Ranges
) -> dict[str, IntegerInterval | None]:
    intervals: Intervals = {}
    inside = True
    for loop in reversed(consumer.leaves):
        inside = inside and loop is not around
        if loop not in ranges:
            raise RefusedError(f"{consumer.name} is inlined, or a loop of it is no more")
        whole = ranges[loop]
        if whole.extent == 1:
            intervals[loop] = point(whole.min)
        elif _runs_inside(consumer.tag(loop), inside, rank):
            intervals[loop] = interval(whole)
        else:
            _check_from_zero(whole)
            variable = consumer.threads[loop][1] if loop in consumer.threads else loop
            intervals[loop] = point(LinearForm.of(variable))
    running: Intervals = {}
    for stage, loop in consumer.path():
        inside = inside and loop is not around
        _check_from_zero(ranges[loop])
        if _runs_inside(stage.tag(loop), inside, rank):
            running[loop] = interval(ranges[loop])
            if loop in stage.threads:
                running[stage.threads[loop][1]] = interval(ranges[loop])
    if inside and around is not None:
        raise RefusedError(f"no loop around {consumer.name} carries what it reads")
    return axis_intervals(consumer, intervals, running, ranges)


def axis_intervals(
    stage: TensorStage, own: Intervals, around: Intervals, ranges: Ranges
) -> dict[str, IntegerInterval | None]:
    """Return the values of a stage's axes, by name."""
    pass_up_intervals(stage, ranges, own)
    axes: dict[str, IntegerInterval | None] = {}
    for axis in stage.roots:
        domain = LoopRange(LinearForm(), axis.extent, axis.symbol)
        values = own.get(axis.loop, interval(domain))
        axes[axis.loop.name] = _while_running(values, around, domain)
    return axes


def _while_running(
    values: IntegerInterval | None, running: Intervals, domain: LoopRange
) -> IntegerInterval | None:
    if values is None:
        return None
    covered = interval(values.range(domain))
    if covered is None or covered.low is None or covered.high is None or not running:
        return covered
    low, high = relaxed(covered.low, running), relaxed(covered.high, running)
    return None if low is None or high is None else IntegerInterval(low.low, high.high)


def within_shape(values: IntegerInterval | None, extent: int | None) -> IntegerInterval | None:
    """Return the entire dimension if an index covers it."""
    if values is None:
        return None
    low = None if values.low is None else values.low.limits[1]
    high = None if values.high is None else values.high.limits[0]
    endless = values.low is None and values.high is None
    if endless or (
        low is not None
        and high is not None
        and extent is not None
        and low <= 0 <= extent - 1 <= high
    ):
        return interval(LoopRange(LinearForm(), extent))
    return values


def _runs_inside(tag: str, inside: bool, rank: int) -> bool:
    if not tag:
        return inside
    if rank == _SCOPES["warp"] and tag == "threadIdx.x":
        return True
    return rank <= (_OF_BLOCKS if tag.startswith("blockIdx") else _OF_THREADS)


def _storage_rank(stage: TensorStage, path: Sequence[tuple[TensorStage, LoopVariable]]) -> int:
    if stage.scope:
        if stage.scope not in _SCOPES:
            raise RefusedError(f"the scope {stage.scope!r} is not known")
        return _SCOPES[stage.scope]
    tags = [tag for around, loop in path if (tag := around.tag(loop))]
    if not tags:
        return _SCOPES["global"]
    of_threads = any(not tag.startswith("blockIdx") for tag in tags)
    return _SCOPES["local" if of_threads else "shared"]


def _check_from_zero(whole: LoopRange) -> None:
    if whole.min != LinearForm():
        raise RefusedError("a loop bound to a thread does not begin at 0")
