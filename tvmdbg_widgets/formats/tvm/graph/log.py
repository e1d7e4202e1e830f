"""Rules of a graph file, and the issues and lists gathered while reading one."""

from __future__ import annotations

import reprlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tvmdbg_widgets.model.base.text import Issue, Issues, IssueSeverity

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60
_SHORT.maxlevel = 2
_WARNING, _NOTE = IssueSeverity.WARNING, IssueSeverity.NOTE


class GraphRule(NamedTuple):
    """Expected state of a place in the file, the repair, and the reaction of TVM's loader."""

    expected: str
    done: str = ""
    loader: str = ""
    severity: IssueSeverity = IssueSeverity.ERROR


_NOWHERE = "The edge leads nowhere"
_FORMAT = "invalid format"
_CPP = "invalid json format"
_ENTRY = "[node, output, version]"
# Bits of the mask in GraphExecutor::Load (src/runtime/graph_executor/graph_executor.h @ v0.19.0).
_MASK = "Check failed: bitmask == 1|2|4|8|16: invalid format"
BY_TYPE = "Can only take tvm_op as op"
_FLATTENED = "The executor views every argument of this node as one-dimensional"
_FROM_NODES = (
    "The debugger's notes at each node are shown instead, for output 0 only; TVM v0.7 to "
    "v0.11 writes wrong ones behind a node with several outputs"
)
_UNCOMPILED = (
    "They are shown as they are; storage, and types and shapes the file does not give, are unknown"
)
_NEAREST = "The nearest is drawn; give the graph TVM was given (lib.get_graph_json()) to know"
_COUNTED = "Entries are counted from num_outputs instead"
_SCOPES = "pool entry for 2d texure allocations must be of the same type"
_DEVICES = "The same pool entry cannot be assigned to multiple devices"
_KEPT = "The last value is kept"

