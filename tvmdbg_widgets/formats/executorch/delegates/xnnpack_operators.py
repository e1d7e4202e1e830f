"""The operators that XNNPACK makes of each node of a graph at run time.

Nodes are defined in the order of the payload; some become two operators, some are fused into a
neighbor, some get another name (``XNNCompiler.cpp`` of ExecuTorch; ``xnn_subgraph_optimize``,
``xnn_subgraph_fuse_unary_quantized_into_lut`` and ``xnn_subgraph_optimize_packed_lhs`` of XNNPACK).
"""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass
from itertools import count
from math import isfinite
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

from tvmdbg_widgets.formats.executorch.delegates.xnnpack import BINARY, NAMES, UNARY
from tvmdbg_widgets.model.executorch.delegate_graph import DelegateGraph, DelegateNode

#: Names that stand for all unary and all binary operators in some releases.
ANY_UNARY: Final = "Unary Elementwise"
ANY_BINARY: Final = "Binary Elementwise"

# Their bounds become an operator of their own behind them; others keep bounds inside.
_SPLIT: Final = {"Add", "Subtract", "Multiply", "Div", "GlobalAvgPooling2d"}
# These take a Clamp in.
_BOUNDED: Final = {
    *("AvgPooling2d", "Clamp", "Conv2d", "ConvTranspose2d", "DepthwiseConv2d"),
    *("FullyConnected", "MaxPooling2d"),
}
_MATMUL: Final = {"BatchMatrixMultiply", "FullyConnected"}
_LONGEST_TABLE: Final = 10


@dataclass(slots=True)
class XnnpackOperator:
    """The operator of one node, or of the bounds of one."""

    node: int
    kind: str
    names: dict[str, int]
    reads: list[int]
    writes: list[int]
    taken_by: tuple[int, ...] = ()
    from_behind: bool = False
    may_vanish: bool = False
    may_stay: bool = True


class XnnpackOperators(NamedTuple):
    """All operators, grouped by node; ``taken`` is in the order of fusion."""

    all: list[XnnpackOperator]
    taken: list[int]


#: A delegate may log other lists of events in other calls.
_MADE: WeakKeyDictionary[DelegateGraph, XnnpackOperators] = WeakKeyDictionary()


def operators_of(graph: DelegateGraph) -> XnnpackOperators:
    """Return the operators of a graph, cached while it is in use."""
    if (known := _MADE.get(graph)) is None:
        known = _MADE[graph] = _Runtime(graph).optimized()
    return known


def is_half(graph: DelegateGraph) -> bool:
    """Return whether XNNPACK may have put conversions of its own around operators."""
    return any(value.dtype in {"fp16", "bf16"} for value in graph.values.values())


