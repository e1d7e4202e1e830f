"""The keys of a graph file, and its list ``nodes``: names, functions, kinds, attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.tvm.graph.log import (
    BY_TYPE,
    INT32_MAX,
    GraphLog,
    existing,
    int32_list,
    is_int,
    plain_ints,
    shown,
    shown_at,
)
from tvmdbg_widgets.model.base.numbers import Trust, counted
from tvmdbg_widgets.model.base.text import IssueSeverity
from tvmdbg_widgets.model.graph.graph import NodeKind

_TOP_KEYS = ("nodes", "arg_nodes", "node_row_ptr", "heads", "attrs")
_KEYS = frozenset(("op", "name", "inputs", "attrs", "attr", "control_deps"))
_MUTATED_KEYS = _KEYS | {"shape"}
_SYMBOL_KEYS = _KEYS | {"param", "backward_source_id", "subgraphs"}
_KINDS = {"__nop": NodeKind.NOP, "__copy": NodeKind.COPY}
_REQUIRED_ATTRS = ("func_name", "num_inputs", "num_outputs", "flatten_data")
#: Most digits of a number of inputs or outputs.
_MOST_DIGITS = 9
_NO_ATTRS: Mapping[str, str] = MappingProxyType({})


@dataclass(slots=True)
class NodeTable:
    """Nodes of a file as columns; `shapes` and `types` are the debugger's notes on output 0."""

    mutated: bool
    symbol: bool = False
    names: list[str] = field(default_factory=list)
    func_names: list[str] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    attrs: list[Mapping[str, str]] = field(default_factory=list)
    inputs: list[list[Any]] = field(default_factory=list)
    num_outputs: list[int] = field(default_factory=list)
    control_deps: dict[int, Any] = field(default_factory=dict)
    shapes: list[Any] = field(default_factory=list)
    types: list[str] = field(default_factory=list)

    def is_null(self) -> npt.NDArray[np.bool_]:
        """Return which nodes are inputs or parameters (bool [N])."""
        kinds = np.array(self.kinds, dtype=np.uint8)
        return np.equal(kinds, NodeKind.INPUT)


def is_mutated(nodes: list[Any]) -> bool:
    """Return whether nodes are the debugger's dump of v0.7 and later, which adds ``shape``."""
    for node in nodes:
        if not isinstance(node, dict):
            continue
        op = node.get("op")
        if op == "param" or (op not in ("null", "tvm_op") and "shape" in node):
            return True
        inputs = node.get("inputs")
        if isinstance(inputs, list) and inputs:
            return isinstance(inputs[0], str)
    return False


def is_symbol(nodes: list[Any]) -> bool:
    """Return whether nodes are NNVM or MXNet operators that were not compiled for TVM."""
    named = (node.get("op") for node in nodes if isinstance(node, dict))
    ops = {op for op in named if isinstance(op, str)}
    real = not ops <= {"null", "tvm_op", "param"}
    return real and "tvm_op" not in ops and not is_mutated(nodes)


def check_top(top: dict[str, Any], log: GraphLog, *, symbol: bool) -> None:
    """Check the keys of a graph, also for misplaced ones in ``metadata``."""
    for key in _TOP_KEYS:
        if key not in top and not (symbol and key in ("node_row_ptr", "attrs")):
            log.add("top-key-missing", key, "nothing")  # NNVM's LoadJSON does without those two
    for key, value in top.items():
        if key not in _TOP_KEYS and key != "metadata":
            name = shown(key)[1:-1]
            log.add(
                "top-key-unknown",
                name,
                f"a key with value {shown(value)}",
                expected=f"{', '.join(_TOP_KEYS)} and metadata",
                loader=f"key {name} is not supported",
            )
    if "metadata" in top:
        keys = list(top)
        hidden = [key for key in keys[keys.index("metadata") + 1 :] if key in _TOP_KEYS]
        if hidden:
            log.add("metadata-not-last", "metadata", f"{', '.join(hidden)} behind it")


