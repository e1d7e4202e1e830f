"""What should hold across the fields of a graph and TVM mostly does not check."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.formats.tvm.graph.log import shown
from tvmdbg_widgets.formats.tvm.graph.values import element_counts
from tvmdbg_widgets.model.base.issues import Severity
from tvmdbg_widgets.model.base.numbers import counted
from tvmdbg_widgets.model.base.text import listed
from tvmdbg_widgets.model.base.trust import Trust
from tvmdbg_widgets.model.graph.graph import NodeKind
from tvmdbg_widgets.model.tensors.dtypes import DataType

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from tvmdbg_widgets.formats.tvm.graph.log import GraphLog
    from tvmdbg_widgets.model.graph.graph import Graph

_MANY = 1000


def check_graph(graph: Graph, log: GraphLog) -> None:
    """Run every check that needs the whole graph."""
    _check_order(graph, log)
    _check_names(graph, log)
    _check_functions(graph, log)
    _check_arg_nodes(graph, log)
    _check_dtypes(graph, log)
    _check_storage(graph, log)
    _check_nops(graph, log)


def _check_order(graph: Graph, log: GraphLog) -> None:
    late = np.flatnonzero((graph.edge_source >= 0) & (graph.edge_source >= graph.edge_target))
    for edge in late.tolist():
        source, target = int(graph.edge_source[edge]), int(graph.edge_target[edge])
        log.add(
            "edge-not-topological",
            f"nodes[{target}].inputs[{graph.edge_position[edge]}]",
            expected=f"a node before {target}, as nodes run in order",
            found=f"node {source}",
            nodes=(source, target),
        )
    late = np.flatnonzero(graph.control_source >= graph.control_target)
    for source, target in zip(
        graph.control_source[late].tolist(), graph.control_target[late].tolist(), strict=True
    ):
        log.add(
            "control-dep-not-topological",
            f"nodes[{target}].control_deps",
            expected=f"a node before {target}, as nodes run in order",
            found=f"node {source}",
            nodes=(source, target),
        )
    for cycle in graph.order.cycles:
        log.add(
            "cycle",
            f"nodes[{cycle[0]}].inputs",
            expected="no node that depends on itself",
            found=f"{counted(len(cycle), 'node')} in a circle: "
            + ", ".join(f"{node} {shown(graph.names[node])}" for node in cycle[:8]),
            nodes=cycle[:_MANY],
        )


def _check_names(graph: Graph, log: GraphLog) -> None:
    for code, nodes in _groups(graph.names.codes, least=2):
        log.add(
            "duplicate-name",
            f"nodes[{nodes[1]}].name",
            expected="a name of its own",
            found=f"{counted(len(nodes), 'node')} named {shown(graph.names.unique[code])}",
            done="They are told apart by node id",
            severity=Severity.NOTE,
            nodes=nodes[:_MANY].tolist(),
        )


def _groups(
    codes: npt.NDArray[np.int32], *, least: int = 1
) -> Iterator[tuple[int, npt.NDArray[np.intp]]]:
    """Yield each code that stands often enough and where, ascending."""
    order = np.argsort(codes, kind="stable")
    found, starts, counts = np.unique(codes[order], return_index=True, return_counts=True)
    often = counts >= least
    for code, start, count in zip(
        *(each[often].tolist() for each in (found, starts, counts)), strict=True
    ):
        yield code, order[start : start + count]


def _check_functions(graph: Graph, log: GraphLog) -> None:
    empty = np.array([not name for name in graph.func_names.unique], dtype=np.bool_)
    if not len(empty):
        return
    for node in np.flatnonzero(
        (graph.kinds == NodeKind.OPERATOR) & empty[graph.func_names.codes]
    ).tolist():
        log.add(
            "func-name-missing",
            f"nodes[{node}].attrs.func_name",
            expected="the function to call",
            found="nothing",
            loader="no such function in module: ",
            nodes=(node,),
        )


def _check_arg_nodes(graph: Graph, log: GraphLog) -> None:
    null = graph.kinds <= NodeKind.PARAMETER
    listed = graph.arg_nodes
    for position in np.flatnonzero(~null[listed]).tolist():
        node = int(listed[position])
        log.add(
            "arg-node-not-null",
            f"arg_nodes[{position}]",
            expected="an input or parameter",
            found=f"node {node} {shown(graph.names[node])}, an operator",
            nodes=(node,),
        )
    for node, count in Counter(listed.tolist()).items():
        if count > 1:
            log.add(
                "arg-node-repeated",
                "arg_nodes",
                expected="each node once",
                found=f"node {node} {counted(count, 'time')}",
                severity=Severity.WARNING,
                nodes=(node,),
            )
    missing = np.setdiff1d(np.flatnonzero(null), listed)
    if len(missing) and len(graph.arg_nodes):
        log.add(
            "arg-node-missing",
            "arg_nodes",
            expected="every input and parameter",
            found=f"{len(missing):,} missing, node {missing[0]} first",
            severity=Severity.WARNING,
            nodes=missing[:_MANY].tolist(),
        )
    if (np.diff(listed) < 0).any():
        log.add(
            "arg-nodes-unordered",
            "arg_nodes",
            expected="ascending node ids",
            found="another order",
            done="Inputs have numbers in this order",
            severity=Severity.NOTE,
        )


def _check_dtypes(graph: Graph, log: GraphLog) -> None:
    for code, entries in _groups(graph.dtypes.codes):
        text = graph.dtypes.unique[code]
        if text and not _is_dtype(text):
            log.add(
                "dltype-unknown",
                f"attrs.dltype[1][{entries[0]}]",
                expected="a data type such as float32, int8x4 or bool",
                found=shown(text),
                severity=Severity.WARNING,
                **_where(graph, entries),
            )


def _is_dtype(text: str) -> bool:
    try:
        DataType.parse(text)
    except ValueError:
        return False
    return True


def _check_storage(graph: Graph, log: GraphLog) -> None:
    storage = graph.storage_ids
    if storage is None:
        return
    for entry in np.flatnonzero(storage < -1).tolist():
        log.add(
            "storage-id-negative",
            f"attrs.storage_id[1][{entry}]",
            expected="a slot from 0",
            found=f"{storage[entry]}",
            severity=Severity.WARNING,
            **_where(graph, np.array([entry])),
        )
    if graph.device_types is not None:
        known = (storage >= 0) & (graph.device_types >= 0)
        _check_alike(
            graph,
            np.flatnonzero(known),
            graph.device_types,
            log,
            rule="storage-on-two-devices",
            expected="one device type for storage",
            loader="The same pool entry cannot be assigned to multiple devices",
        )
    if graph.storage_scopes is not None:
        texture = np.array(["texture" in s for s in graph.storage_scopes.unique], dtype=np.bool_)
        known = (storage >= 0) & texture[graph.storage_scopes.codes]
        _check_alike(
            graph,
            np.flatnonzero(known),
            graph.dtypes.codes,
            log,
            rule="texture-dtype-differs",
            expected="one data type for texture storage",
            loader="pool entry for 2d texure allocations must be of the same type",
        )


def _check_alike(
    graph: Graph,
    entries: npt.NDArray[np.intp],
    values: npt.NDArray[np.int32],
    log: GraphLog,
    *,
    rule: str,
    expected: str,
    loader: str,
) -> None:
    """Tell each storage whose entries differ in `values`."""
    storage = graph.storage_ids
    if storage is None or not len(entries):
        return
    order = entries[np.argsort(storage[entries], kind="stable")]
    differ = (storage[order[1:]] == storage[order[:-1]]) & (values[order[1:]] != values[order[:-1]])
    told: set[int] = set()
    for at in np.flatnonzero(differ).tolist():
        slot = int(storage[order[at]])
        if slot in told:
            continue
        told.add(slot)
        shared = entries[storage[entries] == slot]
        kinds = sorted({int(value) for value in values[shared]})
        names = kinds if values is graph.device_types else [graph.dtypes.unique[k] for k in kinds]
        log.add(
            rule,
            f"attrs.storage_id[1][{order[at + 1]}]",
            expected=f"{expected} {slot}",
            found=listed(names),
            loader=loader,
            **_where(graph, shared),
        )
        if len(told) > log.LIMIT:
            return


def _check_nops(graph: Graph, log: GraphLog) -> None:
    """A ``__nop`` is not executed: its output must be its input's memory, seen in another shape."""
    nops = np.flatnonzero((graph.kinds == NodeKind.NOP) & (np.diff(graph.entry_offsets) > 0))
    edges = np.searchsorted(graph.edge_target, nops)
    has_input = edges < graph.num_edges
    has_input[has_input] = graph.edge_target[edges[has_input]] == nops[has_input]
    nops, edges = nops[has_input], edges[has_input]
    certain = np.isin(graph.edge_trust[edges], (Trust.EXACT, Trust.BY_NAME))
    nops, edges = nops[certain], edges[certain]
    read = graph.entry_offsets[graph.edge_source[edges]] + graph.edge_output[edges]
    own = graph.entry_offsets[nops]
    storage = graph.storage_ids
    if storage is not None:
        for at in np.flatnonzero(storage[read] != storage[own]).tolist():
            log.add(
                "nop-storage-differs",
                f"attrs.storage_id[1][{own[at]}]",
                expected=f"{storage[read[at]]}, the storage that __nop node {nops[at]} reads",
                found=f"{storage[own[at]]}",
                severity=Severity.WARNING,
                **_where(graph, own[at : at + 1]),
            )
    sizes = element_counts(graph.shape_offsets, graph.shape_dims, graph.shape_known)
    known = (sizes[read] >= 0) & (sizes[own] >= 0)
    for at in np.flatnonzero(known & ~np.isclose(sizes[read], sizes[own], rtol=1e-12)).tolist():
        log.add(
            "nop-size-differs",
            f"attrs.shape[1][{own[at]}]",
            expected=f"{counted(sizes[read[at]], 'element')}, as __nop node {nops[at]} reads",
            found=f"{sizes[own[at]]:.0f}",
            severity=Severity.WARNING,
            **_where(graph, own[at : at + 1]),
        )


def _where(graph: Graph, entries: npt.NDArray[np.integer]) -> dict[str, Any]:
    """Return the given entry ids as the `nodes` and `entries` of an issue, not too many."""
    some = entries[:_MANY]
    nodes = np.searchsorted(graph.entry_offsets, some, side="right") - 1
    outputs = some - graph.entry_offsets[nodes]
    pairs = list(zip(nodes.tolist(), outputs.tolist(), strict=True))
    return {"nodes": np.unique(nodes).tolist(), "entries": pairs}
