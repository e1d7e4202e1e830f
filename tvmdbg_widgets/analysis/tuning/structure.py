"""Tiles of a schedule as a table: every split, its factors, and the final use of its parts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator as Yields
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tvmdbg_widgets.analysis.tuning.schedules.replaying import Replay
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.tuning.steps import (
    Annotation,
    AnyStep,
    CacheReadStep,
    CacheWriteStep,
    ComputeAt,
    FollowFusedSplitStep,
    FollowSplitStep,
    Iterator,
    RfactorStep,
    SplitStep,
    Stage,
    State,
)
from tvmdbg_widgets.model.tuning.trials import ComputeDag

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class StageRow:
    """A stage at the end of a schedule.

    Attributes
    ----------
    stage : int
        Its number at the end.
    name : str
    numbers : tuple of (int, int)
        Its number by step: ``((-1, 2), (5, 3))`` was 2, and is 3 from step 5 on.
    operation : int
        The number it, or the stage it was made from, had before any step.
    role, scope : str
        See :class:`~tvmdbg_widgets.model.tuning.steps.Stage`.
    loops : int
    is_open : bool
        Whether there may be more loops: without a DAG, no step tells how many.
    auto_unroll : int
    where : str
        ``"on its own"``, ``"inlined"``, ``"in i.0@j.0@ of stage 4"``, ``"input"``; else empty.
    """

    stage: int
    name: str
    numbers: tuple[tuple[int, int], ...]
    operation: int
    role: str
    scope: str
    loops: int
    is_open: bool
    auto_unroll: int
    where: str


@dataclass(frozen=True)
class TileRow:
    """A loop that was split, or an axis that was not.

    Attributes
    ----------
    stage : int
        Number of its stage at the end.
    loop : str
        Its name: without a DAG ``"axis0"``, ``"axis0@axis1@"``.
    axis : int
        Which axis of the stage it is; -1 for a loop that was fused or split before.
    extent : int or None
        None where it is not known; never one that tuning may have left behind.
    factors : tuple of int or None
        Sizes of the parts, outermost first, None for the rest; empty for an axis without a split.
    marks : tuple of str
        Final annotation of the parts, or of the axis: ``"blockIdx.x"``; empty for none.
    step : int
        The step that split it; -1 for none.
    rebuilt_by : int
        The later step that replaced the stage's loops, parts included; -1 for none.
    """

    stage: int
    loop: str
    axis: int
    extent: int | None
    factors: tuple[int | None, ...]
    marks: tuple[str, ...]
    step: int = -1
    rebuilt_by: int = -1


@dataclass(frozen=True)
class TileStructure:
    """Stages and tiles of a schedule, by number of the stage at the end."""

    stages: tuple[StageRow, ...]
    tiles: tuple[TileRow, ...]

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row a tile with columns of its stage."""
        import pandas as pd

        rows = []
        for tile in self.tiles:
            stage = self.stages[tile.stage]
            columns = {"stage": tile.stage, "name": stage.name, "where": stage.where}
            columns |= {"loop": tile.loop, "axis": tile.axis, "extent": tile.extent}
            columns |= {"factors": tile.factors, "marks": tile.marks, "step": tile.step}
            rows.append(columns | {"auto_unroll": stage.auto_unroll, "scope": stage.scope})
        names = ["stage", "name", "where", "loop", "axis", "extent", "factors", "marks", "step"]
        frame = pd.DataFrame(rows, columns=[*names, "auto_unroll", "scope"])
        return frame.astype({"extent": "Int64"})


def tile_structure(steps: Sequence[AnyStep], dag: ComputeDag | None = None) -> TileStructure:
    """Return stages and tiles from a schedule's steps."""
    replaying = Replay(dag, steps)
    splits = SplitsSeen(steps)
    for step in steps:
        splits.advance(replaying, step)
    return splits.structure(replaying.state())


