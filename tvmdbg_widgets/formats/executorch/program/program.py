"""Reader of program files (``.pte``): what the runtime of ExecuTorch loads.

``schema/program.fbs``, ``runtime/executor/program.cpp`` and ``program_validation.cpp`` @ v1.4.1.
"""

from __future__ import annotations

import numpy as np

from tvmdbg_widgets.formats.collector import collector_paused
from tvmdbg_widgets.formats.executorch.program.checks import check_program
from tvmdbg_widgets.formats.executorch.program.header import HINT, read_header, sniff
from tvmdbg_widgets.formats.executorch.program.plans import read_plans
from tvmdbg_widgets.formats.executorch.program.segments import read_segments
from tvmdbg_widgets.formats.flatbuffer.buffer import FlatBuffer
from tvmdbg_widgets.formats.flatbuffer.tables import FlatTables
from tvmdbg_widgets.model.executorch.program import FileSpan, NamedData, Program, Subsegments
from tvmdbg_widgets.sources.byte_source import ByteSource

__all__ = ["read_program", "sniff"]


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
