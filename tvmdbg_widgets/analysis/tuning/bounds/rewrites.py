"""Stages that are added (src/te/schedule/schedule_dataflow_rewrite.cc)."""

from __future__ import annotations

from collections.abc import Sequence

from tvmdbg_widgets.analysis.tuning.bounds.errors import RefusedError
from tvmdbg_widgets.analysis.tuning.bounds.forms import LinearForm, LoopVariable
from tvmdbg_widgets.analysis.tuning.bounds.indices import (
    Ranges,
    pass_down_forms,
    pass_down_ranges,
    pass_up_forms,
)
from tvmdbg_widgets.analysis.tuning.bounds.ranges import LoopRange
from tvmdbg_widgets.analysis.tuning.bounds.reads import (
    as_expression,
    checked,
    redirected,
    substituted,
)
from tvmdbg_widgets.analysis.tuning.bounds.stages import (
    AxisSplit,
    Fuse,
    Relation,
    StageAxis,
    TensorStage,
)
from tvmdbg_widgets.model.tuning.expressions import Expression, TensorRead, Variable


def cache_read(
    source: TensorStage, scope: str, readers: Sequence[TensorStage], key: int
) -> TensorStage:
    """Return a stage that copies `source` for its readers, which then read the copy."""
    axes = _renamed(source.axes)
    indices = tuple(Variable(axis.loop.name) for axis in axes)
    for reader in readers:
        if reader.reads is None:
            raise RefusedError(f"what {reader.name} reads is not known")
        reader.reads = redirected(reader.reads, (source.key, 0), key)
    read = TensorRead(source.name, indices, 0, source.key)
    return TensorStage(f"{source.name}.{scope}", key, axes, [], 1, (read,), scope=scope)


def cache_write(source: TensorStage, scope: str, key: int) -> TensorStage:
    """Return a stage that computes what `source` then copies.

    Its axes are the loops of `source`, split and fused as they are by then.
    """
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
    """Return a stage with one reduction loop of `source` as an axis, over which that then runs."""
    touched = source.touching(loop)
    reduced = [axis for axis in source.reduce_axes if axis.loop in touched]
    if not reduced or any(axis.loop in touched for axis in source.axes):
        raise RefusedError(f"{loop.name} of {source.name} is not of reduce axes alone")
    ranges = _ranges(source, reduced)
    parts = [each for each in source.leaves if each in touched]
    inside = {
        each: LinearForm() if ranges[each].extent == 1 else LinearForm.of(each) for each in parts
    }
    pass_up_forms(source, ranges, inside)
    values = {axis.loop.name: as_expression(inside[axis.loop]) for axis in reduced}
    place = position if position >= 0 else len(source.axes) + 1 + position
    factored = StageAxis(LoopVariable(loop.name), ranges[loop].extent)
    untouched = [axis for axis in source.reduce_axes if axis.loop not in touched]
    others = [
        StageAxis(LoopVariable(each.name), ranges[each].extent)
        for each in parts
        if each is not loop
    ]
    made = TensorStage(
        f"{source.name}.rf",
        key,
        [*source.axes[:place], factored, *source.axes[place:]],
        [*untouched, *others],
        source.outputs,
        substituted(source.reads, values),
    )
    made.relations = [each for each in source.relations if not _marks(each) & touched]
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
        StageAxis(LoopVariable(f"ax{place}"), each.extent, each.symbol)
        for place, each in enumerate(axes)
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


def _marks(relation: Relation) -> set[LoopVariable]:
    """Return the loop by which TE tells whether a relation is touched."""
    match relation:
        case AxisSplit(parent):
            return {parent}
        case Fuse(_, _, fused):
            return {fused}
    return set()
