"""Each table of a run's logs as a run of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvmdbg_widgets.formats.sources.file import Part
from tvmdbg_widgets.formats.tvm.assemble.assemble import assemble
from tvmdbg_widgets.formats.tvm.assemble.times import fits
from tvmdbg_widgets.formats.tvm.table.printer import format_table
from tvmdbg_widgets.formats.tvm.table.table import read_tables
from tvmdbg_widgets.model.sources.byte_source import BytesSource

if TYPE_CHECKING:
    from tvmdbg_widgets.formats.tvm.table.table import Table
    from tvmdbg_widgets.model.parts import RunParts


def runs_of_tables(parts: RunParts) -> tuple[RunParts, ...]:
    """Return a run for each printed table among the files, in their order.

    Its times are the table's alone; it has the graph where that has the table's nodes.
    """
    tables = [
        table for file in parts.files if file.part == "table" for table in read_tables(file.source)
    ]
    return tuple(_run(parts, table, number) for number, table in enumerate(tables))


def _run(parts: RunParts, table: Table, number: int) -> RunParts:
    text = BytesSource(format_table(table).encode(errors="replace"), table.file)
    found = [Part("table", read_tables(text), text, None)]
    graph = next((file.source for file in parts.files if file.part == "graph"), None)
    if parts.graph is not None and graph is not None and fits(table, parts.graph):
        found.append(Part("graph", parts.graph, graph, None))
    return assemble(found, (), title=f"{parts.title}, tables[{number}]")
