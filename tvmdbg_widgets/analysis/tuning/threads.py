"""Threads of a block, from the steps alone, as far as they tell it.

Loops bound to threads come from splits whose factors the steps hold: a level of the tiling, all of
it fused, or the same product for cooperative fetching (src/auto_scheduler/search_policy/
sketch_policy_rules.cc). Only an outermost part has an extent that steps alone do not tell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.analysis.tuning.replay.errors import ReplayError
from tvmdbg_widgets.analysis.tuning.replay.replaying import Replay
from tvmdbg_widgets.formats.tuning.record import read_steps
from tvmdbg_widgets.model.tuning.parts import TuningParts
from tvmdbg_widgets.model.tuning.state import Stage
from tvmdbg_widgets.model.tuning.steps import Annotation, AnyStep, SplitStep

UNKNOWN = -1
_THREADS = (Annotation.THREAD_X, Annotation.THREAD_Y, Annotation.THREAD_Z)
_MOST_SHAPES = 1_000


def threads_per_block(steps: Sequence[AnyStep]) -> int:
    """Return the threads of a block; of several kernels, the most."""
    # Most schedules of a task differ in factors alone.
    shape = [
        SplitStep(step.stage_id, step.iter_id, 0, (1,) * len(step.lengths), step.inner_to_outer)
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
def _blocks(shape: tuple[AnyStep, ...]) -> tuple[tuple[tuple[int, int], ...], ...] | None:
    """Return the factors of each kernel's block, None where one is unknown."""
    try:
        replaying = Replay(None, shape)
        for _ in shape:
            replaying.advance()
    except ReplayError:
        return None
    blocks = [_block(stage) for stage in replaying.state().stages]
    known = [each for each in blocks if each is not None]
    return tuple(filter(None, known)) if len(known) == len(blocks) else None


def _block(stage: Stage) -> tuple[tuple[int, int], ...] | None:
    bound = [loop.product for loop in stage.iterators if loop.annotation in _THREADS]
    known = [each for each in bound if each is not None]
    return tuple(factor for each in known for factor in each) if len(known) == len(bound) else None


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
