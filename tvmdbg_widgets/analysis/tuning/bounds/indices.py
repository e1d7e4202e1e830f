"""Values of loops from those of others of the stage (src/te/schedule/message_passing.cc)."""

from __future__ import annotations

from collections.abc import Mapping

from tvmdbg_widgets.analysis.tuning.bounds.errors import RefusedError
from tvmdbg_widgets.analysis.tuning.bounds.forms import (
    LinearForm,
    LoopVariable,
    quotient,
    remainder,
)
from tvmdbg_widgets.analysis.tuning.bounds.ranges import (
    IntegerInterval,
    LoopRange,
    divided,
    interval,
    plus,
    point,
)
from tvmdbg_widgets.analysis.tuning.bounds.stages import AxisSplit, Fuse, Shift, Single, TensorStage

Ranges = dict[LoopVariable, LoopRange]
Intervals = dict[LoopVariable, IntegerInterval | None]


def pass_down_ranges(stage: TensorStage, ranges: Ranges, *, final: bool = True) -> None:
    """Add the ranges of all loops to those of the axes (``PassDownDomain``)."""
    bound = _bound_to_threads(stage)
    for relation in stage.relations:
        if any(loop not in ranges for loop in relation.used):
            if final:
                raise RefusedError(f"a loop of {stage.name} comes from one that is no more")
            continue
        for loop, extent in _extents(relation, ranges, bound, final).items():
            ranges[loop] = LoopRange(LinearForm(), extent)
            loop.extent = extent
    for loop, (_, variable) in stage.threads.items():
        if loop not in ranges and not final:
            continue
        if loop not in ranges:
            raise RefusedError(f"a bound loop of {stage.name} is no more")
        ranges[variable] = ranges[loop]
        variable.extent = ranges[loop].extent


def _extents(
    relation: object, ranges: Ranges, bound: set[LoopVariable], final: bool
) -> dict[LoopVariable, int | None]:
    match relation:
        case AxisSplit(parent, outer, inner, factor, of_inner):
            whole = ranges[parent].extent
            given, rest = (inner, outer) if of_inner else (outer, inner)
            if whole is None:
                return {given: factor if given in bound else None, rest: None}
            tight = final and whole and given not in bound
            return {given: min(whole, factor) if tight else factor, rest: -(-whole // factor)}
        case Fuse(outer, inner, fused):
            a, b = ranges[outer].extent, ranges[inner].extent
            return {fused: None if a is None or b is None else a * b}
        case Shift(parent, shifted):
            return {shifted: ranges[parent].extent}
        case Single(loop):
            return {loop: 1}
    raise TypeError(relation)


def _bound_to_threads(stage: TensorStage) -> set[LoopVariable]:
    """Return loops from which a loop bound to a thread is made (``PassUpThreadBinding``)."""
    bound = set(stage.threads)
    for relation in reversed(stage.relations):
        if bound & set(relation.made):
            bound.update(relation.used)
    return bound


def pass_up_intervals(stage: TensorStage, ranges: Ranges, found: Intervals) -> None:
    """Add the intervals of the axes to those of the leaves (``PassUpDomain``)."""
    for relation in reversed(stage.relations):
        if any(loop not in found for loop in relation.made) and not isinstance(relation, Single):
            raise RefusedError(f"a loop of {stage.name} is not among its leaves")
        match relation:
            case AxisSplit():
                found[relation.parent] = _split_up(relation, ranges, found)
            case Fuse():
                found[relation.outer], found[relation.inner] = _fuse_up(relation, ranges, found)
            case Shift(parent, shifted):
                each = found[shifted]
                found[parent] = None if each is None else plus(each, point(ranges[parent].min))


def _split_up(relation: AxisSplit, ranges: Ranges, found: Intervals) -> IntegerInterval | None:
    outer, inner = found[relation.outer], found[relation.inner]
    if outer is None or inner is None:
        return None
    whole = ranges[relation.parent]
    if outer.is_all_of(ranges[relation.outer]) and inner.is_all_of(ranges[relation.inner]):
        return interval(whole)
    factor = ranges[relation.inner].extent
    if factor is None:
        return None
    return plus(plus(plus(point(LinearForm()), outer, factor), inner), point(whole.min))


def _fuse_up(
    relation: Fuse, ranges: Ranges, found: Intervals
) -> tuple[IntegerInterval | None, IntegerInterval | None]:
    fused, outer, inner = found[relation.fused], ranges[relation.outer], ranges[relation.inner]
    if fused is None or inner.extent is None or fused.low is None or fused.high is None:
        return None, None
    if fused.is_all_of(ranges[relation.fused]):
        return interval(outer), interval(inner)
    outside = plus(divided(fused, inner.extent), point(outer.min))
    low, high = fused.low, fused.high
    if not fused.is_point:
        extent = high.plus(low, -1).plus(1).number
        if extent is None:
            return None, None
        if inner.extent % extent or remainder(low, extent) != LinearForm():
            return outside, interval(inner)
    inside = IntegerInterval(remainder(low, inner.extent), remainder(high, inner.extent))
    return outside, plus(inside, point(inner.min))


def pass_up_forms(
    stage: TensorStage, ranges: Ranges, found: dict[LoopVariable, LinearForm]
) -> None:
    """Add the values of the axes to those of the leaves, where they are known (``PassUpIndex``)."""
    for relation in reversed(stage.relations):
        match relation:
            case AxisSplit(parent, outer, inner) if outer in found and inner in found:
                factor = _known(ranges[inner].extent)
                found[parent] = (
                    found[outer].times(factor).plus(found[inner]).plus(ranges[parent].min)
                )
            case Fuse(outer, inner, fused) if fused in found:
                factor = _known(ranges[inner].extent)
                found[outer] = quotient(found[fused], factor).plus(ranges[outer].min)
                found[inner] = remainder(found[fused], factor).plus(ranges[inner].min)


def pass_down_forms(
    stage: TensorStage,
    ranges: Mapping[LoopVariable, LoopRange],
    found: dict[LoopVariable, LinearForm],
) -> None:
    """Add the values of the leaves to those of the axes (``PassDownIndex``)."""
    for relation in stage.relations:
        match relation:
            case AxisSplit(parent, outer, inner) if parent in found:
                factor = _known(ranges[inner].extent)
                found[outer] = quotient(found[parent], factor)
                found[inner] = remainder(found[parent], factor)
            case Fuse(outer, inner, fused) if outer in found and inner in found:
                factor = _known(ranges[inner].extent)
                found[fused] = found[outer].times(factor).plus(found[inner])
            case Single(loop):
                found[loop] = LinearForm()


def _known(extent: int | None) -> int:
    if extent is None:
        raise RefusedError("an extent is not known")
    return extent
