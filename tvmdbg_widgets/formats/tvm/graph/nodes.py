"""The list ``nodes`` of a graph file: names, functions, kinds, inputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmdbg_widgets.formats.tvm.graph.attrs import check_attrs, num_outputs, string_attrs
from tvmdbg_widgets.formats.tvm.graph.log import shown
from tvmdbg_widgets.model.base.issues import Severity
from tvmdbg_widgets.model.graph.graph import NodeKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from tvmdbg_widgets.formats.tvm.graph.log import GraphLog

_KEYS = frozenset(("op", "name", "inputs", "attrs", "attr", "control_deps"))
_MUTATED_KEYS = _KEYS | {"shape"}
_SYMBOL_KEYS = _KEYS | {"param", "backward_source_id", "subgraphs"}
_KINDS = {"__nop": NodeKind.NOP, "__copy": NodeKind.COPY}
_NO_ATTRS: Mapping[str, str] = MappingProxyType({})


@dataclass(slots=True)
class NodeTable:
    """The nodes of a file, column by column, node ids as positions.

    `num_outputs` is -1 where the node does not say; `shapes` and `types` are what the debugger
    added to a mutated dump for output 0 of each node, as parsed. `symbol` tells a network that
    was not compiled, see :func:`is_symbol`.
    """

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
    """Tell the debugger's dump of v0.7 and later from the graph TVM takes.

    ``DebugResult._parse_graph`` (``python/tvm/contrib/debugger/debug_result.py`` @ v0.19.0)
    writes ``param`` or the function into ``op``, names into ``inputs``, and adds ``shape``.
    """
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
    """Tell a network of NNVM or MXNet operators that was not compiled for TVM.

    NNVM's ``SaveJSON`` (``nnvm/src/pass/saveload_json.cc`` @ v0.6.0) writes the operator's own name
    into ``op``, its parameters into ``attr`` (later ``attrs``; ``param`` in MXNet before 0.9), and
    no lists by entry unless a pass made them.
    """
    named = (node.get("op") for node in nodes if isinstance(node, dict))
    ops = {op for op in named if isinstance(op, str)}
    real = not ops <= {"null", "tvm_op", "param"}
    return real and "tvm_op" not in ops and not is_mutated(nodes)


def read_nodes(nodes: list[Any], log: GraphLog, *, symbol: bool) -> NodeTable:
    """Read ``nodes``; every node keeps its position, whatever is wrong with it."""
    table = NodeTable(is_mutated(nodes), symbol)
    keys = _MUTATED_KEYS if table.mutated else _SYMBOL_KEYS if table.symbol else _KEYS
    if table.symbol:
        _tell_symbol(nodes, log)
    for nid, node in enumerate(nodes):
        if not isinstance(node, dict):
            log.add(
                "node-not-object",
                f"nodes[{nid}]",
                expected="an object",
                found=shown(node),
                done="It stands as an input without a name",
                loader="invalid format",
                nodes=(nid,),
            )
            node = {"op": "null", "name": "", "inputs": []}  # noqa: PLW2901
        elif not node.keys() <= keys:
            _tell_unknown_keys(nid, node, log)
        _read_node(nid, node, table, log)
    return table


def _read_node(nid: int, node: dict[str, Any], table: NodeTable, log: GraphLog) -> None:
    attrs = _merged(node) if table.symbol else node.get("attrs", node.get("attr"))
    has_attrs = attrs is not None
    attrs = string_attrs(nid, attrs, log) if has_attrs else {}
    added_type = attrs.pop("T", "") if table.mutated else ""
    func_name = _func_name(nid, node, attrs, table, log)
    null = func_name is None
    name = node.get("name")
    if not isinstance(name, str):
        log.add(
            "node-name",
            f"nodes[{nid}].name",
            expected="a string",
            found=shown(name) if "name" in node else "nothing",
            done="The name is empty",
            loader="invalid format",
            nodes=(nid,),
        )
        name = ""
    inputs = node.get("inputs")
    if not isinstance(inputs, list):
        log.add(
            "node-inputs",
            f"nodes[{nid}].inputs",
            expected="a list of entries",
            found=shown(inputs) if "inputs" in node else "nothing",
            done="The node has no inputs",
            loader="invalid format",
            nodes=(nid,),
        )
        inputs = []
    if null and inputs:
        log.add(
            "null-node-inputs",
            f"nodes[{nid}].inputs",
            expected="no inputs of an input or parameter",
            found=f"{len(inputs)}",
            nodes=(nid,),
        )
    if ((has_attrs and attrs) or not null) and not table.symbol:
        check_attrs(nid, attrs, has_attrs, len(inputs), log)
    if "control_deps" in node:
        table.control_deps[nid] = node["control_deps"]
    table.names.append(name)
    table.func_names.append("" if func_name is None else func_name)
    table.kinds.append(NodeKind.INPUT if null else _KINDS.get(func_name or "", NodeKind.OPERATOR))
    table.attrs.append(MappingProxyType(attrs) if attrs else _NO_ATTRS)
    table.inputs.append(inputs)
    table.num_outputs.append(num_outputs(attrs, null=null))
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
    log.add(
        "op-unknown",
        f"nodes[{nid}].op",
        expected="null or tvm_op",
        found=shown(op) if "op" in node else "nothing",
        done=f"It stands as {'an operator' if func_name or isinstance(op, str) else 'an input'}",
        loader="Can only take tvm_op as op" if "op" in node else "invalid format",
        nodes=(nid,),
    )
    return func_name or (op if isinstance(op, str) else None)


def _merged(node: dict[str, Any]) -> Any:
    """Attributes of an uncompiled node, under whichever keys its age had."""
    given = [node[key] for key in ("param", "attr", "attrs") if node.get(key) is not None]
    if all(isinstance(each, dict) for each in given):
        return {key: value for each in given for key, value in each.items()} if given else None
    return next(each for each in given if not isinstance(each, dict))


def _tell_symbol(nodes: list[Any], log: GraphLog) -> None:
    ops = [node.get("op") for node in nodes if isinstance(node, dict)]
    names = sorted({op for op in ops if isinstance(op, str) and op != "null"})
    log.add(
        "graph-not-compiled",
        "nodes[*].op",
        expected="null or tvm_op",
        found=f"operators of NNVM or MXNet: {', '.join(shown(name)[1:-1] for name in names[:5])}"
        + (" …" if len(names) > 5 else ""),
        done="They are shown as they are; storage, and types and shapes the file does not give, "
        "are unknown",
        loader="Can only take tvm_op as op",
        severity=Severity.NOTE,
    )


def _tell_unknown_keys(nid: int, node: dict[str, Any], log: GraphLog) -> None:
    for key in node.keys() - _KEYS:
        log.add(
            "node-key-unknown",
            f"nodes[{nid}].{shown(key)[1:-1]}",
            expected="op, name, inputs, attrs and control_deps",
            found=f"a key with value {shown(node[key])}",
            done="It is ignored",
            loader=f"do not support key {shown(key)[1:-1]}",
            severity=Severity.NOTE if key == "subgraphs" else Severity.WARNING,
            nodes=(nid,),
        )
