"""Elements of buffers touched by loops, at every level of a loop nest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from tvmdbg_widgets.analysis.tuning.schedules.forms import (
    IntegerInterval,
    LinearForm,
    LoopVariable,
    RefusedError,
    evaluated,
    interval,
    point,
    union,
)
from tvmdbg_widgets.analysis.tuning.schedules.infer import axis_intervals, infer, within_shape
from tvmdbg_widgets.analysis.tuning.schedules.stages import Intervals, Ranges, TensorStage
from tvmdbg_widgets.analysis.tuning.schedules.te_schedule import StagedDag, normalize
from tvmdbg_widgets.model.tuning.steps import ComputeAt, State

_MOST_LOOPS = 200  # nested loops at most: real schedules have up to thirty
_BITS = re.compile(r"(?:bool|[a-z]+(\d+))(?:x(\d+))?")


@dataclass(frozen=True)
class Touch:
    """Part of a buffer that one iteration around a loop touches while the loop runs."""

    stage: int
    iterator: int
    buffer: int
    name: str
    is_written: bool
    elements: int | None
    nbytes: int | None


Box: TypeAlias = list[IntegerInterval | None]  # side per dimension, None where unknown
#: Boxes by key of the touched stage and whether it is written.
Boxes: TypeAlias = dict[tuple[int, bool], Box]


def touches(state: State) -> tuple[Touch, ...]:
    """Return the touches per loop, including those of stages computed inside it."""
    try:
        stages = StagedDag(state.dag, state.steps).stages
        normalize(stages)
        boxes = _boxes_by_loop(stages, infer(stages))
    except RefusedError:
        return ()
    if any(
        stage.is_inlined and shown.compute_at is not ComputeAt.INLINED
        for stage, shown in zip(stages, state.stages, strict=True)
    ):
        return ()
    return tuple(_touches(state, stages, boxes))


def _touches(
    state: State, stages: Sequence[TensorStage], boxes: dict[LoopVariable, Boxes]
) -> Iterator[Touch]:
    numbers = {stage.key: number for number, stage in enumerate(stages)}
    for number, (stage, shown) in enumerate(zip(stages, state.stages, strict=True)):
        for place, loop in enumerate(stage.loops[: len(shown.iterators)]):
            for (key, is_written), box in sorted(boxes.get(loop, {}).items()):
                buffer = numbers[key]
                dtype = state.dag.operations[state.stages[buffer].operation].dtype
                elements = _elements(box)
                nbytes = None if elements is None else _packed_bytes(elements, dtype)
                name = state.stages[buffer].name
                yield Touch(number, place, buffer, name, is_written, elements, nbytes)


def _boxes_by_loop(stages: Sequence[TensorStage], ranges: Ranges) -> dict[LoopVariable, Boxes]:
    named = {stage.key: stage for stage in stages}
    of_loops: dict[LoopVariable, Boxes] = {}
    for stage in stages:
        if stage.is_inlined or stage.is_placeholder:
            continue
        nest = [*reversed(list(stage.path())), *((stage, loop) for loop in stage.leaves)]
        if len(nest) > _MOST_LOOPS:
            raise RefusedError(f"more than {_MOST_LOOPS} loops around each other")
        for place, (_, loop) in enumerate(nest):
            axes = _axes(stage, nest[place:], ranges)
            boxes = of_loops.setdefault(loop, {})
            written = [axes[axis.loop.name] for axis in stage.axes]
            _add(boxes, (stage.key, True), written, stage)
            for read in stage.reads or ():
                box = [evaluated(index, axes) for index in read.indices]
                _add(boxes, (read.operation, False), box, named[read.operation])
    return of_loops


def _axes(
    stage: TensorStage, running: Sequence[tuple[TensorStage, LoopVariable]], ranges: Ranges
) -> dict[str, IntegerInterval | None]:
    around: Intervals = {}
    for outer, loop in running:
        around[loop] = interval(ranges[loop])
        if loop in outer.threads:
            around[outer.threads[loop][1]] = interval(ranges[loop])
    own: Intervals = {}
    for loop in stage.leaves:
        variable = stage.threads[loop][1] if loop in stage.threads else loop
        still = ranges[loop].min if ranges[loop].extent == 1 else LinearForm.of(variable)
        own[loop] = around.get(loop, point(still))
    return axis_intervals(stage, own, around, ranges)


def _add(boxes: Boxes, key: tuple[int, bool], box: Box, buffer: TensorStage) -> None:
    sides = [within_shape(side, axis.extent) for side, axis in zip(box, buffer.axes, strict=False)]
    old = boxes.get(key)
    boxes[key] = sides if old is None else list(map(union, old, sides))


def _elements(box: Box) -> int | None:
    extents = []
    for side in box:
        if side is None or side.low is None or side.high is None:
            return None
        extents.append(side.high.plus(side.low, -1).plus(1).number)
    known = [extent for extent in extents if extent is not None]
    return prod(known) if len(known) == len(extents) else None


def _packed_bytes(elements: int, dtype: str) -> int | None:
    match = _BITS.fullmatch(dtype)
    if match is None:
        return None
    bits = int(match[1] or 8) * int(match[2] or 1)
    return (elements * bits + 7) // 8
