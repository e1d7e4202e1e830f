"""Which entry each stored array belongs to, how sure that is, and what its values are worth."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tvmdbg_widgets.model.dtypes import DataType
from tvmdbg_widgets.model.issues import Issue, Issues, Severity
from tvmdbg_widgets.model.nodes import NodeKind
from tvmdbg_widgets.model.tensors import Tensor, Tensors
from tvmdbg_widgets.model.trust import Trust

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tvmdbg_widgets.model.array_record import ArrayRecord
    from tvmdbg_widgets.model.graph import Graph

_SHOWN = 20

Entry = tuple[int, int]


@dataclass(frozen=True)
class KeyedArray:
    """An array and what its key in the file says of it; ``node`` is None where the key has none."""

    record: ArrayRecord
    name: str
    node: int | None
    output: int


@dataclass(frozen=True)
class _Placed:
    array: KeyedArray
    node: int
    output: int
    trust: Trust
    notes: tuple[str, ...] = ()


def join_tensors(
    graph: Graph | None, arrays: Sequence[KeyedArray], *, file: str, reused: bool = False
) -> tuple[Tensors, Issues]:
    """Join the arrays of ``output_tensors.params`` to the entries of the graph.

    Keys with a topo-index say the entry (TVM v0.9 to v0.19). Older files are written in node
    order: if every key names its node they are joined by order, else by name. In v0.8 a later
    node of the same name overwrote an earlier one, so the array left is the last one's.

    Parameters
    ----------
    graph : Graph or None
        Without one, arrays are numbered as their keys say, or in file order.
    arrays : sequence of KeyedArray
    file : str
    reused : bool
        The tensors were read after the whole run (TVM v0.6, v0.7): where a later node took an
        entry's storage, its values are not its own, and a note says so.

    Returns
    -------
    tensors : Tensors
    issues : Issues
        Everything that disagrees with the graph or could not be joined.
    """
    placed, issues = _place(graph, arrays, file)
    later = _later_writers(graph) if reused and graph is not None else {}
    tensors = []
    for each in placed:
        record, notes = _agreeing(graph, each, issues, file)
        writer = later.get((each.node, each.output))
        if writer is not None and graph is not None:
            notes += (_reuse_note(graph, each, writer),)
        tensors.append(
            Tensor(
                record, each.node, each.output, name=each.array.name, trust=each.trust, notes=notes
            )
        )
    if later:
        nodes = tuple(sorted({node for node, _ in later}))
        issues.append(
            Issue(
                "buffer-reused",
                Severity.WARNING,
                f"{len(later)} entries were read after a later node had written to their storage "
                "(TVM v0.6 and v0.7 read the tensors when the whole run is over): their values are "
                "not what the node computed",
                nodes=nodes,
                entries=tuple(sorted(later))[:_SHOWN],
                file=file,
            )
        )
    return Tensors(tensors), Issues(issues)


def join_parameters(graph: Graph | None, records: Iterable[ArrayRecord]) -> tuple[Tensors, Issues]:
    """Join a model's parameters to the graph's null nodes by name.

    Without a graph the parameters are numbered in file order.
    """
    found = []
    unknown = []
    for position, record in enumerate({record.key: record for record in records}.values()):
        nodes = graph.nodes_named(record.key) if graph is not None else ()
        if graph is None:
            found.append(Tensor(record, position, 0, name=record.key, trust=Trust.BY_ORDER))
        elif len(nodes) == 1:
            found.append(Tensor(record, nodes[0].id, 0, name=record.key, trust=Trust.BY_NAME))
        else:
            unknown.append(record)
    issues = []
    if unknown:
        issues.append(
            Issue(
                "parameter-names",
                Severity.WARNING,
                f"{len(unknown)} parameters have no node of their name in the graph, or several; "
                f"the first is {unknown[0].key!r}",
                file=unknown[0].file,
            )
        )
    return Tensors(found), Issues(issues)


def _place(
    graph: Graph | None, arrays: Sequence[KeyedArray], file: str
) -> tuple[list[_Placed], list[Issue]]:
    if graph is None:
        return _without_graph(arrays), []
    if all(array.node is not None for array in arrays):
        return _by_index(graph, arrays, file)
    entries = [(i, k) for i in range(graph.num_nodes) for k in range(len(graph.entry_range(i)))]
    in_order = [(graph.names[node], output) for node, output in entries]
    if in_order[: len(arrays)] == [(array.name, array.output) for array in arrays]:
        placed = [
            _Placed(array, *entry, Trust.BY_ORDER)
            for array, entry in zip(arrays, entries, strict=False)
        ]
        return placed, []
    return _by_name(graph, arrays, file)


def _without_graph(arrays: Sequence[KeyedArray]) -> list[_Placed]:
    if all(array.node is not None for array in arrays):
        return [_Placed(a, a.node or 0, a.output, Trust.EXACT) for a in arrays]
    ids: dict[str, int] = {}
    return [_Placed(a, ids.setdefault(a.name, len(ids)), a.output, Trust.BY_ORDER) for a in arrays]


def _by_index(
    graph: Graph, arrays: Sequence[KeyedArray], file: str
) -> tuple[list[_Placed], list[Issue]]:
    placed, outside, renamed = [], [], []
    for array in arrays:
        node = array.node if array.node is not None else -1
        if not 0 <= node < graph.num_nodes or array.output >= len(graph.entry_range(node)):
            outside.append(array)
            continue
        same = graph.names[node] == array.name
        if not same:
            renamed.append(array)
        notes = (
            () if same else (f"its key names {array.name!r}, node {node} is {graph.names[node]!r}",)
        )
        placed.append(
            _Placed(array, node, array.output, Trust.EXACT if same else Trust.AMBIGUOUS, notes)
        )
    issues = []
    if outside:
        first = outside[0]
        issues.append(
            Issue(
                "tensor-outside-graph",
                Severity.ERROR,
                f"{len(outside)} tensors belong to no entry of the graph, the first is "
                f"{first.record.key!r}; the graph has {graph.num_nodes} nodes. The tensors "
                "may be of another graph",
                file=file,
            )
        )
    if renamed:
        first = renamed[0]
        issues.append(
            Issue(
                "tensor-names",
                Severity.ERROR,
                f"{len(renamed)} tensors name another node than the graph has at their index: "
                f"{first.name!r} at node {first.node}, which is {graph.names[first.node or 0]!r}. "
                "The tensors may be of another graph or of an older run",
                nodes=tuple(array.node or 0 for array in renamed[:_SHOWN]),
                file=file,
            )
        )
    return placed, issues


def _by_name(
    graph: Graph, arrays: Sequence[KeyedArray], file: str
) -> tuple[list[_Placed], list[Issue]]:
    ids: dict[str, list[int]] = defaultdict(list)
    for node, name in enumerate(graph.names):
        ids[name].append(node)
    placed, unknown, lost = [], [], []
    for array in arrays:
        nodes = [n for n in ids.get(array.name, []) if array.output < len(graph.entry_range(n))]
        if not nodes:
            unknown.append(array)
            continue
        notes: tuple[str, ...] = ()
        if len(nodes) > 1:
            lost.extend(nodes[:-1])
            note = (
                f"{len(nodes)} nodes are named {array.name!r}; TVM v0.8 keeps only the last one's "
                f"tensor, so this is taken to be node {nodes[-1]}'s"
            )
            notes = (note,)
        placed.append(_Placed(array, nodes[-1], array.output, Trust.BY_NAME, notes))
    issues = []
    if unknown:
        issues.append(
            Issue(
                "tensor-names",
                Severity.ERROR,
                f"{len(unknown)} tensors name no node of the graph, the first is "
                f"{unknown[0].record.key!r}. The tensors may be of another graph",
                file=file,
            )
        )
    if lost:
        issues.append(
            Issue(
                "tensor-overwritten",
                Severity.WARNING,
                f"the tensors of {len(set(lost))} nodes are lost: a later node has the same name, "
                "and TVM v0.8 writes one tensor a name",
                nodes=tuple(sorted(set(lost))),
                file=file,
            )
        )
    return placed, issues


def _agreeing(
    graph: Graph | None, placed: _Placed, issues: list[Issue], file: str
) -> tuple[ArrayRecord, tuple[str, ...]]:
    """Settle an ambiguous dtype by the graph's, and note where shape or dtype differ from it."""
    record, notes = placed.array.record, placed.notes
    if graph is None:
        return record, notes
    entry = (placed.node, placed.output)
    shape, dtype = graph.shape(*entry), graph.dtype(*entry)
    if dtype is not None:
        record = _settled(record, dtype)
    differences = []
    if shape is not None and shape != record.shape:
        differences.append(f"shape {list(shape)} in the graph, {list(record.shape)} in the file")
    if dtype is not None and not _same_type(record.dtype, dtype):
        differences.append(f"dtype {dtype} in the graph, {record.dtype} in the file")
    where = f"node {placed.node} {placed.array.name!r}, output {placed.output}"
    issues.extend(
        Issue(
            "tensor-disagrees",
            Severity.ERROR,
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


def _later_writers(graph: Graph) -> dict[Entry, int]:
    """For each entry whose storage a later node writes to, the last such node.

    A ``__nop`` shares its input's storage and writes nothing.
    """
    if graph.storage_ids is None:
        return {}
    owner = np.repeat(np.arange(graph.num_nodes), np.diff(graph.entry_offsets))
    last: dict[int, int] = {}
    for node, storage in zip(owner.tolist(), graph.storage_ids.tolist(), strict=True):
        if storage >= 0 and graph.kinds[node] != NodeKind.NOP:
            last[storage] = max(node, last.get(storage, -1))
    first = graph.entry_offsets[owner]
    return {
        (node, entry - int(first[entry])): last[storage]
        for entry, (node, storage) in enumerate(
            zip(owner.tolist(), graph.storage_ids.tolist(), strict=True)
        )
        if storage >= 0 and last.get(storage, -1) > node
    }


def _reuse_note(graph: Graph, placed: _Placed, writer: int) -> str:
    storage = None
    if graph.storage_ids is not None:
        storage = int(graph.storage_ids[graph.entry_id(placed.node, placed.output)])
    return (
        f"read after node {writer} ({graph.names[writer]}) wrote to the same storage ({storage}): "
        "these are not this node's values"
    )
