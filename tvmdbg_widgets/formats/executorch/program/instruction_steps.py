"""The instructions of a method one after the other, with what each reads and writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tvmdbg_widgets.formats.executorch.program.instruction_outputs import (
    Externals,
    Fresh,
    arguments,
    expanded,
)
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.executorch.program import Plan
from tvmdbg_widgets.model.executorch.program_instructions import (
    CallDelegate,
    Instruction,
    KernelCall,
    MoveCall,
)
from tvmdbg_widgets.model.executorch.program_values import ListValue


@dataclass(frozen=True, slots=True)
class InstructionStep:
    """One instruction and its values, lists expanded; `doubt` tells what is not sure of them."""

    chain: int
    index: int
    instruction: Instruction
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    doubt: str


def steps_of(
    plan: Plan,
    num_outputs: Mapping[str, int] | None,
    file: str,
    externals: Mapping[int, Externals] | None = None,
) -> list[InstructionStep]:
    """Return the instructions of all chains, in the order in which they stand."""
    found: list[InstructionStep] = []
    fresh = Fresh(plan)
    left = most_links(plan)
    for row, chain in enumerate(plan.chains):
        for index, instruction in enumerate(chain.instructions):
            if isinstance(instruction, KernelCall | CallDelegate):
                left -= _unfolded(plan, instruction.args)
            if left < 0:
                raise unfolds(file)
            told = (num_outputs or {}).get(str(index))
            reads, writes, doubt = arguments(plan, instruction, fresh, told, externals)
            if not isinstance(instruction, MoveCall):
                reads, writes = expanded(plan, reads), expanded(plan, writes)
            step = InstructionStep(row, index, instruction, reads, writes, doubt)
            fresh.written.update(step.writes)
            found.append(step)
    return found


def most_links(plan: Plan) -> int:
    """Return how many links between instructions a plan of this size may have at most.

    Twenty for each argument and item of a list; real ones have two.
    """
    calls = (each for chain in plan.chains for each in chain.instructions)
    args = sum(len(each.args) for each in calls if isinstance(each, KernelCall | CallDelegate))
    return 10_000 + 20 * (args + _unfolded(plan, range(len(plan.values))))


def unfolds(file: str) -> FormatError:
    """Return the error for a plan with more links than :func:`most_links`."""
    return FormatError(
        "instructions share their lists or branches again and again",
        file=file,
        field="chains",
        expected="at most 20 links for each argument",
        found="more",
    )


def _unfolded(plan: Plan, values: Iterable[int]) -> int:
    held = (plan.values[index] for index in values)
    return sum(len(each.items) if isinstance(each, ListValue) else 1 for each in held)
