"""Reader of program files (``.pte``), all but their segments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final, TypeVar

import numpy as np

from tvmdbg_widgets.formats.executorch.program.instruction_steps import read_segments
from tvmdbg_widgets.formats.executorch.program.tensors import (
    HINT,
    check_program,
    read_header,
    sniff,
)
from tvmdbg_widgets.formats.family import Kind, collector_paused
from tvmdbg_widgets.formats.flatbuffer import FlatBuffer, FlatTables, Ragged
from tvmdbg_widgets.model.executorch.program import (
    BufferDevice,
    CompileSpec,
    DataLocation,
    Delegate,
    ExtraTensorInfo,
    FileSpan,
    ListValue,
    NamedData,
    NoValue,
    OperatorName,
    Plan,
    PlannedPlace,
    Program,
    ScalarValue,
    Subsegments,
    TensorValue,
    Value,
    ValueKind,
)
from tvmdbg_widgets.model.executorch.program_instructions import (
    CallDelegate,
    Chain,
    FreeCall,
    Instruction,
    JumpFalseCall,
    KernelCall,
    MoveCall,
    StackFrame,
    UnknownCall,
)
from tvmdbg_widgets.sources.byte_source import ByteSource

__all__ = ["read_program", "sniff"]


@collector_paused()
def read_program(source: ByteSource) -> Program:
    """Read a program file; its segments are not read."""
    header = read_header(source)
    size = source.size if header is None else header.program_size
    base = 0 if header is None else header.segment_base_offset
    buffer = FlatBuffer(source.read(0, size), file=source.name, hint=HINT)
    root = FlatTables.root(buffer, "Program")
    segments = read_segments(root, 4, base, source.size)
    _, held = root.children(3, "BackendDelegateInlineData", "backend_delegate_data")
    inline = _bytes(held, "data")
    _, buffers = root.children(2, "Buffer", "constant_buffer")
    _, plans = root.children(1, "ExecutionPlan", "execution_plan")
    _, mutable = root.children(6, "SubsegmentOffsets", "mutable_data_segments")
    _, named = root.children(7, "NamedData", "named_data")
    constants = _subsegments(root.child(5, "SubsegmentOffsets", "constant_segment").tables)
    program = Program(
        file=source.name,
        file_size=source.size,
        version=int(root.scalar(0, np.uint32, 0, "version")[0]),
        header=header,
        plans=tuple(read_plans(plans, inline, segments)),
        segments=segments,
        constant_buffer=_bytes(buffers, "storage"),
        constants=constants[0] if constants else None,
        mutable_data=_subsegments(mutable),
        inline_data=inline,
        named_data=tuple(NamedData(*row) for row in named.rows("key:text segment_index")),
    )
    check_program(program)
    return program


def _bytes(tables: FlatTables, field: str) -> tuple[FileSpan, ...]:
    starts, lengths = tables.spans(0, field)
    return tuple(map(FileSpan, np.maximum(starts, 0).tolist(), lengths.tolist()))


def _subsegments(tables: FlatTables) -> tuple[Subsegments, ...]:
    return tuple(Subsegments(*row) for row in tables.rows("segment_index offsets:[u8]"))


Item = TypeVar("Item")


def read_plans(
    plans: FlatTables, inline: Sequence[FileSpan], segments: Sequence[FileSpan]
) -> list[Plan]:
    """Return the methods of ``ExecutionPlan`` tables."""
    meta, rows = plans.child(1, "ContainerMetadata", "container_meta_type")
    texts = meta.rows("encoded_inp_str:text encoded_out_str:text")
    encoded = dict(zip(rows.tolist(), texts, strict=True))
    values, value_tables = plans.children(2, "EValue", "values")
    chains, chain_tables = plans.children(5, "Chain", "chains")
    operators, operator_tables = plans.children(6, "Operator", "operators")
    delegates, delegate_tables = plans.children(7, "BackendDelegate", "delegates")
    devices, device_tables = plans.children(9, "NonConstBufferDevice", "non_const_buffer_device")
    names = [OperatorName(*row) for row in operator_tables.rows("name:text overload:text")]
    known = device_tables.rows("buffer_idx:i4 device_type:i1 device_index:i1")
    columns = zip(
        plans.strings(0, "name").column,
        _shared(values, read_values(value_tables)),
        plans.vector(3, np.int32, "inputs").tuples(),
        plans.vector(4, np.int32, "outputs").tuples(),
        _shared(chains, read_chains(chain_tables)),
        _shared(operators, names),
        _shared(delegates, _delegates(delegate_tables, inline, segments)),
        plans.vector(8, np.int64, "non_const_buffer_sizes").tuples(),
        _shared(devices, [BufferDevice(*row) for row in known]),
        strict=True,
    )
    return [
        Plan(name, *encoded.get(row, ("", "")), *rest) for row, (name, *rest) in enumerate(columns)
    ]


def _shared(owners: Ragged, items: list[Item]) -> list[tuple[Item, ...]]:
    return [tuple(items[start:end]) for start, end in pairwise(owners.offsets.tolist())]


def _delegates(
    tables: FlatTables, inline: Sequence[FileSpan], segments: Sequence[FileSpan]
) -> list[Delegate]:
    processed, rows = tables.child(1, "BackendDelegateDataReference", "processed")
    places = dict(zip(rows.tolist(), processed.rows("location:i1 index"), strict=True))
    specs, spec_tables = tables.children(2, "CompileSpec", "compile_specs")
    names, own_specs = tables.strings(0, "id").column, _shared(specs, _compile_specs(spec_tables))
    delegates = []
    for row, (name, own) in enumerate(zip(names, own_specs, strict=True)):
        location, index = places.get(row, (0, -1))
        held = segments if location == DataLocation.SEGMENT else inline
        if not 0 <= index < len(held):
            raise tables.buffer.broken(
                "a delegate names a payload that is not there",
                "BackendDelegate.processed.index",
                int(tables.places[row]),
                expected=f"below {len(held)}",
                found=index if index >= 0 else "nothing",
            )
        delegates.append(Delegate(name, own, location, index, held[index]))
    return delegates


def _compile_specs(tables: FlatTables) -> list[CompileSpec]:
    starts, lengths = tables.spans(1, "value")
    return [
        CompileSpec(key, tables.buffer.data[max(0, start) : max(0, start) + length])
        for key, start, length in zip(
            tables.strings(0, "key").column, starts.tolist(), lengths.tolist(), strict=True
        )
    ]


def read_chains(chains: FlatTables) -> list[Chain]:
    """Return the chains of ``Chain`` tables."""
    owners, tables = chains.children(2, "Instruction", "instructions")
    instructions = _instructions(tables)
    traced, lists = chains.children(3, "FrameList", "stacktrace")
    traces = _traces(lists)
    counts, traced_counts = np.diff(owners.offsets), np.diff(traced.offsets)
    wrong = np.flatnonzero((traced_counts > 0) & (traced_counts != counts))
    if len(wrong):
        raise chains.buffer.broken(
            "not as many stack traces as instructions",
            "Chain.stacktrace",
            int(chains.places[wrong[0]]),
            expected=int(counts[wrong[0]]),
            found=int(traced_counts[wrong[0]]),
        )
    return [
        Chain(*fields)
        for fields in zip(
            chains.vector(0, np.int32, "inputs").tuples(),
            chains.vector(1, np.int32, "outputs").tuples(),
            _shared(owners, instructions),
            _shared(traced, traces),
            strict=True,
        )
    ]


#: Type, name and fields of the members of ``InstructionArguments`` by number.
_INSTRUCTIONS: Final[dict[int, tuple[Callable[..., Instruction], str, str]]] = {
    1: (KernelCall, "KernelCall", "op_index:i4 args:[i4]"),
    2: (CallDelegate, "DelegateCall", "delegate_index:i4 args:[i4]"),
    3: (MoveCall, "MoveCall", "move_from:i4 move_to:i4"),
    4: (JumpFalseCall, "JumpFalseCall", "cond_value_index:i4 destination_instruction:i4"),
    5: (FreeCall, "FreeCall", "value_index:i4"),
}


def _instructions(tables: FlatTables) -> list[Instruction]:
    kinds = tables.scalar(0, np.uint8, 0, "instr_args_type")
    steps: list[Instruction] = list(map(UnknownCall, kinds.tolist()))
    for kind, (call, name, fields) in _INSTRUCTIONS.items():
        rows, held = tables.members(kinds, kind, name, "instr_args")
        for row, fields_ in zip(rows, held.rows(fields), strict=True):
            steps[row] = call(*fields_)
    return steps


def _traces(lists: FlatTables) -> list[tuple[StackFrame, ...]]:
    owners, tables = lists.children(0, "Frame", "items")
    rows = tables.rows("filename:text lineno:i4 name:text context:text")
    return _shared(owners, [StackFrame(*row) for row in rows])


#: Type, name and field of the members of ``KernelTypes`` by kind, without tensors.
_VALUES: Final[dict[ValueKind, tuple[type[ScalarValue | ListValue], str, str]]] = {
    ValueKind.INT: (ScalarValue, "Int", "int_val:i8"),
    ValueKind.BOOL: (ScalarValue, "Bool", "bool_val:?"),
    ValueKind.DOUBLE: (ScalarValue, "Double", "double_val:f8"),
    ValueKind.STRING: (ScalarValue, "String", "string_val:text"),
    ValueKind.INT_LIST: (ListValue, "IntList", "items:[i8]"),
    ValueKind.DOUBLE_LIST: (ListValue, "DoubleList", "items:[f8]"),
    ValueKind.BOOL_LIST: (ListValue, "BoolList", "items:[?]"),
    ValueKind.TENSOR_LIST: (ListValue, "TensorList", "items:[i4]"),
    ValueKind.OPTIONAL_TENSOR_LIST: (ListValue, "OptionalTensorList", "items:[i4]"),
}


def read_values(values: FlatTables) -> list[Value]:
    """Return the values of ``EValue`` tables."""
    kinds = values.scalar(0, np.uint8, 0, "val_type")
    result: list[Value] = list(map(NoValue, kinds.tolist()))
    for kind, (made, name, field) in _VALUES.items():
        rows, tables = values.members(kinds, kind, name, "val")
        for row, (value,) in zip(rows, tables.rows(field), strict=True):
            result[row] = made(kind, value)
    rows, tables = values.members(kinds, ValueKind.TENSOR, "Tensor", "val")
    for row, tensor in zip(rows, _tensors(tables), strict=True):
        result[row] = tensor
    return result


def _tensors(tables: FlatTables) -> list[TensorValue]:
    details, rows = tables.child(6, "AllocationDetails", "allocation_info")
    parts = details.rows("memory_id memory_offset_low memory_offset_high")
    places = {
        row: PlannedPlace(memory_id, high << 32 | low)
        for row, (memory_id, low, high) in zip(rows.tolist(), parts, strict=True)
    }
    info, rows = tables.child(9, "ExtraTensorInfo", "extra_tensor_info")
    held = info.rows(
        "mutable_data_segments_idx:u8 fully_qualified_name:text location:i1 device_type:i1 "
        "device_index:i1"
    )
    extras = {
        row: ExtraTensorInfo(*fields) for row, fields in zip(rows.tolist(), held, strict=True)
    }
    own = tables.rows(
        "scalar_type:i1 storage_offset:i4 sizes:[i4] dim_order:[u1] requires_grad:? "
        "data_buffer_idx - layout:i1 shape_dynamism:i1"
    )
    return [
        TensorValue(
            kind, sizes, order, offset, grad, at, places.get(row), layout, bound, extras.get(row)
        )
        for row, (kind, offset, sizes, order, grad, at, layout, bound) in enumerate(own)
    ]


KIND = Kind("program", "ExecuTorch program", sniff, read_program, has_tensors=True)
