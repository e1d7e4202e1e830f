"""Reader of named data (``.ptd``): weights that stand outside of a program.

``extension/flat_tensor/serialize/flat_tensor.fbs`` and ``flat_tensor_header.cpp`` @ v1.4.1, and the
schema of v0.6, which has the same identifier and other fields.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from tvmdbg_widgets.formats.executorch.program.checks import MOST_DIMENSIONS
from tvmdbg_widgets.formats.executorch.program.header import HINT
from tvmdbg_widgets.formats.executorch.program.segments import read_segments
from tvmdbg_widgets.formats.flatbuffer.buffer import FlatBuffer
from tvmdbg_widgets.formats.flatbuffer.tables import FlatTables
from tvmdbg_widgets.model.base.errors import FormatError
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.executorch.flat_tensor import FlatTensor, NamedTensor, TensorLayout
from tvmdbg_widgets.model.executorch.program import FileSpan
from tvmdbg_widgets.sources.byte_source import ByteSource

_IDENTIFIER = b"FT01"
#: Magic, length, flatbuffer offset, flatbuffer size, segment base offset, segment data size.
_HEADER = struct.Struct("<4sIQQQQ")
#: Fields of the root up to 0.6; three since.
_FIELDS_OF_V06 = 4


def sniff(head: bytes) -> bool:
    """Tell whether a file that starts with these bytes (8 or more) holds named data."""
    return head[4:8] == _IDENTIFIER


def read_flat_tensor(source: ByteSource) -> FlatTensor:
    """Read what tensors a file holds; their bytes are not read."""
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
    found = []
    for row, (name, span) in enumerate(zip(names, held, strict=True)):
        layout = layout_of.get(row)
        if layout is not None:
            _require(layout.nbytes, span.size, name, root)
        found.append(NamedTensor(name, *span, layout))
    return found


def _tensors_of_v06(root: FlatTables, segments: Sequence[FileSpan]) -> list[NamedTensor]:
    _, tables = root.children(2, "TensorMetadata", "tensors")
    names = tables.strings(0, "fully_qualified_name").column
    offsets = tables.scalar(5, np.uint64, 0, "offset").tolist()
    layouts = _layouts(tables, 1)
    found = []
    for name, layout, span, offset in zip(
        names, layouts, _held(tables, 4, segments), offsets, strict=True
    ):
        size = layout.nbytes
        _require(offset + size, span.size, name, root)
        found.append(NamedTensor(name, span.offset + offset, size, layout))
    return found


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
    """Return what tables say of tensors in three fields, the first of which is given."""
    found = list(
        map(
            TensorLayout,
            tables.scalar(first, np.int8, 0, "scalar_type").tolist(),
            tables.vector(first + 1, np.int32, "sizes").tuples(),
            tables.vector(first + 2, np.uint8, "dim_order").tuples(),
        )
    )
    for row, (_, sizes, dim_order) in enumerate(found):
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
    return found
