"""Where each value comes from that an instruction reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tvmdbg_widgets.formats.executorch.program.instruction_steps import (
    InstructionStep,
    most_links,
    unfolds,
)
from tvmdbg_widgets.formats.executorch.program.reaching import Effect, Flow, State, Writing
from tvmdbg_widgets.formats.executorch.program.view_ranges import ViewRanges
from tvmdbg_widgets.model.executorch.program import Plan
from tvmdbg_widgets.model.executorch.program_instructions import JumpFalseCall, MoveCall
from tvmdbg_widgets.model.executorch.program_values import ScalarValue, TensorValue

#: Ranges of memory changed by all instructions; real ones change a few each.
_MOST_EFFECTS = 2_000_000


class Source(NamedTuple):
    """Where one read value comes from."""

    writings: tuple[Writing, ...]
    viewed: bool


class Sources(NamedTuple):
    """Sources of what each instruction reads, and of the outputs of the method."""

    reads: list[list[Source]]
    outputs: list[Source]


def states_of(plan: Plan) -> frozenset[int]:
    """Return the values that are mutable buffers, which keep what the last run left.

    They have a start value, or are placeholders, which come before the last input.
    """
    highest, inputs = max(plan.inputs, default=-1), set(plan.inputs)
    return frozenset(
        index
        for index, value in enumerate(plan.values)
        if isinstance(value, TensorValue) and value.allocation is not None
        if index < highest or value.data_buffer_idx > 0 or value.is_external
        if index not in inputs
    )


def sources_of(plan: Plan, steps: Sequence[InstructionStep], file: str) -> Sources:
    """Return where everything comes from that is read.

    A number or a list that nothing writes is literal and has no source.
    """
    written = {index for step in steps for index in step.writes}
    read = dict.fromkeys(index for step in steps for index in step.reads)
    before = {index: frozenset(((-1, index),)) for index in plan.inputs}
    before |= {index: frozenset(((-1, index),)) for index in states_of(plan)}
    given = written | before.keys()
    views = ViewRanges(plan, [each for each in (*read, *plan.outputs) if each not in given])
    for index in tuple(before):
        location = views.filled(index)
        if location is not None:
            before[location] = before[index]
    states = _flow(plan, steps, views, file).states(before, file)
    found: list[list[Source]] = []
    left = most_links(plan)
    reads = [*(step.reads for step in steps), plan.outputs]
    for position, (indexes, state) in enumerate(zip(reads, states, strict=True)):
        found.append([])
        for index in indexes:
            source = _source(index, state, views)
            if source is None:
                # A literal is told by its reader, but an output of the method has a node.
                if position < len(steps) and not isinstance(plan.values[index], TensorValue):
                    continue
                source = Source(((-1, index),), False)
            found[-1].append(source)
            left -= len(source.writings)
            if left < 0:
                raise unfolds(file)
    return Sources(found[:-1], found[-1])


def _flow(plan: Plan, steps: Sequence[InstructionStep], views: ViewRanges, file: str) -> Flow:
    effects: list[list[Effect]] = []
    left = _MOST_EFFECTS
    for at, step in enumerate(steps):
        effects.append(_effects(at, step, views))
        left -= len(effects[-1])
        if left < 0:
            raise unfolds(file)
    written = {index for step in steps for index in step.writes}
    jumps: dict[int, int] = {}
    always: set[int] = set()
    for at, step in enumerate(steps):
        if not isinstance(step.instruction, JumpFalseCall):
            continue
        condition = step.instruction.cond_value_index
        value = plan.values[condition]
        fixed = value.value if isinstance(value, ScalarValue) and condition not in written else None
        if fixed is True:
            continue
        jumps[at] = at - step.index + step.instruction.destination_instruction
        if fixed is False:
            always.add(at)
    return Flow(effects, jumps, frozenset(always))


def _effects(at: int, step: InstructionStep, views: ViewRanges) -> list[Effect]:
    found = []
    for output, index in enumerate(step.writes):
        writing = (at, output)
        found.append(Effect(index, writing))
        if not isinstance(step.instruction, MoveCall):
            own = views.filled(index)
            found += [
                Effect(location, writing if location == own else None)
                for location in views.touched(index)
            ]
    return found


def _source(index: int, state: State, views: ViewRanges) -> Source | None:
    own = state.get(index)
    if own:
        return Source(tuple(sorted(own)), False)
    location = views.location(index)
    other = None if location is None else state.get(location)
    return Source(tuple(sorted(other)), True) if other else None
