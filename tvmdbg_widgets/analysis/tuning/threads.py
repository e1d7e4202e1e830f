"""Threads of a block, from the steps alone, as far as they tell it.

Loops bound to threads come from splits whose factors the steps hold: a level of the tiling, all of
it fused, or the same product for cooperative fetching (src/auto_scheduler/search_policy/
sketch_policy_rules.cc). Only an outermost part has an extent that steps alone do not tell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

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


@dataclass
class _Stage:
    """Extents of a stage's loops, None where unknown, and of those bound to threads."""

    loops: list[int | None] = field(default_factory=list)
    threads: dict[Annotation, int | None] = field(default_factory=dict)

    def reach(self, loop: int) -> None:
        if loop >= _MOST:
            raise OverflowError
        self.loops += [None] * (loop + 1 - len(self.loops))

    def replace(self, loop: int, parts: Sequence[int | None]) -> None:
        self.reach(loop)
        self.loops[loop : loop + 1] = parts

    def fuse(self, loops: Sequence[int]) -> None:
        self.reach(max(loops))
        self.loops[loops[0] : loops[-1] + 1] = [_product(self.loops[loops[0] : loops[-1] + 1])]

    def reorder(self, order: Sequence[int]) -> None:
        self.reach(max(order))
        self.loops = [self.loops[place] for place in order]

    @property
    def block(self) -> int | None:
        return _product(list(self.threads.values()))


def _product(extents: Sequence[int | None]) -> int | None:
    if len(extents) > _MOST:
        raise OverflowError
    known = [each for each in extents if each is not None]
    return _in_range(math.prod(known)) if len(known) == len(extents) else None


def _in_range(product: int) -> int | None:
    return product if product < 2**31 else None


def _parts(step: AnyStep, steps: Sequence[AnyStep]) -> list[int | None] | None:
    """Return the extents of what a step splits a loop into; None for other steps."""
    if isinstance(step, SplitStep):
        return [None, *step.lengths] if step.inner_to_outer else [*step.lengths, None]
    if isinstance(step, FollowSplitStep):
        source = steps[step.src_step_id]
        lengths = source.lengths if isinstance(source, SplitStep) else ()
        own = max(step.n_split, 1) - 1
        return [None, *lengths[:own], _product(lengths[own:])]
    if isinstance(step, FollowFusedSplitStep):
        sources = [steps[each] for each in step.src_step_ids]
        level = step.level
        factors = [
            each.lengths[level]
            if isinstance(each, SplitStep) and level < len(each.lengths)
            else None
            for each in sources
        ]
        factor = _product(factors)
        return [None, factor] if step.factor_or_nparts else [factor, None]
    return None


def threads_per_block(steps: Sequence[AnyStep]) -> int:
    """Return the threads of a block; of several kernels, the most.

    Parameters
    ----------
    steps : sequence of steps
        Ansor's, of one record.

    Returns
    -------
    int
        0 where no loop is bound to threads, :data:`UNKNOWN` where the steps do not tell.
    """
    try:
        blocks = [stage.block for stage in _stages(steps) if stage.threads]
    except OverflowError:
        return UNKNOWN
    known = [each for each in blocks if each is not None]
    return max(known, default=0) if len(known) == len(blocks) else UNKNOWN


def _stages(steps: Sequence[AnyStep]) -> list[_Stage]:
    stages: list[_Stage] = []
    for step in steps:
        at = step.stage_id
        if at >= _MOST:
            raise OverflowError
        stages += [_Stage() for _ in range(at + 1 - len(stages))]
        stage = stages[at]
        parts = _parts(step, steps)
        if parts is not None and isinstance(
            step, SplitStep | FollowSplitStep | FollowFusedSplitStep
        ):
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


def threads_of(parts: TuningParts, *, progress: bool = True) -> npt.NDArray[np.int32]:
    """Return the threads of each row's block, read from its steps.

    Parameters
    ----------
    parts : TuningParts
    progress : bool
        Whether to show a bar where it takes over a second.

    Returns
    -------
    int32 [N]
        0 for tasks that are not Ansor's on a GPU, :data:`UNKNOWN` where steps do not tell.
    """
    from tqdm.auto import tqdm

    on_gpu = np.array([each.tuner == "ansor" and each.target.is_gpu for each in parts.tasks], bool)
    rows = np.flatnonzero(on_gpu[parts.trials.task]) if len(parts.tasks) else np.zeros(0, np.intp)
    found = np.zeros(len(parts.trials), np.int32)
    look = {"unit": " records", "delay": 1, "leave": False, "disable": not progress}
    for row in tqdm(rows.tolist(), desc="reading steps", **look):
        found[row] = threads_per_block(read_steps(parts, row))
    return found
