"""Extents that a DAG's text lacks, from the splits of a record.

A SP step records the extent of the loop that it splits. That is the axis's own where the axis was
neither split nor fused before, in a stage that was never placed inside another; any other may be
that of an ancestor, whose tile sizes were other ones (``MutateTileSize``, sketch_policy_rules.cc).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tvmdbg_widgets.analysis.tuning.replay.errors import ReplayError
from tvmdbg_widgets.analysis.tuning.replay.limits import LARGEST_FACTOR
from tvmdbg_widgets.analysis.tuning.replay.names import clean_name
from tvmdbg_widgets.analysis.tuning.replay.replaying import Replay
from tvmdbg_widgets.formats.tuning.dags.extents import with_extents
from tvmdbg_widgets.model.tuning.dag import Axis, ComputeDag, Operation
from tvmdbg_widgets.model.tuning.state import Iterator, Stage
from tvmdbg_widgets.model.tuning.steps import AnyStep, CacheWriteStep, SplitStep


def lacks_extents(dag: ComputeDag) -> bool:
    """Whether an axis has no extent, where it is no expression either."""
    return any(
        axis.extent is None and not axis.symbol
        for each in dag.operations
        for axis in (*each.axes, *each.reduce_axes)
    )


def with_recorded_extents(dag: ComputeDag, steps: Sequence[AnyStep]) -> ComputeDag:
    """Return a DAG with the extents that a schedule's splits record, and those that follow."""
    found: dict[tuple[int, str], int] = {}
    try:
        replaying = Replay(dag, steps)
        for step in steps:
            if isinstance(step, SplitStep) and 0 < step.extent <= LARGEST_FACTOR:
                stage = replaying.stage(step.stage_id)
                axis = _axis(stage, step.iter_id, dag, steps)
                if axis is not None:
                    found.setdefault((stage.operation, axis.name), step.extent)
            replaying.advance()
    except ReplayError:
        pass
    if not found:
        return dag
    operations = tuple(_filled(each, number, found) for number, each in enumerate(dag.operations))
    return replace(dag, operations=with_extents(operations))


def _axis(stage: Stage, place: int, dag: ComputeDag, steps: Sequence[AnyStep]) -> Axis | None:
    """Return the axis of unknown extent that a loop is, None where it is no such axis."""
    is_own = stage.made_by < 0 or isinstance(steps[stage.made_by], CacheWriteStep)
    if not is_own or stage.placed_by >= 0 or not 0 <= place < len(stage.iterators):
        return None
    loop = stage.iterators[place]
    if len(loop.parts) != 1 or loop.made_by != stage.made_by:
        return None
    operation = dag.operations[stage.operation]
    axes = [
        axis
        for axis in (*operation.axes, *operation.reduce_axes)
        if axis.extent is None and not axis.symbol and _is_of(loop, axis, stage)
    ]
    return axes[0] if len(axes) == 1 else None


def _is_of(loop: Iterator, axis: Axis, stage: Stage) -> bool:
    names = [axis.name, f"{axis.name}.c"] if stage.role == "cache write" else [axis.name]
    return loop.name in map(clean_name, names)


def _filled(operation: Operation, number: int, found: Mapping[tuple[int, str], int]) -> Operation:
    def with_extent(axis: Axis) -> Axis:
        extent = found.get((number, axis.name))
        return axis if extent is None else replace(axis, extent=extent)

    return replace(
        operation,
        axes=tuple(map(with_extent, operation.axes)),
        reduce_axes=tuple(map(with_extent, operation.reduce_axes)),
    )
