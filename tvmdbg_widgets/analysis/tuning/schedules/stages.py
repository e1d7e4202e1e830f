"""Stages as TE schedules them: loops with their splits and fusions, and the computation.

As te.Stage (src/te/schedule/schedule_lang.cc); a state's stages only have lists of loops.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tvmdbg_widgets.analysis.tuning.schedules.forms import (
    IntegerInterval,
    LinearForm,
    LoopRange,
    LoopVariable,
    RefusedError,
    divided,
    interval,
    plus,
    point,
    quotient,
    remainder,
)
from tvmdbg_widgets.model.tuning.trials import TensorRead


@dataclass(frozen=True)
class Relation:
    """Loops made of others, which are used up."""

    used: tuple[LoopVariable, ...]
    made: tuple[LoopVariable, ...]


@dataclass(frozen=True)
class AxisSplit(Relation):
    """A loop split in an outer and an inner one; `factor` is the extent of either."""

    factor: int
    of_inner: bool


class Fuse(Relation):
    """An outer and an inner loop fused into one."""


class Shift(Relation):
    """A loop from 0 that replaces an axis with another start (``Rebase``)."""


class Single(Relation):
    """A loop of extent 1 made from nothing."""


@dataclass(frozen=True)
class StageAxis:
    """An axis of a computation: its loop, extent, and whether it is reduced."""

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
        """Refuse a placeholder, which has no list of loops."""
        if self.is_placeholder:
            raise RefusedError(f"{self.name} is a placeholder and has no loops")

    def loop(self, place: int) -> LoopVariable:
        """Return the loop at a place."""
        self.check_loops()
        if not 0 <= place < len(self.loops):
            raise RefusedError(f"no loop {place} of {self.name}")
        return self.loops[place]

    def split(self, place: int, lengths: Iterable[int], *, inner_to_outer: bool) -> None:
        """Split a loop repeatedly, its outer part or its inner part again."""
        rest, parts = self.loop(place), []
        for length in reversed(list(lengths)) if inner_to_outer else lengths:
            outer, inner = LoopVariable(f"{rest.name}.outer"), LoopVariable(f"{rest.name}.inner")
            self.relations.append(AxisSplit((rest,), (outer, inner), length, inner_to_outer))
            rest, part = (outer, inner) if inner_to_outer else (inner, outer)
            parts.append(part)
        parts.append(rest)
        self.loops[place : place + 1] = parts[::-1] if inner_to_outer else parts

    def fuse(self, places: tuple[int, ...]) -> None:
        """Fuse loops; fusing none makes a loop of extent 1 around all."""
        self.check_loops()
        if not places:
            single = LoopVariable("singleton")
            self.relations.append(Single((), (single,)))
            self.hidden, self.loops = self.leaves, [single]
            return
        fused = self.loop(places[0])
        for place in places[1:]:
            inner = self.loop(place)
            whole = LoopVariable(f"{fused.name}.{inner.name}.fused")
            self.relations.append(Fuse((fused, inner), (whole,)))
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
        """Return the thread tag of a loop, empty for none."""
        return self.threads[loop][0] if loop in self.threads else ""

    def is_reduced(self, loop: LoopVariable) -> bool:
        """Return whether a loop comes from a reduce axis."""
        return bool({axis.loop for axis in self.reduce_axes} & self.touching(loop))

    def above(self, loops: Iterable[LoopVariable]) -> set[LoopVariable]:
        """Return loops, and those that they are made of."""
        above = set(loops)
        for relation in reversed(self.relations):
            if above & set(relation.made):
                above.update(relation.used)
        return above

    def touching(self, loop: LoopVariable) -> set[LoopVariable]:
        """Return loops that share an axis with one (``PassUpBitMaskOr``, ``PassDownBitMaskOr``)."""
        touched = self.above([loop])
        for relation in self.relations:
            if touched & set(relation.used):
                touched.update(relation.made)
        return touched

    def path(self) -> Iterator[tuple[TensorStage, LoopVariable]]:
        """Yield the loops around the stage with their stages, innermost first."""
        seen = {self.key}
        place = self.place
        while place is not None:
            stage, loop = place
            if stage.key in seen or loop not in stage.leaves:
                raise RefusedError(f"{self.name} is attached to no loop of {stage.name}")
            seen.add(stage.key)
            for leaf in reversed(stage.leaves[: stage.leaves.index(loop) + 1]):
                yield stage, leaf
            place = stage.place


Ranges = dict[LoopVariable, LoopRange]
Intervals = dict[LoopVariable, IntegerInterval | None]


def pass_down_ranges(stage: TensorStage, ranges: Ranges, *, final: bool = True) -> None:
    """Derive ranges of loops from axes (``PassDownDomain``)."""
    bound = stage.above(stage.threads)
    for relation in stage.relations:
        if any(loop not in ranges for loop in relation.used):
            if final:
                raise RefusedError(f"a loop of {stage.name} comes from one that is no more")
            continue
        for loop, extent in _extents(relation, ranges, bound, final).items():
            ranges[loop] = LoopRange(LinearForm(), extent)
            loop.extent = extent
    for loop, (_, variable) in stage.threads.items():
        if loop not in ranges and not final:
            continue
        if loop not in ranges:
            raise RefusedError(f"a bound loop of {stage.name} is no more")
        ranges[variable] = ranges[loop]
        variable.extent = ranges[loop].extent


def _extents(
    relation: object, ranges: Ranges, bound: set[LoopVariable], final: bool
) -> dict[LoopVariable, int | None]:
    match relation:
        case AxisSplit((parent,), (outer, inner), factor, of_inner):
            whole = ranges[parent].extent
            given, rest = (inner, outer) if of_inner else (outer, inner)
            if whole is None:
                return {given: factor if given in bound else None, rest: None}
            tight = final and whole and given not in bound
            return {given: min(whole, factor) if tight else factor, rest: -(-whole // factor)}
        case Fuse((outer, inner), (fused,)):
            a, b = ranges[outer].extent, ranges[inner].extent
            return {fused: None if a is None or b is None else a * b}
        case Shift((parent,), (shifted,)):
            return {shifted: ranges[parent].extent}
        case Single(_, (loop,)):
            return {loop: 1}
    raise TypeError(relation)


def pass_up_intervals(stage: TensorStage, ranges: Ranges, intervals: Intervals) -> None:
    """Derive intervals of axes from leaves (``PassUpDomain``)."""
    for relation in reversed(stage.relations):
        made = [intervals.get(loop) for loop in relation.made]
        if not (intervals.keys() >= {*relation.made} or isinstance(relation, Single)):
            raise RefusedError(f"a loop of {stage.name} is not among its leaves")
        match relation:
            case AxisSplit((parent,)):
                intervals[parent] = _split_up(relation, ranges, *made)
            case Fuse((outer, inner)):
                intervals[outer], intervals[inner] = _fuse_up(relation, ranges, *made)
            case Shift((parent,)):
                (moved,) = made
                intervals[parent] = moved and plus(moved, point(ranges[parent].min))


def _split_up(
    relation: AxisSplit,
    ranges: Ranges,
    outer: IntegerInterval | None,
    inner: IntegerInterval | None,
) -> IntegerInterval | None:
    if outer is None or inner is None:
        return None
    whole, *parts = (ranges[loop] for loop in (*relation.used, *relation.made))
    if outer.is_all_of(parts[0]) and inner.is_all_of(parts[1]):
        return interval(whole)
    factor = parts[1].extent
    if factor is None:
        return None
    return plus(plus(plus(point(LinearForm()), outer, factor), inner), point(whole.min))


def _fuse_up(
    relation: Fuse, ranges: Ranges, fused: IntegerInterval | None
) -> tuple[IntegerInterval | None, IntegerInterval | None]:
    outer, inner, whole = (ranges[loop] for loop in (*relation.used, *relation.made))
    if fused is None or inner.extent is None or fused.low is None or fused.high is None:
        return None, None
    if fused.is_all_of(whole):
        return interval(outer), interval(inner)
    outside = plus(divided(fused, inner.extent), point(outer.min))
    low, high = fused.low, fused.high
    if not fused.is_point:
        extent = high.plus(low, -1).plus(1).number
        if extent is None:
            return None, None
        if inner.extent % extent or remainder(low, extent) != LinearForm():
            return outside, interval(inner)
    inside = IntegerInterval(remainder(low, inner.extent), remainder(high, inner.extent))
    return outside, plus(inside, point(inner.min))


def pass_up_forms(
    stage: TensorStage, ranges: Ranges, forms: dict[LoopVariable, LinearForm]
) -> None:
    """Derive values of axes from leaves, as far as known (``PassUpIndex``)."""
    for relation in reversed(stage.relations):
        match relation:
            case AxisSplit((parent,), (outer, inner)) if outer in forms and inner in forms:
                factor = _known(ranges[inner].extent)
                forms[parent] = (
                    forms[outer].times(factor).plus(forms[inner]).plus(ranges[parent].min)
                )
            case Fuse((outer, inner), (fused,)) if fused in forms:
                factor = _known(ranges[inner].extent)
                forms[outer] = quotient(forms[fused], factor).plus(ranges[outer].min)
                forms[inner] = remainder(forms[fused], factor).plus(ranges[inner].min)


def pass_down_forms(
    stage: TensorStage,
    ranges: Mapping[LoopVariable, LoopRange],
    forms: dict[LoopVariable, LinearForm],
) -> None:
    """Derive values of leaves from axes (``PassDownIndex``)."""
    for relation in stage.relations:
        match relation:
            case AxisSplit((parent,), (outer, inner)) if parent in forms:
                factor = _known(ranges[inner].extent)
                forms[outer] = quotient(forms[parent], factor)
                forms[inner] = remainder(forms[parent], factor)
            case Fuse((outer, inner), (fused,)) if outer in forms and inner in forms:
                factor = _known(ranges[inner].extent)
                forms[fused] = forms[outer].times(factor).plus(forms[inner])
            case Single(_, (loop,)):
                forms[loop] = LinearForm()


def _known(extent: int | None) -> int:
    if extent is None:
        raise RefusedError("an extent is not known")
    return extent