class SplitsSeen:
    """Recorder of the splits of a running replay."""

    def __init__(self, steps: Sequence[AnyStep]) -> None:
        self._inserted_stages = tuple(_inserted_stages(steps))
        self._splits: list[_SplitEvent] = []

    def advance(self, replaying: Replay, step: AnyStep) -> None:
        """Apply the next step and record its split."""
        if not isinstance(step, SplitStep | FollowSplitStep | FollowFusedSplitStep):
            replaying.advance()
            return
        index = replaying.next_step
        before = replaying.stage(step.stage_id)
        replaying.advance()
        number = _number_at_end(step.stage_id, index, self._inserted_stages)
        parts = replaying.stage(step.stage_id).iterators[step.iter_id :]
        factors = tuple(
            part.extent if part.factor is None else part.factor
            for part in parts
            if part.made_by == index
        )
        loop = before.iterators[step.iter_id]
        self._splits.append(_SplitEvent(number, before.made_by, loop, factors, index))

    def structure(self, state: State) -> TileStructure:
        """Return stages and tiles in the final state."""
        numbers = range(len(state.stages))
        stages = [_stage_row(state, number, self._inserted_stages) for number in numbers]
        splits: defaultdict[int, list[_SplitEvent]] = defaultdict(list)
        for split in self._splits:
            splits[split.stage].append(split)
        tiles = [
            tile
            for number in numbers
            for tile in _split_and_plain_loops(state, number, splits[number])
        ]
        return TileStructure(tuple(stages), tuple(tiles))


@dataclass(frozen=True)
class _SplitEvent:
    stage: int
    made_by: int
    loop: Iterator
    factors: tuple[int | None, ...]
    step: int


def _inserted_stages(steps: Sequence[AnyStep]) -> Yields[tuple[int, int]]:
    for index, step in enumerate(steps):
        if isinstance(step, CacheReadStep):
            yield index, step.stage_id + 1
        elif isinstance(step, CacheWriteStep | RfactorStep):
            yield index, step.stage_id


def _number_at_end(number: int, step: int, insertions: tuple[tuple[int, int], ...]) -> int:
    for index, at in insertions:
        number += index > step and number >= at
    return number


def _numbers_by_step(
    number: int, insertions: tuple[tuple[int, int], ...]
) -> tuple[tuple[int, int], ...]:
    numbers: list[tuple[int, int]] = []
    for index, at in reversed(insertions):
        if number >= at:
            numbers.append((index, number))
        if number == at:
            return tuple(reversed(numbers))
        number -= number > at
    return ((-1, number), *reversed(numbers))


def _stage_row(state: State, number: int, insertions: tuple[tuple[int, int], ...]) -> StageRow:
    stage = state.stages[number]
    return StageRow(
        number,
        one_line(stage.name),
        _numbers_by_step(number, insertions),
        stage.operation,
        stage.role,
        one_line(stage.scope),
        len(stage.iterators),
        stage.is_open,
        stage.auto_unroll,
        _where(state, number),
    )


def _split_and_plain_loops(
    state: State, number: int, splits: Sequence[_SplitEvent]
) -> Yields[TileRow]:
    stage = state.stages[number]
    if stage.compute_at is ComputeAt.INLINED:
        return
    bound = _final_marks(stage)
    for split in splits:
        gone = stage.made_by if split.made_by != stage.made_by else -1
        marks = [bound.get((split.step, number), "") for number in range(len(split.factors))]
        tile = _tile(number, split.loop, tuple(marks))
        yield replace(tile, factors=split.factors, step=split.step, rebuilt_by=gone)
    for loop in stage.iterators:
        if all(step == stage.made_by for step, _ in loop.parts):
            yield _tile(number, loop, (bound.get(loop.parts[0], ""),))


def _tile(number: int, loop: Iterator, marks: tuple[str, ...]) -> TileRow:
    axis = loop.parts[0][1] if _is_axis(loop) else -1
    return TileRow(number, one_line(loop.name), axis, loop.extent, (), marks)


def _is_axis(loop: Iterator) -> bool:
    return len(loop.parts) == 1 and loop.made_by == loop.parts[0][0] and "@" not in loop.name


def _final_marks(stage: Stage) -> dict[tuple[int, int], str]:
    marks: defaultdict[tuple[int, int], dict[str, None]] = defaultdict(dict)
    for loop in stage.iterators:
        if loop.annotation is not Annotation.NONE:
            for part in loop.parts:
                marks[part][loop.annotation.word] = None
    return {part: ", ".join(words) for part, words in marks.items()}


def _where(state: State, number: int) -> str:
    stage = state.stages[number]
    if stage.is_placeholder:
        return "input"
    if stage.is_open and not stage.iterators and stage.placed_by < 0:
        return ""
    if stage.compute_at is ComputeAt.INLINED:
        return "inlined"
    target, place = state.attached_to.get(number, (-1, -1))
    if stage.compute_at is ComputeAt.ROOT or target < 0:
        return "on its own"
    loops = state.stages[target].iterators
    loop = one_line(loops[place].name) if place < len(loops) else f"loop {place}"
    return f"in {loop} of stage {target}"