#: Rules by name; ``expected`` is empty if it depends on the file.
RULES: dict[str, GraphRule] = {
    # The text.
    "duplicate-key": GraphRule("each key once in an object", _KEPT, severity=_WARNING),
    "json-constant": GraphRule("JSON numbers", severity=_WARNING),
    "lenient-json": GraphRule("JSON", "Read leniently", severity=_NOTE),
    "lone-surrogate": GraphRule("surrogates in pairs", "They read U+FFFD", severity=_NOTE),
    "not-unicode": GraphRule("", "Such bytes read U+FFFD", severity=_WARNING),
    "trailing-data": GraphRule("", "They are ignored", severity=_WARNING),
    # The keys at the top.
    "top-key-missing": GraphRule("this key at the top of the graph", loader=_MASK),
    "top-key-unknown": GraphRule("", "It is ignored", severity=_WARNING),
    "metadata-not-last": GraphRule(
        "every other key before it",
        "They are read here; TVM stops reading at metadata",
        _MASK,
        _WARNING,
    ),
    "graph-not-compiled": GraphRule("null or tvm_op", _UNCOMPILED, BY_TYPE, _NOTE),
    # The nodes.
    "node-not-object": GraphRule("an object", "It is shown as an input without a name", _FORMAT),
    "node-key-unknown": GraphRule(
        "op, name, inputs, attrs and control_deps", "It is ignored", severity=_WARNING
    ),
    "node-name": GraphRule("a string", "The name is empty", _FORMAT),
    "node-inputs": GraphRule("a list of entries", "The node has no inputs", _FORMAT),
    "null-node-inputs": GraphRule("no inputs of an input or parameter"),
    "op-unknown": GraphRule("null or tvm_op"),
    "node-attrs": GraphRule("an object of strings", "They are left out"),
    "node-attr-not-string": GraphRule("a string", "It is kept as text"),
    "node-attrs-missing": GraphRule("the attributes of an operator"),
    "node-attrs-incomplete": GraphRule("", loader=_FORMAT),
    "num-inputs-invalid": GraphRule(""),
    "num-outputs-invalid": GraphRule(""),
    "num-inputs-disagrees": GraphRule("", "The list inputs is believed"),
    "num-outputs-disagrees": GraphRule("", "node_row_ptr is believed"),
    "null-node-outputs": GraphRule("", "node_row_ptr is believed"),
    "num-outputs-too-large": GraphRule("", "Every node is taken to have one output"),
    "flatten-data": GraphRule('"0"', _FLATTENED, severity=_NOTE),
    "flatten-data-invalid": GraphRule('"0" or "1"'),
    "func-name-missing": GraphRule("the function to call", loader="no such function in module: "),
    "duplicate-name": GraphRule("a name of its own", "Node ids distinguish them", severity=_NOTE),
    # The edges.
    "edge-type": GraphRule(_ENTRY, "It leads nowhere"),
    "edge-too-short": GraphRule(_ENTRY, "It leads nowhere", _CPP),
    "edge-too-long": GraphRule(_ENTRY, "The surplus is left out", _CPP),
    "edge-node-out-of-range": GraphRule("", _NOWHERE),
    "edge-output-out-of-range": GraphRule("the name of a node with outputs", _NOWHERE),
    "edge-name-unknown": GraphRule("the name of a node", _NOWHERE),
    "edge-ambiguous": GraphRule("names that tell node and output", _NEAREST, severity=_WARNING),
    "edge-not-topological": GraphRule(""),
    "cycle": GraphRule("no node that depends on itself"),
    "raw-graph-does-not-match": GraphRule("", "The raw graph given is not used", severity=_WARNING),
    "control-deps-type": GraphRule("a list of integers"),
    "control-dep-out-of-range": GraphRule("", "It is left out"),
    "control-dep-not-topological": GraphRule(""),
    "heads-type": GraphRule("a list of entries"),
    "heads-empty": GraphRule("at least one output"),
    "head-type": GraphRule(_ENTRY, "It leads nowhere"),
    "head-too-short": GraphRule(_ENTRY, "It leads nowhere", _CPP),
    "head-too-long": GraphRule(_ENTRY, "The surplus is left out", _CPP),
    "head-out-of-range": GraphRule("", "It is left out"),
    "arg-nodes-type": GraphRule("a list of integers"),
    "arg-node-out-of-range": GraphRule("", "It is left out"),
    "arg-node-not-null": GraphRule("an input or parameter"),
    "arg-node-repeated": GraphRule("each node once", severity=_WARNING),
    "arg-node-missing": GraphRule("every input and parameter", severity=_WARNING),
    "arg-nodes-unordered": GraphRule(
        "ascending node ids", "Inputs have numbers in this order", severity=_NOTE
    ),
    # The entries.
    "node-row-ptr-missing": GraphRule("a list of offsets", _COUNTED),
    "node-row-ptr-type": GraphRule("a list of 64-bit integers", _COUNTED),
    "node-row-ptr-length": GraphRule("", _COUNTED),
    "node-row-ptr-start": GraphRule("0 first", _COUNTED),
    "node-row-ptr-not-monotonic": GraphRule("", _COUNTED),
    "node-row-ptr-too-large": GraphRule("", _COUNTED),
    "graph-attrs": GraphRule("an object"),
    "graph-attr-missing": GraphRule("a list by entry", loader=_FORMAT),
    "attr-tag": GraphRule(""),
    "attr-not-list": GraphRule("a type tag and one list", "It is left out"),
    "attr-dropped": GraphRule("", "It is left out", severity=_NOTE),
    "attr-unknown-tag": GraphRule("", "It is left out"),
    "attr-length": GraphRule(""),
    "attr-item": GraphRule("a string", "It is left out"),
    "dtype-flag-unknown": GraphRule("", "The type is unknown", severity=_WARNING),
    "dtype-flag-disagrees": GraphRule("", "dltype is believed", severity=_WARNING),
    "entries-from-nodes": GraphRule("a list by entry", _FROM_NODES, severity=_WARNING),
    "dltype-unknown": GraphRule("a data type such as float32, int8x4 or bool", severity=_WARNING),
    "storage-id-negative": GraphRule("a slot from 0", severity=_WARNING),
    "storage-on-two-devices": GraphRule("one device type for storage", loader=_DEVICES),
    "texture-dtype-differs": GraphRule("one data type for texture storage", loader=_SCOPES),
    "nop-storage-differs": GraphRule("", severity=_WARNING),
    "nop-size-differs": GraphRule("", severity=_WARNING),
}


def shown(value: Any) -> str:
    """Return a value from a file as short text."""
    return _SHORT.repr(value)


