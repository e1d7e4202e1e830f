"""The members of a union field, type by type."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.executorch.program.instruction_steps import read_segments
from tvmdbg_widgets.formats.executorch.program.tensors import (
    HINT,
    check_program,
    read_header,
    sniff,
)
from tvmdbg_widgets.formats.flatbuffer import FlatBuffer, FlatTables, Ragged
from tvmdbg_widgets.formats.registry import collector_paused
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


def members(
    holders: FlatTables,
    kinds: npt.NDArray[np.uint8],
    kind: int,
    name: str,
    field: str,
    *,
    id_: int = 1,
) -> tuple[list[int], FlatTables]:
    """Return the rows whose union has a type, and its values; `id_` is that of the value."""
    rows = np.flatnonzero(kinds == kind)
    chosen = FlatTables(holders.buffer, holders.places[rows], holders.name)
    found = chosen.child(id_, name, field)
    if len(found.rows) < len(rows):
        missing = np.setdiff1d(np.arange(len(rows)), found.rows)[0]
        raise holders.buffer.broken(
            "a union says its type and has no value",
            f"{holders.name}.{field}",
            int(chosen.places[missing]),
            expected=f"a table {name}",
            found="nothing",
        )
    return rows.tolist(), found.tables


def read_program(source: ByteSource) -> Program:
    """Read a program file; its segments are not read."""
    with collector_paused():
        return _read(source)


def _read(source: ByteSource) -> Program:
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
        named_data=tuple(
            map(
                NamedData,
                named.strings(0, "key").column,
                named.scalar(1, np.uint32, 0, "segment_index").tolist(),
            )
        ),
    )
    check_program(program)
    return program


def _bytes(tables: FlatTables, field: str) -> tuple[FileSpan, ...]:
    starts, lengths = tables.spans(0, field)
    return tuple(map(FileSpan, np.maximum(starts, 0).tolist(), lengths.tolist()))


def _subsegments(tables: FlatTables) -> tuple[Subsegments, ...]:
    return tuple(
        map(
            Subsegments,
            tables.scalar(0, np.uint32, 0, "segment_index").tolist(),
            tables.vector(1, np.uint64, "offsets").tuples(),
        )
    )


Item = TypeVar("Item")


def read_plans(
    plans: FlatTables, inline: Sequence[FileSpan], segments: Sequence[FileSpan]
) -> list[Plan]:
    """Return the methods of some tables ``ExecutionPlan``."""
    meta, rows = plans.child(1, "ContainerMetadata", "container_meta_type")
    encoded = dict(
        zip(
            rows.tolist(),
            zip(
                meta.strings(0, "encoded_inp_str").column,
                meta.strings(1, "encoded_out_str").column,
                strict=True,
            ),
            strict=True,
        )
    )
    values, value_tables = plans.children(2, "EValue", "values")
    chains, chain_tables = plans.children(5, "Chain", "chains")
    operators, operator_tables = plans.children(6, "Operator", "operators")
    delegates, delegate_tables = plans.children(7, "BackendDelegate", "delegates")
    devices, device_tables = plans.children(9, "NonConstBufferDevice", "non_const_buffer_device")
    columns = zip(
        plans.strings(0, "name").column,
        _shared(values, read_values(value_tables)),
        plans.vector(3, np.int32, "inputs").tuples(),
        plans.vector(4, np.int32, "outputs").tuples(),
        _shared(chains, read_chains(chain_tables)),
        _shared(operators, _operators(operator_tables)),
        _shared(delegates, _delegates(delegate_tables, inline, segments)),
        plans.vector(8, np.int64, "non_const_buffer_sizes").tuples(),
        _shared(devices, _devices(device_tables)),
        strict=True,
    )
    return [
        Plan(name, *encoded.get(row, ("", "")), *rest) for row, (name, *rest) in enumerate(columns)
    ]


def _shared(owners: Ragged, items: list[Item]) -> list[tuple[Item, ...]]:
    return [tuple(items[start:end]) for start, end in pairwise(owners.offsets.tolist())]


def _operators(tables: FlatTables) -> list[OperatorName]:
    names = tables.strings(0, "name").column
    return list(map(OperatorName, names, tables.strings(1, "overload").column))


def _devices(tables: FlatTables) -> list[BufferDevice]:
    return list(
        map(
            BufferDevice,
            tables.scalar(0, np.int32, 0, "buffer_idx").tolist(),
            tables.scalar(1, np.int8, 0, "device_type").tolist(),
            tables.scalar(2, np.int8, 0, "device_index").tolist(),
        )
    )


def _delegates(
    tables: FlatTables, inline: Sequence[FileSpan], segments: Sequence[FileSpan]
) -> list[Delegate]:
    processed, rows = tables.child(1, "BackendDelegateDataReference", "processed")
    locations, indexes = np.zeros(len(tables), np.int8), np.full(len(tables), -1, np.int64)
    locations[rows] = processed.scalar(0, np.int8, 0, "location")
    indexes[rows] = processed.scalar(1, np.uint32, 0, "index")
    specs, spec_tables = tables.children(2, "CompileSpec", "compile_specs")
    found = []
    for row, (name, own, location, index) in enumerate(
        zip(
            tables.strings(0, "id").column,
            _shared(specs, _compile_specs(spec_tables)),
            locations.tolist(),
            indexes.tolist(),
            strict=True,
        )
    ):
        held = segments if location == DataLocation.SEGMENT else inline
        if not 0 <= index < len(held):
            raise tables.buffer.broken(
                "a delegate names a payload that is not there",
                "BackendDelegate.processed.index",
                int(tables.places[row]),
                expected=f"below {len(held)}",
                found=index if index >= 0 else "nothing",
            )
        found.append(Delegate(name, own, location, index, held[index]))
    return found


def _compile_specs(tables: FlatTables) -> list[CompileSpec]:
    starts, lengths = tables.spans(1, "value")
    return [
        CompileSpec(key, tables.buffer.data[max(0, start) : max(0, start) + length])
        for key, start, length in zip(
            tables.strings(0, "key").column, starts.tolist(), lengths.tolist(), strict=True
        )
    ]


def read_chains(chains: FlatTables) -> list[Chain]:
    """Return the chains of some tables ``Chain``."""
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
        Chain(inputs, outputs, tuple(instructions[own]), tuple(traces[theirs]))
        for inputs, outputs, own, theirs in zip(
            chains.vector(0, np.int32, "inputs").tuples(),
            chains.vector(1, np.int32, "outputs").tuples(),
            [slice(*each) for each in pairwise(owners.offsets.tolist())],
            [slice(*each) for each in pairwise(traced.offsets.tolist())],
            strict=True,
        )
    ]


def _instructions(tables: FlatTables) -> list[Instruction]:
    kinds = tables.scalar(0, np.uint8, 0, "instr_args_type")
    found: list[Instruction] = list(map(UnknownCall, kinds.tolist()))

    def numbers(kind: int, name: str, *fields: str) -> tuple[list[int], list[list[int]]]:
        rows, held = members(tables, kinds, kind, name, "instr_args")
        columns = enumerate(fields)
        return rows, [held.scalar(id_, np.int32, 0, field).tolist() for id_, field in columns]

    for kind, call, name, field in (
        (1, KernelCall, "KernelCall", "op_index"),
        (2, CallDelegate, "DelegateCall", "delegate_index"),
    ):
        rows, held = members(tables, kinds, kind, name, "instr_args")
        indexes = held.scalar(0, np.int32, 0, field).tolist()
        args = held.vector(1, np.int32, "args").tuples()
        for row, index, each in zip(rows, indexes, args, strict=True):
            found[row] = call(index, each)
    rows, (origins, targets) = numbers(3, "MoveCall", "move_from", "move_to")
    for row, origin, target in zip(rows, origins, targets, strict=True):
        found[row] = MoveCall(origin, target)
    rows, (conditions, destinations) = numbers(
        4, "JumpFalseCall", "cond_value_index", "destination_instruction"
    )
    for row, condition, destination in zip(rows, conditions, destinations, strict=True):
        found[row] = JumpFalseCall(condition, destination)
    rows, (freed,) = numbers(5, "FreeCall", "value_index")
    for row, value in zip(rows, freed, strict=True):
        found[row] = FreeCall(value)
    return found


def _traces(lists: FlatTables) -> list[tuple[StackFrame, ...]]:
    owners, tables = lists.children(0, "Frame", "items")
    frames = list(
        map(
            StackFrame,
            tables.strings(0, "filename").column,
            tables.scalar(1, np.int32, 0, "lineno").tolist(),
            tables.strings(2, "name").column,
            tables.strings(3, "context").column,
        )
    )
    return [tuple(frames[start:end]) for start, end in pairwise(owners.offsets.tolist())]


#: Name, field and element type by kind; strings apart.
_SCALARS = {
    ValueKind.INT: ("Int", "int_val", np.int64),
    ValueKind.BOOL: ("Bool", "bool_val", np.bool_),
    ValueKind.DOUBLE: ("Double", "double_val", np.float64),
}
_LISTS = {
    ValueKind.INT_LIST: ("IntList", np.int64),
    ValueKind.DOUBLE_LIST: ("DoubleList", np.float64),
    ValueKind.BOOL_LIST: ("BoolList", np.bool_),
    ValueKind.TENSOR_LIST: ("TensorList", np.int32),
    ValueKind.OPTIONAL_TENSOR_LIST: ("OptionalTensorList", np.int32),
}


def read_values(values: FlatTables) -> list[Value]:
    """Return the values of some tables ``EValue``."""
    kinds = values.scalar(0, np.uint8, 0, "val_type")
    found: list[Value] = list(map(NoValue, kinds.tolist()))
    for kind, (name, field, dtype) in _SCALARS.items():
        rows, tables = members(values, kinds, kind, name, "val")
        for row, value in zip(rows, tables.scalar(0, dtype, 0, field).tolist(), strict=True):
            found[row] = ScalarValue(kind, value)
    rows, tables = members(values, kinds, ValueKind.STRING, "String", "val")
    for row, text in zip(rows, tables.strings(0, "string_val").column, strict=True):
        found[row] = ScalarValue(ValueKind.STRING, text)
    for kind, (name, dtype) in _LISTS.items():
        rows, tables = members(values, kinds, kind, name, "val")
        for row, items in zip(rows, tables.vector(0, dtype, "items").tuples(), strict=True):
            found[row] = ListValue(kind, items)
    rows, tables = members(values, kinds, ValueKind.TENSOR, "Tensor", "val")
    for row, tensor in zip(rows, _tensors(tables), strict=True):
        found[row] = tensor
    return found


def _tensors(tables: FlatTables) -> list[TensorValue]:
    columns = zip(
        tables.scalar(0, np.int8, 0, "scalar_type").tolist(),
        tables.vector(2, np.int32, "sizes").tuples(),
        tables.vector(3, np.uint8, "dim_order").tuples(),
        tables.scalar(1, np.int32, 0, "storage_offset").tolist(),
        tables.scalar(4, np.bool_, 0, "requires_grad").tolist(),
        tables.scalar(5, np.uint32, 0, "data_buffer_idx").tolist(),
        _places(tables),
        tables.scalar(7, np.int8, 0, "layout").tolist(),
        tables.scalar(8, np.int8, 0, "shape_dynamism").tolist(),
        _extras(tables),
        strict=True,
    )
    return [TensorValue(*each) for each in columns]


def _places(tensors: FlatTables) -> list[PlannedPlace | None]:
    found: list[PlannedPlace | None] = [None] * len(tensors)
    tables, rows = tensors.child(6, "AllocationDetails", "allocation_info")
    columns = (
        tables.scalar(id_, np.uint32, 0, field).tolist()
        for id_, field in enumerate(("memory_id", "memory_offset_low", "memory_offset_high"))
    )
    for row, memory_id, low, high in zip(rows.tolist(), *columns, strict=True):
        found[row] = PlannedPlace(memory_id, high << 32 | low)
    return found


def _extras(tensors: FlatTables) -> list[ExtraTensorInfo | None]:
    found: list[ExtraTensorInfo | None] = [None] * len(tensors)
    tables, rows = tensors.child(9, "ExtraTensorInfo", "extra_tensor_info")
    columns = zip(
        tables.scalar(0, np.uint64, 0, "mutable_data_segments_idx").tolist(),
        tables.strings(1, "fully_qualified_name").column,
        tables.scalar(2, np.int8, 0, "location").tolist(),
        tables.scalar(3, np.int8, 0, "device_type").tolist(),
        tables.scalar(4, np.int8, 0, "device_index").tolist(),
        strict=True,
    )
    for row, each in zip(rows.tolist(), columns, strict=True):
        found[row] = ExtraTensorInfo(*each)
    return found