class _Runtime:
    def __init__(self, graph: DelegateGraph) -> None:
        self.graph = graph
        self.all: list[XnnpackOperator] = []
        self.taken: list[int] = []
        self.users: dict[int, list[int]] = {}
        self.producer: dict[int, int] = {}
        outer = (key for key, value in graph.values.items() if value.external_id is not None)
        self.external = {*graph.inputs, *graph.outputs, *outer}
        # Ids of the values between a node and its own bounds.
        self.fresh = count(-1, -1)

    def optimized(self) -> XnnpackOperators:
        for node in self.graph.nodes:
            self.define(node)
        for at, operator in enumerate(self.all):
            for value in operator.reads:
                self.users.setdefault(value, []).append(at)
            for value in operator.writes:
                self.producer.setdefault(value, at)
        if all(node.type in NAMES for node in self.graph.nodes):
            self.drop_unused()
        for at in range(len(self.all)):
            while self.fused(at):
                pass
        self.make_tables()
        self.pack_inputs()
        return XnnpackOperators(self.all, self.taken)

    def define(self, node: DelegateNode) -> None:
        kind, names = node.type, dict.fromkeys(NAMES.get(node.type, ()), 0)
        older = dict.fromkeys(names, 1)
        reads, writes = [*node.reads], [*node.writes]
        if kind == "Conv2d" and _is_matmul(node):
            kind, names = "FullyConnected", dict.fromkeys(NAMES["FullyConnected"], 0) | older
        elif kind == "Multiply" and len(reads) == 2 and reads[0] == reads[1]:
            kind, names = "Square", {"Square": 0, **older}
            reads = reads[:1]
        elif kind in {"Minimum", "Maximum"} and any(map(self.is_scalar, reads)):
            kind, names = "Clamp", {"Clamp": 0, **older}
            reads = [value for value in reads if not self.is_scalar(value)]
        elif kind == "Clamp" and not _is_bounded(node):
            kind, names = "Copy", {"Copy": 0, **older}
        operator = XnnpackOperator(node.index, kind, names, reads, writes)
        operator.may_vanish = (kind, node.type) == ("Copy", "Clamp") or (
            kind == "StaticReshape" and self.is_constant(reads)
        )
        self.all.append(operator)
        if kind in _SPLIT and _is_bounded(node) and writes:
            between = next(self.fresh)
            operator.writes = [between]
            self.all.append(XnnpackOperator(node.index, "Clamp", {"Clamp": 0}, [between], writes))

    def is_scalar(self, value: int) -> bool:
        held = self.graph.values.get(value)
        one = held is not None and all(size == 1 for size in held.shape)
        return one and self.is_constant([value])

    def is_constant(self, values: list[int]) -> bool:
        return bool(values) and all(
            (value := self.graph.values.get(each)) is not None
            and bool(value.constant)
            and each not in self.external
            for each in values
        )

    def drop_unused(self) -> None:
        for at in range(len(self.all) - 1, -1, -1):
            operator = self.all[at]
            if len(operator.writes) != 1 or operator.writes[0] in self.external:
                continue
            if not self.users.get(operator.writes[0]):
                operator.may_stay = False
                self.taken.append(at)
                for value in operator.reads:
                    self.forget(value, at)

    def forget(self, value: int, at: int) -> None:
        # With two producers of a value, reads may be out of date.
        users = self.users[value]
        if at in users:
            users.remove(at)

    def only_user(self, value: int) -> int | None:
        users = self.users.get(value, ())
        return users[0] if len(users) == 1 and value not in self.external else None

    def fused(self, at: int) -> bool:
        """Return whether an operator is fused with the one before it."""
        here = self.all[at]
        if not here.may_stay:
            return False
        for place, value in enumerate(here.reads):
            before = self.producer.get(value)
            if before is None or before >= at or self.only_user(value) != at:
                continue
            there = self.all[before]
            if here.kind == "Copy" or (here.kind == "Clamp" and there.kind in _BOUNDED):
                if here.writes:
                    self.take_behind(at, before, value)
                    return False
            elif self.is_taken_ahead(there, before, here, at, place):
                self.take_ahead(before, at, place)
                return True
        return False

    def is_taken_ahead(
        self, there: XnnpackOperator, before: int, here: XnnpackOperator, at: int, place: int
    ) -> bool:
        match there.kind:
            case "Copy" if there.reads:
                # Nothing between the two may read the copied value.
                users = self.users[there.reads[0]]
                after = bisect_right(users, before)
                return after == len(users) or users[after] >= at
            case "StaticReshape":
                return here.kind == "StaticReshape"
            case "StaticTranspose":
                return place == 1 and here.kind in _MATMUL and _swaps_last(self.node(there))
            case "StaticConstantPad":
                into = here.kind in {"Conv2d", "DepthwiseConv2d"} and place == 0
                return into and self.is_image_pad(there)
            case _:
                return False

    def node(self, operator: XnnpackOperator) -> DelegateNode:
        return self.graph.nodes[operator.node]

    def is_image_pad(self, pad: XnnpackOperator) -> bool:
        fields = self.node(pad).fields
        sides = [fields.get("pre_paddings"), fields.get("post_paddings")]
        value = self.graph.values.get(self.node(pad).writes[0])
        if value is None or len(value.shape) != 4 or fields.get("padding_value", 0.0) != 0.0:
            return False
        return value.dtype in {"fp32", "qint8", "quint8"} and all(
            isinstance(side, tuple) and len(side) == 4 and side[0] == side[3] == 0 for side in sides
        )

    def take_behind(self, at: int, before: int, value: int) -> None:
        here, there = self.all[at], self.all[before]
        there.writes = [here.writes[0] if written == value else written for written in there.writes]
        self.producer[here.writes[0]] = before
        self.forget(value, at)
        self.take(at, (before,), from_behind=True)

    def take_ahead(self, before: int, at: int, place: int) -> None:
        there, here = self.all[before], self.all[at]
        for value in there.reads:
            self.forget(value, before)
        here.reads[place : place + 1] = there.reads
        for value in there.reads:
            insort(self.users[value], at)
        self.take(before, (at,))

    def take(self, at: int, by: tuple[int, ...], *, from_behind: bool = False) -> None:
        operator = self.all[at]
        operator.taken_by, operator.from_behind, operator.may_stay = by, from_behind, False
        self.taken.append(at)

    def make_tables(self) -> None:
        """Make one operator of each chain of 8-bit unary ones: the last, a table of 256."""
        for first, operator in enumerate(self.all):
            source = self.unary_input(operator, ()) if operator.may_stay else None
            if source is None or not self.is_byte(source):
                continue
            chain, inside = [first], [*operator.reads, *operator.writes]
            while len(chain) < _LONGEST_TABLE:
                after = self.only_user(self.all[chain[-1]].writes[0])
                if after is None or not self.all[after].may_stay:
                    break
                if self.unary_input(self.all[after], inside) is None:
                    break
                chain.append(after)
                inside += self.all[after].reads + self.all[after].writes
            while len(chain) > 1 and not self.is_byte(self.all[chain[-1]].writes[0]):
                chain.pop()
            if len(chain) > 1:
                last = self.all[chain[-1]]
                last.names = {ANY_UNARY: 0, **dict.fromkeys(last.names, 1)}
                # Nothing else joins it.
                last.kind = ""
                for link in chain[:-1]:
                    self.take(link, (chain[-1],))

    def unary_input(self, operator: XnnpackOperator, inside: list[int] | tuple[()]) -> int | None:
        """The one input that an element-wise operator depends on."""
        reads = operator.reads
        if not reads or len(operator.writes) != 1:
            return None
        if operator.kind in UNARY:
            return None if self.is_dynamic(operator) else reads[0]
        if operator.kind not in BINARY or len(reads) != 2:
            return None
        first, second = reads
        if self.is_scalar(first) and not self.is_constant([second]):
            return second
        if self.is_scalar(second) and not self.is_constant([first]):
            return first
        return first if first in inside and second in inside else None

    def is_byte(self, value: int) -> bool:
        held = self.graph.values.get(value)
        return held is not None and held.dtype in {"qint8", "quint8"}

    def is_dynamic(self, operator: XnnpackOperator) -> bool:
        if operator.kind != "Convert" or not operator.writes:
            return False
        value = self.graph.values.get(operator.writes[0])
        return value is not None and value.dtype == "qdint8"

    def pack_inputs(self) -> None:
        """Let each matrix multiplication quantize its own input."""
        for at, operator in enumerate(self.all):
            if not operator.may_stay or not self.is_dynamic(operator):
                continue
            value = operator.writes[0]
            users = sorted({*self.users.get(value, ())})
            inside = [
                user
                for user in users
                if user > at
                and self.all[user].kind in _MATMUL
                and self.all[user].reads[:1] == [value]
                and value not in self.all[user].reads[1:]
            ]
            if not inside or value in self.external:
                continue
            operator.taken_by = tuple(inside)
            if inside == users:
                operator.may_vanish = True
                self.taken.append(at)


def _is_bounded(node: DelegateNode) -> bool:
    return node.bounds is not None and any(map(isfinite, node.bounds))


def _is_matmul(node: DelegateNode) -> bool:
    def get(name: str) -> object:
        return node.fields.get(name, 0)

    ones = ("groups", "kernel_height", "kernel_width", "subsampling_height", "subsampling_width")
    sides = ("padding_top", "padding_right", "padding_bottom", "padding_left")
    channels = get("group_input_channels"), get("group_output_channels")
    plain = all(get(name) == 1 for name in ones) and not any(map(get, sides))
    return plain and channels != (1, 1)


def _swaps_last(node: DelegateNode) -> bool:
    perm = node.fields.get("perm")
    rank = len(perm) if isinstance(perm, tuple) else 0
    return rank > 1 and perm == (*range(rank - 2), rank - 1, rank - 2)
