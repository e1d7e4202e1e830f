"""Threads of a block, from the steps alone, as far as they tell it.

Loops bound to threads come from splits whose factors the steps hold: a level of the tiling, all of
it fused, or the same product for cooperative fetching (src/auto_scheduler/search_policy/
sketch_policy_rules.cc). Only an outermost part has an extent that steps alone do not tell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.tuning.record import read_steps
from tvmdbg_widgets.model.tuning.steps import (
    Annotation,
    AnnotationStep,
    CacheReadStep,
    CacheWriteStep,
    FollowFusedSplitStep,
    FollowSplitStep,
    FuseStep,
    ReorderStep,
    RfactorStep,
    SplitStep,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tvmdbg_widgets.model.tuning.parts import TuningParts
    from tvmdbg_widgets.model.tuning.steps import AnyStep

UNKNOWN = -1
# More loops, stages or factors than any real schedule has: steps of strangers may name any number.
_MOST = 1024
_THREADS = (Annotation.THREAD_X, Annotation.THREAD_Y, Annotation.THREAD_Z)
_MOST_SHAPES = 1_000

#: A product of factors: index of the split and which of its factors, each; None is unknown.
_Extent: TypeAlias = "tuple[tuple[int, int], ...] | None"


class _Split(NamedTuple):
    """A split without its factors, which are what most schedules of a task differ in."""

    stage_id: int
    iter_id: int
    factors: int
    inner_to_outer: bool


@dataclass
class _Stage:
    """Extents of a stage's loops, None where unknown, and of those bound to threads."""

    loops: list[_Extent] = field(default_factory=list)
    threads: dict[Annotation, _Extent] = field(default_factory=dict)

    def reach(self, loop: int) -> None:
        if loop >= _MOST:
            raise OverflowError
        self.loops += [None] * (loop + 1 - len(self.loops))

    def replace(self, loop: int, parts: Sequence[_Extent]) -> None:
        self.reach(loop)
        self.loops[loop : loop + 1] = parts

    def fuse(self, loops: Sequence[int]) -> None:
        self.reach(max(loops))
        self.loops[loops[0] : loops[-1] + 1] = [_product(self.loops[loops[0] : loops[-1] + 1])]

    def reorder(self, order: Sequence[int]) -> None:
        self.reach(max(order))
        self.loops = [self.loops[place] for place in order]

    @property
    def block(self) -> _Extent:
        return _product(list(self.threads.values()))


def _product(extents: Sequence[_Extent]) -> _Extent:
    if len(extents) > _MOST:
        raise OverflowError
    known = [each for each in extents if each is not None]
    return tuple(chain(*known)) if len(known) == len(extents) else None


def _factors(shape: Sequence[_Split | AnyStep], source: int) -> list[_Extent]:
    """Return the factors of an earlier split."""
    split = shape[source]
    count = split.factors if isinstance(split, _Split) else 0
    if count > _MOST:
        raise OverflowError
    return [((source, place),) for place in range(count)]


def _parts(index: int, shape: Sequence[_Split | AnyStep]) -> list[_Extent] | None:
    """Return the extents of what a step splits a loop into; None for other steps."""
    step = shape[index]
    if isinstance(step, _Split):
        factors = _factors(shape, index)
        return [None, *factors] if step.inner_to_outer else [*factors, None]
    if isinstance(step, FollowSplitStep):
        factors = _factors(shape, step.src_step_id)
        own = max(step.n_split, 1) - 1
        return [None, *factors[:own], _product(factors[own:])]
    if isinstance(step, FollowFusedSplitStep):
        levels = [_factors(shape, each)[step.level :] for each in step.src_step_ids]
        factor = _product([each[0] if each else None for each in levels])
        return [None, factor] if step.factor_or_nparts else [factor, None]
    return None


def threads_per_block(steps: Sequence[AnyStep]) -> int:
    """Return the threads of a block; of several kernels, the most."""
    shape = [
        _Split(step.stage_id, step.iter_id, len(step.lengths), step.inner_to_outer)
        if isinstance(step, SplitStep)
        else step
        for step in steps
    ]
    blocks = _blocks(tuple(shape))
    if blocks is None:
        return UNKNOWN
    lengths = {at: step.lengths for at, step in enumerate(steps) if isinstance(step, SplitStep)}
    most = 0
    for block in blocks:
        threads = math.prod([lengths[at][place] for at, place in block])
        if threads >= 2**31:
            return UNKNOWN
        most = max(most, threads)
    return most


@lru_cache(_MOST_SHAPES)
def _blocks(
    shape: tuple[_Split | AnyStep, ...],
) -> tuple[tuple[tuple[int, int], ...], ...] | None:
    """Return the threads of each kernel's block as a product, None where one is unknown."""
    try:
        blocks = [stage.block for stage in _stages(shape) if stage.threads]
    except OverflowError:
        return None
    known = [each for each in blocks if each is not None]
    return tuple(known) if len(known) == len(blocks) else None


def _stages(shape: Sequence[_Split | AnyStep]) -> list[_Stage]:
    stages: list[_Stage] = []
    for index, step in enumerate(shape):
        at = step.stage_id
        if at >= _MOST:
            raise OverflowError
        stages += [_Stage() for _ in range(at + 1 - len(stages))]
        stage = stages[at]
        parts = _parts(index, shape)
        if parts is not None and isinstance(step, _Split | FollowSplitStep | FollowFusedSplitStep):
            stage.replace(step.iter_id, parts)
        elif isinstance(step, FuseStep) and step.fused_ids:
            stage.fuse(step.fused_ids)
        elif isinstance(step, ReorderStep) and step.after_ids:
            stage.reorder(step.after_ids)
        elif isinstance(step, AnnotationStep) and step.annotation in _THREADS:
            stage.reach(step.iter_id)
            stage.threads[step.annotation] = stage.loops[step.iter_id]
        elif isinstance(step, CacheReadStep):
            stages.insert(at + 1, _Stage())
        elif isinstance(step, CacheWriteStep | RfactorStep):
            stages[at : at + 1] = [_Stage(), _Stage()]
    return stages


def threads_of(
    parts: TuningParts, rows: npt.NDArray[np.intp], *, progress: bool = True
) -> npt.NDArray[np.int32]:
    """Return the threads of the blocks of some rows, read from their steps."""
    from tqdm.auto import tqdm

    on_gpu = np.array([each.tuner == "ansor" and each.target.is_gpu for each in parts.tasks], bool)
    places = np.flatnonzero(on_gpu[parts.trials.task[rows]])
    found = np.zeros(len(rows), np.int32)
    look = {"unit": " records", "delay": 1, "leave": False, "disable": not progress}
    for place in tqdm(places.tolist(), desc="reading steps", **look):
        found[place] = threads_per_block(read_steps(parts, int(rows[place])))
    return found
