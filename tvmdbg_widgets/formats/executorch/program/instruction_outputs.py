"""Which values an instruction reads and which it writes.

A kernel's arguments are those of its schema, out arguments included, and then the returned values
once more; a delegate's are its inputs, then its outputs (``_emit_operator`` and ``_emit_delegate``
of ``exir/emit/_emitter.py`` @ v1.4.1). Where the ones end and the others start only a payload that
can be read says, or an ETRecord.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.executorch.program import OperatorName, Plan
from tvmdbg_widgets.model.executorch.program_instructions import (
    CallDelegate,
    FreeCall,
    Instruction,
    JumpFalseCall,
    KernelCall,
    MoveCall,
)
from tvmdbg_widgets.model.executorch.program_values import ListValue, TensorValue, ValueKind

#: Positions in the arguments of a delegate's call: of its inputs, and of its outputs.
Externals: TypeAlias = "tuple[tuple[int, ...], tuple[int, ...]]"

#: Operators without an out argument: the last argument is what they return.
_RETURNS_LAST = ("executorch_prim::", "aten::sym_", "aten::_local_scalar_dense")


class Arguments(NamedTuple):
    """What an instruction reads and writes, as indexes of values; lists not yet expanded.

    `doubt` tells what is not sure, empty where all is.
    """

    reads: tuple[int, ...]
    writes: tuple[int, ...]
    doubt: str = ""


class Fresh:
    """Values that no instruction has written yet: what a delegate call may return.

    Inputs and states have the lowest indexes, so none up to the last input is ever fresh.
    """

    def __init__(self, plan: Plan) -> None:
        self._values = plan.values
        self._highest = max(plan.inputs, default=-1)
        self.written: set[int] = set()

    def __contains__(self, index: int) -> bool:
        value = self._values[index]
        constant = isinstance(value, TensorValue) and value.is_constant
        return index > self._highest and index not in self.written and not constant


def arguments(
    plan: Plan,
    instruction: Instruction,
    fresh: Fresh,
    num_outputs: int | None,
    externals: Mapping[int, Externals] | None = None,
) -> Arguments:
    """Return what an instruction reads and writes."""
    match instruction:
        case KernelCall(op_index, args):
            return _kernel(plan, plan.operators[op_index], args)
        case CallDelegate(delegate_index, args):
            return _delegate(args, fresh, num_outputs, (externals or {}).get(delegate_index))
        case MoveCall(move_from, move_to):
            return Arguments((move_from,), (move_to,))
        case JumpFalseCall(condition, _):
            return Arguments((condition,), ())
        case FreeCall(value):
            return Arguments((value,), ())
        case _:
            return Arguments((), (), "an instruction of an unknown kind")


def expanded(plan: Plan, values: Sequence[int]) -> tuple[int, ...]:
    """Return the values with each list of values replaced by its items, one level deep."""
    found: list[int] = []
    for index in values:
        value = plan.values[index]
        if isinstance(value, ListValue):
            found.extend(value.value_indexes)
        else:
            found.append(index)
    return tuple(found)


def _kernel(plan: Plan, operator: OperatorName, args: tuple[int, ...]) -> Arguments:
    if not args:
        return Arguments((), (), "outputs not known")
    if operator.name == "executorch_prim::et_copy_index":
        return Arguments(args, args[:1])
    if operator.name.startswith(_RETURNS_LAST):
        return Arguments(args[:-1], args[-1:])
    if len(args) > 1 and (args[-1] == args[-2] or _equal_lists(plan, args[-2:])):
        return Arguments(args[:-2], args[-1:])
    last = plan.values[args[-1]]
    if isinstance(last, ListValue) and last.kind == ValueKind.TENSOR_LIST:
        count = len(last.items)
        if count and args[-1 - count : -1] == last.items:
            return Arguments(args[: -1 - count], args[-1:])
    if args[-1] in args[:-1] or operator.name.endswith("_"):
        return Arguments(args[:-1], args[-1:])
    return Arguments(args, (), "outputs not known")


def _equal_lists(plan: Plan, pair: tuple[int, ...]) -> bool:
    first, second = (plan.values[index] for index in pair)
    return isinstance(first, ListValue) and first.kind == ValueKind.TENSOR_LIST and first == second


def _delegate(
    args: tuple[int, ...], fresh: Fresh, num_outputs: int | None, external: Externals | None
) -> Arguments:
    """Split by the payload, else by the ETRecord, else take the longest tail that may be new."""
    inputs, outputs = external or ((), ())
    split = len(inputs)
    if outputs and split + len(outputs) == len(args) and _in_turn(inputs, outputs):
        doubt = ""
        if num_outputs not in (None, len(outputs)):
            held = counted(len(outputs), "output")
            doubt = f"{held} in the delegate's payload, {num_outputs:,} in the ETRecord"
        return Arguments(args[:split], args[split:], doubt)
    if num_outputs is not None and 0 <= num_outputs <= len(args):
        split = len(args) - num_outputs
        return Arguments(args[:split], args[split:])
    split = len(args)
    while split and args[split - 1] in fresh:
        split -= 1
    return Arguments(args[:split], args[split:], "outputs by the order of values")


def _in_turn(inputs: tuple[int, ...], outputs: tuple[int, ...]) -> bool:
    """Whether these are all positions there are, outputs behind inputs."""
    return [*sorted(inputs), *sorted(outputs)] == [*range(len(inputs) + len(outputs))]
