"""Constants of a program and of named data as tensors; the header and the checks of a program.

``runtime/executor/tensor_parser_exec_aten.cpp`` @ v1.4.1, ``getTensorDataPtr``.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Sequence
from typing import NoReturn

from tvmdbg_widgets.formats.limits import WorkBudget, named_bytes
from tvmdbg_widgets.model.base.numbers import Trust, agree, counted
from tvmdbg_widgets.model.base.text import FormatError, Issue, IssueSeverity, cut
from tvmdbg_widgets.model.executorch.program import (
    VALUE_LISTS,
    ListValue,
    Plan,
    Program,
    ProgramHeader,
    ShapeDynamism,
    Subsegments,
    TensorValue,
    ValueKind,
)
from tvmdbg_widgets.model.executorch.program_instructions import (
    CallDelegate,
    FreeCall,
    Instruction,
    JumpFalseCall,
    KernelCall,
    MoveCall,
)
from tvmdbg_widgets.model.executorch.scalar_types import FlatTensor, dense_strides
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord
from tvmdbg_widgets.model.tensors.tensors import Tensor
from tvmdbg_widgets.sources.byte_source import ByteSource
from tvmdbg_widgets.sources.strided import StridedSource

#: A file of named data, and its bytes.
NamedFile = tuple["FlatTensor", "ByteSource"]


def program_tensors(
    program: Program, plan: Plan, graph: Graph, source: ByteSource, named: Sequence[NamedFile] = ()
) -> tuple[list[Tensor], list[Issue]]:
    """Return the constants and start values of the graph of a plan."""
    known = {tensor.name: (tensor, file) for data, file in named for tensor in data.tensors}
    with_files: list[tuple[Tensor, ByteSource]] = []
    issues: list[Issue] = []
    lost: list[int] = []
    for node, attrs in enumerate(graph.attrs):
        value = plan.values[int(attrs["value"])] if "value" in attrs else None
        if not isinstance(value, TensorValue) or value.dtype is None:
            continue
        where, offset = source, -1
        if value.is_external:
            named_tensor, file = known.get(value.name, (None, source))
            declared = (value.sizes, value.dtype, value.dim_order)
            if named_tensor is None:
                lost.append(node)
            elif named_tensor.layout is not None and declared == (
                named_tensor.layout.sizes,
                named_tensor.dtype,
                named_tensor.layout.dim_order,
            ):
                where, offset = file, named_tensor.offset
            else:
                issues.append(_other(graph, node, file))
        elif (span := program.data_of(value)) is not None:
            offset = span.offset
        if offset >= 0:
            with_files.append((_tensor(value, where, offset, node, graph), where))
    if lost and named:
        text = (
            f"{counted(len(lost), 'external constant')} {agree(len(lost), 'is')} in none of the "
            "files of named data"
        )
        nodes, file_name = tuple(lost[:20]), program.file
        issues.append(
            Issue("named-data-missing", IssueSeverity.WARNING, text, nodes, file=file_name)
        )
    return allowed_tensors(with_files, issues), issues


def allowed_tensors(
    with_files: Sequence[tuple[Tensor, ByteSource]], issues: list[Issue]
) -> list[Tensor]:
    """Return the tensors up to the first that reuses bytes of its file too often, with an issue."""
    budgets: dict[str, WorkBudget] = {}
    for at, (tensor, file) in enumerate(with_files):
        try:
            budgets.setdefault(file.name, named_bytes(file)).spend(tensor.nbytes)
        except FormatError as problem:
            left = counted(len(with_files) - at, "constant")
            text = f"{left} from {cut(tensor.name, 80)!r} on are left out: {problem}"
            issues.append(Issue("constants-overlap", IssueSeverity.ERROR, text, file=file.name))
            return [tensor_ for tensor_, _ in with_files[:at]]
    return [tensor_ for tensor_, _ in with_files]


def _tensor(value: TensorValue, source: ByteSource, offset: int, node: int, graph: Graph) -> Tensor:
    shape, nbytes, dtype = value.sizes, value.nbytes, value.dtype
    assert dtype is not None  # noqa: S101 (asked for before)
    assert nbytes is not None  # noqa: S101 (known where the type is)
    key = value.name or graph.names[node]
    if nbytes and value.strides != dense_strides(shape):
        ordered = StridedSource(source, offset, shape, value.strides, dtype.itemsize)
        notes = (f"stored with dimensions in order {list(value.dim_order)}, shown in C order",)
        record = ArrayRecord(key, dtype, shape, nbytes, 0, ordered, notes)
    else:
        record = ArrayRecord(key, dtype, shape, nbytes, offset, source)
    told = () if value.allocation is None else ("value at the start of the program",)
    name = graph.names[node]
    return Tensor(record, node, 0, name=name, trust=Trust.EXACT, notes=told, captured="file")


def _other(graph: Graph, node: int, file: ByteSource) -> Issue:
    text = (
        f"{graph.names[node]!r} has another type, shape or order of dimensions in the named data "
        "than in the program; its values are left out"
    )
    return Issue("named-data-disagrees", IssueSeverity.ERROR, text, nodes=(node,), file=file.name)


#: ``kTensorDimensionLimit`` (``runtime/core/exec_aten/util/tensor_dimension_limit.h`` @ v1.4.1).
MOST_DIMENSIONS = 16


def check_program(program: Program) -> None:
    """Check every index and size of a program."""
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
        if not least <= index < count:
            self.fail("an index is out of range", field, f"{least} to {count - 1}", index)

    def indexes(self, found: Iterable[int], count: int, field: str) -> None:
        for index in found:
            if not 0 <= index < count:
                self.index(index, count, field)

    def fail(self, problem: str, field: str, expected: object, found: object) -> NoReturn:
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
        elif isinstance(value, ListValue) and value.kind in VALUE_LISTS:
            none = value.kind == ValueKind.OPTIONAL_TENSOR_LIST
            items = (int(item) for item in value.items if not (none and item == -1))
            check.indexes(items, count, f"{field}.items")
    for row, chain in enumerate(plan.chains):
        check.indexes((*chain.inputs, *chain.outputs), count, f"{where}: chains[{row}]")
        for at, instruction in enumerate(chain.instructions):
            field = f"{where}: chains[{row}].instructions[{at}]"
            _check_instruction(plan, instruction, len(chain.instructions), check, field)


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
    _check_place(plan, tensor, check, field)
    if not tensor.is_external and tensor.data_buffer_idx:
        _check_data(program, tensor, check, field)


def _check_place(plan: Plan, tensor: TensorValue, check: _Checks, field: str) -> None:
    place, sizes = tensor.allocation, plan.buffer_sizes
    if place is None:
        return
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


HINT = "The file may be cut off or damaged: copy or export it again."

_IDENTIFIER = re.compile(rb"ET\d\d")
#: Root offset, identifier, magic, length, program size, segment base offset.
_FIXED = struct.Struct("<I4s4sIQQ")


def sniff(head: bytes) -> bool:
    """Return whether a file that starts with these 8 bytes or more is a program."""
    return _IDENTIFIER.fullmatch(head[4:8]) is not None


def read_header(source: ByteSource) -> ProgramHeader | None:
    """Return the extended header, or None."""
    head = source.read(0, min(source.size, 40))
    if head[4:8] != b"ET12":
        raise FormatError(
            "no program that a runtime of ExecuTorch reads"
            if sniff(head)
            else "no program of ExecuTorch",
            file=source.name,
            field="identifier",
            offset=4,
            expected="ET12, as in every release from 0.1 on",
            found=repr(head[4:8])[1:],
            hint="A newer release may have changed the format." if sniff(head) else HINT,
        )
    if head[8:12] != b"eh00":
        return None
    if len(head) < _FIXED.size:
        raise _broken(source, "length", 12, f"{_FIXED.size} bytes", counted(len(head), "byte"))
    *_, length, program_size, base = _FIXED.unpack_from(head)
    if length < 24:
        raise _broken(source, "length", 12, "24 or more", length)
    if not 8 + length <= program_size <= source.size:
        raise _broken(source, "program_size", 16, _within(source), f"{program_size:,}")
    if base and not program_size <= base <= source.size:
        raise _broken(source, "segment_base_offset", 24, _within(source), f"{base:,}")
    if length < 32:
        return ProgramHeader(length, program_size, base, None)
    (size,) = struct.unpack_from("<Q", head, 32) if len(head) == 40 else (0,)
    if base + size > source.size:
        raise _broken(
            source,
            "segment_data_size",
            32,
            counted(base + size, "byte"),
            f"a file of {counted(source.size, 'byte')}",
        )
    return ProgramHeader(length, program_size, base, size)


def _within(source: ByteSource) -> str:
    return f"a size within the {counted(source.size, 'byte')} of the file"


def _broken(
    source: ByteSource, field: str, offset: int, expected: object, found: object
) -> FormatError:
    return FormatError(
        "the header does not fit the file",
        file=source.name,
        field=f"extended header: {field}",
        offset=offset,
        expected=expected,
        found=found,
        hint=HINT,
    )
