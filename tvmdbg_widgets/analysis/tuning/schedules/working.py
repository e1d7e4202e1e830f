"""Working state of a replay: loops being split, fused and reordered, and refused steps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod
from typing import Any, NoReturn, TypeVar

from tvmdbg_widgets.analysis.tuning.schedules.tensors import (
    Attachments,
    Computation,
    Dataflow,
    TensorAxis,
    clean_name,
)
from tvmdbg_widgets.model.tuning.steps import (
    Annotation,
    AnnotationStep,
    AnyStep,
    FollowFusedSplitStep,
    FollowSplitStep,
    FuseStep,
    Iterator,
    IteratorKind,
    PragmaStep,
    ReorderStep,
    SplitStep,
    Stage,
    State,
    StorageAlignStep,
)
from tvmdbg_widgets.model.tuning.trials import ComputeDag


class ReplayError(ValueError):
    """A step that TVM refuses or that no schedule has."""

    def __init__(self, problem: str, *, step: int = -1, code: str = "", field: str = "") -> None:
        self.step = step
        self.code = code
        self.field = field
        place = "" if step < 0 else f"step {step} ({code})"
        place += f", field {field}" if field else ""
        super().__init__(f"{place}: {problem}." if place else f"{problem}.")


_UNROLL = "auto_unroll_max_step"
_NUMBER = re.compile(r"[ \t\n\v\f\r]*([+-]?[0-9]{1,20})")  # the prefix that ``atoi`` reads


def annotate(working: Working, step: AnnotationStep) -> None:
    """AN: bind an unbound loop."""
    loop = working.iterator(step.stage_id, step.iter_id)
    if loop.annotation is not Annotation.NONE:
        working.refuse(f"loop {loop.name!r} is {loop.annotation.word} already", "iter_id")
    index = working.index
    bound = changed(
        loop, annotation=step.annotation, annotated_by=index, steps=(*loop.steps, index)
    )
    iterators = working.stages[step.stage_id].iterators
    working.stages[step.stage_id] = changed(
        working.stages[step.stage_id],
        iterators=(*iterators[: step.iter_id], bound, *iterators[step.iter_id + 1 :]),
    )


def fuse(working: Working, step: FuseStep) -> None:
    """FU: fuse several loops, or replace all by one of extent 1."""
    places, stage, index = step.fused_ids, step.stage_id, working.index
    working.stage(stage)
    if not places:
        single = Iterator(
            "", 1, IteratorKind.SPECIAL, made_by=index, steps=(index,), parts=((index, 0),)
        )
        working.set_iterators(stage, (single,), is_open=False)
        return
    if list(places) != list(range(places[0], places[0] + len(places))):
        working.refuse("loops that are fused must follow each other", "fused_ids")
    parts = [working.iterator(stage, place, "fused_ids") for place in places]
    old = working.stages[stage].iterators
    for place in places[:-1]:
        if (stage, place) in working.attachments.stages:
            working.refuse(
                f"a stage is attached to loop {old[place].name!r}, and only the last of the fused "
                "loops may have one",
                "fused_ids",
            )
    kinds = {part.kind for part in parts}
    extents = [part.extent for part in parts if part.extent is not None]
    kind = parts[0].kind if len(kinds) == 1 else IteratorKind.MIXED
    history = sorted({step for part in parts for step in part.steps})
    fused = Iterator(
        "".join(f"{part.name}@" for part in parts),
        prod(extents) if len(extents) == len(parts) else None,
        kind,
        made_by=index,
        steps=(*history, index),
        parts=tuple(inner for part in parts for inner in part.parts),
        product=None
        if any(part.product is None for part in parts)
        else tuple(factor for part in parts for factor in part.product or ()),
    )
    first, last = places[0], places[-1]
    _replace_loops(working, stage, (*old[:first], fused, *old[last + 1 :]))
    working.attachments.move(
        stage, len(old), lambda place: place if place <= first else max(first, place - last + first)
    )


def reorder(working: Working, step: ReorderStep) -> None:
    """RE: reorder loops; orders that TVM does not check are applied too."""
    if len(step.after_ids) > MOST_LOOPS:
        working.refuse(f"more than {MOST_LOOPS:,} loops", "after_ids")
    chosen = [working.iterator(step.stage_id, place, "after_ids") for place in step.after_ids]
    working.stage(step.stage_id)
    working.set_iterators(step.stage_id, tuple(chosen), is_open=False)


def split(working: Working, step: SplitStep) -> None:
    """SP: split a loop into ``len(lengths) + 1``; the recorded extent is ignored."""
    loop = working.iterator_to_split(step.stage_id, step.iter_id, step.extent)
    factors = [((working.index, at),) for at in range(len(step.lengths))]
    _split(working, step, loop, step.lengths, factors, inner_to_outer=step.inner_to_outer)


def follow_split(working: Working, step: FollowSplitStep) -> None:
    """FSP: split by the factors of an SP of the record, the last ones multiplied."""
    lengths = _source(working, step.src_step_id, "src_step_id").lengths
    if not 0 <= step.n_split <= len(lengths) + 1:
        working.refuse(
            f"{step.n_split} is not between 0 and {len(lengths) + 1}, the parts of step "
            f"{step.src_step_id}",
            "n_split",
        )
    loop = working.iterator_to_split(step.stage_id, step.iter_id)
    kept = max(step.n_split - 1, 0)
    sources = [(step.src_step_id, at) for at in range(len(lengths))]
    factors = [*((source,) for source in sources[:kept]), tuple(sources[kept:])]
    followed = followed_lengths(lengths, step.n_split)
    _split(working, step, loop, followed, factors, inner_to_outer=True)


def followed_lengths(lengths: tuple[int, ...], n_split: int) -> tuple[int, ...]:
    """Return the factors of an FSP step, taken from an SP."""
    kept = max(n_split - 1, 0)
    return (*lengths[:kept], prod(lengths[kept:]))


def follow_fused_split(working: Working, step: FollowFusedSplitStep) -> None:
    """FFSP: split in two, by the product of one level of some SPs."""
    factor = 1
    for source in step.src_step_ids:
        lengths = _source(working, source, "src_step_ids").lengths
        if not 0 <= step.level < len(lengths):
            working.refuse(
                f"step {source} has no factor {step.level}, it has {len(lengths)}", "level"
            )
        factor *= lengths[step.level]
        if factor > LARGEST_FACTOR:
            working.refuse(f"the product of factors is above {LARGEST_FACTOR}", "src_step_ids")
    loop = working.iterator_to_split(step.stage_id, step.iter_id)
    factors = [tuple((source, step.level) for source in step.src_step_ids)]
    _split(working, step, loop, (factor,), factors, inner_to_outer=step.factor_or_nparts)


def mark(working: Working, step: PragmaStep) -> None:
    """PR: set how far to unroll, or detach the stage."""
    if step.pragma_type == "debug_skip_region":  # TVM ignores the stage
        working.attachments.detach(step.stage_id)
        if step.stage_id < len(working.stages):
            working.mark(step.stage_id)
        return
    working.stage(step.stage_id)
    if not step.pragma_type.startswith(_UNROLL):
        working.refuse(f"no pragma of TVM is {step.pragma_type[:80]!r}", "pragma_type")
    _, sign, number = step.pragma_type.partition("$")
    if not sign:
        working.refuse(f"{_UNROLL} needs a number, as in {_UNROLL}$16", "pragma_type")
    match = _NUMBER.match(number)
    unroll = int(match[1]) if match else 0
    if abs(unroll) > LARGEST_FACTOR:
        working.refuse(f"{unroll} does not fit into 32 bits", "pragma_type")
    working.mark(step.stage_id, auto_unroll=unroll, unrolled_by=working.index)


def align(working: Working, step: StorageAlignStep) -> None:
    """SA: only the offset stays in the state."""
    working.stage(step.stage_id)
    working.mark(step.stage_id, storage_offset=step.offset, aligned_by=working.index)


def _split(
    working: Working,
    step: SplitStep | FollowSplitStep | FollowFusedSplitStep,
    loop: Iterator,
    lengths: tuple[int, ...],
    factors: Sequence[tuple[tuple[int, int], ...]],
    *,
    inner_to_outer: bool,
) -> None:
    stage, place = step.stage_id, step.iter_id
    if len(lengths) > MOST_LOOPS:
        working.refuse(f"more than {MOST_LOOPS:,} factors", "lengths")
    if any(not 0 < length <= LARGEST_FACTOR for length in lengths):
        working.refuse(f"factors must be 1 to {LARGEST_FACTOR}", "lengths")
    left, known = loop.extent, working.knows_parts(stage)
    made = changed(
        loop,
        annotation=Annotation.NONE,
        annotated_by=-1,
        made_by=working.index,
        symbol="",
        steps=(*loop.steps, working.index),
    )
    parts = []
    for number in range(len(lengths)):
        at = len(lengths) - number if inner_to_outer else number
        which = at - 1 if inner_to_outer else at
        length = lengths[which]
        extent = length if known or left is not None else None
        left = None if left is None else -(-left // length)
        parts.append(_part(made, at, extent, length, factors[which]))
    parts.append(_part(made, 0 if inner_to_outer else len(lengths), left, None))
    if inner_to_outer:
        parts.reverse()
    old = working.stages[stage].iterators
    _replace_loops(working, stage, (*old[:place], *parts, *old[place + 1 :]))
    working.attachments.move(
        stage, len(old), lambda other: other + (len(lengths) if other >= place else 0)
    )


def _part(
    whole: Iterator,
    number: int,
    extent: int | None,
    factor: int | None,
    product: tuple[tuple[int, int], ...] | None = None,
) -> Iterator:
    return changed(
        whole,
        name=f"{whole.name}.{number}",
        extent=extent,
        factor=factor,
        parts=(*whole.parts, (whole.made_by, number)),
        product=product,
    )


def _replace_loops(working: Working, stage: int, iterators: tuple[Iterator, ...]) -> None:
    before = working.stages[stage].steps
    working.set_iterators(stage, iterators)
    working.stages[stage] = changed(working.stages[stage], steps=before)


def _source(working: Working, index: int, field: str) -> SplitStep:
    source = working.steps[index] if 0 <= index < len(working.steps) else None
    if not isinstance(source, SplitStep):
        working.refuse(f"step {index} is no SP step", field)
    if len(source.lengths) > MOST_LOOPS:
        working.refuse(f"step {index} has more than {MOST_LOOPS:,} factors", field)
    return source


class Working:
    """Stages, attachments and computations between two steps."""

    def __init__(self, dag: ComputeDag, steps: tuple[AnyStep, ...]) -> None:
        self.dag = dag
        self.steps = steps
        self.index = 0
        self.attachments = Attachments()
        self.dataflow = Dataflow(dag)
        self.stages: list[Stage] = [
            self.fresh_stage(computation, made_by=-1) for computation in self.dataflow.computations
        ]

    def state(self) -> State:
        """Return a snapshot of the state."""
        attached = {loop: tuple(stage) for loop, stage in self.attachments.stages.items()}
        return State(
            self.dag, self.steps, tuple(self.stages), attached, dict(self.attachments.loops)
        )

    def fresh_stage(self, computation: Computation, made_by: int, **marks: Any) -> Stage:
        """Return a new stage for a computation, with its axes as loops."""
        if len(computation.name) > LONGEST_NAME:
            self.refuse(f"a stage's name is longer than {LONGEST_NAME:,} characters")
        axes = () if computation.is_placeholder else computation.axes
        kinds = [IteratorKind.SPATIAL] * len(axes)
        kinds += [IteratorKind.REDUCTION] * len(computation.reduce_axes)
        made = [
            loop_of(axis, kind, (made_by, place))
            for place, (axis, kind) in enumerate(
                zip((*axes, *computation.reduce_axes), kinds, strict=True)
            )
        ]
        steps = () if made_by < 0 else (made_by,)
        return Stage(
            computation.name,
            computation.operation,
            computation.is_placeholder,
            tuple(made),
            made_by=made_by,
            steps=steps,
            **marks,
        )

    def insert(self, at: int, stage: Stage) -> None:
        """Add a stage and renumber later ones."""
        if len(self.stages) >= MOST_STAGES:
            self.refuse(f"more than {MOST_STAGES:,} stages")
        self.stages.insert(at, stage)
        self.attachments.insert(at)

    def stage(self, index: int, field: str = "stage_id") -> Stage:
        """Return a stage; refuses an invalid number."""
        if not 0 <= index < len(self.stages):
            self.refuse(f"there is no stage {index} among {len(self.stages)}", field)
        return self.stages[index]

    def iterator(self, stage: int, place: int, field: str = "iter_id") -> Iterator:
        """Return a loop of a stage; refuses an invalid place."""
        iterators = self.stage(stage).iterators
        if not 0 <= place < len(iterators):
            name = self.stages[stage].name
            of = f"stage {stage} ({name!r})" if name else f"stage {stage}"
            self.refuse(f"there is no loop {place} among the {len(iterators)} of {of}", field)
        return iterators[place]

    def prepare(self, step: AnyStep) -> None:
        """Make loops that a step names implicitly."""

    def iterator_to_split(self, stage: int, place: int, recorded: int = 0) -> Iterator:
        """Return a loop to split; `recorded` is the extent in an SP step."""
        del recorded  # TVM ignores it
        return self.iterator(stage, place)

    def knows_parts(self, stage: int) -> bool:
        """Whether parts of a loop of unknown extent are as long as the factors."""
        del stage
        return False

    def set_iterators(self, stage: int, iterators: tuple[Iterator, ...], **marks: Any) -> None:
        """Replace the loops of a stage."""
        if len(iterators) > MOST_LOOPS:
            self.refuse(f"stage {stage} gets more than {MOST_LOOPS:,} loops")
        for iterator in iterators:
            if len(iterator.name) > LONGEST_NAME:
                self.refuse(f"a loop's name is longer than {LONGEST_NAME:,} characters")
            if iterator.extent is not None and iterator.extent > LARGEST_EXTENT:
                self.refuse("a loop's extent does not fit into 64 bits")
        self.mark(stage, iterators=iterators, **marks)

    def mark(self, stage: int, **marks: Any) -> None:
        """Replace a stage, marked as changed by the current step."""
        old = self.stages[stage]
        self.stages[stage] = changed(old, steps=(*old.steps, self.index), **marks)

    def check_numbers(self, step: AnyStep) -> None:
        """Refuse numbers that no schedule has."""
        for name, value in vars(step).items():
            for number in value if isinstance(value, tuple) else (value,):
                if isinstance(number, int) and abs(number) > LARGEST_EXTENT:
                    self.refuse("a number does not fit into 64 bits", name)

    def refuse(self, problem: str, field: str = "") -> NoReturn:
        """Raise `ReplayError` for the current step."""
        code = self.steps[self.index].code if self.index < len(self.steps) else ""
        raise ReplayError(problem, step=self.index, code=code, field=field)


def loop_of(axis: TensorAxis, kind: IteratorKind, part: tuple[int, int]) -> Iterator:
    """Return the loop of an axis."""
    made_by = part[0]
    return Iterator(
        clean_name(axis.name),
        axis.extent,
        kind,
        made_by=made_by,
        factor=axis.factor,
        symbol=axis.symbol,
        steps=() if made_by < 0 else (made_by,),
        parts=(part,),
    )


T = TypeVar("T")


def changed(value: T, **fields: Any) -> T:
    """Return a copy with other fields; faster than `dataclasses.replace`."""
    copy = object.__new__(type(value))
    copy.__dict__.update(value.__dict__, **fields)
    return copy


MOST_STEPS = 10_000
MOST_STAGES = 1_000
MOST_LOOPS = 1_000  # most loops of one stage
MOST_LINES = 10_000  # most lines of a nest
LONGEST_NAME = 2_000
LARGEST_EXTENT = 2**63 - 1
LARGEST_FACTOR = 2**31 - 1