def read_nodes(nodes: list[Any], log: GraphLog, *, symbol: bool) -> NodeTable:
    """Read the nodes; damaged ones stay in place."""
    table = NodeTable(is_mutated(nodes), symbol)
    keys = _MUTATED_KEYS if table.mutated else _SYMBOL_KEYS if symbol else _KEYS
    if symbol:
        ops = [node.get("op") for node in nodes if isinstance(node, dict)]
        names = sorted({op for op in ops if isinstance(op, str) and op != "null"})
        operators = ", ".join(shown(name)[1:-1] for name in names[:5]) + (
            " …" if len(names) > 5 else ""
        )
        log.add("graph-not-compiled", "nodes[*].op", f"operators of NNVM or MXNet: {operators}")
    for nid, node in enumerate(nodes):
        if not isinstance(node, dict):
            log.add("node-not-object", f"nodes[{nid}]", shown(node), (nid,))
            node = {"op": "null", "name": "", "inputs": []}  # noqa: PLW2901
        elif not node.keys() <= keys:
            for key in node.keys() - _KEYS:
                name, value = shown(key)[1:-1], f"a key with value {shown(node[key])}"
                log.add(
                    "node-key-unknown",
                    f"nodes[{nid}].{name}",
                    value,
                    (nid,),
                    loader=f"do not support key {name}",
                    severity=IssueSeverity.NOTE if key == "subgraphs" else IssueSeverity.WARNING,
                )
        _read_node(nid, node, table, log)
    return table


def _read_node(nid: int, node: dict[str, Any], table: NodeTable, log: GraphLog) -> None:
    attrs = _merged(node) if table.symbol else node.get("attrs", node.get("attr"))
    has_attrs = attrs is not None
    attrs = _string_attrs(nid, attrs, log) if has_attrs else {}
    added_type = attrs.pop("T", "") if table.mutated else ""
    func_name = _func_name(nid, node, attrs, table, log)
    null = func_name is None
    name, inputs = node.get("name"), node.get("inputs")
    if not isinstance(name, str):
        log.add("node-name", f"nodes[{nid}].name", shown_at(node, "name"), (nid,))
        name = ""
    if not isinstance(inputs, list):
        log.add("node-inputs", f"nodes[{nid}].inputs", shown_at(node, "inputs"), (nid,))
        inputs = []
    if null and inputs:
        log.add("null-node-inputs", f"nodes[{nid}].inputs", len(inputs), (nid,))
    if ((has_attrs and attrs) or not null) and not table.symbol:
        _check_attrs(nid, attrs, has_attrs, len(inputs), log)
    if "control_deps" in node:
        table.control_deps[nid] = node["control_deps"]
    table.names.append(name)
    table.func_names.append("" if func_name is None else func_name)
    table.kinds.append(NodeKind.INPUT if null else _KINDS.get(func_name or "", NodeKind.OPERATOR))
    table.attrs.append(MappingProxyType(attrs) if attrs else _NO_ATTRS)
    table.inputs.append(inputs)
    table.num_outputs.append(1 if null else _decimal(attrs.get("num_outputs", "")))
    table.shapes.append(node.get("shape"))
    table.types.append(added_type)


def _func_name(
    nid: int, node: dict[str, Any], attrs: dict[str, str], table: NodeTable, log: GraphLog
) -> str | None:
    """Return the function a node calls, None for an input or parameter."""
    op = node.get("op")
    mutated = table.mutated
    func_name = attrs.get("func_name", "")
    if table.symbol and isinstance(op, str):
        return None if op == "null" else op
    if op == "tvm_op" and not mutated:
        return func_name
    if op == "null" or (mutated and op == "param" and not func_name):
        return None
    if mutated and isinstance(op, str):
        return func_name or op
    role = "an operator" if func_name or isinstance(op, str) else "an input"
    done, loader = f"It is shown as {role}", BY_TYPE if "op" in node else "invalid format"
    found = shown_at(node, "op")
    log.add("op-unknown", f"nodes[{nid}].op", found, (nid,), done=done, loader=loader)
    return func_name or (op if isinstance(op, str) else None)


def _merged(node: dict[str, Any]) -> Any:
    """Return the attributes of an uncompiled node under any of their keys."""
    given = [node[key] for key in ("param", "attr", "attrs") if node.get(key) is not None]
    if all(isinstance(own, dict) for own in given):
        return {key: value for own in given for key, value in own.items()} if given else None
    return next(own for own in given if not isinstance(own, dict))


