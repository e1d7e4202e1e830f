"""The JSON object of a graph from bytes: encodings, comments, an enclosing string."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.formats.tvm.graph.log import RULES, GraphLog, element_counts, shown
from tvmdbg_widgets.model.base.numbers import Trust, counted
from tvmdbg_widgets.model.base.text import FormatError, listed, paired_json
from tvmdbg_widgets.model.graph.graph import Graph, NodeKind
from tvmdbg_widgets.model.tensors.dtypes import DataType

# The last branch takes an unterminated string to the end, so that no text is scanned twice.
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
_COMMENT = re.compile(rf"({_STRING})|\#[^\r\n]*", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(?=\s*[\]}}])", re.DOTALL)
_HINT = "Is it the complete graph? TVM writes it with lib.get_graph_json()."
_OTHER_FILES = {
    "traceEvents": "This is an execution trace, not a graph.",
    "calls": "This is a profiling report, not a graph.",
    "device_metrics": "This is a profiling report, not a graph.",
    "records": "This is a tensor cache, not a graph.",
}


@dataclass(frozen=True, slots=True)
class GraphDocument:
    """The JSON object of a graph file."""

    top: dict[str, Any]
    quoted: bool
    lenient: bool
    size: int


class _GraphJsonParser:
    def __init__(self, log: GraphLog, field: str) -> None:
        self.log = log
        self.field = field
        self.repeated: Counter[str] = Counter()
        self.constants: Counter[str] = Counter()
        self.lenient = False

    def parse(self, text: str) -> Any:
        text, count = paired_json(text)
        if count:
            found = f"{counted(count, 'single one')} in \\u escapes"
            self.log.add("lone-surrogate", self.field, found)
        try:
            value = self._decode(text)
        except json.JSONDecodeError as error:
            value = self._decode_leniently(text, error)
        self._report()
        return value

    def _decode(self, text: str) -> Any:
        self.repeated.clear()
        self.constants.clear()
        # TVM's writer leaves control characters in strings as they are.
        decoder = json.JSONDecoder(
            strict=False, object_pairs_hook=self._object, parse_constant=self._constant
        )
        start = len(text) - len(text.lstrip(" \t\r\n\ufeff"))
        value, end = decoder.raw_decode(text, start)
        rest = text[end:].strip(" \t\r\n\0")
        if rest:
            if rest[0] == "#" or isinstance(value, str):
                raise json.JSONDecodeError("Extra data", text, end)
            expected = f"nothing behind the JSON value (character {end})"
            found = counted(len(rest), "more character")
            self.log.add("trailing-data", self.field, found, expected=expected)
        return value

    def _decode_leniently(self, text: str, error: json.JSONDecodeError) -> Any:
        counts: Counter[str] = Counter()

        def blank(match: re.Match[str]) -> str:
            if match[1] is not None:
                return match[0]
            counts["comments" if match[0][0] == "#" else "trailing commas"] += 1
            return " " * len(match[0])

        bare = _TRAILING_COMMA.sub(blank, _COMMENT.sub(blank, text))
        if not counts:
            raise error
        value = self._decode(bare)
        self.lenient = True
        oddities = " and ".join(f"{count} {what}" for what, count in sorted(counts.items()))
        found = f"JSON with {oddities}, as in TVM's documentation"
        self.log.add("lenient-json", self.field, found)
        return value

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs):
            seen = Counter(key for key, _ in pairs)
            self.repeated.update(key for key, count in seen.items() if count > 1)
        return result

    def _constant(self, text: str) -> float:
        self.constants[text] += 1
        return float(text.replace("Infinity", "inf"))

    def _report(self) -> None:
        for key, count in self.repeated.items():
            found = f"repeated in {counted(count, 'object')}"
            self.log.add("duplicate-key", f"{self.field}: key {key!r}", found)
        for text, count in self.constants.items():
            self.lenient = True
            self.log.add("json-constant", self.field, f"{text}, {counted(count, 'time')}")


def parse_document(data: bytes, log: GraphLog) -> GraphDocument:
    """Parse the bytes of a graph file down to its JSON object."""
    text = _decoded(data, log)
    value, lenient = _parsed(text, "file", data, log)
    quoted = isinstance(value, str)
    if quoted:
        text = value
        value, inner_lenient = _parsed(text, "graph inside the JSON string", None, log)
        lenient = lenient or inner_lenient
    if isinstance(value, dict) and isinstance(value.get("nodes"), list):
        return GraphDocument(value, quoted, lenient, len(text))
    field, expected, hint = "nodes", "a list of nodes", _HINT
    if not isinstance(value, dict):
        field = "file"
        expected = "a JSON object with nodes, arg_nodes, heads, attrs and node_row_ptr"
        found = f"a JSON {_KIND.get(type(value), 'number')}"
    else:
        hint = next((advice for key, advice in _OTHER_FILES.items() if key in value), _HINT)
        has = ", ".join(repr(key[:40]) for key in list(value)[:6])
        found = f"an object with keys {has}" if has else "an empty object"
        if "nodes" in value:
            found = f"a JSON {_KIND.get(type(value['nodes']), 'number')}"
    raise FormatError(
        "not a graph", file=log.file, field=field, expected=expected, found=found, hint=hint
    )


_KIND: dict[type, str] = {
    str: "string",
    list: "list",
    dict: "object",
    type(None): "null",
    bool: "truth value",
}


def _decoded(data: bytes, log: GraphLog) -> str:
    if not data.strip(b" \t\r\n\0"):
        raise FormatError(
            "the file is empty",
            file=log.file,
            offset=0,
            expected="a graph in JSON",
            found=f"{counted(len(data), 'byte')} of nothing",
            hint=_HINT,
        )
    encoding = json.detect_encoding(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        field, found = f"byte {error.start}", f"byte 0x{data[error.start]:02x}"
        log.add("not-unicode", field, found, expected=f"text in {error.encoding}")
        return data.decode(encoding, errors="replace")


def _parsed(text: str, field: str, data: bytes | None, log: GraphLog) -> tuple[Any, bool]:
    parser = _GraphJsonParser(log, field)
    offset, expected = None, "JSON"
    try:
        return parser.parse(text), parser.lenient
    except json.JSONDecodeError as error:
        what = f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        field += f", line {error.lineno}, column {error.colno}"
        if data is not None:
            before = text[: error.pos]
            offset = len(before.encode(json.detect_encoding(data), errors="replace"))
        found = repr(text[error.pos : error.pos + 20]) if error.pos < len(text) else "the end"
    except RecursionError:
        what, expected = "nested too deeply", "lists of lists, four deep"
        found = "more levels than can be read"
    except ValueError as error:
        what, expected = "a number too long to be read", "integers of 64 bits"
        found = str(error).partition(":")[0].lower()
    raise FormatError(
        what, file=log.file, field=field, offset=offset, expected=expected, found=found, hint=_HINT
    )


_MANY = 1000


def check_graph(graph: Graph, log: GraphLog) -> None:
    """Run the checks that need the complete graph."""
    _check_order(graph, log)
    for code, nodes in _groups(graph.names.codes, least=2):
        found = f"{counted(len(nodes), 'node')} named {shown(graph.names.unique[code])}"
        log.add("duplicate-name", f"nodes[{nodes[1]}].name", found, nodes[:_MANY].tolist())
    nameless = np.array([not name for name in graph.func_names.unique], dtype=np.bool_)
    if len(nameless):
        calls_none = (graph.kinds == NodeKind.OPERATOR) & nameless[graph.func_names.codes]
        for node in np.flatnonzero(calls_none).tolist():
            log.add("func-name-missing", f"nodes[{node}].attrs.func_name", "nothing", (node,))
    _check_arg_nodes(graph, log)
    for code, entries in _groups(graph.dtypes.codes):
        text = graph.dtypes.unique[code]
        if text and DataType.known(text) is None:
            field = f"attrs.dltype[1][{entries[0]}]"
            log.add("dltype-unknown", field, shown(text), *_where(graph, entries))
    _check_storage(graph, log)
    _check_nops(graph, log)


def _check_order(graph: Graph, log: GraphLog) -> None:
    expected = "a node before {}, as nodes run in order"
    late = np.flatnonzero((graph.edge_source >= 0) & (graph.edge_source >= graph.edge_target))
    for edge in late.tolist():
        pair = int(graph.edge_source[edge]), int(graph.edge_target[edge])
        field, wanted = f"inputs[{graph.edge_position[edge]}]", expected.format(pair[1])
        field, found = f"nodes[{pair[1]}].{field}", f"node {pair[0]}"
        log.add("edge-not-topological", field, found, pair, expected=wanted)
    for at in np.flatnonzero(graph.control_source >= graph.control_target).tolist():
        pair = int(graph.control_source[at]), int(graph.control_target[at])
        field, found = f"nodes[{pair[1]}].control_deps", f"node {pair[0]}"
        log.add(
            "control-dep-not-topological", field, found, pair, expected=expected.format(pair[1])
        )
    for cycle in graph.order.cycles:
        names = ", ".join(f"{node} {shown(graph.names[node])}" for node in cycle[:8])
        found = f"{counted(len(cycle), 'node')} in a circle: {names}"
        log.add("cycle", f"nodes[{cycle[0]}].inputs", found, cycle[:_MANY])


def _groups(
    codes: npt.NDArray[np.int32], *, least: int = 1
) -> Iterator[tuple[int, npt.NDArray[np.intp]]]:
    order = np.argsort(codes, kind="stable")
    values, starts, counts = np.unique(codes[order], return_index=True, return_counts=True)
    often = counts >= least
    for code, start, count in zip(
        *(column[often].tolist() for column in (values, starts, counts)), strict=True
    ):
        yield code, order[start : start + count]


def _check_arg_nodes(graph: Graph, log: GraphLog) -> None:
    null = graph.kinds <= NodeKind.PARAMETER
    listed = graph.arg_nodes
    for position in np.flatnonzero(~null[listed]).tolist():
        node = int(listed[position])
        found = f"node {node} {shown(graph.names[node])}, an operator"
        log.add("arg-node-not-null", f"arg_nodes[{position}]", found, (node,))
    for node, count in Counter(listed.tolist()).items():
        if count > 1:
            found = f"node {node} {counted(count, 'time')}"
            log.add("arg-node-repeated", "arg_nodes", found, (node,))
    missing = np.setdiff1d(np.flatnonzero(null), listed)
    if len(missing) and len(listed):
        found = f"{len(missing):,} missing, node {missing[0]} first"
        log.add("arg-node-missing", "arg_nodes", found, missing[:_MANY].tolist())
    if (np.diff(listed) < 0).any():
        log.add("arg-nodes-unordered", "arg_nodes", "another order")


def _check_storage(graph: Graph, log: GraphLog) -> None:
    storage = graph.storage_ids
    if storage is None:
        return
    for entry in np.flatnonzero(storage < -1).tolist():
        field = f"attrs.storage_id[1][{entry}]"
        where = _where(graph, np.array([entry]))
        log.add("storage-id-negative", field, storage[entry], *where)
    if graph.device_types is not None:
        known = (storage >= 0) & (graph.device_types >= 0)
        values = graph.device_types
        _check_shared(graph, storage, known, values, log, rule="storage-on-two-devices")
    if graph.storage_scopes is not None:
        texture = np.array(["texture" in s for s in graph.storage_scopes.unique], dtype=np.bool_)
        known = (storage >= 0) & texture[graph.storage_scopes.codes]
        _check_shared(graph, storage, known, graph.dtypes.codes, log, rule="texture-dtype-differs")


def _check_shared(
    graph: Graph,
    storage: npt.NDArray[np.int32],
    known: npt.NDArray[np.bool_],
    values: npt.NDArray[np.int32],
    log: GraphLog,
    *,
    rule: str,
) -> None:
    """Report storages whose entries, if known, differ in `values`."""
    entries = np.flatnonzero(known)
    order = entries[np.argsort(storage[entries], kind="stable")]
    differ = (storage[order[1:]] == storage[order[:-1]]) & (values[order[1:]] != values[order[:-1]])
    reported: set[int] = set()
    for at in np.flatnonzero(differ).tolist():
        slot = int(storage[order[at]])
        if slot in reported:
            continue
        reported.add(slot)
        shared = entries[storage[entries] == slot]
        kinds = sorted({int(value) for value in values[shared]})
        names = kinds if values is graph.device_types else [graph.dtypes.unique[k] for k in kinds]
        field, expected = f"attrs.storage_id[1][{order[at + 1]}]", f"{RULES[rule].expected} {slot}"
        log.add(rule, field, listed(names), *_where(graph, shared), expected=expected)
        if len(reported) > log.LIMIT:
            return


def _check_nops(graph: Graph, log: GraphLog) -> None:
    """Check that outputs of a ``__nop``, which is not executed, share the memory of its input."""
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
            field, where = f"attrs.storage_id[1][{own[at]}]", _where(graph, own[at : at + 1])
            expected = f"{storage[read[at]]}, the storage that __nop node {nops[at]} reads"
            log.add("nop-storage-differs", field, storage[own[at]], *where, expected=expected)
    sizes = element_counts(graph.shape_offsets, graph.shape_dims, graph.shape_known)
    known = (sizes[read] >= 0) & (sizes[own] >= 0)
    for at in np.flatnonzero(known & ~np.isclose(sizes[read], sizes[own], rtol=1e-12)).tolist():
        field, where = f"attrs.shape[1][{own[at]}]", _where(graph, own[at : at + 1])
        expected = f"{counted(sizes[read[at]], 'element')}, as __nop node {nops[at]} reads"
        log.add("nop-size-differs", field, f"{sizes[own[at]]:.0f}", *where, expected=expected)


def _where(
    graph: Graph, entries: npt.NDArray[np.integer]
) -> tuple[list[int], list[tuple[int, int]]]:
    """Return some `nodes` and `entries` for an issue."""
    some = entries[:_MANY]
    nodes = np.searchsorted(graph.entry_offsets, some, side="right") - 1
    outputs = some - graph.entry_offsets[nodes]
    pairs = list(zip(nodes.tolist(), outputs.tolist(), strict=True))
    return np.unique(nodes).tolist(), pairs
