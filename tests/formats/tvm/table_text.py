"""A table as it stood in a text."""

from __future__ import annotations

from tvmdbg_widgets.formats.tvm.layout import dashes
from tvmdbg_widgets.formats.tvm.table import DebuggerTable


def format_table(table: DebuggerTable) -> str:
    lines = [table.columns, dashes(table.columns), *(row.cells for row in table.rows)]
    lines += [table.total_cells] if table.total_cells else []
    return table.layout.newline.join(table.layout.join(cells) for cells in lines)
