"""Extents of loops as the DAG tells them and as the steps alone do, put together."""

from __future__ import annotations

from collections.abc import Iterator as Yields
from dataclasses import replace

from tvmdbg_widgets.model.base.numbers import agree, counted
from tvmdbg_widgets.model.tuning.state import Iterator, Stage, State

_TOLD = 3


def best_known(
    inferred: State, replayed: State, alone: State | None
) -> tuple[State, tuple[str, ...]]:
    """Return a state with the extents that only its steps tell, and what to say of them."""
    if alone is None or len(alone.stages) > len(inferred.stages):
        return inferred, ()
    stages = list(inferred.stages)
    filled, differing = 0, []
    for number, (stage, other) in enumerate(zip(replayed.stages, alone.stages, strict=False)):
        iterators = list(stages[number].iterators)
        for place, loop, extent in _both(stage, other):
            if iterators[place].extent is None and not iterators[place].symbol:
                iterators[place] = replace(iterators[place], extent=extent)
                filled += 1
            if loop.extent not in (None, extent):
                told = f"loop {loop.name} of {stage.name}: {loop.extent:,} by the DAG"
                differing.append(f"{told}, {extent:,} by the steps")
        stages[number] = replace(stages[number], iterators=tuple(iterators))
    notes = []
    if filled:
        verb = agree(filled, "is")
        notes.append(
            f"Extents of {counted(filled, 'loop')} {verb} from the steps, the DAG lacks them"
        )
    if differing:
        rest = len(differing) - _TOLD
        more = f", and {counted(rest, 'more loop')}" if rest > 0 else ""
        notes.append(f"The DAG contradicts the steps: {'; '.join(differing[:_TOLD])}{more}")
    return replace(inferred, stages=tuple(stages)), tuple(notes)


def _both(stage: Stage, alone: Stage) -> Yields[tuple[int, Iterator, int]]:
    """Yield the loops that both have, with the extent that the steps alone tell."""
    made = [_history(each) for each in alone.iterators]
    if made != [_history(each) for each in stage.iterators[: len(made)]]:
        return
    if not alone.is_open and len(made) != len(stage.iterators):
        return
    for place, each in enumerate(alone.iterators):
        loop = stage.iterators[place]
        if each.extent is not None and not loop.symbol:
            yield place, loop, each.extent


def _history(loop: Iterator) -> tuple[object, ...]:
    return loop.made_by, loop.annotation, loop.steps, loop.factor
