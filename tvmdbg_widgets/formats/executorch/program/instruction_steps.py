"""The instructions of a method with their reads and writes; the reader of named data (``.ptd``)."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from tvmdbg_widgets.formats.executorch.program.tensors import HINT, MOST_DIMENSIONS
from tvmdbg_widgets.formats.family import Kind
from tvmdbg_widgets.formats.flatbuffer import FlatBuffer, FlatTables
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import FormatError
from tvmdbg_widgets.model.executorch.program import (
    FileSpan,
    ListValue,
    OperatorName,
    Plan,
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
from tvmdbg_widgets.model.executorch.scalar_types import FlatTensor, NamedTensor, TensorLayout
from tvmdbg_widgets.sources.byte_source import ByteSource


@dataclass(frozen=True, slots=True)
class InstructionStep:
    """One instruction and its values, lists expanded; `doubt` says why they are uncertain."""

    chain: int
    index: int
    instruction: Instruction
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    doubt: str


def steps_of(
    plan: Plan,
    num_outputs: Mapping[int, int] | None,
    file: str,
    externals: Mapping[int, Externals] | None = None,
) -> list[InstructionStep]:
    """Return the instructions of all chains in order."""
    steps: list[InstructionStep] = []
    fresh = Fresh(plan)
    left = most_links(plan)
    for row, chain in enumerate(plan.chains):
        for index, instruction in enumerate(chain.instructions):
            if isinstance(instruction, KernelCall | CallDelegate):
                left -= _unfolded(plan, instruction.args)
            if left < 0:
                raise unfolds(file)
            outputs = (num_outputs or {}).get(index)
            reads, writes, doubt = arguments(plan, instruction, fresh, outputs, externals)
            if not isinstance(instruction, MoveCall):
                reads, writes = expanded(plan, reads), expanded(plan, writes)
            step = InstructionStep(row, index, instruction, reads, writes, doubt)
            fresh.written.update(step.writes)
            steps.append(step)
    return steps


def most_links(plan: Plan) -> int:
    """Return the limit of links: twenty per argument and list item; real plans have two."""
    calls = (step for chain in plan.chains for step in chain.instructions)
    args = sum(len(step.args) for step in calls if isinstance(step, KernelCall | CallDelegate))
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
    return sum(len(value.items) if isinstance(value, ListValue) else 1 for value in held)


_IDENTIFIER = b"FT01"
#: Magic, length, flatbuffer offset, flatbuffer size, segment base offset, segment data size.
_HEADER = struct.Struct("<4sIQQQQ")
#: Fields of the root up to 0.6; three since.
_FIELDS_OF_V06 = 4


def sniff(head: bytes) -> bool:
    """Return whether a file that starts with these 8 bytes or more holds named data."""
    return head[4:8] == _IDENTIFIER


def read_flat_tensor(source: ByteSource) -> FlatTensor:
    """Read the tensors' names and layouts in a file, not their bytes."""
    head = source.read(0, min(source.size, 8 + _HEADER.size))
    if not sniff(head) or head[8:12] != b"FH01" or len(head) < 8 + _HEADER.size:
        raise FormatError(
            "no named data of ExecuTorch",
            file=source.name,
            field="header",
            offset=4,
            expected="FT01 and FH01",
            found=repr(head[4:12])[1:],
            hint=HINT,
        )
    _, length, offset, size, base, data_size = _HEADER.unpack_from(head, 8)
    for field, end in (("flatbuffer_size", offset + size), ("segment_data_size", base + data_size)):
        if length < _HEADER.size or end > source.size:
            raise FormatError(
                "the header does not fit the file",
                file=source.name,
                field=f"header: {field}",
                offset=8,
                expected=f"{counted(end, 'byte')}, and a header of {_HEADER.size}",
                found=f"a file of {counted(source.size, 'byte')}, and a header of {length}",
                hint=HINT,
            )
    # The root's offset counts from the first byte of the file.
    buffer = FlatBuffer(source.read(0, offset + size), file=source.name, hint=HINT)
    root = FlatTables.root(buffer, "FlatTensor")
    old = root.most_fields >= _FIELDS_OF_V06
    segments = read_segments(root, 3 if old else 1, base, source.size)
    tensors = _tensors_of_v06(root, segments) if old else []
    named = _named(root, 4 if old else 2, segments)
    version = int(root.scalar(0, np.uint32, 0, "version")[0])
    return FlatTensor(source.name, version, (*tensors, *named))


def _named(root: FlatTables, id_: int, segments: Sequence[FileSpan]) -> list[NamedTensor]:
    _, tables = root.children(id_, "NamedData", "named_data")
    layouts, rows = tables.child(2, "TensorLayout", "tensor_layout")
    layout_of = dict(zip(rows.tolist(), _layouts(layouts, 0), strict=True))
    names, held = tables.strings(0, "key").column, _held(tables, 1, segments)
    tensors = []
    for row, (name, span) in enumerate(zip(names, held, strict=True)):
        layout = layout_of.get(row)
        if layout is not None:
            _require(layout.nbytes, span.size, name, root)
        tensors.append(NamedTensor(name, *span, layout))
    return tensors


