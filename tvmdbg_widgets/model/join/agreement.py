"""Whether a stored array is what the graph says of its entry."""

from __future__ import annotations

from tvmdbg_widgets.model.base.issues import Issue, IssueSeverity
from tvmdbg_widgets.model.base.text import one_line
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.join.placement import Placed
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord
from tvmdbg_widgets.model.tensors.dtypes import DataType


class Declared:
    """Shapes and dtypes that a graph gives its entries, to be looked up one after the other."""

    def __init__(self, graph: Graph) -> None:
        self._entries = graph.entry_offsets.tolist()
        self._ends = graph.shape_offsets.tolist()
        self._dims = graph.shape_dims.tolist()
        self._known = graph.shape_known.tolist()
        self._dtypes = graph.dtypes

    def of(self, node: int, output: int) -> tuple[tuple[int, ...] | None, str | None]:
        """Return shape and dtype of an entry that the graph has; None where unknown."""
        entry = self._entries[node] + output
        dtype = self._dtypes[entry] or None
        if not self._known[entry]:
            return None, dtype
        return tuple(self._dims[self._ends[entry] : self._ends[entry + 1]]), dtype


def agreeing(
    declared: Declared | None, placed: Placed, issues: list[Issue], file: str
) -> tuple[ArrayRecord, tuple[str, ...]]:
    """Settle an ambiguous dtype by the graph's, and note where shape or dtype differ from it."""
    record, notes = placed.array.record, placed.notes
    if declared is None:
        return record, notes
    entry = placed.entry
    shape, dtype = declared.of(*entry)
    if dtype is not None:
        record = _settled(record, dtype)
    differences = []
    if shape is not None and shape != record.shape:
        differences.append(f"shape {list(shape)} in the graph, {list(record.shape)} in the file")
    if dtype is not None and not _same_type(record.dtype, dtype):
        differences.append(f"dtype {one_line(dtype)} in the graph, {record.dtype} in the file")
    if not differences:
        return record, notes
    where = f"node {placed.node} {placed.array.name!r}, output {placed.output}"
    issues.extend(
        Issue(
            "tensor-disagrees",
            IssueSeverity.ERROR,
            f"{where}: {difference}",
            nodes=(placed.node,),
            entries=(entry,),
            file=file,
        )
        for difference in differences
    )
    return record, notes + tuple(differences)


def _settled(record: ArrayRecord, dtype: str) -> ArrayRecord:
    if not record.alternatives:
        return record
    for meaning in (record.dtype, *record.alternatives):
        if _same_type(meaning, dtype):
            return record.with_dtype(meaning)
    return record


def _same_type(stored: DataType, text: str) -> bool:
    try:
        named = DataType.parse(text)
    except ValueError:
        return stored.name == text
    return stored == named or stored.name == named.name
