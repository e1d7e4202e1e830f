"""The planned memory of a method, for the graph of its instructions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tvmdbg_widgets.formats.executorch.program.instruction_sources import states_of
from tvmdbg_widgets.formats.executorch.program.instruction_steps import InstructionStep
from tvmdbg_widgets.model.executorch.program import Plan
from tvmdbg_widgets.model.executorch.program_instructions import JumpFalseCall
from tvmdbg_widgets.model.executorch.program_values import PlannedPlace, TensorValue
from tvmdbg_widgets.model.graph.planned_memory import PlannedMemory


def planned_memory(
    plan: Plan,
    leaves: Sequence[int],
    steps: Sequence[InstructionStep],
    placed: Sequence[Sequence[int]],
) -> PlannedMemory:
    """Return where the entries of a method's graph lie in its planned buffers."""
    places = [_place(plan, index) for each in placed for index in each]
    states, inputs = states_of(plan), set(plan.inputs)
    kept = [node for node, index in enumerate(leaves) if index in states]
    scratch = [
        node
        for node, index in enumerate(leaves)
        if index not in states and index not in inputs and _place(plan, index) is not None
    ]
    loops = [
        (len(leaves) + at - step.index + step.instruction.destination_instruction, len(leaves) + at)
        for at, step in enumerate(steps)
        if isinstance(step.instruction, JumpFalseCall)
        if step.instruction.destination_instruction <= step.index
    ]
    return PlannedMemory(
        buffer_sizes=tuple(max(0, size) for size in plan.buffer_sizes),
        buffers=np.array([-1 if each is None else each.memory_id for each in places], np.int32),
        offsets=np.array([0 if each is None else each.offset for each in places], np.int64),
        kept=np.array(kept, np.int32),
        scratch=np.array(scratch, np.int32),
        loops=np.array(loops, np.int32).reshape(-1, 2),
    )


def _place(plan: Plan, index: int) -> PlannedPlace | None:
    value = plan.values[index]
    return value.allocation if isinstance(value, TensorValue) else None
