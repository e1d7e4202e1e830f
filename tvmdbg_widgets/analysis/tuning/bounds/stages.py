"""Stages as TE schedules them: loops, how they are split and fused, and what is computed.

Of te.Stage (src/te/schedule/schedule_lang.cc); a state's stages have only lists of loops.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from tvmdbg_widgets.analysis.tuning.bounds.errors import RefusedError
from tvmdbg_widgets.analysis.tuning.bounds.forms import LoopVariable
from tvmdbg_widgets.model.tuning.expressions import TensorRead


@dataclass(frozen=True)
class AxisSplit:
    """``parent`` in two; `factor` is the extent of the inner loop, or else of the outer."""

    parent: LoopVariable
    outer: LoopVariable
    inner: LoopVariable
    factor: int
    of_inner: bool

    @property
    def made(self) -> tuple[LoopVariable, ...]:
        """Loops that come from it."""
        return (self.outer, self.inner)

    @property
    def used(self) -> tuple[LoopVariable, ...]:
        """Loops that go into it."""
        return (self.parent,)


@dataclass(frozen=True)
class Fuse:
    """Two loops as one."""

    outer: LoopVariable
    inner: LoopVariable
    fused: LoopVariable

    @property
    def made(self) -> tuple[LoopVariable, ...]:
        """The loop that comes from it."""
        return (self.fused,)

    @property
    def used(self) -> tuple[LoopVariable, ...]:
        """Loops that go into it."""
        return (self.outer, self.inner)


@dataclass(frozen=True)
class Shift:
    """A loop from 0 on in place of an axis that may begin elsewhere (``Rebase``)."""

    parent: LoopVariable
    shifted: LoopVariable

    @property
    def made(self) -> tuple[LoopVariable, ...]:
        """The loop that comes from it."""
        return (self.shifted,)

    @property
    def used(self) -> tuple[LoopVariable, ...]:
        """The axis."""
        return (self.parent,)


@dataclass(frozen=True)
class Single:
    """A loop of extent 1 made from nothing."""

    loop: LoopVariable

    @property
    def made(self) -> tuple[LoopVariable, ...]:
        """The loop."""
        return (self.loop,)

    @property
    def used(self) -> tuple[LoopVariable, ...]:
        """Nothing."""
        return ()


Relation: TypeAlias = AxisSplit | Fuse | Shift | Single


@dataclass(frozen=True)
class StageAxis:
    """An axis of a computation: its loop, how far it goes, and whether it is reduced over."""

    loop: LoopVariable
    extent: int | None
    symbol: str = ""


@dataclass(eq=False)
class TensorStage:
    """One stage."""

    name: str
    key: int
    axes: list[StageAxis]
    reduce_axes: list[StageAxis]
    outputs: int
    reads: tuple[TensorRead, ...] | None
    is_placeholder: bool = False
    is_output: bool = False
    scope: str = ""
    loops: list[LoopVariable] = field(default_factory=list)
    hidden: list[LoopVariable] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    threads: dict[LoopVariable, tuple[str, LoopVariable]] = field(default_factory=dict)
    place: tuple[TensorStage, LoopVariable] | None = None
    is_inlined: bool = False

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Begin with one loop an axis."""
        self.loops = [] if self.is_placeholder else [axis.loop for axis in self.roots]
        self.hidden = []
        self.relations = []

    @property
    def leaves(self) -> list[LoopVariable]:
        """All loops of the schedule."""
        return [*self.loops, *self.hidden]

    @property
    def roots(self) -> list[StageAxis]:
        """All axes."""
        return [*self.axes, *self.reduce_axes]

    def check_loops(self) -> None:
        """Refuse a placeholder: steps look for its loops, and it has no list of them."""
        if self.is_placeholder:
            raise RefusedError(f"{self.name} is a placeholder and has no loops")

    def loop(self, place: int) -> LoopVariable:
        """Return the loop at a place."""
        self.check_loops()
        if not 0 <= place < len(self.loops):
            raise RefusedError(f"no loop {place} of {self.name}")
        return self.loops[place]

    def split(self, place: int, lengths: Iterable[int], *, inner_to_outer: bool) -> None:
        """Split a loop in pairs, its outer part again and again, or its inner part."""
        rest, parts = self.loop(place), []
        for length in reversed(list(lengths)) if inner_to_outer else lengths:
            outer, inner = LoopVariable(f"{rest.name}.outer"), LoopVariable(f"{rest.name}.inner")
            self.relations.append(AxisSplit(rest, outer, inner, length, inner_to_outer))
            rest, part = (outer, inner) if inner_to_outer else (inner, outer)
            parts.append(part)
        parts.append(rest)
        self.loops[place : place + 1] = parts[::-1] if inner_to_outer else parts

    def fuse(self, places: tuple[int, ...]) -> None:
        """Fuse loops; of none at all a loop of extent 1 is made around those that there are."""
        self.check_loops()
        if not places:
            single = LoopVariable("singleton")
            self.relations.append(Single(single))
            self.hidden, self.loops = self.leaves, [single]
            return
        fused = self.loop(places[0])
        for place in places[1:]:
            inner = self.loop(place)
            whole = LoopVariable(f"{fused.name}.{inner.name}.fused")
            self.relations.append(Fuse(fused, inner, whole))
            fused = whole
        self.loops[places[0] : places[-1] + 1] = [fused]

    def reorder(self, order: tuple[int, ...]) -> None:
        """Put the loops into another order."""
        self.check_loops()
        if sorted(order) != list(range(len(self.loops))):
            raise RefusedError("the order does not name every loop once")
        self.loops = [self.loops[place] for place in order]

    def exchange(self, old: LoopVariable, new: LoopVariable) -> None:
        """Put a loop in place of another."""
        for loops in (self.loops, self.hidden):
            loops[:] = [new if loop is old else loop for loop in loops]

    def tag(self, loop: LoopVariable) -> str:
        """Return what a loop is bound to, empty for nothing."""
        return self.threads[loop][0] if loop in self.threads else ""

    def is_reduced(self, loop: LoopVariable) -> bool:
        """Tell whether a loop comes from a reduce axis."""
        return bool({axis.loop for axis in self.reduce_axes} & self.touching(loop))

    def touching(self, loop: LoopVariable) -> set[LoopVariable]:
        """Return loops that share an axis with one (``PassUpBitMaskOr``, ``PassDownBitMaskOr``)."""
        touched = {loop}
        for relation in reversed(self.relations):
            if touched & set(relation.made):
                touched.update(relation.used)
        for relation in self.relations:
            if touched & set(relation.used):
                touched.update(relation.made)
        return touched

    def path(self) -> Iterator[tuple[TensorStage, LoopVariable]]:
        """Yield the loops around the stage, innermost first, each with its stage."""
        seen = {self.key}
        place = self.place
        while place is not None:
            stage, loop = place
            if stage.key in seen or loop not in stage.leaves:
                raise RefusedError(f"{self.name} is attached to no loop of {stage.name}")
            seen.add(stage.key)
            for each in reversed(stage.leaves[: stage.leaves.index(loop) + 1]):
                yield stage, each
            place = stage.place