def _string_attrs(nid: int, attrs: Any, log: GraphLog) -> dict[str, str]:
    if not isinstance(attrs, dict):
        log.add("node-attrs", f"nodes[{nid}].attrs", shown(attrs), (nid,))
        return {}
    if set(map(type, attrs.values())) <= {str}:
        return attrs
    for key, value in attrs.items():
        if not isinstance(value, str):
            log.add("node-attr-not-string", f"nodes[{nid}].attrs.{key}", shown(value), (nid,))
    return {k: v if isinstance(v, str) else shown(v) for k, v in attrs.items()}


def _check_attrs(
    nid: int, attrs: dict[str, str], has_attrs: bool, num_inputs: int, log: GraphLog
) -> None:
    """Report missing attributes of an operator, and disagreements with its inputs."""
    if (
        attrs.get("num_inputs") == str(num_inputs)
        and attrs.get("flatten_data") == "0"
        and "func_name" in attrs
        and _decimal(attrs.get("num_outputs", "")) >= 0
    ):
        return
    path, own = f"nodes[{nid}].attrs", (nid,)
    if not has_attrs:
        log.add("node-attrs-missing", path, "nothing", own)
        return
    lacking = " and no ".join(key for key in _REQUIRED_ATTRS if key not in attrs)
    if lacking:
        expected = ", ".join(_REQUIRED_ATTRS)
        log.add("node-attrs-incomplete", path, f"no {lacking}", own, expected=expected)
    for key, rule in (("num_inputs", "num-inputs"), ("num_outputs", "num-outputs")):
        text = attrs.get(key, "0")
        if _decimal(text) < 0:
            long = text.isascii() and text.isdigit()
            expected = (
                f"at most {10**_MOST_DIGITS - 1:,}" if long else "a decimal number in a string"
            )
            log.add(f"{rule}-invalid", f"{path}.{key}", shown(text), own, expected=expected)
    counted = _decimal(attrs.get("num_inputs", ""))
    if counted not in (-1, num_inputs):
        expected = f"{num_inputs}, the length of inputs"
        log.add("num-inputs-disagrees", f"{path}.num_inputs", counted, own, expected=expected)
    flatten = attrs.get("flatten_data", "0")
    if flatten != "0":
        rule = "flatten-data" if flatten == "1" else "flatten-data-invalid"
        log.add(rule, f"{path}.flatten_data", shown(flatten), own)


def _decimal(text: str) -> int:
    """Return the value of a short decimal number, else -1."""
    return int(text) if len(text) <= _MOST_DIGITS and text.isascii() and text.isdigit() else -1


@dataclass(slots=True)
class EdgeTable:
    """The writable edge columns of a graph; `named` edges have the producers' `names`."""

    source: npt.NDArray[np.int64]
    output: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    position: npt.NDArray[np.int64]
    trust: npt.NDArray[np.uint8]
    named: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    candidates: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def columns(self) -> dict[str, Any]:
        """Return the columns by their names in a graph."""
        names = ("source", "output", "target", "position")
        ends: dict[str, Any] = {f"edge_{k}": getattr(self, k).astype(np.int32) for k in names}
        return ends | {"edge_trust": self.trust.copy(), "edge_candidates": self.candidates}

    def path(self, edge: int) -> str:
        """Return the field path of an edge."""
        return f"nodes[{self.target[edge]}].inputs[{self.position[edge]}]"


def read_edges(table: NodeTable, entry_offsets: npt.NDArray[np.int64], log: GraphLog) -> EdgeTable:
    """Read ``inputs`` of every node; edges by name keep source -1."""
    counts = np.fromiter(map(len, table.inputs), dtype=np.int64, count=len(table.inputs))
    target = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    items = list(chain.from_iterable(table.inputs))
    edges = EdgeTable(
        np.full(len(items), -1, dtype=np.int64),
        np.zeros(len(items), dtype=np.int64),
        target,
        np.arange(len(target), dtype=np.int64) - starts,
        np.full(len(items), Trust.ABSENT, dtype=np.uint8),
    )
    types = set(map(type, items))
    if types <= {str}:
        edges.named, edges.names = list(range(len(items))), items
        return edges
    pairs = _plain_entries(items) if types <= {list} else None
    node, output = pairs if pairs is not None else _entries_one_by_one(items, edges, log)
    owned = np.diff(entry_offsets)
    good = (node >= 0) & (node < len(owned)) & (output >= 0)
    good[good] = output[good] < owned[node[good]]
    edges.source = np.where(good, node, -1)
    edges.output = output
    edges.trust[good] = Trust.EXACT
    for edge in np.flatnonzero(~good & (node >= 0)).tolist():
        nid, own = int(node[edge]), (int(edges.target[edge]),)
        path = edges.path(edge)
        if nid < len(owned):
            expected = f"an output of node {nid}, which has {owned[nid]}"
            rule = "edge-output-out-of-range"
            log.add(rule, f"{path}[1]", edges.output[edge], own, expected=expected)
            edges.candidates[edge] = (nid,)
        else:
            expected = f"a node from 0 to {len(owned) - 1}"
            log.add("edge-node-out-of-range", f"{path}[0]", nid, own, expected=expected)
    return edges


