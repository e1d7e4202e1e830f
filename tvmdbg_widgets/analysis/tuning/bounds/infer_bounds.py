"""Bounds of loops by interval arithmetic, as TVM infers them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tvmdbg_widgets.analysis.tuning.bounds.errors import RefusedError
from tvmdbg_widgets.analysis.tuning.bounds.forms import LoopVariable, text
from tvmdbg_widgets.analysis.tuning.bounds.indices import Ranges
from tvmdbg_widgets.analysis.tuning.bounds.infer import infer
from tvmdbg_widgets.analysis.tuning.bounds.normalize import normalize
from tvmdbg_widgets.analysis.tuning.bounds.schedule import StagedDag
from tvmdbg_widgets.model.tuning.state import ComputeAt, Stage, State

__all__ = ["infer_bounds", "why_refused"]


def infer_bounds(state: State) -> State:
    """Return a state with the bounds of its loops (``ComputeDAG::InferBound``, compute_dag.cc)."""
    try:
        return _inferred(state)
    except RefusedError:
        return state


def why_refused(state: State) -> str:
    """Say why TVM infers no bounds of a state, nothing where it does."""
    try:
        _inferred(state)
    except RefusedError as problem:
        return str(problem)
    return ""


def _inferred(state: State) -> State:
    stages = StagedDag(state.dag, state.steps).stages
    loops = [tuple(each.loops) for each in stages]
    normalize(stages)
    ranges = infer(stages)
    pairs = zip(state.stages, loops, strict=True)
    return replace(state, stages=tuple(_bounded(stage, each, ranges) for stage, each in pairs))


def _bounded(stage: Stage, loops: Sequence[LoopVariable], ranges: Ranges) -> Stage:
    if stage.compute_at is ComputeAt.INLINED:
        return stage
    # TE has more loops where a stage is cached that was split before.
    if len(loops) < len(stage.iterators) or any(loop not in ranges for loop in loops):
        raise RefusedError(f"the loops of {stage.name} are others than the schedule's")
    found = [ranges[loop] for loop, _ in zip(loops, stage.iterators, strict=False)]
    return replace(
        stage,
        iterators=tuple(
            replace(iterator, extent=each.extent, symbol=each.symbol, min=text(each.min))
            for iterator, each in zip(stage.iterators, found, strict=True)
        ),
    )