def _tensors_of_v06(root: FlatTables, segments: Sequence[FileSpan]) -> list[NamedTensor]:
    _, tables = root.children(2, "TensorMetadata", "tensors")
    names = tables.strings(0, "fully_qualified_name").column
    offsets = tables.scalar(5, np.uint64, 0, "offset").tolist()
    layouts = _layouts(tables, 1)
    tensors = []
    for name, layout, span, offset in zip(
        names, layouts, _held(tables, 4, segments), offsets, strict=True
    ):
        size = layout.nbytes
        _require(offset + size, span.size, name, root)
        tensors.append(NamedTensor(name, span.offset + offset, size, layout))
    return tensors


def _require(needed: int, held: int, name: str, root: FlatTables) -> None:
    if needed > held:
        raise root.buffer.broken(
            "a tensor leaves its segment",
            f"tensor {name!r:.80}",
            None,
            expected=counted(needed, "byte"),
            found=f"{held:,}",
        )


def _held(tables: FlatTables, id_: int, segments: Sequence[FileSpan]) -> list[FileSpan]:
    indexes = tables.scalar(id_, np.uint32, 0, "segment_index").tolist()
    for row, index in enumerate(indexes):
        if index >= len(segments):
            raise tables.buffer.broken(
                "a name for a segment that is not there",
                f"{tables.name}.segment_index",
                int(tables.places[row]),
                expected=f"below {len(segments)}",
                found=index,
            )
    return [segments[index] for index in indexes]


def _layouts(tables: FlatTables, first: int) -> list[TensorLayout]:
    """Return the layouts of tensors in three fields from the given one on."""
    rows = tables.rows("- " * first + "scalar_type:i1 sizes:[i4] dim_order:[u1]")
    layouts = [TensorLayout(*row) for row in rows]
    for row, (_, sizes, dim_order) in enumerate(layouts):
        rank = len(sizes)
        if (
            rank > MOST_DIMENSIONS
            or sorted(dim_order) != [*range(rank)]
            or min(sizes, default=0) < 0
        ):
            raise tables.buffer.broken(
                "no shape that a tensor may have",
                f"{tables.name}.sizes and dim_order",
                int(tables.places[row]),
                expected=f"at most {MOST_DIMENSIONS} sizes of 0 or more, each dimension once",
                found=f"{sizes[:20]} and {dim_order[:20]}",
            )
    return layouts


#: Positions in the arguments of a delegate's call: of its inputs, and of its outputs.
Externals: TypeAlias = "tuple[tuple[int, ...], tuple[int, ...]]"

#: Operators without an out argument: they return their last argument.
_RETURNS_LAST = ("executorch_prim::", "aten::sym_", "aten::_local_scalar_dense")


class Arguments(NamedTuple):
    """Indexes of read and written values, lists not yet expanded; `doubt` says why uncertain."""

    reads: tuple[int, ...]
    writes: tuple[int, ...]
    doubt: str = ""


class Fresh:
    """Values without a writer yet, which a delegate call may return; they follow the last input."""

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
    """Return the values that an instruction reads and writes."""
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
    """Return the values with lists replaced by their items, one level deep."""
    indexes: list[int] = []
    for index in values:
        value = plan.values[index]
        if isinstance(value, ListValue):
            indexes.extend(value.value_indexes)
        else:
            indexes.append(index)
    return tuple(indexes)


def _kernel(plan: Plan, operator: OperatorName, args: tuple[int, ...]) -> Arguments:
    if not args:
        return Arguments((), (), "outputs not known")
    if operator.name == "executorch_prim::et_copy_index":
        return Arguments(args, args[:1])
    if operator.name.startswith(_RETURNS_LAST):
        return Arguments(args[:-1], args[-1:])
    last = plan.values[args[-1]]
    is_list = isinstance(last, ListValue) and last.kind == ValueKind.TENSOR_LIST
    if len(args) > 1 and (args[-1] == args[-2] or (is_list and last == plan.values[args[-2]])):
        return Arguments(args[:-2], args[-1:])
    if isinstance(last, ListValue) and is_list:
        count = len(last.items)
        if count and args[-1 - count : -1] == last.items:
            return Arguments(args[: -1 - count], args[-1:])
    if args[-1] in args[:-1] or operator.name.endswith("_"):
        return Arguments(args[:-1], args[-1:])
    return Arguments(args, (), "outputs not known")


def _delegate(
    args: tuple[int, ...], fresh: Fresh, num_outputs: int | None, external: Externals | None
) -> Arguments:
    """Split by the payload, else by the ETRecord, else take the longest tail that may be new."""
    inputs, outputs = external or ((), ())
    split = len(inputs)
    # All positions there are, outputs behind inputs.
    if outputs and [*sorted(inputs), *sorted(outputs)] == [*range(len(args))]:
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


def read_segments(root: FlatTables, id_: int, base: int, file_size: int) -> tuple[FileSpan, ...]:
    """Return the segments' places in the file; offsets count from `base`."""
    _, tables = root.children(id_, "DataSegment", "segments")
    spans = tables.rows("offset:u8 size:u8")
    for row, (offset, size) in enumerate(spans):
        if base + offset + size > file_size:
            raise root.buffer.broken(
                "a segment leaves the file",
                f"segments[{row}]",
                int(tables.places[row]),
                expected=counted(base + offset + size, "byte"),
                found=f"a file of {counted(file_size, 'byte')}",
            )
    return tuple(FileSpan(base + offset, size) for offset, size in spans)


KIND = Kind("named-data", "named data", sniff, read_flat_tensor, has_tensors=True)
