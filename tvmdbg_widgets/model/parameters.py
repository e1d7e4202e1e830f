"""Parameters and stored arrays of a model joined to its graph."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from tvmdbg_widgets.model.base.numbers import Trust, agree, counted
from tvmdbg_widgets.model.base.text import Issue, Issues, IssueSeverity, one_line
from tvmdbg_widgets.model.graph.graph import Graph
from tvmdbg_widgets.model.graph.nodes import NodeKind
from tvmdbg_widgets.model.placement import KeyedArray, Placed, place
from tvmdbg_widgets.model.tensors.array_record import ArrayRecord
from tvmdbg_widgets.model.tensors.dtypes import DataType
from tvmdbg_widgets.model.tensors.tensors import Captured, Tensor, Tensors


def join_parameters(graph: Graph | None, records: Iterable[ArrayRecord]) -> tuple[Tensors, Issues]:
    """Join a model's parameters to the graph's null nodes by name."""
    if graph is None:
        numbered = enumerate(records)
        return Tensors(
            Tensor(record, i, 0, name=record.key, trust=Trust.BY_ORDER) for i, record in numbered
        ), Issues()
    null: dict[str, list[int]] = defaultdict(list)
    for node in np.flatnonzero(graph.kinds <= NodeKind.PARAMETER).tolist():
        null[graph.names[node]].append(node)
    tensors = []
    unknown = []
    reshaped: list[Placed] = []
    issues: list[Issue] = []
    for record in {record.key: record for record in records}.values():
        nodes = null.get(record.key, [])
        if len(nodes) != 1 or not len(graph.entry_range(nodes[0])):
            unknown.append(record)
            continue
        array = KeyedArray(record, record.key, None, 0)
        placed = Placed(array, nodes[0], 0, Trust.BY_NAME)
        dtype_issues: list[Issue] = []
        settled, notes = agreeing(graph, placed, dtype_issues, record.file)
        shape = graph.shape(nodes[0])
        if (
            len(dtype_issues) == 1
            and shape != record.shape
            and math.prod(shape or ()) == record.size
        ):
            reshaped.append(placed._replace(notes=notes))
        else:
            issues += dtype_issues
        tensors.append(
            Tensor(settled, nodes[0], 0, name=record.key, trust=Trust.BY_NAME, notes=notes)
        )
    if unknown:
        message = (
            f"{counted(len(unknown), 'parameter')} {agree(len(unknown), 'has')} no input of "
            f"{agree(len(unknown), 'its')} name in the graph, or "
            f"several{agree(len(unknown), ':', '; the first is')} {unknown[0].key!r}"
        )
        issues.append(
            Issue("parameter-names", IssueSeverity.WARNING, message, file=unknown[0].file)
        )
    if reshaped:
        first = reshaped[0]
        message = (
            f"{counted(len(reshaped), 'parameter')} {agree(len(reshaped), 'has')} another "
            "shape of as many elements than in the "
            f"graph, which TVM accepts{agree(len(reshaped), ':', '; the first is')} "
            f"{first.array.name!r}, {first.notes[0]}"
        )
        issues.append(
            Issue(
                "parameter-reshaped",
                IssueSeverity.NOTE,
                message,
                nodes=tuple(item.node for item in reshaped),
                entries=tuple(item.entry for item in reshaped),
                file=first.array.record.file,
            )
        )
    return Tensors(tensors), Issues(issues)


def join_tensors(
    graph: Graph | None,
    arrays: Sequence[KeyedArray],
    *,
    file: str,
    reused: bool = False,
    captured: Captured = "unknown",
) -> tuple[Tensors, Issues]:
    """Join the arrays of ``output_tensors.params`` to the entries of the graph."""
    placed, issues = place(graph, arrays, file)
    later = later_writers(graph) if reused and graph is not None else {}
    later = {entry: later[entry] for entry in sorted({p.entry for p in placed} & later.keys())}
    tensors = []
    for item in placed:
        record, notes = agreeing(graph, item, issues, file)
        writer = later.get(item.entry)
        if writer is not None and graph is not None:
            storage = graph.storage_ids
            number = None if storage is None else int(storage[graph.entry_id(*item.entry)])
            note = (
                f"read after node {writer} ({graph.names[writer]}) wrote to the same storage "
                f"({number}): these are not this node's values"
            )
            notes = (*notes, note)
        tensors.append(
            Tensor(
                record,
                item.node,
                item.output,
                name=item.array.name,
                trust=item.trust,
                notes=notes,
                captured=captured,
            )
        )
    if later:
        issues.append(reuse_issue(later, file))
    return Tensors(tensors), Issues(issues)


_SHOWN = 20

Entry = tuple[int, int]


def later_writers(graph: Graph) -> dict[Entry, int]:
    """Return the last later node that writes to the storage of an entry; a ``__nop`` does not."""
    if graph.storage_ids is None:
        return {}
    owner = np.repeat(np.arange(graph.num_nodes), np.diff(graph.entry_offsets))
    last: dict[int, int] = {}
    for node, storage in zip(owner.tolist(), graph.storage_ids.tolist(), strict=True):
        if storage >= 0 and graph.kinds[node] in (NodeKind.OPERATOR, NodeKind.COPY):
            last[storage] = max(node, last.get(storage, -1))
    first = graph.entry_offsets[owner]
    return {
        (node, entry - int(first[entry])): last[storage]
        for entry, (node, storage) in enumerate(
            zip(owner.tolist(), graph.storage_ids.tolist(), strict=True)
        )
        if storage >= 0 and last.get(storage, -1) > node
    }


def reuse_issue(entries: Collection[Entry], file: str) -> Issue:
    """Return the warning for the entries that were overwritten."""
    message = (
        f"{counted(len(entries), 'entry')} {agree(len(entries), 'was')} read after a later node "
        f"had written to {agree(len(entries), 'its')} storage (TVM v0.6 and v0.7 read the tensors "
        "when the whole run is over): these are not the values the node computed"
    )
    return Issue(
        "buffer-reused",
        IssueSeverity.WARNING,
        message,
        nodes=tuple(dict.fromkeys(node for node, _ in entries)),
        entries=tuple(entries)[:_SHOWN],
        file=file,
    )


def agreeing(
    graph: Graph | None, placed: Placed, issues: list[Issue], file: str
) -> tuple[ArrayRecord, tuple[str, ...]]:
    """Settle an ambiguous dtype by the graph's, and note other differences from the graph."""
    record, notes = placed.array.record, placed.notes
    if graph is None:
        return record, notes
    entry = graph.entry_id(*placed.entry)
    shape, dtype = graph.entry_shapes[entry], graph.dtypes[entry] or None
    if dtype is not None and record.alternatives:
        meanings = (
            kind for kind in (record.dtype, *record.alternatives) if _same_type(kind, dtype)
        )
        meaning = next(meanings, None)
        record = record if meaning is None else record.with_dtype(meaning)
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
            entries=(placed.entry,),
            file=file,
        )
        for difference in differences
    )
    return record, notes + tuple(differences)


def _same_type(stored: DataType, text: str) -> bool:
    named = DataType.known(text)
    return stored.name == (text if named is None else named.name) or stored == named
