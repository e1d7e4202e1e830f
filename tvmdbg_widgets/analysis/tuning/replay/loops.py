"""Steps that change the loops of one stage (src/auto_scheduler/transform_step.cc)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod

from tvmdbg_widgets.analysis.tuning.replay.changed import changed
from tvmdbg_widgets.analysis.tuning.replay.limits import LARGEST_FACTOR, MOST_LOOPS
from tvmdbg_widgets.analysis.tuning.replay.working import Working
from tvmdbg_widgets.model.tuning.state import Iterator, IteratorKind
from tvmdbg_widgets.model.tuning.steps import (
    Annotation,
    AnnotationStep,
    FollowFusedSplitStep,
    FollowSplitStep,
    FuseStep,
    PragmaStep,
    ReorderStep,
    SplitStep,
    StorageAlignStep,
)

_UNROLL = "auto_unroll_max_step"
#: What ``atoi`` reads at the start of a text.
_NUMBER = re.compile(r"[ \t\n\v\f\r]*([+-]?[0-9]{1,20})")


def annotate(working: Working, step: AnnotationStep) -> None:
    """AN: bind a loop that is not bound."""
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
    """FU: make one loop of several, or replace all by one of extent 1."""
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
    kinds = {each.kind for each in parts}
    kind = parts[0].kind if len(kinds) == 1 else IteratorKind.MIXED
    history = sorted({each for part in parts for each in part.steps})
    fused = Iterator(
        "".join(f"{each.name}@" for each in parts),
        _product(working, parts),
        kind,
        made_by=index,
        steps=(*history, index),
        parts=tuple(each for part in parts for each in part.parts),
        product=None
        if any(each.product is None for each in parts)
        else tuple(factor for each in parts for factor in each.product or ()),
    )
    first, last = places[0], places[-1]
    _replace(working, stage, (*old[:first], fused, *old[last + 1 :]))
    working.attachments.move(
        stage,
        len(old),
        lambda place: place if place <= first else max(first, place - last + first),
    )


def reorder(working: Working, step: ReorderStep) -> None:
    """RE: the old loops in this order; what TVM does not check is applied as it is."""
    if len(step.after_ids) > MOST_LOOPS:
        working.refuse(f"more than {MOST_LOOPS:,} loops", "after_ids")
    chosen = [working.iterator(step.stage_id, each, "after_ids") for each in step.after_ids]
    working.stage(step.stage_id)
    working.set_iterators(step.stage_id, tuple(chosen), is_open=False)


def split(working: Working, step: SplitStep) -> None:
    """SP: one loop into ``len(lengths) + 1``; the recorded extent is not looked at."""
    loop = working.iterator_to_split(step.stage_id, step.iter_id, step.extent)
    factors = [((working.index, at),) for at in range(len(step.lengths))]
    _split(working, step, loop, step.lengths, factors, inner_to_outer=step.inner_to_outer)


def follow_split(working: Working, step: FollowSplitStep) -> None:
    """FSP: by the factors of a SP of the record, the last ones multiplied."""
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
    factors = [*((each,) for each in sources[:kept]), tuple(sources[kept:])]
    followed = followed_lengths(lengths, step.n_split)
    _split(working, step, loop, followed, factors, inner_to_outer=True)


def followed_lengths(lengths: tuple[int, ...], n_split: int) -> tuple[int, ...]:
    """Return the factors that a FSP step takes from those of a SP."""
    kept = max(n_split - 1, 0)
    return (*lengths[:kept], prod(lengths[kept:]))


def follow_fused_split(working: Working, step: FollowFusedSplitStep) -> None:
    """FFSP: in two, by the product of one level of some SPs."""
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
    if step.pragma_type == "debug_skip_region":  # TVM does not look at the stage
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
    found = _NUMBER.match(number)
    unroll = int(found[1]) if found else 0
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
    if any(not 0 < each <= LARGEST_FACTOR for each in lengths):
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
    _replace(working, stage, (*old[:place], *parts, *old[place + 1 :]))
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


def _replace(working: Working, stage: int, iterators: tuple[Iterator, ...]) -> None:
    """Give a stage loops whose own history tells what was done."""
    before = working.stages[stage].steps
    working.set_iterators(stage, iterators)
    working.stages[stage] = changed(working.stages[stage], steps=before)


def _product(working: Working, parts: list[Iterator]) -> int | None:
    """Multiply extents from the first on; 32 bits are kept after each where TVM keeps them."""
    product = 1
    for each in parts:
        if each.extent is None:
            return None
        product *= each.extent
        if working.wraps:
            product = (product + 2**31) % 2**32 - 2**31
    return product


def _source(working: Working, index: int, field: str) -> SplitStep:
    found = working.steps[index] if 0 <= index < len(working.steps) else None
    if not isinstance(found, SplitStep):
        working.refuse(f"step {index} is no SP step", field)
    if len(found.lengths) > MOST_LOOPS:
        working.refuse(f"step {index} has more than {MOST_LOOPS:,} factors", field)
    return found
