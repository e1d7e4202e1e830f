"""Which entry each stored array belongs to, how sure that is, and what its values are worth."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
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

    @property
    def entry(self) -> Entry:
        return self.node, self.output


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
    later = {entry: later[entry] for entry in sorted({p.entry for p in placed} & later.keys())}
    tensors = []
    for each in placed:
        record, notes = _agreeing(graph, each, issues, file)
        writer = later.get(each.entry)
        if writer is not None and graph is not None:
            notes += (_reuse_note(graph, each, writer),)
        tensors.append(
            Tensor(
                record, each.node, each.output, name=each.array.name, trust=each.trust, notes=notes
            )
        )
    if later:
        nodes = tuple(dict.fromkeys(node for node, _ in later))
        issues.append(
            Issue(
                "buffer-reused",
                Severity.WARNING,
                f"{len(later)} entries were read after a later node had written to their storage "
                "(TVM v0.6 and v0.7 read the tensors when the whole run is over): their values are "
                "not what the node computed",
                nodes=nodes,
                entries=tuple(later)[:_SHOWN],
                file=file,
            )
        )
    return Tensors(tensors), Issues(issues)


def join_parameters(graph: Graph | None, records: Iterable[ArrayRecord]) -> tuple[Tensors, Issues]:
    """Join a model's parameters to the graph's null nodes by name.

    Of several with one name the last counts, as for TVM. Without a graph all parameters are
    numbered in the order given.
    """
    if graph is None:
        numbered = enumerate(records)
        return Tensors(
            Tensor(record, i, 0, name=record.key, trust=Trust.BY_ORDER) for i, record in numbered
        ), Issues()
    null: dict[str, list[int]] = defaultdict(list)
    for node in np.flatnonzero(graph.kinds <= NodeKind.PARAMETER).tolist():
        null[graph.names[node]].append(node)
    found = []
    unknown = []
    reshaped: list[_Placed] = []
    issues: list[Issue] = []
    for record in {record.key: record for record in records}.values():
        nodes = null.get(record.key, [])
        if len(nodes) != 1 or not len(graph.entry_range(nodes[0])):
            unknown.append(record)
            continue
        array = KeyedArray(record, record.key, None, 0)
        placed = _Placed(array, nodes[0], 0, Trust.BY_NAME)
        found_issues: list[Issue] = []
        settled, notes = _agreeing(graph, placed, found_issues, record.file)
        shape = graph.shape(nodes[0])
        if (
            len(found_issues) == 1
            and shape != record.shape
            and math.prod(shape or ()) == record.size
        ):
            reshaped.append(replace(placed, notes=notes))
        else:
            issues += found_issues
        found.append(
            Tensor(settled, nodes[0], 0, name=record.key, trust=Trust.BY_NAME, notes=notes)
        )
    if unknown:
        issues.append(
            Issue(
                "parameter-names",
                Severity.WARNING,
                f"{len(unknown)} parameters have no input of their name in the graph, or several; "
                f"the first is {unknown[0].key!r}",
                file=unknown[0].file,
            )
        )
    if reshaped:
        first = reshaped[0]
        issues.append(
            Issue(
                "parameter-reshaped",
                Severity.NOTE,
                f"{len(reshaped)} parameters have another shape of as many elements than in the "
                f"graph, which TVM accepts: the first is {first.array.name!r}, {first.notes[0]}",
                nodes=tuple(each.node for each in reshaped),
                entries=tuple(each.entry for each in reshaped),
                file=first.array.record.file,
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
    owners: dict[tuple[str, int], list[int]] = defaultdict(list)
    for node, name in enumerate(graph.names):
        for output in range(len(graph.entry_range(node))):
            owners[name, output].append(node)
    alike: dict[tuple[str, int], list[KeyedArray]] = defaultdict(list)
    for array in arrays:
        alike[array.name, array.output].append(array)
    placed, unknown, surplus = [], [], []
    lost: set[int] = set()
    for key, group in alike.items():
        nodes = owners.get(key)
        if not nodes:
            unknown.extend(group)
            continue
        surplus.extend(group[: -len(nodes)])
        if len(group) < len(nodes):
            lost.update(nodes[: -len(group)])
        placed += _namesakes(group[-len(nodes) :], nodes)
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
    if surplus:
        issues.append(
            Issue(
                "tensor-repeated",
                Severity.WARNING,
                f"{len(surplus)} tensors are more than the graph has nodes of their name, the "
                f"first is {surplus[0].record.key!r}; the last of each name are shown",
                file=file,
            )
        )
    if lost:
        issues.append(
            Issue(
                "tensor-overwritten",
                Severity.WARNING,
                f"the tensors of {len(lost)} nodes are lost: a later node has the same name, "
                "and TVM v0.8 writes one tensor a name",
                nodes=tuple(sorted(lost)),
                file=file,
            )
        )
    return placed, issues


def _namesakes(group: list[KeyedArray], nodes: list[int]) -> list[_Placed]:
    """Place arrays of one key at the last nodes of that name, in their order."""
    if len(nodes) == 1:
        return [_Placed(group[0], nodes[0], group[0].output, Trust.BY_NAME)]
    what = f"{len(nodes)} nodes are named {group[0].name!r}"
    trust = Trust.BY_ORDER
    note = f"{what}; they are told apart by their order"
    if len(group) < len(nodes):
        trust = Trust.BY_NAME if len(group) == 1 else Trust.AMBIGUOUS
        note = (
            f"{what}; TVM v0.8 keeps only the last one's tensor, so this is taken to be node "
            f"{nodes[-1]}'s"
            if len(group) == 1
            else f"{what} and {len(group)} tensors; they are taken to be the last ones'"
        )
    placed = zip(group, nodes[-len(group) :], strict=True)
    return [_Placed(array, node, array.output, trust, (note,)) for array, node in placed]


def _agreeing(
    graph: Graph | None, placed: _Placed, issues: list[Issue], file: str
) -> tuple[ArrayRecord, tuple[str, ...]]:
    """Settle an ambiguous dtype by the graph's, and note where shape or dtype differ from it."""
    record, notes = placed.array.record, placed.notes
    if graph is None:
        return record, notes
    entry = placed.entry
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

    A ``__nop`` shares its input's storage and writes nothing; inputs are written before the run.
    """
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


def _reuse_note(graph: Graph, placed: _Placed, writer: int) -> str:
    storage = None
    if graph.storage_ids is not None:
        storage = int(graph.storage_ids[graph.entry_id(placed.node, placed.output)])
    return (
        f"read after node {writer} ({graph.names[writer]}) wrote to the same storage ({storage}): "
        "these are not this node's values"
    )
