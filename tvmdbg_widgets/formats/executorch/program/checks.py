"""Whether the numbers of a program fit each other: indexes, places in memory, data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from tvmdbg_widgets.formats.executorch.program.header import HINT
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.executorch.program import Plan, Program, Subsegments
from tvmdbg_widgets.model.executorch.program_instructions import (
    CallDelegate,
    FreeCall,
    Instruction,
    JumpFalseCall,
    KernelCall,
    MoveCall,
)
from tvmdbg_widgets.model.executorch.program_values import (
    ListValue,
    ShapeDynamism,
    TensorValue,
    ValueKind,
)

#: ``kTensorDimensionLimit`` (``runtime/core/exec_aten/util/tensor_dimension_limit.h`` @ v1.4.1).
MOST_DIMENSIONS = 16


def check_program(program: Program) -> None:
    """Check every index and size of a program against what it counts or measures."""
    check = _Checks(program.file)
    for part in (program.constants, *program.mutable_data):
        if part is not None and part.offsets:
            check.index(part.segment_index, len(program.segments), "segment_index")
    for row, named in enumerate(program.named_data):
        field = f"named_data[{row}].segment_index"
        check.index(named.segment_index, len(program.segments), field)
    for plan in program.plans:
        _check_plan(program, plan, check)


class _Checks:
    def __init__(self, file: str) -> None:
        self._file = file

    def index(self, index: int, count: int, field: str, *, least: int = 0) -> None:
        """Check that an index lies below a count."""
        if not least <= index < count:
            self.fail("an index is out of range", field, f"{least} to {count - 1}", index)

    def indexes(self, found: Iterable[int], count: int, field: str) -> None:
        """Check several indexes."""
        for index in found:
            if not 0 <= index < count:
                self.index(index, count, field)

    def fail(self, problem: str, field: str, expected: object, found: object) -> NoReturn:
        """Refuse the file."""
        raise FormatError(
            problem, file=self._file, field=field, expected=expected, found=found, hint=HINT
        )


def _check_plan(program: Program, plan: Plan, check: _Checks) -> None:
    count, where = len(plan.values), f"execution_plan {plan.name[:80]!r}"
    check.indexes(plan.inputs, count, f"{where}: inputs")
    check.indexes(plan.outputs, count, f"{where}: outputs")
    for device in plan.buffer_devices:
        check.index(device.buffer_idx, len(plan.buffer_sizes), f"{where}: buffer_idx")
    for index, value in enumerate(plan.values):
        field = f"{where}: values[{index}]"
        if isinstance(value, TensorValue):
            _check_tensor(program, plan, value, check, field)
        elif isinstance(value, ListValue):
            items = _items(value)
            check.indexes(items, count, f"{field}.items")
    for row, chain in enumerate(plan.chains):
        check.indexes((*chain.inputs, *chain.outputs), count, f"{where}: chains[{row}]")
        for at, instruction in enumerate(chain.instructions):
            field = f"{where}: chains[{row}].instructions[{at}]"
            _check_instruction(plan, instruction, len(chain.instructions), check, field)


def _items(value: ListValue) -> Iterable[int]:
    """Return the items that must be indexes of values."""
    if value.kind == ValueKind.OPTIONAL_TENSOR_LIST:
        return (int(item) for item in value.items if item != -1)
    if value.kind in (ValueKind.INT_LIST, ValueKind.TENSOR_LIST):
        return (int(item) for item in value.items)
    return ()


def _check_instruction(
    plan: Plan, instruction: Instruction, length: int, check: _Checks, field: str
) -> None:
    values = len(plan.values)
    match instruction:
        case KernelCall(op_index, args):
            check.index(op_index, len(plan.operators), f"{field}.op_index")
            check.indexes(args, values, f"{field}.args")
        case CallDelegate(delegate_index, args):
            check.index(delegate_index, len(plan.delegates), f"{field}.delegate_index")
            check.indexes(args, values, f"{field}.args")
        case MoveCall(move_from, move_to):
            check.indexes((move_from, move_to), values, field)
        case JumpFalseCall(condition, destination):
            check.index(condition, values, f"{field}.cond_value_index")
            check.index(destination, length + 1, f"{field}.destination_instruction")
        case FreeCall(value_index):
            check.index(value_index, values, f"{field}.value_index")


def _check_tensor(
    program: Program, plan: Plan, tensor: TensorValue, check: _Checks, field: str
) -> None:
    rank = len(tensor.sizes)
    if rank > MOST_DIMENSIONS:
        check.fail(
            "a tensor has too many dimensions", f"{field}.sizes", f"at most {MOST_DIMENSIONS}", rank
        )
    if sorted(tensor.dim_order) != list(range(rank)):
        check.fail(
            "the order of dimensions is none",
            f"{field}.dim_order",
            f"each of the {counted(rank, 'dimension')} once",
            tensor.dim_order[:20],
        )
    unbound = tensor.shape_dynamism == ShapeDynamism.DYNAMIC_UNBOUND
    if not unbound and min(tensor.sizes, default=0) < 0:
        check.fail("a size is negative", f"{field}.sizes", "0 or more", tensor.sizes)
    if tensor.allocation is not None:
        _check_place(plan, tensor, check, field)
    if not tensor.is_external and tensor.data_buffer_idx:
        _check_data(program, tensor, check, field)


def _check_place(plan: Plan, tensor: TensorValue, check: _Checks, field: str) -> None:
    place = tensor.allocation
    if place is None:
        return
    sizes = plan.buffer_sizes
    check.index(place.memory_id, len(sizes), f"{field}.allocation_info.memory_id", least=1)
    end = place.offset + (tensor.nbytes or 0)
    if end > sizes[place.memory_id]:
        check.fail(
            "a tensor leaves its planned memory",
            f"{field}.allocation_info",
            f"at most {counted(sizes[place.memory_id], 'byte')}",
            f"{end:,}",
        )


def _check_data(program: Program, tensor: TensorValue, check: _Checks, field: str) -> None:
    field, index = f"{field}.data_buffer_idx", tensor.data_buffer_idx
    size = tensor.nbytes or 0
    part: Subsegments | None = program.constants
    if tensor.allocation is not None:
        check.index(0, len(program.mutable_data), f"{field}: mutable_data_segments")
        part = program.mutable_data[0]
    if part is not None and (part.offsets or tensor.allocation is not None):
        check.index(index, len(part.offsets), field)
        held, end = program.segments[part.segment_index].size, part.offsets[index] + size
    else:
        check.index(index, len(program.constant_buffer), field)
        held, end = program.constant_buffer[index].size, size
    if end > held:
        check.fail(
            "the data of a tensor leave their segment", field, counted(end, "byte"), f"{held:,}"
        )