def shown_at(fields: Mapping[str, Any], key: str) -> str:
    """Return a field of an object as short text."""
    return shown(fields[key]) if key in fields else "nothing"


class GraphLog:
    """Gathers issues; of each rule the first `LIMIT` one by one, the rest as a count."""

    LIMIT = 25

    def __init__(self, file: str) -> None:
        self.file = file
        self._issues: list[Issue] = []
        self._counts: Counter[tuple[str, IssueSeverity]] = Counter()

    def add(
        self,
        rule: str,
        field: str,
        found: object,
        nodes: Iterable[int] = (),
        entries: Iterable[tuple[int, int]] = (),
        **changes: Any,
    ) -> None:
        """Add one issue; `changes` replaces fields of the rule."""
        expected, done, loader, severity = RULES[rule]._replace(**changes)
        self._counts[rule, severity] += 1
        if self._counts[rule, severity] > self.LIMIT:
            return
        message = f"{field}: expected {expected}; found {found}."
        if done:
            message += f" {done}."
        if loader:
            message += f" TVM's loader: “{loader}”."
        self._issues.append(Issue(rule, severity, message, tuple(nodes), tuple(entries), self.file))

    def issues(self) -> Issues:
        """Return the gathered issues."""
        message = "{:,} more of this rule; {:,} in all."
        rest = [
            Issue(rule, severity, message.format(count - self.LIMIT, count), file=self.file)
            for (rule, severity), count in self._counts.items()
            if count > self.LIMIT
        ]
        return Issues([*self._issues, *rest])


def is_int(value: Any, low: int = 0, high: int = INT32_MAX) -> bool:
    """Return whether a JSON value is an integer in a range, and no bool."""
    return type(value) is int and low <= value <= high


def plain_ints(values: Sequence[Any]) -> npt.NDArray[np.int64] | None:
    """Return a list of 64-bit integers as an array, or None."""
    if not set(map(type, values)) <= {int}:
        return None
    try:
        return np.fromiter(values, dtype=np.int64, count=len(values))
    except OverflowError:
        return None


def plain_int_lists(
    lists: Sequence[Any],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] | None:
    """Return lists of 64-bit integers as (lengths, items), or None."""
    if not set(map(type, lists)) <= {list}:
        return None
    items = plain_ints(list(chain.from_iterable(lists)))
    return None if items is None else (np.fromiter(map(len, lists), np.int64, len(lists)), items)


def int32_list(
    values: Any, field: str, rule: str, log: GraphLog, *, low: int = 0
) -> npt.NDArray[np.int64]:
    """Return a list of integers ``low..2**31-1``; other values are reported and read as -1."""
    if not isinstance(values, list):
        log.add(rule, field, shown(values), expected="a list of integers", done="")
        return np.zeros(0, dtype=np.int64)
    fast = plain_ints(values)
    if fast is not None and (not fast.size or (fast.min() >= low and fast.max() <= INT32_MAX)):
        return fast
    result = np.full(len(values), -1, dtype=np.int64)
    for position, value in enumerate(values):
        if is_int(value, low):
            result[position] = value
        else:
            expected = f"an integer from {low} to {INT32_MAX}"
            log.add(rule, f"{field}[{position}]", shown(value), expected=expected, done="")
    return result


def existing(
    values: npt.NDArray[np.int64],
    field: str,
    rule: str,
    count: int,
    log: GraphLog,
    *,
    nodes: tuple[int, ...] = (),
) -> npt.NDArray[np.int64]:
    """Return the node ids below `count`; others are reported."""
    expected = f"a node from 0 to {count - 1}"
    for position in np.flatnonzero(values >= count).tolist():
        log.add(rule, f"{field}[{position}]", values[position], nodes, expected=expected)
    return values[(values >= 0) & (values < count)]


def element_counts(
    offsets: npt.NDArray[np.int64], dims: npt.NDArray[np.int64], known: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float64]:
    """Return the number of elements of every entry, -1 if its shape is unknown."""
    counts = np.full(len(known), -1.0)
    lengths = np.diff(offsets)
    filled = np.flatnonzero(lengths > 0)
    if filled.size:
        with np.errstate(over="ignore", invalid="ignore"):
            counts[filled] = np.multiply.reduceat(dims.astype(np.float64), offsets[filled])
    counts[known & (lengths == 0)] = 1.0
    return counts