def _plain_entries(items: list[Any]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None:
    """Return (nodes, outputs) if every item is ``[nid, index]`` or ``[nid, index, version]``."""
    lengths = set(map(len, items))
    if len(lengths) != 1 or not lengths <= {2, 3}:
        return None
    values = plain_ints(list(chain.from_iterable(items)))
    if values is None or values.min() < 0 or values.max() > INT32_MAX:
        return None
    columns = values.reshape(len(items), -1)
    return columns[:, 0].copy(), columns[:, 1].copy()


def _entries_one_by_one(
    items: list[Any], edges: EdgeTable, log: GraphLog
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    node = np.full(len(items), -1, dtype=np.int64)
    output = np.zeros(len(items), dtype=np.int64)
    for edge, item in enumerate(items):
        if isinstance(item, str):
            edges.named.append(edge)
            edges.names.append(item)
            continue
        pair = _entry_pair(item, "edge", edges.path(edge), log, (int(edges.target[edge]),))
        if pair is not None:
            node[edge], output[edge] = pair
    return node, output


def _entry_pair(
    item: Any, what: str, path: str, log: GraphLog, nodes: tuple[int, ...] = ()
) -> tuple[int, int] | None:
    """Return the node and output of an entry; others are reported."""
    if not isinstance(item, list):
        log.add(f"{what}-type", path, shown(item), nodes)
        return None
    if not 2 <= len(item) <= 3:
        log.add(f"{what}-too-{'short' if len(item) < 2 else 'long'}", path, shown(item), nodes)
    if len(item) < 2:
        return None
    if not all(is_int(value) for value in item[:2]):
        expected = f"[node, output, version], integers from 0 to {INT32_MAX}"
        log.add(f"{what}-type", path, shown(item), nodes, expected=expected)
        return None
    return item[0], item[1]


def read_heads(
    heads: Any, entry_offsets: npt.NDArray[np.int64], log: GraphLog
) -> npt.NDArray[np.int64]:
    """Read ``heads``; return int64 [H, 2] of those that are entries of the graph."""
    if not isinstance(heads, list):
        log.add("heads-type", "heads", shown(heads))
        heads = []
    elif not heads:
        log.add("heads-empty", "heads", "none")
    kept: list[tuple[int, int]] = []
    owned = np.diff(entry_offsets).tolist()
    for position, item in enumerate(heads):
        pair = _entry_pair(item, "head", f"heads[{position}]", log)
        if pair is None:
            continue
        node, output = pair
        if node >= len(owned):
            expected = f"a node from 0 to {len(owned) - 1}"
        elif output >= owned[node]:
            expected = f"one of {counted(owned[node], 'output')} of node {node}"
        else:
            kept.append(pair)
            continue
        log.add("head-out-of-range", f"heads[{position}]", shown(item), expected=expected)
    return np.array(kept, dtype=np.int64).reshape(-1, 2)


def read_control_deps(
    control_deps: dict[int, Any], count: int, log: GraphLog
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Read ``control_deps`` of the nodes that have them; return (source, target), int64 [C]."""
    source = [np.zeros(0, dtype=np.int64)]
    target = [np.zeros(0, dtype=np.int64)]
    for nid, listed in control_deps.items():
        path = f"nodes[{nid}].control_deps"
        values = int32_list(listed, path, "control-deps-type", log)
        kept = existing(values, path, "control-dep-out-of-range", count, log, nodes=(nid,))
        source.append(kept)
        target.append(np.full(len(kept), nid, dtype=np.int64))
    return np.concatenate(source), np.concatenate(target)
