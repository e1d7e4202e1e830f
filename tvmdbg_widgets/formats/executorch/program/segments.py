"""The segments behind the flatbuffer of a program or of named data (``program.fbs`` @ v1.4.1)."""

from __future__ import annotations

import numpy as np

from tvmdbg_widgets.formats.flatbuffer.tables import FlatTables
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.executorch.program import FileSpan


def read_segments(root: FlatTables, id_: int, base: int, file_size: int) -> tuple[FileSpan, ...]:
    """Return where segments lie in the file; `base` is where offsets count from."""
    _, tables = root.children(id_, "DataSegment", "segments")
    offsets = tables.scalar(0, np.uint64, 0, "offset").tolist()
    sizes = tables.scalar(1, np.uint64, 0, "size").tolist()
    for row, (offset, size) in enumerate(zip(offsets, sizes, strict=True)):
        if base + offset + size > file_size:
            raise root.buffer.broken(
                "a segment leaves the file",
                f"segments[{row}]",
                int(tables.places[row]),
                expected=counted(base + offset + size, "byte"),
                found=f"a file of {counted(file_size, 'byte')}",
            )
    return tuple(FileSpan(base + offset, size) for offset, size in zip(offsets, sizes, strict=True))
